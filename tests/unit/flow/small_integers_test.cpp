// Matrix products with elements of 4 bits: two of them share a byte, and are followed as one pair.
#include "kernel_case.hpp"

#include <swizproof/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace swizproof {
namespace {

std::string const right = "c[m][n] = sum(p in 0..15) a[m][p] * a[8 + n][p] for m in 0..7 for n in 0..7";

/// A and B of 8 rows, and of 8 columns, of 32 elements, from one array of 16 rows: each lane has four bytes of both.
Case product(std::string const& type, std::string const& array, std::string const& expect,
             std::string const& b = "ld.global.u32 %r5, [%rd4+128];\n", std::string const& after = "") {
  return {"ld.global.u32 %r4, [%rd4];\nmov.u32 %r8, 0;\n" + b + "mma.sync.aligned.m8n8k32.row.col.s32." +
              type + "." + type + ".s32 {%r6, %r7}, {%r4}, {%r5}, {%r8, %r8};\n" + after +
              "mul.wide.u32 %rd6, %r1, 8; add.s64 %rd6, %rd6, %rd1;\nst.global.v2.u32 [%rd6], {%r6, %r7};\n",
          "i32[8][8]",
          array + "[16][16]",
          {expect},
          32};
}

TEST(SmallIntegers, AreFollowedAsPairs) {
  EXPECT_EQ(product("s4", "s4x2", right).answer(), "proved");
  EXPECT_EQ(product("u4", "u4x2", right).answer(), "proved");
  EXPECT_EQ(product("s4", "s4x2", "c[n][m]" + right.substr(7)).answer(), "wrong element") << "transposed";
  EXPECT_EQ(product("s4", "s4x2",
                    "c[m][n] = sum(p in 0..15) a[m][p] * a[8 + n][15 - p] for m in 0..7 for n in 0..7")
                .answer(),
            "wrong element")
      << "another order of k";
  FlowReport const r = product("s4", "s4x2",
                               "c[m][n] = sum(p in 0..15 if p > 0 || m != 1) a[m][p] * a[8 + n][p] for m in "
                               "0..7 for n in 0..7")
                           .report();
  EXPECT_EQ(r.wrong, 8) << "one row";
}

TEST(SmallIntegers, OfAnotherSignAreOtherNumbers) {
  EXPECT_EQ(product("u4", "s4x2", right).answer(), "wrong element");
  EXPECT_EQ(product("s4", "u4x2", right).answer(), "wrong element");
}

TEST(SmallIntegers, OfBytesThatAreNoPairsAreNotThoseOfTheArray) {
  EXPECT_NE(product("s4", "i8", right).answer(), "proved");
}

TEST(SmallIntegers, ThatAreKnownAreNotFollowedUnlessTheyAreZero) {
  EXPECT_EQ(product("s4", "s4x2", "c[m][n] = 0", "mov.u32 %r5, 0;\n").answer(), "proved");
  EXPECT_EQ(product("s4", "s4x2", "c[m][n] = 0", "mov.u32 %r5, 0x11111111;\n").kind(), "unknown");
}

/// Why an expectation has no value.
std::string refusal(std::string const& of) {
  try {
    return product("s4", "s4x2", "c[m][n] = " + of + " for m in 0..7 for n in 0..7").answer();
  } catch (InputError const& error) {
    return error.message;
  }
}

TEST(SmallIntegers, HaveNoValueAsOnePair) {
  EXPECT_EQ(refusal("a[m][n]"), "a[0][0] has no value: an element is a pair of numbers");
  EXPECT_EQ(refusal("sum(p in 0..15) a[m][p] * a[n][p] * a[8][p]"),
            "a[0][0]*a[0][0]*a[8][0] has no value: an element is a pair of numbers");
  EXPECT_EQ(refusal("a[m][n] * a[m][n] * a[m][n] * a[m][n]"),
            "a[0][0]*a[0][0]*a[0][0]*a[0][0] has no value: an element is a pair of numbers");
  EXPECT_EQ(refusal("max(a[m][n], 0)"), "a[0][0] has no value: an element is a pair of numbers");
  Case copy{"ld.global.u32 %r4, [%rd4];\nst.global.u32 [%rd3], %r4;\n",
            "s4x2[256]",
            "s4x2[256]",
            {"c[i] = a[i]"},
            64};
  EXPECT_EQ(copy.answer(), "proved") << "a copy";
  copy.expect = {"c[i] = a[255 - i]"};
  EXPECT_EQ(copy.answer(), "wrong element");
}

// (a*b) * (c*d) of pairs is not (a*c) * (b*d)
TEST(SmallIntegers, AreNotMultipliedTwice) {
  Case const c =
      product("s4", "s4x2", "c[m][n] = 0", "ld.global.u32 %r5, [%rd4+128];\n", "mul.lo.s32 %r6, %r6, %r7;\n");
  EXPECT_EQ(c.kind(), "unknown");
  EXPECT_NE(c.answer().find("a product of products of pairs"), std::string::npos) << c.answer();
}

/// True if the answer assumes something of .satfinite.
bool assumes_no_saturation(Case const& c) {
  auto const all = c.report().assumed;
  return std::any_of(all.begin(), all.end(),
                     [](std::string const& text) { return text.find(".satfinite") != std::string::npos; });
}

TEST(SmallIntegers, SaturateByAnAssumption) {
  Case c = product("s4", "s4x2", right);
  EXPECT_FALSE(assumes_no_saturation(c));
  c.body.replace(c.body.find(".s32.s4"), 7, ".satfinite.s32.s4");
  EXPECT_EQ(c.answer(), "proved");
  EXPECT_TRUE(assumes_no_saturation(c));
}

TEST(SmallIntegers, OfSixtyFourColumnsHaveTwoHalvesOfK) {
  auto const of = [](unsigned first, unsigned second) {
    return Case{
        fmt::format(
            "shr.u32 %r4, %r1, 2; and.b32 %r5, %r1, 3; shl.b32 %r4, %r4, 5; shl.b32 %r5, %r5, 2;\n"
            "add.u32 %r4, %r4, %r5; cvt.u64.u32 %rd6, %r4; add.u64 %rd6, %rd6, %rd2;\n"
            "ld.global.u32 %r10, [%rd6]; ld.global.u32 %r11, [%rd6+256];\n"
            "ld.global.u32 %r12, [%rd6+16]; ld.global.u32 %r13, [%rd6+272];\n"
            "ld.global.u32 %r14, [%rd6+{}]; ld.global.u32 %r15, [%rd6+{}]; mov.u32 %r8, 0;\n"
            "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32 {{%r20, %r21, %r22, %r23}}, {{%r10, %r11, "
            "%r12, %r13}}, {{%r14, %r15}}, {{%r8, %r8, %r8, %r8}};\n"
            "mul.wide.u32 %rd6, %r1, 8; add.s64 %rd6, %rd6, %rd1;\n"
            "st.global.v2.u32 [%rd6], {{%r20, %r21}}; st.global.v2.u32 [%rd6+256], {{%r22, %r23}};\n",
            first, second),
        "i32[16][8]",
        "u4x2[24][32]",
        {"c[m][n] = sum(p in 0..31) a[m][p] * a[16 + n][p] for m in 0..15 for n in 0..7"},
        32};
  };
  EXPECT_EQ(of(512, 528).answer(), "proved");
  EXPECT_EQ(of(528, 512).answer(), "wrong element");
}

TEST(SmallIntegers, OfWmmaAreTheMatricesInMemory) {
  auto const of = [](unsigned stride) {
    return Case{
        fmt::format("mov.u32 %r4, {}; mov.u32 %r9, 8;\n"
                    "wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {{%r5}}, [%rd2], %r4;\n"
                    "wmma.load.b.sync.aligned.col.m8n8k32.global.s4 {{%r6}}, [%rd2+128], 32;\n"
                    "mov.u32 %r7, 0;\nwmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {{%r10, %r11}}, "
                    "{{%r5}}, {{%r6}}, {{%r7, %r7}};\n"
                    "wmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%rd1], {{%r10, %r11}}, %r9;\n",
                    stride),
        "i32[8][8]",
        "s4x2[16][16]",
        {right},
        32};
  };
  EXPECT_EQ(of(32).answer(), "proved");
  EXPECT_EQ(of(24).answer(), "wrong element");
  Case saturated = of(32);
  saturated.body.replace(saturated.body.find(".s4.s32"), 7, ".s4.s32.satfinite");
  EXPECT_EQ(saturated.answer(), "proved");
  EXPECT_TRUE(assumes_no_saturation(saturated) && !assumes_no_saturation(of(32)));
  EXPECT_EQ(of(33).kind(), "unknown") << "lines that begin within a byte";
}

}  // namespace
}  // namespace swizproof
