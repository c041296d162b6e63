// A claim: a statement, the domain it quantifies over, where it comes from, and its negative control.
//
// The control is a neighbouring statement with the thing that makes the claim true removed. It must
// be refuted, by a counterexample that replays on plain numbers; a claim whose control is not
// refuted, or whose hypothesis nothing satisfies, is not proved. `proofs/` holds the claims.
#pragma once

#include <swizproof/engine/decide.hpp>
#include <swizproof/engine/question.hpp>
#include <swizproof/engine/verdict.hpp>

#include <functional>
#include <string>
#include <vector>

namespace swizproof {

/// A sentence, and the questions that all hold iff the sentence is true. Questions are made when the
/// statement is decided: the catalogue itself costs nothing.
struct Statement {
  std::string text;
  std::function<std::vector<Question>()> questions;
};

/// Position of a claim about wavefronts in their table.
struct TableCell {
  std::string access;
  unsigned pitch;       ///< bytes from row to row
  std::string swizzle;  ///< swizzle on byte addresses
  unsigned wavefronts;  ///< the most that any origin costs
  unsigned ideal;       ///< the least that the instruction can cost for the bytes it moves
};

/// One line of the catalogue.
struct Claim {
  std::string name;  ///< stable, what --only matches: "involution/every swizzle"
  Statement statement;
  std::string domain;  ///< the set that the statement quantifies over, in words
  std::string source;  ///< origin of the statement, or the assumption that it rests on
  Statement control;   ///< must be refuted
  std::optional<TableCell> cell{};
  /// `one` where the solver proves more than this claim says, in another claim, and algebra suffices for this one; or where all
  /// cases are tried.
  Effort effort = Effort::all;
};

/// The report on a claim.
struct ClaimReport {
  std::string name;
  Verdict verdict;              ///< Proved only if the control is refuted and no hypothesis is empty
  std::vector<Engine> engines;  ///< all that decided it; they agree
  Outcome control;              ///< Refuted, or the claim is not proved
  Outcome inhabited;            ///< Proved: something satisfies each hypothesis; or the claim is not proved
};

/// Decides a claim, with its effort: usually by SMT, and by every cheaper engine that is exact for it. Engines that
/// contradict each other throw Disagreement.
[[nodiscard]] ClaimReport decide(Claim const& claim, Limits const& limits);

}  // namespace swizproof
