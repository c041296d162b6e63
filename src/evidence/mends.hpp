// What mends a traced kernel.
#pragma once

#include "evidence/trace.hpp"

#include <swizproof/analysis/mend.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// The mends of a kernel, and what of the kernel they do not know.
struct KernelMends {
  std::vector<Mend> mends{};
  std::uint64_t not_kept = 0;  ///< executions whose addresses the trace did not keep
  std::vector<std::string>
      no_law{};  ///< instructions of which no cost is known: if they touch a region, they must change too
};

/// Searches the mends of one kernel's instructions, from the patterns that the trace kept.
[[nodiscard]] KernelMends mends_of(std::span<TracedInstruction const* const> kernel,
                                   Architecture const& arch);

}  // namespace swizproof
