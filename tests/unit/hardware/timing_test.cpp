// H12: which times an instruction of so many wavefronts may take, to the cycle.
#include <swizproof/hardware/timing.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

constexpr std::int64_t issued = 768;  ///< as campaign `wavefronts` issues

/// The first and the last number of cycles of `issued` instructions that may be `wavefronts` each.
std::pair<std::int64_t, std::int64_t> range(Operation operation, int wavefronts) {
  std::int64_t first = -1, last = -1;
  for (std::int64_t cycles = 0; cycles < 40 * issued; ++cycles)
    if (may_take(operation, cycles, issued, wavefronts)) {
      if (first < 0) first = cycles;
      last = cycles;
    }
  return {first, last};
}

TEST(Timing, RoundsDownFromAnEighthBelowOn) {
  for (Operation const op :
       {Operation::ld_shared, Operation::st_shared, Operation::ldmatrix, Operation::stmatrix})
    for (int const w : {1, 2, 31, 32})
      EXPECT_EQ(range(op, w), std::pair(w * issued - 96, (w + 1) * issued - 97)) << w;
  EXPECT_EQ(rounded_wavefronts(issued - 96, issued), 1);
  EXPECT_EQ(rounded_wavefronts(issued - 97, issued), 0);
  EXPECT_EQ(rounded_wavefronts(0, issued), 0);
}

TEST(Timing, NamesOneNumberOfWavefronts) {
  for (std::int64_t cycles = 700; cycles < 33 * issued; cycles += 7)
    for (int w = 1; w <= 32; ++w)
      EXPECT_EQ(may_take(Operation::ld_shared, cycles, issued, w), rounded_wavefronts(cycles, issued) == w);
}

TEST(Timing, AllowsACpAsyncFiveQuartersMoreAndNeverBelowThree) {
  constexpr Operation copy = Operation::cp_async;
  for (int const w : {1, 2, 3}) EXPECT_EQ(range(copy, w), std::pair(w * issued - 96, 4 * issued + 191)) << w;
  for (int const w : {4, 16, 31})
    EXPECT_EQ(range(copy, w), std::pair(w * issued - 96, (w + 1) * issued + 191)) << w;
  EXPECT_EQ(range(copy, 32), std::pair(32 * issued - 96, 34 * issued + 191)) << "all lanes collide";
}

TEST(Timing, OfACpAsyncTellsFromThreeWavefrontsOn) {
  for (int w = 1; w <= 32; ++w) {
    EXPECT_TRUE(time_tells(Operation::st_shared, w));
    EXPECT_EQ(time_tells(Operation::cp_async, w), w >= 3) << w;
    if (w < 3) continue;  // a time that identifies the wavefronts is at most farthest_above() above them
    EXPECT_LE(eighths_of(Operation::cp_async, w).end - 8 * w, 8 * farthest_above(Operation::cp_async)) << w;
  }
}

}  // namespace
}  // namespace swizproof
