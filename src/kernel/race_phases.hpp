// Mbarriers of one phase, and the bulk copies and the reads by tcgen05 that complete it.
//
// Modelled: an mbarrier at a constant address. In each of its lifetimes, from an mbarrier.init to the next one, it has one arrival, which is a
// mbarrier.arrive.expect_tx or a tcgen05.commit, and waits with parity 0. It counts one arrival. race_lifetimes.hpp has the premises and the proof: a wait that
// is true is behind the arrival, and all copies of its lifetime; if one of them is not executed, no wait is true. A thread that has not waited is ordered by
// the chain of barriers from the copy to it, if each path of the control flow from the copy passes a wait: see race_intervals.hpp on fences.
#pragma once

#include "race_access.hpp"
#include "race_intervals.hpp"
#include "race_lifetimes.hpp"

#include <functional>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// Mbarriers of a kernel, or why they are not modelled.
struct PhaseUse {
  Phases phases{};
  std::string obstacle{};  ///< empty: none
  std::uint32_t line = 0;
};

/// True for mbarrier.inval, which is a store of 8 bytes.
[[nodiscard]] bool is_inval(program::MemoryAccess const& access);

/// Questions about the threads of a block.
struct PhaseThreads {
  /// True if at most one thread executes any of these accesses.
  Lifetimes::OneThread one{};
  /// True if all threads pass the same of these positions and of the barriers of the block, and none ends early.
  std::function<bool(std::vector<BarrierAt> const&)> same{};
};

/// `barriers`: of the whole block. Checked by KernelRaces.ABulkCopyIsCompleteBehindItsPhase.
[[nodiscard]] PhaseUse phases_of(ptx::Function const& function, program::Program const& lowered,
                                 program::Program const& program, program::Flow const& flow,
                                 execution::Execution const& execution, Origins const& origins,
                                 std::vector<SharedAccess> const& accesses,
                                 std::vector<BarrierAt> const& barriers, PhaseThreads const& threads);

}  // namespace swizproof::kernel_detail
