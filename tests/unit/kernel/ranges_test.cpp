// Bounds of addresses that no case has as numbers.
#include "kernel_case.hpp"

namespace swizproof {
namespace {

/// Bounds of the load of `bytes` at `tile` plus four times %r4; of `tile` are 8,192 bytes. %r6 is any number of the lane, %r3 a parameter.
std::optional<bool> bounds(std::string const& index, std::string const& last = "ld.shared.u32 %r5, [%r4];") {
  return one("ld.param.u64 %rd1, [g]; mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r6, [%rd2];\n" + index +
             " shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; " + last + "\nX:")
      .in_bounds;
}

TEST(KernelRanges, OfAnyNumberThatIsMaskedOrLimited) {
  EXPECT_EQ(bounds("and.b32 %r4, %r6, 2047;"), true);
  EXPECT_NE(bounds("and.b32 %r4, %r6, 2048;"), true);
  EXPECT_NE(bounds("and.b32 %r4, %r6, 2047;", "ld.shared.u32 %r5, [%r4+4];"), true);
  EXPECT_EQ(bounds("and.b32 %r4, %r6, 2046;", "ld.shared.u32 %r5, [%r4+4];"), true);
  EXPECT_EQ(bounds("min.u32 %r4, %r6, 2047;"), true);
  EXPECT_NE(bounds("min.s32 %r4, %r6, 2047;"), true);
  EXPECT_EQ(bounds("min.s32 %r4, %r6, 2047; max.s32 %r4, %r4, 0;"), true);
  EXPECT_EQ(bounds("rem.u32 %r4, %r6, 2048;"), true);
  EXPECT_NE(bounds("rem.u32 %r4, %r6, 2049;"), true);
  EXPECT_EQ(bounds("shr.u32 %r4, %r6, 21;"), true);
  EXPECT_NE(bounds("shr.u32 %r4, %r6, 20;"), true);
  EXPECT_EQ(bounds("mul.lo.u32 %r4, %r1, %r3; and.b32 %r4, %r4, 2047;"), true);
  EXPECT_EQ(bounds("and.b32 %r4, %r6, 1023; and.b32 %r7, %r3, 1024; add.u32 %r4, %r4, %r7;"), true);
  EXPECT_NE(
      bounds("and.b32 %r4, %r6, 1023; and.b32 %r7, %r3, 1024; add.u32 %r7, %r7, 1; add.u32 %r4, %r4, %r7;"),
      true);
  EXPECT_NE(bounds("and.b32 %r4, %r6, 1023; sub.u32 %r4, %r4, 1;"), true);
  EXPECT_NE(bounds("and.b32 %r4, %r6, 1023; sub.u32 %r4, %r4, 1; shr.u32 %r4, %r4, 1;"), true) << "of -1";
}

TEST(KernelRanges, OfANumberThatAConditionChooses) {
  auto const chosen = [](std::string const& condition) {
    return bounds(condition + " selp.b32 %r4, %r6, 0, %p1;");
  };
  EXPECT_EQ(chosen("setp.lt.u32 %p1, %r6, 2048;"), true);
  EXPECT_NE(chosen("setp.ne.u32 %p1, %r6, 2048;"), true) << "it may be more";
  EXPECT_EQ(chosen("and.b32 %r6, %r6, 2048; setp.ne.u32 %p1, %r6, 2048;"), true);
  EXPECT_NE(chosen("add.u32 %r8, %r6, 5; setp.lt.u32 %p1, %r8, 2048;"), true) << "it may be -5";
}

TEST(KernelRanges, OfANumberThatAConditionLimits) {
  std::string const use = " @!%p1 bra X; mov.u32 %r4, %r3;";
  EXPECT_EQ(bounds("setp.lt.u32 %p1, %r3, 2048;" + use), true);
  EXPECT_NE(bounds("setp.le.u32 %p1, %r3, 2048;" + use), true);
  EXPECT_NE(bounds("setp.lt.s32 %p1, %r3, 2048;" + use), true) << "n may be negative";
  EXPECT_EQ(bounds("setp.lt.s32 %p2, %r3, 2048; setp.ge.and.s32 %p1, %r3, 0, %p2;" + use), true);
  EXPECT_NE(bounds("setp.lt.s32 %p2, %r3, 2048; setp.ge.and.s32 %p1, %r3, -1, %p2;" + use), true);
  EXPECT_NE(bounds("setp.lt.s32 %p2, %r3, 2048; setp.ge.or.s32 %p1, %r3, 0, %p2;" + use), true);
  std::string const of_lane = " @!%p1 bra X; mov.u32 %r4, %r6;";
  EXPECT_EQ(bounds("setp.lt.u32 %p1, %r6, 2048;" + of_lane), true);
  EXPECT_EQ(bounds("sub.u32 %r7, %r6, 5; setp.lt.u32 %p1, %r7, 2043;" + of_lane), true);
  EXPECT_NE(bounds("sub.u32 %r7, %r6, 5; setp.lt.u32 %p1, %r7, 2044;" + of_lane), true);
  EXPECT_NE(bounds("add.u32 %r7, %r6, 5; setp.lt.u32 %p1, %r7, 2044;" + of_lane), true) << "from -5 on";
  EXPECT_EQ(bounds("setp.eq.u32 %p1, %r6, 2047;" + of_lane), true);
  EXPECT_NE(bounds("setp.ne.u32 %p1, %r6, 2048;" + of_lane), true);
}

TEST(KernelRanges, OfCountersBehindOneAnother) {
  auto const stepped = [](std::string const& last) {
    return bounds(
        "and.b32 %r4, %r6, 1023; mov.u32 %r8, 0; L: add.u32 %r4, %r4, 128; add.u32 %r8, %r8, 1;\n"
        "setp.lt.u32 %p2, %r8, " +
        last + "; @%p2 bra L;");
  };
  EXPECT_EQ(stepped("8"), true);
  EXPECT_NE(stepped("9"), true);
}

TEST(KernelRanges, AlignmentOfAnyNumberOfWords) {
  std::string const head =
      "ld.param.u64 %rd1, [g]; mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r6, [%rd2]; and.b32 %r6, "
      "%r6, ";
  EXPECT_EQ(one(head + "0xff0; add.u32 %r4, %r6, %r2; ld.shared.v4.u32 {%r5, %r7, %r8, %r9}, [%r4];").aligned,
            true);
  EXPECT_NE(one(head + "0xff8; add.u32 %r4, %r6, %r2; ld.shared.v4.u32 {%r5, %r7, %r8, %r9}, [%r4];").aligned,
            true);
}

}  // namespace
}  // namespace swizproof
