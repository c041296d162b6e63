// max, min and abs.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string const start = load + "mov.f32 %f2, 0fFF800000;\n";  // -infinity

/// The largest of 32 lanes by shuffles; `last` is the last distance of the lanes.
std::string of_warp(std::string const& op, unsigned last = 1) {
  std::string out = start + op + " %f2, %f2, %f1;\n";
  for (unsigned lane = 16; lane >= last; lane /= 2)
    out += fmt::format("shfl.sync.bfly.b32 %f3, %f2, {}, 31, 0xffffffff;\n{} %f2, %f3, %f2;\n", lane, op);
  return out + store;
}

TEST(Extremes, OfAWarpAreThoseOfASet) {
  std::vector<std::string> const expect{"c[i] = max(k in 0..31) a[i - i % 32 + k]"};
  EXPECT_EQ((Case{of_warp("max.f32"), "f32[64]", "f32[64]", expect}.answer()), "proved");
  EXPECT_EQ((Case{of_warp("max.f32", 2), "f32[64]", "f32[64]", expect}.answer()), "wrong element");
  EXPECT_EQ((Case{of_warp("min.f32"), "f32[64]", "f32[64]", expect}.answer()), "wrong element");
  Case const sum{of_warp("max.f32"), "f32[64]", "f32[64]", {"c[i] = sum(k in 0..31) a[i - i % 32 + k]"}};
  EXPECT_EQ(sum.answer(), "wrong element");
}

TEST(Extremes, OfValuesAreSets) {
  Case c{load + "max.f32 %f2, %f1, 0f00000000;\nmin.f32 %f2, %f2, 0f40C00000;\n" + store};
  c.expect = {"c[i] = min(max(0, a[i]), 6)"};
  EXPECT_EQ(c.answer(), "proved");
  c.expect = {"c[i] = max(min(a[i], 6), 0)"};
  EXPECT_EQ(c.kind(), "unknown") << "one function by two sets";
  c.expect = {"c[i] = max(a[i], 0)"};
  EXPECT_EQ(c.answer(), "wrong element");
  c.expect = {};
  EXPECT_EQ(c.value(5), "c[5] = min(6, max(0, a[5]))");
  Case const size{load + "abs.f32 %f2, %f1;\nmax.f32 %f2, %f2, %f1;\n" + store,
                  "f32[64]",
                  "f32[64]",
                  {"c[i] = abs(a[i])"}};
  EXPECT_EQ(size.answer(), "proved") << "x is one of x and -x";
}

TEST(Extremes, OfOneValueAreNotWrong) {
  Case c{load + "neg.f32 %f2, %f1;\nmul.rn.f32 %f2, %f2, %f1;\n" + store};
  c.expect = {"c[i] = min(-a[i]*a[i], 14 - a[i])"};
  EXPECT_EQ(c.kind(), "unknown") << "-x*x is below 14 - x for all x";
  c.expect = {"c[i] = min(-a[i]*a[i], a[i] - 14)"};
  EXPECT_EQ(c.answer(), "wrong element") << "-x*x is larger for x = 0";
}

TEST(Extremes, OfNumbersAreNumbers) {
  Case const c{
      "mov.f32 %f1, 0f80000000;\nmov.f32 %f3, 0f00000000;\nmax.f32 %f2, %f1, %f3;\nmin.f32 %f3, "
      "%f3, %f1;\nmov.b32 %r4, %f2;\nmov.b32 %r5, %f3;\nshr.u32 %r5, %r5, 31;\nadd.s32 %r4, %r4, "
      "%r5;\nst.global.u32 [%rd3], %r4;\n",
      "u32[64]",
      "f32[64]",
      {"c[i] = 1"}};
  EXPECT_EQ(c.answer(), "proved") << "-0 is smaller than 0";
}

TEST(Extremes, OfIntegersHaveASign) {
  auto const of = [](std::string const& op, std::string const& type, std::string const& expect) {
    return Case{"ld.global.u32 %r4, [%rd4];\nld.global.u32 %r5, [%rd2];\n" + op +
                    " %r4, %r4, %r5;\nst.global.u32 [%rd3], %r4;\n",
                type + "[64]",
                type + "[64]",
                {expect}}
        .answer();
  };
  EXPECT_EQ(of("max.s32", "i32", "c[i] = max(a[0], a[i])"), "proved");
  EXPECT_EQ(of("min.u32", "u32", "c[i] = min(a[0], a[i])"), "proved");
  EXPECT_EQ(of("max.u32", "i32", "c[i] = max(a[0], a[i])").substr(0, 7), "unknown") << "of negative numbers";
  EXPECT_EQ(of("min.s32", "i32", "c[i] = max(a[0], a[i])"), "wrong element");
}

TEST(Extremes, OfHalvesAreThoseOfEach) {
  Case c{
      "ld.global.b32 %r4, [%rd4];\nmov.b32 %r5, 0xfbfffbff;\nmax.f16x2 %r5, %r5, %r4;\n"
      "st.global.b32 [%rd3], %r5;\n",
      "f16[128]",
      "f16[128]",
      {"c[i] = a[i]"}};
  EXPECT_EQ(c.answer(), "proved") << "-65504 is the least of f16";
  c.body =
      "ld.global.b32 %r4, [%rd4];\nmov.b32 %r5, 0x80000000;\nmax.relu.f16x2 %r5, %r5, %r4;\n"
      "st.global.b32 [%rd3], %r5;\n";
  EXPECT_EQ(c.kind(), "unknown");
}

}  // namespace
}  // namespace swizproof
