// The only place that replays counterexamples; must_agree() is the only one that throws Disagreement.
#include <swizproof/engine/decide.hpp>

#include "engine/engines.hpp"

#include <algorithm>

namespace swizproof {

namespace {

constexpr unsigned most_exhausted = 20;  ///< log2 of the most cases that are enumerated with Effort::all
constexpr unsigned soon_exhausted = 16;  ///< the same with less effort: another engine may be cheaper
constexpr unsigned glanced_at = 10;      ///< log2 of the cases tried first with Effort::all
constexpr unsigned soon_searched = 12;   ///< log2 of the cases tried before a solver runs
constexpr unsigned most_searched =
    14;  ///< log2 of the cases tried for a question that is, or should be, refuted
constexpr double second_opinion_seconds = 10;

/// Limit of a second opinion: a solver gives it after algebra.
Limits second_opinion(Limits limits) {
  constexpr std::uint64_t most_steps = 40'000;
  limits.seconds = std::min(limits.seconds, second_opinion_seconds);
  limits.steps = limits.steps == 0 ? most_steps : std::min(limits.steps, most_steps);
  return limits;
}

/// A candidate that fails on plain numbers, with the values that its numbers stand for.
std::optional<Refuted> replay(std::span<Question const> questions, engine::Candidate const& candidate) {
  Question const& q = questions[candidate.question];
  auto const [hypothesis, conclusion] = q.on_numbers(candidate.numbers);
  if (!hypothesis || conclusion) return std::nullopt;
  Refuted refuted{q.name, {}};
  for (std::size_t i = 0; i < candidate.numbers.size(); ++i)
    refuted.values.emplace_back(q.variables[i].name, q.variables[i].value(candidate.numbers[i]));
  return refuted;
}

/// Result of an engine, as a verdict.
Outcome outcome_of(Engine engine, std::span<Question const> questions, engine::Finding const& finding) {
  if (auto const* unknown = std::get_if<Unknown>(&finding)) return *unknown;
  if (std::holds_alternative<Proved>(finding)) return Proved{};
  for (engine::Candidate const& candidate : std::get<std::vector<engine::Candidate>>(finding))
    if (auto refuted = replay(questions, candidate)) return *std::move(refuted);
  must_agree(questions.front().name, engine, "refuted", Engine::exhaustive,
             "that its counterexample is none");
  return Unknown{"not replayed"};
}

/// The outcome of an engine that takes one question at a time; nothing if one of them is not its kind.
template <class Find>
std::optional<Outcome> one_by_one(Engine engine, std::span<Question const> questions, Find const& find) {
  if (questions.empty()) return std::nullopt;
  for (Question const& q : questions) {
    std::optional<engine::Finding> const found = find(q);
    if (!found) return std::nullopt;
    Outcome outcome = outcome_of(engine, std::span(&q, 1), *found);
    if (!std::holds_alternative<Proved>(outcome)) return outcome;
  }
  return Proved{};
}

using Questions = std::span<Question const>;

std::optional<Outcome> exhaustive(Questions questions, Limits const& limits, Effort effort) {
  unsigned const bits = effort == Effort::all ? most_exhausted : soon_exhausted;
  return one_by_one(Engine::exhaustive, questions,
                    [&](Question const& q) { return engine::exhaustive(q, bits, limits.seconds); });
}
std::optional<Outcome> linear(Questions questions, Limits const&, Effort) {
  return one_by_one(Engine::linear, questions, engine::linear);
}
std::optional<Outcome> smt(Questions questions, Limits const& limits, Effort) {
  return outcome_of(Engine::smt, questions, engine::smt(questions, limits));
}

/// An engine that is exact: nothing where a question is not its kind.
struct Exact {
  Engine engine;
  bool is_cheap;  ///< asked without a thought; the others only where these do not suffice
  std::optional<Outcome> (*decide)(Questions, Limits const&, Effort);
};
constexpr Exact engines[] = {
    {Engine::exhaustive, true, exhaustive},
    {Engine::linear, true, linear},
    {Engine::smt, false, smt},
};

/// Collects what engines say of one matter.
class Opinions {
 public:
  explicit Opinions(std::string_view what) : what_(what) {}

  void take(Engine engine, Outcome const& outcome) {
    if (std::holds_alternative<Unknown>(outcome)) {
      if (answer_.engines.empty()) answer_.outcome = outcome;
      return;
    }
    if (answer_.engines.empty())
      answer_.outcome = outcome;
    else
      must_agree(what_, answer_.engines.front(), name(answer_.outcome), engine, name(outcome));
    answer_.engines.push_back(engine);
  }
  /// The same outcome, with a counterexample that is simpler than the first.
  void prefer(Engine engine, Refuted refuted) {
    answer_.outcome = std::move(refuted);
    answer_.engines.push_back(engine);
  }
  [[nodiscard]] bool has(Engine engine) const {
    return std::find(answer_.engines.begin(), answer_.engines.end(), engine) != answer_.engines.end();
  }
  [[nodiscard]] bool known() const { return !answer_.engines.empty(); }
  [[nodiscard]] std::size_t count() const { return answer_.engines.size(); }
  [[nodiscard]] bool refuted() const { return answer_.refuted() != nullptr; }
  /// The answer, its engines in the order in which they are printed.
  [[nodiscard]] Answer answer() && {
    std::sort(answer_.engines.begin(), answer_.engines.end(), std::greater<>{});
    return std::move(answer_);
  }

 private:
  std::string_view what_;
  Answer answer_{};
};

/// The simplest counterexample to one of the questions: first among few small numbers of each, then among more.
std::optional<Refuted> simplest(Questions questions, unsigned budget) {
  for (unsigned tried = 3 + budget % 3; tried <= budget; tried += 3)
    for (Question const& q : questions)
      if (auto refuted = search_counterexample(q, tried)) return refuted;
  return std::nullopt;
}

}  // namespace

void must_agree(std::string_view what, Engine a, std::string_view a_says, Engine b, std::string_view b_says) {
  if (a_says == b_says) return;
  throw Disagreement(std::string(what) + ": " + std::string(name(a)) + " says " + std::string(a_says) + ", " +
                     std::string(name(b)) + " says " + std::string(b_says));
}

Answer decide(std::span<Question const> questions, Limits const& limits, Effort effort) {
  if (questions.empty()) return {Unknown{"no question was asked"}, {}};
  Opinions opinions(questions.front().name);
  bool const every = effort == Effort::all;
  // For a family, which is stated since it is true, the simplest counterexample is not worth its time.
  bool const searches = effort == Effort::refute || (every && questions.size() == 1);
  if (searches)
    if (auto refuted = simplest(questions, every ? glanced_at : most_searched))
      opinions.take(Engine::search, *refuted);
  std::size_t const wanted = effort == Effort::two ? 2 : 1;
  for (Exact const& exact : engines) {
    bool const enough = opinions.count() >= wanted ||
                        (!exact.is_cheap && (opinions.refuted() || opinions.has(Engine::exhaustive)));
    if (enough && !every) break;
    Limits its = limits;
    if (!exact.is_cheap && !every) {
      if (!opinions.known() && effort != Effort::refute)  // which has searched already, and further
        if (auto refuted = simplest(questions, soon_searched)) {
          opinions.take(Engine::search, *refuted);
          break;
        }
      if (opinions.known()) its = second_opinion(limits);
    }
    if (auto const outcome = exact.decide(questions, its, effort)) opinions.take(exact.engine, *outcome);
  }
  if (searches && every && opinions.refuted() && !opinions.has(Engine::search))
    if (auto refuted = simplest(questions, most_searched))
      opinions.prefer(Engine::search, *std::move(refuted));
  return std::move(opinions).answer();
}

Answer decide(Question const& question, Limits const& limits, Effort effort) {
  return decide(std::span(&question, 1), limits, effort);
}

std::optional<Engine> confirm(Question const& question, Engine said_by, Outcome const& said) {
  for (Exact const& exact : engines) {
    if (exact.engine == said_by || !exact.is_cheap) continue;
    auto const outcome = exact.decide(std::span(&question, 1), {}, Effort::two);
    if (!outcome || std::holds_alternative<Unknown>(*outcome)) continue;
    must_agree(question.name, said_by, name(said), exact.engine, name(*outcome));
    return exact.engine;
  }
  return std::nullopt;
}

std::optional<Outcome> decide_exhaustively(Question const& q, unsigned bits) {
  return one_by_one(Engine::exhaustive, std::span(&q, 1),
                    [bits](Question const& one) { return engine::exhaustive(one, bits, 1e9); });
}

std::optional<Outcome> decide_linearly(Question const& q) {
  return linear(std::span(&q, 1), {}, Effort::one);
}

Outcome decide_symbolically(std::span<Question const> questions, Limits const& limits) {
  if (questions.empty()) return Unknown{"no question was asked"};
  return *smt(questions, limits, Effort::one);
}

std::optional<Refuted> search_counterexample(Question const& q, unsigned budget) {
  auto const candidate = engine::search(q, budget);
  if (!candidate) return std::nullopt;
  auto refuted = replay(std::span(&q, 1), *candidate);
  if (refuted) refuted->simplest = true;
  return refuted;
}

}  // namespace swizproof
