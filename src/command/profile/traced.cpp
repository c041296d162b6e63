#include "command/profile/traced.hpp"

#include <fmt/format.h>

namespace swizproof::command {

using Json = nlohmann::ordered_json;

Json traced_json(TracedInstruction const& i) {
  return {{"kernel", i.kernel},
          {"pc", i.pc},
          {"sass", i.sass.empty() ? Json() : Json(i.sass)},
          {"file", i.file.empty() ? Json() : Json(i.file)},
          {"line", i.file.empty() ? Json() : Json(i.source_line)},
          {"op", i.op},
          {"launches", i.launches},
          {"grid", i.grid},
          {"block", i.block},
          {"executed", i.executed}};
}

Json traced_json(Trace const& trace) {
  return {{"name", trace.name},       {"device", trace.device},     {"arch", trace.arch->name},
          {"dropped", trace.dropped}, {"failures", trace.failures}, {"driver", trace.driver},
          {"toolkit", trace.toolkit}, {"commit", trace.commit},     {"recorded", trace.recorded},
          {"program", trace.program}, {"digest", trace.digest},     {"unseen", trace.unseen},
          {"decided", trace.decided}};
}

std::string traced_head(Trace const& trace, bool several, Style const& style) {
  std::string text = several ? style.faint(trace.name) + "\n" : "";
  if (!trace.digest && !trace.decided)
    text += style.doubtful("the trace has no digest: changed or duplicated lines cannot be detected") + "\n";
  return text;
}

std::string by_outcome(std::size_t instructions, std::span<CountedOutcome const> outcomes) {
  std::string text = fmt::format("{} {}", instructions, instructions == 1 ? "instruction" : "instructions");
  std::string_view before = ": ";
  for (CountedOutcome const& o : outcomes) {
    if (o.count == 0) continue;
    text += fmt::format("{}{} {}", before, o.count, o.words);
    before = "; ";
  }
  return text;
}

std::string lost_lines(Trace const& trace) {
  std::string text;
  if (trace.dropped != 0)
    text += fmt::format("undecided: {} executions were dropped by the trace\n", trace.dropped);
  for (std::string const& failure : trace.failures)
    text += "undecided: kernels may be missing, the sanitizer failed so often: " + failure + "\n";
  return text;
}

}  // namespace swizproof::command
