#include <swizproof/engine/decide.hpp>
#include <swizproof/core/swizzle.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Question keep_low_bits(unsigned kept, unsigned bits) {
  return ask("low bits", 64, {{"x", bits}},
             [kept](auto x) { return states(((swizzle_128B(x) ^ x) & ((1ULL << kept) - 1)) == 0); });
}

Question sum_commutes(unsigned step, unsigned bits) {
  return ask("step", 64, {{"x", bits}},
             [step](auto x) { return states(swizzle_128B(x + step) == swizzle_128B(x) + step); });
}

TEST(Engines, AllProveATruth) {
  Question const q = keep_low_bits(4, 12);
  EXPECT_TRUE(std::holds_alternative<Proved>(*decide_exhaustively(q)));
  EXPECT_TRUE(std::holds_alternative<Proved>(*decide_linearly(q)));
  EXPECT_TRUE(std::holds_alternative<Proved>(decide_symbolically(std::span(&q, 1), {})));
}

TEST(Engines, AllRefuteAFalsehood) {
  Question const q = keep_low_bits(5, 12);
  for (Outcome const& outcome :
       {*decide_exhaustively(q), *decide_linearly(q), decide_symbolically(std::span(&q, 1), {})}) {
    auto const* refuted = std::get_if<Refuted>(&outcome);
    ASSERT_NE(refuted, nullptr);
    std::uint64_t const x = refuted->values.at(0).second;
    EXPECT_NE((swizzle_128B(x) ^ x) & 31, 0U) << "the counterexample is one";
  }
  EXPECT_EQ(std::get<Refuted>(*decide_exhaustively(q)).values[0].second, 128U) << "the first one";
}

TEST(Engines, TryEveryValueToTheLast) {
  for (unsigned bits = 1; bits <= 12; ++bits) {
    std::uint64_t const last = (1U << bits) - 1;
    Question const q = ask("not the last", 32, {{"x", bits}, {"y", 2}},
                           [last](auto x, auto y) { return states(y == 3, !(x == last)); });
    Outcome const outcome = *decide_exhaustively(q);
    ASSERT_TRUE(std::holds_alternative<Refuted>(outcome)) << bits;
    EXPECT_EQ(std::get<Refuted>(outcome).values[0].second, last);
    EXPECT_EQ(std::get<Refuted>(outcome).values[1].second, 3U);
  }
}

TEST(Engines, SayNothingWhereTheyAreNotExact) {
  EXPECT_FALSE(decide_exhaustively(keep_low_bits(4, 64)).has_value()) << "too many";
  EXPECT_FALSE(decide_linearly(sum_commutes(1024, 64)).has_value()) << "a carry";
  Question const q = sum_commutes(1024, 64);
  EXPECT_TRUE(std::holds_alternative<Proved>(decide_symbolically(std::span(&q, 1), {})));
}

TEST(Engines, VariablesAreAsWideAsTheySay) {
  Question const q = ask("below 8", 32, {{"x", 3}}, [](auto x) { return states(x < 8); });
  EXPECT_TRUE(std::holds_alternative<Proved>(*decide_exhaustively(q)));
  EXPECT_TRUE(std::holds_alternative<Proved>(decide_symbolically(std::span(&q, 1), {})));
  Question const r = ask("below 7", 32, {{"x", 3}}, [](auto x) { return states(x < 7); });
  EXPECT_EQ(std::get<Refuted>(decide_symbolically(std::span(&r, 1), {})).values[0].second, 7U);
}

TEST(Ask, VariablesOfOneNameAreTwoAndMisfitsAreRefused) {
  Question const q = ask("equal", 64, {{"x", 64}, {"x", 64}}, [](auto x, auto y) { return states(x == y); });
  EXPECT_TRUE(std::holds_alternative<Refuted>(decide_symbolically(std::span(&q, 1), {})));
  auto const any = [](auto x) { return states(x == x); };
  EXPECT_THROW((void)ask("width", 16, {{"x", 16}}, any), std::invalid_argument);
  EXPECT_THROW((void)ask("bits", 32, {{"x", 33}}, any), std::invalid_argument);
  EXPECT_THROW((void)ask("bits", 32, {{"x", 0}}, any), std::invalid_argument);
}

TEST(Smt, NamesTheQuestionThatFails) {
  std::vector<Question> questions;
  for (unsigned i = 0; i < 2048; ++i) questions.push_back(keep_low_bits(i % 5, 32));
  EXPECT_TRUE(std::holds_alternative<Proved>(decide_symbolically(questions, {})));
  questions[1500] = keep_low_bits(5, 32);
  questions[1500].name = "the odd one";
  Outcome const outcome = decide_symbolically(questions, {});
  ASSERT_TRUE(std::holds_alternative<Refuted>(outcome));
  EXPECT_EQ(std::get<Refuted>(outcome).question, "the odd one");
  Limits two_threads;
  two_threads.threads = 2;
  EXPECT_TRUE(std::holds_alternative<Refuted>(decide_symbolically(questions, two_threads)));
}

/// A true question that no engine can decide: three multipliers of 64 bits, and a sum that no rewriting simplifies.
Question out_of_reach() {
  return ask("product of a sum", 64, {{"x", 64}, {"y", 64}, {"z", 64}},
             [](auto x, auto y, auto z) { return states(((x ^ y) + shl(x & y, 1)) * z == x * z + y * z); });
}

TEST(Smt, ATimeOutIsUnknownAndSaysSo) {
  Question const q = out_of_reach();
  Limits brief;
  brief.seconds = 0.05;
  Outcome const outcome = decide_symbolically(std::span(&q, 1), brief);
  ASSERT_TRUE(std::holds_alternative<Unknown>(outcome));
  EXPECT_EQ(std::get<Unknown>(outcome).reason, "time-out");
}

// Z3 forgets an interruption that comes before its query has begun; with its own timer one of these goes on for ever.
TEST(Smt, ALimitThatIsOverBeforeTheQueryBeginsIsNotForgotten) {
  Question const q = out_of_reach();
  Limits over;
  over.seconds = 0;
  for (int i = 0; i < 20; ++i) {
    Outcome const outcome = decide_symbolically(std::span(&q, 1), over);
    ASSERT_TRUE(std::holds_alternative<Unknown>(outcome));
    EXPECT_EQ(std::get<Unknown>(outcome).reason, "time-out");
  }
}

TEST(Smt, StepsAreALimitThatNoMachineTurns) {
  Question const q = out_of_reach();
  Limits few;
  few.seconds = 1e6;
  for (std::uint64_t const steps : {1U, 1000U, 100000U}) {
    few.steps = steps;
    Outcome const outcome = decide_symbolically(std::span(&q, 1), few);
    ASSERT_TRUE(std::holds_alternative<Unknown>(outcome)) << steps;
    EXPECT_EQ(std::get<Unknown>(outcome).reason, "limit of " + std::to_string(steps) + " steps");
  }
  few.steps = 100000;
  Question const easy = keep_low_bits(4, 64);
  EXPECT_TRUE(std::holds_alternative<Proved>(decide_symbolically(std::span(&easy, 1), few)));
}

TEST(Smt, AModelThatDoesNotReplayIsADisagreement) {
  Question q = keep_low_bits(5, 64);
  q.on_numbers = [](auto) { return Implication<bool>{true, true}; };
  EXPECT_THROW((void)decide_symbolically(std::span(&q, 1), {}), Disagreement);
  Question linear = keep_low_bits(5, 64);
  linear.on_numbers = q.on_numbers;
  EXPECT_THROW((void)decide_linearly(linear), Disagreement);
}

TEST(Search, FindsTheSimplestCounterexampleOrNone) {
  auto const refuted = search_counterexample(keep_low_bits(5, 64));
  ASSERT_TRUE(refuted.has_value());
  EXPECT_EQ(refuted->values[0].second, 128U);
  EXPECT_FALSE(search_counterexample(keep_low_bits(4, 64)).has_value());
}

TEST(Hypothesis, IsRefutedExactlyIfSatisfiable) {
  Question const q = ask("empty", 32, {{"x", 32}}, [](auto x) { return states(x < 0, x == 1); });
  Question const h = hypothesis_of(q);
  EXPECT_TRUE(std::holds_alternative<Proved>(decide_symbolically(std::span(&h, 1), {})));
  Question const r = hypothesis_of(keep_low_bits(4, 64));
  EXPECT_TRUE(std::holds_alternative<Refuted>(decide_symbolically(std::span(&r, 1), {})));
  EXPECT_TRUE(std::holds_alternative<Refuted>(*decide_linearly(r)));
}

}  // namespace
}  // namespace swizproof
