#include <swizproof/claim/catalog.hpp>
#include <swizproof/engine/decide.hpp>

#include <gtest/gtest.h>

#include <set>

namespace swizproof {
namespace {

Question equals(std::uint64_t constant, std::uint64_t hypothesis_bound) {
  return ask("x ^ x", 64, {{"x", 64}},
             [=](auto x) { return states(x < hypothesis_bound, ((x + x) ^ (x + x)) == constant); });
}

Statement stating(Question const& q) {
  return {q.name, [q] { return std::vector{q}; }};
}

TEST(Claim, IsProvedWithARefutedControl) {
  ClaimReport const r = decide(Claim{"c", stating(equals(0, 9)), "", "", stating(equals(1, 9))}, {});
  EXPECT_TRUE(r.verdict.proved());
  EXPECT_TRUE(std::holds_alternative<Refuted>(r.control));
}

TEST(Claim, IsNotProvedIfItsControlHolds) {
  ClaimReport const r = decide(Claim{"c", stating(equals(0, 9)), "", "", stating(equals(0, 9))}, {});
  ASSERT_TRUE(r.verdict.unknown());
  EXPECT_EQ(std::get<Unknown>(r.verdict.outcome).reason, "its negative control was not refuted");
}

TEST(Claim, IsNotProvedIfItsHypothesisIsEmpty) {
  ClaimReport const r = decide(Claim{"c", stating(equals(0, 0)), "", "", stating(equals(1, 9))}, {});
  ASSERT_TRUE(r.verdict.unknown());
  EXPECT_NE(std::get<Unknown>(r.verdict.outcome).reason.find("nothing satisfies"), std::string::npos);
}

TEST(Claim, IsNotProvedIfItAsksNothing) {
  Statement const nothing{"nothing", [] { return std::vector<Question>{}; }};
  EXPECT_TRUE(decide(Claim{"c", nothing, "", "", stating(equals(1, 9))}, {}).verdict.unknown());
  EXPECT_TRUE(std::holds_alternative<Unknown>(decide_symbolically({}, {})));
  EXPECT_TRUE(std::holds_alternative<Unknown>(Outcome{}));
}

TEST(Claim, IsRefutedIfFalse) {
  ClaimReport const r = decide(Claim{"c", stating(equals(1, 9)), "", "", stating(equals(1, 9))}, {});
  EXPECT_TRUE(r.verdict.refuted());
}

TEST(Claim, EnginesThatContradictEachOtherStopEverything) {
  Question q = ask("low bit", 64, {{"x", 8}}, [](auto x) { return states((x & 1) == 0); });
  q.on_terms = [](std::span<Term const>) { return Implication<Formula>{true, true}; };  // a broken SMT engine
  EXPECT_THROW((void)decide(Claim{"c", stating(q), "", "", stating(equals(1, 9))}, {}), Disagreement);
}

TEST(Catalog, NamesEveryClaimOnceAndSaysAllThatAClaimSays) {
  std::set<std::string> names;
  for (Claim const& c : catalog()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    EXPECT_FALSE(c.statement.text.empty() || c.domain.empty() || c.source.empty() || c.control.text.empty())
        << c.name;
  }
  EXPECT_GT(names.size(), 600U);
}

}  // namespace
}  // namespace swizproof
