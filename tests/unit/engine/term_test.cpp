#include <swizproof/core/swizzle.hpp>
#include <swizproof/engine/term.hpp>

#include <gtest/gtest.h>

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
