// swizproof prove FILE.toml...: the obligations of a user's own project.
#include "command.hpp"
#include "prove.hpp"

#include "../report.hpp"
#include "../whole_file.hpp"

#include <swizproof/obligation.hpp>

#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(Obligation const& o, ObligationReport const& r) {
  Json out{{"name", o.name},       {"verdict", word(r.outcome)},
           {"domain", r.domain},   {"engine", names_of(r.engines)},
           {"seconds", r.seconds}, {"source", o.source},
           {"detail", r.detail}};
  if (o.expect_refuted) out["expect"] = "refuted", out["found"] = word(r.found);
  if (auto const* unknown = std::get_if<Unknown>(&r.found)) out["reason"] = unknown->reason;
  if (auto const* refuted = std::get_if<Refuted>(&r.found))
    out["counterexample"] = swizproof::to_json(*refuted);
  if (!r.accesses.empty()) {
    out["accesses"] = Json::array();
    for (AccessVerdict const& v : r.accesses) out["accesses"].push_back(swizproof::to_json(v));
  }
  return out;
}

void print(Obligation const& o, ObligationReport const& r, std::size_t width, Style const& style) {
  std::string const expected = o.expect_refuted ? fmt::format("found {}, as expected; ", word(r.found)) : "";
  bool const holds = std::holds_alternative<Proved>(r.outcome);
  std::string const pad(7 - word(r.outcome).size(), ' ');
  fmt::print("{}{}  {:<{}}  {}{}  {}\n", style.outcome(r.outcome), pad, o.name, width, holds ? expected : "",
             r.detail, style.faint(fmt::format("{}, {}", names_of(r.engines), duration(r.seconds))));
  if (holds) return;
  fmt::print("         {}\n", o.source);
  if (auto const* unknown = std::get_if<Unknown>(&r.outcome)) fmt::print("         {}\n", unknown->reason);
  if (o.expect_refuted) {
    fmt::print("         it was expected to be refuted\n");
    return;
  }
  for (AccessVerdict const& v : r.accesses) {
    if (std::holds_alternative<Proved>(v.outcome)) continue;
    fmt::print("         {}: {} wavefronts, {} allowed\n", v.access, v.wavefronts, v.allowed);
    if (v.conflict) fmt::print("{}", describe(*v.conflict, 11));
  }
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
  std::istringstream lines(read_file(o.source.substr(0, o.source.rfind(':')), 16));
  std::string line;
  std::getline(lines, line);
  return line.starts_with("# ") ? line.substr(2) : file_of(o);
}

std::string code(std::string const& text) { return "`" + text + "`"; }

/// The formal statement of an obligation, shortened.
std::string statement_of(Obligation const& o) {
  auto const layout = [](Mapping const& map) { return code(map.text); };
  std::string text;
  if (auto const* always = std::get_if<AlwaysHolds>(&o.what)) {
    text = always->text.size() > 160 ? code(always->text.substr(0, 150) + " ...") : code(always->text);
    for (AlwaysHolds::Variable const& v : always->variables)
      text += (&v == &always->variables.front() ? " for " : ", ") +
              (v.last == ~std::uint64_t{0} ? "every " + v.name
               : v.first == v.last         ? fmt::format("{} = {}", v.name, v.first)
                                           : fmt::format("{} = {}..{}", v.name, v.first, v.last));
  } else if (auto const* equal = std::get_if<FunctionsEqual>(&o.what)) {
    text = layout(equal->left) + " is " + layout(equal->right);
  } else if (auto const* bijective = std::get_if<IsBijective>(&o.what)) {
    text = layout(bijective->map) + " is bijective";
  } else if (auto const* aligned = std::get_if<IsAligned>(&o.what)) {
    text = fmt::format("{} may be used relative to every multiple of {} bytes", layout(aligned->map),
                       aligned->to);
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

/// Public claims: what is false, why, and what is true instead; then what is true.
std::string findings_page(std::vector<Obligation> const& all, std::vector<ObligationReport> const& reports) {
  std::size_t wrong = 0, right = 0;
  for (Obligation const& o : all)
    if (!o.claim.cites.empty()) ++(o.expect_refuted ? wrong : right);
  std::string page = fmt::format(
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
  std::string file;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Obligation const& o = all[i];
    if (file_of(o) != file) {
      file = file_of(o);
      std::size_t false_here = 0, here = 0;
      for (Obligation const& other : all)
        if (file_of(other) == file && !other.claim.cites.empty())
          ++here, false_here += other.expect_refuted ? 1 : 0;
      page += fmt::format(
          "\n## {}\n\n{}\n\n{} statements, {} false. [All of them]({}.toml), with their formulas.\n", file,
          title_of(o), here, false_here, file);
      if (false_here != 0) page += "\n| where | says | but | true instead |\n| --- | --- | --- | --- |\n";
    }
    if (!o.expect_refuted || o.claim.cites.empty()) continue;
    std::string instead;
    for (Obligation const& other : all)
      if (file_of(other) == file && other.claim.corrects == o.name)
        instead +=
            (instead.empty() ? "" : "<br>") +
            in_table((other.claim.says.empty() ? other.name : other.claim.says) + ": " + statement_of(other));
    std::string const found = counterexample_of(reports[i]);
    page += fmt::format("| {} | {}: {} | {}{}{} | {} |\n", in_table(o.claim.cites), in_table(o.claim.says),
                        in_table(statement_of(o)), in_table(found.empty() ? "false" : found),
                        o.claim.note.empty() ? "" : "; ", in_table(o.claim.note), instead);
  }
  return page;
}

}  // namespace

void prove_files(Common& common, ProveOptions const& options) {
  if (!options.certificates.empty())
    throw InputError{"--certificates is for the built-in catalogue", options.certificates, 0, 1, {}};
  std::vector<Obligation> all;
  for (std::string const& file : options.files)
    for (Obligation& obligation : read_obligations(file)) all.push_back(std::move(obligation));
  std::vector<Obligation> const chosen = select(std::move(all), options);
  if (options.list) {
    for (Obligation const& o : chosen) fmt::print("{}\n", o.name);
    return;
  }
  std::optional<WholeFile> junit, page;
  if (!options.claims_page.empty()) page.emplace(options.claims_page, "the page");
  if (!options.junit.empty()) junit.emplace(options.junit, "the JUnit file");
  bool const progress = isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  // Nothing is printed before all is decided: one access that does not fit its tile refuses the files.
  std::vector<ObligationReport> reports;
  {
    Runner<Obligation, ObligationReport> runner(chosen, options.jobs, common.limits());
    for (std::size_t i = 0; i < chosen.size(); ++i)
      reports.push_back(runner.wait(i, [&](std::size_t done) {
        if (progress) fmt::print(stderr, "\r\x1b[K{} of {} obligations\r", done, chosen.size());
      }));
    if (progress) fmt::print(stderr, "\r\x1b[K");
  }
  std::size_t proved = 0, refuted = 0, unknown = 0;
  std::vector<Outcome> outcomes;
  std::vector<JUnitCase> cases;
  Json claims = Json::array();
  std::size_t width = 0;
  for (Obligation const& o : chosen) width = std::max(width, o.name.size());
  Style const style(common.color, STDOUT_FILENO);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    ObligationReport const& r = reports[i];
    outcomes.push_back(r.outcome);
    proved += std::holds_alternative<Proved>(r.outcome) ? 1 : 0;
    refuted += std::holds_alternative<Refuted>(r.outcome) ? 1 : 0;
    unknown += std::holds_alternative<Unknown>(r.outcome) ? 1 : 0;
    cases.push_back({chosen[i].name, chosen[i].source, r.seconds, r.outcome, r.detail});
    if (common.json)
      claims.push_back(to_json(chosen[i], r));
    else
      print(chosen[i], r, width, style);
  }
  Outcome const verdict = conjunction(outcomes);
  common.exit_code = exit_code_of(verdict);
  if (junit) junit->write(junit_xml("swizproof", cases));
  if (page) page->write(findings_page(chosen, reports));
  if (common.json)
    fmt::print("{}\n", Json{{"verdict", word(verdict)},
                            {"claims", claims},
                            {"proved", proved},
                            {"refuted", refuted},
                            {"unknown", unknown}}
                           .dump(2));
  else
    fmt::print("\n{} obligations: {} proved, {} refuted, {} unknown\n", chosen.size(), proved, refuted,
               unknown);
}

}  // namespace swizproof::command
