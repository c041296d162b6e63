// Choice of engines: order, second opinions, replay and disagreement.
#include <swizproof/core/swizzle.hpp>
#include <swizproof/engine/decide.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace swizproof {
namespace {

using Engines = std::vector<Engine>;

/// Sw<3,4,3> keeps `kept` low bits: true up to 4.
Question low_bits(unsigned kept, unsigned bits) {
  return ask("low bits", 64, {{"x", bits}},
             [kept](auto x) { return states(((swizzle_128B(x) ^ x) & ((1U << kept) - 1)) == 0); });
}

/// True, and not affine.
Question period(unsigned bits) {
  return ask("period", 64, {{"x", bits}},
             [](auto x) { return states(swizzle_128B(x + 1024) == swizzle_128B(x) + 1024); });
}

TEST(Decide, OneEngineWillDoIfOneIsAsked) {
  EXPECT_EQ(decide(low_bits(4, 12), {}).engines, Engines{Engine::exhaustive});
  EXPECT_EQ(decide(low_bits(4, 64), {}).engines, Engines{Engine::linear});
  EXPECT_EQ(decide(period(64), {}).engines, Engines{Engine::smt});
  for (Question const& q : {low_bits(4, 12), low_bits(4, 64), period(64)})
    EXPECT_TRUE(decide(q, {}).proved());
}

TEST(Decide, TimeInWhichAnEngineWaitsIsNotCounted) {
  // 2048 cases that sleep for 0.2 ms each are 0.4 s on the wall, and little CPU time.
  Question const slow = ask("slow", 64, {{"x", 11}}, [](auto x) {
    if constexpr (std::is_same_v<decltype(x), std::uint64_t>)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    return states(x == x);
  });
  EXPECT_EQ(decide(slow, {.seconds = 0.2}).engines, Engines{Engine::exhaustive});
}

TEST(Decide, TwoAreAskedWhereTwoAreExact) {
  EXPECT_EQ(decide(low_bits(4, 12), {}, Effort::two).engines, (Engines{Engine::linear, Engine::exhaustive}));
  EXPECT_EQ(decide(low_bits(4, 64), {}, Effort::two).engines, (Engines{Engine::smt, Engine::linear}));
  EXPECT_EQ(decide(period(12), {}, Effort::two).engines, Engines{Engine::exhaustive})
      << "every case was tried";
  EXPECT_EQ(decide(period(64), {}, Effort::two).engines, Engines{Engine::smt}) << "no other is exact";
}

TEST(Decide, AllAreAskedWhereAllAreWanted) {
  Engines const every{Engine::smt, Engine::linear, Engine::exhaustive};
  EXPECT_EQ(decide(low_bits(4, 12), {}, Effort::all).engines, every);
  Answer const refuted = decide(low_bits(5, 12), {}, Effort::all);
  EXPECT_EQ(refuted.engines, (Engines{Engine::smt, Engine::search, Engine::linear, Engine::exhaustive}));
  ASSERT_NE(refuted.refuted(), nullptr);
  EXPECT_EQ(refuted.refuted()->values[0].second, 128U) << "the first one";
}

TEST(Decide, ACounterexampleIsTheSimplestWhereItIsSoughtAndAnyFalsehoodIsFound) {
  Answer const answer = decide(low_bits(5, 64), {}, Effort::refute);
  EXPECT_EQ(answer.engines, Engines{Engine::search});
  ASSERT_NE(answer.refuted(), nullptr);
  EXPECT_TRUE(answer.refuted()->simplest);
  EXPECT_EQ(answer.refuted()->values[0].second, 128U);
  Question const far = ask("far", 64, {{"x", 64}}, [](auto x) { return states(!(x * 3 == 0x123456789)); });
  Answer const found = decide(far, {}, Effort::refute);
  ASSERT_NE(found.refuted(), nullptr);
  EXPECT_EQ(found.refuted()->values[0].second * 3, 0x123456789U);
  EXPECT_TRUE(decide(low_bits(4, 64), {}, Effort::refute).proved());
}

TEST(Decide, WhereAllAreAskedARefutationIsMadeSimpler) {
  Question const from_5000 = ask("below 5000", 64, {{"x", 64}}, [](auto x) { return states(x < 5000); });
  Answer const answer = decide(from_5000, {}, Effort::all);
  EXPECT_EQ(answer.engines, (Engines{Engine::smt, Engine::search}));
  ASSERT_NE(answer.refuted(), nullptr);
  EXPECT_TRUE(answer.refuted()->simplest);
  EXPECT_EQ(answer.refuted()->values[0].second, 5000U);
}

TEST(Decide, OfSeveralQuestionsAllMustHold) {
  std::vector<Question> questions{low_bits(3, 12), low_bits(4, 12)};
  EXPECT_TRUE(decide(questions, {}, Effort::all).proved());
  questions.push_back(low_bits(5, 12));
  questions.back().name = "the false one";
  for (Effort const effort : {Effort::one, Effort::two, Effort::all, Effort::refute}) {
    Answer const answer = decide(questions, {}, effort);
    ASSERT_NE(answer.refuted(), nullptr);
    EXPECT_EQ(answer.refuted()->question, "the false one");
  }
  EXPECT_NE(decide(std::span<Question const>(), {}, Effort::all).unknown(), nullptr);
}

TEST(Decide, ValuesAreThoseOfTheVariableAndNoOthers) {
  // 3, 5, 7, 9, 11: all odd, none above 11, and 11 is among them.
  auto const about = [](auto statement) {
    return ask_of_all("about", 64, {Variable::steps("x", 3, 2, 5)},
                      [statement]<Word W>(std::span<W const> v) { return states(statement(v[0])); });
  };
  for (Effort const effort : {Effort::one, Effort::two, Effort::all}) {
    EXPECT_TRUE(decide(about([](auto x) { return (x & 1) == 1 && x < 12 && 2 < x; }), {}, effort).proved());
    Answer const last = decide(about([](auto x) { return x < 11; }), {}, effort);
    ASSERT_NE(last.refuted(), nullptr);
    EXPECT_EQ(last.refuted()->values[0].second, 11U) << "a value, not its number";
  }
  Variable const all = Variable::range("x", 0, ~std::uint64_t{0});
  EXPECT_TRUE(all.unlimited());
  EXPECT_EQ(all.last(), ~std::uint64_t{0});
  EXPECT_EQ(Variable::range("x", 5, 9).last(), 9U);
  EXPECT_EQ(Variable::steps("x", 0, 1, 1).bits, 1U);
  EXPECT_TRUE(Variable::steps("x", 0, 1, 1).bounded());
  EXPECT_FALSE(Variable::steps("x", 0, 1, 8).bounded());
}

TEST(Decide, WhatDoesNotReplayIsADisagreement) {
  for (unsigned const bits : {12U, 64U}) {
    Question q = low_bits(5, bits);
    q.on_numbers = [](auto) { return Implication<bool>{true, true}; };
    EXPECT_THROW((void)decide(q, {}, Effort::all), Disagreement);
  }
}

TEST(Decide, AnEngineThatAlwaysSaysProvedIsContradicted) {
  Question q = low_bits(5, 12);
  q.on_affine = [](auto) { return Implication<AffineTruth>{true, true}; };
  EXPECT_THROW((void)decide(q, {}, Effort::two), Disagreement);
  EXPECT_THROW((void)decide(q, {}, Effort::all), Disagreement);
  Question wide = low_bits(5, 64);
  wide.on_affine = q.on_affine;
  EXPECT_THROW((void)decide(wide, {}, Effort::two), Disagreement) << "the second opinion is SMT's";
  Question solver = low_bits(5, 12);
  solver.on_terms = [](auto) { return Implication<Formula>{true, true}; };
  EXPECT_THROW((void)decide(solver, {}, Effort::all), Disagreement);
}

TEST(Confirm, AsksAnotherEngineAndHearsWhatItSays) {
  EXPECT_EQ(confirm(low_bits(4, 12), Engine::exhaustive, Proved{}), Engine::linear);
  EXPECT_EQ(confirm(low_bits(4, 12), Engine::linear, Proved{}), Engine::exhaustive);
  EXPECT_EQ(confirm(period(12), Engine::exhaustive, Proved{}), std::nullopt) << "a solver is not asked";
  EXPECT_EQ(confirm(period(12), Engine::linear, Proved{}), Engine::exhaustive);
  EXPECT_THROW((void)confirm(low_bits(5, 12), Engine::exhaustive, Proved{}), Disagreement);
  EXPECT_THROW((void)confirm(period(12), Engine::linear, Refuted{}), Disagreement);
}

TEST(MustAgree, NamesBothSides) {
  EXPECT_NO_THROW(must_agree("a tile", Engine::linear, "2", Engine::smt, "2"));
  try {
    must_agree("a tile", Engine::linear, "2", Engine::smt, "3");
    FAIL();
  } catch (std::runtime_error const& error) {
    EXPECT_STREQ(error.what(), "a tile: linear says 2, SMT says 3");
  }
}

}  // namespace
}  // namespace swizproof
