// swizproof recheck: do other programs say the same of the certificates?
#include "command/line/command.hpp"
#include "command/line/help.hpp"

#include "certificate/certificate.hpp"
#include "system/parallel.hpp"
#include "system/process.hpp"
#include "report/report.hpp"

#include <swizproof/claim/catalog.hpp>

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <unistd.h>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct RecheckOptions {
  std::string folder;
  std::string solver;
  unsigned jobs = default_jobs(Limits{}.megabytes);
};

std::string_view name_of(Rechecked::Result result) {
  switch (result) {
    case Rechecked::Result::agrees:
      return "agrees";
    case Rechecked::Result::disagrees:
      return "DISAGREES";
    case Rechecked::Result::differs:
      return "DIFFERS";
    case Rechecked::Result::unknown:
      break;
  }
  return "unknown";
}

/// Numbers of files by kind and result.
struct Tally {
  std::size_t scripts = 0, proofs = 0, immediate = 0, made = 0, lemmas = 0, unknown = 0, disagree = 0,
              differ = 0;
  std::map<std::string, std::size_t> of_solver{};  ///< number of scripts of each solver
};

Tally count(std::vector<Rechecked> const& files) {
  Tally t;
  for (Rechecked const& r : files) {
    bool const agrees = r.result == Rechecked::Result::agrees;
    bool const proof = r.file.ends_with(".cnf");
    t.scripts += agrees && !proof ? 1 : 0;
    if (agrees && !proof) ++t.of_solver[r.solver];
    t.proofs += agrees && proof ? 1 : 0;
    t.immediate += agrees && proof && r.lemmas <= 1 ? 1 : 0;  // only the empty clause is learned
    t.made += agrees && r.made ? 1 : 0;
    t.lemmas += r.lemmas;
    t.unknown += r.result == Rechecked::Result::unknown ? 1 : 0;
    t.disagree += r.result == Rechecked::Result::disagrees ? 1 : 0;
    t.differ += r.result == Rechecked::Result::differs ? 1 : 0;
  }
  return t;
}

struct RecheckResult {
  Recheck found{};
  Tally tally{};
  Solvers solvers{};
  double seconds = 0;
  [[nodiscard]] int exit_code() const {
    return tally.disagree != 0  ? disagreement
           : tally.differ != 0  ? refuted
           : tally.unknown != 0 ? undecided
                                : holds;
  }
  [[nodiscard]] std::string_view verdict() const {
    return tally.disagree != 0  ? "disagreement"
           : tally.differ != 0  ? "refuted"
           : tally.unknown != 0 ? "unknown"
                                : "proved";
  }
};

/// The solver that was named; else cvc5 and boolector, each for what it is good at; else the first that is installed.
Solvers solvers_for(std::string const& named) {
  if (!named.empty()) return {named, named};
  if (has_program("cvc5") && has_program("boolector")) return {"cvc5", "boolector"};
  for (char const* known : {"cvc5", "bitwuzla", "boolector"})
    if (has_program(known)) return {known, known};
  return {"cvc5", "cvc5"};
}

/// "1254 answers of cvc5", "1176 answers of boolector and 78 of cvc5".
std::string answers(RecheckResult const& result) {
  auto const& [bits, numbers] = result.solvers;
  auto const of = [&](std::string const& solver) {
    auto const found = result.tally.of_solver.find(solver);
    return found == result.tally.of_solver.end() ? std::size_t{0} : found->second;
  };
  if (bits == numbers || of(bits) == 0) return fmt::format("{} answers of {}", of(numbers), numbers);
  if (of(numbers) == 0) return fmt::format("{} answers of {}", of(bits), bits);
  return fmt::format("{} answers of {} and {} of {}", of(numbers), numbers, of(bits), bits);
}

RecheckResult compute(Common const& common, RecheckOptions const& options) {
  RecheckResult result;
  result.solvers = solvers_for(options.solver);
  auto const start = std::chrono::steady_clock::now();
  result.found = recheck(options.folder, catalog(), result.solvers, options.jobs, common.limits());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.tally = count(result.found.files);
  return result;
}

Json to_json(RecheckResult const& result) {
  Recheck const& found = result.found;
  Tally const& tally = result.tally;
  auto const& [bits, numbers] = result.solvers;
  Json bad = Json::array();
  for (Rechecked const& r : found.files)
    if (r.result != Rechecked::Result::agrees)
      bad.push_back({{"claim", r.claim},
                     {"file", r.file},
                     {"result", r.result == Rechecked::Result::unknown     ? "unknown"
                                : r.result == Rechecked::Result::disagrees ? "disagrees"
                                                                           : "differs"},
                     {"detail", r.detail}});
  return {{"verdict", result.verdict()},
          {"solver", bits == numbers ? bits : numbers + ", " + bits},
          {"claims", found.claims},
          {"catalogue", found.catalogue},
          {"part", found.claims != found.catalogue},
          {"answers", tally.scripts},
          {"answers_of", tally.of_solver},
          {"proofs", tally.proofs},
          {"proofs_made_anew", tally.made},
          {"proofs_by_unit_propagation_alone", tally.immediate},
          {"lemmas", tally.lemmas},
          {"unknown", tally.unknown},
          {"disagree", tally.disagree},
          {"differ", tally.differ},
          {"not_agreed", bad},
          {"seconds", result.seconds}};
}

void print_text(RecheckResult const& result, Style const& style) {
  Recheck const& found = result.found;
  Tally const& tally = result.tally;
  for (Rechecked const& r : found.files)
    if (r.result != Rechecked::Result::agrees)
      fmt::print("{}  {}: {}\n         {}\n",
                 r.result == Rechecked::Result::unknown ? style.doubtful("unknown  ")
                                                        : style.bad(fmt::format("{:<9}", name_of(r.result))),
                 r.file, r.detail, r.claim);
  fmt::print(
      "{} of the catalogue's {} claims{}: {} agree, {} proofs of CaDiCaL hold ({} lemmas "
      "checked; {} "
      "formulas need no lemma, as their terms fold to false{}), {} unknown, {} disagree, {} differ; {}\n",
      found.claims, found.catalogue, found.claims == found.catalogue ? "" : ", a part", answers(result),
      tally.proofs, tally.lemmas, tally.immediate,
      tally.made == 0 ? "" : fmt::format("; {} proofs made anew", tally.made), tally.unknown, tally.disagree,
      tally.differ, duration(result.seconds));
}

void run(Common& common, RecheckOptions const& options) {
  RecheckResult const result = compute(common, options);
  common.exit_code = result.exit_code();
  if (common.json)
    print_json(common, to_json(result));
  else
    print_text(result, Style(common.color, STDOUT_FILENO));
}

}  // namespace

void add_recheck(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "recheck",
      "Are certificates those of the catalogue, and do a second solver and a proof checker agree with them?",
      {"d=$(mktemp -d) && swizproof prove --only '^span/' --certificates $d/c && swizproof recheck $d/c",
       "do other solvers agree?"});
  auto const options = std::make_shared<RecheckOptions>();
  sub->add_option("DIR", options->folder, "the folder that 'prove --certificates' wrote")
      ->type_name("FOLDER")
      ->required();
  sub->add_option("--solver", options->solver,
                  "cvc5, bitwuzla or boolector (default: cvc5 and boolector, each for its kind of question; "
                  "else the first "
                  "that is installed)")
      ->check(CLI::IsMember({"cvc5", "bitwuzla", "boolector"}));
  sub->add_option("--jobs", options->jobs,
                  "files at the same time (default: one a core that has memory for it)")
      ->check(CLI::Range(1U, 1024U));
  sub->footer(
      "Exit codes: 0 all agree, 1 a file is not what the catalogue says, 2 bad input, 3 not decided, or no "
      "solver "
      "is installed, 4 they disagree.");
  sub->callback([&common, options] { run(common, *options); });
}

}  // namespace swizproof::command
