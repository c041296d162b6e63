// Traces compared with obligations: the output of `crosscheck`.
#pragma once

#include "profile/trace_vs_obligations.hpp"
#include "report/report.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace swizproof::command {

/// Traces and their comparison with the proofs.
struct Traces {
  std::span<Trace const> traces{};           ///< traces; they outlive it
  std::vector<ConformanceReport> reports{};  ///< one for each trace

  [[nodiscard]] std::size_t count(Conformance which) const;
  /// Number of instructions with an answer.
  [[nodiscard]] std::size_t said() const {
    return count(Conformance::as_proved) + count(Conformance::as_expected) + count(Conformance::differs);
  }
  [[nodiscard]] std::size_t mismatches() const { return count(Conformance::differs); }
  /// Executions that the traces know nothing of.
  [[nodiscard]] std::uint64_t dropped() const;
  /// True if a tracer failed, so that whole kernels may be missing.
  [[nodiscard]] bool failed() const;
  [[nodiscard]] bool undecided() const {
    return said() == 0 || count(Conformance::undecided) != 0 || dropped() != 0 || failed();
  }
};

/// The key `traces`: [{"name", "device", "arch", "dropped", "instructions": [{"kernel", "comparison", "nearest", ...}]}].
[[nodiscard]] nlohmann::ordered_json to_json(Traces const& traces);

/// Numbers of instructions by their comparison with the proofs.
[[nodiscard]] nlohmann::ordered_json sums(Traces const& traces);

/// A line for each instruction, under what differs the first lane that does, and what the words mean.
[[nodiscard]] std::string describe(Traces const& traces, Style const& style);

}  // namespace swizproof::command
