// swizproof prove: decides the catalogue and prints it as theorems.
#include "command/line/command.hpp"
#include "command/line/help.hpp"
#include "command/proof/prove.hpp"

#include "certificate/certificate.hpp"
#include "system/parallel.hpp"
#include "report/report.hpp"
#include "system/whole_file.hpp"

#include <swizproof/claim/catalog.hpp>

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

/// Part of a claim's name before the first '/'.
std::string group_of(Claim const& claim) { return claim.name.substr(0, claim.name.find('/')); }

std::string cutlass_note() {
#ifdef SWIZPROOF_WITH_CUTLASS
  return "cute::Swizzle of the CUTLASS checkout: in the catalogue";
#else
  return "cute::Swizzle of a CUTLASS checkout: not run (configure with SWIZPROOF_CUTLASS_DIR)";
#endif
}

// ----------------------------------------------------------------------------------- the result

struct ProveResult {
  std::vector<Claim> claims{};
  std::vector<ClaimReport> reports{};  ///< one for each claim
  std::size_t proved = 0, refuted = 0, unknown = 0, controls = 0, inhabited = 0;
  Architecture const* arch = nullptr;
  double seconds = 0;  ///< with all that was written to files

  void add(ClaimReport const& report) {
    proved += report.verdict.proved() ? 1 : 0;
    refuted += report.verdict.refuted() ? 1 : 0;
    unknown += report.verdict.unknown() ? 1 : 0;
    controls += std::holds_alternative<Refuted>(report.control) ? 1 : 0;
    inhabited += std::holds_alternative<Proved>(report.inhabited) ? 1 : 0;
    reports.push_back(report);
  }
  [[nodiscard]] int exit_code() const {
    return refuted > 0 ? Exit::refuted : unknown > 0 ? undecided : holds;
  }
  [[nodiscard]] std::string_view verdict() const {
    return refuted > 0 ? "refuted" : unknown > 0 ? "unknown" : "proved";
  }
};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Decides the claims; calls `each(claim, report)` as the reports come, in the claims' order.
template <class Each>
ProveResult compute(std::vector<Claim> claims, Common const& common, unsigned jobs, Stopwatch const& watch,
                    Each const& each) {
  ProveResult result;
  result.claims = std::move(claims);
  result.arch = &parse_architecture(common.arch);
  bool const progress = !common.json && isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  auto decided = decide_in_order(result.claims, jobs, common.limits());
  for (std::size_t i = 0; i < result.claims.size(); ++i) {
    ClaimReport const& report = decided.wait(i, [&](std::size_t done) {
      if (progress)
        fmt::print(stderr, "\r\x1b[K{} of {} claims, {}\r", done, result.claims.size(),
                   duration(watch.seconds()));
    });
    if (progress) fmt::print(stderr, "\r\x1b[K");
    result.add(report);
    each(result.claims[i], report);
  }
  return result;
}

// ----------------------------------------------------------------------------------- terminal

/// Prints claims as they come: theorems in groups, wavefronts as one table.
class Printer {
 public:
  explicit Printer(Style const& style) : style_(style) {}

  void add(Claim const& claim, ClaimReport const& report) {
    if (style_.brief() && report.verdict.proved()) return;
    if (claim.cell && report.verdict.proved()) {
      add_cell(*claim.cell);
      return;
    }
    finish_row();
    if (claim.statement.text != statement_) {
      if (group_of(claim) != group_) fmt::print("{}{}\n", style_.gap(), style_.strong(group_of(claim)));
      group_ = group_of(claim);
      statement_ = claim.statement.text;
      print_wrapped(statement_, 2);
    }
    if (style_.brief())
      fmt::print("    {}  {}\n", style_.outcome(report.verdict.outcome), claim.domain);
    else
      fmt::print("    {}  {:<92} {:<12} {:>6}\n", style_.outcome(report.verdict.outcome),
                 shorten(claim.domain, 92), style_.faint(fmt::format("{:<12}", names_of(report.engines))),
                 duration(report.verdict.seconds));
    if (auto const* refuted = std::get_if<Refuted>(&report.verdict.outcome))
      fmt::print("             counterexample: {}: {}\n", refuted->question, describe(*refuted));
    if (auto const* unknown = std::get_if<Unknown>(&report.verdict.outcome))
      fmt::print("             {}\n", unknown->reason);
  }
  void finish() { finish_row(); }

 private:
  static constexpr unsigned pitches[] = {32, 64, 128, 256};
  static constexpr std::string_view swizzles[] = {"Sw<0,4,3>", "Sw<1,4,3>", "Sw<2,4,3>", "Sw<3,4,3>"};

  static std::string shorten(std::string const& text, std::size_t width) {
    return text.size() <= width ? text : text.substr(0, width - 3) + "...";
  }
  static void print_wrapped(std::string const& text, std::size_t indent) {
    fmt::print("{:{}}{}\n", "", indent, wrapped(text, indent, 118));
  }
  void add_cell(TableCell const& cell) {
    if (row_name_ != cell.access) finish_row();
    if (!table_open_) open_table();
    row_name_ = cell.access;
    ideal_ = cell.ideal;
    row_[{cell.pitch, cell.swizzle}] = cell.wavefronts;
  }
  void open_table() {
    table_open_ = true;
    group_ = statement_ = "";
    fmt::print("\n{}\n", style_.strong("wavefronts"));
    print_wrapped(
        "Exactly this many from every tile origin and from every base address that is a multiple of the "
        "swizzle's "
        "period, each proved by SMT. Rows of 32, 64, 128, 256 bytes; columns: no swizzle, 32B = Sw<1,4,3>, "
        "64B = Sw<2,4,3>, 128B = Sw<3,4,3> on byte addresses. ideal: the least for the bytes moved.",
        2);
    std::string pitch_line = fmt::format("  {:<20}", ""), swizzle_line = pitch_line;
    for (unsigned const p : pitches) {
      pitch_line += fmt::format("  {:>19}", fmt::format("{}-byte rows", p));
      swizzle_line += "  none  32B  64B 128B";
    }
    fmt::print("\n{}\n{}  ideal\n", style_.strong(pitch_line), style_.faint(swizzle_line));
  }
  void finish_row() {
    if (row_.empty()) return;
    std::string line = fmt::format("  {:<20}", row_name_);
    for (unsigned const p : pitches) {
      line += "  ";
      for (std::string_view const s : swizzles) {
        auto const found = row_.find({p, std::string(s)});
        std::string const text =
            fmt::format("{:>4} ", found == row_.end() ? "-" : std::to_string(found->second));
        line += found == row_.end() ? style_.faint(text) : found->second <= ideal_ ? style_.good(text) : text;
      }
      line.pop_back();
    }
    fmt::print("{}  {:>5}\n", line, ideal_);
    row_.clear();
  }

  Style const& style_;
  std::string group_, statement_, row_name_;
  std::map<std::pair<unsigned, std::string>, unsigned> row_;
  unsigned ideal_ = 0;
  bool table_open_ = false;
};

// --------------------------------------------------------------------------- JSON and Markdown

Json to_json(Claim const& claim, ClaimReport const& report, Architecture const& arch) {
  Json control{{"statement", claim.control.text}, {"verdict", name(report.control)}};
  if (auto const* refuted = std::get_if<Refuted>(&report.control))
    control["counterexample"] = swizproof::to_json(*refuted);
  Json out{{"name", claim.name},
           {"verdict", name(report.verdict.outcome)},
           {"statement", claim.statement.text},
           {"domain", claim.domain},
           {"engine", names_of(report.engines)},
           {"engines", list_of(report.engines)},
           {"seconds", report.verdict.seconds},
           {"source", claim.source},
           {"arch", arch.name},
           {"evidence", name(arch.support)},
           {"domain_not_empty", std::holds_alternative<Proved>(report.inhabited)},
           {"control", control}};
  if (auto const* refuted = std::get_if<Refuted>(&report.verdict.outcome))
    out["counterexample"] = swizproof::to_json(*refuted);
  if (auto const* unknown = std::get_if<Unknown>(&report.verdict.outcome)) out["reason"] = unknown->reason;
  if (claim.cell) out["wavefronts"] = claim.cell->wavefronts;
  return out;
}

/// The page of claims: what was decided, without times, so that it changes only when a claim does.
std::string markdown_page(std::vector<Claim> const& claims, std::vector<ClaimReport> const& reports) {
  std::string page =
      "# The claims\n\nWritten by `swizproof prove --page`; do not edit. Each claim is followed by its "
      "negative control: a\n"
      "neighbouring false statement, and the counterexample that refutes it on plain numbers.\n";
  std::string group;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    Claim const& c = claims[i];
    if (group_of(c) != group) {
      group = group_of(c);
      page += fmt::format(
          "\n## {}\n\n| claim | says | for | source | verdict | control | refuted by |\n| --- | --- | --- | "
          "--- | --- | --- | --- |\n",
          group);
    }
    auto const* refuted = std::get_if<Refuted>(&reports[i].control);
    page += fmt::format(
        "| {} | {} | {} | {} | {}: {} | {} | {} |\n", in_table(c.name), in_table(c.statement.text),
        in_table(c.domain), in_table(c.source), name(reports[i].verdict.outcome),
        names_of(reports[i].engines), in_table(c.control.text),
        refuted == nullptr ? std::string(name(reports[i].control))
                           : in_table(refuted->question + (refuted->simplest ? ": " + describe(*refuted)
                                                                             : ": a model of the solver")));
  }
  return page;
}

/// Writes what belongs to each claim, several at a time.
void write_certificates(CertificateWriter& writer, std::vector<Claim> const& claims,
                        std::vector<ClaimReport> const& reports, unsigned jobs, Common const& common) {
  in_parallel(claims.size(), jobs,
              [&](std::size_t i) { writer.add(claims[i], reports[i], common.limits()); });
  std::size_t const files = writer.finish();
  if (!common.json)
    fmt::print("\n{} certificates{}\n", files,
               writer.with_proofs() ? "" : "; no proofs: cadical is not installed, recheck will need it");
}

std::vector<JUnitCase> junit_cases(ProveResult const& result) {
  std::vector<JUnitCase> cases;
  for (std::size_t i = 0; i < result.claims.size(); ++i) {
    Claim const& claim = result.claims[i];
    Verdict const& verdict = result.reports[i].verdict;
    cases.push_back({claim.name, claim.source, verdict.seconds, verdict.outcome, claim.statement.text});
  }
  return cases;
}

Json to_json(ProveResult const& result) {
  Json all = Json::array();
  for (std::size_t i = 0; i < result.claims.size(); ++i)
    all.push_back(to_json(result.claims[i], result.reports[i], *result.arch));
  return {{"verdict", result.verdict()},
          {"claims", all},
          {"proved", result.proved},
          {"refuted", result.refuted},
          {"unknown", result.unknown},
          {"controls_refuted", result.controls},
          {"domains_not_empty", result.inhabited},
          {"seconds", result.seconds},
          {"certainty", certainty(*result.arch)},
          {"cutlass", cutlass_note()}};
}

/// Text below the claims.
void print_summary(ProveResult const& result, Style const& style) {
  if (!style.brief())
    fmt::print("\nwavefronts: proved for the model; {}\n\n{}\n", certainty_line(*result.arch, style),
               cutlass_note());
  auto const count = [](std::size_t n, std::string const& text) { return n == 0 ? std::string("0") : text; };
  std::size_t const claims = result.claims.size();
  fmt::print(
      "{} claim{}: {} proved, {} refuted, {} unknown; {} of {} negative controls refuted, {} domains "
      "not empty{}\n",
      claims, claims == 1 ? "" : "s", count(result.proved, style.good(std::to_string(result.proved))),
      count(result.refuted, style.bad(std::to_string(result.refuted))),
      count(result.unknown, style.doubtful(std::to_string(result.unknown))), result.controls, claims,
      result.inhabited == claims ? "all" : std::to_string(result.inhabited),
      style.brief() ? "" : "; " + duration(result.seconds));
  if (style.brief()) fmt::print("{}", certainty_footer(*result.arch, style));
}

void run(Common& common, ProveOptions const& options) {
  if (!options.sarif.empty()) throw InputError::whole("--sarif is for obligations in files", options.sarif);
  if (options.format != "text")
    throw InputError::whole("--format is for obligations in files", options.format);
  refuse_one_path_twice({{"--junit", options.junit}, {"--page", options.claims_page}});
  Architecture const& arch = parse_architecture(common.arch);
  bool alike = arch.banks == sm_90.banks;  // in all instructions that it has
  for (InstructionName const& known : instruction_names)
    alike = alike && (!has(arch, known.instruction) ||
                      phase(arch, known.instruction) == phase(sm_90, known.instruction));
  if (!alike)
    throw InputError::whole("the catalogue states the wavefronts of sm_90, this table has others",
                            common.arch, "obligations are proved for any table: prove FILE.toml --arch");
  std::vector<Claim> const all_claims = catalog();
  std::vector<Claim> claims = select(all_claims, options);
  std::optional<WholeFile> page, junit;
  if (!options.junit.empty()) junit.emplace(options.junit, "the JUnit file");
  if (!options.claims_page.empty()) page.emplace(options.claims_page, "the page");
  std::optional<CertificateWriter> certificates;
  if (!options.certificates.empty()) certificates.emplace(options.certificates, all_claims.size());
  Style const style = style_of(common);
  Printer printer(style);
  Stopwatch const watch;
  auto const print_claim = [&](Claim const& claim, ClaimReport const& report) {
    if (common.json) return;
    printer.add(claim, report);
    std::fflush(stdout);
  };
  ProveResult result = compute(std::move(claims), common, options.jobs, watch, print_claim);
  common.exit_code = result.exit_code();
  if (certificates) write_certificates(*certificates, result.claims, result.reports, options.jobs, common);
  if (page) page->write(markdown_page(result.claims, result.reports));
  if (junit) junit->write(junit_xml("swizproof", junit_cases(result), certainty(*result.arch)));
  result.seconds = watch.seconds();
  if (common.json) {
    print_json(common, to_json(result));
  } else {
    printer.finish();
    print_summary(result, style);
  }
}

}  // namespace

void add_prove(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "prove",
      "Prove the built-in catalogue of theorems about swizzles and banks, or the obligations in FILEs",
      {"swizproof check '(32,32):(33,1)' --element f32 --access column.b32.load --emit toml | "
       "swizproof prove /dev/stdin",
       "does a file of obligations hold? (a longer one: share/swizproof/examples/layouts.toml)"});
  auto const options = std::make_shared<ProveOptions>();
  sub->add_option(
      "FILE", options->files,
      "TOML files of [[obligation]] entries, on layouts, and [[kernel]] and [[flow]] entries, on PTX");
  sub->add_option("--only", options->only, "claims whose name matches this regular expression");
  sub->add_option("--name", options->name, "the claim of exactly this name");
  sub->add_option("--jobs", options->jobs,
                  "claims decided at the same time (default and maximum: one per core, fewer if memory "
                  "is short)")
      ->check(CLI::Range(1U, 1024U));
  sub->add_option("--shard", options->shard, "i/n: the i-th of n parts of the claims")->capture_default_str();
  add_output_to(*sub, "--junit", options->junit, "also write the verdicts to this file, as JUnit XML");
  add_format_to(*sub, options->format);
  add_output_to(*sub, "--sarif", options->sarif,
                "also write what does not hold in FILEs to this file (or -), as SARIF 2.1.0 for code hosts "
                "and editors: file, "
                "line and lanes");
  add_output_to(*sub, "--certificates", options->certificates,
                "also write what other solvers need to check the catalogue into this new folder")
      ->type_name("FOLDER");
  sub->add_flag("--list", options->list, "print the names and decide nothing")->disable_flag_override();
  add_output_to(*sub, "--page", options->claims_page,
                "also write the catalogue as a Markdown page to this file");
  add_brief_to(*sub, common);
  sub->callback([&common, options] {
    if (options->list) refuse_brief(common, "--list");
    if (!options->files.empty()) return prove_files(common, *options);
    if (!options->list) return run(common, *options);
    for (Claim const& claim : select(catalog(), *options)) fmt::print("{}\n", claim.name);
  });
}

}  // namespace swizproof::command
