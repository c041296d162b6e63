#include "command/profile/traces.hpp"

#include "command/profile/traced.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

constexpr Conformance conformances[] = {Conformance::as_proved,     Conformance::as_expected,
                                        Conformance::differs,       Conformance::undecided,
                                        Conformance::no_obligation, Conformance::not_modelled};

std::string_view name_of(Conformance conformance) {
  constexpr std::string_view names[] = {"as proved",
                                        "as expected of a refuted layout",
                                        "DIFFERS from what is proved",
                                        "undecided",
                                        "no obligation",
                                        "not modelled"};
  return names[static_cast<std::size_t>(conformance)];
}

/// The same as a key of JSON.
std::string_view key_of(Conformance conformance) {
  constexpr std::string_view keys[] = {"as_proved", "as_expected", "differs",
                                       "undecided", "not_covered", "not_modelled"};
  return keys[static_cast<std::size_t>(conformance)];
}

// ----------------------------------------------------------------------------------------- JSON

Json to_json(NearestInstance const& nearest) {
  Json out{{"obligation", nearest.access->obligation},
           {"access", nearest.access->access},
           {"origin", Json::object()},
           {"base", nearest.base},
           {"base_step", nearest.access->base_step},
           {"equal_lanes", nearest.equal}};
  for (auto const& [variable, value] : nearest.origin) out["origin"][variable] = value;
  out["lane"] = nullptr;  // every lane is as proved, from a base that is not
  if (nearest.base_not_proved) return out;
  out["lane"] = nearest.lane;
  out["proved"] = nearest.proved ? Json(*nearest.proved) : Json();
  out["asked"] = nearest.asked ? Json(*nearest.asked) : Json();
  return out;
}

Json to_json(ConformingInstruction const& of) {
  TracedInstruction const& i = *of.traced;
  Json out = traced_json(i);
  out["comparison"] = name_of(of.conformance);
  out["as_proved"] = of.as_proved;
  out["differing"] = of.differing;
  out["not_kept"] = i.not_kept;
  if (of.conformance == Conformance::undecided) out["why"] = of.why;
  if (of.conformance == Conformance::differs) out["nearest"] = of.nearest ? to_json(*of.nearest) : Json();
  if (!of.searched) out["nearest_searched"] = false;
  out["obligations"] = Json::array();
  for (ProvedAccess const* p : of.candidates)
    out["obligations"].push_back(
        {{"name", p->obligation}, {"access", p->access}, {"wavefronts", p->wavefronts}});
  return out;
}

// ----------------------------------------------------------------------------------------- text

/// The SASS, or where the instruction stands, and the source's line.
std::string where(TracedInstruction const& i) {
  std::string const text = i.sass.empty() ? fmt::format("{} at {:#x}", i.op, i.pc) : i.sass;
  return i.file.empty() ? text : fmt::format("{}  {}:{}", text, i.file, i.source_line);
}

std::string paint(Style const& style, Conformance conformance) {
  if (conformance == Conformance::as_proved || conformance == Conformance::as_expected)
    return style.good(name_of(conformance));
  return conformance == Conformance::differs ? style.bad(name_of(conformance))
                                             : style.doubtful(name_of(conformance));
}

/// `ldmatrix.x4 of "A tile" for row = 16, byte = 32`
std::string describe(NearestInstance const& nearest) {
  std::string values;
  for (auto const& [variable, value] : nearest.origin)
    values += fmt::format("{}{} = {}", values.empty() ? " for " : ", ", variable, value);
  return fmt::format("{}: {}{}", nearest.access->obligation, nearest.access->access, values);
}

/// Address of one lane, without the base.
std::string address(std::optional<std::int64_t> relative) {
  if (!relative) return "nothing";
  return *relative < 0 ? fmt::format("base - {:#x}", -*relative) : fmt::format("base + {:#x}", *relative);
}

std::string describe_difference(ConformingInstruction const& of) {
  std::string text;
  if (of.as_proved != 0)
    text = fmt::format("      {} of its executions are as proved, {} differ\n", of.as_proved, of.differing);
  if (!of.searched) text += "      time-out: the nearest of the instances that were looked at is shown\n";
  if (!of.nearest && !of.searched) return text;
  if (!of.nearest) return text + "      no lane accesses its proved address, from any base of the proof\n";
  NearestInstance const& n = *of.nearest;
  if (n.base_not_proved)
    return text + fmt::format("      {}: every lane, but base {:#x} is no multiple of {}\n", describe(n),
                              n.base, n.access->base_step);
  return text + fmt::format(
                    "      {}, base {:#x}: {} of {} lanes\n"
                    "      lane {:>2}  proved {}, asked {}\n",
                    describe(n), n.base, n.equal, warp_lanes, n.lane, address(n.proved), address(n.asked));
}

std::string describe(ConformanceReport const& report, Trace const& trace, Style const& style) {
  std::string text, kernel;
  for (ConformingInstruction const& i : report.instructions) {
    if (i.traced->kernel != kernel || text.empty()) text += style.strong(kernel = i.traced->kernel) + "\n";
    text += fmt::format("  {:<44} {:>9} times  {}{}\n", where(*i.traced), i.traced->executed,
                        paint(style, i.conformance),
                        i.conformance == Conformance::undecided ? ": " + i.why : std::string());
    if (i.conformance == Conformance::differs) text += describe_difference(i);
  }
  for (ProvedAccess const* p : report.never_traced)
    text += fmt::format("proved, and never traced: {}: {}\n", p->obligation, p->access);
  text += lost_lines(trace);
  return text;
}

}  // namespace

std::size_t Traces::count(Conformance which) const {
  std::size_t sum = 0;
  for (ConformanceReport const& report : reports) sum += report.count(which);
  return sum;
}

std::uint64_t Traces::dropped() const {
  std::uint64_t sum = 0;
  for (ConformanceReport const& report : reports) sum += report.dropped;
  return sum;
}

bool Traces::failed() const {
  return std::any_of(reports.begin(), reports.end(),
                     [](auto const& report) { return !report.failures.empty(); });
}

Json to_json(Traces const& traces) {
  Json all = Json::array();
  for (std::size_t t = 0; t < traces.traces.size(); ++t) {
    Trace const& trace = traces.traces[t];
    Json one = traced_json(trace);
    one["instructions"] = Json::array();
    for (ConformingInstruction const& i : traces.reports[t].instructions)
      one["instructions"].push_back(to_json(i));
    one["never_traced"] = Json::array();
    for (ProvedAccess const* p : traces.reports[t].never_traced)
      one["never_traced"].push_back({{"name", p->obligation}, {"access", p->access}});
    all.push_back(std::move(one));
  }
  return all;
}

Json sums(Traces const& traces) {
  Json out = Json::object();
  std::size_t lines = 0;
  for (ConformanceReport const& report : traces.reports) lines += report.instructions.size();
  out["lines"] = lines;
  for (Conformance const c : conformances) out[std::string(key_of(c))] = traces.count(c);
  out["dropped"] = traces.dropped();
  return out;
}

std::string describe(Traces const& traces, Style const& style) {
  std::string text;
  std::size_t lines = 0;
  for (std::size_t t = 0; t < traces.traces.size(); ++t) {
    text += traced_head(traces.traces[t], traces.traces.size() > 1, style);
    text += describe(traces.reports[t], traces.traces[t], style);
    lines += traces.reports[t].instructions.size();
  }
  if (traces.mismatches() != 0)
    text +=
        "\nDIFFERS: the lanes do not ask for what the obligation says, from any base that it is proved for. "
        "The lane "
        "is the first\nthat differs from the nearest instance, and the addresses are relative to that "
        "base.\n";
  if (traces.count(Conformance::no_obligation) != 0)
    text += "\nno obligation: no access of this instruction and width in the obligations for this kernel.\n";
  std::vector<CountedOutcome> outcomes;
  for (Conformance const c : conformances) outcomes.push_back({traces.count(c), name_of(c)});
  return text + "\n" + by_outcome(lines, outcomes) + "\n";
}

}  // namespace swizproof::command
