// How the campaigns of the copy engine come by tensor maps.
#pragma once

#include "device.hpp"

#include <cuda.h>

namespace swizproof::gpu {

/// cuTensorMapEncodeTiled.
using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, cuuint64_t const*,
                            cuuint64_t const*, cuuint32_t const*, cuuint32_t const*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// cuTensorMapEncodeIm2col.
using EncodeIm2col = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, cuuint64_t const*,
                                  cuuint64_t const*, int const*, int const*, cuuint32_t, cuuint32_t,
                                  cuuint32_t const*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                  CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

/// A function of the driver, which the runtime finds. Throws Failure.
template <class Function>
[[nodiscard]] Function find_in_driver(char const* name) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found),
        "cudaGetDriverEntryPointByVersion");
  if (found != cudaDriverEntryPointSuccess) throw Failure{std::string("the driver has no ") + name};
  return reinterpret_cast<Function>(function);
}
[[nodiscard]] inline Encode find_encode() { return find_in_driver<Encode>("cuTensorMapEncodeTiled"); }

}  // namespace swizproof::gpu
