// Conformance of a traced kernel to its proof, lane by lane.
//
//   traced accesses + proved accesses  -->  every instance of these, once  -->  as proved, or the first lane that differs
//
// An instance is a proved access for some values of its variables, from some base that it was proved for. A traced access
// conforms if it is one: the same lanes take part, and each accesses the same address. An access that conforms costs what was proved;
// a profile (profile_vs_obligations.hpp) can say no more than that something costs as much.
#pragma once

#include "profile/profile_vs_obligations.hpp"
#include "profile/trace.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// Instances of one access that are looked at.
inline constexpr std::uint64_t most_instances = std::uint64_t{1} << 24;

/// Comparison of a traced instruction with the obligations.
/// `as_expected`: an instance of an access whose obligation is refuted, as it expects: no budget holds there.
enum class Conformance : std::uint8_t {
  as_proved,
  as_expected,
  differs,
  undecided,
  no_obligation,
  not_modelled
};

/// The time that comparing may take: CPU time of the calling thread, so that a busy machine changes no verdict.
class CpuBudget {
 public:
  /// Deadline so many seconds from now; ends with the limits' stop token too.
  explicit CpuBudget(Limits const& limits);
  /// Returns whether it is spent. Looks at the clock once in 1,024 calls.
  [[nodiscard]] bool spent();

 private:
  double end_;
  std::stop_token stop_;
  std::uint64_t calls_ = 0;
  bool spent_ = false;
};

/// The instance that has most lanes like those of a traced access. Both sides: the address relative to the base, or nothing
/// where the lane takes no part.
struct NearestInstance {
  ProvedAccess const* access = nullptr;
  std::vector<std::pair<std::string, std::uint64_t>> origin{};  ///< values of the variables
  std::uint64_t base = 0;
  unsigned equal = 0;            ///< lanes that are as proved
  bool base_not_proved = false;  ///< all are, from a base that is no multiple of base_step
  unsigned lane = 0;             ///< the first that differs
  std::optional<std::int64_t> proved{}, asked{};
};

/// An instruction of the trace compared with the proofs.
struct ConformingInstruction {
  TracedInstruction const* traced = nullptr;
  Conformance conformance = Conformance::not_modelled;
  std::vector<ProvedAccess const*> candidates{};  ///< proved accesses of its kernel and kind
  std::uint64_t as_proved = 0;                    ///< executions
  std::uint64_t differing = 0;                    ///< executions that are no instance
  std::optional<NearestInstance>
      nearest{};  ///< instance nearest to the most expensive of these; nothing if no lane is as proved from any base
  std::string why{};     ///< it is undecided
  bool searched = true;  ///< `nearest` was searched to the end
};

/// A whole trace compared with the proofs. It points into both.
struct ConformanceReport {
  std::vector<ConformingInstruction> instructions{};
  std::vector<ProvedAccess const*> never_traced{};  ///< no traced instruction is of their kernel and kind
  std::uint64_t dropped = 0;                        ///< executions that the trace does not have
  std::vector<std::string> failures{};  ///< failures of the tracer: the trace may lack whole kernels

  [[nodiscard]] std::size_t count(Conformance which) const;
};

/// Compares each instruction of a trace with the accesses that are proved of its kernel, on its architecture. Undecided:
///   - where executions were not recorded;
///   - where no candidate is met, but one is not proved, has more than 2^24 instances, bases without a period, or instances
///     that the budget did not allow to look at;
///   - of ldmatrix and stmatrix, where what is proved has `.trans` and the trace has not, or the other way round: the same
///     addresses, but other data.
/// Throws InputError for what is no regular expression.
[[nodiscard]] ConformanceReport conformance(Trace const& trace, std::vector<ProvedAccess> const& proved,
                                            Limits const& limits, CpuBudget& budget);
/// The same within the limits' time.
[[nodiscard]] ConformanceReport conformance(Trace const& trace, std::vector<ProvedAccess> const& proved,
                                            Limits const& limits);

}  // namespace swizproof
