// Certificates: what others need to check a claim without trusting this program.
//
//   NAME.smt2           "is some question of the claim violated?"; any SMT solver answers unsat
//   NAME.control.smt2   the negative control with its counterexample put in; any SMT solver answers sat
//   NAME.001.cnf        the same question as the .smt2 file as clauses (in parts, where it is about many swizzles)
//   NAME.001.drat       CaDiCaL's proof that the clauses contradict each other; rup.cpp checks it
//   claims.json         which claims of how large a catalogue, the counterexample of each control, and all files
//
// A claim is defined by the catalogue of the program that rechecks, and by nothing else: scripts and clauses are made of it once
// more and compared byte by byte, and which answer a file must have follows from its role. The folder contributes proofs,
// counterexamples (which are replayed), and which claims it is about.
#pragma once

#include <swizproof/claim/claim.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace swizproof {

/// Writes the certificates of one claim after the other into a folder, and claims.json at the end.
class CertificateWriter {
 public:
  /// Makes the folder, which must not be there or be empty; `catalogue` is how many claims there are, chosen or not.
  /// Throws InputError.
  CertificateWriter(std::string folder, std::size_t catalogue);
  /// Writes what belongs to a claim; CaDiCaL's proofs too, if it is installed. May be called from several threads.
  /// Throws InputError.
  void add(Claim const& claim, ClaimReport const& report, Limits const& limits);
  /// Writes claims.json. Returns how many files there are, for the message.
  std::size_t finish();
  [[nodiscard]] bool with_proofs() const { return with_proofs_; }

 private:
  /// Entry of a claim in claims.json.
  struct Entry {
    std::string claim;
    std::string
        question;  ///< question of the control that the counterexample violates; empty: it was not refuted
    std::vector<std::uint64_t> values;       ///< values of that question's variables
    std::vector<std::string> files;          ///< files in the order of the head of this header
    std::vector<std::string> without_proof;  ///< formulas that CaDiCaL did not refute, or was not there for
  };
  void write(Entry& entry, std::string const& name, std::string const& text);

  std::string folder_;
  std::size_t catalogue_;
  std::vector<Entry> entries_{};
  std::mutex mutex_{};
  bool with_proofs_;
};

/// The result of one file.
struct Rechecked {
  std::string claim{};
  std::string file{};
  std::string solver{};  ///< solver that checked a script
  /// `differs`: it is not what the catalogue says that it is.
  enum class Result : std::uint8_t { agrees, disagrees, differs, unknown } result = Result::unknown;
  std::string detail{};    ///< "cvc5: unsat", "68753 lemmas"
  std::size_t lemmas = 0;  ///< lemmas of a proof
  bool made = false;       ///< the proof is not in the folder, and CaDiCaL made it anew
};

/// The result of a folder.
struct Recheck {
  std::size_t catalogue = 0;  ///< claims that this program has
  std::size_t claims = 0;     ///< claims that the folder holds, among them
  std::vector<Rechecked> files{};
};

/// Solvers of scripts: "cvc5", "bitwuzla" or "boolector", or the path of such a program. Each certificate is checked by one of
/// them; neither shares code with Z3 or with this program.
struct Solvers {
  std::string
      of_bits{};  ///< about claims that mask, exclusive-or, and shift by a variable: cvc5 is faster there
  std::string of_numbers{};  ///< about claims that add, multiply or compare, and about controls: boolector is
};

/// Makes the scripts and clauses of the folder's claims once more and compares, asks a solver about every script, and checks the proof of every formula, making it with CaDiCaL where the folder says
/// that it has none. `jobs` at a time, each within `limits`. Throws InputError where the folder holds no certificates,
/// lists other claims than `catalogue`, lacks one without saying that it is a part, or lists other files than these
/// claims have, or where a file is missing or not listed. Checked by tests/program/recheck, which alters certificates in every
/// such way.
[[nodiscard]] Recheck recheck(std::string const& folder, std::vector<Claim> const& catalogue,
                              Solvers const& solvers, unsigned jobs, Limits const& limits);

}  // namespace swizproof
