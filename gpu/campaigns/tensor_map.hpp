// How the campaigns of the copy engine come by tensor maps.
#pragma once

#include "device.hpp"

#include <cuda.h>

namespace swizproof::gpu {

/// cuTensorMapEncodeTiled.
using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, cuuint64_t const*,
                            cuuint64_t const*, cuuint32_t const*, cuuint32_t const*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// The driver's function, which the runtime finds. Throws Failure.
[[nodiscard]] inline Encode find_encode() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
      "cudaGetDriverEntryPointByVersion");
  if (found != cudaDriverEntryPointSuccess) throw Failure{"the driver has no cuTensorMapEncodeTiled"};
  return reinterpret_cast<Encode>(function);
}

}  // namespace swizproof::gpu
