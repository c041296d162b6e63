// Loops: their iterations, lanes that leave them, and values behind them.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace swizproof {
namespace {

/// `step` times the lane's number is taken from 4 + `step` * `trips` times it in each of so many iterations; the loop is left with 4 a lane.
std::string rows_behind_a_loop(unsigned step, unsigned trips, std::string const& more = "") {
  return "mul.lo.u32 %r5, %r1, " + std::to_string(4 + step * trips) +
         "; mov.u32 %r6, 0;\nL: mad.lo.u32 %r5, %r1, -" + std::to_string(step) + ", %r5; " + more +
         " add.u32 %r6, %r6, 1; setp.ne.u32 %p1, %r6, " + std::to_string(trips) +
         "; @%p1 bra L;\nadd.u32 %r7, %r2, %r5; ld.shared.u32 %r8, [%r7];";
}

TEST(Kernel, BehindALoopItsLastIterationCounts) {
  KernelOptions const warp{.block = std::array<std::uint32_t, 3>{32, 1, 1}};
  KernelAccess const a = one(rows_behind_a_loop(124, 2), warp);
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 1U);
  EXPECT_TRUE(a.reached);
  EXPECT_EQ(a.layout, "32:4");
  // Far beyond the array in the first iteration, which no lane leaves.
  KernelAccess const far = one(rows_behind_a_loop(4096, 3), warp);
  EXPECT_EQ(far.in_bounds, true) << far.bounds_reason;
  // Misaligned by 4 bytes in each iteration, so also in the last.
  KernelAccess const odd =
      one("mad.lo.u32 %r5, %r1, 8, 4; mov.u32 %r6, 0;\nL: add.u32 %r5, %r5, 8; add.u32 %r6, %r6, 1; "
          "setp.ne.u32 %p1, %r6, 5; "
          "@%p1 bra L;\nadd.u32 %r7, %r2, %r5; ld.shared.v2.u32 {%r8, %r9}, [%r7];",
          warp);
  EXPECT_EQ(odd.aligned, false);
  // Within the loop each iteration counts.
  auto const both =
      decided(rows_behind_a_loop(124, 2, "add.u32 %r7, %r2, %r5; st.shared.u32 [%r7], %r1;"), warp);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].wavefronts, 32U);
  EXPECT_TRUE(both[0].reached);
  EXPECT_EQ(both[1].wavefronts, 1U);
}

TEST(Kernel, ConditionsOnTheCounterOfALoopAreSettledBehindIt) {
  // As a compiler unrolls loops: what is left is done where the counter says so. It has run 5 times: no column of 8 * 128 bytes.
  KernelAccess const a =
      one("shl.b32 %r5, %r1, 2; shl.b32 %r7, %r1, 7; mov.u32 %r6, 0;\nL: add.u32 %r6, %r6, 1; setp.ne.u32 "
          "%p1, %r6, "
          "5; @%p1 bra L;\nsetp.lt.u32 %p2, %r6, 4; selp.b32 %r8, %r7, %r5, %p2; add.u32 %r8, %r8, %r2; "
          "ld.shared.u32 "
          "%r9, [%r8];");
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 1U);
  EXPECT_TRUE(a.reached);
}

TEST(Kernel, TheLowBitsOfARegisterInALoopAreFollowedAlone) {
  // 16 bits that are extended by their sign: where they wrap, lanes are 2^16 apart, and their banks are as before.
  std::string const loop =
      "mov.u32 %r5, %r1;\nL: shl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r2; st.shared.u32 [%r6], %r1; add.u32 "
      "%r7, %r5, 32; "
      "cvt.s32.s16 %r5, %r7; setp.lt.s32 %p1, %r5, %r3; @%p1 bra L;";
  KernelAccess const a = one(loop);
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 1U);
  std::string column = loop;
  column.replace(column.find("shl.b32 %r6, %r5, 2"), 19, "shl.b32 %r6, %r5, 7");
  EXPECT_EQ(one(column).wavefronts, 32U);
}

/// Up-sweep of a scan: offset doubles, and half of the lanes are left in each iteration.
std::string up_sweep(std::string const& threads) {
  return "mov.u32 %r4, 1; mov.u32 %r5, " + threads +
         ";\nL: shr.u32 %r6, %r5, 1; setp.ge.u32 %p1, %r1, %r6; @%p1 bra N; shl.b32 %r7, %r1, 1; add.u32 "
         "%r7, %r7, 1; "
         "mul.lo.u32 %r8, %r7, %r4; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r2; ld.shared.u32 %r9, "
         "[%r8+-4];\nN: "
         "shl.b32 %r4, %r4, 1; setp.gt.u32 %p2, %r5, 3; mov.u32 %r5, %r6; @%p2 bra L; ";
}

TEST(Kernel, RegistersThatALoopShiftsAreFollowed) {
  // 32 lanes read words 0, 2, .. 62, then 16 read 1, 5, .. 61: 2 in a bank each time.
  for (std::string const threads : {"%ntid.x", "64"}) {
    KernelAccess const a = one(up_sweep(threads));
    EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
    EXPECT_EQ(a.wavefronts, 2U);
    EXPECT_TRUE(a.reached);
  }
  // Behind the loop it is 64: words 0, 64, 128 ..
  KernelAccess const b = decided(up_sweep("%ntid.x") +
                                 "mul.lo.u32 %r10, %r1, %r4; shl.b32 %r10, %r10, 2; add.u32 %r10, %r10, %r2; "
                                 "ld.shared.u32 %r11, [%r10];")
                             .at(1);
  EXPECT_EQ(b.wavefronts, 32U);
  EXPECT_EQ(b.verdict, KernelVerdict::refuted) << b.reason;
  // Four lanes are left where the offset is 32.
  KernelAccess const few = one(up_sweep("8"));
  EXPECT_EQ(few.verdict, KernelVerdict::proved) << few.reason;
  EXPECT_EQ(few.wavefronts, 1U);
  // A number that is not known.
  EXPECT_NE(one(up_sweep("%r3")).verdict, KernelVerdict::proved);
  // Registers that take turns: a row in even iterations, a column in odd ones.
  KernelAccess const turns =
      one("mov.u32 %r4, 4; mov.u32 %r5, 128; mov.u32 %r6, 0;\nL: mad.lo.u32 %r7, %r1, %r4, %r2; "
          "ld.shared.u32 %r8, [%r7]; "
          "mov.u32 %r9, %r4; mov.u32 %r4, %r5; mov.u32 %r5, %r9; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, "
          "2; @%p1 bra L;");
  EXPECT_EQ(turns.wavefronts, 32U);
  KernelAccess const once =
      one("mov.u32 %r4, 4; mov.u32 %r5, 128; mov.u32 %r6, 0;\nL: mad.lo.u32 %r7, %r1, %r4, %r2; "
          "ld.shared.u32 %r8, [%r7]; "
          "mov.u32 %r9, %r4; mov.u32 %r4, %r5; mov.u32 %r5, %r9; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, "
          "1; @%p1 bra L;");
  EXPECT_EQ(once.wavefronts, 1U) << once.reason;
}

TEST(Kernel, LanesThatEnterALoopInTwoPlacesMayMeetInTwoIterations) {
  // The rows are 128 bytes; a lane that comes by M is one iteration behind, with another word of its bank.
  auto const entered = [](std::string const& condition) {
    return one("mov.u32 %r4, 0; " + condition +
               " @%p1 bra M;\nL: shl.b32 %r6, %r1, 2; mad.lo.u32 %r6, %r4, 132, %r6; add.u32 %r6, %r6, %r2; "
               "ld.shared.u32 %r8, [%r6];\nM: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 5; @%p2 bra L;");
  };
  KernelAccess const together = entered("setp.eq.u32 %p1, %r3, 1;");
  EXPECT_EQ(together.verdict, KernelVerdict::proved) << together.reason;
  EXPECT_EQ(together.wavefronts, 1U);
  KernelAccess const apart = entered("setp.eq.u32 %p1, %r1, 1;");
  EXPECT_NE(apart.verdict, KernelVerdict::proved);
  EXPECT_GT(apart.wavefronts, 1U);
  // As many iterations for all; yet lanes that enter by M and those that come to it behind an iteration may go on together.
  auto const waiting = [](std::string const& condition) {
    return one("mov.u32 %r4, 0; " + condition +
               " @%p1 bra M;\nL: shl.b32 %r6, %r1, 2; mad.lo.u32 %r6, %r4, 132, %r6; add.u32 %r6, %r6, %r2; "
               "ld.shared.u32 %r8, [%r6]; add.u32 %r4, %r4, 1;\nM: setp.lt.u32 %p2, %r4, 5; @%p2 bra L;");
  };
  EXPECT_EQ(waiting("setp.eq.u32 %p1, %r3, 1;").verdict, KernelVerdict::proved);
  KernelAccess const behind = waiting("setp.eq.u32 %p1, %r1, 1;");
  EXPECT_NE(behind.verdict, KernelVerdict::proved);
  EXPECT_GT(behind.wavefronts, 1U);
}

TEST(Kernel, ALaneThatHasLeftALoopGivesAnyValue) {
  auto const in_bounds = [](std::string const& last, std::string const& more = "") {
    KernelAccess const a = one("mov.u32 %r5, 0; mov.u32 %r9, 0;\nL: " + more +
                                   " shfl.sync.idx.b32 %r6, %r9, 12, 31, -1; and.b32 %r7, %r6, 31;\n"
                                   "mad.lo.u32 %r7, %r7, 592, %r2; st.shared.u32 [%r7], %r1; add.u32 %r5, "
                                   "%r5, 1; setp.lt.u32 %p1, %r5, " +
                                   last + "; @%p1 bra L;",
                               {.block = std::array<std::uint32_t, 3>{32, 1, 1}});
    return a.in_bounds;
  };
  EXPECT_EQ(in_bounds("4"), true) << "all lanes leave it together";
  EXPECT_EQ(in_bounds("%r1"), std::nullopt) << "lane 12 leaves it after 12 iterations";
  EXPECT_EQ(in_bounds("4", "setp.eq.u32 %p2, %r5, %r1; @%p2 ret;"), std::nullopt) << "lanes 0 to 3 end in it";
}

TEST(Kernel, LanesThatLeaveALoopApartShowNoBound) {
  // Lanes 0 to 15 leave after the first iteration with 128 bytes a lane, the others after the second with 4: 16 wavefronts.
  KernelAccess const a =
      one("mul.lo.u32 %r5, %r1, 252; mov.u32 %r6, 0;\nL: mad.lo.u32 %r5, %r1, -124, %r5; add.u32 %r6, %r6, "
          "16; setp.ge.u32 "
          "%p1, %r1, %r6; @%p1 bra L;\nadd.u32 %r7, %r2, %r5; ld.shared.u32 %r8, [%r7];",
          {.block = std::array<std::uint32_t, 3>{32, 1, 1}});
  EXPECT_GE(a.wavefronts.value_or(32), 16U);
  EXPECT_FALSE(a.reached && a.wavefronts != 16U) << a.wavefronts.value_or(0);
}

// x + 1 and again if x + 1 < n, else x + 4: what is behind the first latch is not reached in each iteration.
TEST(Kernel, ALatchBeforeABlockLeavesItOut) {
  KernelAccess const a = one(
      "mov.u32 %r7, 0;\nL: mov.u32 %r8, %r7; and.b32 %r5, %r8, 3; setp.eq.u32 %p1, %r5, 0; selp.b32 %r5, 4, "
      "128, %p1; mad.lo.u32 %r5, %r5, %r1, %r2; ld.shared.u32 %r6, [%r5]; add.u32 %r7, %r8, 1; "
      "setp.lt.u32 %p1, %r7, %r3; @%p1 bra L;\nadd.u32 %r7, %r8, 4; setp.lt.u32 %p2, %r8, 95; @%p2 bra L;");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
}

TEST(Kernel, LoopsOfAnyLength) {
  KernelAccess const a =
      one("mov.u32 %r7, 0; shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2;\nL: ld.shared.u32 %r6, [%r5]; add.s32 "
          "%r5, %r5, 4; add.s32 %r7, %r7, 1;"
          "setp.lt.u32 %p1, %r7, %r3; @%p1 bra L;");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
}

TEST(Kernel, ARegisterHasItsFirstValueInTheFirstIteration) {
  KernelAccess const a =
      one("ld.param.u64 %rd1, [g]; mad.wide.u32 %rd2, %r1, 4, %rd1; shl.b32 %r8, %r1, 2; mov.u32 %r10, %r2; "
          "mov.u32 "
          "%r20, 0;\nL: setp.eq.u32 %p1, %r20, 0; add.u32 %r5, %r10, %r8; @%p1 ld.shared.u32 %r6, [%r5];\n"
          "ld.global.u32 %r8, [%rd2]; mad.lo.u32 %r10, %r1, 4, %r10; add.u32 %r20, %r20, 1; setp.lt.u32 %p2, "
          "%r20, 4; "
          "@%p2 bra L;");
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
}

TEST(Kernel, AStepThatDiffersInTheLanesIsTriedForEachIteration) {
  // Iteration k: lane * 4 * k, for k = 1..4: 4-way conflicts at k = 4.
  KernelAccess const a =
      one("mov.u32 %r7, 0; mov.u32 %r5, %r2; shl.b32 %r8, %r1, 2;\nL: add.s32 %r5, %r5, %r8; ld.shared.u32 "
          "%r6, [%r5]; add.s32 %r7, %r7, 1;"
          "setp.ne.s32 %p1, %r7, 4; @%p1 bra L;");
  EXPECT_EQ(a.wavefronts, 4U);
}

TEST(Kernel, LanesThatEndWithinALoopAreNotSaidToGoOn) {
  // Every lane but lane 0 returns within the loop: one lane is left, and 32 are not said to be reached.
  KernelAccess const a =
      one("mov.u32 %r7, 0;\nL: setp.gt.u32 %p2, %r1, %r7; @%p2 ret; add.s32 %r7, %r7, 1; setp.ne.s32 %p1, "
          "%r7, 3; @%p1 bra L;\n"
          "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];");
  EXPECT_FALSE(a.reached);
  EXPECT_NE(a.verdict, KernelVerdict::refuted);
  // The same loop on one of two paths that join behind it.
  KernelAccess const b =
      one("setp.gt.u32 %p3, %r1, 1000; @%p3 bra X; mov.u32 %r7, 0;\nL: setp.gt.u32 %p2, %r1, %r7; @%p2 ret; "
          "add.s32 %r7, %r7, 1;"
          "setp.ne.s32 %p1, %r7, 3; @%p1 bra L;\nX: shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; "
          "ld.shared.u32 %r6, [%r4];");
  EXPECT_FALSE(b.reached);
  EXPECT_EQ(b.wavefronts, 32U);
}

TEST(Kernel, ARegisterOfWhichALoopKeepsAllBitsIsTheSame) {
  std::string const access = "shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5]; ";
  EXPECT_EQ(one(looped("and.b32 %r4, %r1, 255;", access + "and.b32 %r4, %r4, 255;")).verdict,
            KernelVerdict::proved);
  EXPECT_EQ(one(looped("mov.u32 %r4, %r1;", access + "and.b32 %r4, %r4, 1023;")).verdict,
            KernelVerdict::proved)
      << "tid.x has 10 bits";
  // 33 l without its low bits is 32 l: one bank from the second iteration on.
  std::string const odd = "mul.lo.u32 %r4, %r1, 33; ";
  for (std::string const change :
       {"and.b32 %r4, %r4, 992;", "and.b32 %r7, %r4, 1016; and.b32 %r4, %r7, 992;"})
    EXPECT_NE(one(looped(odd, access + change), {.block = std::array<std::uint32_t, 3>{32, 1, 1}}).verdict,
              KernelVerdict::proved)
        << change;
  // A copy in an inner loop, and back.
  EXPECT_EQ(one(looped("and.b32 %r4, %r1, 255;",
                       "mov.u32 %r21, 0; mov.u32 %r8, %r4;\nM: shl.b32 %r5, %r8, 2; add.s32 %r5, %r5, %r2; "
                       "ld.shared.u32 %r6, [%r5]; and.b32 %r8, %r8, 255; add.u32 %r21, %r21, 1; "
                       "setp.lt.u32 %p7, %r21, %r3; @%p7 bra M; setp.lt.u32 %p6, %r20, 3; selp.b32 %r4, %r8, "
                       "%r4, %p6;"))
                .verdict,
            KernelVerdict::proved);
  // By way of another register, which an inner loop keeps.
  EXPECT_NE(
      one(looped(odd + "mov.u32 %r8, %r4;",
                 access + "mov.u32 %r21, 0; M: and.b32 %r9, %r8, 1023; add.u32 %r21, %r21, 1; "
                          "setp.lt.u32 %p7, %r21, %r3; @%p7 bra M; and.b32 %r4, %r9, 992; mov.u32 %r8, %r4;"),
          {.block = std::array<std::uint32_t, 3>{32, 1, 1}})
          .verdict,
      KernelVerdict::proved);
}

TEST(Kernel, AValueOfAnInnerLoopIsThatOfItsOwnEnd) {
  // Lane l leaves the inner loop after l & 1 more iterations; the outer one ends for all at once.
  std::string const loops =
      "and.b32 %r10, %r1, 1; mov.u32 %r8, 0; mov.u32 %r3, 0;\nO: mov.u32 %r11, 0;\nI: mov.u32 %r8, %r11; "
      "add.u32 %r11, %r11, 1; setp.le.u32 %p1, %r11, %r10; @%p1 bra I; add.u32 %r3, %r3, 1; "
      "setp.lt.u32 %p2, %r3, 2; @%p2 bra O; shl.b32 %r12, %r8, 7; add.u32 %r13, %r2, %r12; ";
  KernelAccess const a = one(loops + "ld.shared.u32 %r14, [%r13];");
  EXPECT_NE(a.verdict, KernelVerdict::proved) << "lanes read rows 0 and 1";
  EXPECT_TRUE(a.reached || a.seen >= 2U);
  // A break out of both loops is a way out of the inner one.
  EXPECT_NE(
      one("mov.u32 %r3, 0; mov.u32 %r8, 0;\nO: mov.u32 %r11, 0;\nI: mov.u32 %r8, %r11; setp.eq.u32 %p3, "
          "%r11, %r1; "
          "@%p3 bra out; add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, 40; @%p1 bra I; add.u32 %r3, %r3, 1; "
          "setp.lt.u32 %p2, %r3, 2; @%p2 bra O;\nout: shl.b32 %r12, %r8, 7; add.u32 %r13, %r2, %r12; "
          "ld.shared.u32 %r14, [%r13];",
          {.block = std::array<std::uint32_t, 3>{32, 1, 1}})
          .verdict,
      KernelVerdict::proved);
}

TEST(Kernel, ACopyOfAValueBehindALoopIsThatOfItsEnd) {
  // Lanes halve n a different number of times; a second loop copies the result.
  auto const copied = [](std::string const& times) {
    return one(
        "and.b32 %r6, %r3, 1023; mov.u32 %r11, 0;\nI: shr.u32 %r6, %r6, 1; add.u32 %r11, %r11, 1; "
        "setp.lt.u32 %p1, "
        "%r11, " +
        times +
        "; @%p1 bra I; mov.u32 %r25, 0;\nO: mov.u32 %r7, %r6; add.u32 %r25, %r25, 1; mov.u32 %r6, "
        "%r7; setp.lt.u32 %p2, %r25, 4; @%p2 bra O; mad.lo.u32 %r8, %r6, 128, %r2; ld.shared.u32 %r9, "
        "[%r8];");
  };
  EXPECT_NE(copied("%r1").verdict, KernelVerdict::proved);
  EXPECT_EQ(copied("5").verdict, KernelVerdict::proved);
}

TEST(Kernel, TwoLoopsWithOneHeaderHaveNoCommonIteration) {
  // Lanes run the inner loop r10 times before they meet at the load.
  auto const rows = [](std::string const& times) {
    return one(
        "and.b32 %r10, " + times +
        ", 3; mov.u32 %r7, 0; mov.u32 %r11, 0;\nO: add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, %r10; "
        "@%p1 bra O; shl.b32 %r12, %r11, 7; add.u32 %r13, %r2, %r12; ld.shared.u32 %r14, [%r13]; "
        "add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 2; @%p2 bra O;");
  };
  EXPECT_NE(rows("%r1").verdict, KernelVerdict::proved);
  EXPECT_EQ(rows("%r3").verdict, KernelVerdict::proved) << "n is the same in all lanes";
  // A lane that leaves the inner loop keeps what it has loaded there; memory may change before the others load again.
  auto const loaded = [](std::string const& times) {
    return one(
        "and.b32 %r10, " + times +
        ", 3; ld.param.u64 %rd1, [g]; mov.u32 %r7, 0; mov.u32 %r11, 0;\nO: "
        "ld.global.u32 %r9, [%rd1]; add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, %r10; @%p1 bra O; "
        "and.b32 %r12, %r9, 15; shl.b32 %r12, %r12, 7; add.u32 %r13, %r2, %r12; ld.shared.u32 %r14, [%r13]; "
        "add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 2; @%p2 bra O;");
  };
  EXPECT_NE(loaded("%r1").verdict, KernelVerdict::proved);
  EXPECT_EQ(loaded("%r3").verdict, KernelVerdict::proved);
}

TEST(Kernel, ARemainderInALoopIsTriedInEachIteration) {
  // (tid + i) % 32 of signed numbers, i from 0 in steps of 5 below `most`.
  auto const column = [](std::string const& most) {
    return one(
        "mov.u32 %r9, 0;\nloop:\nadd.s32 %r4, %r1, %r9; shr.s32 %r5, %r4, 31; shr.u32 %r5, %r5, 27; add.s32 "
        "%r5, "
        "%r4, %r5; and.b32 %r5, %r5, 268435424; sub.s32 %r4, %r4, %r5; shl.b32 %r4, %r4, 4; add.s32 %r4, "
        "%r4, "
        "%r2; st.shared.v4.u32 [%r4], {%r1, %r1, %r1, %r1}; add.s32 %r9, %r9, 5; setp.lt.s32 %p1, %r9, " +
        most + "; @%p1 bra loop;");
  };
  KernelAccess const known = column("32");
  EXPECT_EQ(known.verdict, KernelVerdict::proved) << known.reason;
  EXPECT_EQ(known.wavefronts, 4U);
  EXPECT_NE(column("%r3").verdict, KernelVerdict::refuted);
}

// Lanes 5 to 31 leave in the first iteration, the others in the tenth: r7 is 1 or 10, two words of one bank.
TEST(Kernel, APredicateMayComeFromTheIterationBefore) {
  KernelAccess const a = one(
      "mov.u32 %r7, 0; setp.lt.u32 %p1, %r1, 5;\nL: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 3; @%p2 bra "
      "S; "
      "setp.lt.u32 %p1, %r7, 10;\nS: @%p1 bra L;\nshl.b32 %r4, %r7, 7; add.u32 %r4, %r4, %r2; ld.shared.u32 "
      "%r5, [%r4];");
  EXPECT_GE(*a.wavefronts, 2U);
  EXPECT_NE(a.verdict, KernelVerdict::proved);
}

TEST(Kernel, ValuesAfterALoopOfDifferentLengthsAreNotTheSameInAllLanes) {
  // Lane l runs l + 1 iterations, then reads 128 * i: 32 words of one bank.
  KernelAccess const a =
      one("mov.u32 %r7, 0;\nL: add.s32 %r7, %r7, 1; setp.le.u32 %p1, %r7, %r1; @%p1 bra L;\nshl.b32 %r4, "
          "%r7, 7; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_NE(a.verdict, KernelVerdict::proved);
}

}  // namespace
}  // namespace swizproof
