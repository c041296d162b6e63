#include "report/races.hpp"

#include "report/kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace swizproof {

namespace {

using RaceJson = nlohmann::ordered_json;

RaceJson access_json(RaceAccess const& a) {
  RaceJson out{{"op", a.op},
               {"ptx_line", a.ptx_line},
               {"file", a.source.file.empty() ? RaceJson() : RaceJson(a.source.file)},
               {"line", a.source.file.empty() ? RaceJson() : RaceJson(a.source.line)},
               {"thread", a.thread},
               {"write", a.write}};
  if (!a.inlined_at.empty()) out["inlined_at"] = to_json(a.inlined_at);
  return out;
}

std::string at(RaceAccess const& a) {
  return a.source.file.empty() ? fmt::format("PTX {}", a.ptx_line) : source_of(a.source, a.inlined_at);
}

std::string thread_of(RaceAccess const& a) { return fmt::format("thread ({})", fmt::join(a.thread, ",")); }

/// ` (PTX 303, 307 and 30 more)`, with -lineinfo ` (k.cu:7, k.cu:9)`
std::string lines_of(KernelRaces const& races) {
  constexpr std::size_t most = 6;
  std::vector<std::string> all;
  bool ptx = false;  // the first has no source
  for (std::size_t i = 0; i < races.lines.size(); ++i) {
    bool const mapped = i < races.sources.size() && !races.sources[i].empty();
    if (i == 0) ptx = !mapped;
    std::string text = mapped ? source_of(races.sources[i].front(), std::span(races.sources[i]).subspan(1))
                              : fmt::format("{}{}", ptx ? "" : "PTX ", races.lines[i]);
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
  }
  if (all.empty()) return {};
  std::string const more = all.size() > most ? fmt::format(" and {} more", all.size() - most) : "";
  return fmt::format(" ({}{}{})", ptx ? "PTX " : "",
                     fmt::join(all.begin(), all.begin() + std::ptrdiff_t(std::min(most, all.size())), ", "),
                     more);
}

/// `; if ld.global.u32 at k.cu:7 gives 0 to thread (0,0,0) and 0 to thread (1,0,0)`, empty for a race for all data.
std::string data_of(Race const& r) {
  constexpr std::size_t most = 4;
  std::string text;
  RaceAccess const* before = nullptr;
  for (std::size_t i = 0; i < std::min(most, r.data.size()); ++i) {
    RaceAccess const& load = r.data[i].load;
    bool const same = before != nullptr && before->ptx_line == load.ptx_line;
    text += same                ? " and"
            : before != nullptr ? fmt::format(", {} at {} gives", load.op, at(load))
                                : fmt::format("; if {} at {} gives", load.op, at(load));
    text += fmt::format(" {} to {}", r.data[i].value, thread_of(load));
    before = &load;
  }
  if (r.data.size() > most) text += fmt::format(" and {} more loads", r.data.size() - most);
  return text + (r.more_data ? " and others" : "");
}

}  // namespace

nlohmann::ordered_json to_json(KernelRaces const& races) {
  RaceJson out{{"verdict", races.verdict == RaceVerdict::proved    ? "proved"
                           : races.verdict == RaceVerdict::refuted ? "refuted"
                                                                   : "unknown"},
               {"reason", races.reason.empty() ? RaceJson() : RaceJson(races.reason)},
               {"ptx_lines", races.lines},
               {"accesses", races.accesses},
               {"pairs", races.pairs},
               {"found", RaceJson::array()}};
  for (Race const& r : races.races) {
    RaceJson params = RaceJson::object();
    for (auto const& [name, value] : r.params) params[name] = value;
    RaceJson data = RaceJson::array();
    for (RaceData const& d : r.data) {
      data.push_back(access_json(d.load));
      data.back().update(
          RaceJson{{"address", d.address.empty() ? RaceJson() : RaceJson(d.address)}, {"value", d.value}});
      data.back().erase("write");
    }
    out["found"].push_back({{"kind", name_of(r.kind)},
                            {"byte", r.byte},
                            {"array", r.array.empty() ? RaceJson() : RaceJson(r.array)},
                            {"offset", r.offset},
                            {"barriers", r.interval},
                            {"block", r.block},
                            {"block_index", r.block_index},
                            {"params", std::move(params)},
                            {"first", access_json(r.first)},
                            {"second", access_json(r.second)}});
    if (!r.data.empty()) out["found"].back()["data"] = std::move(data);
    if (r.more_data) out["found"].back()["more_data"] = true;
  }
  if (!races.assumed.empty()) out["assumed"] = races.assumed;
  return out;
}

std::string describe(Race const& r) {
  auto const either = [&](std::string_view op) {
    return r.first.op.starts_with(op) || r.second.op.starts_with(op);
  };
  std::string_view const pending = either("cp.async")                ? "the copy"
                                   : r.first.op.starts_with("wgmma") ? "wgmma"
                                                                     : "";
  std::string const missing =
      pending.empty() ? "no barrier is between"
      : r.first.thread == r.second.thread
          ? fmt::format("no wait for {} is between", pending)
          : fmt::format("no wait for {} with a barrier behind it is between", pending);
  return fmt::format(
      "{}{}: {} {} byte {:#x}{} at {}, {}; {}", name_of(r.kind), r.data.empty() ? "" : " for some data",
      thread_of(r.first), r.first.write ? "writes" : "reads", r.byte,
      r.array.empty() ? "" : fmt::format(" ({}+{})", r.array, r.offset), at(r.first), second_of(r), missing);
}

std::string second_of(Race const& r) {
  return fmt::format("{} {} it at {}", thread_of(r.second), r.second.write ? "writes" : "reads",
                     at(r.second));
}

std::string launch_of(Race const& r) {
  std::vector<std::string> params;
  for (auto const& [name, value] : r.params) params.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("in a block of {}, block {}{}{}{}", fmt::join(r.block, ","),
                     fmt::join(r.block_index, ","), params.empty() ? "" : ", ", fmt::join(params, ", "),
                     data_of(r));
}

std::string describe(KernelRaces const& races, int indent) {
  std::string const in(static_cast<std::size_t>(indent), ' ');
  if (races.verdict == RaceVerdict::proved)
    return fmt::format("{}race free in shared memory for every launch{}: {} access{}, {} pair{}\n", in,
                       races.assumed.empty() ? "" : fmt::format(", if {}", fmt::join(races.assumed, ", ")),
                       races.accesses, races.accesses == 1 ? "" : "es", races.pairs,
                       races.pairs == 1 ? "" : "s");
  if (races.verdict == RaceVerdict::unknown)
    return fmt::format("{}races undecided: {}{}\n{}  'swizproof flow FILE' looks for races in one launch\n",
                       in, races.reason, lines_of(races), in);
  std::string out;
  constexpr std::size_t most = 4;
  std::vector<std::string> shown;  // unrolled copies of one line say the same
  for (Race const& r : races.races) {
    std::string text = describe(r);
    if (std::find(shown.begin(), shown.end(), text) != shown.end()) continue;
    shown.push_back(std::move(text));
    if (shown.size() <= most) out += fmt::format("{}{}\n", in, shown.back());
    if (shown.size() == 1 || (shown.size() <= most && !r.data.empty()))
      out += fmt::format("{}  {}\n", in, launch_of(r));
  }
  if (shown.size() > most) out += fmt::format("{}and {} more\n", in, shown.size() - most);
  return out;
}

std::vector<SarifFinding> race_findings(KernelRaces const& races, std::string const& code,
                                        std::size_t race_rule, std::size_t open_rule) {
  std::vector<SarifFinding> all;
  auto const line_of = [&](SourceLine const& own, std::span<SourceLine const> inlined_at,
                           std::uint32_t ptx_line) {
    return own.file.empty() ? SourceLine{code, ptx_line} : line_in_checkout(own, inlined_at);
  };
  for (Race const& r : races.races) {
    std::string text = fmt::format("{}; {}", describe(r), launch_of(r));
    if (std::any_of(all.begin(), all.end(), [&](SarifFinding const& f) { return f.message == text; }))
      continue;
    SourceLine const first = line_of(r.first.source, r.first.inlined_at, r.first.ptx_line);
    SourceLine const second = line_of(r.second.source, r.second.inlined_at, r.second.ptx_line);
    SarifFinding& finding = all.emplace_back();
    finding.message = std::move(text), finding.rule = race_rule;
    finding.file = first.file, finding.line = first.line;
    finding.related = {{second_of(r), second.file, second.line}};
  }
  if (races.verdict != RaceVerdict::unknown) return all;
  std::string text = describe(races, 0);
  text.pop_back();
  SourceLine at{code, races.lines.empty() ? 1 : races.lines.front()};
  if (!races.sources.empty() && !races.sources.front().empty())
    at = line_in_checkout(races.sources.front().front(), std::span(races.sources.front()).subspan(1));
  SarifFinding& finding = all.emplace_back();
  finding.message = std::move(text), finding.rule = open_rule;
  finding.file = at.file, finding.line = at.line;
  return all;
}

}  // namespace swizproof
