// H8: which lines a box may have, what the driver refuses, and where the bytes lie.
#include <swizproof/hardware/tma.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(Tma, LinesAreWholeUnitsWithinTheSwizzle) {
  for (TmaMode const mode : tma_modes)
    for (std::uint32_t bytes = 4; bytes <= 512; bytes += 4) {
      TmaLine const must = bytes % 16 != 0                                    ? TmaLine::no_whole_units
                           : mode != TmaMode::none && bytes > tma_width(mode) ? TmaLine::too_wide
                                                                              : TmaLine::fits;
      EXPECT_EQ(tma_line(tma_width(mode), 8 * bytes), must) << name(mode) << ", " << bytes;
    }
  EXPECT_EQ(tma_line(96, 96 * 8), TmaLine::fits);
  EXPECT_EQ(tma_line(128, 4), TmaLine::no_whole_units) << "one element of 4 bits";
}

TEST(Tma, TheDriverRefusesModesOfOtherDevicesAndWhatIsNotAligned) {
  for (unsigned mode = 0; mode <= 3; ++mode) EXPECT_FALSE(tma_refuses(mode, 32, 0)) << mode;
  for (unsigned mode = 4; mode <= 7; ++mode) EXPECT_TRUE(tma_refuses(mode, 32, 0)) << mode;
  EXPECT_FALSE(tma_refuses(0, 1024, 16)) << "without a swizzle the bytes of a line are not bounded";
  EXPECT_TRUE(tma_refuses(0, 16, 8)) << "a tensor at a multiple of 8";
  EXPECT_TRUE(tma_refuses(0, 8, 0)) << "a line of 8 bytes";
  for (unsigned mode = 1; mode <= 3; ++mode) {
    EXPECT_FALSE(tma_refuses(mode, 16U << mode, 16)) << "a tensor at a multiple of 16, under a swizzle";
    EXPECT_TRUE(tma_refuses(mode, (16U << mode) + 16, 0)) << "a line wider than the swizzle";
  }
}

TEST(Tma, NarrowLinesLieTheSwizzlesWidthApart) {
  EXPECT_EQ(tma_address(TmaMode::none, 256, 3, 48, 16), 256U + 3 * 48 + 16);
  EXPECT_EQ(tma_address(TmaMode::b64, 0, 1, 32, 0), 64U);
  EXPECT_EQ(tma_address(TmaMode::b64, 0, 2, 32, 0), 128U + 16) << "line 2 of 64 bytes: row 1 of 128";
  EXPECT_EQ(tma_address(TmaMode::b128, 128, 0, 128, 0), 128U + 16) << "the swizzle is of absolute addresses";
}

}  // namespace
}  // namespace swizproof
