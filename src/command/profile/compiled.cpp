#include "command/profile/compiled.hpp"

#include "command/profile/traced.hpp"
#include "report/kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <list>
#include <map>
#include <tuple>

namespace swizproof::command {

namespace compiled_detail {
namespace {

using Json = nlohmann::ordered_json;

/// Outcomes as a key of JSON and in words, in the order of AsCompiled.
struct CompiledWords {
  AsCompiled outcome;
  std::string_view key, words;
};
constexpr CompiledWords known_outcomes[] = {
    {AsCompiled::as_proved, "as_proved", "as proved"},
    {AsCompiled::differs, "differs", "DIFFERS from the PTX"},
    {AsCompiled::undecided, "undecided", "undecided"},
    {AsCompiled::not_compared, "not_compared", "not compared"},
    {AsCompiled::no_kernel, "no_kernel", "not a kernel of the PTX"},
    {AsCompiled::not_modelled, "not_modelled", "not modelled"},
};
/// The same in a table.
constexpr std::string_view row_words[] = {"as proved",    "DIFFERS",    "undecided",
                                          "not compared", "not in PTX", "not modelled"};
/// Words with the code that the trace is compared with, where they name it: `not a kernel of the SASS`.
std::string in_code(std::string_view words, std::string const& code) {
  constexpr std::string_view ptx = "PTX";
  std::string text(words);
  std::size_t const at = text.find(ptx);
  return at == text.npos ? text : text.replace(at, ptx.size(), code);
}
std::string_view words_of(AsCompiled outcome) {
  return known_outcomes[static_cast<std::size_t>(outcome)].words;
}

/// Sums over instructions.
struct CompiledSums {
  std::size_t patterns = 0, found = 0, merged = 0, not_at_bound = 0, not_certain = 0, within_bound = 0;
  std::uint64_t not_kept = 0;
};
/// True if an execution of the PTX takes more than the trace has seen.
bool below_bound(CompiledInstruction const& i) {
  return i.outcome == AsCompiled::as_proved && i.reached && i.worst < *i.proved;
}
CompiledSums sums_of(CompiledReport const& report) {
  CompiledSums sums;
  for (CompiledInstruction const& i : report.instructions) {
    if (i.outcome == AsCompiled::no_kernel || i.outcome == AsCompiled::not_modelled ||
        i.outcome == AsCompiled::not_compared)
      continue;
    bool const proved = i.outcome == AsCompiled::as_proved;
    sums.patterns += i.patterns, sums.found += i.found;
    sums.merged += proved && i.merged > 1 ? 1 : 0;
    sums.not_at_bound += below_bound(i) ? 1 : 0;
    sums.not_certain += proved && !i.certain ? 1 : 0;
    sums.within_bound += i.outcome == AsCompiled::undecided && i.proved ? 1 : 0;
    sums.not_kept += i.traced->not_kept;
  }
  return sums;
}

// ----------------------------------------------------------------------------------------- JSON

Json to_json(DifferingLane const& lane) {
  return {{"ptx_line", lane.ptx_line},
          {"equal_lanes", lane.equal},
          {"lane", lane.lane},
          {"traced", lane.traced ? Json(*lane.traced) : Json()},
          {"of_ptx", lane.of_ptx ? Json(*lane.of_ptx) : Json()}};
}

Json to_json(CompiledInstruction const& of) {
  TracedInstruction const& i = *of.traced;
  Json out = traced_json(i);
  out["comparison"] = words_of(of.outcome);
  out["patterns"] = of.patterns;
  out["found"] = of.found;
  out["not_kept"] = i.not_kept;
  if (i.instruction) out["wavefronts"] = of.worst;
  if (of.proved) out["proved"] = *of.proved;
  if (of.outcome == AsCompiled::as_proved) {
    out["reached"] = of.reached;
    out["at_bound"] = of.worst == *of.proved;
    out["certain"] = of.certain;
    out["merged"] = of.merged;
    out["ptx_lines"] = of.ptx_lines;
  }
  if (!of.why.empty() && of.outcome != AsCompiled::as_proved) out["why"] = of.why;
  if (of.outcome == AsCompiled::differs) out["nearest"] = of.nearest ? to_json(*of.nearest) : Json();
  return out;
}

Json to_json(CompiledReport const& report, Trace const& trace) {
  Json out = traced_json(trace);
  out["instructions"] = Json::array();
  for (CompiledInstruction const& i : report.instructions) out["instructions"].push_back(to_json(i));
  Json& sums = out["sums"] = Json{{"lines", report.instructions.size()}};
  for (CompiledWords const& known : known_outcomes)
    sums[std::string(known.key)] = report.count(known.outcome);
  CompiledSums const all = sums_of(report);
  sums["patterns"] = all.patterns;
  sums["found"] = all.found;
  sums["not_kept"] = all.not_kept;
  sums["merged"] = all.merged;
  sums["not_at_bound"] = all.not_at_bound;
  sums["not_certain"] = all.not_certain;
  sums["within_bound"] = all.within_bound;
  sums["not_traced"] = report.not_traced;
  sums["lower"] = report.lower;
  out["assumed"] = report.assumed;
  Json& merges = out["possible_merges"] = Json::array();
  for (PossibleMerge const& m : report.merges)
    merges.push_back(
        {{"kernel", m.into->kernel}, {"pc", m.into->pc}, {"sass", m.into->sass}, {"ptx_lines", m.ptx_lines}});
  return out;
}

// ----------------------------------------------------------------------------------------- text

/// `transpose.cu:31`, or the address in the kernel.
std::string source_of(TracedInstruction const& i) {
  return i.file.empty() ? fmt::format("pc {:#x}", i.pc)
                        : fmt::format("{}:{}", i.file.substr(i.file.rfind('/') + 1), i.source_line);
}

std::string paint(Style const& style, AsCompiled outcome, std::string const& code) {
  std::string const text = fmt::format("{:<12}", in_code(row_words[static_cast<std::size_t>(outcome)], code));
  if (outcome == AsCompiled::as_proved) return style.good(text);
  return outcome == AsCompiled::differs ? style.bad(text) : style.doubtful(text);
}

std::string address(std::optional<std::uint32_t> at) { return at ? fmt::format("{:#x}", *at) : "off"; }

/// Behind a row: what qualifies it.
std::string remarks_of(CompiledInstruction const& of) {
  std::vector<std::string> all;
  if (of.outcome == AsCompiled::undecided || of.outcome == AsCompiled::not_compared) all.push_back(of.why);
  if (of.merged > 1) all.push_back(fmt::format("{} accesses merged", of.merged));
  if (below_bound(of)) all.emplace_back(of.traced->decided() ? "less than the PTX" : "not seen at its bound");
  if (of.outcome == AsCompiled::as_proved && !of.certain) all.emplace_back("as far as is known");
  return all.empty() ? "" : fmt::format("  {}", fmt::join(all, ", "));
}

/// The first lane of a pattern that is not one of the code.
std::string difference(CompiledInstruction const& of, std::string const& code) {
  std::string const text = fmt::format("      {} of {} patterns found; {}\n", of.found, of.patterns,
                                       of.traced->sass.empty() ? of.traced->op : of.traced->sass);
  if (!of.nearest)
    return text + fmt::format("      no lane of the first other one is like a lane of the {}\n", code);
  DifferingLane const& n = *of.nearest;
  return text + fmt::format("      nearest: {0} line {1}, {2} of {3} lanes; lane {4}: {0} {5}, {6} {7}\n",
                            code, n.ptx_line, n.equal, warp_lanes, n.lane, address(n.of_ptx),
                            of.traced->decided() ? "SASS" : "traced", address(n.traced));
}

/// Instructions of one kernel that look alike; one that differs is alone.
struct CompiledRow {
  CompiledInstruction const* first = nullptr;
  std::size_t count = 0, patterns = 0;
};
std::vector<CompiledRow> rows_of(std::span<CompiledInstruction const> instructions) {
  auto const key = [](CompiledInstruction const& i) {
    return std::tuple(i.outcome, source_of(*i.traced), i.traced->op, i.worst, i.proved, remarks_of(i),
                      i.outcome == AsCompiled::differs ? &i : nullptr);
  };
  std::vector<CompiledRow> rows;
  std::map<decltype(key(instructions.front())), std::size_t> known;
  for (CompiledInstruction const& i : instructions) {
    auto const [at, fresh] = known.try_emplace(key(i), rows.size());
    if (fresh) rows.push_back({&i, 0, 0});
    ++rows[at->second].count;
    rows[at->second].patterns += i.traced->patterns.size();
  }
  return rows;
}

/// The table of one kernel.
std::string describe(std::span<CompiledInstruction const> instructions, std::string const& code,
                     Style const& style) {
  std::size_t wide = 6, op = 2;
  for (CompiledInstruction const& i : instructions)
    wide = std::max(wide, source_of(*i.traced).size()), op = std::max(op, i.traced->op.size());
  TracedInstruction const& any = *instructions.front().traced;
  std::string text = fmt::format(
      "{}  {}\n  {}\n", style.strong(any.kernel),
      any.block[0] == 0 ? "every block that it takes" : fmt::format("block {}", fmt::join(any.block, ",")),
      style.faint(fmt::format("{:<12}  {:<{}}  {:<{}}  {:>5}  {:>8}  {:>10}  {:>6}", "", "source", wide, "op",
                              op, "count", "patterns", "wavefronts", "proved")));
  auto const number = [](bool known, unsigned n) { return known ? std::to_string(n) : "-"; };
  for (CompiledRow const& row : rows_of(instructions)) {
    CompiledInstruction const& i = *row.first;
    text += fmt::format("  {}  {:<{}}  {:<{}}  {:>5}  {:>8}  {:>10}  {:>6}{}\n",
                        paint(style, i.outcome, code), source_of(*i.traced), wide, i.traced->op, op,
                        row.count, row.patterns, number(i.worst != 0, i.worst),
                        number(i.proved.has_value(), i.proved.value_or(0)), remarks_of(i));
    if (i.outcome == AsCompiled::differs) text += difference(i, code);
  }
  return text + "\n";
}

std::string describe(CompiledReport const& report, Trace const& trace, Style const& style) {
  std::string text;
  std::span<CompiledInstruction const> rest = report.instructions;
  while (!rest.empty()) {
    auto const other = std::find_if(rest.begin(), rest.end(), [&](CompiledInstruction const& i) {
      return i.traced->kernel != rest[0].traced->kernel || i.traced->block != rest[0].traced->block;
    });
    auto const count = static_cast<std::size_t>(other - rest.begin());
    text += describe(rest.first(count), report.code, style);
    rest = rest.subspan(count);
  }
  if (!report.assumed.empty())
    text += assumed_in_words({report.assumed.begin(), report.assumed.end()}) + "\n";
  text += lost_lines(trace);
  std::vector<CountedOutcome> outcomes;
  std::list<std::string> words;
  for (CompiledWords const& known : known_outcomes)
    outcomes.push_back({report.count(known.outcome), words.emplace_back(in_code(known.words, report.code))});
  CompiledSums const sums = sums_of(report);
  text += fmt::format("{}; {} of {} {}patterns found\n", by_outcome(report.instructions.size(), outcomes),
                      sums.found, sums.patterns, trace.decided ? "" : "recorded ");
  auto const note = [&](std::uint64_t n, std::string_view words) {
    if (n != 0) text += fmt::format("  {:>6}  {}\n", n, words);
  };
  note(sums.merged, "instructions into which ptxas merged several accesses");
  note(sums.not_at_bound, trace.decided
                              ? "instructions that take less than the PTX's access: one copy of several, say"
                              : "instructions not seen at their bound");
  for (PossibleMerge const& m : report.merges)
    note(m.ptx_lines.size(), fmt::format("accesses of the PTX that may be parts of {} at {}: PTX lines {}",
                                         m.into->sass, source_of(*m.into), fmt::join(m.ptx_lines, ", ")));
  note(report.lower, "accesses of the PTX that take less in the SASS, in all copies");
  note(sums.not_certain,
       "instructions as proved as far as is known: the match needs values or lanes that may not occur");
  note(sums.within_bound, trace.decided ? "undecided instructions have a bound that is no more than the PTX's"
                                        : "undecided instructions took no more than what is proved");
  note(sums.not_kept, "executions without a recorded pattern: only what they cost is compared");
  note(report.not_traced,
       trace.decided ? "accesses of the PTX without a matching instruction: ptxas removed or merged them"
       : report.code == "SASS"
           ? "accesses of the SASS that were not traced: not executed"
           : fmt::format("accesses of the {} that were not traced: not executed, or removed by ptxas",
                         report.code));
  return text;
}

}  // namespace
}  // namespace compiled_detail

std::size_t Compiled::count(AsCompiled which) const {
  std::size_t sum = 0;
  for (CompiledReport const& report : reports) sum += report.count(which);
  return sum;
}

bool Compiled::undecided() const {
  return said() == 0 || count(AsCompiled::undecided) != 0 ||
         std::any_of(traces.begin(), traces.end(),
                     [](Trace const& t) { return t.dropped != 0 || !t.failures.empty(); });
}

nlohmann::ordered_json to_json(Compiled const& compiled) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (std::size_t t = 0; t < compiled.traces.size(); ++t)
    all.push_back(compiled_detail::to_json(compiled.reports[t], compiled.traces[t]));
  return all;
}

std::string describe(Compiled const& compiled, Style const& style) {
  std::string text;
  for (std::size_t t = 0; t < compiled.traces.size(); ++t) {
    text += traced_head(compiled.traces[t], compiled.traces.size() > 1, style);
    text += compiled_detail::describe(compiled.reports[t], compiled.traces[t], style);
  }
  bool const sass = !compiled.reports.empty() && compiled.reports[0].code == "SASS";
  if (compiled.mismatches() != 0)
    text += sass ? "\nDIFFERS: no warp that executes the SASS has these addresses. The dump is of another "
                   "build of the "
                   "program.\n"
                 : "\nDIFFERS: no warp that executes the PTX has these addresses. The PTX is of another "
                   "source, or "
                   "ptxas "
                   "changed the access\n(assumption H17).\n";
  return text;
}

}  // namespace swizproof::command
