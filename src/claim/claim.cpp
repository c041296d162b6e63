#include <swizproof/claim/claim.hpp>
#include <swizproof/engine/decide.hpp>

#include <chrono>

namespace swizproof {

namespace {

/// Proved if something satisfies the hypothesis of every question.
Outcome find_inhabitants(std::span<Question const> questions, Limits const& limits) {
  for (Question const& q : questions) {
    Answer const answer = decide(hypothesis_of(q), limits, Effort::refute);
    if (answer.proved()) return Unknown{"nothing satisfies the hypothesis of '" + q.name + "'"};
    if (answer.unknown() != nullptr) return answer.outcome;
  }
  return Proved{};
}

}  // namespace

ClaimReport decide(Claim const& claim, Limits const& limits) {
  auto const start = std::chrono::steady_clock::now();
  std::vector<Question> const questions = claim.statement.questions();
  Answer answer = decide(questions, limits, claim.effort);
  ClaimReport report{claim.name, {std::move(answer.outcome)}, std::move(answer.engines), {}, {}};
  if (!report.engines.empty()) report.verdict.engine = report.engines.front();
  Outcome& outcome = report.verdict.outcome;
  report.inhabited = find_inhabitants(questions, limits);
  if (report.verdict.proved() && !std::holds_alternative<Proved>(report.inhabited))
    outcome = report.inhabited;
  report.control = decide(claim.control.questions(), limits, Effort::refute).outcome;
  if (report.verdict.proved() && !std::holds_alternative<Refuted>(report.control))
    outcome = Unknown{"its negative control was not refuted"};
  report.verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace swizproof
