#include "race_question.hpp"

#include <swizproof/engine/walk.hpp>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace swizproof::kernel_detail {

namespace {

constexpr std::uint64_t most_solver_steps = 4'000'000;  ///< most steps of one question, by Z3's count

Outcome asked(std::span<Question const> questions) {
  Limits limits;
  limits.steps = most_solver_steps * questions.size();
  limits.seconds = 20;
  return decide_symbolically(questions, limits);
}

/// A formula, and its question unless it is a constant.
struct Asked {
  Asked(RacePair const& fresh, RaceFormula formula) : pair(fresh), build(std::move(formula)) {
    pair.begin(draft, {});
    first = build(pair);
    if (first.id == 0) known = Proved{};
    unknowns = pair.unknowns();
    for (RaceUnknown const& u : unknowns)
      question.variables.push_back({"v" + std::to_string(question.variables.size()), u.bits});
    if (question.variables.empty() && !known) known = first.id == 1 ? Outcome(Refuted{}) : Outcome(Proved{});
    question.on_terms = [this](std::span<Term const> values) {
      pair.begin(*values[0].terms, values);
      return states(!build(pair));
    };
    variables = pair.values();  // of the draft: on numbers more of them would be one
    question.on_numbers = [this](std::span<std::uint64_t const> numbers) {
      std::unordered_map<std::uint32_t, std::uint64_t> values;
      for (std::size_t i = 0; i < variables.size(); ++i) {
        Node const& n = draft.nodes()[variables[i].id];
        values[variables[i].id] = numbers[i];
        if (n.op == Op::zero_extend) values[n.a] = numbers[i];
      }
      return states(number_of(draft, first.id, values) == 0);
    };
  }
  Asked(Asked const&) = delete;
  Asked& operator=(Asked const&) = delete;

  RacePair pair;
  RaceFormula build;
  Terms draft{};
  Formula first = false;
  std::optional<Outcome> known{};
  std::vector<RaceUnknown> unknowns{};
  std::vector<Term> variables{};
  Question question{"no two threads meet", 64, {}, {}, {}, {}};
};

}  // namespace

Outcome never(RacePair const& fresh, RaceFormula const& formula, std::vector<RaceUnknown>& unknowns) {
  Asked one(fresh, formula);
  unknowns = one.unknowns;
  return one.known ? *one.known : asked(std::span(&one.question, 1));
}

bool never_any(RacePair const& fresh, std::vector<RaceFormula> const& formulas) {
  std::vector<std::unique_ptr<Asked>> all;
  std::vector<Question> questions;
  for (RaceFormula const& formula : formulas) {
    auto one = std::make_unique<Asked>(fresh, formula);
    if (one->known && !std::holds_alternative<Proved>(*one->known)) return false;
    if (one->known) continue;
    questions.push_back(one->question);
    all.push_back(std::move(one));
  }
  return questions.empty() || std::holds_alternative<Proved>(asked(questions));
}

}  // namespace swizproof::kernel_detail
