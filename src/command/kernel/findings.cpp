#include "command/kernel/results.hpp"
#include "command/kernel/since.hpp"

#include "report/races.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

/// Places in kernel_rules.
enum Rule : std::size_t {
  conflict_rule,
  fault_rule,
  data_rule,
  unknown_rule,
  operand_rule,
  open_operand_rule,
  race_rule,
  open_races_rule,
  global_rule,
  open_global_rule,
  data_global_rule
};

Rule rule_of(KernelAccess const& a) {
  if (a.verdict == KernelVerdict::data) return data_rule;
  if (a.verdict == KernelVerdict::unknown) return unknown_rule;
  return is_fault(a) ? fault_rule : conflict_rule;
}

Rule global_rule_of(KernelAccess const& a) {
  return a.verdict == KernelVerdict::data      ? data_global_rule
         : a.verdict == KernelVerdict::unknown ? open_global_rule
                                               : global_rule;
}

/// Path of a source where it was found, else as the PTX has it.
std::string found_at(Sources& sources, std::string const& file) {
  SourceFile const& found = sources.file(file);
  return found.read() ? found.path : file;
}

SarifFinding finding_of(KernelAccess const& a, std::string text, std::string const& code_file,
                        std::string const& kernel, Rule rule, Sources& sources) {
  SourceLine const at = line_in_checkout(a);
  bool const mapped = !at.file.empty();
  return {std::move(text), mapped ? found_at(sources, at.file) : code_file, mapped ? at.line : a.ptx_line,
          kernel, rule};
}

bool is_of(ComparedLine const& line, std::vector<ComparedLine> const& lines) {
  return std::any_of(lines.begin(), lines.end(), [&](ComparedLine const& l) { return &l == &line; });
}

/// Findings, and the worse or undecided line of the comparison that each is about, or null.
struct Compared {
  std::vector<SarifFinding> findings{};
  std::vector<ComparedLine const*> lines{};

  void add(SarifFinding finding, ComparedLine const* line) {
    findings.push_back(std::move(finding));
    lines.push_back(line);
  }
};

/// The line of the comparison that a finding of races is about, or null.
ComparedLine const* line_of_race(Comparison const& since, KernelRaces const& races, SarifFinding const& f) {
  if (f.rule == open_races_rule) return since.failing(races, nullptr);
  for (Race const& r : races.races)
    if (f.message.starts_with(describe(r)))
      if (ComparedLine const* const line = since.failing(races, &r)) return line;
  return nullptr;
}

void add_races(Result const& r, Sources& sources, Comparison const* since, Compared& all) {
  if (!r.report.races) return;
  for (SarifFinding& f : race_findings(*r.report.races, r.file, race_rule, open_races_rule)) {
    f.function = r.name;
    if (f.file != r.file) f.file = found_at(sources, f.file);
    for (SarifRelated& other : f.related)
      if (other.file != r.file) other.file = found_at(sources, other.file);
    ComparedLine const* const line = since == nullptr ? nullptr : line_of_race(*since, *r.report.races, f);
    all.add(std::move(f), line);
  }
}

/// Gives findings the level of their lines, and adds those of lines that no finding is about: with --at-most a line may become worse and stay
/// within the bound.
void take_comparison(Comparison const& since, Sources& sources, Compared& all) {
  std::vector<ComparedLine const*> told;
  for (SarifFinding& f : all.findings) f.level = "note";
  for (std::size_t i = 0; i < all.findings.size(); ++i) {
    ComparedLine const* const line = all.lines[i];
    if (line == nullptr) continue;
    told.push_back(line);
    all.findings[i].level = is_of(*line, since.worse) ? "error" : "warning";
    all.findings[i].message += "\ncompared with the earlier build: " + line->why;
  }
  for (auto const* const lines : {&since.worse, &since.undecided})
    for (ComparedLine const& l : *lines) {
      if (l.of.empty() || std::find(told.begin(), told.end(), &l) != told.end()) continue;
      bool const worse = lines == &since.worse;
      Rule const rule = l.global ? (worse ? global_rule : open_global_rule)
                        : worse  ? conflict_rule
                                 : unknown_rule;
      all.add(finding_of(*l.of.front(), fmt::format("{}: {}: {}", l.source, l.op, l.why), l.file, l.kernel,
                         rule, sources),
              &l);
      all.findings.back().level = worse ? "error" : "warning";
    }
}

}  // namespace

std::vector<SarifFinding> findings_of(std::vector<Result> const& results, Architecture const& arch,
                                      Sources& sources, Comparison const* since) {
  Compared all;
  auto const line_of = [&](auto const& what) { return since == nullptr ? nullptr : since->failing(what); };
  for (Result const& r : results) {
    for (FailingAccess const& f : failing_of(r.report)) {
      KernelAccess const& a = *f.access;
      std::string text = describe(f, arch, 0, Style("never", STDOUT_FILENO));
      text.pop_back();
      all.add(finding_of(a, std::move(text), r.file, r.name, rule_of(a), sources), line_of(a));
    }
    for (FailingOperand const& f : failing_operands(r.report)) {
      KernelOperand const& o = *f.operand;
      std::string text = describe(f, 0);
      text.pop_back();
      bool const mapped = !o.file.empty();
      all.add({std::move(text), mapped ? found_at(sources, o.file) : r.file, mapped ? o.line : o.ptx_line,
               r.name, o.verdict == KernelVerdict::refuted ? operand_rule : open_operand_rule},
              line_of(o));
    }
    for (KernelAccess const& a : r.report.global)
      if (a.verdict != KernelVerdict::proved) {
        SourceLine const at = outermost_line(sources, a);
        bool const mapped = !at.file.empty();
        all.add({failing_global(a), mapped ? found_at(sources, at.file) : r.file,
                 mapped ? at.line : a.ptx_line, r.name, global_rule_of(a)},
                line_of(a));
      }
    add_races(r, sources, since, all);
  }
  if (since != nullptr) take_comparison(*since, sources, all);
  return std::move(all.findings);
}

}  // namespace swizproof::command::kernel_detail
