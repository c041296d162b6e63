// The cost of cp.async through L1 by its source: lanes that read one bank of L1 take turns (H21).
#pragma once

#include "access_cost.hpp"
#include "executed_kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::kernel_detail {

/// True of cp.async.ca, and of LDGSTS without .BYPASS.
[[nodiscard]] bool copies_through_l1(std::string_view op);

/// Turns of the lanes that read: 1, and in each phase one for each lane of its fullest bank but the first. `address`: bytes in global memory,
/// taken modulo 128. 32 lanes of 4 bytes 8 bytes apart: 2.
[[nodiscard]] unsigned turns_of_source(Architecture const& arch, unsigned bytes, std::uint32_t active,
                                       LaneAddresses const& address);

/// Assumptions about the sources of copies, in words: of those through L1 that are not known, of fixes, which count the destinations, and of
/// cp.async.cg.
[[nodiscard]] std::vector<std::string> assumed_of_copies(KernelReport const& report);

/// The source of a copy through L1, access `index`: the access before it. Nothing where its cost is not known.
[[nodiscard]] std::optional<program::MemoryAccess> source_of(ExecutedKernel const& kernel, std::size_t index);

/// Takes the most turns of a source: a bound on the wavefronts of the copy. A copy that was proved becomes unknown where the bound is more than is
/// allowed. Checked by CopySource.TakesAWavefrontForEachLaneOfABankOfL1.
void take_turns(unsigned turns, KernelAccess& out);

}  // namespace swizproof::kernel_detail
