#include <swizproof/core/swizzle.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

static_assert(Swizzle{3, 4, 3}(0U) == 0U);
static_assert(Swizzle{3, 4, 3}(0x80U) == 0x90U, "row 1, chunk 0 goes to chunk 1");
static_assert(Swizzle{3, 4, 3}(0x380U) == 0x3f0U);
static_assert(Swizzle{2, 0, -2}(3U) == 15U, "negative shift: targets above sources");
static_assert(Swizzle{0, 4, 3}.period() == 1 && Swizzle{0, 4, 3}.span() == 1, "the identity");

TEST(Swizzle, AppliesAsCuTeDoesOnRecordedValues) {
  EXPECT_EQ((Swizzle{3, 3, 3}(3735928559U)), 3735928567U);  // [cg_swizzle_test.cpp]
  EXPECT_EQ((Swizzle{3, 3, 4}(305419896U)), 305419864U);
}

TEST(Swizzle, WorkedExamplesOfTheBlogsAreRight) {
  EXPECT_EQ(swizzle_128B(1023U), 911U);
  EXPECT_EQ(swizzle_64B(511U), 463U);
  EXPECT_EQ(swizzle_32B(255U), 239U);
  EXPECT_EQ((Swizzle{2, 0, 3}(8U)), 9U);
  EXPECT_EQ((Swizzle{2, 0, 3}(9U)), 8U);
}

TEST(Swizzle, ReordersFourByEightAsTutorialsPrint) {
  unsigned const printed[4][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                  {9, 8, 11, 10, 13, 12, 15, 14},
                                  {18, 19, 16, 17, 22, 23, 20, 21},
                                  {27, 26, 25, 24, 31, 30, 29, 28}};
  for (unsigned row = 0; row < 4; ++row)
    for (unsigned column = 0; column < 8; ++column)
      EXPECT_EQ((Swizzle{2, 0, 3}(8 * row + column)), printed[row][column]);
}

TEST(Swizzle, UsesTheTopBitsOfTheWord) {
  Swizzle const s{1, 30, 1};
  ASSERT_TRUE(s.valid());
  EXPECT_EQ(s(0x80000000U), 0xC0000000U);
  EXPECT_EQ((Swizzle{1, 30, -1}(0x40000000U)), 0xC0000000U);
  EXPECT_EQ((Swizzle{16, 0, 16}(0xffff0000U)), 0xffffffffU);
  EXPECT_EQ((Swizzle{3, 26, 3}.error()), SwizzleError::none);
}

TEST(Swizzle, SaysWhyItIsInvalid) {
  EXPECT_EQ((Swizzle{-1, 0, 2}.error()), SwizzleError::negative_bits);
  EXPECT_EQ((Swizzle{2, -1, 3}.error()), SwizzleError::negative_base);
  EXPECT_EQ((Swizzle{4, 0, 2}.error()), SwizzleError::fields_overlap);
  EXPECT_EQ((Swizzle{4, 0, -3}.error()), SwizzleError::fields_overlap);
  EXPECT_EQ((Swizzle{16, 12, 5}.error()), SwizzleError::fields_overlap);
  EXPECT_EQ((Swizzle{5, 29, 5}.error()), SwizzleError::too_wide);
  EXPECT_EQ((Swizzle{1, 2147483647, -2147483647 - 1}.error()), SwizzleError::too_wide);
  EXPECT_EQ((Swizzle{0, 0, 0}.error()), SwizzleError::none);
  EXPECT_FALSE(explain(SwizzleError::fields_overlap).empty());
}

TEST(Swizzle, SpanAndPeriodAreInItsOwnUnit) {
  EXPECT_EQ(swizzle_32B.span(), 32U);
  EXPECT_EQ(swizzle_64B.span(), 64U);
  EXPECT_EQ(swizzle_128B.span(), 128U);
  EXPECT_EQ(swizzle_32B.period(), 256U);
  EXPECT_EQ(swizzle_64B.period(), 512U);
  EXPECT_EQ(swizzle_128B.period(), 1024U);
  EXPECT_EQ((Swizzle{3, 3, 3}.period()), 512U) << "the same 1024 bytes, in 2-byte elements";
  EXPECT_EQ((Swizzle{2, 0, -2}.span()), 16U);
  EXPECT_EQ((Swizzle{16, 0, 16}.period()), 1ULL << 32);
}

TEST(Swizzle, RecastsAsCuTeDoes) {
  EXPECT_EQ(recast({3, 4, 3}, 1), (Swizzle{3, 3, 3}));
  EXPECT_EQ(recast({3, 4, 3}, 4), (Swizzle{3, 0, 3}));
  EXPECT_EQ(recast({3, 4, 3}, -1), (Swizzle{3, 5, 3})) << "bytes to 4-bit elements";
  EXPECT_EQ(recast({0, 4, 3}, 7), (Swizzle{0, 0, 3}));
  EXPECT_EQ(recast({3, 4, 3}, 10), (Swizzle{0, 0, 3})) << "fields inside one element: nothing moves";
  EXPECT_EQ(recast({2, 3, -2}, 4), (Swizzle{1, 0, -2}));
}

TEST(Swizzle, RefusesToRecastWhereAnElementIsCut) {
  EXPECT_EQ(recast({3, 4, 3}, 5), std::nullopt);
  EXPECT_EQ(recast({3, 1, 3}, 2), std::nullopt) << "CuTe's upcast<4> prints Sw<2,0,3> here";
  EXPECT_EQ(recast({3, 26, 3}, -1), std::nullopt) << "would leave the 32 bits";
}

}  // namespace
}  // namespace swizproof
