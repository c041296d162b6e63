#include <swizproof/core/gf2.hpp>
#include <swizproof/core/swizzle.hpp>

#include <gtest/gtest.h>

#include <array>

namespace swizproof {
namespace {

TEST(Rank, CountsIndependentVectors) {
  EXPECT_EQ(rank(std::array<std::uint64_t, 3>{1, 2, 3}), 2U);
  EXPECT_EQ(rank(std::array<std::uint64_t, 3>{1, 2, 4}), 3U);
  EXPECT_EQ(rank(std::array<std::uint64_t, 2>{0, 0}), 0U);
  EXPECT_EQ(rank(std::array<std::uint64_t, 4>{12, 10, 6, 1ULL << 63}), 3U);
  EXPECT_EQ(rank(std::vector<std::uint64_t>{}), 0U);
}

TEST(BitMatrix, OfASwizzleIsTheSwizzle) {
  BitMatrix const m = BitMatrix::of(swizzle_128B, 32);
  EXPECT_EQ(rank(m.columns), 32U);
  EXPECT_EQ(m.columns[7], 0x90U);
  for (std::uint64_t x : {0ULL, 1ULL, 0x3ffULL, 0xdeadbeefULL}) EXPECT_EQ(m(x), swizzle_128B(x));
}

TEST(BitMatrix, OfAnOverwritingTwinIsSingular) {
  auto const wrong = [](std::uint64_t x) { return (x & ~0x70ULL) | ((x >> 3) & 0x70); };
  EXPECT_EQ(rank(BitMatrix::of(wrong, 32).columns), 29U);
}

}  // namespace
}  // namespace swizproof
