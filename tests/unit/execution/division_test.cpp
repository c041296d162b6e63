// The hypothesis of proofs/division/division.smt2, on every float.
#include <swizproof/core/float_format.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace swizproof {
namespace {

constexpr std::uint64_t whole = std::uint64_t{1} << 32;

/// F2I.FTZ.U32.TRUNC of the bits of a float, plus 0xffffffe.
std::uint32_t estimate_of(float reciprocal) {
  auto const y = same_bits<float>(same_bits<std::uint32_t>(reciprocal) + 0xffffffe);
  return y < 1 ? 0 : static_cast<std::uint32_t>(y);
}

bool is_near(std::uint64_t d, std::uint64_t e) {
  std::uint64_t const u = whole - d * e;
  return d * e <= whole && u < whole && u * u <= d << 32;
}

/// Checks all divisors that round up to `f`, least and most, with each float at most an ulp from 1 / f.
bool holds(std::uint64_t least, std::uint64_t most, float f) {
  float const near = 1 / f;
  for (float const y : {near, std::nextafterf(near, 0), std::nextafterf(near, 2)}) {
    std::uint64_t const e = estimate_of(y);
    // Between two divisors of one estimate it holds too: 2^32 d - u^2 is concave in d.
    for (std::uint64_t const d : {least, most})
      if (!is_near(d, e) && !(e == 0 && d >= whole / 2)) return false;
  }
  return true;
}

TEST(Division, EveryEstimateIsNear) {
  std::uint64_t wrong = 0, below = 0;  // divisors that were checked
  while (below < whole - 1) {
    std::uint64_t const d = below + 1;
    float f = static_cast<float>(d);  // to nearest
    if (static_cast<double>(f) < static_cast<double>(d)) f = std::nextafterf(f, 2 * f);
    std::uint64_t const most =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(static_cast<double>(f)), whole - 1);
    wrong += holds(d, most, f) ? 0 : 1;
    below = most;
  }
  EXPECT_EQ(wrong, 0U);
  // The reciprocals of 0 and of negative numbers.
  EXPECT_EQ(estimate_of(INFINITY), 0U);
  for (float const f : {-2147483648.0F, -2147483520.0F, -1000.0F, -3.0F, -1.0F})
    EXPECT_EQ(estimate_of(1 / f), 0U) << f;
  EXPECT_GT(same_bits<std::uint32_t>(-1.0F) + 0xffffffe, 0x80000000U) << "the largest of them keeps its sign";
  // A bias of one ulp more is too much for some of them.
  EXPECT_FALSE(is_near(3, whole / 3 + 1));
  EXPECT_FALSE(is_near(1, whole - whole / 4096));
}

}  // namespace
}  // namespace swizproof
