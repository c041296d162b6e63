// Floating-point instructions on numbers. [PTX ISA 9.1, 9.7.3: Floating-Point Instructions; 9.7.9.21: cvt]
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// The bits that instructions leave in %f2.
std::string bits_by(std::string const& body) {
  return Case{body + "mov.b32 %r4, %f2;\nst.global.u32 [%rd3], %r4;\n", "u32[64]", "f32[64]"}.value(0);
}
std::string of_two(std::string const& op, std::string const& a, std::string const& b) {
  return bits_by("mov.b32 %f1, " + a + ";\nmov.b32 %f3, " + b + ";\n" + op + " %f2, %f1, %f3;\n");
}
std::string of_one(std::string const& op, std::string const& a, std::string const& to = "%f2") {
  return bits_by("mov.b32 %f1, " + a + ";\n" + op + " " + to + ", %f1;\n" +
                 (to == "%f2" ? "" : "mov.b32 %f2, " + to + ";\n"));
}

TEST(RealNumbers, OfANanTheExtremesAreTheOtherNumber) {
  EXPECT_EQ(of_two("max.f32", "0x7fc00000", "0x40000000"), "c[0] = 1073741824");
  EXPECT_EQ(of_two("min.f32", "0x40000000", "0xffc12345"), "c[0] = 1073741824");
  EXPECT_EQ(of_two("max.NaN.f32", "0x7fc00000", "0x40000000"), "c[0] = 2147483647");
  EXPECT_NE(of_two("min.f32", "0x7fc00000", "0x7fc00000").find("min.f32 of"), std::string::npos);
  EXPECT_NE(of_one("abs.f32", "0xffc00001").find("abs.f32 of"), std::string::npos);
  Case one{load + "mov.b32 %f3, 0x7fc00000;\nmax.f32 %f2, %f1, %f3;\n" + store};
  one.expect = {"c[i] = a[i]"};
  EXPECT_EQ(one.answer(), "proved");
  Case const always{load +
                        "mov.b32 %f3, 0x7fc00000;\nmax.NaN.f32 %f2, %f1, %f3;\nmov.b32 %r4, %f2;\n"
                        "st.global.u32 [%rd3], %r4;\n",
                    "u32[64]",
                    "f32[64]",
                    {"c[i] = 2147483647"}};
  EXPECT_EQ(always.answer(), "proved");
}

TEST(RealNumbers, WithFtzAreNotBelowTheNormalOnes) {
  EXPECT_EQ(of_two("max.f32", "0x00000003", "0x80000000"), "c[0] = 3");
  EXPECT_EQ(of_two("max.ftz.f32", "0x00000003", "0x80000000"), "c[0] = 0");
  EXPECT_EQ(of_two("min.ftz.f32", "0x00000003", "0x80000007"), "c[0] = 2147483648") << "-0 is below +0";
  EXPECT_EQ(of_two("mul.f32", "0x80400000", "0x3f000000"), "c[0] = 2149580800");
  EXPECT_EQ(of_two("mul.ftz.f32", "0x80400000", "0x3f000000"), "c[0] = 2147483648") << "of the source";
  EXPECT_EQ(of_two("mul.ftz.f32", "0x00800000", "0x3f000000"), "c[0] = 0") << "of the result";
  EXPECT_EQ(of_two("mul.ftz.f32", "0x00800001", "0x3e800000"), "c[0] = 0") << "which is rounded";
  EXPECT_EQ(of_one("neg.ftz.f32", "0x00000001"), "c[0] = 2147483648");
  EXPECT_EQ(of_one("cvt.rpi.ftz.s32.f32", "0x00000001", "%r5"), "c[0] = 0");
  EXPECT_EQ(of_one("cvt.rpi.s32.f32", "0x00000001", "%r5"), "c[0] = 1");
  EXPECT_EQ(bits_by("mov.b32 %f1, 0x00000001;\nmov.b32 %f2, 0;\nsetp.eq.ftz.f32 %p1, %f1, %f2;\n"
                    "@%p1 mov.b32 %f2, 7;\n"),
            "c[0] = 7");
}

TEST(RealNumbers, WithSatAndReluAreLimited) {
  EXPECT_EQ(of_two("add.sat.f32", "0x40000000", "0x3f800000"), "c[0] = 1065353216");
  EXPECT_EQ(of_two("add.sat.f32", "0xc0000000", "0x3f800000"), "c[0] = 0");
  EXPECT_EQ(of_two("add.sat.f32", "0x7fc00000", "0x3f800000"), "c[0] = 0") << "a NaN is 0";
  EXPECT_EQ(of_one("cvt.sat.f32.f32", "0x40000000"), "c[0] = 1065353216");
  EXPECT_NE(of_two("add.sat.f32", "0x80000000", "0x80000000").find("add.sat.f32 of"), std::string::npos);
}

TEST(RealNumbers, OfAnotherRoundingAreExactOrNone) {
  EXPECT_EQ(of_two("add.rp.f32", "0x3f800000", "0x3f800000"), "c[0] = 1073741824");
  EXPECT_NE(of_two("add.rm.f32", "0x3f800000", "0xbf800000").find("add.rm.f32 of"), std::string::npos)
      << "-0, not 0";
  // 2^60 + 2^-60, which a double does not hold
  EXPECT_NE(of_two("add.rp.f32", "0x5d800000", "0x21800000"), "c[0] = 1568669696");
  EXPECT_EQ(of_two("add.rn.f32", "0x5d800000", "0x21800000"), "c[0] = 1568669696");
}

TEST(RealNumbers, AreRoundedOnce) {
  EXPECT_EQ(of_two("add.f32", "0x3dcccccd", "0x3e4ccccd"), "c[0] = 1050253722") << "0.1f + 0.2f";
  EXPECT_EQ(of_two("add.rz.f32", "0x3f800000", "0x33000001"), "c[0] = 1065353216") << "1 + 2^-25, and more";
  EXPECT_EQ(of_two("add.rp.f32", "0x3f800000", "0x00000001"), "c[0] = 1065353217");
  EXPECT_EQ(of_two("add.rm.f32", "0xbf800000", "0x80000001"), "c[0] = 3212836865");
  EXPECT_EQ(of_two("mul.rn.f32", "0x3dcccccd", "0x3e4ccccd"), "c[0] = 1017370379");
  EXPECT_EQ(of_two("mul.rn.f32", "0x7f000000", "0x40800000"), "c[0] = 2139095040") << "infinity";
  EXPECT_EQ(of_two("mul.rz.f32", "0x7f000000", "0x40800000"), "c[0] = 2139095039");
  EXPECT_EQ(of_two("mul.rn.f32", "0x00000003", "0x3f000000"), "c[0] = 2") << "1.5 units";
  // 2^24 + 1 + 2^-126: a tie of f64's rounding is none of the exact number
  EXPECT_EQ(bits_by("mov.b32 %f1, 0x45800800;\nmov.b32 %f3, 0x45800000;\nmov.b32 %f4, 0x00800000;\n"
                    "fma.rn.f32 %f2, %f1, %f3, %f4;\n"),
            "c[0] = 1266681856")
      << "4097 * 4096, exact";
  EXPECT_EQ(bits_by("mov.b32 %f1, 0x45800800;\nmov.b32 %f4, 0x00800000;\nfma.rn.f32 %f2, %f1, %f1, %f4;\n"),
            "c[0] = 1266683905")
      << "4097 * 4097 = 16785409, between two";
  EXPECT_EQ(bits_by("mov.b32 %f1, 0x45800800;\nmov.b32 %f4, 0x80800000;\nfma.rn.f32 %f2, %f1, %f1, %f4;\n"),
            "c[0] = 1266683904");
  auto const of_integer = [](std::string const& op, std::string const& number) {
    return bits_by("mov.u64 %rd7, " + number + ";\n" + op + " %f2, %rd7;\n");
  };
  EXPECT_EQ(of_integer("cvt.rn.f32.u64", "16777217"), "c[0] = 1266679808");
  EXPECT_EQ(of_integer("cvt.rn.f32.u64", "16777219"), "c[0] = 1266679810");
  EXPECT_EQ(of_integer("cvt.rp.f32.u64", "16777217"), "c[0] = 1266679809");
  EXPECT_EQ(of_integer("cvt.rn.f32.u64", "0x8000008000000001"), "c[0] = 1593835521") << "a tie, and more";
  EXPECT_EQ(of_integer("cvt.rn.f32.s64", "0x8000000000000001"), "c[0] = 3741319168");
  auto const to_half = [](std::string const& op, std::string const& number) {
    return bits_by("mov.b32 %f1, " + number + ";\n" + op + " %h1, %f1;\nmov.b32 %f2, {%h1, %h1};\n");
  };
  EXPECT_EQ(to_half("cvt.rn.f16.f32", "0x3dcccccd"), "c[0] = 778448486") << "0.1 is 0x2e66";
  EXPECT_EQ(to_half("cvt.rz.f16.f32", "0x477ff000"), "c[0] = 2080340991") << "65520 is 0x7bff";
  EXPECT_EQ(to_half("cvt.rn.f16.f32", "0x477ff000"), "c[0] = 2080406528") << "infinity";
  EXPECT_EQ(to_half("cvt.rn.bf16.f32", "0x3dcccccd"), "c[0] = 1036860877") << "0x3dcd";
}

TEST(RealNumbers, OfOneWithoutANumberAreNoNumbers) {
  EXPECT_NE(of_two("add.f32", "0x7f800000", "0xff800000").find("add.f32 of"), std::string::npos);
  Case const c{load + "mov.b32 %f3, 0x7fc00000;\nadd.f32 %f2, %f1, %f3;\n" + store,
               "f32[64]",
               "f32[64]",
               {"c[i] = a[i]"}};
  EXPECT_EQ(c.kind(), "unknown");
}

TEST(RealNumbers, AreRoundedToIntegers) {
  EXPECT_EQ(of_one("cvt.rni.f32.f32", "0x41180000"), "c[0] = 1092616192") << "9.5 is 10";
  EXPECT_EQ(of_one("cvt.rni.s32.f32", "0x40200000", "%r5"), "c[0] = 2") << "2.5";
  EXPECT_EQ(of_one("cvt.rzi.s32.f32", "0xc15ccccd", "%r5"), "c[0] = 4294967283");
  EXPECT_EQ(of_one("cvt.rzi.u32.f32", "0xc15ccccd", "%r5"), "c[0] = 0");
  EXPECT_EQ(of_one("cvt.rzi.s32.f32", "0x7f800000", "%r5"), "c[0] = 2147483647");
  EXPECT_NE(of_one("cvt.rzi.s32.f32", "0x7fc00000", "%r5").find("cvt.rzi.s32.f32 of"), std::string::npos);
}

TEST(RealNumbers, OfOtherInstructionsAreThoseOfIeee754) {
  EXPECT_EQ(of_two("div.rn.f32", "0x3f800000", "0x40400000"), "c[0] = 1051372203") << "1 / 3";
  EXPECT_EQ(of_two("div.rn.ftz.f32", "0x00800000", "0x40000000"), "c[0] = 0");
  EXPECT_EQ(of_one("rcp.rn.f32", "0x40400000"), "c[0] = 1051372203");
  EXPECT_EQ(of_one("sqrt.rn.f32", "0x40800000"), "c[0] = 1073741824");
  EXPECT_EQ(of_two("copysign.f32", "0x80000000", "0x40000000"), "c[0] = 3221225472");
  EXPECT_EQ(
      bits_by(
          "mov.b32 %f1, 0x00000001;\nmov.b32 %f2, 0;\ntestp.subnormal.f32 %p1, %f1;\n@%p1 mov.b32 %f2, 7;\n"),
      "c[0] = 7");
  EXPECT_NE(of_one("rcp.approx.f32", "0x40400000").find("rcp.approx.f32 of"), std::string::npos);
}

}  // namespace
}  // namespace swizproof
