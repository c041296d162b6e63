// Fixes of a traced kernel.
#pragma once

#include "profile/trace.hpp"

#include <swizproof/analysis/fix.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// The fixes of a kernel, and what of the kernel they do not know.
struct KernelFixes {
  std::vector<Fix> fixes{};
  std::uint64_t not_kept = 0;  ///< executions whose addresses the trace did not keep
  std::vector<std::string>
      no_law{};  ///< instructions without a cost model: if they touch a region, they must change too
};

/// Searches the fixes of one kernel's instructions, from the patterns that the trace kept.
[[nodiscard]] KernelFixes fixes_of(std::span<TracedInstruction const* const> kernel,
                                   Architecture const& arch);

}  // namespace swizproof
