// How many threads of a block may execute any of some accesses.
#pragma once

#include "race_pair.hpp"
#include "race_rings.hpp"
#include "race_thread.hpp"

#include <swizproof/execution/terms.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// At most so many threads of any block of these shapes make one of the guards true: each thread's number is put into them, and what is not
/// known then may be true. Of a warp elect.sync elects one lane, the same one each time [PTX ISA 9.1, elect.sync]. `guards` of threads with
/// tid.x < 4 in a block of 64: 4. Checked by KernelRings.AnMbarrierCountsItsThreads.
[[nodiscard]] std::uint64_t crowd_of(program::Program const& program, execution::Execution const& execution,
                                     BlockShapes const& shapes, std::vector<std::uint32_t> const& guards);

/// True if one warp alone has threads that make one of the guards true. Checked by KernelRings.OneWarpAllocatesColumns.
[[nodiscard]] bool of_one_warp(program::Program const& program, execution::Execution const& execution,
                               BlockShapes const& shapes, std::vector<std::uint32_t> const& guards);

/// Empty if an mbarrier counts the threads that arrive at it, or use its stage: premise 4 of race_rings.hpp. Else the reason. `of_warpgroups` is set if threads
/// arrive for others of their warpgroups. Checked by KernelRings.AThreadArrivesForItsWarpgroup.
[[nodiscard]] std::string why_too_many(program::Program const& program, execution::Execution const& execution,
                                       BlockShapes const& shapes, Rings::Crowd const& crowd,
                                       bool& of_warpgroups);

}  // namespace swizproof::kernel_detail
