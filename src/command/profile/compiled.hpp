// Traces compared with PTX: output of `crosscheck`.
#pragma once

#include "profile/trace_vs_ptx.hpp"
#include "report/report.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace swizproof::command {

/// Traces compared with the PTX of their kernels.
struct Compiled {
  std::span<Trace const> traces{};        ///< which outlive it
  std::vector<CompiledReport> reports{};  ///< one for each trace

  [[nodiscard]] std::size_t count(AsCompiled which) const;
  /// Instructions with an answer.
  [[nodiscard]] std::size_t said() const { return count(AsCompiled::as_proved) + mismatches(); }
  [[nodiscard]] std::size_t mismatches() const { return count(AsCompiled::differs); }
  /// True if an instruction is undecided, or executions or kernels are not in a trace.
  [[nodiscard]] bool undecided() const;
};

/// The key `compiled`: one object for each trace, with `instructions` and `sums`.
[[nodiscard]] nlohmann::ordered_json to_json(Compiled const& compiled);

/// A line for each instruction, the first lane that differs, and the sums.
[[nodiscard]] std::string describe(Compiled const& compiled, Style const& style);

}  // namespace swizproof::command
