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
  std::uint32_t worst_lanes = 0;                     ///< that execute it

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
