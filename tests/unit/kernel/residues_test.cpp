// Wavefronts as a function of a parameter.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace swizproof {
namespace {

/// Lane l of a warp at l * n words.
constexpr char stride[] =
    "and.b32 %r4, %r1, 31; mul.lo.s32 %r4, %r4, %r3; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; "
    "ld.shared.u32 %r5, [%r4];";

TEST(KernelFunction, OfAStride) {
  KernelAccess const a = one(stride);
  ASSERT_TRUE(a.function);
  EXPECT_EQ(a.function->parameter, "n");
  ASSERT_EQ(a.function->at_most.size(), 32U);
  for (unsigned n = 0; n < 32; ++n) EXPECT_EQ(a.function->at_most[n], n == 0 ? 32U : n & (0U - n)) << n;
  EXPECT_EQ(a.aligned, true);
  EXPECT_EQ(a.wavefronts, 32U);
  for (std::uint64_t const n : {1, 6, 40})
    EXPECT_EQ(one(stride, {.params = {{"n", {n, false}}}}).wavefronts, a.function->at_most[n % 32]) << n;
  EXPECT_FALSE(one(stride, {.params = {{"n", {6, false}}}}).function);
}

TEST(KernelFunction, IsTheMostOfAllWarps) {
  // The first of two warps at 2 n l words, the second at n l.
  KernelAccess const a =
      one("shr.u32 %r6, %r1, 5; sub.s32 %r6, 2, %r6; and.b32 %r4, %r1, 31; mul.lo.s32 %r4, %r4, %r6; "
          "mul.lo.s32 %r4, %r4, %r3; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];");
  ASSERT_TRUE(a.function);
  EXPECT_EQ(a.function->at_most, (std::vector<unsigned>{32, 2, 4, 2, 8, 2, 4, 2, 16, 2, 4, 2, 8, 2, 4, 2}));
}

TEST(KernelFunction, NeedsAPartThatAllShareInWholeWords) {
  std::string const without = std::string(stride).substr(0, std::string(stride).find("ld.shared"));
  KernelAccess const a = one(without +
                             "ld.param.u64 %rd1, [g]; cvt.u32.u64 %r7, %rd1; add.s32 %r4, %r4, %r7; "
                             "ld.shared.u32 %r5, [%r4];");
  EXPECT_FALSE(a.function);
  EXPECT_NE(a.aligned, true);
  EXPECT_EQ(a.wavefronts, 32U);
}

}  // namespace
}  // namespace swizproof
