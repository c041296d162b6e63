// A question: "for all values of these variables, does the hypothesis imply the conclusion?"
//
// The statement is one generic lambda. ask() instantiates it for every kind of word, so the engines
// look at one statement (the one formula that has a fast form for numbers beside it is named in
// bank.hpp, and the two are compared by tests):
//
//   Question q = ask("low bits", 64, {{"x", 64}}, [](auto x) {
//     auto const f = Swizzle{3, 4, 3};
//     return claim(((f(x) ^ x) & like(x, 15)) == like(x, 0));
//   });
//
// decide_* run one engine each and say nothing where that engine is not exact. decide() picks.
#pragma once

#include <swizproof/affine.hpp>
#include <swizproof/term.hpp>
#include <swizproof/verdict.hpp>

#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace swizproof {

/// "hypothesis implies conclusion", in truths of one kind.
template <class Truth>
struct Implication {
  Truth hypothesis;
  Truth conclusion;
};

/// The implication without a hypothesis.
template <class Truth>
[[nodiscard]] Implication<Truth> claim(Truth conclusion) {
  return {Truth(true), conclusion};
}

/// `hypothesis` implies `conclusion`.
template <class Truth>
[[nodiscard]] Implication<Truth> claim(Truth hypothesis, Truth conclusion) {
  return {hypothesis, conclusion};
}

/// A quantified variable: all values of `bits` bits, zero-extended to the question's width.
struct Variable {
  std::string name;
  unsigned bits;
  friend bool operator==(Variable const&, Variable const&) = default;
};

/// A statement about all values of its variables, ready for every engine.
struct Question {
  std::string name;
  unsigned width = 64;  ///< of all its words: 32 or 64
  std::vector<Variable> variables{};
  std::function<Implication<bool>(std::span<std::uint64_t const>)> on_numbers{};
  std::function<Implication<Formula>(std::span<Term const>)> on_terms{};
  std::function<Implication<AffineTruth>(std::span<Affine const>)> on_affine{};
};

namespace detail {

template <class W, class V, class Statement, std::size_t... I>
auto call(Statement const& statement, std::span<V const> values, std::index_sequence<I...>) {
  return statement(static_cast<W>(values[I])...);
}

}  // namespace detail

/// Makes a question of a generic lambda that takes one word for each variable and returns claim().
/// Throws std::invalid_argument unless width is 32 or 64 and each variable has 1..width bits.
template <std::size_t N, class Statement>
[[nodiscard]] Question ask(std::string name, unsigned width, Variable const (&variables)[N],
                           Statement statement) {
  using All = std::make_index_sequence<N>;
  if (width != 32 && width != 64) throw std::invalid_argument(name + ": words have 32 or 64 bits");
  for (Variable const& v : variables)
    if (v.bits < 1 || v.bits > width)
      throw std::invalid_argument(name + ": variable " + v.name + " does not fit the word");
  Question q;
  q.name = std::move(name);
  q.width = width;
  q.variables.assign(variables, variables + N);
  q.on_numbers = [statement, width](std::span<std::uint64_t const> values) -> Implication<bool> {
    if (width == 32) return detail::call<std::uint32_t>(statement, values, All{});
    return detail::call<std::uint64_t>(statement, values, All{});
  };
  q.on_terms = [statement](std::span<Term const> values) -> Implication<Formula> {
    return detail::call<Term>(statement, values, All{});
  };
  q.on_affine = [statement](std::span<Affine const> values) -> Implication<AffineTruth> {
    return detail::call<Affine>(statement, values, All{});
  };
  return q;
}

/// Limits of one solver query. A limit that is reached gives Unknown with its name, never a wait.
struct Limits {
  double seconds = 30;
  unsigned megabytes = 900;  ///< of this query, whatever else the process does: see decide_symbolically()
  unsigned seed = 0;
  unsigned threads = 1;     ///< that one decision over many questions may use
  std::uint64_t steps = 0;  ///< by Z3's own count of its work (`rlimit`): equal on all machines; 0: no limit
};

/// By enumerating all values; nothing if there are more than 2^`bits` of them. A counterexample is
/// the first in lexicographic order of the variables.
[[nodiscard]] std::optional<Outcome> decide_exhaustively(Question const& q, unsigned bits = 20);

/// By linear algebra over GF(2); nothing if the statement is not affine in its variables.
[[nodiscard]] std::optional<Outcome> decide_linearly(Question const& q);

/// By SMT, all questions at once: Proved if all hold, else a counterexample of one, replayed. The limit of memory is the
/// query's own: one that reaches it while others run in this process is asked once more when they have ended, alone and with
/// its whole time. Throws Disagreement, and std::logic_error for a graph that Z3 refuses. Checked by tests/unit/smt_test.cpp.
[[nodiscard]] Outcome decide_symbolically(std::span<Question const> questions, Limits const& limits);

/// A counterexample among the 2^`budget` smallest values of the variables, if there is one: finds the
/// simplest counterexample of a false statement quickly and says nothing of a true one.
[[nodiscard]] std::optional<Refuted> search_counterexample(Question const& q, unsigned budget = 14);

/// The same question with the conclusion "false": refuted iff something satisfies the hypothesis. A
/// question whose hypothesis nothing satisfies proves nothing.
[[nodiscard]] Question hypothesis_of(Question const& q);

/// Two engines gave two answers, or a solver's model does not replay: always a bug, exit code 4.
struct Disagreement {
  std::string message;
};

}  // namespace swizproof
