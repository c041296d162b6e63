// Query for every solver: is there a counterexample to one of these questions?
#pragma once

#include <swizproof/engine/question.hpp>

#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// The negations of questions as one graph. Questions share variables, since each may be
/// violated on its own.
struct Violations {
  explicit Violations(std::span<Question const> questions) {
    for (Question const& q : questions) {
      unknowns.emplace_back();
      for (std::size_t i = 0; i < q.variables.size(); ++i)
        unknowns.back().push_back(unknown(q.width, i, q.variables[i]));
      auto const [hypothesis, conclusion] = q.on_terms(unknowns.back());
      formulas.push_back(hypothesis && !conclusion);
    }
  }
  Violations(Violations const&) = delete;
  Violations& operator=(Violations const&) = delete;

  Terms terms{};
  std::vector<std::vector<Term>> unknowns{};  ///< of each question
  std::vector<Formula> formulas{};            ///< hypothesis and not conclusion, of each question

 private:
  struct Known {
    unsigned width;
    std::size_t place;  ///< in its question: one question may have two variables of one name
    Variable variable;
    Term term;
  };
  Term unknown(unsigned width, std::size_t place, Variable const& v) {
    for (Known const& k : known_)
      if (k.width == width && k.place == place && k.variable == v) return k.term;
    std::string name = v.name;  // unique, and what may stand between bars, for those who print it
    std::erase_if(name, [](char c) { return c == '|' || c == '\\'; });
    for (Known const& k : known_)
      if (k.variable.name == v.name) name += "'";
    known_.push_back({width, place, v, terms.variable(width, v.bits, name)});
    return known_.back().term;
  }
  std::vector<Known> known_{};
};

}  // namespace swizproof
