// Arrays whose numbers are given: control and addresses follow them, and expectations have them.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string const gather =
    "ld.global.u32 %r5, [%rd4];\nmul.wide.u32 %rd6, %r5, 4;\nadd.s64 %rd7, %rd1, %rd6;\n";

TEST(Given, NumbersDecideAddresses) {
  Case c{gather + "st.global.u32 [%rd7], %r1;\n", "u32[4]", "u32[4]=3,2,0,1", {}, 4};
  EXPECT_EQ(c.answer(), "proved");
  EXPECT_EQ(c.value(0), "c[0] = 2");
  c.a = "u32[4]=3,2,0,3";
  EXPECT_EQ(c.kind(), "race");
  c.a = "u32[4]=3,2,0,4";
  EXPECT_EQ(c.kind(), "out of bounds");
  c.a = "u32[4]";
  EXPECT_EQ(c.kind(), "race");
  EXPECT_EQ(c.report().data, std::vector<std::string>{"a=a:u32[4]=zeros"});
}

TEST(Given, NumbersDecideBranches) {
  Case c{
      "ld.global.u32 %r5, [%rd4];\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra $E;\nst.global.u32 [%rd3], %r5;\n$E:\n",
      "u32[4]",
      "u32[4]=iota",
      {},
      4};
  EXPECT_EQ(c.value(0), "c[1] = 1");
}

TEST(Given, NumbersAreFactorsOfAnExpectation) {
  Case c{
      "ld.global.u32 %r5, [%rd4];\nld.global.u32 %r6, [%rd3];\nmad.lo.u32 %r6, %r5, 2, %r6;\nst.global.u32 "
      "[%rd3], %r6;\n",
      "u32[4]=zeros",
      "u32[4]",
      {"c[i] = a[i]"},
      4};
  EXPECT_EQ(c.answer(), "wrong element");
  c.body = "ld.global.u32 %r5, [%rd4];\nst.global.u32 [%rd3], %r5;\n";
  c.a = "u32[4]=4294967295,0,7,2147483648";
  EXPECT_EQ(c.answer(), "proved");
  c.body += "st.global.u32 [%rd3], 0;\n";
  EXPECT_EQ(c.answer(), "wrong element");
  // sums of integers wrap
  c.body =
      "ld.global.u32 %r5, [%rd2];\nld.global.u32 %r6, [%rd2+4];\nadd.u32 %r5, %r5, %r6;\nst.global.u32 "
      "[%rd1], %r5;\n";
  c.expect = {"c[i] = sum(k) a[k] for k in 0..1 for i in 0..0"}, c.threads = 1;
  c.a = "u32[4]=4294967295,4294967295,0,0";
  EXPECT_EQ(c.answer(), "proved");
}

TEST(Given, NumbersWithoutASignAreConverted) {
  Case c{"ld.global.u32 %r5, [%rd4];\ncvt.rn.f32.u32 %f2, %r5;\nst.global.f32 [%rd3], %f2;\n",
         "f32[4]",
         "u32[4]=4294967040,1,2,3",
         {},
         4};
  EXPECT_EQ(c.value(0), "c[0] = 4294967040");
  c.body = "ld.global.u8 %h1, [%rd2];\ncvt.rn.f32.u8 %f2, %h1;\nst.global.f32 [%rd3], %f2;\n";
  c.a = "u8[4]=255,1,2,3";
  EXPECT_EQ(c.value(0), "c[0] = 255");
  c.body = "ld.global.s8 %h1, [%rd2];\ncvt.rn.f32.s16 %f2, %h1;\nst.global.f32 [%rd3], %f2;\n";
  c.a = "i8[4]=-3,1,2,3";
  EXPECT_EQ(c.value(0), "c[0] = -3");
}

TEST(Given, NumbersThatAreNotWrittenStay) {
  Case c{"st.global.u16 [%rd3], 1;\n", "u32[4]=65536,0,0,0", "u32[4]", {}, 1};
  EXPECT_EQ(c.value(0), "c[0] = 65537");
}

}  // namespace
}  // namespace swizproof
