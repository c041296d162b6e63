// cvt from and to numbers of 4, 6 and 8 bits, .abs of max and min. [PTX ISA 9.1, 9.7.9.21: cvt; 5.2.3; 9.7.3.11: min; 9.7.3.12: max]
#include "kernel_case.hpp"

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
namespace {

/// The first two elements of c, as bits of a thread's result in %r5.
std::string bits_of(std::string const& body) {
  Case c{body + "st.global.u32 [%rd1], %r5;\n", "u32[1]"};
  c.threads = 1;
  return c.value(0);
}
/// Bits of a byte or two, converted to f16x2 or bf16x2.
std::string unpacked(std::string const& form, unsigned bits) {
  return bits_of(fmt::format("mov.b16 %h1, {};\ncvt.rn.{} %r5, %h1;\n", bits, form));
}
/// Bits of two numbers of f32, packed.
std::string packed(std::string const& form, std::string const& upper, std::string const& lower) {
  return bits_of(
      fmt::format("mov.f32 %f1, {}; mov.f32 %f2, {};\n{{\n.reg .b8 %q1;\ncvt.rn.satfinite.{} %q1, %f1, "
                  "%f2;\ncvt.u32.u8 %r5, %q1;\n}}\n",
                  upper, lower, form));
}

TEST(SmallNumbers, AreUnpacked) {
  EXPECT_EQ(unpacked("bf16x2.ue8m0x2", 0x827f), "c[0] = 1090535296");                  // 8, 1
  EXPECT_EQ(unpacked("f16x2.e2m3x2", 0x1f28), fmt::format("c[0] = {}", 0x4780bc00U));  // 7.5, -1
  EXPECT_EQ(unpacked("f16x2.e3m2x2", 0x1f0c), fmt::format("c[0] = {}", 0x4f003c00U));  // 28, 1
  EXPECT_EQ(unpacked("f16x2.e2m1x2", 0x42), fmt::format("c[0] = {}", 0x40003c00U));    // 2, 1
  EXPECT_EQ(unpacked("f16x2.e4m3x2", 0x7e38), fmt::format("c[0] = {}", 0x5f003c00U));  // 448, 1
  EXPECT_EQ(unpacked("f16x2.e4m3x2", 0x7f38).find("c[0] = 1"), std::string::npos);     // NaN
}

TEST(SmallNumbers, ArePacked) {
  EXPECT_EQ(packed("e2m1x2.f32", "0f40800000", "0fBF800000"), fmt::format("c[0] = {}", 0x6aU));  // 4, -1
  EXPECT_EQ(packed("e2m1x2.f32", "0f41200000", "0f00000000"),
            fmt::format("c[0] = {}", 0x70U));  // 10 becomes 6
  EXPECT_EQ(packed("e2m1x2.f32", "0f40200000", "0f00000000").find("c[0] = 1"), std::string::npos);  // 2.5
}

// A pair of data keeps its names from ue8m0 alone; all others are not followed, as long as data are not given.
TEST(SmallNumbers, OfDataAreFollowedOrNot) {
  auto const answer = [](std::string const& form, std::string const& type) {
    Case c{"ld.global.u16 %h1, [%rd2];\ncvt.rn." + form + " %r5, %h1;\nst.global.u32 [%rd1], %r5;\n",
           (form[0] == 'b' ? "bf16" : "f16") + std::string("[2]"),
           type + "[2]",
           {"c[i] = a[i]"}};
    c.threads = 1;
    return c.kind();
  };
  EXPECT_EQ(answer("bf16x2.ue8m0x2", "e8m0"), "proved");
  EXPECT_EQ(answer("bf16x2.ue8m0x2", "u8"), "wrong element");
  EXPECT_EQ(answer("f16x2.e2m3x2", "u8"), "unknown");
  EXPECT_EQ(answer("f16x2.e4m3x2", "e4m3"), "proved");
  Case round{
      "ld.global.v2.f32 {%f1, %f2}, [%rd2];\n{\n.reg .b8 %q1;\ncvt.rn.satfinite.e2m1x2.f32 %q1, %f2, %f1;\n"
      "cvt.rn.f16x2.e2m1x2 %r5, %q1;\n}\nst.global.u32 [%rd1], %r5;\n",
      "f16[2]",
      "f32[2]",
      {"c[i] = a[i]"}};
  round.threads = 1;
  EXPECT_EQ(round.kind(), "unknown");
  round.a = "f32[2]=4,2";
  EXPECT_EQ(round.answer(), "proved");
}

// Four results fill the whole register.
TEST(SmallNumbers, OfFourAreNotFollowed) {
  EXPECT_EQ(bits_of("mov.f32 %f1, 0f3F800000;\ncvt.rs.satfinite.e4m3x4.f32 %r5, {%f1, %f1, %f1, %f1}, %r1;\n"
                    "shr.u32 %r5, %r5, 24;\n")
                .find("c[0] = 0"),
            std::string::npos);
}

// The layout of tf32 is of the implementation, and it has 10 bits of mantissa at least.
TEST(SmallNumbers, OfTf32HaveNoLowBits) {
  std::string const low = "and.b32 %r5, %r5, 8191;\n";
  EXPECT_EQ(bits_of("cvt.rna.tf32.f32 %r5, 0f3F800000;\n" + low), "c[0] = 0");
  EXPECT_NE(bits_of("cvt.rna.tf32.f32 %r5, 0f3DCCCCCD;\n" + low), "c[0] = 3277");
}

TEST(SmallNumbers, HaveTheLargestOfAbsoluteValues) {
  auto const answer = [](std::string const& op, std::string const& expectation) {
    Case c{"ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2];\n" + op +
               ".f32 %f5, %f1, %f2, %f3;\nst.global.f32 [%rd1], %f5;\n",
           "f32[1]",
           "f32[4]",
           {"c[i] = " + expectation}};
    c.threads = 1;
    return c.kind();
  };
  EXPECT_EQ(answer("max.abs", "max(abs(a[0]), abs(a[1]), abs(a[2]))"), "proved");
  EXPECT_EQ(answer("max.abs", "max(a[0], a[1], a[2])"), "wrong element");
  EXPECT_EQ(answer("min.NaN.abs", "min(abs(a[0]), abs(a[1]), abs(a[2]))"), "proved");
  EXPECT_EQ(answer("max", "max(a[0], a[1], a[2])"), "proved");
  EXPECT_EQ(bits_of("mov.f32 %f1, 0fC0000000; mov.f32 %f2, 0f3F800000;\nmin.abs.f32 %f3, %f1, %f2, %f1;\n"
                    "mov.b32 %r5, %f3;\n"),
            "c[0] = 1065353216");
}

}  // namespace
}  // namespace swizproof
