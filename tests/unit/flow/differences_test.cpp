// Results compared with expectations: polynomials of integers, and constants that are rounded.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string polynomial(std::string const& body, std::string const& expect, std::string const& type = "u32") {
  return Case{"ld.global.u32 %r5, [%rd4];\n" + body + "st.global.u32 [%rd3], %r6;\n",
              type + "[64]",
              type + "[64]",
              {expect}}
      .answer();
}

TEST(Differences, OfPolynomialsAreThoseOfTheirValues) {
  std::string const square = "mul.lo.u32 %r4, %r5, %r5;\n";
  EXPECT_EQ(polynomial("mul.lo.u32 %r6, %r5, 0x80000000;\n", "c[i] = 2147483648*a[i]*a[i]"), "proved");
  EXPECT_EQ(polynomial("mul.lo.u32 %r6, %r5, 0x80000000;\n", "c[i] = 2147483648*a[i]*a[i]", "i32"), "proved");
  EXPECT_EQ(polynomial("mul.lo.u32 %r6, %r5, 0x40000000;\n", "c[i] = 1073741824*a[i]*a[i]"), "wrong element");
  // x * (x - 1) * (x - 2) * (x - 3) is a multiple of 8, and x * (x - 1) * (x - 2) one of 2
  std::string const four =
      "sub.u32 %r7, %r5, 1; mul.lo.u32 %r6, %r5, %r7; sub.u32 %r7, %r5, 2; mul.lo.u32 %r6, %r6, %r7;\n"
      "sub.u32 %r7, %r5, 3; mul.lo.u32 %r6, %r6, %r7;\n";
  EXPECT_EQ(polynomial(four + "mul.lo.u32 %r6, %r6, 0x20000000;\n", "c[i] = 0"), "proved");
  EXPECT_EQ(polynomial(four + "mul.lo.u32 %r6, %r6, 0x10000000;\n", "c[i] = 0"), "wrong element");
  // of two elements: 2^30 * (x * x - x) * (y * y - y)
  std::string const two = square +
                          "sub.u32 %r4, %r4, %r5; ld.global.u32 %r7, [%rd2+4]; mul.lo.u32 %r8, %r7, %r7;\n"
                          "sub.u32 %r8, %r8, %r7; mul.lo.u32 %r6, %r4, %r8;\n";
  EXPECT_EQ(polynomial(two + "mul.lo.u32 %r6, %r6, 0x40000000;\n", "c[i] = 0 for i in 0..63"), "proved");
  EXPECT_EQ(polynomial(two + "mul.lo.u32 %r6, %r6, 0x20000000;\n", "c[i] = 0 for i in 0..63"),
            "wrong element");
}

TEST(Differences, OfIntegersAreThoseOfAllTheirBits) {
  auto const answer = [](std::string const& expect, std::string const& type = "u64") {
    return Case{"mov.u64 %rd7, -1; st.global.u64 [%rd1], %rd7;\n", type + "[1]", "f32[64]", {expect}, 1}
        .answer();
  };
  EXPECT_EQ(answer("c[i] = 18446744073709551615"), "proved");
  EXPECT_EQ(answer("c[i] = 18446744073709551614"), "wrong element");
  EXPECT_EQ(answer("c[i] = -1"), "proved");
  EXPECT_EQ(answer("c[i] = 18446744073709551615", "i64"), "proved");
  EXPECT_THROW((void)answer("c[i] = 1152921504606846977"), InputError) << "2^60 + 1";
  EXPECT_THROW((void)answer("c[i] = 3*9007199254740991"), InputError);
  EXPECT_EQ((Case{load + "mul.f32 %f2, %f1, 0f5F800000;\n" + store,
                  "f32[64]",
                  "f32[64]",
                  {"c[i] = 18446744073709551615*a[i]"}}
                 .answer()),
            "proved")
      << "2^64, which it is rounded to";
}

/// y = f(x) of an f32, or another type of 4 bytes in c.
std::string answer(std::string const& body, std::string const& expect, std::string const& type = "f32") {
  return Case{body, type + "[64]", "f32[64]", {expect}}.answer();
}

TEST(Differences, OfRoundingAreNotWrong) {
  std::string const unknown = "unknown: c[63] holds what is not followed: ";
  EXPECT_EQ(answer("mov.u32 %r5, 16777217; cvt.rn.f32.u32 %f2, %r5;\n" + store, "c[i] = 16777216"), "proved");
  EXPECT_EQ(answer("mov.u32 %r5, 16777217; cvt.rp.f32.u32 %f2, %r5;\n" + store, "c[i] = 16777216"),
            "wrong element");
  std::string const tenths = "mov.f32 %f3, 0f3DCCCCCD; mov.f32 %f4, 0f3E4CCCCD;\n";
  EXPECT_EQ(answer(tenths + "add.f32 %f2, %f3, %f4;\n" + store, "c[i] = 0.3"), "proved");
  EXPECT_EQ(answer(tenths + "add.f32 %f2, %f3, %f4;\n" + store, "c[i] = 0.1 + 0.2"), "proved");
  EXPECT_EQ(answer(tenths + "mul.f32 %f2, %f3, %f4;\n" + store, "c[i] = 0.1*0.2"), "proved");
  EXPECT_EQ(answer(tenths + "add.rm.f32 %f2, %f3, %f4;\n" + store, "c[i] = 0.3"), "wrong element");
  // of data: 0.1f * 0.2f is not 0.02f
  std::string const twice = load + tenths + "mul.f32 %f2, %f1, %f3; mul.f32 %f2, %f2, %f4;\n" + store;
  EXPECT_EQ(answer(twice, "c[i] = 0.02*a[i]"),
            unknown +
                "0.020000000596046452*a[63], where 0.019999999552965164*a[63] is expected: rounding may be "
                "the difference");
  EXPECT_EQ(answer(twice, "c[i] = 0.0201*a[i]"), "wrong element");
  // x * 0.1f * 10 - x: the rest is below the rounding of its parts
  EXPECT_EQ(
      answer(load + tenths +
                 "mul.f32 %f2, %f1, %f3; fma.rn.f32 %f2, %f2, 0f41200000, 0f00000000;\n"
                 "sub.f32 %f2, %f2, %f1;\n" +
                 store,
             "c[i] = 0"),
      unknown + "1.4901161193847656e-08*a[63], where 0*a[63] is expected: rounding may be the difference");
  // integers are exact, and what is moved is not rounded
  EXPECT_EQ(answer(load + "add.f32 %f2, %f1, %f1;\n" + store, "c[i] = 2.0000002*a[i]"),
            unknown + "2*a[63], where 2.000000238418579*a[63] is expected: rounding may be the difference");
  EXPECT_EQ(answer(load + "add.f32 %f2, %f1, %f1;\n" + store, "c[i] = 3*a[i]"), "wrong element");
  EXPECT_EQ(answer(load + "mov.f32 %f2, %f1;\n" + store, "c[i] = 1.0000001*a[i]"), "wrong element");
}

TEST(Differences, OfManyShortNumbersAreWrong) {
  // 1000 times an f16, which has 11 bits
  std::string sum =
      "ld.global.b16 %h1, [%rd2]; mov.b16 %h2, %h1; mov.u32 %r6, 1;\n"
      "$L: add.f16 %h2, %h2, %h1; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 1000; @%p1 bra $L;\n"
      "st.global.b16 [%rd1], %h2;\n";
  EXPECT_EQ((Case{sum, "f16[1]", "f16[1]", {"c[i] = 1000*a[i]"}, 1}.answer()), "proved");
  EXPECT_EQ((Case{sum, "f16[1]", "f16[1]", {"c[i] = 999*a[i]"}, 1}.answer()), "wrong element");
}

}  // namespace
}  // namespace swizproof
