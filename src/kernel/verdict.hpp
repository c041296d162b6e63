// The verdict on an access, from its cases and from executions on numbers.
#pragma once

#include "cases.hpp"

#include "execution/never.hpp"
#include "execution/replay.hpp"
#include "execution/runs.hpp"
#include "execution/witness.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// Verdicts of one kernel. Executions of all of its accesses are kept, for those that follow.
class Verdicts {
 public:
  explicit Verdicts(ExecutedKernel& kernel);

  /// Runs the access on numbers: a second opinion on the bound, and a search for an execution that reaches it. Throws Disagreement if one
  /// costs more than the bound.
  void replay(AccessSearch const& search, CaseCost const& cost, KernelAccess& out);
  /// Sets verdict and reason.
  void judge(AccessSearch const& search, CaseCost const& cost, KernelAccess& out);

 private:
  /// A run of the access; `trips` must live as long.
  [[nodiscard]] execution::Replay run_of(AccessSearch const& search, unsigned warp, std::uint64_t seed,
                                         unsigned style, execution::Replay::Trips const& trips);
  /// Looks for an execution that reaches the bound, and for one with a fault.
  void find_executions(AccessSearch const& search, CaseCost const& cost, KernelAccess& out);
  /// Looks for an execution with a lane outside of its array, where bounds are open and its size is known: with parameters that lead a lane
  /// there that leaves it, and in runs.
  void find_outside(AccessSearch const& search, KernelAccess& out);
  /// Takes what a replay shows.
  void replay_once(execution::Replay& run, unsigned warp, AccessSearch const& search, KernelAccess& out);
  /// Result that a replay surely shows: the cost of the access, or its fault. Throws Disagreement if it costs more than the bound.
  [[nodiscard]] execution::Seen seen_in(execution::Replay& run, unsigned warp, AccessSearch const& search,
                                        KernelAccess const& out);
  /// Lowers the numbers of the executions that are shown.
  void show_smallest(AccessSearch const& search, KernelAccess& out);
  /// Leaves out the numbers that do not matter.
  void show_needed(AccessSearch const& search, KernelAccess& out);
  /// The execution with the smallest numbers that shows the same as this one.
  [[nodiscard]] execution::Seen smallest_like(execution::Seen const& seen, bool by_replay,
                                              AccessSearch const& search, KernelAccess const& out);
  /// Takes an execution as the one that is shown.
  void show(execution::Seen const& seen, AccessSearch const& search, KernelAccess& out);
  /// Values with which a solver finds the worst case executed; nothing if it is open for another reason, or if a run reaches it.
  [[nodiscard]] std::optional<execution::LeafValues> witness_of(AccessSearch const& search,
                                                                CaseCost const& cost, unsigned warp);
  /// Takes what a run has seen: a lower bound of the most that the access costs.
  void take_seen(execution::Seen const& seen, AccessSearch const& search, KernelAccess& out);
  /// Takes a fault of an execution: bounds or alignment do not hold with these values. Throws Disagreement if they were proved.
  void take_fault(execution::SeenFault const& fault, bool by_replay, AccessSearch const& search,
                  KernelAccess& out);
  [[nodiscard]] bool takes_values(Id address) const;
  /// Addresses of an execution's variables that its cost may depend on.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> needed_bases(
      std::map<std::uint32_t, std::uint64_t> const& bases, AccessSearch const& search) const;
  /// Verdict on an access above its bound that no execution is known to reach, although all of its addresses are known.
  void judge_condition(AccessSearch const& search, CaseCost const& cost, KernelAccess& out);
  /// True if a solver shows that no thread of any launch passes the guard of an access.
  [[nodiscard]] bool is_never_executed(execution::ExecutedAccess const& access);
  /// Why lanes behind a wait are not together.
  [[nodiscard]] std::string reason_of_wait(execution::ExecutedAccess const& access) const;
  /// The origin of whether an access is executed: of its guard, and of the number of iterations of the loops around it.
  [[nodiscard]] Origin origin_of_path(execution::ExecutedAccess const& access);
  /// True if the worst case assumes nothing but iterations and data.
  [[nodiscard]] bool counts_alone(CaseCost const& cost);

  ExecutedKernel& kernel_;
  execution::Witnesses witnesses_, outside_;
  execution::Runs runs_;
  execution::SeenFault fault_{};  ///< of the access that is replayed
  std::optional<execution::Seen>
      shown_{};  ///< the execution of it that is shown; nothing if a case proves that there is one
  std::vector<execution::Numbers> small_{};  ///< of executions that were shown for other accesses
  std::optional<execution::Seen>
      replayed_{};  ///< the most that a replay surely takes, if that is more than is allowed
  bool fault_by_replay_ = false, shown_by_replay_ = false;  ///< not by a run from the entry on
  std::map<std::pair<Id, std::int32_t>, bool> never_{};     ///< by guard and loop
  execution::TermValues values_{};                          ///< of the replay that runs
};

}  // namespace swizproof::kernel_detail
