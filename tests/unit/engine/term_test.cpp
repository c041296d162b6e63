#include <swizproof/core/swizzle.hpp>
#include <swizproof/engine/term.hpp>
#include <swizproof/engine/walk.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace swizproof {
namespace {

TEST(Term, FoldsConstants) {
  Terms terms;
  Term const five = terms.constant(32, 5);
  EXPECT_EQ(terms.nodes()[(five + 7).id].value, 12U);
  EXPECT_EQ(terms.nodes()[(five - 7).id].value, 0xfffffffeU);
  EXPECT_EQ(terms.nodes()[shl(five, 31).id].value, 0x80000000U);
  EXPECT_EQ(terms.nodes()[shl(five, 32).id].value, 0U);
  EXPECT_EQ(terms.nodes()[(five / 0).id].value, 0xffffffffU) << "as SMT-LIB says";
  EXPECT_EQ(terms.nodes()[(five % 0).id].value, 5U);
  EXPECT_EQ(swizzle_128B(terms.constant(32, 0x80)).id, terms.constant(32, 0x90).id);
}

TEST(Term, SharesEqualNodes) {
  Terms terms;
  Term const x = terms.variable(32, 32, "x");
  EXPECT_EQ(swizzle_128B(x).id, swizzle_128B(x).id);
  EXPECT_EQ((x ^ 3).id, (3 ^ x).id);
  EXPECT_NE((x - 3).id, (3 - x).id);
  EXPECT_EQ((x + 0).id, x.id);
}

TEST(Walk, VisitsEachNodeOnce) {
  Terms terms;
  Term const x = terms.variable(32, 32, "x"), y = terms.variable(32, 16, "y");
  Term const chosen = select(x < y, (x + y) * (x + y), y);
  std::vector<std::uint32_t> seen;
  Walk walk(chosen.id);
  while (auto const at = walk.next()) {
    seen.push_back(*at);
    walk.add(operands(terms.nodes()[*at]));
  }
  EXPECT_EQ(seen.size(), 7U) << "ite, <, *, +, x, y and its 16 bits";
  EXPECT_EQ(std::set<std::uint32_t>(seen.begin(), seen.end()).size(), seen.size());
  EXPECT_EQ(seen.front(), chosen.id);
  EXPECT_FALSE(walk.over());
  Walk few({chosen.id, x.id, y.id}, 2);
  EXPECT_TRUE(few.next() && few.next());
  EXPECT_FALSE(few.next());
  EXPECT_TRUE(few.over());
}

TEST(Walk, NumberOfATerm) {
  Terms terms;
  Term const x = terms.variable(32, 32, "x"), y = terms.variable(32, 32, "y");
  Term const chosen = select(x < y, (x + y) * 3, y);
  std::map<std::uint32_t, std::uint64_t> less{{x.id, 4}, {y.id, 5}}, more{{x.id, 6}, {y.id, 5}};
  EXPECT_EQ(number_of(terms, chosen.id, less), 27U);
  EXPECT_EQ(number_of(terms, chosen.id, more), 5U);
  EXPECT_EQ(more.count((x + y).id), 0U) << "a side that is not chosen";
}

TEST(Formula, PlainTruthsFold) {
  Terms terms;
  Term const x = terms.variable(32, 8, "x");
  Formula const f = x == 3;
  EXPECT_EQ((f && Formula(true)).id, f.id);
  EXPECT_EQ((f && Formula(false)).id, 0U);
  EXPECT_EQ((f || Formula(true)).id, 1U);
  EXPECT_EQ((!!f).id, f.id);
  EXPECT_EQ((x == x).id, 1U);
  EXPECT_EQ(terms.unknowns()[0].bits, 8U);
}

}  // namespace
}  // namespace swizproof
