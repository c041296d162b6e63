// swizproof prove FILE.toml...: the obligations of a user's own project.
#include "command/command.hpp"
#include "command/prove.hpp"

#include "text/report.hpp"
#include "system/whole_file.hpp"

#include <swizproof/text/obligations.hpp>

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <span>
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

/// What the files hold: those of their obligations that the options choose, and each file that cannot be read at all as one
/// malformed entry. Throws InputError where no obligation is chosen.
std::vector<Obligation> read_all(Common const& common, ProveOptions const& options) {
  std::vector<Obligation> broken, all;
  for (std::string const& file : options.files) {
    try {
      for (Obligation& o : read_obligations(file, parse_architecture(common.arch)))
        all.push_back(std::move(o));
    } catch (InputError const& error) {
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

/// Decides the obligations; calls `each(obligation, report)` as the reports come, in the obligations' order.
template <class Each>
ObligationsResult compute(std::vector<Obligation> obligations, Common const& common,
                          ProveOptions const& options, Each const& each) {
  ObligationsResult result;
  result.obligations = std::move(obligations);
  bool const progress = !common.json && isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  std::size_t const all = result.obligations.size();
  auto decided = decide_in_order(result.obligations, options.jobs, common.limits());
  for (Obligation const& obligation : result.obligations) {
    ObligationReport const& report = decided.wait(result.reports.size(), [&](std::size_t done) {
      if (progress) fmt::print(stderr, "\r\x1b[K{} of {} obligations\r", done, all);
    });
    if (progress) fmt::print(stderr, "\r\x1b[K");
    result.add(report);
    each(obligation, report);
  }
  return result;
}

// ------------------------------------------------------------------------------------- one obligation

Json to_json(Obligation const& o, ObligationReport const& r) {
  Json out{{"name", o.name},       {"verdict", name(r.outcome)},
           {"domain", r.domain},   {"engine", names_of(r.engines)},
           {"seconds", r.seconds}, {"source", o.source},
           {"detail", r.detail}};
  if (r.error)
    out["error"] = swizproof::to_json(*r.error);
  else
    out["evidence"] = name(o.arch->support), out["certainty"] = certainty(*o.arch);
  if (o.expect_refuted) out["expect"] = "refuted", out["found"] = name(r.found);
  if (auto const* unknown = std::get_if<Unknown>(&r.found)) out["reason"] = unknown->reason;
  if (auto const* refuted = std::get_if<Refuted>(&r.found))
    out["counterexample"] = swizproof::to_json(*refuted);
  if (!r.accesses.empty()) {
    out["accesses"] = Json::array();
    for (AccessVerdict const& v : r.accesses) out["accesses"].push_back(swizproof::to_json(v));
  }
  return out;
}

/// Why an access is refuted: it does not fit its tile, or costs too much.
void print_failing(AccessVerdict const& v, Refuted const& refuted) {
  if (v.misfit)
    fmt::print("         {}: it does not fit: {}\n           {}\n", v.access, refuted.question,
               describe(refuted));
  else
    fmt::print("         {}: {} wavefronts, {} allowed\n", v.access, v.wavefronts, v.allowed);
  if (v.conflict) fmt::print("{}", describe(*v.conflict, 11));
}

void print(Obligation const& o, ObligationReport const& r, std::size_t width, Style const& style) {
  if (r.error) {
    fmt::print("{}    {}\n         {}\n{}", style.bad("error"), o.name, r.error->message,
               marked(*r.error, style, 11));
    return;
  }
  std::string const expected = o.expect_refuted ? fmt::format("found {}, as expected; ", name(r.found)) : "";
  bool const holds = std::holds_alternative<Proved>(r.outcome);
  std::string const pad(7 - name(r.outcome).size(), ' ');
  fmt::print("{}{}  {:<{}}  {}{}  {}\n", style.outcome(r.outcome), pad, o.name, width, holds ? expected : "",
             r.detail, style.faint(fmt::format("{}, {}", names_of(r.engines), duration(r.seconds))));
  if (std::holds_alternative<AccessesHold>(o.what) && o.arch != &sm_90)
    fmt::print("         {}\n", certainty_line(*o.arch, style));
  if (holds) return;
  fmt::print("         {}\n", o.source);
  if (auto const* unknown = std::get_if<Unknown>(&r.outcome)) fmt::print("         {}\n", unknown->reason);
  if (o.expect_refuted) {
    fmt::print("         it was expected to be refuted\n");
    return;
  }
  for (AccessVerdict const& v : r.accesses)
    if (auto const* refuted = std::get_if<Refuted>(&v.outcome)) print_failing(v, *refuted);
  auto const* refuted = std::get_if<Refuted>(&r.outcome);
  if (r.accesses.empty() && refuted != nullptr && !refuted->values.empty())
    fmt::print("         {}\n", describe(*refuted));
}

// ---------------------------------------------------------------------------------- the ledger as a page

/// The file of an obligation's source: "proofs/literature/mojo.toml:12" is mojo.
std::string file_of(Obligation const& o) {
  std::string const path = o.source.substr(0, o.source.rfind(':'));
  std::string const name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

/// What a file says about itself: its first comment line.
std::string title_of(Obligation const& o) {
  std::string line;
  try {
    std::istringstream lines(read_file(o.source.substr(0, o.source.rfind(':')), 16));
    std::getline(lines, line);
  } catch (InputError const&) {  // said where the file was read
  }
  return line.starts_with("# ") ? line.substr(2) : file_of(o);
}

std::string code(std::string const& text) { return "`" + text + "`"; }

/// The formal statement of an obligation, shortened.
std::string statement_of(Obligation const& o) {
  auto const layout = [](Mapping const& map) { return code(map.text); };
  std::string text;
  if (auto const* always = std::get_if<AlwaysHolds>(&o.what)) {
    text = always->text.size() > 160 ? code(always->text.substr(0, 150) + " ...") : code(always->text);
    for (Variable const& v : always->variables)
      text += (&v == &always->variables.front() ? " for " : ", ") +
              (v.unlimited()         ? "every " + v.name
               : v.first == v.last() ? fmt::format("{} = {}", v.name, v.first)
                                     : fmt::format("{} = {}..{}", v.name, v.first, v.last()));
  } else if (auto const* equal = std::get_if<FunctionsEqual>(&o.what)) {
    text = layout(equal->left) + " is " + layout(equal->right);
  } else if (auto const* bijective = std::get_if<IsBijective>(&o.what)) {
    text = layout(bijective->map) + " is bijective";
  } else if (auto const* aligned = std::get_if<IsAligned>(&o.what)) {
    text = fmt::format("{} may be used relative to every multiple of {} bytes", layout(aligned->map),
                       aligned->to);
  } else if (std::holds_alternative<Malformed>(o.what)) {
    text = "cannot be read";
  } else {
    auto const& hold = std::get<AccessesHold>(o.what);
    for (Placement const& p : hold.placements) text += (text.empty() ? "" : ", ") + code(p.access().name);
    text += " on " + layout(hold.map) +
            (hold.at_most ? fmt::format(" in at most {} wavefronts", *hold.at_most) : " without conflicts");
  }
  return text;
}

/// What refutes it, on plain numbers.
std::string counterexample_of(ObligationReport const& r) {
  for (AccessVerdict const& v : r.accesses) {
    if (v.misfit) return fmt::format("lane {} {}", v.misfit->lane, v.misfit->why);
    if (v.wavefronts <= v.allowed) continue;
    std::string text = fmt::format("{} wavefronts instead of {}", v.wavefronts, v.allowed);
    if (v.conflict) {
      text += fmt::format("; in bank {} meet lanes", v.conflict->bank);
      for (LaneAtFault const& l : v.conflict->lanes)
        text +=
            fmt::format("{} {} (address {})", &l == &v.conflict->lanes.front() ? "" : ",", l.lane, l.address);
    }
    return text;
  }
  auto const* refuted = std::get_if<Refuted>(&r.found);
  std::string values = refuted == nullptr || refuted->values.empty() ? "" : describe(*refuted);
  bool const said = r.detail.find(": ") != std::string::npos && r.detail.find("Sw<") == std::string::npos;
  if (values.empty() || (said && r.detail.starts_with("two functions")))
    return said ? r.detail.substr(r.detail.find(": ") + 2) : values;
  return values;
}

/// The obligations that say what is true instead of a false claim, formally.
std::string corrections_of(Obligation const& wrong, std::vector<Obligation> const& all) {
  std::string text;
  for (Obligation const& o : all)
    if (file_of(o) == file_of(wrong) && o.claim.corrects == wrong.name)
      text += (text.empty() ? "" : "<br>") +
              in_table((o.claim.says.empty() ? o.name : o.claim.says) + ": " + statement_of(o));
  return text;
}

/// The heading of a file's claims, and of the table of the false ones.
std::string heading_of(Obligation const& first, std::vector<Obligation> const& all) {
  std::string const file = file_of(first);
  std::size_t wrong = 0, here = 0;
  for (Obligation const& o : all)
    if (file_of(o) == file && !o.claim.cites.empty()) ++here, wrong += o.expect_refuted ? 1 : 0;
  return fmt::format(
             "\n## {}\n\n{}\n\n{} statements, {} false. [All of them]({}.toml), with their formulas.\n", file,
             title_of(first), here, wrong, file) +
         (wrong == 0 ? "" : "\n| where | says | but | true instead |\n| --- | --- | --- | --- |\n");
}

/// What the page of findings says of itself.
std::string introduction(std::size_t right, std::size_t wrong) {
  return fmt::format(
      "# What public texts say about swizzles, checked\n\n"
      "Written by `swizproof prove proofs/literature/*.toml --page proofs/literature/FINDINGS.md`; do not "
      "edit.\n\n"
      "A *swizzle* `Sw<B,M,S>` XORs B bits of an address, S places higher, into the B bits that start at bit "
      "M. CUDA kernels use\n"
      "it so that the lanes of a warp find their words in different *banks* of shared memory (32 banks of 4 "
      "bytes; lanes at\n"
      "different words of one bank wait for each other, and each round is a *wavefront*). Much has been "
      "written about it. Here\n"
      "{} statements of five public texts and of a list of well-known errors are claims that a prover "
      "decided, each for all values\n"
      "of its variables: **{} hold, {} do not.** A statement that can be read in two ways stands here twice. "
      "Every false one has\n"
      "its counterexample, which anybody can calculate again by hand, and the statement that is true "
      "instead, proved.\n",
      wrong + right, right, wrong);
}

/// Public claims: what is false, why, and what is true instead; then what is true.
std::string findings_page(std::vector<Obligation> const& all, std::vector<ObligationReport> const& reports) {
  std::size_t wrong = 0, right = 0;
  for (Obligation const& o : all)
    if (!o.claim.cites.empty()) ++(o.expect_refuted ? wrong : right);
  std::string page = introduction(right, wrong), malformed, file;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Obligation const& o = all[i];
    if (file_of(o) != file) page += heading_of(o, all);
    file = file_of(o);
    if (reports[i].error) malformed += fmt::format("- {}: {}\n", o.name, reports[i].error->message);
    if (!o.expect_refuted || o.claim.cites.empty()) continue;
    std::string const found = counterexample_of(reports[i]);
    page += fmt::format("| {} | {}: {} | {}{}{} | {} |\n", in_table(o.claim.cites), in_table(o.claim.says),
                        in_table(statement_of(o)), in_table(found.empty() ? "false" : found),
                        o.claim.note.empty() ? "" : "; ", in_table(o.claim.note), corrections_of(o, all));
  }
  return malformed.empty() ? page : page + "\n## Not decided, since malformed\n\n" + malformed;
}

// -------------------------------------------------------------------------------------------- all of them

/// Columns for the names of all that can be read.
std::size_t widest_name(std::vector<Obligation> const& all) {
  std::size_t width = 0;
  for (Obligation const& o : all)
    if (!std::holds_alternative<Malformed>(o.what)) width = std::max(width, o.name.size());
  return width;
}

void print_summary(ObligationsResult const& result) {
  fmt::print("\n{} obligations: {} proved, {} refuted, {} unknown{}\n", result.obligations.size(),
             result.proved, result.refuted, result.unknown,
             result.errors == 0 ? "" : fmt::format(", {} malformed", result.errors));
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
    cases.push_back({o.name, o.source, r.seconds, r.outcome, r.detail, r.error ? r.error->message : ""});
  }
  return cases;
}

/// Prints the names of all entries. Throws the InputError of a file that cannot be read at all.
void list(std::vector<Obligation> const& chosen, std::vector<std::string> const& files) {
  auto const is_file = [&](Obligation const& o) {
    return std::find(files.begin(), files.end(), o.source) != files.end();
  };
  for (Obligation const& o : chosen)
    if (!is_file(o)) fmt::print("{}\n", o.name);
  for (Obligation const& o : chosen)
    if (is_file(o)) refuse_malformed(std::span(&o, 1));
}

}  // namespace

void prove_files(Common& common, ProveOptions const& options) {
  if (!options.certificates.empty())
    throw InputError{"--certificates is for the built-in catalogue", options.certificates, 0, 1, {}};
  std::vector<Obligation> chosen = read_all(common, options);
  if (options.list) return list(chosen, options.files);
  std::optional<WholeFile> junit, page;
  if (!options.claims_page.empty()) page.emplace(options.claims_page, "the page");
  if (!options.junit.empty()) junit.emplace(options.junit, "the JUnit file");
  Style const style(common.color, STDOUT_FILENO);
  std::size_t const width = widest_name(chosen);
  ObligationsResult const result = compute(std::move(chosen), common, options,
                                           [&](Obligation const& obligation, ObligationReport const& report) {
                                             if (common.json) return;
                                             print(obligation, report, width, style);
                                             std::fflush(stdout);
                                           });
  common.exit_code = result.exit_code();
  if (junit)
    junit->write(junit_xml("swizproof", junit_cases(result), certainty(parse_architecture(common.arch))));
  if (page) page->write(findings_page(result.obligations, result.reports));
  if (!common.json) return print_summary(result);
  for (ObligationReport const& r : result.reports)
    if (r.error)
      std::fputs(describe(*r.error, Style(common.color, STDERR_FILENO)).c_str(), common.streams.err);
  print_json(common, to_json(result));
}

}  // namespace swizproof::command
