// Engines that decide a question, their order, and what counts as an answer.
//
//   exhaustive   every value of a finite domain                      exact up to 2^20 cases
//   linear       linear algebra over GF(2)                           exact where everything is affine in the bits
//   search       the smallest values                                 finds counterexamples, proves nothing
//   smt          bit vectors, by Z3                                  exact, within its limits
//
// An engine's counterexample counts once the statement, run on plain numbers, has failed there; two engines that
// contradict each other end the program. Both happen in decide.cpp and nowhere else. A new engine is a file in
// src/engine and a line in the table at its top.
#pragma once

#include <swizproof/core/error.hpp>
#include <swizproof/engine/question.hpp>
#include <swizproof/engine/verdict.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// Number of engines that have to agree.
enum class Effort : std::uint8_t {
  one,  ///< the cheapest that decides
  two,  ///< and another cheap one, if that is exact too; a solver, within the limits of a second opinion, after algebra alone: where
        ///< every case was tried on plain numbers, or a counterexample replayed, it is not worth its time
  all,  ///< every one that is exact for it
  refute,  ///< the simplest counterexample that is quickly found; else as `one`
};

/// Result of the engines, all of them in agreement.
struct Answer {
  Outcome outcome{};
  std::vector<Engine> engines{};  ///< engines that decided it, in the order smt, search, linear, exhaustive

  [[nodiscard]] bool proved() const { return std::holds_alternative<Proved>(outcome); }
  [[nodiscard]] Refuted const* refuted() const { return std::get_if<Refuted>(&outcome); }
  [[nodiscard]] Unknown const* unknown() const { return std::get_if<Unknown>(&outcome); }
};

/// Decides whether all questions hold. Refuted names one that does not. Throws Disagreement, and std::logic_error for
/// a statement that the solver cannot read. Checked by tests/unit/engine/decide_test.cpp.
[[nodiscard]] Answer decide(std::span<Question const> questions, Limits const& limits, Effort effort);
[[nodiscard]] Answer decide(Question const& question, Limits const& limits, Effort effort = Effort::one);

/// Checks an answer of `said_by` with the other cheap engines. Returns the first that decides the question, or nothing.
/// Throws Disagreement.
[[nodiscard]] std::optional<Engine> confirm(Question const& question, Engine said_by, Outcome const& said);

/// Two engines' results in words. Throws Disagreement unless they are the same.
void must_agree(std::string_view what, Engine a, std::string_view a_says, Engine b, std::string_view b_says);

// ------------------------------------------------------- one engine alone: for the tests of engines, and for benchmarks

/// Decides by enumerating all values; nothing if there are more than 2^`bits` of them. A counterexample is
/// the first in lexicographic order of the variables.
[[nodiscard]] std::optional<Outcome> decide_exhaustively(Question const& q, unsigned bits = 20);

/// Decides by linear algebra over GF(2); nothing if the statement is not affine in its variables.
[[nodiscard]] std::optional<Outcome> decide_linearly(Question const& q);

/// Decides all questions at once by SMT: Proved if all hold, else a counterexample of one. Each query has its own memory
/// limit. A query that reaches it while others run in this process runs once more after they have ended, alone and with
/// its whole time. Checked by tests/unit/engine/smt_test.cpp.
[[nodiscard]] Outcome decide_symbolically(std::span<Question const> questions, Limits const& limits);

/// A counterexample among the 2^`budget` smallest values of the variables, if there is one: finds the
/// simplest counterexample of a false statement quickly and says nothing of a true one.
[[nodiscard]] std::optional<Refuted> search_counterexample(Question const& q, unsigned budget = 14);

}  // namespace swizproof
