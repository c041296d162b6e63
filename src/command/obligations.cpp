// swizproof prove FILE.toml...: the obligations of a user's own project.
#include "command.hpp"
#include "prove.hpp"

#include "../report.hpp"
#include "../whole_file.hpp"

#include <swizproof/obligation.hpp>

#include <fmt/format.h>

#include <optional>
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

}  // namespace

void prove_files(Common& common, ProveOptions const& options) {
  if (!options.claims_page.empty())
    throw InputError{"--page is for the built-in catalogue", options.claims_page, 0, 1, {}};
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
  std::optional<WholeFile> junit;
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
