#include <swizproof/engine/affine.hpp>
#include <swizproof/core/swizzle.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(Affine, XorShiftAndMaskStayExact) {
  Affine const x = Affine::inputs(32, 0, 32);
  Affine const y = swizzle_128B(x);
  EXPECT_TRUE(y.exact());
  EXPECT_TRUE(y.bit(4).contains(4));
  EXPECT_TRUE(y.bit(4).contains(7));
  EXPECT_FALSE(y.bit(3).contains(6));
}

TEST(Affine, AdditionIsExactOnlyWithoutCarry) {
  Affine const x = Affine::inputs(32, 0, 32);
  EXPECT_TRUE((shl(x, 5) + 16).exact());
  EXPECT_FALSE((x + 16).exact());
  EXPECT_TRUE((like(x, 3) + 4).exact());
  EXPECT_EQ((like(x, 0xffffffff) + 2).constant(), 1U) << "wraps at the width";
  EXPECT_FALSE((x - 1).exact());
  EXPECT_FALSE((x * x).exact());
  EXPECT_TRUE((x * 8).exact());
  EXPECT_FALSE((x * 3).exact());
}

TEST(Affine, QuotientsByPowersOfTwoAreShifts) {
  Affine const x = Affine::inputs(32, 0, 32);
  EXPECT_EQ((x / 8 == shr(x, 3)).constant(), true);
  EXPECT_EQ((x % 8 == (x & 7)).constant(), true);
  EXPECT_FALSE((x / 3).exact());
}

TEST(Affine, OpaqueWordsMakeOpaqueTruths) {
  Affine const x = Affine::inputs(32, 0, 32);
  AffineTruth const t = (x + 1) == x;
  EXPECT_TRUE(t.opaque);
  EXPECT_FALSE(decide(true, t).has_value());
  EXPECT_TRUE((x < 5).opaque);
}

TEST(AffineDecide, FindsAWitnessOrProves) {
  Affine const x = Affine::inputs(32, 0, 32);
  AffineTruth const even = (x & 1) == 0;
  EXPECT_TRUE(decide(even, even)->implied);
  auto const no = decide(true, even);
  ASSERT_TRUE(no.has_value());
  EXPECT_FALSE(no->implied);
  EXPECT_EQ(no->witness[0] & 1, 1U);
  EXPECT_TRUE(decide(even && !even, x == 7)->implied) << "from a contradiction, anything";
}

TEST(AffineTruth, NegationOfOneEquationIsExactAndOfTwoIsOpaque) {
  Affine const x = Affine::inputs(8, 0, 8);
  AffineTruth const one = (x & 1) == 0;
  EXPECT_FALSE((!one).opaque);
  EXPECT_TRUE((!(x == 0)).opaque);
  EXPECT_EQ((one || AffineTruth(true)).constant(), true);
  EXPECT_TRUE((one || !one).opaque);
}

}  // namespace
}  // namespace swizproof
