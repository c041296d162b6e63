// Lanes that give others a value by a shuffle.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <optional>

namespace swizproof::kernel_detail {

/// Lanes that may be read, and their term.
struct ShuffleSource {
  std::uint32_t lanes = 0;
  Id value = 0;
};

/// The source of a shuffle by index in a warp; nothing if the indices are not known. `lane < 4 ? array + 1024 * lane : 0`, read from lane i % 4: lanes
/// 0 to 3, the sum. [PTX ISA, shfl.sync: .idx] Checked by KernelOperand.OfALaneThatASelectChooses.
[[nodiscard]] std::optional<ShuffleSource> read_by(ExecutedKernel const& kernel, execution::Warp& warp,
                                                   execution::Leaf const& shuffle);

/// True if a lane of the warp may execute a shuffle.
[[nodiscard]] bool executes(execution::Warp& warp, execution::Leaf const& shuffle);

/// Lets origins go through the shuffles in a term to the term that is read in every warp, where that is one.
void follow_shuffles(ExecutedKernel& kernel, Id term);

}  // namespace swizproof::kernel_detail
