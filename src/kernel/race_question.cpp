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

}  // namespace

/// A formula, and its question unless it is a constant.
struct RaceQuestions::Asked {
  Asked(RaceQuestions const& of, Build built)
      : pair(of.program_, of.flow_, of.execution_, of.params_, of.shapes_, of.uniform_),
        build(std::move(built)) {
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
  Build build;
  Terms draft{};
  Formula first = false;
  std::optional<Outcome> known{};
  std::vector<RaceUnknown> unknowns{};
  std::vector<Term> variables{};
  Question question{"no two threads meet", 64, {}, {}, {}, {}};
};

Outcome RaceQuestions::never(Build const& build, std::vector<RaceUnknown>& unknowns) {
  Asked one(*this, build);
  unknowns = one.unknowns;
  return one.known ? *one.known : asked(std::span(&one.question, 1));
}

bool RaceQuestions::never_any(std::vector<Build> const& builds) {
  std::vector<std::unique_ptr<Asked>> all;
  std::vector<Question> questions;
  for (Build const& build : builds) {
    auto one = std::make_unique<Asked>(*this, build);
    if (one->known && !std::holds_alternative<Proved>(*one->known)) return false;
    if (one->known) continue;
    questions.push_back(one->question);
    all.push_back(std::move(one));
  }
  return questions.empty() || std::holds_alternative<Proved>(asked(questions));
}

}  // namespace swizproof::kernel_detail
