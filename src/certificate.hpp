// Certificates: what others need to check a claim without trusting this program.
//
//   NAME.smt2           "is some question of the claim violated?"; any SMT solver answers unsat
//   NAME.control.smt2   the negative control with its counterexample put in; any SMT solver answers sat
//   NAME.001.cnf        the same question as the .smt2 file as clauses (in parts, where it is about many swizzles)
//   NAME.001.drat       CaDiCaL's proof that the clauses contradict each other; rup.cpp checks it
//   claims.json         which files belong to which claim, so that a missing one is noticed
#pragma once

#include <swizproof/claim.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace swizproof {

/// Writes the certificates of one claim after the other into a folder, and claims.json at the end.
class CertificateWriter {
 public:
  /// Makes the folder, which must not be there or be empty. Throws InputError.
  explicit CertificateWriter(std::string folder);
  /// Writes what belongs to a claim; CaDiCaL's proofs too, if it is installed. May be called from several threads.
  /// Throws InputError.
  void add(Claim const& claim, ClaimReport const& report, Limits const& limits);
  /// Writes claims.json. Returns how many files there are, for the message.
  std::size_t finish();
  [[nodiscard]] bool with_proofs() const { return with_proofs_; }

 private:
  struct Entry {
    std::string claim;
    std::vector<std::string> files;
  };
  void write(Entry& entry, std::string const& name, std::string const& text);

  std::string folder_;
  std::vector<Entry> entries_{};
  std::mutex mutex_{};
  bool with_proofs_;
};

/// What came of one certificate.
struct Rechecked {
  std::string claim{};
  std::string file{};
  enum class Result : std::uint8_t { agrees, disagrees, unknown } result = Result::unknown;
  std::string detail{};    ///< "cvc5: unsat", "68753 lemmas"
  std::size_t lemmas = 0;  ///< of a proof
};

/// Asks `solver` ("cvc5", "bitwuzla", "boolector") about every .smt2 file of a folder, and checks the proof of every
/// .cnf file, making it with CaDiCaL where it is missing. `jobs` at a time, each within `limits`. Throws InputError
/// where the folder holds no certificates, or a file is missing.
[[nodiscard]] std::vector<Rechecked> recheck(std::string const& folder, std::string const& solver,
                                             unsigned jobs, Limits const& limits);

}  // namespace swizproof
