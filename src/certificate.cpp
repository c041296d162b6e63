#include "certificate.hpp"

#include "parallel.hpp"
#include "process.hpp"
#include "prove/cnf.hpp"
#include "prove/smtlib.hpp"
#include "whole_file.hpp"

#include <swizproof/rup.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <regex>
#include <sstream>
#include <unistd.h>

namespace swizproof {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A proof grows faster than its formula.
constexpr std::size_t questions_a_part = 128;          ///< of a propositional certificate
constexpr std::size_t most_clauses_unshared = 10'000;  ///< see Sharing

/// A claim's name as the beginning of a file's: "period/every swizzle" is period_every-swizzle.
std::string file_name(std::string const& claim) {
  std::string out;
  for (char const c : claim) {
    bool const plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    out += plain ? c : c == '/' ? '_' : c == '<' || c == '>' || c == ',' ? '.' : '-';
  }
  return out;
}

std::vector<std::string> names_of(std::span<Question const> questions) {
  std::vector<std::string> names;
  for (Question const& q : questions) names.push_back(q.name);
  return names;
}

/// The values of a counterexample, if it is one of this question.
std::optional<std::vector<std::uint64_t>> counterexample_of(Question const& q, Refuted const& refuted) {
  if (q.name != refuted.question || q.variables.size() != refuted.values.size()) return std::nullopt;
  std::vector<std::uint64_t> values;
  for (auto const& [name, value] : refuted.values) values.push_back(value);
  auto const [hypothesis, conclusion] = q.on_numbers(values);
  if (!hypothesis || conclusion) return std::nullopt;
  return values;
}

}  // namespace

CertificateWriter::CertificateWriter(std::string folder)
    : folder_(std::move(folder)), with_proofs_(has_program("cadical")) {
  std::error_code error;
  fs::create_directories(folder_, error);
  bool const empty = !error && fs::is_empty(folder_, error);
  if (error || !empty)
    throw InputError{
        error ? "cannot make the folder: " + error.message() : "the folder for certificates is not empty",
        folder_,
        0,
        folder_.size(),
        {}};
}

void CertificateWriter::write(Entry& entry, std::string const& name, std::string const& text) {
  if (fs::exists(folder_ + "/" + name))
    throw InputError{"two certificates have one name: " + name, folder_, 0, folder_.size(), {}};
  WholeFile(folder_ + "/" + name, "a certificate").write(text);
  entry.files.push_back(name);
}

void CertificateWriter::add(Claim const& claim, ClaimReport const& report, Limits const& limits) {
  Entry entry{claim.name, {}};
  std::string const name = file_name(claim.name);
  std::vector<Question> const questions = claim.statement.questions();
  write(entry, name + ".smt2",
        smtlib({claim.name,
                claim.source,
                {{"claim", claim.name},
                 {"says", claim.statement.text},
                 {"for", claim.domain},
                 {"source", claim.source},
                 {"proved by", "unsat: no assignment violates it"}}},
               Violations(questions), names_of(questions)));
  if (auto const* refuted = std::get_if<Refuted>(&report.control))
    for (Question const& q : claim.control.questions())
      if (auto const values = counterexample_of(q, *refuted)) {
        write(entry, name + ".control.smt2",
              smtlib({claim.name + ", control",
                      claim.source,
                      {{"claim", claim.name},
                       {"control", claim.control.text},
                       {"refuted by", "sat: this assignment violates it"}},
                      *values},
                     Violations(std::span(&q, 1)), names_of(std::span(&q, 1))));
        break;
      }
  for (std::size_t from = 0, part = 1; from < questions.size(); from += questions_a_part, ++part) {
    auto const some = std::span(questions).subspan(from, std::min(questions_a_part, questions.size() - from));
    Violations const violations(some);
    std::string const stem = fmt::format("{}.{:03}", name, part);
    Cnf formula = cnf(violations.terms, violations.formulas, Sharing::none);
    bool const shared = formula.clauses.size() > most_clauses_unshared;
    if (shared) formula = cnf(violations.terms, violations.formulas, Sharing::gates);
    write(entry, stem + ".cnf",
          dimacs(formula, std::vector{"claim: " + claim.name + ": " + claim.statement.text,
                                      fmt::format("questions: {} to {}", some.front().name, some.back().name),
                                      std::string("constants are folded") +
                                          (shared ? ", gates of the same operands are one" : "")}));
    if (!with_proofs_) continue;
    std::string const path = folder_ + "/" + stem;
    ProcessResult const solved = run_process({"cadical", "-q", "--no-binary", path + ".cnf", path + ".drat"},
                                             limits.seconds, limits.megabytes);
    if (solved.end == ProcessResult::End::exited && solved.code == 20)
      entry.files.push_back(stem + ".drat");
    else
      fs::remove(path + ".drat");  // recheck will say what became of it
  }
  std::scoped_lock const lock(mutex_);
  entries_.push_back(std::move(entry));
}

std::size_t CertificateWriter::finish() {
  Json claims = Json::array();
  std::size_t files = 0;
  std::sort(entries_.begin(), entries_.end(),
            [](Entry const& a, Entry const& b) { return a.claim < b.claim; });
  for (Entry const& entry : entries_) {
    claims.push_back({{"name", entry.claim}, {"files", entry.files}});
    files += entry.files.size();
  }
  WholeFile(folder_ + "/claims.json", "the list of certificates")
      .write(Json{{"format", "swizproof certificates 1"}, {"claims", claims}}.dump(1) + "\n");
  return files + 1;
}

// ----------------------------------------------------------------------------------------- recheck

namespace {

using Result = Rechecked::Result;

/// What a solver is given: the script without the status that it should have. cvc5 stops where they differ, and it shall
/// speak for itself. Debian's boolector reads no define-fun: a name and an equation say the same.
std::string question_in(std::string const& script, bool definitions) {
  static std::regex const definition(R"(\(define-fun (\|[^|]*\||\S+) \(\) (Bool|\(_ BitVec \d+\)) (.*)\)$)");
  std::istringstream lines(script);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    std::string const head = line.substr(0, 12);
    std::smatch m;
    if (line.starts_with("(set-info :status")) continue;
    if (!definitions && head == "(define-fun " && line.size() < 20000 &&
        std::regex_match(line, m, definition))
      out += "(declare-fun " + m[1].str() + " () " + m[2].str() + ")\n(assert (= " + m[1].str() + " " +
             m[3].str() + "))\n";
    else
      out += line + "\n";
  }
  return out;
}

/// A file in the temporary folder that goes with its owner.
class Scratch {
 public:
  explicit Scratch(std::string const& end) {
    static std::atomic<unsigned> next = 0;
    path_ = (fs::temp_directory_path() / fmt::format("swizproof-{}-{}{}", getpid(), next++, end)).string();
  }
  Scratch(Scratch const&) = delete;
  Scratch& operator=(Scratch const&) = delete;
  ~Scratch() { std::remove(path_.c_str()); }
  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_;
};

std::string why(ProcessResult const& run, Limits const& limits) {
  if (run.end == ProcessResult::End::timed_out) return fmt::format("no answer in {} s", limits.seconds);
  if (run.end == ProcessResult::End::not_found) return "is not installed";
  if (run.end == ProcessResult::End::killed) return "was killed";
  return "says " + run.output.substr(0, run.output.find('\n'));
}

/// Asks the solver, and compares with the status that the script expects.
void ask_solver(Rechecked& r, std::string const& path, std::string const& solver, Limits const& limits) {
  std::string const text = read_file(path);
  bool const sat = text.find("(set-info :status sat)") != std::string::npos;
  if (!sat && text.find("(set-info :status unsat)") == std::string::npos) {
    r.detail = "the script expects neither sat nor unsat";
    return;
  }
  Scratch const question(".smt2");
  WholeFile(question.path(), "a script").write(question_in(text, solver != "boolector"));
  std::vector<std::string> command{solver, question.path()};
  if (solver == "cvc5" && !sat)  // three times faster than without these
    command.insert(command.begin() + 1, {"--bitblast=eager", "--bool-to-bv=all"});
  ProcessResult const run = run_process(command, limits.seconds, limits.megabytes);
  std::string const answer = run.output.substr(0, run.output.find('\n'));
  if (run.end != ProcessResult::End::exited || (answer != "sat" && answer != "unsat")) {
    r.detail = solver + " " + why(run, limits);
    return;
  }
  r.result = (answer == "sat") == sat ? Result::agrees : Result::disagrees;
  r.detail = solver + ": " + answer;
}

/// Checks the proof of a formula, or has it made.
void check_formula(Rechecked& r, std::string const& path, Limits const& limits) {
  std::string proof_path = path.substr(0, path.size() - 4) + ".drat";
  Scratch const made(".drat");
  if (!fs::exists(proof_path)) {
    proof_path = made.path();
    ProcessResult const run =
        run_process({"cadical", "-q", "--no-binary", path, proof_path}, limits.seconds, limits.megabytes);
    if (run.end != ProcessResult::End::exited || (run.code != 10 && run.code != 20)) {
      r.detail = "cadical " + why(run, limits);
      return;
    }
    if (run.code == 10) {
      r.result = Result::disagrees;
      r.detail = "cadical: satisfiable";
      return;
    }
  }
  ProofCheck const checked = check_proof(read_file(path), read_file(proof_path));
  r.lemmas = checked.lemmas;
  r.result = checked.valid ? Result::agrees : Result::disagrees;
  r.detail = checked.valid ? fmt::format("{} lemmas", checked.lemmas) : checked.reason;
}

}  // namespace

std::vector<Rechecked> recheck(std::string const& folder, std::string const& solver, unsigned jobs,
                               Limits const& limits) {
  auto const refuse = [&](std::string const& message) {
    return InputError{message, folder, 0, folder.size(),
                      "certificates are written by: swizproof prove --certificates DIR"};
  };
  if (!fs::exists(folder + "/claims.json")) throw refuse("the folder has no claims.json");
  std::vector<Rechecked> all;
  try {
    Json const list = Json::parse(read_file(folder + "/claims.json"));
    if (list.at("format") != "swizproof certificates 1") throw refuse("claims.json has an unknown format");
    for (Json const& claim : list.at("claims")) {
      bool solved = false;
      for (std::string const name : claim.at("files")) {
        if (name.find('/') != std::string::npos || !fs::is_regular_file(folder + "/" + name))
          throw refuse("a certificate is missing: " + name);
        solved = solved || (name.ends_with(".smt2") && !name.ends_with(".control.smt2"));
        if (!name.ends_with(".drat")) all.push_back({claim.at("name"), name});
      }
      if (!solved) throw refuse("a claim has no script: " + claim.at("name").get<std::string>());
    }
  } catch (Json::exception const& error) {
    throw refuse(std::string("claims.json cannot be read: ") + error.what());
  }
  if (all.empty()) throw refuse("claims.json lists no claim");
  // The largest first, so that no core waits at the end for one of them.
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::vector<std::uintmax_t> size(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) size[i] = fs::file_size(folder + "/" + all[i].file);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
  in_parallel(order.size(), jobs, [&](std::size_t i) {
    Rechecked& r = all[order[i]];
    std::string const path = folder + "/" + r.file;
    if (r.file.ends_with(".cnf"))
      check_formula(r, path, limits);
    else
      ask_solver(r, path, solver, limits);
  });
  return all;
}

}  // namespace swizproof
