// swizproof prove FILE.toml...: the obligations of a user's own project.
#include "command/line/command.hpp"
#include "command/proof/layout_fix.hpp"
#include "command/profile/page_parts.hpp"
#include "command/proof/prove.hpp"

#include "command/proof/allowed_line.hpp"
#include "parse/question/kernels.hpp"
#include "report/flow.hpp"
#include "report/kernel.hpp"
#include "report/races.hpp"
#include "report/report.hpp"
#include "report/sarif.hpp"
#include "system/whole_file.hpp"

#include <swizproof/parse/obligations.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <charconv>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

// ---------------------------------------------------------------------------------------------- the result

struct ObligationsResult {
  std::vector<Obligation> obligations{};
  std::vector<ObligationReport> reports{};  ///< one for each obligation
  std::size_t proved = 0, refuted = 0, unknown = 0, errors = 0;

  void add(ObligationReport const& report) {
    ++(report.error                                      ? errors
       : std::holds_alternative<Proved>(report.outcome)  ? proved
       : std::holds_alternative<Refuted>(report.outcome) ? refuted
                                                         : unknown);
    reports.push_back(report);
  }
  [[nodiscard]] Outcome verdict() const {
    std::vector<Outcome> outcomes;
    for (ObligationReport const& r : reports) outcomes.push_back(r.outcome);
    return conjunction(outcomes);
  }
  [[nodiscard]] int exit_code() const { return errors != 0 ? bad_input : exit_code_of(verdict()); }
};

/// Architectures of --arch, if it is given: one, or several. Throws InputError if one is there twice.
std::vector<Architecture const*> architectures_of(Common const& common) {
  std::vector<Architecture const*> archs;
  if (!common.arch_is_given) return archs;
  std::istringstream names(common.arch);
  for (std::string one; std::getline(names, one, ',');) {
    archs.push_back(&parse_architecture(one));
    if (std::count(archs.begin(), archs.end(), archs.back()) > 1)
      throw InputError::whole("--arch names an architecture twice", common.arch);
  }
  return archs;
}

/// Throws InputError for a file that is not there, and for one that another command reads.
void refuse_other_files(std::string const& file) {
  std::size_t const dot = file.rfind('.');
  std::string const ending = dot == file.npos ? "" : file.substr(dot);
  for (std::string_view const code : {".ptx", ".sass", ".cubin", ".fatbin", ".so"})
    if (ending == code)
      throw InputError::whole("this is compiled code, and prove reads obligations in TOML", file,
                              "swizproof kernel " + file);
  if (!std::filesystem::exists(file)) throw InputError::whole(std::string(no_such_file), file);
  if (std::filesystem::is_directory(file))
    throw InputError::whole("this is a directory", file, fmt::format("swizproof prove {}/*.toml", file));
}

/// Content of the files: those of their obligations that the options choose, and each file that cannot be read at all as one
/// malformed entry. Throws InputError where no obligation is chosen, and if a single file cannot be read and no report is written.
std::vector<Obligation> read_all(Common const& common, ProveOptions const& options) {
  std::vector<Architecture const*> const archs = architectures_of(common);
  std::vector<Obligation> broken, all;
  bool const reported = options.files.size() > 1 || !options.junit.empty() || !options.sarif.empty();
  for (std::string const& file : options.files) {
    try {
      refuse_other_files(file);
      for (Obligation& o : read_obligations(file, archs)) all.push_back(std::move(o));
    } catch (InputError const& error) {
      if (!reported) throw;
      Obligation whole;
      whole.name = whole.source = file;
      whole.what = Malformed{error};
      broken.push_back(std::move(whole));
    }
  }
  if (!all.empty()) all = select(std::move(all), options);
  broken.insert(broken.end(), std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
  return broken;
}

/// The report of an obligation with the same question as an earlier one: the earlier report, with no time of its own.
ObligationReport again(Obligation const& obligation, ObligationReport const& earlier, Limits const& limits) {
  if (earlier.error) return decide(obligation, limits);  // it names the entry
  ObligationReport report = earlier;
  report.seconds = 0;
  return report;
}

/// Decides the obligations, equal ones once; calls `each(obligation, report)` as the reports come, in the obligations' order.
template <class Each>
ObligationsResult compute(std::vector<Obligation> obligations, Common const& common,
                          ProveOptions const& options, Each const& each) {
  ObligationsResult result;
  result.obligations = std::move(obligations);
  bool const progress = !common.json && isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  std::vector<std::size_t> const first = first_that_ask_the_same(result.obligations);
  std::vector<std::reference_wrapper<Obligation const>> once;
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i] == i) once.emplace_back(result.obligations[i]);
  auto decided = decide_in_order(once, options.jobs, common.limits());
  std::size_t next = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] != i) {
      result.add(again(result.obligations[i], result.reports[first[i]], common.limits()));
    } else {
      result.add(decided.wait(next++, [&](std::size_t done) {
        if (progress) fmt::print(stderr, "\r\x1b[K{} of {} obligations\r", done, once.size());
      }));
    }
    if (progress) fmt::print(stderr, "\r\x1b[K");
    each(result.obligations[i], result.reports.back());
  }
  return result;
}

// ------------------------------------------------------------------------------------- one obligation

bool speaks_of_banks(Obligation const& o) {
  return std::holds_alternative<AccessesHold>(o.what) || std::holds_alternative<StaysWithin>(o.what) ||
         std::holds_alternative<KernelHolds>(o.what);
}

/// Notes of the layouts, the fragment or the dump of an obligation, each once.
std::vector<std::string> notes_of(Obligation const& o, ObligationReport const& r) {
  std::vector<Mapping const*> maps;
  if (auto const* hold = std::get_if<AccessesHold>(&o.what)) maps = {&hold->map};
  if (auto const* equal = std::get_if<FunctionsEqual>(&o.what)) maps = {&equal->left, &equal->right};
  if (auto const* bijective = std::get_if<IsBijective>(&o.what)) maps = {&bijective->map};
  if (auto const* aligned = std::get_if<IsAligned>(&o.what)) maps = {&aligned->map};
  if (auto const* descriptor = std::get_if<DescriptorHolds>(&o.what)) maps = {&descriptor->map};
  if (auto const* tma = std::get_if<TmaHolds>(&o.what)) maps = {&tma->map};
  if (auto const* conversion = std::get_if<ConversionHolds>(&o.what)) maps = {&conversion->map};
  std::vector<std::string> notes;
  if (auto const* tv = std::get_if<ThreadValuesHold>(&o.what)) notes = tv->named.notes;
  if (auto const* hold = std::get_if<KernelHolds>(&o.what); hold != nullptr && hold->sass)
    notes = hold->sass->module.notes;
  else if (hold != nullptr)
    if (std::string note =
            target_note(ptx_target(*hold->module), *o.arch, o.arch_is_given, "arch = \"NAME\"");
        !note.empty())
      notes.push_back(std::move(note));
  if (r.kernel)
    if (std::string assumed = assumed_in_words(r.kernel->assumed); !assumed.empty())
      notes.push_back(std::move(assumed));
  if (r.kernel)
    for (std::string const& one : r.kernel->rests_on) notes.push_back("assumed: " + one);
  for (AllowedLine const& l : r.lines)
    for (std::string note : {note_of(l), why_allowed(l)})
      if (!note.empty()) notes.push_back(std::move(note));
  for (Mapping const* map : maps)
    for (std::string const& note : map->notes)
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  return notes;
}

/// Basis of the model that a verdict rests on: of an operand, a copy or a fragment, else of the banks.
std::string certainty_of(Obligation const& o, ObligationReport const& r) {
  if (!r.basis) return certainty(*o.arch);
  std::string_view const model = std::holds_alternative<DescriptorHolds>(o.what) ? "descriptors"
                                 : std::holds_alternative<TmaHolds>(o.what)      ? "the TMA's copies"
                                 : std::holds_alternative<TmaBoxHolds>(o.what)   ? "the TMA's boxes"
                                 : std::holds_alternative<FlowHolds>(o.what)     ? "data flow"
                                                                                 : "fragments";
  return fmt::format("the model of {} is {}", model, name(*r.basis));
}

Json to_json(Spending const& spent, std::vector<AccessVerdict> const& accesses) {
  Json out{{"at_most", spent.allowed},
           {"total", spent.total},
           {"ideal", spent.ideal},
           {"accesses", Json::array()}};
  for (std::size_t i = 0; i < spent.expenses.size(); ++i) {
    Expense const& e = spent.expenses[i];
    out["accesses"].push_back({{"obligation", e.obligation},
                               {"access", accesses[i].access},
                               {"weight", e.weight},
                               {"total", e.total},
                               {"ideal", e.ideal}});
  }
  return out;
}

Json to_json(Obligation const& o, ObligationReport const& r) {
  Json out{{"name", o.name},
           {"verdict", name(r.outcome)},
           {"domain", r.domain},
           {"engine", names_of(r.engines)},
           {"engines", list_of(r.engines)},
           {"seconds", r.seconds},
           {"source", o.source},
           {"detail", r.detail}};
  if (r.error)
    out["error"] = swizproof::to_json(*r.error);
  else
    out["arch"] = o.arch->name, out["evidence"] = name(r.basis.value_or(o.arch->support)),
    out["certainty"] = certainty_of(o, r);
  if (o.expect_refuted) out["expect"] = "refuted", out["found"] = name(r.found);
  if (auto const* unknown = std::get_if<Unknown>(&r.found)) out["reason"] = unknown->reason;
  if (auto const* refuted = std::get_if<Refuted>(&r.found))
    out["counterexample"] = swizproof::to_json(*refuted);
  if (r.spending) out["budget"] = to_json(*r.spending, r.accesses);
  if (auto const* hold = std::get_if<KernelHolds>(&o.what); hold != nullptr && r.kernel)
    out["kernel"] = swizproof::to_json(*r.kernel, hold->kernel, hold->file);
  if (auto const* hold = std::get_if<FlowHolds>(&o.what); hold != nullptr && r.flow) {
    std::vector<std::string> expect;
    for (FlowExpectation const& e : hold->expectations) expect.push_back(e.text);
    out["flow"] = swizproof::to_json(*r.flow, hold->kernel, hold->launch, expect);
  }
  if (std::vector<std::string> const notes = notes_of(o, r); !notes.empty()) out["notes"] = notes;
  for (auto const& [key, text] : o.about) out["about"][key] = text;
  if (!r.accesses.empty()) {
    out["accesses"] = Json::array();
    for (AccessVerdict const& v : r.accesses) out["accesses"].push_back(swizproof::to_json(v));
  }
  return out;
}

/// Reason why an access is refuted: it does not fit its tile, or costs too much.
std::string failing(AccessVerdict const& v, Refuted const& refuted, int indent, Style const& style) {
  if (WorstCost const* const cost = v.cost())
    return fmt::format("{:{}}{}: {} wavefronts, {} allowed\n", "", indent, v.title, cost->wavefronts,
                       v.allowed) +
           footprint_line(v, indent + 2) + (cost->has_conflict() ? describe(*cost, indent + 2, style) : "");
  return fmt::format("{0:{1}}{2}: it does not fit: {3}\n{0:{1}}  {4}\n", "", indent, v.title,
                     refuted.question, describe(refuted));
}

/// Accesses of a budget, the most expensive first; and the lanes that collide where most is lost. With --brief the latter.
std::string overspent(Spending const& spent, std::vector<AccessVerdict> const& accesses, int indent,
                      Style const& style) {
  std::vector<std::size_t> order(accesses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto const& e = spent.expenses;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return e[a].total > e[b].total; });
  std::string text;
  for (std::size_t const i : order) {
    if (style.brief()) break;
    text += fmt::format("{:{}}{:>8}  ideal {:>8}{}  {}: {}\n", "", indent, e[i].total, e[i].ideal,
                        e[i].weight == 1 ? "" : fmt::format(", weight {}", e[i].weight),
                        printable(e[i].obligation), accesses[i].title);
  }
  auto const lost = [&](std::size_t i) { return e[i].total - std::min(e[i].ideal, e[i].total); };
  std::size_t const worst = *std::max_element(
      order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lost(a) < lost(b); });
  AccessVerdict const& most = accesses[worst];
  if (most.cost()->has_conflict())
    text += fmt::format("{:{}}{}: {} wavefronts, ideal {}\n", "", indent, most.title, most.cost()->wavefronts,
                        most.ideal) +
            describe(*most.cost(), indent + 2, style);
  return text;
}

std::vector<FailingAccess> failing_of(Obligation const& o, ObligationReport const& r) {
  if (!r.kernel || o.expect_refuted) return {};
  auto const& hold = std::get<KernelHolds>(o.what);
  auto all = swizproof::failing_of(*r.kernel, [&](KernelAccess const& a) { return accepts(hold, a); });
  for (FailingAccess& f : all) {
    bool const locked =
        std::any_of(r.lines.begin(), r.lines.end(), [&](AllowedLine const& l) {  // by --emit lock
          return l.allowance.excess && !l.allowance.data && !l.allowance.global &&
                 is_at(*f.access, l.allowance.line, hold.file);
        });
    if (locked && f.access->verdict == KernelVerdict::refuted && !is_fault(*f.access))
      f.text += fmt::format("; was {} when the line was allowed", f.access->allowed);
  }
  return all;
}

std::vector<FailingOperand> failing_operands_of(Obligation const& o, ObligationReport const& r) {
  if (!r.kernel || o.expect_refuted) return {};
  return failing_operands(*r.kernel);
}

std::vector<KernelAccess const*> failing_global_of(Obligation const& o, ObligationReport const& r) {
  std::vector<KernelAccess const*> all;
  if (!r.kernel || o.expect_refuted) return all;
  for (KernelAccess const& a : r.kernel->global)
    if (a.verdict != KernelVerdict::proved && !accepts(std::get<KernelHolds>(o.what), a)) all.push_back(&a);
  return all;
}

/// Allowances whose lines are above them in sum.
std::vector<AllowedLine const*> failing_lines_of(Obligation const& o, ObligationReport const& r) {
  std::vector<AllowedLine const*> all;
  for (AllowedLine const& l : r.lines)
    if (l.verdict != KernelVerdict::proved && !o.expect_refuted) all.push_back(&l);
  return all;
}

/// Reason why it does not hold, down to the lane.
std::string reasons(Obligation const& o, ObligationReport const& r, int indent, Style const& style) {
  std::string lines;
  for (FailingAccess const& f : failing_of(o, r)) lines += describe(f, *o.arch, indent, style);
  for (AllowedLine const* const l : failing_lines_of(o, r))
    lines += fmt::format("{:{}}{}\n", "", indent, printable(command::failing(*l)));
  for (FailingOperand const& f : failing_operands_of(o, r)) lines += describe(f, indent);
  for (KernelAccess const* const a : failing_global_of(o, r))
    lines += fmt::format("{:{}}{}\n", "", indent, printable(failing_global(*a)));
  if (r.flow && !o.expect_refuted) lines = describe(*r.flow, indent);
  if (r.kernel && r.kernel->races && !o.expect_refuted && r.kernel->races->verdict != RaceVerdict::proved)
    lines += describe(*r.kernel->races, indent);
  if (!lines.empty()) return lines;
  std::string const expected =
      o.expect_refuted ? fmt::format("{:{}}it was expected to be refuted\n", "", indent) : "";
  if (auto const* unknown = std::get_if<Unknown>(&r.outcome)) {
    return fmt::format("{:{}}{}\n", "", indent, printable(unknown->reason)) + expected;
  }
  if (o.expect_refuted) return expected;
  if (r.spending) return overspent(*r.spending, r.accesses, indent, style);
  std::string text;
  for (AccessVerdict const& v : r.accesses) {
    Outcome const outcome = v.outcome();
    if (auto const* refuted = std::get_if<Refuted>(&outcome)) text += failing(v, *refuted, indent, style);
  }
  auto const* refuted = std::get_if<Refuted>(&r.outcome);
  if (r.accesses.empty() && refuted != nullptr && !refuted->values.empty())
    text += fmt::format("{:{}}{}\n", "", indent, describe(*refuted));
  return text;
}

/// The same from the first column, for reports: without a last newline.
std::string plain_reasons(Obligation const& o, ObligationReport const& r) {
  std::string text = reasons(o, r, 0, Style("never", STDOUT_FILENO));
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void print(Obligation const& o, ObligationReport const& r, std::size_t width, Style const& style) {
  if (r.error) {
    fmt::print("{}    {}\n         {}\n{}", style.bad("error"), printable(o.name),
               printable(r.error->message), marked(*r.error, style, 11));
    return;
  }
  std::string const expected = o.expect_refuted ? fmt::format("found {}, as expected; ", name(r.found)) : "";
  bool const holds = std::holds_alternative<Proved>(r.outcome);
  std::vector<std::string> const notes = notes_of(o, r);
  if (style.brief() && holds && notes.empty()) return;
  std::string const pad(7 - name(r.outcome).size(), ' ');
  std::string const by = (r.engines.empty() ? "" : names_of(r.engines) + ", ") + duration(r.seconds);
  fmt::print("{}{}  {:<{}}  {}{}{}\n", style.outcome(r.outcome), pad, printable(o.title()), width,
             holds ? expected : "", printable(r.detail), style.aside(by));
  if (speaks_of_banks(o) && o.arch != &sm_90 && !style.brief())
    fmt::print("         {}\n", certainty_line(*o.arch, style));
  if (r.basis && *r.basis != Support::measured && !style.brief())
    fmt::print("         {}\n", style.faint(certainty_of(o, r)));
  if (!holds) fmt::print("         {}\n{}", printable(o.source), reasons(o, r, 9, style));
  for (std::string const& note : notes) fmt::print("         note: {}\n", printable(note));
}

// ------------------------------------------------------------------------------------------------ SARIF

enum Rule : std::size_t { refuted_rule, undecided_rule, malformed_rule };

constexpr SarifRule obligation_rules[] = {
    {"obligation-refuted", "An obligation does not hold.",
     "The message names the lanes that collide or do not fit, or an input: fix the layout or the access, or "
     "find a better swizzle with swizproof find.",
     "error"},
    {"obligation-undecided", "An obligation could not be decided.",
     "Give it more time (--timeout), or bounds to its variables.", "warning"},
    {"obligation-malformed", "An obligation cannot be read.", "Fix this entry; the others were checked.",
     "error"}};

/// `layouts.toml:12` is the file and the line; without a line it is the first.
std::pair<std::string, unsigned> place_of(std::string const& source) {
  std::size_t const colon = source.rfind(':');
  unsigned line = 0;
  if (colon != source.npos) {
    auto const [end, error] = std::from_chars(source.data() + colon + 1, source.data() + source.size(), line);
    if (error == std::errc{} && end == source.data() + source.size() && line != 0)
      return {source.substr(0, colon), line};
  }
  return {source, 1};
}

/// Position of the reason of a malformed entry: "layouts.toml:12: unknown key" says it; else where the entry is.
std::string place_of_error(Obligation const& o, InputError const& error) {
  std::string const file = place_of(o.source).first + ":";
  std::size_t const end = error.message.find(": ", file.size());
  bool const placed = error.message.starts_with(file) && end != error.message.npos;
  return placed ? error.message.substr(0, end) : o.source;
}

SarifFinding finding_of(Obligation const& o, ObligationReport const& r) {
  std::string text;
  if (r.error) {
    text = r.error->message + "\n" + marked(*r.error, Style("never", STDOUT_FILENO), 0);
    while (text.ends_with('\n')) text.pop_back();
  } else {
    text = fmt::format("{}: {}{}\n{}", o.title(), name(r.outcome), r.detail.empty() ? "" : ": " + r.detail,
                       plain_reasons(o, r));
  }
  auto const [file, line] = place_of(r.error ? place_of_error(o, *r.error) : o.source);
  Rule const rule = r.error                                      ? malformed_rule
                    : std::holds_alternative<Refuted>(r.outcome) ? refuted_rule
                                                                 : undecided_rule;
  FlowLine const* const at = r.flow && !o.expect_refuted ? first_line(*r.flow) : nullptr;
  if (at != nullptr && !at->source.file.empty())
    return {text, at->source.file, at->source.line, o.title(), rule, "obligation", {}};
  return {text, file, line, o.title(), rule, "obligation", {}};
}

/// Basis of the models in use.
std::string certainty_of(ObligationsResult const& result) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < result.reports.size(); ++i)
    if (std::string const one = certainty_of(result.obligations[i], result.reports[i]);
        std::find(all.begin(), all.end(), one) == all.end())
      all.push_back(one);
  return fmt::format("{}", fmt::join(all, " / "));
}

/// One finding for each access and operand of a kernel that fails, at its line of the source.
std::vector<SarifFinding> findings_of(Obligation const& o, ObligationReport const& r) {
  std::vector<SarifFinding> all;
  auto const add = [&](auto const& what, std::string const& text) {
    SarifFinding finding = finding_of(o, r);
    finding.message = fmt::format("{}: {}\n{}", o.title(), o.source, text);
    finding.message.pop_back();
    finding.rule = what.verdict == KernelVerdict::refuted ? refuted_rule : undecided_rule;
    if (SourceLine const at = line_in_checkout(what); !at.file.empty())
      finding.file = at.file, finding.line = at.line;
    all.push_back(std::move(finding));
  };
  for (FailingAccess const& f : failing_of(o, r))
    add(*f.access, describe(f, *o.arch, 0, Style("never", STDOUT_FILENO)));
  for (AllowedLine const* const l : failing_lines_of(o, r)) {
    add((l->allowance.global ? r.kernel->global : r.kernel->accesses)[*l->worst],
        command::failing(*l) + "\n");
    all.back().rule = l->verdict == KernelVerdict::refuted ? refuted_rule : undecided_rule;
  }
  for (FailingOperand const& f : failing_operands_of(o, r)) add(*f.operand, describe(f, 0));
  for (KernelAccess const* const a : failing_global_of(o, r)) add(*a, failing_global(*a) + "\n");
  if (!r.kernel || !r.kernel->races || o.expect_refuted)
    return all.empty() ? std::vector{finding_of(o, r)} : all;
  for (SarifFinding& f :
       race_findings(*r.kernel->races, std::get<KernelHolds>(o.what).file, refuted_rule, undecided_rule)) {
    f.message = fmt::format("{}: {}\n{}", o.title(), o.source, f.message);
    f.function = o.title(), f.kind = "obligation";
    all.push_back(std::move(f));
  }
  return all.empty() ? std::vector{finding_of(o, r)} : all;
}

/// All findings, with the fixes of layouts.
std::vector<SarifFinding> findings_of(ObligationsResult const& result) {
  std::vector<SarifFinding> findings;
  for (std::size_t i = 0; i < result.obligations.size(); ++i) {
    if (!result.reports[i].error && std::holds_alternative<Proved>(result.reports[i].outcome)) continue;
    for (SarifFinding& f : findings_of(result.obligations[i], result.reports[i]))
      findings.push_back(std::move(f));
    if (auto fix = layout_fix(result.obligations, result.reports, i))
      findings.back().fixes = {*std::move(fix)};
  }
  return findings;
}

std::string sarif_of(ObligationsResult const& result, std::vector<SarifFinding> const& findings) {
  return json_text(sarif(SWIZPROOF_VERSION, obligation_rules, in_checkout(findings), certainty_of(result)),
                   2) +
         "\n";
}

// -------------------------------------------------------------------------------------------- all of them

/// Columns for the names of all that can be read.
std::size_t widest_name(std::vector<Obligation> const& all) {
  std::size_t width = 0;
  for (Obligation const& o : all)
    if (!std::holds_alternative<Malformed>(o.what)) width = std::max(width, printable(o.title()).size());
  return width;
}

/// The counts; with --brief also the bank models that are not measured, which the lines of the obligations have else.
void print_summary(ObligationsResult const& result, Style const& style) {
  std::size_t const all = result.obligations.size();
  fmt::print("{}{} obligation{}: {} proved, {} refuted, {} unknown{}\n", style.gap(), all,
             all == 1 ? "" : "s", result.proved, result.refuted, result.unknown,
             result.errors == 0 ? "" : fmt::format(", {} malformed", result.errors));
  if (!style.brief()) return;
  std::vector<Architecture const*> archs;
  for (Obligation const& o : result.obligations)
    if (speaks_of_banks(o) && std::find(archs.begin(), archs.end(), o.arch) == archs.end())
      archs.push_back(o.arch), fmt::print("{}", certainty_footer(*o.arch, style));
  std::set<std::string> bases;
  for (std::size_t i = 0; i < all; ++i)
    if (ObligationReport const& r = result.reports[i]; r.basis && *r.basis != Support::measured)
      bases.insert(certainty_of(result.obligations[i], r));
  for (std::string const& basis : bases) fmt::print("{}\n", basis);
}

Json to_json(ObligationsResult const& result) {
  Json out{{"verdict", name(result.verdict())}, {"claims", Json::array()},   {"proved", result.proved},
           {"refuted", result.refuted},         {"unknown", result.unknown}, {"errors", result.errors}};
  for (std::size_t i = 0; i < result.obligations.size(); ++i) {
    ObligationReport const& report = result.reports[i];
    out["claims"].push_back(to_json(result.obligations[i], report));
    if (report.error && !out.contains("error")) out["error"] = swizproof::to_json(*report.error);
  }
  return out;
}

std::vector<JUnitCase> junit_cases(ObligationsResult const& result) {
  std::vector<JUnitCase> cases;
  for (std::size_t i = 0; i < result.obligations.size(); ++i) {
    Obligation const& o = result.obligations[i];
    ObligationReport const& r = result.reports[i];
    std::string detail = r.detail;
    if (!r.error && std::holds_alternative<Refuted>(r.outcome)) detail += "\n" + plain_reasons(o, r);
    cases.push_back({o.title(), o.source, r.seconds, r.outcome, detail, r.error ? r.error->message : ""});
  }
  return cases;
}

/// Prints the names of all entries. Throws the InputError of a file, or of an entry, that cannot be read.
void list(Streams const& streams, std::vector<Obligation> const& chosen,
          std::vector<std::string> const& files) {
  auto const is_file = [&](Obligation const& o) {
    return std::find(files.begin(), files.end(), o.source) != files.end();
  };
  for (Obligation const& o : chosen)  // of each architecture one after the other, under one name
    if (bool const again = &o != &chosen.front() && o.of_several && (&o - 1)->name == o.name;
        !again && !is_file(o))
      fmt::print(streams.out, "{}\n", printable(o.name));
  refuse_malformed(chosen);
}

}  // namespace

void prove_files(Common& common, ProveOptions const& options) {
  if (!options.certificates.empty())
    throw InputError{"--certificates is for the built-in catalogue", options.certificates, 0, 1, {}};
  bool const quiet = common.json || options.sarif == "-" || options.format == "gcc";
  refuse_format(common, options.format, options.sarif, {});
  refuse_one_path_twice({{"--junit", options.junit}, {"--sarif", options.sarif}});
  if (!options.claims_page.empty())
    throw InputError::whole("--page is for the built-in catalogue", options.claims_page);
  if (common.json && options.sarif == "-")
    throw InputError{"standard output takes one form", "--json", 0, 6, "write the SARIF file to a file"};
  std::vector<Obligation> chosen = read_all(common, options);
  if (options.sarif == "-") refuse_brief(common, "--sarif -");
  if (options.list) return list(common.streams, chosen, options.files);
  std::optional<WholeFile> junit, sarif;
  if (!options.sarif.empty() && options.sarif != "-") sarif.emplace(options.sarif, "the SARIF file");
  if (!options.junit.empty()) junit.emplace(options.junit, "the JUnit file");
  Style const style = style_of(common);
  std::size_t const width = style.brief() ? 0 : widest_name(chosen);
  ObligationsResult const result = compute(std::move(chosen), common, options,
                                           [&](Obligation const& obligation, ObligationReport const& report) {
                                             if (quiet) return;
                                             print(obligation, report, width, style);
                                             std::fflush(stdout);
                                           });
  common.exit_code = result.exit_code();
  if (junit) junit->write(junit_xml("swizproof", junit_cases(result), certainty_of(result)));
  if (options.format == "gcc" || !options.sarif.empty()) {
    std::vector<SarifFinding> const findings = findings_of(result);
    if (sarif) sarif->write(sarif_of(result, findings));
    if (options.sarif == "-") fmt::print(common.streams.out, "{}", sarif_of(result, findings));
    if (options.format == "gcc")
      return fmt::print(common.streams.out, "{}", gcc_lines(obligation_rules, findings));
  }
  if (!quiet) return print_summary(result, style);
  for (ObligationReport const& r : result.reports)
    if (r.error)
      std::fputs(describe(*r.error, Style(common.color, STDERR_FILENO)).c_str(), common.streams.err);
  if (common.json) print_json(common, to_json(result));
}

}  // namespace swizproof::command
