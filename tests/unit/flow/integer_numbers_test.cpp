// Integer instructions on numbers. [PTX ISA 9.1, 9.7.1, 9.7.2, 9.7.9, 9.7.13]
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// The word that instructions leave in %r4, of a thread.
std::string word_of(std::string const& body, unsigned thread = 0) {
  return Case{body + "st.global.u32 [%rd3], %r4;\n", "u32[64]", "f32[64]"}.value(thread).substr(
      fmt::format("c[{}] = ", thread).size());
}
std::string words_of(std::string const& a, std::string const& b) {
  return "mov.b32 %r5, " + a + ";\nmov.b32 %r6, " + b + ";\n";
}

TEST(IntegerNumbers, OfSumsHaveCarries) {
  std::string const ones = words_of("0xffffffff", "1");
  EXPECT_EQ(word_of(ones + "add.cc.u32 %r4, %r5, %r6;\naddc.u32 %r4, %r6, 0;\n"), "2");
  EXPECT_EQ(word_of(ones + "add.cc.u32 %r4, %r5, %r5;\naddc.cc.u32 %r4, %r5, 0;\naddc.u32 %r4, 0, 0;\n"),
            "1");
  EXPECT_EQ(word_of(ones + "sub.cc.u32 %r4, %r6, %r5;\nsubc.u32 %r4, 7, 0;\n"), "6");
  EXPECT_NE(word_of(ones + "sub.cc.u32 %r4, %r6, %r5;\naddc.u32 %r4, 7, 0;\n").find(" of"), std::string::npos)
      << "PTX has a borrow there, the tests of ZLUDA its inverse";
  EXPECT_EQ(
      word_of(ones + "sub.cc.u32 %r4, %r6, %r5;\nsubc.u32 %r5, 7, 0;\nadd.cc.u32 %r4, %r5, %r5;\naddc.u32 "
                     "%r4, %r5, 0;\n"),
      "6");
  EXPECT_EQ(word_of(ones + "mad.lo.cc.u32 %r4, %r5, 2, 2;\nmadc.hi.u32 %r4, %r5, 2, 0;\n"), "2");
  EXPECT_EQ(word_of(ones + "mad.lo.cc.u32 %r4, %r5, 2, 1;\nmadc.hi.s32 %r4, %r5, 2, 5;\n"), "4")
      << "-2 / 2^32 + 5";
}

TEST(IntegerNumbers, WithSatAreLimited) {
  EXPECT_EQ(word_of("mov.b32 %r5, -1;\ncvt.sat.u32.s32 %r4, %r5;\n"), "0");
  EXPECT_EQ(word_of("mov.b32 %r5, 0xffffffff;\ncvt.sat.s32.u32 %r4, %r5;\n"), "2147483647");
  EXPECT_EQ(word_of("mov.b32 %r5, -300;\ncvt.sat.s8.s32 %r4, %r5;\n"), "4294967168");
  EXPECT_EQ(word_of(words_of("-257", "257") + "cvt.pack.sat.u8.s32.b32 %r4, %r5, %r6, 0x1234;\n"),
            "305398015")
      << "0x123400ff";
  EXPECT_EQ(word_of(words_of("-40000", "257") + "cvt.pack.sat.s16.s32 %r4, %r5, %r6;\n"), "2147483905")
      << "0x80000101";
}

TEST(IntegerNumbers, OfAProductHaveAHighHalf) {
  std::string const high = "shr.u64 %rd7, %rd7, 32;\ncvt.u32.u64 %r4, %rd7;\n";
  EXPECT_EQ(word_of("mov.b64 %rd6, -1;\nmul.hi.u64 %rd7, %rd6, %rd6;\n" + high), "4294967295") << "2^64 - 2";
  EXPECT_EQ(word_of("mov.b64 %rd6, -1;\nmul.hi.s64 %rd7, %rd6, %rd6;\n" + high), "0");
}

TEST(IntegerNumbers, OfAWarpAreJoined) {
  EXPECT_EQ(word_of("redux.sync.add.u32 %r4, %r1, -1;\n"), "496");
  EXPECT_EQ(word_of("redux.sync.max.u32 %r4, %r1, -1;\n", 40), "63");
  EXPECT_EQ(word_of("sub.s32 %r5, %r1, 5;\nredux.sync.min.s32 %r4, %r5, -1;\n"), "4294967291");
  EXPECT_EQ(word_of("redux.sync.xor.b32 %r4, %r1, -1;\n", 33), "0");
  EXPECT_EQ(word_of("and.b32 %r5, %r1, 3;\nmatch.any.sync.b32 %r4, %r5, -1;\n", 1), "572662306")
      << "0x22222222";
  EXPECT_EQ(word_of("shr.u32 %r5, %r1, 5;\nmatch.all.sync.b32 %r4, %r5, -1;\n", 33), "4294967295");
  EXPECT_EQ(word_of("match.all.sync.b32 %r4|%p1, %r1, -1;\n@%p1 mov.u32 %r4, 7;\n"), "0");
  EXPECT_NE(
      word_of("ld.global.u32 %r5, [%rd4];\nredux.sync.add.u32 %r4, %r5, -1;\n").find("redux.sync.add.u32 of"),
      std::string::npos);
}

TEST(IntegerNumbers, OfLanesAreMovedTogether) {
  std::string const lanes = "mov.b32 %r5, 1;\nmov.b32 %r6, 2;\n";
  EXPECT_EQ(word_of(lanes + "mov.v2.u32 {%r6, %r5}, {%r5, %r6};\nmad.lo.u32 %r4, %r5, 10, %r6;\n"), "21");
  EXPECT_EQ(word_of("mov.u32 %r4, WARP_SZ;\n"), "32");
}

}  // namespace
}  // namespace swizproof
