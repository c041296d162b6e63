// Hints at a question that does not fit the kernel.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

using Texts = std::vector<std::string>;

/// c[r][x] = a[r][x] of rows of 8, where a has rows of `pitch` elements of 4 bytes.
std::string copied(unsigned pitch) {
  return fmt::format(
             "shr.u32 %r4, %r1, 3; and.b32 %r5, %r1, 7; mad.lo.u32 %r6, %r4, {}, %r5;\nmul.wide.u32 %rd6, "
             "%r6, 4; "
             "add.s64 %rd6, %rd6, %rd2; ld.global.f32 %f2, [%rd6];\n",
             pitch) +
         store;
}

TEST(Hints, AreAnotherPitch) {
  Case c{copied(12), "f32[8][8]", "f32[16][8]", {"c[i][j] = a[i][j] for i in 0..7 for j in 0..7"}};
  EXPECT_EQ(c.report().hints, Texts{"rows of a are 12 elements apart in the kernel, and 8 as it is given"});
  c.a = "f32[8][12]";
  EXPECT_EQ(c.answer(), "proved");
  EXPECT_EQ(c.report().hints, Texts{});
}

TEST(Hints, AreAnotherType) {
  Case c{load + "mov.f32 %f2, %f1;\n" + store, "f32[64]", "i32[64]", {"c[i] = a[i] for i in 0..63"}};
  EXPECT_EQ(c.report().hints, Texts{"a is given as i32, and the kernel accesses elements of f32"});
  c.a = "f16[128]";
  EXPECT_EQ(c.report().hints, Texts{"a is given as f16, and the kernel accesses elements of f32"});
  c.a = "f64[64]";
  EXPECT_EQ(c.report().hints, Texts{"a is given as f64, and the kernel accesses elements of f32"});
  Case const halves{
      "ld.global.b32 %r4, [%rd4];\nst.global.b32 [%rd3], %r4;\n", "f16[128]", "f16[128]", {"c[i] = 2*a[i]"}};
  EXPECT_EQ(halves.answer(), "wrong element");
  EXPECT_EQ(halves.report().hints, Texts{}) << "two elements in a register";
}

}  // namespace
}  // namespace swizproof
