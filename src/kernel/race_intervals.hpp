// Intervals between the barriers of a block, from the control flow: which accesses may be in one.
//
// Soundness. All threads of a block pass the same sequence of barriers if each branch on which the sequence depends goes the same way
// in all of them (race_uniform.hpp checks that). Then two accesses are in one interval only if both are reached from one barrier, or
// from the entry, without another barrier between, with the loops around that barrier in the same iteration. A barrier that is not
// one of the whole block is left out: without it more accesses are in one interval, and never fewer.
//
// Copies. cp.async writes at any time from its execution until its thread has waited for its group; others see the bytes behind the next
// barrier. So a copy is in all intervals up to the one in which each path of its thread has waited. A path that commits fewer groups
// waits later: a commit or a wait with a guard is left out. Until the wait, accesses of the copy's own thread meet it too. A path that the thread of
// the copy cannot take is none: a branch by a truth that decided that it came to the copy goes the same way again.
//
// wgmma reads at any time from its execution until its thread has waited for its group, which is counted as those of cp.async. It reads by
// the async proxy: a fence.proxy.async has to be between a write by a thread, or by cp.async behind the wait for it, and wgmma. Any thread
// may execute it. If no path of the control flow from the write to wgmma is without a fence, each chain of barriers that orders them has one:
// the chain goes on at each barrier where another thread came to it, so that its parts are a path.
#pragma once

#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>
#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// A barrier before a step of a block.
struct BarrierAt {
  std::uint32_t block = 0, step = 0, line = 0;
  std::uint32_t instruction = 0;  ///< index in Function::body: some instructions have no step
};

/// Groups of accesses that are complete behind a wait: of cp.async, of wgmma, of a phase of an mbarrier (bulk copies to shared memory, and reads by
/// tcgen05), or of bulk copies from shared memory.
enum class Group : std::uint8_t { none, copy, wgmma, phase, bulk };

/// True if the accesses of a group are of the asynchronous proxy; cp.async is of the generic one. Checked by KernelRings.AStageIsNotReleasedByWhatDoesNotOrderIt.
[[nodiscard]] bool is_async_proxy(Group group);

/// Mbarriers of one phase (race_phases.hpp), by address.
struct Phases {
  std::map<std::uint32_t, std::uint64_t> of_access{};  ///< mbarrier of a bulk copy
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>>
      waits{};  ///< edges from a block to another one that a thread takes only behind its phase
};

/// A commit of a group, or a wait for all but `pending` groups, before a step of a block.
struct CopyOrder {
  static constexpr std::uint32_t all = ~0U;  ///< wait_all: what is not committed, too
  BarrierAt at{};
  Group group = Group::copy;
  bool commit = false;
  std::uint32_t pending = 0;
};

/// Waits at a barrier with one number for a number of threads that may be less than a block has.
struct NamedBarrier {
  std::optional<std::uint64_t>
      count{};  ///< threads; nothing: not one constant, or not all instructions on it are waits
  std::vector<BarrierAt> at{};
};

/// A branch that goes one way each time a thread comes to it, by a truth of the thread and the launch.
struct FixedBranch {
  std::uint32_t truth = 0;  ///< node; 0: the branch may go both ways
  bool negated = false;     ///< it is taken if the truth is false
};

/// By block. Checked by KernelRaces.AWaitUnderTheConditionOfItsCopy.
[[nodiscard]] std::vector<FixedBranch> fixed_branches(program::Program const& program,
                                                      execution::Execution const& execution);

/// Barriers of a kernel.
struct Barriers {
  std::vector<BarrierAt> of_block{};
  std::vector<BarrierAt> of_warp{};  ///< all lanes of a warp
  std::string broken{};              ///< why none of them is known to hold the whole block; empty: each does
  std::string
      partial{};  ///< why some of them are left out, whose numbers the others do not have; empty: none
  std::map<std::uint64_t, NamedBarrier> named{};  ///< those that are left out, by number
  std::string other{};  ///< other synchronisation, which orders more than these barriers do; empty: none
  std::vector<CopyOrder> copies{};
  std::vector<BarrierAt> fences{};  ///< fence.proxy.async, of shared memory
  Phases phases{};
  std::vector<FixedBranch> fixed{};  ///< by block; empty: none
};

/// `lowered`: of the function, as ptx::lower() gives it; `program`: the same with one entry to each loop. `threads`: of the largest block; `smaller`: there are others.
[[nodiscard]] Barriers barriers_of(ptx::Function const& function, program::Program const& lowered,
                                   program::Program const& program, std::uint64_t threads, bool smaller);

/// Iteration of a loop around an access: so many behind that of the barrier that begins the interval, or behind the first one of a loop
/// that is entered in it.
struct Turn {
  enum class From : std::uint8_t { any, barrier, entry };
  From from = From::any;
  std::uint8_t by = 0;
  auto operator<=>(Turn const&) const = default;
};

/// An access in an interval.
struct Visit {
  std::uint32_t access = 0;
  std::vector<Turn> turns{};                               ///< of the loops around it, the innermost first
  friend bool operator<(Visit const& a, Visit const& b) {  // emscripten's lists have no <=>
    return std::tie(a.access, a.turns) < std::tie(b.access, b.turns);
  }
};

/// Accesses between a barrier, or the entry, and the next barrier.
struct Interval {
  using Visits = std::shared_ptr<std::vector<Visit> const>;
  Visits visits{};
  std::vector<std::pair<Visit, Visits>>
      later{};        ///< a copy, and accesses of a later interval in which it may write
  bool ends = false;  ///< a thread may end with no barrier behind the wait for a copy
};

/// For the entry and each barrier. A bulk copy whose phase is not known (Phases) writes for ever, all others to the end of its phase, which before_phases() is about.
[[nodiscard]] std::vector<Interval> intervals_of(program::Program const& program, program::Flow const& flow,
                                                 std::vector<BarrierAt> const& barriers, Barriers const& all);

/// Each copy, and accesses of its own thread before the wait for it; turns are those behind the copy.
[[nodiscard]] std::vector<std::pair<Visit, Visit>> own_accesses(program::Program const& program,
                                                                program::Flow const& flow,
                                                                Barriers const& barriers);

/// Each access of a thread or of cp.async, and wgmma behind it with no fence.proxy.async between. `own`: of one thread; else barriers of the block
/// are between.
[[nodiscard]] std::vector<std::pair<Visit, Visit>> unfenced(program::Program const& program,
                                                            program::Flow const& flow,
                                                            Barriers const& barriers, bool own);

/// Accesses of a thread or of cp.async behind which the same thread may arrive at an mbarrier with no fence.proxy.async between.
[[nodiscard]] std::set<std::uint32_t> unfenced_arrivals(program::Program const& program,
                                                        program::Flow const& flow, Barriers const& barriers);

/// Each bulk copy, and accesses that may come before its end: of its own thread (`own`), or of another one.
[[nodiscard]] std::vector<std::pair<Visit, Visit>> before_phases(program::Program const& program,
                                                                 program::Flow const& flow,
                                                                 Barriers const& barriers, bool own);

/// The groups that an access belongs to, and those that a commit or a wait is about.
[[nodiscard]] Group group_of(program::MemoryAccess const& access);
[[nodiscard]] Group group_of(ptx::Opcode const& op);

/// For each loop, true if a barrier lies in it.
[[nodiscard]] std::vector<bool> loops_with(program::Flow const& flow, std::vector<BarrierAt> const& barriers);

/// Branches that decide which barriers a thread passes, or in which iteration of a loop with a barrier it is: the blocks that they end. Left
/// out are branches that lead to the end of the thread alone, on one side, without a barrier or an access to shared memory: `leaves`.
struct Deciding {
  std::vector<std::uint32_t> blocks{};
  std::vector<std::uint32_t> leaves{};
};
[[nodiscard]] Deciding deciding_branches(program::Program const& program, program::Flow const& flow,
                                         std::vector<BarrierAt> const& barriers);

}  // namespace swizproof::kernel_detail
