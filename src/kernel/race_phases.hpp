// Mbarriers of one phase, and the bulk copies that complete it.
//
// Modelled: an mbarrier at a constant address, with one mbarrier.init of one arrival, one mbarrier.arrive.expect_tx and waits with parity 0. Both,
// and the bulk copies that complete on it, are executed once, by one thread each; the sizes of the copies are constants, and their
// sum is at most the bytes that are expected.
//
// Soundness. Phase 0 is complete only behind the arrival, and then only if the expected bytes are written: as they are at least all the bytes of
// all copies, behind the last byte of each copy. No second arrival exists, so that no other phase is complete. A wait with parity 0 that is
// true is therefore behind all copies; if one of them is not executed, no wait is true. A thread that has not waited is ordered by the chain of
// barriers from the copy to it, if each path of the control flow from the copy passes a wait: see race_intervals.hpp on fences.
#pragma once

#include "race_access.hpp"
#include "race_intervals.hpp"

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

/// `one_thread`: true if at most one thread of a block executes an access. Checked by KernelRaces.ABulkCopyIsCompleteBehindItsPhase.
[[nodiscard]] PhaseUse phases_of(ptx::Function const& function, program::Program const& lowered,
                                 program::Program const& program, execution::Execution const& execution,
                                 Origins const& origins, std::vector<SharedAccess> const& accesses,
                                 std::function<bool(std::uint32_t)> const& one_thread);

}  // namespace swizproof::kernel_detail
