// A question: "for all values of these variables, does the hypothesis imply the conclusion?"
//
// The statement is one generic lambda. ask() instantiates it for every kind of word, so the engines
// look at one statement (one formula has a second, fast form for numbers: bank.hpp names it, and
// tests compare the two):
//
//   Question q = ask("low bits", 64, {{"x", 64}}, [](auto x) {
//     auto const f = Swizzle{3, 4, 3};
//     return states(((f(x) ^ x) & 15) == 0);
//   });
//
// decide() answers it (decide.hpp).
#pragma once

#include <swizproof/core/variable.hpp>
#include <swizproof/engine/affine.hpp>
#include <swizproof/engine/term.hpp>

#include <functional>
#include <span>
#include <stdexcept>
#include <stop_token>
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
[[nodiscard]] Implication<Truth> states(Truth conclusion) {
  return {Truth(true), conclusion};
}

/// `hypothesis` implies `conclusion`.
template <class Truth>
[[nodiscard]] Implication<Truth> states(Truth hypothesis, Truth conclusion) {
  return {hypothesis, conclusion};
}

/// A statement about all values of its variables, ready for every engine. The functions take the *numbers* of the
/// values, below 2^bits each; Variable::value() gives the values.
struct Question {
  std::string name{};
  unsigned width = 64;  ///< width of all its words: 32 or 64
  std::vector<Variable> variables{};
  std::function<Implication<bool>(std::span<std::uint64_t const>)> on_numbers{};
  std::function<Implication<Formula>(std::span<Term const>)> on_terms{};
  std::function<Implication<AffineTruth>(std::span<Affine const>)> on_affine{};
};

namespace detail {

/// The statement about the values that these numbers stand for; nothing is claimed of numbers that stand for none.
template <class W, class V, class Statement>
[[nodiscard]] Implication<truth_of<W>> state(Statement const& statement,
                                             std::vector<Variable> const& variables,
                                             std::span<V const> numbers) {
  std::vector<W> values;
  values.reserve(numbers.size());
  truth_of<W> among = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    auto const number = static_cast<W>(numbers[i]);
    if (variables[i].bounded()) among = among && number < variables[i].count;
    values.push_back(variables[i].value(number));
  }
  Implication<truth_of<W>> const said = statement(std::span<W const>(values));
  return {among && said.hypothesis, said.conclusion};
}

template <class W, class Statement, std::size_t... I>
auto spread(Statement const& statement, std::span<W const> values, std::index_sequence<I...>) {
  return statement(W(values[I])...);
}

}  // namespace detail

/// Makes a question of a generic lambda that takes all values as a std::span and returns states().
/// Throws std::invalid_argument unless width is 32 or 64 and each variable has 1..width bits.
template <class Statement>
[[nodiscard]] Question ask_of_all(std::string name, unsigned width, std::vector<Variable> variables,
                                  Statement statement) {
  if (width != 32 && width != 64) throw std::invalid_argument(name + ": words have 32 or 64 bits");
  for (Variable const& v : variables)
    if (v.bits < 1 || v.bits > width || (v.bits < 64 && v.count > std::uint64_t{1} << v.bits))
      throw std::invalid_argument(name + ": variable " + v.name + " does not fit the word");
  Question q{std::move(name), width, variables, {}, {}, {}};
  q.on_numbers = [=](std::span<std::uint64_t const> numbers) -> Implication<bool> {
    if (width == 32) return detail::state<std::uint32_t>(statement, variables, numbers);
    return detail::state<std::uint64_t>(statement, variables, numbers);
  };
  q.on_terms = [=](std::span<Term const> numbers) {
    return detail::state<Term>(statement, variables, numbers);
  };
  q.on_affine = [=](std::span<Affine const> numbers) {
    return detail::state<Affine>(statement, variables, numbers);
  };
  return q;
}

/// The same of a lambda that takes one word for each variable.
template <std::size_t N, class Statement>
[[nodiscard]] Question ask(std::string name, unsigned width, Variable const (&variables)[N],
                           Statement statement) {
  return ask_of_all(std::move(name), width, std::vector<Variable>(variables, variables + N),
                    [statement]<class W>(std::span<W const> values) {
                      return detail::spread(statement, values, std::make_index_sequence<N>{});
                    });
}

/// Limits of one solver query. A limit that is reached gives Unknown with its name, never a wait.
struct Limits {
  double seconds = 30;       ///< limit of CPU time, for each thread that works on a query
  unsigned megabytes = 900;  ///< limit of memory for one query: see smt.cpp
  unsigned seed = 0;
  unsigned threads = 1;  ///< most threads for one decision over many questions
  std::uint64_t steps =
      0;                   ///< limit in Z3's own units of work (`rlimit`), equal on all machines; 0: no limit
  std::stop_token stop{};  ///< cancellation: the query ends soon, as Unknown{"stopped"}
};

/// The same question with the conclusion "false": refuted iff something satisfies the hypothesis. A
/// question whose hypothesis nothing satisfies proves nothing.
[[nodiscard]] Question hypothesis_of(Question const& q);

}  // namespace swizproof
