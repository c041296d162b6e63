#include "command/profile/counts.hpp"

#include <fmt/format.h>

#include <map>

namespace swizproof::command {

namespace {

/// Outcomes of a line, as a key of JSON and in words, in the order of CountedLine::Outcome.
struct OutcomeWords {
  CountedLine::Outcome outcome;
  std::string_view key, words;
};
constexpr OutcomeWords known_outcomes[] = {
    {CountedLine::Outcome::equal, "equal", "counted as the cost model says"},
    {CountedLine::Outcome::predicated, "predicated",
     "counted as the model says, with warps more that a predicate switched off or whose generic pointers are "
     "not shared"},
    {CountedLine::Outcome::bounded, "bounded", "within bounds: this counter is modelled as a range"},
    {CountedLine::Outcome::different, "different", "COUNTED DIFFERENTLY"},
    {CountedLine::Outcome::undecided, "undecided", "undecided"},
};

/// Reasons why the count of a line is known only within bounds.
constexpr std::string_view bounded_reasons[] = {
    "copies: the counter has the fill of the line as well as the write to shared memory",
    "loads of 8 and 16 bytes: equal addresses are merged in ways that the counter does not show (H11)",
    "executions whose addresses the trace did not keep",
};
std::string_view bounded_reason_of(CountedLine const& line) {
  Instruction const& i = *line.traced->instruction;
  if (i.operation == Operation::cp_async) return bounded_reasons[0];
  bool const wide_load = i.operation == Operation::ld_shared && i.bytes >= 8;
  return bounded_reasons[wide_load && line.traced->not_kept == 0 ? 1 : 2];
}

/// Number of the lines within bounds that are so for this reason.
std::size_t bounded_by(Counts const& counts, std::string_view reason) {
  std::size_t sum = 0;
  for (CountedLines const& one : counts.of_traces)
    for (CountedLine const& line : one.lines)
      sum += line.outcome == CountedLine::Outcome::bounded && bounded_reason_of(line) == reason ? 1 : 0;
  return sum;
}

/// Number of undecided lines, by the reason.
std::map<std::string_view, std::size_t> reasons_of(Counts const& counts) {
  std::map<std::string_view, std::size_t> out;
  for (CountedLines const& one : counts.of_traces)
    for (CountedLine const& line : one.lines)
      if (line.outcome == CountedLine::Outcome::undecided) ++out[line.why];
  return out;
}

nlohmann::ordered_json to_json(CountedLine const& line) {
  nlohmann::ordered_json out{{"kernel", line.traced->kernel},
                             {"pc", line.traced->pc},
                             {"sass", line.traced->sass},
                             {"executed", {line.traced->executed, line.executed}},
                             {"wavefronts", {line.traced->wavefronts, line.wavefronts}}};
  if (!line.why.empty()) out["why"] = line.why;
  return out;
}

/// The lines of one outcome.
nlohmann::ordered_json lines_of(Counts const& counts, CountedLine::Outcome which) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (CountedLines const& one : counts.of_traces)
    for (CountedLine const& line : one.lines)
      if (line.outcome == which) out.push_back(to_json(line));
  return out;
}

std::size_t total(Counts const& counts, std::size_t CountedLines::*member) {
  std::size_t sum = 0;
  for (CountedLines const& one : counts.of_traces) sum += one.*member;
  return sum;
}

}  // namespace

std::size_t Counts::count(CountedLine::Outcome which) const {
  std::size_t sum = 0;
  for (CountedLines const& one : of_traces) sum += one.count(which);
  return sum;
}

std::size_t Counts::said() const {
  std::size_t sum = 0;
  for (CountedLines const& one : of_traces) sum += one.lines.size();
  return sum;
}

nlohmann::ordered_json to_json(Counts const& counts) {
  nlohmann::ordered_json out{{"lines", counts.said()}};
  for (OutcomeWords const& known : known_outcomes) out[std::string(known.key)] = counts.count(known.outcome);
  out["bounded_by"] = nlohmann::ordered_json::object();
  for (std::string_view const reason : bounded_reasons)
    if (std::size_t const n = bounded_by(counts, reason); n != 0) out["bounded_by"][std::string(reason)] = n;
  out["other_launches"] = total(counts, &CountedLines::other_launches);
  out["no_law"] = total(counts, &CountedLines::no_law);
  out["not_counted"] = total(counts, &CountedLines::not_counted);
  out["not_traced"] = total(counts, &CountedLines::not_traced);
  out["several"] = total(counts, &CountedLines::several);
  out["without_address"] = total(counts, &CountedLines::without_address);
  out["differing"] = lines_of(counts, CountedLine::Outcome::different);
  out["open"] = lines_of(counts, CountedLine::Outcome::undecided);
  return out;
}

std::string describe(Counts const& counts, Style const& style) {
  std::string text;
  for (CountedLines const& one : counts.of_traces)
    for (CountedLine const& line : one.lines)
      if (line.outcome == CountedLine::Outcome::different || line.outcome == CountedLine::Outcome::undecided)
        text += fmt::format(
            "{}\n  {:#06x}  {}\n          traced {} times, {} wavefronts by the cost model; {}{}\n",
            style.strong(line.traced->kernel), line.traced->pc, line.traced->sass, line.traced->executed,
            line.traced->wavefronts,
            line.summed ? fmt::format("counted {} times, {} wavefronts", line.executed, line.wavefronts)
                        : "no one count",
            line.why.empty() ? "" : ": undecided");
  text += fmt::format("{} lines traced and counted\n", counts.said());
  for (OutcomeWords const& known : known_outcomes)
    if (std::size_t const n = counts.count(known.outcome); n != 0) {
      text += fmt::format("  {:>6}  {}\n", n,
                          known.outcome == CountedLine::Outcome::different ? style.bad(known.words)
                                                                           : std::string(known.words));
      for (std::string_view const reason : bounded_reasons)
        if (std::size_t const its =
                known.outcome == CountedLine::Outcome::bounded ? bounded_by(counts, reason) : 0;
            its != 0)
          text += fmt::format("        {:>6}  {}\n", its, reason);
      if (known.outcome == CountedLine::Outcome::undecided)
        for (auto const& [reason, its] : reasons_of(counts))
          text += fmt::format("        {:>6}  {}\n", its, reason);
    }
  auto const add = [&](std::size_t n, std::string_view words) {
    if (n != 0) text += fmt::format("  {:>6}  {}\n", n, style.faint(words));
  };
  add(total(counts, &CountedLines::other_launches),
      "more of kernels that were launched more often in one of the two: trace and profile the same launches");
  add(total(counts, &CountedLines::no_law), "not modelled");
  add(total(counts, &CountedLines::not_counted), "more that the profile does not have");
  add(total(counts, &CountedLines::not_traced), "more that the trace does not have");
  add(total(counts, &CountedLines::several),
      "more of kernels of one name: which of their lines belong together is not known");
  add(total(counts, &CountedLines::without_address), "lines of the profile without an address: not compared");
  if (counts.mismatches() != 0)
    text +=
        "\nCOUNTED DIFFERENTLY: as often, and not as the model says. A program whose data differ from run to "
        "run may\n"
        "do so too: trace and profile it on the same data.\n";
  return text;
}

}  // namespace swizproof::command
