// One cluster in one order of the warps; and where it is not well synchronised, in others, until one has a fault.
#pragma once

#include "block.hpp"

#include <array>
#include <optional>
#include <vector>

namespace swizproof::flow_detail {

/// Fault of a conflict, with lines of the file. `block`: the first one of the cluster.
[[nodiscard]] FlowFault fault_of(FlowKernel const& kernel, FlowConflict const& conflict,
                                 std::array<std::uint32_t, 3> const& block);

/// Orders of the warps that are tried: all permutations of up to four warps, each with both ways to go on; of more warps the rotations and their
/// reversals.
[[nodiscard]] std::vector<WarpOrder> orders_of(unsigned warps);

/// A fault that a cluster has in another order; `block` is its first one. `steps`: instructions that may be executed in all of them.
[[nodiscard]] std::optional<FlowConflict> fault_in_another_order(FlowKernel const& kernel,
                                                                 std::array<std::uint32_t, 3> const& block,
                                                                 std::uint64_t steps);

/// True if an instruction orders threads, and moves no data: a barrier, a fence, a wait.
[[nodiscard]] bool orders_threads(Decoded const& decoded);

}  // namespace swizproof::flow_detail
