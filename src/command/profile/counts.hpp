// Traces compared with a profile of the same program: the output of `crosscheck`.
#pragma once

#include "profile/trace_vs_profile.hpp"
#include "report/report.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace swizproof::command {

/// Traces compared with the counts of a profile.
struct Counts {
  std::vector<CountedLines> of_traces{};  ///< one for each trace, which outlives it

  [[nodiscard]] std::size_t count(CountedLine::Outcome which) const;
  [[nodiscard]] std::size_t said() const;
  [[nodiscard]] std::size_t mismatches() const { return count(CountedLine::Outcome::different); }
  [[nodiscard]] bool undecided() const { return said() == 0 || count(CountedLine::Outcome::undecided) != 0; }
};

/// The key `counted`: how many lines of each kind, and those that differ.
[[nodiscard]] nlohmann::ordered_json to_json(Counts const& counts);

/// Every line that differs, and how many of each kind there are.
[[nodiscard]] std::string describe(Counts const& counts, Style const& style);

}  // namespace swizproof::command
