// A checker of unsatisfiability proofs: the part of swizproof that must be believed last.
//
// A solver that answers "unsatisfiable" can write down the clauses that it learned. Each must follow from
// those before it by reverse unit propagation (RUP): set all its literals to false, then set what clauses
// with a single literal left force, again and again; this must lead to a clause that is false. If the
// empty clause is learned that way, no assignment satisfies the formula, however the solver found
// the proof. The checker depends on no swizzle, term or solver; all of it is in rup.cpp, about 200 lines.
//
//   p cnf 2 4          the formula: (1 or 2) and (-1 or 2) and (1 or -2) and (-1 or -2)
//   2 0                learned: if 2 is false, 1 and -1 are forced
//   0                  learned: the empty clause
//
// The DRAT format's deletions are honoured (`d 2 1 0`); its RAT steps are refused as not following.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace swizproof {

/// The result of checking a proof. `valid` only if the empty clause was learned by steps that follow.
struct ProofCheck {
  bool valid = false;
  std::string reason{};    ///< reason of a refusal, with the line
  std::size_t lemmas = 0;  ///< learned clauses that were checked
};

/// Checks `proof` (DRAT, textual) of the formula `dimacs`. Text that is neither is not valid; nothing is
/// thrown, and no input makes it run out of its arrays. Checked by tests/unit/certificate/rup_test.cpp.
[[nodiscard]] ProofCheck check_proof(std::string_view dimacs, std::string_view proof);

}  // namespace swizproof
