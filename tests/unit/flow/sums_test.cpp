// Expectations: sums, differences, numbers, ranges and conditions that depend on indices, several for one array.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// c[i] = -2 a[i] + 0.5 for the first 10 elements of 64, 0 for the others.
Case edge(std::vector<std::string> expect) {
  return {load +
              "mul.f32 %f2, %f1, 0fC0000000;\nadd.f32 %f2, %f2, 0f3F000000;\nsetp.lt.u32 %p1, %r1, 10;\n"
              "selp.f32 %f2, %f2, 0f00000000, %p1;\n" +
              store,
          "f32[64]", "f32[64]", std::move(expect)};
}

TEST(Sums, HaveSignsNumbersAndEdges) {
  std::string const head = "c[i] = -2*a[i] + 0.5 for i in 0..9", tail = "c[i] = 0 for i in 10..63";
  EXPECT_EQ(edge({head, tail}).answer(), "proved");
  EXPECT_EQ(edge({"c[i] = 0.5 - 2*a[i] if i < 10", "c[i] = 0 if i >= 10"}).answer(), "proved");
  EXPECT_EQ(edge({"c[i] = -(a[i] + a[i] - 0.5) for i in 0..9", tail}).answer(), "proved");
  EXPECT_EQ(edge({"c[i] = 2*a[i] + 0.5 for i in 0..9", tail}).answer(), "wrong element");
  EXPECT_EQ(edge({head}).answer(), "refuted") << "elements that are not expected";
  EXPECT_EQ(edge({"c[i] = -2*a[i] + 0.5 for i in 0..10", "c[i] = 0 for i in 11..63"}).answer(),
            "wrong element");
  EXPECT_THROW((void)edge({head, "c[i] = 0 for i in 9..63"}).answer(), InputError)
      << "two expectations of c[9]";
  EXPECT_THROW((void)edge({"c[i] = a[i]*a[i]*a[i]*a[i]*a[i]"}).answer(), InputError);
}

TEST(Sums, HaveRangesThatDependOnIndices) {
  // a scan of 4 elements
  std::string const scan =
      "mov.f32 %f2, 0f00000000; mov.u32 %r6, 0; mov.u64 %rd6, %rd2;\n"
      "$L: ld.global.f32 %f1, [%rd6]; add.f32 %f2, %f2, %f1; add.s64 %rd6, %rd6, 4;\n"
      "add.u32 %r6, %r6, 1; setp.le.u32 %p1, %r6, %r1; @%p1 bra $L;\n" +
      store;
  auto const answer = [&](std::string const& e) { return Case{scan, "f32[64]", "f32[64]", {e}}.answer(); };
  EXPECT_EQ(answer("c[i] = sum(k in 0..i) a[k]"), "proved");
  EXPECT_EQ(answer("c[i] = sum(k if k <= i) a[k]"), "proved");
  EXPECT_EQ(answer("c[i] = a[i] + sum(k in 0..i - 1) a[k]"), "proved") << "the range of 0 is empty";
  EXPECT_EQ(answer("c[i] = sum(k in 0..i) a[i - k]"), "proved");
  EXPECT_EQ(answer("c[i] = sum(k in 1..i) a[k]"), "wrong element");
  EXPECT_EQ(answer("c[i] = sum(k) a[k]"), "wrong element");
}

TEST(Sums, AreExactWhereTheyAreShown) {
  auto const assumed = [](std::string const& body) { return Case{body}.report().assumed; };
  std::vector<std::string> const exact{"floating-point arithmetic is exact: no rounding, overflow or NaN"};
  EXPECT_EQ(assumed(load + "add.f32 %f2, %f1, %f1;\n" + store), exact);
  EXPECT_EQ(assumed(load + "max.f32 %f2, %f1, 0f00000000;\n" + store), exact) << "a NaN";
  EXPECT_EQ(assumed(load + "cvt.rn.f16.f32 %h1, %f1;\ncvt.f32.f16 %f2, %h1;\n" + store), exact);
  EXPECT_TRUE(assumed(load + "add.f32 %f3, %f1, %f1;\nmov.f32 %f2, %f1;\n" + store).empty()) << "moved";
}

}  // namespace
}  // namespace swizproof
