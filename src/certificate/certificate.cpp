#include "certificate/certificate.hpp"

#include "system/json.hpp"
#include "system/parallel.hpp"
#include "system/process.hpp"
#include "certificate/cnf.hpp"
#include "certificate/smtlib.hpp"
#include "certificate/trimmer.hpp"
#include "system/whole_file.hpp"

#include <swizproof/certificate/rup.hpp>

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <unistd.h>

namespace swizproof {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// A proof grows faster than its formula, and a solver's time faster than its question.
constexpr std::size_t questions_a_part =
    128;  ///< questions in a part of a propositional certificate, and for a solver
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

/// The certificates of one claim, as texts.
class Texts {
 public:
  explicit Texts(Claim const& claim)
      : claim_(claim), stem_(file_name(claim.name)), questions_(claim.statement.questions()) {}

  [[nodiscard]] std::string script_name() const { return stem_ + ".smt2"; }
  [[nodiscard]] std::string control_name() const { return stem_ + ".control.smt2"; }
  [[nodiscard]] std::size_t parts() const {
    return (questions_.size() + questions_a_part - 1) / questions_a_part;
  }
  /// The name of part 0, 1, .. without its ending.
  [[nodiscard]] std::string part_name(std::size_t part) const {
    return fmt::format("{}.{:03}", stem_, part + 1);
  }

  /// True if the claim adds, multiplies or compares numbers, and shifts by constants alone.
  [[nodiscard]] bool is_arithmetic() const {
    bool out = false;
    Violations const violations(questions_of(0));  // the others are alike
    auto const& nodes = violations.terms.nodes();
    for (Node const& n : nodes) {
      bool const shift = n.op == Op::bv_shl || n.op == Op::bv_lshr;
      if (shift && nodes[n.b].op != Op::constant) return false;
      out = out || n.op == Op::bv_add || n.op == Op::bv_sub || n.op == Op::bv_mul || n.op == Op::bv_udiv ||
            n.op == Op::bv_urem || n.op == Op::ult;
    }
    return out;
  }

  [[nodiscard]] std::string script() const { return script(questions_); }
  /// The script of a part alone: the claim holds iff every part's is unsatisfiable.
  [[nodiscard]] std::string script(std::size_t part) const { return script(questions_of(part)); }
  /// `values` violate the question.
  [[nodiscard]] std::string control(Question const& q, std::vector<std::uint64_t> const& values) const {
    return smtlib({claim_.name + ", control",
                   claim_.source,
                   {{"claim", claim_.name},
                    {"control", claim_.control.text},
                    {"refuted by", "sat: this assignment violates it"}},
                   values},
                  Violations(std::span(&q, 1)), names_of(std::span(&q, 1)));
  }
  [[nodiscard]] std::string clauses(std::size_t part) const {
    auto const some = questions_of(part);
    Violations const violations(some);
    Cnf formula = cnf(violations.terms, violations.formulas, Sharing::none);
    bool const shared = formula.clauses.size() > most_clauses_unshared;
    if (shared) formula = cnf(violations.terms, violations.formulas, Sharing::gates);
    return dimacs(formula,
                  std::vector{"claim: " + claim_.name + ": " + claim_.statement.text,
                              fmt::format("questions: {} to {}", some.front().name, some.back().name),
                              std::string("constants are folded") +
                                  (shared ? ", gates of the same operands are one" : "")});
  }

 private:
  [[nodiscard]] std::span<Question const> questions_of(std::size_t part) const {
    std::size_t const from = part * questions_a_part;
    return std::span(questions_).subspan(from, std::min(questions_a_part, questions_.size() - from));
  }
  [[nodiscard]] std::string script(std::span<Question const> questions) const {
    return smtlib({claim_.name,
                   claim_.source,
                   {{"claim", claim_.name},
                    {"says", claim_.statement.text},
                    {"for", claim_.domain},
                    {"source", claim_.source},
                    {"proved by", "unsat: no assignment violates it"}}},
                  Violations(questions), names_of(questions));
  }

  Claim const& claim_;
  std::string stem_;
  std::vector<Question> questions_;
};

/// True if the values violate the question, on plain numbers.
bool violates(Question const& q, std::span<std::uint64_t const> values) {
  if (values.size() != q.variables.size()) return false;
  auto const [hypothesis, conclusion] = q.on_numbers(values);
  return hypothesis && !conclusion;
}

}  // namespace

CertificateWriter::CertificateWriter(std::string folder, std::size_t catalogue)
    : folder_(std::move(folder)), catalogue_(catalogue), with_proofs_(has_program("cadical")) {
  std::error_code error;
  fs::create_directories(folder_, error);
  bool const empty = !error && fs::is_empty(folder_, error);
  if (error || !empty)
    throw InputError::whole(
        error ? "cannot make the folder: " + error.message() : "the folder for certificates is not empty",
        folder_);
}

void CertificateWriter::write(Entry& entry, std::string const& name, std::string const& text) {
  if (fs::exists(folder_ + "/" + name))
    throw InputError::whole("two certificates have one name: " + name, folder_);
  WholeFile(folder_ + "/" + name, "a certificate").write(text);
  entry.files.push_back(name);
}

void CertificateWriter::add(Claim const& claim, ClaimReport const& report, Limits const& limits) {
  Entry entry{claim.name, {}, {}, {}, {}};
  Texts const texts(claim);
  write(entry, texts.script_name(), texts.script());
  if (auto const* refuted = std::get_if<Refuted>(&report.control)) {
    std::vector<std::uint64_t> values;
    for (auto const& [name, value] : refuted->values) values.push_back(value);
    for (Question const& q : claim.control.questions()) {
      if (q.name != refuted->question || !violates(q, values)) continue;
      write(entry, texts.control_name(), texts.control(q, values));
      entry.question = q.name;
      entry.values = values;
      break;
    }
  }
  for (std::size_t part = 0; part < texts.parts(); ++part) {
    std::string const stem = texts.part_name(part), path = folder_ + "/" + stem;
    std::string const clauses = texts.clauses(part);
    write(entry, stem + ".cnf", clauses);
    ProcessResult solved;
    if (with_proofs_)
      solved = run_process({"cadical", "-q", "--no-binary", path + ".cnf", path + ".drat"}, limits.seconds,
                           limits.megabytes);
    if (solved.end == ProcessResult::End::exited && solved.code == 20) {
      std::string const proof = read_file(path + ".drat");
      if (auto const less = trimmed(clauses, proof); less && *less != proof)
        WholeFile(path + ".drat", "a proof").write(*less);
      entry.files.push_back(stem + ".drat");
    } else {
      fs::remove(path + ".drat");  // recheck will say what became of it
      entry.without_proof.push_back(stem + ".cnf");
    }
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
    Json control = nullptr;
    if (!entry.question.empty()) control = {{"question", entry.question}, {"values", entry.values}};
    claims.push_back({{"name", entry.claim},
                      {"control", control},
                      {"files", entry.files},
                      {"without_proof", entry.without_proof}});
    files += entry.files.size();
  }
  WholeFile(folder_ + "/claims.json", "the list of certificates")
      .write(Json{{"format", "swizproof certificates 2"},
                  {"catalogue", catalogue_},
                  {"part", entries_.size() != catalogue_},
                  {"claims", claims}}
                 .dump(1) +
             "\n");
  return files + 1;
}

// ----------------------------------------------------------------------------------------- recheck

namespace {

using Result = Rechecked::Result;

/// Required content of a file: it follows from the claim, never from the file.
enum class Role : std::uint8_t { claim, control, formula };

/// Script for a solver: without the expected status, since cvc5 stops where they differ and its answer must be independent.
/// Debian's boolector reads no define-fun: a name and an equation say the same.
std::string question_in(std::string const& script, bool definitions) {
  static RE2 const definition(R"(\(define-fun (\|[^|]*\||\S+) \(\) (Bool|\(_ BitVec [0-9]+\)) (.*)\))",
                              RE2::Latin1);
  std::istringstream lines(script);
  std::string out, name, sort, body;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("(set-info :status")) continue;
    if (!definitions && line.starts_with("(define-fun ") &&
        RE2::FullMatch(line, definition, &name, &sort, &body))
      out += "(declare-fun " + name + " () " + sort + ")\n(assert (= " + name + " " + body + "))\n";
    else
      out += line + "\n";
  }
  return out;
}

/// A folder of one's own in the temporary one, that goes with its owner. Throws InputError.
class Scratch {
 public:
  Scratch() {
    std::error_code error;
    fs::path const parent = fs::temp_directory_path(error);
    path_ = (parent / "swizproof-XXXXXX").string();
    if (error || mkdtemp(path_.data()) == nullptr) {
      char const* const set = std::getenv("TMPDIR");
      std::string const place = set == nullptr ? "/tmp" : set;
      throw InputError::whole("cannot make a temporary folder: " +
                                  (error ? error.message() : std::generic_category().message(errno)),
                              place, "TMPDIR names the folder for it");
    }
    doomed_ = Doomed(path_);
  }
  Scratch(Scratch const&) = delete;
  Scratch& operator=(Scratch const&) = delete;
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  [[nodiscard]] std::string file(std::string const& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  Doomed doomed_{};
};

std::string why(ProcessResult const& run, Limits const& limits) {
  switch (run.end) {
    case ProcessResult::End::timed_out:
      return fmt::format("no answer in {} s", limits.seconds);
    case ProcessResult::End::not_found:
      return "is not installed";
    case ProcessResult::End::not_started:
      return "cannot be started: " + run.output;
    case ProcessResult::End::killed:
      return "was killed";
    case ProcessResult::End::exited:
      break;
  }
  if (run.output.empty()) return fmt::format("says nothing, and exits with {}", run.code);
  return fmt::format("says {}, and exits with {}", run.output.substr(0, run.output.find('\n')), run.code);
}

/// Asks the solver one question, and compares with the answer that the file's role demands.
Result ask_part(Rechecked& r, Role role, std::string const& text, Scratch const& scratch,
                Limits const& limits) {
  bool const sat = role == Role::control;
  std::string const question = scratch.file(r.file);
  Doomed const doomed(question);
  std::string const name = fs::path(r.solver).filename();
  WholeFile(question, "a script").write(question_in(text, name != "boolector"));
  std::vector<std::string> command{r.solver, question};
  if (name == "cvc5" && !sat)  // three times as fast as without these: tests/README.md
    command.insert(command.begin() + 1,
                   {"--bitblast=eager", "--bool-to-bv=all", "--simplification=none", "--no-static-learning"});
  ProcessResult const run = run_process(command, limits.seconds, limits.megabytes);
  fs::remove(question);
  std::string const answer = run.output.substr(0, run.output.find('\n'));
  if (run.end != ProcessResult::End::exited || (answer != "sat" && answer != "unsat")) {
    r.detail = r.solver + " " + why(run, limits);
    return Result::unknown;
  }
  r.detail = r.solver + ": " + answer;
  return (answer == "sat") == sat ? Result::agrees : Result::disagrees;
}

/// Runs a solver on a file. A claim is split into parts, made of its questions like the file itself, which was compared;
/// the solver agrees if it agrees on every part.
void ask_solver(Rechecked& r, Role role, Claim const& claim, std::string const& path, Scratch const& scratch,
                Solvers const& solvers, Limits const& limits) {
  Texts const texts(claim);
  r.solver = role == Role::control || texts.is_arithmetic() ? solvers.of_numbers : solvers.of_bits;
  if (role == Role::control || texts.parts() < 2) {
    r.result = ask_part(r, role, read_file(path), scratch, limits);
    return;
  }
  r.result = Result::agrees;
  for (std::size_t part = 0; part < texts.parts() && r.result != Result::disagrees; ++part) {
    std::string const settled = r.detail;
    Result const result = ask_part(r, role, texts.script(part), scratch, limits);
    if (r.result == Result::unknown && result == Result::agrees) r.detail = settled;
    if (result != Result::agrees) r.result = result;
  }
}

/// The name of a formula's proof.
std::string proof_of(std::string const& formula) { return formula.substr(0, formula.size() - 4) + ".drat"; }

/// Checks the proof of a formula, or has it made.
void check_formula(Rechecked& r, std::string const& path, Scratch const& scratch, Limits const& limits) {
  std::string proof_path = proof_of(path);
  Doomed const doomed(scratch.file(r.file + ".drat"));
  if (r.made) {
    proof_path = scratch.file(r.file + ".drat");
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
  if (r.made) fs::remove(proof_path);
  r.lemmas = checked.lemmas;
  r.result = checked.valid ? Result::agrees : Result::disagrees;
  r.detail = checked.valid ? fmt::format("{} lemmas", checked.lemmas) : checked.reason;
}

/// Entry of a claim in claims.json, and the claim.
struct Listed {
  Claim const* claim = nullptr;
  std::optional<std::pair<std::string, std::vector<std::uint64_t>>> control{};  ///< question and values
  std::set<std::string> without_proof{};
  std::vector<std::string> files{};
};

/// Reads claims.json and holds it against the catalogue.
class ClaimList {
 public:
  ClaimList(std::string const& folder, std::vector<Claim> const& catalogue) : folder_(folder) {
    if (!fs::exists(folder + "/claims.json")) refuse("the folder has no claims.json");
    try {
      read(parse_json(read_file(folder + "/claims.json")), catalogue);
    } catch (BadJson const& error) {
      refuse(std::string("claims.json cannot be read: ") + error.what());
    } catch (Json::exception const&) {
      refuse("claims.json cannot be read: a value is missing, or of another type than is written there");
    }
  }
  [[noreturn]] void refuse(std::string const& message) const {
    throw InputError::whole(message, folder_,
                            "certificates are written by: swizproof prove --certificates DIR");
  }
  [[nodiscard]] std::vector<Listed> const& claims() const { return claims_; }
  /// No file of the folder is missing, and none is too many.
  void check_files() const {
    std::set<std::string> listed{"claims.json"};
    for (Listed const& c : claims_) listed.insert(c.files.begin(), c.files.end());
    for (std::string const& name : listed)
      if (!fs::is_regular_file(folder_ + "/" + name)) refuse("a certificate is missing: " + name);
    for (auto const& entry : fs::directory_iterator(folder_))
      if (!listed.contains(entry.path().filename().string()))
        refuse("claims.json does not list a file of the folder: " + entry.path().filename().string());
  }

 private:
  void read(Json const& list, std::vector<Claim> const& catalogue) {
    if (list.at("format") != "swizproof certificates 2") refuse("claims.json has an unknown format");
    std::map<std::string, Claim const*> known;
    for (Claim const& c : catalogue) known[c.name] = &c;
    std::set<std::string> seen;
    for (Json const& entry : list.at("claims")) {
      std::string const name = entry.at("name");
      auto const found = known.find(name);
      if (found == known.end())
        refuse("this program's catalogue has no claim '" + name +
               "' (another version, or built with CUTLASS?)");
      if (!seen.insert(name).second) refuse("claims.json lists a claim twice: " + name);
      Listed listed{found->second, {}, {}, entry.at("files")};
      if (Json const& control = entry.at("control"); !control.is_null())
        listed.control.emplace(control.at("question"), control.at("values"));
      for (std::string const formula : entry.at("without_proof")) listed.without_proof.insert(formula);
      claims_.push_back(std::move(listed));
    }
    if (claims_.empty()) refuse("claims.json lists no claim");
    if (list.at("part").get<bool>()) return;
    for (auto const& [name, claim] : known)
      if (!seen.contains(name)) refuse("claims.json lacks a claim of the catalogue, and is no part: " + name);
  }

  std::string const& folder_;
  std::vector<Listed> claims_{};
};

/// Makes the certificates of a claim once more and holds the folder's against them.
class ClaimCheck {
 public:
  ClaimCheck(ClaimList const& list, Listed const& listed, std::string const& folder)
      : list_(list), listed_(listed), folder_(folder), texts_(*listed.claim) {}

  /// Question to a solver, or a difference.
  std::vector<std::pair<Role, Rechecked>> run() {
    take(Role::claim, texts_.script_name(), texts_.script());
    take_control();
    for (std::size_t part = 0; part < texts_.parts(); ++part) {
      std::string const stem = texts_.part_name(part);
      take(Role::formula, stem + ".cnf", texts_.clauses(part));
      bool const made = listed_.without_proof.contains(stem + ".cnf");
      out_.back().second.made = made;
      if (!made) files_.push_back(stem + ".drat");
    }
    if (files_ != listed_.files) refuse_files();
    return std::move(out_);
  }

 private:
  void take(Role role, std::string const& name, std::string const& text) {
    files_.push_back(name);
    Rechecked r{listed_.claim->name, name};
    std::string const path = folder_ + "/" + name;
    if (fs::is_regular_file(path) && read_file(path) != text) {
      r.result = Result::differs;
      r.detail = "is not what the catalogue says: altered, or written by another version";
    }
    out_.emplace_back(role, std::move(r));
  }
  void take_control() {
    Rechecked r{listed_.claim->name, texts_.control_name()};
    if (!listed_.control) {
      r.detail = "the control was not refuted when this was written";
      out_.emplace_back(Role::control, std::move(r));
      return;
    }
    auto const& [name, values] = *listed_.control;
    for (Question const& q : listed_.claim->control.questions())
      if (q.name == name && violates(q, values))
        return take(Role::control, texts_.control_name(), texts_.control(q, values));
    files_.push_back(texts_.control_name());
    r.result = Result::differs;
    r.detail = "the values in claims.json do not violate a question of the control";
    out_.emplace_back(Role::control, std::move(r));
  }
  [[noreturn]] void refuse_files() const {
    for (std::string const& name : files_)
      if (std::find(listed_.files.begin(), listed_.files.end(), name) == listed_.files.end())
        list_.refuse("claims.json lacks a file of claim " + listed_.claim->name + ": " + name);
    for (std::string const& name : listed_.files)
      if (std::find(files_.begin(), files_.end(), name) == files_.end())
        list_.refuse("claims.json lists a file that claim " + listed_.claim->name +
                     " does not have: " + name);
    list_.refuse("claims.json lists the files of claim " + listed_.claim->name + " in disorder");
  }

  ClaimList const& list_;
  Listed const& listed_;
  std::string const& folder_;
  Texts texts_;
  std::vector<std::string> files_{};
  std::vector<std::pair<Role, Rechecked>> out_{};
};

}  // namespace

Recheck recheck(std::string const& folder, std::vector<Claim> const& catalogue, Solvers const& solvers,
                unsigned jobs, Limits const& limits) {
  ClaimList const list(folder, catalogue);
  Scratch const scratch;
  std::vector<std::vector<std::pair<Role, Rechecked>>> found(list.claims().size());
  in_parallel(found.size(), jobs,
              [&](std::size_t i) { found[i] = ClaimCheck(list, list.claims()[i], folder).run(); });
  list.check_files();
  Recheck out{catalogue.size(), found.size(), {}};
  std::vector<Role> roles;
  std::vector<Claim const*> claims;
  std::vector<std::size_t> order;
  std::vector<std::uintmax_t> size;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (auto& [role, r] : found[i]) {
      bool const asked = r.result == Result::unknown && r.detail.empty();
      if (asked) order.push_back(out.files.size());
      size.push_back(asked ? fs::file_size(folder + "/" + r.file) : 0);
      if (std::string const proof = proof_of(folder + "/" + r.file);
          asked && role == Role::formula && !r.made)
        size.back() += fs::file_size(proof);
      roles.push_back(role);
      claims.push_back(list.claims()[i].claim);
      out.files.push_back(std::move(r));
    }
  // Questions first, then proofs, the largest first: at the end there are many small ones, and no core waits for another.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    bool const a_proof = roles[a] == Role::formula, b_proof = roles[b] == Role::formula;
    return a_proof != b_proof ? b_proof : size[a] > size[b];
  });
  in_parallel(order.size(), jobs, [&](std::size_t i) {
    Rechecked& r = out.files[order[i]];
    std::string const path = folder + "/" + r.file;
    if (roles[order[i]] == Role::formula)
      check_formula(r, path, scratch, limits);
    else
      ask_solver(r, roles[order[i]], *claims[order[i]], path, scratch, solvers, limits);
  });
  return out;
}

}  // namespace swizproof
