// swizproof recheck: do other programs say the same of the certificates?
#include "command.hpp"

#include "../certificate.hpp"
#include "../process.hpp"
#include "../report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <unistd.h>

namespace swizproof::command {

namespace {

struct RecheckOptions {
  std::string folder;
  std::string solver;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

void run(Common& common, RecheckOptions options) {
  for (char const* known : {"cvc5", "bitwuzla", "boolector"})
    if (options.solver.empty() && has_program(known)) options.solver = known;
  if (options.solver.empty()) options.solver = "cvc5";
  auto const start = std::chrono::steady_clock::now();
  std::vector<Rechecked> const all = recheck(options.folder, options.solver, options.jobs, common.limits());
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::size_t scripts = 0, proofs = 0, immediate = 0, lemmas = 0, unknown = 0, disagree = 0;
  std::set<std::string> claims;
  for (Rechecked const& r : all) {
    claims.insert(r.claim);
    bool const agrees = r.result == Rechecked::Result::agrees;
    bool const proof = r.file.ends_with(".cnf");
    scripts += agrees && !proof ? 1 : 0;
    proofs += agrees && proof ? 1 : 0;
    immediate += agrees && proof && r.lemmas <= 1 ? 1 : 0;  // the empty clause alone is learned
    lemmas += r.lemmas;
    unknown += r.result == Rechecked::Result::unknown ? 1 : 0;
    disagree += r.result == Rechecked::Result::disagrees ? 1 : 0;
  }
  common.exit_code = disagree != 0 ? disagreement : unknown != 0 ? undecided : holds;
  std::string_view const verdict = disagree != 0 ? "disagreement" : unknown != 0 ? "unknown" : "proved";
  Style const style(common.color, STDOUT_FILENO);
  if (common.json) {
    nlohmann::ordered_json bad = nlohmann::ordered_json::array();
    for (Rechecked const& r : all)
      if (r.result != Rechecked::Result::agrees)
        bad.push_back({{"claim", r.claim},
                       {"file", r.file},
                       {"result", r.result == Rechecked::Result::unknown ? "unknown" : "disagrees"},
                       {"detail", r.detail}});
    fmt::print("{}\n", nlohmann::ordered_json{{"verdict", verdict},
                                              {"solver", options.solver},
                                              {"claims", claims.size()},
                                              {"scripts_agreed", scripts},
                                              {"proofs_checked", proofs},
                                              {"proofs_by_unit_propagation_alone", immediate},
                                              {"lemmas", lemmas},
                                              {"unknown", unknown},
                                              {"disagreements", disagree},
                                              {"not_agreed", bad},
                                              {"seconds", seconds}}
                           .dump(2));
    return;
  }
  for (Rechecked const& r : all)
    if (r.result != Rechecked::Result::agrees)
      fmt::print("{}  {}: {}\n         {}\n",
                 r.result == Rechecked::Result::unknown ? style.doubtful("unknown") : style.bad("DISAGREES"),
                 r.file, r.detail, r.claim);
  fmt::print(
      "{} claims: {} answers of {} agree, {} proofs of CaDiCaL hold ({} lemmas checked; {} formulas fall by "
      "unit propagation alone), {} unknown, {} disagree; {}\n",
      claims.size(), scripts, options.solver, proofs, lemmas, immediate, unknown, disagree,
      duration(seconds));
}

}  // namespace

void add_recheck(CLI::App& app, Common& common) {
  CLI::App* const sub = app.add_subcommand(
      "recheck",
      "Do a second solver and a proof checker agree with the certificates of 'prove --certificates DIR'?");
  auto const options = std::make_shared<RecheckOptions>();
  sub->add_option("DIR", options->folder, "the folder of certificates")->required();
  sub->add_option("--solver", options->solver,
                  "cvc5, bitwuzla or boolector (default: the first that is installed)")
      ->check(CLI::IsMember({"cvc5", "bitwuzla", "boolector"}));
  sub->add_option("--jobs", options->jobs, "files at the same time (default: one a core)")
      ->check(CLI::Range(1U, 1024U));
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
