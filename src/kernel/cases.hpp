// Cases of an access in one warp. Each case is a set of assumptions under which the addresses are known; all cases are tried.
//
//   solve     one case: cost, faults and lanes, if the addresses are known in it
//   split     all values of a term without which the address is not known
//   give up   the case is not decided, or depends on data
#pragma once

#include "access_search.hpp"
#include "lanes.hpp"
#include "sample_launches.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// A case whose cost is known: an execution that meets the assumptions takes as much, if there is one.
struct KnownCase {
  unsigned wavefronts = 0;
  unsigned warp = 0;
  std::uint32_t lanes = 0;  ///< that execute it
  std::vector<execution::Assumption> assumptions{};
};

/// Cost of an access in the cases so far.
struct CaseCost {
  unsigned wavefronts = 0;
  bool reached = false;      ///< a known execution takes as many
  bool data = false;         ///< a case depends on data
  bool unknown = false;      ///< a case is not decided
  std::string reason{};      ///< reason for data or unknown
  Origin guard{};            ///< of a condition that is not decided
  std::uint32_t active = 0;  ///< lanes that may execute it
  std::optional<KernelWorst> worst{};
  std::vector<execution::Assumption> assumptions{};  ///< of the worst
  std::optional<KnownCase>
      known{};  ///< the costliest one above what is allowed, also if others are not decided

  /// True if a case costs more, or as much and is shown where this one is not.
  [[nodiscard]] bool is_exceeded_by(CaseCost const& one) const;
  void merge(CaseCost&& one);
};

/// Result of all cases.
struct CaseResults {
  CaseCost cost{};
  Faults faults{};
  std::size_t tried = 0;
};

/// Tries all cases of an access in a warp, which may be Warp::every.
[[nodiscard]] CaseResults decide_cases(ExecutedKernel& kernel, AccessSearch& search, unsigned warp,
                                       LanePatterns& patterns, SampleLaunches& launches);

}  // namespace swizproof::kernel_detail
