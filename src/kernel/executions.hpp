// How often the warps of a block execute an access.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <optional>

namespace swizproof::kernel_detail {

/// Executions of an access by the warps of a block.
struct Executions {
  std::optional<std::uint64_t> exactly{};  ///< if each launch with this block has as many
  std::uint64_t about =
      0;               ///< where a loop of an unknown number of iterations has one, and each warp takes part
  unsigned loops = 0;  ///< around it
  unsigned open_loops = 0;  ///< those whose iterations are not known
};

/// Checked by KernelExecutions.* and tests/reference/kernel_smallest.py.
[[nodiscard]] Executions executions_of(ExecutedKernel& kernel, execution::ExecutedAccess const& access);

}  // namespace swizproof::kernel_detail
