// Parts that the answers of `crosscheck` on traces have in common.
#pragma once

#include "profile/trace.hpp"
#include "report/report.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace swizproof::command {

/// Which instruction it is, and how often it was launched and executed.
[[nodiscard]] nlohmann::ordered_json traced_json(TracedInstruction const& instruction);

/// Which trace it is, and what it does not have.
[[nodiscard]] nlohmann::ordered_json traced_json(Trace const& trace);

/// The trace's name, if it is one of several, and a doubt if it has no digest; lines.
[[nodiscard]] std::string traced_head(Trace const& trace, bool several, Style const& style);

/// Instructions of one outcome.
struct CountedOutcome {
  std::size_t count = 0;
  std::string_view words;
};
/// `6 instructions: 1 as proved; 5 undecided`, without outcomes that none has.
[[nodiscard]] std::string by_outcome(std::size_t instructions, std::span<CountedOutcome const> outcomes);

/// Executions and kernels that the trace does not have; lines.
[[nodiscard]] std::string lost_lines(Trace const& trace);

}  // namespace swizproof::command
