#include "command/kernel/lock.hpp"

#include "parse/question/kernels.hpp"
#include "report/kernel.hpp"
#include "report/toml_entry.hpp"

#include <swizproof/claim/allowance.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

/// The line of an access as `allow` names it: of the source, else of the PTX. Without folders, which differ from machine to machine.
std::string line_of(KernelAccess const& a, std::string const& file) {
  SourceLine const own = line_of_kernel(a), at = own.file.empty() ? SourceLine{file, a.ptx_line} : own;
  return fmt::format("{}:{}", std::filesystem::path(at.file).filename().string(), at.line);
}

bool has_allowance(KernelAccess const& a) {
  return a.verdict != KernelVerdict::proved && !is_fault(a) && excess_of(a) != 0;
}

}  // namespace

std::string exactly(std::string const& text) {
  std::string out = "^";
  for (char const c : text)
    out += (std::string_view("\\^$.|?*+()[]{}").find(c) == std::string_view::npos ? "" : "\\") +
           std::string(1, c);
  return out + "$";
}

std::string allowances_of(std::vector<Result const*> const& results, Sources& sources) {
  std::map<std::tuple<std::string, bool, std::string, bool>, std::string>
      all;  // by kernel, memory, line and dependence on data
  for (Result const* const r : results) {
    std::vector<LineAllowance> lines;
    for (auto const* const accesses : {&r->report.accesses, &r->report.global})
      for (KernelAccess const& a : *accesses) {
        if (!has_allowance(a)) continue;
        LineAllowance one{line_of(a, r->file), 0, {}, a.verdict == KernelVerdict::data};
        one.global = a.sectors.has_value();
        one.text = trimmed(source_text(sources, line_of_kernel(a)).value_or(""));
        if (std::none_of(lines.begin(), lines.end(), [&](LineAllowance const& l) {
              return l.line == one.line && l.data == one.data && l.global == one.global;
            }))
          lines.push_back(std::move(one));
      }
    for (AllowedLine const& l : allowed_lines(lines, r->report, r->file)) {
      std::string text =
          toml_table({{"line", toml_text(l.allowance.line)},
                      {l.allowance.global ? "sectors" : "at_most", std::to_string(l.wavefronts)},
                      {"excess", std::to_string(l.excess)},
                      {"lost", l.lost ? std::to_string(*l.lost) : ""},
                      {"data", l.allowance.data ? "true" : ""},
                      {"kernel", toml_text(exactly(r->name))},
                      {"text", l.allowance.text.empty() ? "" : toml_text(l.allowance.text)}});
      all.insert_or_assign({r->name, l.allowance.global, l.allowance.line, l.allowance.data},
                           std::move(text));
    }
  }
  std::vector<std::string> lines;
  for (auto& one : all) lines.push_back(std::move(one.second));
  return lines.empty() ? "[]" : fmt::format("[\n  {},\n]", fmt::join(lines, ",\n  "));
}

std::vector<std::string> not_covered(std::vector<Result> const& results) {
  std::vector<std::string> lines;
  auto const add = [&](Result const& r, std::string const& what) {
    std::string line = fmt::format("no allowance covers {}: {}", short_name(r.name), what);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  };
  for (Result const& r : results) {
    for (auto const* const accesses : {&r.report.accesses, &r.report.global})
      for (KernelAccess const& a : *accesses)
        if (is_fault(a) || (a.verdict != KernelVerdict::proved && !a.wavefronts))
          add(r, fmt::format("{}: {}: {}", line_of(a, r.file), a.op,
                             is_fault(a) ? "misaligned or beyond its array" : a.reason));
    for (KernelOperand const& o : r.report.operands)
      if (o.verdict != KernelVerdict::proved)
        add(r, fmt::format("PTX line {}: {}: {}", o.ptx_line, o.op, o.reason.empty() ? "refuted" : o.reason));
    if (r.report.races && r.report.races->verdict != RaceVerdict::proved)
      add(r, r.report.races->verdict == RaceVerdict::refuted
                 ? "it has races"
                 : "its races are not decided: " + r.report.races->reason);
  }
  return lines;
}

}  // namespace swizproof::command::kernel_detail
