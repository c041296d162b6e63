#include <swizproof/claim.hpp>

#include <chrono>

namespace swizproof {

namespace {

/// The verdict of an engine that decides one question at a time, on all questions; nothing if one of
/// them is not its kind, or there are none.
template <class Decide>
std::optional<Outcome> decide_each(std::span<Question const> questions, Decide const& decide_one) {
  if (questions.empty()) return std::nullopt;
  for (Question const& q : questions) {
    std::optional<Outcome> outcome = decide_one(q);
    if (!outcome || std::holds_alternative<Refuted>(*outcome)) return outcome;
  }
  return Proved{};
}

void must_agree(Claim const& claim, Engine first, Outcome const& a, Engine second, Outcome const& b) {
  if (std::holds_alternative<Unknown>(a) || std::holds_alternative<Unknown>(b)) return;
  if (a.index() != b.index())
    throw Disagreement{claim.name + ": " + std::string(name(first)) + " says " + std::string(word(a)) + ", " +
                       std::string(name(second)) + " says " + std::string(word(b))};
}

/// Refutes a control, with the simplest counterexample that is quickly found.
Outcome refute(Statement const& control, Limits const& limits) {
  std::vector<Question> const questions = control.questions();
  for (Question const& q : questions)
    if (auto refuted = search_counterexample(q)) return *std::move(refuted);
  return decide_symbolically(questions, limits);
}

/// Proved if something satisfies the hypothesis of every question.
Outcome find_inhabitants(std::span<Question const> questions, Limits const& limits) {
  for (Question const& q : questions) {
    Question const hypothesis = hypothesis_of(q);
    if (search_counterexample(hypothesis)) continue;
    Outcome const outcome = decide_symbolically(std::span(&hypothesis, 1), limits);
    if (std::holds_alternative<Proved>(outcome))
      return Unknown{"nothing satisfies the hypothesis of '" + q.name + "'"};
    if (std::holds_alternative<Unknown>(outcome)) return outcome;
  }
  return Proved{};
}

}  // namespace

ClaimReport decide(Claim const& claim, Limits const& limits) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<Question> const questions = claim.statement.questions();
  ClaimReport report{claim.name, {}, {}, {}, {}};
  Outcome& outcome = report.verdict.outcome;
  outcome = decide_symbolically(questions, limits);
  if (!report.verdict.unknown()) report.engines.push_back(Engine::smt);
  auto const second_opinion = [&](Engine engine, std::optional<Outcome> const& other) {
    if (!other) return;
    must_agree(claim, Engine::smt, outcome, engine, *other);
    report.engines.push_back(engine);
    if (report.verdict.unknown()) outcome = *other, report.verdict.engine = engine;
  };
  second_opinion(Engine::linear, decide_each(questions, decide_linearly));
  second_opinion(Engine::exhaustive,
                 decide_each(questions, [](Question const& q) { return decide_exhaustively(q); }));
  report.inhabited = find_inhabitants(questions, limits);
  if (report.verdict.proved() && !std::holds_alternative<Proved>(report.inhabited))
    outcome = report.inhabited;
  report.control = refute(claim.control, limits);
  if (report.verdict.proved() && !std::holds_alternative<Refuted>(report.control))
    outcome = Unknown{"its negative control was not refuted"};
  report.verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace swizproof
