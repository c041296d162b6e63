// Verdicts on small kernels, and the two facts about the cost model that they rest on.
#include "kernel_case.hpp"
#include "sass_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace swizproof {
namespace {

WarpAccess<std::uint32_t> some_lanes(std::mt19937& random, unsigned bytes) {
  WarpAccess<std::uint32_t> lanes{};
  unsigned const spread = 1U << (2 + random() % 10);
  for (unsigned l = 0; l < 32; ++l) {
    lanes.address[l] = random() % spread * bytes;
    lanes.active[l] = random() % 4 != 0;
  }
  if (random() % 3 == 0)
    for (unsigned l = 1; l < 32; l += 2) lanes.address[l] = lanes.address[l - 1];  // pairs are merged (H4)
  return lanes;
}

TEST(KernelCost, IsTheSameAfterRotation) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 4000; ++round)
    for (InstructionName const& i : instruction_names) {
      auto lanes = some_lanes(random, i.instruction.bytes);
      if (i.instruction.matrices != 0) lanes.active.fill(true);
      unsigned const before = cost(sm_90, i.instruction, lanes).wavefronts;
      std::uint32_t const by = random() * std::max(i.instruction.bytes, 4U);
      for (auto& a : lanes.address) a += by;
      ASSERT_EQ(cost(sm_90, i.instruction, lanes).wavefronts, before) << i.text << " moved by " << by;
    }
}

TEST(KernelCost, GrowsWithTheLanes) {
  std::mt19937 random(8);
  for (unsigned round = 0; round < 4000; ++round)
    for (InstructionName const& i : instruction_names) {
      if (i.instruction.matrices != 0) continue;  // all of its lanes take part
      auto lanes = some_lanes(random, i.instruction.bytes);
      unsigned const most = cost(sm_90, i.instruction, lanes).wavefronts;
      lanes.active[random() % 32] = false;
      ASSERT_LE(cost(sm_90, i.instruction, lanes).wavefronts, most) << i.text;
    }
}

TEST(KernelWitness, ParametersThatPassAConditionAreFound) {
  KernelAccess const a = behind("xor.b32 %r6, %r3, 1515870810; setp.eq.u32 %p1, %r6, 77;");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_TRUE(a.reached);
  ASSERT_TRUE(a.worst);
  ASSERT_EQ(a.worst->values.size(), 1U);
  EXPECT_EQ(a.worst->values[0].second, 1515870810U ^ 77U);
}

TEST(KernelWitness, AConditionThatNoParameterPassesIsNoWitness) {
  KernelAccess const a =
      behind("xor.b32 %r6, %r3, 5; setp.eq.u32 %p2, %r6, 77; setp.eq.and.u32 %p1, %r3, 77, %p2;");
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_FALSE(a.reached);
  EXPECT_EQ(a.reason, "no execution was found that takes as many");
  EXPECT_EQ(a.wavefronts, 32U);
}

TEST(KernelWitness, EachLaneHasItsOwnCondition) {
  // Lane l needs bit l of n: all of them need n = ~0.
  KernelAccess const a =
      behind("and.b32 %r6, %r1, 31; shr.u32 %r7, %r3, %r6; and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 1;");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  ASSERT_TRUE(a.worst);
  EXPECT_EQ(a.worst->values.at(0).second, 0xffffffffU);
}

TEST(KernelWitness, BlocksAreThoseOfAGridOf64) {
  std::string const number = "mov.u32 %r6, %ctaid.x; mul.lo.u32 %r6, %r6, %r3; setp.eq.u32 %p1, %r6, ";
  EXPECT_EQ(behind(number + "2021;").verdict, KernelVerdict::refuted);  // 43 * 47
  EXPECT_EQ(behind("mov.u32 %r6, %ctaid.x; setp.eq.u32 %p1, %r6, 63;").verdict, KernelVerdict::refuted);
  EXPECT_EQ(behind("mov.u32 %r6, %ctaid.x; setp.eq.u32 %p1, %r6, 64;").verdict, KernelVerdict::unknown);
}

TEST(KernelWitness, DividesByNoZero) {
  // n / (n >> 28) is 5 for some n; by a divisor of 0 it would be any number.
  EXPECT_EQ(behind("shr.u32 %r6, %r3, 28; div.u32 %r7, %r3, %r6; setp.eq.u32 %p1, %r7, 268435460;").verdict,
            KernelVerdict::refuted);
  KernelAccess const a =
      behind("and.b32 %r6, %r3, 0; div.u32 %r7, %r3, %r6; setp.eq.u32 %p1, %r7, 268435460;");
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_FALSE(a.reached);
}

TEST(KernelWitness, NamesTheBlock) {
  KernelAccess const a = behind("mov.u32 %r6, %ctaid.y; setp.eq.u32 %p1, %r6, 41;");
  ASSERT_TRUE(a.worst);
  EXPECT_EQ(a.worst->values, (std::vector<std::pair<std::string, std::uint64_t>>{{"ctaid.y", 41}}));
}

TEST(KernelWitness, GivenParametersAreNotChosen) {
  std::string const condition = "xor.b32 %r6, %r3, 1515870810; setp.eq.u32 %p1, %r6, 77;";
  KernelOptions options;
  options.params["n"] = {1515870810U ^ 77U, false};
  EXPECT_EQ(behind(condition, options).verdict, KernelVerdict::refuted);
  options.params["n"] = {1, false};
  EXPECT_EQ(behind(condition, options).verdict, KernelVerdict::proved);
}

TEST(KernelWitness, BytesOfAParameterAreThoseOfItsWords) {
  // The low half of g is 5 and its low byte 6: no parameter is that.
  std::string const halves =
      "ld.param.u32 %r6, [g]; ld.param.u8 %r7, [g]; setp.eq.u32 %p2, %r6, 5; setp.eq.and.u32 %p1, %r7, 6, "
      "%p2;";
  EXPECT_EQ(behind(halves).verdict, KernelVerdict::unknown);
}

TEST(KernelWitness, AddressesMayComeFromAnotherLane) {
  KernelAccess const a =
      one("xor.b32 %r6, %r3, 1515870810; setp.eq.u32 %p1, %r6, 77; shfl.sync.idx.b32 %r7, %r1, 0, 31, -1;\n"
          "shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2; add.s32 %r5, %r5, %r7; @%p1 st.shared.u8 [%r5], %r1;");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
}

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

TEST(Kernel, IndirectBranchesLeadToTheirTargets) {
  // Lanes whose number modulo 4 is 0, 1 or 2; the last of the three has all others.
  auto const all = decided(
      "shl.b32 %r5, %r1, 7; add.u32 %r5, %r5, %r2; and.b32 %r6, %r1, 3;\n"
      "list: .branchtargets A, B, C; brx.idx %r6, list;\n"
      "A: st.shared.u32 [%r5], %r1; bra.uni E;\nB: ld.shared.u32 %r7, [%r5]; bra.uni E;\n"
      "C: st.shared.u32 [%r5+4], %r1;\nE: ld.shared.u32 %r8, [%r5];");
  ASSERT_EQ(all.size(), 4U);
  for (auto const& [k, wavefronts] : {std::pair{0U, 8U}, {1U, 8U}, {2U, 16U}, {3U, 32U}}) {
    EXPECT_EQ(all[k].wavefronts, wavefronts) << k;
    EXPECT_TRUE(all[k].reached) << k;
    EXPECT_EQ(all[k].verdict, KernelVerdict::refuted) << k << all[k].reason;
  }
  // With a guard the other lanes go on behind it.
  auto const some = decided(
      "shl.b32 %r5, %r1, 7; add.u32 %r5, %r5, %r2; and.b32 %r6, %r1, 3; setp.lt.u32 %p1, %r6, 2;\n"
      "list: .branchtargets A, B; @%p1 brx.idx %r6, list;\n"
      "ld.shared.u32 %r7, [%r5]; bra.uni E;\nA: st.shared.u32 [%r5], %r1; bra.uni E;\n"
      "B: st.shared.u32 [%r5+4], %r1;\nE:");
  ASSERT_EQ(some.size(), 3U);
  for (auto const& [k, wavefronts] : {std::pair{0U, 16U}, {1U, 8U}, {2U, 8U}})
    EXPECT_EQ(some[k].wavefronts, wavefronts) << k;
}

TEST(Kernel, LanesThatComeByTwoWaysNeedNotBeTogether) {
  // A falls into B: of the eight and eight lanes each may come alone. On an H200 they did in such a kernel.
  auto const all = decided(
      "shl.b32 %r5, %r1, 7; add.u32 %r5, %r5, %r2; and.b32 %r6, %r1, 3;\n"
      "list: .branchtargets A, B, C, D; brx.idx %r6, list;\n"
      "A: add.u32 %r5, %r5, 0;\nB: st.shared.u32 [%r5], %r1;\nC: ld.shared.u32 %r7, [%r5];\n"
      "D: ld.shared.u32 %r8, [%r5+4];");
  ASSERT_EQ(all.size(), 3U);
  for (auto const& [k, wavefronts] : {std::pair{0U, 16U}, {1U, 24U}, {2U, 32U}})
    EXPECT_EQ(all[k].wavefronts, wavefronts) << k;
  for (unsigned const k : {0U, 1U}) {
    EXPECT_FALSE(all[k].reached) << k;
    EXPECT_EQ(all[k].seen, 8U) << k;
    EXPECT_EQ(all[k].verdict, KernelVerdict::refuted) << k;
  }
  EXPECT_TRUE(all[2].reached) << "all ways lead there";
  // Odd lanes continue, even ones ask whether to leave: in the second iteration they come by two ways.
  auto const loops = decided(
      "mov.u32 %r6, 0; and.b32 %r7, %r1, 1; setp.ne.u32 %p1, %r7, 0;\n"
      "H: mad.lo.u32 %r8, %r6, 124, 4; mad.lo.u32 %r9, %r1, %r8, %r2; ld.shared.u32 %r10, [%r9]; @%p1 bra "
      "L;\n"
      "setp.eq.u32 %p2, %r3, %r6; @%p2 bra E;\nL: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 2; @%p3 bra "
      "H;\nE:",
      {.block = std::array<std::uint32_t, 3>{32, 1, 1}});
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].wavefronts, 32U);
  EXPECT_FALSE(loops[0].reached);
  // Eight lanes leave a loop in each iteration.
  KernelAccess const leaves =
      one("mov.u32 %r6, 0; and.b32 %r7, %r1, 3; shl.b32 %r8, %r1, 7; add.u32 %r8, %r8, %r2;\n"
          "H: setp.eq.u32 %p1, %r6, %r7; @%p1 bra X; add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, %r3; @%p2 "
          "bra H; bra.uni E;\n"
          "X: ld.shared.u32 %r10, [%r8];\nE:",
          {.block = std::array<std::uint32_t, 3>{32, 1, 1}});
  EXPECT_EQ(leaves.wavefronts, 32U);
  EXPECT_FALSE(leaves.reached);
  EXPECT_EQ(leaves.seen, 8U);
  // a or b
  KernelAccess const either =
      one("shl.b32 %r5, %r1, 7; add.u32 %r5, %r5, %r2; and.b32 %r6, %r1, 3; setp.eq.u32 %p1, %r6, 0; @%p1 "
          "bra X;\n"
          "setp.ne.u32 %p2, %r6, 1; @%p2 bra E;\nX: st.shared.u32 [%r5], %r1;\nE:");
  EXPECT_EQ(either.wavefronts, 16U);
  EXPECT_FALSE(either.reached);
}

TEST(Kernel, AConditionOfSeveralIsAssumedAsAWhole) {
  // Which of the two rows it is is not known: both take as much.
  KernelAccess const a =
      one("ld.param.u32 %r4, [g]; shl.b32 %r5, %r1, 2; shl.b32 %r6, %r1, 3; setp.lt.u32 %p1, %r3, 5; "
          "setp.gt.u32 %p2, "
          "%r4, 7; or.pred %p3, %p1, %p2; selp.b32 %r8, %r6, %r5, %p3; add.u32 %r8, %r8, %r2; ld.shared.u32 "
          "%r9, [%r8];",
          {.at_most = 2});
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 2U);
}

TEST(Kernel, AChoiceThatMovesAllLanesAlikeIsNoCase) {
  // Ten conditions on the parameter, each of which adds another number: more truths than are tried one by one.
  std::string body = "shl.b32 %r5, %r1, 2; add.u32 %r5, %r5, %r2;\n";
  for (unsigned k = 1; k <= 10; ++k)
    body += "setp.eq.u32 %p1, %r3, " + std::to_string(k) + "; add.u32 %r6, %r5, " +
            std::to_string(4 * k * k) + "; selp.b32 %r5, %r6, %r5, %p1;\n";
  KernelAccess const a = one(body + "ld.shared.u32 %r7, [%r5];");
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 1U);
  EXPECT_EQ(a.aligned, true);
  // The smaller side is taken, whichever the condition chooses, so that no bound is lost.
  for (std::string const choice : {"selp.b32 %r5, %r6, %r5, %p1", "selp.b32 %r5, %r5, %r6, %p1"}) {
    KernelAccess const bounded = one("shl.b32 %r5, %r1, 2; add.u32 %r6, %r5, 512; setp.eq.u32 %p1, %r3, 4; " +
                                     choice + "; add.u32 %r5, %r5, %r2; ld.shared.u32 %r7, [%r5];");
    EXPECT_EQ(bounded.in_bounds, true) << bounded.bounds_reason;
  }
  // Both are tried where one side has lanes further apart.
  KernelAccess const b =
      one("setp.eq.u32 %p1, %r3, 4; shl.b32 %r5, %r1, 2; shl.b32 %r6, %r1, 3; selp.b32 %r5, %r6, %r5, %p1; "
          "add.u32 %r5, "
          "%r5, %r2; ld.shared.u32 %r7, [%r5];");
  EXPECT_EQ(b.wavefronts, 2U);
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

TEST(Kernel, ALoadGoesBeforeARegisterThatMayNotHaveBeenWritten) {
  // In a loop, whose first iteration may pass over the load.
  KernelAccess const a =
      one("ld.param.u64 %rd1, [g]; mov.u32 %r4, 0;\nL: setp.lt.u32 %p1, %r1, %r3; @!%p1 bra E; ld.global.u32 "
          "%r5, "
          "[%rd1];\nE: setp.lt.f32 %p2, %r5, 0f00000000; shl.b32 %r6, %r1, 2; shl.b32 %r7, %r1, 7; selp.b32 "
          "%r6, %r6, %r7, "
          "%p2; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6]; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, "
          "%r3; @%p3 bra "
          "L;");
  EXPECT_EQ(a.verdict, KernelVerdict::data) << a.reason;
  EXPECT_NE(a.reason.find("the load at PTX line"), std::string::npos) << a.reason;
}

TEST(Kernel, WhatDecidesWhetherAnAccessIsExecutedIsNamed) {
  // A row in the first iteration, a column in the second, which a load decides on.
  KernelAccess const a =
      one("ld.param.u64 %rd1, [g]; mov.u32 %r5, 0; shl.b32 %r4, %r1, 2;\nL: mul.lo.u32 %r6, %r5, %r1; "
          "mad.lo.u32 %r7, %r6, "
          "124, %r4; add.u32 %r7, %r7, %r2; ld.shared.u32 %r8, [%r7]; xor.b32 %r5, %r5, 1; ld.global.u32 "
          "%r9, [%rd1]; "
          "setp.ne.u32 %p1, %r9, 0; @%p1 bra L;");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::data) << a.reason;
  EXPECT_NE(a.reason.find("whether it is executed depends on the load"), std::string::npos) << a.reason;
}

TEST(Kernel, AnAddressDependsOnDataIfItDoesInSomeLaunch) {
  // The sum may wrap before it is widened, of which nothing follows; divided by what was loaded it depends on data.
  std::string const body =
      "ld.param.u64 %rd1, [g]; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r5, %r4, 256, %r1; cvt.u64.u32 %rd2, %r5; ";
  std::string const divided = body +
                              "ld.global.u64 %rd3, [%rd1]; div.u64 %rd4, %rd2, %rd3; cvt.u32.u64 %r6, %rd4; "
                              "shl.b32 %r6, %r6, 2; add.u32 %r6, "
                              "%r6, %r2; ld.shared.u32 %r7, [%r6];";
  KernelAccess const a = one(divided);
  EXPECT_EQ(a.verdict, KernelVerdict::data) << a.reason;
  KernelAccess const b = one(body +
                             "mov.u64 %rd3, 3; div.u64 %rd4, %rd2, %rd3; cvt.u32.u64 %r6, %rd4; shl.b32 %r6, "
                             "%r6, 7; add.u32 %r6, %r6, %r2; "
                             "ld.shared.u32 %r7, [%r6];");
  EXPECT_NE(b.verdict, KernelVerdict::data) << b.reason;
  // Beyond the limit of steps too, for as many steps again.
  KernelAccess const limited = one(divided, {.steps = 1});
  EXPECT_EQ(limited.verdict, KernelVerdict::unknown) << limited.reason;
  EXPECT_NE(limited.reason.find("may wrap"), std::string::npos) << limited.reason;
  EXPECT_EQ(one(divided, {.steps = 20}).verdict, KernelVerdict::data);
  // Loaded parts that are multiples of 32 words do not decide the cost.
  std::string const rows =
      "ld.param.u64 %rd1, [g]; mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r4, [%rd2]; shl.b32 %r4, %r4, "
      "7; and.b32 %r8, %r3, 124; "
      "shl.b32 %r9, %r1, 2; xor.b32 %r5, %r9, %r8; add.u32 %r5, %r5, %r4; add.u32 %r5, %r5, %r2; "
      "ld.shared.u32 %r7, [%r5];";
  EXPECT_EQ(one(rows).verdict, KernelVerdict::proved);
  EXPECT_EQ(one(rows, {.steps = 200}).verdict, KernelVerdict::unknown);
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

TEST(Kernel, WhatNoLaneExecutesIsNotReached) {
  // Behind the second loop %r5 is 16, which the first one ended with; 7 threads are below it.
  KernelAccess const a = one(
      "mov.u32 %r4, 1; mov.u32 %r6, 8;\nL: setp.eq.u32 %p1, %r6, 0; @%p1 bra M; shl.b32 %r4, %r4, 1; shr.u32 "
      "%r6, %r6, 1; bra L;\nM: "
      "mov.u32 %r5, 2;\nN: setp.ge.u32 %p2, %r5, %r4; @%p2 bra O; shl.b32 %r5, %r5, 1; bra N;\nO: "
      "setp.ge.u32 %p3, %r1, %r5; "
      "mul.lo.u32 %r7, %r1, %r5; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r2; @%p3 st.shared.u32 [%r7], %r1;",
      {.block = {{7, 1, 1}}});
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_FALSE(a.reached);
}

TEST(Kernel, ARunComputesFloatingPointThatIsKnown) {
  // A condition on n * 2.5, rounded to zero: 5 or more.
  std::string const condition =
      "cvt.rn.f32.u32 %r4, %r3; mul.f32 %r4, %r4, 0f40200000; cvt.rzi.s32.f32 %r4, %r4; setp.ge.s32 %p1, "
      "%r4, 5; ";
  KernelAccess const a = behind(condition);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_TRUE(a.reached);
  // No number is larger than itself, and an approximation is not known.
  EXPECT_EQ(behind("cvt.rn.f32.u32 %r4, %r3; setp.gt.f32 %p1, %r4, %r4; ").verdict, KernelVerdict::unknown);
  EXPECT_EQ(
      behind("cvt.rn.f32.u32 %r4, %r3; ex2.approx.f32 %r4, %r4; setp.gt.f32 %p1, %r4, 0f00000000; ").verdict,
      KernelVerdict::unknown);
}

TEST(Kernel, SidesThatAreTheSameNeedNoCondition) {
  // Lanes that take another number of iterations are multiples of 64 words apart.
  std::string const body =
      "mul.lo.u32 %r4, %r1, %r3; rem.u32 %r4, %r4, 7; setp.lt.u32 %p1, %r4, 3; shl.b32 %r5, %r1, 2; add.u32 "
      "%r6, %r5, 256; "
      "selp.b32 %r7, %r5, %r6, %p1; add.u32 %r7, %r7, %r2; ld.shared.u32 %r8, [%r7];";
  KernelAccess const a = one(body);
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 1U);
}

TEST(KernelWitness, AShuffleFromAKnownLaneIsFollowed) {
  // The number of lane 0 in all lanes, as CUTLASS takes the warp's; all pass if the parameter fits.
  KernelAccess const a = behind(
      "shfl.sync.idx.b32 %r7, %r1, 0, 31, -1; mad.lo.u32 %r7, %r7, 8, %r3; xor.b32 %r7, %r7, 1515870810; "
      "setp.eq.u32 %p1, %r7, 77;");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_TRUE(a.reached);
}

TEST(Kernel, AnAddressDependsOnDataInAnExecutionAlone) {
  std::string const ends =
      " mul.lo.u32 %r10, %r1, %r3; rem.u32 %r10, %r10, 13; xor.b32 %r9, %r9, %r1; and.b32 %r9, %r9, 1023; "
      "selp.b32 %r11, "
      "%r9, %r10, %p2; shl.b32 %r11, %r11, 2; add.u32 %r5, %r2, %r11; ld.shared.u32 %r7, [%r5];";
  std::string const load = "ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; ";
  // Behind the loop, whose counter is 7 there; an iteration that the access is not executed in; a parameter that it is not.
  KernelAccess const behind_loop =
      one(load +
          "mov.u32 %r8, 0;\nL: setp.eq.u32 %p2, %r8, 0; add.u32 %r8, %r8, 1; setp.lt.u32 "
          "%p1, %r8, 8; @%p1 bra L;" +
          ends);
  EXPECT_EQ(behind_loop.verdict, KernelVerdict::unknown) << behind_loop.reason;
  KernelAccess const later =
      one(load + "mov.u32 %r8, 0;\nL: setp.eq.u32 %p3, %r8, 0; @%p3 bra N; setp.lt.u32 %p2, %r8, 1;" + ends +
          "\nN: add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 8; @%p1 bra L;");
  EXPECT_EQ(later.verdict, KernelVerdict::unknown) << later.reason;
  KernelAccess const passed =
      one(load + "setp.le.u32 %p3, %r3, 100; @%p3 bra N; setp.lt.u32 %p2, %r3, 90;" + ends + "\nN:");
  EXPECT_EQ(passed.verdict, KernelVerdict::unknown) << passed.reason;
  // A column if n < 5 and n > 7: the load decides how often a row is read, and not whether a column is.
  KernelAccess const never =
      one("ld.param.u64 %rd1, [g]; shl.b32 %r4, %r1, 2; shl.b32 %r9, %r1, 7; setp.lt.u32 %p1, %r3, 5; "
          "setp.gt.u32 %p2, %r3, "
          "7; selp.b32 %r10, %r9, %r4, %p2; selp.b32 %r10, %r10, %r4, %p1; add.u32 %r5, %r2, %r10;\nL: "
          "ld.shared.u32 %r6, "
          "[%r5]; ld.global.u32 %r7, [%rd1]; setp.ne.u32 %p3, %r7, 0; @%p3 bra L;");
  EXPECT_NE(never.verdict, KernelVerdict::data) << never.reason;
}

TEST(Kernel, AtomicsOfSassTakeWhatWasMeasured) {
  auto const of_sass = [](std::string const& atomic) {
    sass::Module const m = sass::read_module(sass_kernel("S2R R0, SR_TID.X\n" + atomic + "\nEXIT"), "k.sass");
    KernelOptions options;
    options.block = {64, 1, 1};
    return decide_kernel(m, sass::lower(m, m.functions.at(0)), options).accesses.at(0);
  };
  KernelAccess const one_word = of_sass("ATOMS.ADD RZ, [RZ+0x400], R0");
  EXPECT_EQ(one_word.verdict, KernelVerdict::refuted) << one_word.reason;
  EXPECT_TRUE(one_word.reached);
  EXPECT_EQ(one_word.wavefronts, 32U);
  EXPECT_EQ(of_sass("ATOMS.POPC.INC.32 RZ, [RZ+0x400]").verdict, KernelVerdict::proved);
  // Not measured, and of PTX: what ptxas makes of it is not known.
  EXPECT_EQ(of_sass("ATOMS.OR RZ, [RZ+0x400], R0").verdict, KernelVerdict::unknown);
  KernelAccess const of_ptx = one("atom.shared.add.u32 %r4, [%r2], %r3;");
  EXPECT_EQ(of_ptx.verdict, KernelVerdict::unknown);
  EXPECT_EQ(of_ptx.wavefronts, 32U);
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

TEST(Kernel, APredicateOfAShuffleIsThatItsLaneLiesWithinTheSegment) {
  struct Case {
    char const* shuffle;
    unsigned lanes;
  };
  for (Case const& c :
       {Case{"up.b32 %r6|%p1, %r1, 4, 0", 28}, Case{"down.b32 %r6|%p1, %r1, 4, 31", 28},
        Case{"down.b32 %r6|%p1, %r1, 3, 0x181f", 20}, Case{"up.b32 %r6|%p1, %r1, 3, 0x1800", 20},
        Case{"bfly.b32 %r6|%p1, %r1, 16, 15", 16}, Case{"idx.b32 %r6|%p1, %r1, 9, 8", 0},
        Case{"idx.b32 %r6|%p1, %r1, 5, 31", 32}, Case{"idx.b32 %r6|%p1, %r1, 13, 0x1804", 0}}) {
    KernelAccess const a = behind(std::string("shfl.sync.") + c.shuffle + ", -1;");
    EXPECT_EQ(a.wavefronts, c.lanes) << c.shuffle << ": " << a.reason;
    EXPECT_TRUE(a.reached || c.lanes == 0) << c.shuffle;
  }
}

TEST(KernelWitness, WhatALaneThatIsOffGivesIsNone) {
  // Eight lanes of the second warp read its lane 31, which it lacks: nothing says that it gives more than 100.
  KernelAccess const a = behind("shfl.sync.idx.b32 %r7, %r1, 31, 31, -1; setp.gt.u32 %p1, %r7, 100;",
                                {.block = std::array<std::uint32_t, 3>{40, 1, 1}});
  EXPECT_EQ(a.wavefronts, 8U);
  EXPECT_FALSE(a.reached);
  EXPECT_NE(a.verdict, KernelVerdict::refuted);
}

/// A column of 32 words, 128 bytes apart, in each of two warps and three iterations, and rows that are free.
constexpr char column[] =
    "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; shl.b32 %r5, %r1, 2; add.s32 %r5, %r5, %r2; mov.u32 %r6, "
    "0;\n"
    "L: mad.lo.s32 %r7, %r6, 4, %r4; ld.shared.u32 %r8, [%r7]; st.shared.u32 [%r5], %r8;\n"
    "add.s32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra L;";

TEST(KernelFixes, AreOfAllExecutionsOfAnArray) {
  KernelReport const r = report_of(column, {.fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  KernelFix const& f = r.fixes[0];
  EXPECT_EQ(f.array, "tile");
  EXPECT_EQ(f.start, "tile");
  EXPECT_EQ(f.accesses, 2U);
  EXPECT_TRUE(f.left_out.empty());
  EXPECT_EQ(f.executions, 12U);
  ASSERT_EQ(f.fixes.size(), 1U);
  EXPECT_EQ(f.fixes[0].before, 6U * 32 + 6U);
  EXPECT_EQ(f.fixes[0].ideal, 12U);
  EXPECT_EQ(f.fixes[0].after(), 12U);
  EXPECT_TRUE(report_of(column).fixes.empty());  // without the option, none
}

TEST(KernelFixes, LeaveOutWhatTheyDoNotKnow) {
  std::string const load = "ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; and.b32 %r9, %r9, 31; ";
  std::string const data =
      load + "mad.lo.s32 %r10, %r9, 4, %r2; ld.shared.u32 %r8, [%r10]; red.shared.add.u32 [%r5], 1;";
  KernelReport const r = report_of(column + data, {.fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  EXPECT_EQ(r.fixes[0].accesses, 4U);
  EXPECT_EQ(r.fixes[0].left_out,
            (std::vector<std::uint32_t>{r.accesses[2].ptx_line, r.accesses[3].ptx_line}));
  EXPECT_EQ(r.fixes[0].executions, 12U);
}

TEST(KernelFixes, CountFromTheStartThatIsRoundedUp) {
  std::string const text =
      "mov.u32 %r2, dynamic; add.s32 %r2, %r2, 1023; and.b32 %r2, %r2, -1024; shl.b32 %r4, %r1, 7;\n"
      "add.s32 %r4, %r4, %r2; ld.shared.u32 %r8, [%r4+8];";
  KernelReport const r = report_of(text, {.fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  EXPECT_EQ(r.fixes[0].array, "dynamic");
  EXPECT_NE(r.fixes[0].start, "dynamic");
  EXPECT_EQ(r.fixes[0].fixes.at(0).region.at(0).begin, 8U);
}

TEST(KernelFixes, AreOfPartsIfEachHasABetterOne) {
  // Columns of 16 bytes in the first half and of 4 in the second: what keeps vectors whole leaves words in 8 banks.
  KernelReport const r = report_of(
      "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];\n"
      "ld.shared.u32 %r9, [%r4+4096];",
      {.block = {{32, 1, 1}}, .fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  ASSERT_EQ(r.fixes[0].fixes.size(), 2U);
  EXPECT_EQ(r.fixes[0].fixes[0].after() + r.fixes[0].fixes[1].after(), 4U + 1U);
}

TEST(KernelFixes, LeaveOutMatricesOfPartWarps) {
  std::string const text =
      "and.b32 %r4, %r1, 31; shl.b32 %r4, %r4, 7; add.s32 %r4, %r4, %r2;\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];";
  EXPECT_EQ(report_of(text, {.block = {{64, 1, 1}}, .fixes = true}).fixes.size(), 1U);
  KernelReport const part = report_of(text, {.block = {{40, 1, 1}}, .fixes = true});
  EXPECT_EQ(part.accesses.at(0).verdict, KernelVerdict::refuted);
  EXPECT_TRUE(part.fixes.empty());
}

TEST(KernelFixes, AreOfNoArrayWithoutConflict) {
  EXPECT_TRUE(
      report_of("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r8, [%r4];", {.fixes = true})
          .fixes.empty());
  // Atomics alone have no fix, and what is out of bounds is not refuted for its cost.
  EXPECT_TRUE(
      report_of("shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; red.shared.add.u32 [%r4], 1;", {.fixes = true})
          .fixes.empty());
}

/// Lane l of a warp at l * n words.
constexpr char stride[] =
    "and.b32 %r4, %r1, 31; mul.lo.s32 %r4, %r4, %r3; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; "
    "ld.shared.u32 %r5, [%r4];";

TEST(KernelFunction, OfAStride) {
  KernelAccess const a = one(stride);
  ASSERT_TRUE(a.function);
  EXPECT_EQ(a.function->parameter, "n");
  ASSERT_EQ(a.function->at_most.size(), 32U);
  for (unsigned n = 0; n < 32; ++n) EXPECT_EQ(a.function->at_most[n], n == 0 ? 32U : n & (0U - n)) << n;
  EXPECT_EQ(a.aligned, true);
  EXPECT_EQ(a.wavefronts, 32U);
  for (std::uint64_t const n : {1, 6, 40})
    EXPECT_EQ(one(stride, {.params = {{"n", {n, false}}}}).wavefronts, a.function->at_most[n % 32]) << n;
  EXPECT_FALSE(one(stride, {.params = {{"n", {6, false}}}}).function);
}

TEST(KernelFunction, IsTheMostOfAllWarps) {
  // The first of two warps at 2 n l words, the second at n l.
  KernelAccess const a =
      one("shr.u32 %r6, %r1, 5; sub.s32 %r6, 2, %r6; and.b32 %r4, %r1, 31; mul.lo.s32 %r4, %r4, %r6; "
          "mul.lo.s32 %r4, %r4, %r3; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];");
  ASSERT_TRUE(a.function);
  EXPECT_EQ(a.function->at_most, (std::vector<unsigned>{32, 2, 4, 2, 8, 2, 4, 2, 16, 2, 4, 2, 8, 2, 4, 2}));
}

TEST(Kernel, WarpsThatDifferAreDecidedEach) {
  KernelOptions const eight{.block = std::array<std::uint32_t, 3>{256, 1, 1}};
  // `%r4` is the word; `%r6` the warp.
  auto const at_word = [&](std::string const& word, std::string const& access = "ld.shared.u32 %r5, [%r4];") {
    return one("shr.u32 %r6, %r1, 5; " + word + " shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; " + access,
               eight);
  };
  KernelAccess const alike = at_word("mov.u32 %r4, %r1;");
  EXPECT_EQ(alike.verdict, KernelVerdict::proved);
  EXPECT_TRUE(alike.reached);
  EXPECT_EQ(alike.aligned, true);
  EXPECT_EQ(alike.in_bounds, true);
  EXPECT_EQ(alike.layout, "32:4");
  // Warp 5 alone at each other word.
  KernelAccess const fifth =
      at_word("setp.eq.u32 %p1, %r6, 5; selp.u32 %r7, 1, 0, %p1; shl.b32 %r4, %r1, %r7;");
  EXPECT_EQ(fifth.verdict, KernelVerdict::refuted) << fifth.reason;
  EXPECT_EQ(fifth.wavefronts, 2U);
  EXPECT_EQ(fifth.worst->warp, 5U);
  // Odd warps have their words in another order: no layout is that of all.
  KernelAccess const order = at_word(
      "and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 1; xor.b32 %r8, %r1, 5; selp.b32 %r4, %r8, %r1, %p1;");
  EXPECT_EQ(order.verdict, KernelVerdict::proved) << order.reason;
  EXPECT_NE(order.layout, "32:4");
  // The last warp leaves 8 KiB, or is misaligned.
  KernelAccess const outside = at_word("mad.lo.u32 %r4, %r6, 288, %r1;");
  EXPECT_EQ(outside.in_bounds, false) << outside.bounds_reason;
  EXPECT_EQ(at_word("mad.lo.u32 %r4, %r6, 256, %r1;").in_bounds, true);
  KernelAccess const odd =
      at_word("mov.u32 %r4, %r1;", "shr.u32 %r7, %r6, 2; add.s32 %r4, %r4, %r7; ld.shared.u32 %r5, [%r4];");
  EXPECT_EQ(odd.aligned, false);
  EXPECT_EQ(odd.verdict, KernelVerdict::refuted);
  // So do those of loaded words, and of a stride that is not known.
  std::string const loaded = "ld.param.u64 %rd1, [g]; ld.global.u32 %r7, [%rd1]; and.b32 %r7, %r7, 15; ";
  KernelAccess const data = at_word(loaded + "mul.lo.u32 %r4, %r7, %r1;");
  EXPECT_NE(data.in_bounds, true) << "in the first warp alone";
  EXPECT_EQ(data.aligned, true);
  KernelAccess const few = at_word(loaded + "and.b32 %r7, %r7, 7; mul.lo.u32 %r4, %r7, %r1;");
  EXPECT_EQ(few.in_bounds, true) << few.bounds_reason;
  std::string const upper = "shr.u32 %r8, %r6, 2; add.s32 %r4, %r4, %r8; ";  // bytes
  EXPECT_NE(at_word(loaded + "mul.lo.u32 %r4, %r7, %r1;", upper + "ld.shared.u32 %r5, [%r4];").aligned, true);
  KernelAccess const strided = at_word("mul.lo.u32 %r4, %r1, %r3;", upper + "st.shared.u32 [%r4], %r1;");
  EXPECT_EQ(strided.wavefronts, 32U);
  EXPECT_NE(strided.aligned, true);
  // Some warps at 4 n l words, the others at n l.
  for (std::string const fours : {"setp.gt.u32 %p1, %r6, 3; ", "setp.lt.u32 %p1, %r6, 6; "}) {
    KernelAccess const by_n = at_word(fours +
                                      "and.b32 %r4, %r1, 31; mul.lo.s32 %r4, %r4, %r3; shl.b32 %r8, %r4, 2; "
                                      "selp.b32 %r4, %r8, %r4, %p1;");
    ASSERT_TRUE(by_n.function) << by_n.reason;
    EXPECT_EQ(by_n.function->at_most, (std::vector<unsigned>{32, 4, 8, 4, 16, 4, 8, 4})) << fours;
  }
}

TEST(KernelFunction, NeedsAPartThatAllShareInWholeWords) {
  std::string const without = std::string(stride).substr(0, std::string(stride).find("ld.shared"));
  KernelAccess const a = one(without +
                             "ld.param.u64 %rd1, [g]; cvt.u32.u64 %r7, %rd1; add.s32 %r4, %r4, %r7; "
                             "ld.shared.u32 %r5, [%r4];");
  EXPECT_FALSE(a.function);
  EXPECT_NE(a.aligned, true);
  EXPECT_EQ(a.wavefronts, 32U);
}

TEST(Kernel, LinesThatAnAccessIsInlinedAt) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"a/copy.hpp\"\n.file 2 \"gemm.cu\"\n"
      ".shared .align 16 .b8 tile[8192];\n.entry k()\n{\n.reg .b32 %r<9>;\n"
      ".loc 2 88 1\n mov.u32 %r1, tile;\n.loc 1 7 3, function_name $L__info_string0, inlined_at 2 88 1\n"
      "ld.shared.u32 %r2, [%r1];\nret;\n}\n",
      "test.ptx");
  KernelAccess const a = decide_kernel(m, m.functions.at(0), {.block = {{32, 1, 1}}}).accesses.at(0);
  ASSERT_EQ(a.inlined_at.size(), 1U);
  EXPECT_EQ(a.inlined_at[0].file, "gemm.cu");
  EXPECT_EQ(a.inlined_at[0].line, 88U);
  EXPECT_TRUE(is_at(a, "copy.hpp:7", "test.ptx"));
  EXPECT_TRUE(is_at(a, "gemm.cu:88", "test.ptx"));
  EXPECT_FALSE(is_at(a, "mm.cu:88", "test.ptx"));
  EXPECT_FALSE(is_at(a, "gemm.cu:7", "test.ptx"));
}

TEST(Kernel, UniformPartsDropOut) {
  KernelAccess const a = one(
      "mad.lo.s32 %r4, %r3, 4, %r2; shl.b32 %r5, %r1, 2; add.s32 %r4, %r4, %r5; ld.shared.u32 %r6, [%r4];");
  EXPECT_EQ(a.wavefronts, 1U);
  EXPECT_TRUE(a.reached);
}

TEST(Kernel, BytesWithinAWordTryEveryResidue) {
  KernelAccess const a = one("add.s32 %r4, %r3, %r2; add.s32 %r4, %r4, %r1; ld.shared.u8 %r6, [%r4];");
  EXPECT_EQ(a.wavefronts, 1U);
  // Lane * 97 + n: the worst of the four places in a word that n may have, by a plain count of words.
  unsigned worst = 0, least = 32;
  for (unsigned n = 0; n < 4; ++n) {
    std::array<std::set<unsigned>, 32> words;
    for (unsigned lane = 0; lane < 32; ++lane) words[(lane * 97 + n) / 4 % 32].insert((lane * 97 + n) / 4);
    unsigned most = 0;
    for (auto const& bank : words) most = std::max(most, static_cast<unsigned>(bank.size()));
    worst = std::max(worst, most), least = std::min(least, most);
  }
  EXPECT_LT(least, worst);
  KernelAccess const b = one("mad.lo.s32 %r4, %r1, 97, %r3; add.s32 %r4, %r4, %r2; ld.shared.u8 %r6, [%r4];",
                             KernelOptions{.block = {{32, 1, 1}}});
  EXPECT_EQ(b.wavefronts, worst);
}

TEST(Kernel, APointerToSharedOrOtherMemoryIsNotLeftOut) {
  auto const found = decided(
      ".local .align 4 .b8 mine[64];\n"
      "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; mov.u64 %rd3, mine; cvta.local.u64 %rd4, %rd3;\n"
      "setp.eq.u32 %p1, %r3, 0; selp.b64 %rd5, %rd2, %rd4, %p1; ld.u32 %r4, [%rd5];");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].verdict, KernelVerdict::unknown);
  EXPECT_NE(found[0].reason.find("other memory in another"), std::string::npos) << found[0].reason;
}

TEST(Kernel, LoopsOfAnyLength) {
  KernelAccess const a =
      one("mov.u32 %r7, 0; shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2;\nL: ld.shared.u32 %r6, [%r5]; add.s32 "
          "%r5, %r5, 4; add.s32 %r7, %r7, 1;"
          "setp.lt.u32 %p1, %r7, %r3; @%p1 bra L;");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
}

TEST(Kernel, AStepThatDiffersInTheLanesIsTriedForEachIteration) {
  // Iteration k: lane * 4 * k, for k = 1..4: 4-way conflicts at k = 4.
  KernelAccess const a =
      one("mov.u32 %r7, 0; mov.u32 %r5, %r2; shl.b32 %r8, %r1, 2;\nL: add.s32 %r5, %r5, %r8; ld.shared.u32 "
          "%r6, [%r5]; add.s32 %r7, %r7, 1;"
          "setp.ne.s32 %p1, %r7, 4; @%p1 bra L;");
  EXPECT_EQ(a.wavefronts, 4U);
}

TEST(Kernel, SumsMayWrap) {
  // (n + 4 lane) >> 2 << 2: n may be near 2^32, where the sum wraps; n & 3 carries into the lanes' part.
  KernelAccess const a =
      one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r3; shr.u32 %r4, %r4, 2; shl.b32 %r4, %r4, 2; add.s32 "
          "%r4, %r4, %r2; ld.shared.u32 %r6, [%r4];");
  EXPECT_EQ(a.wavefronts, 1U);
  // (n + lane) / 3 * 4 needs the whole of n: not decided, and never proved.
  KernelAccess const b =
      one("add.s32 %r4, %r1, %r3; div.u32 %r4, %r4, 3; shl.b32 %r4, %r4, 7; add.s32 %r4, %r4, %r2; "
          "ld.shared.u32 %r6, [%r4];");
  EXPECT_NE(b.verdict, KernelVerdict::proved);
  EXPECT_GE(*b.wavefronts, 11U);
}

TEST(Kernel, GuardsSwitchLanesOff) {
  std::string const access = "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; @%p1 ld.shared.u32 %r6, [%r4];";
  EXPECT_EQ(one("setp.lt.u32 %p1, %r1, 4; " + access).wavefronts, 4U);
  KernelAccess const never = one("setp.lt.u32 %p1, %r1, 0; " + access);
  EXPECT_FALSE(never.executed);
  EXPECT_EQ(never.wavefronts, 0U);
  // A guard by a parameter leaves the lanes on; a run with a large one reaches it.
  KernelAccess const some = one("setp.lt.u32 %p1, %r1, %r3; " + access);
  EXPECT_EQ(some.wavefronts, 32U);
  EXPECT_TRUE(some.reached);
  // A guard by loaded data: at most.
  KernelAccess const data =
      one("ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r9, "
          "[%rd1]; setp.lt.u32 %p1, %r1, %r9; " +
          access);
  EXPECT_EQ(data.wavefronts, 32U);
  EXPECT_FALSE(data.reached);
  EXPECT_EQ(data.verdict, KernelVerdict::data);
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

// Rows of 128 bytes: a lane that reads lane 31's row number finds it in its own warp, or nothing that is known.
TEST(Kernel, AShuffleFromALaneThatDoesNotExecuteItGivesAnyValue) {
  auto const after = [](std::string const& shuffle, std::uint32_t threads, std::string const& before = "") {
    return one(before + shuffle + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];",
               {.block = std::array<std::uint32_t, 3>{threads, 1, 1}});
  };
  std::string const last = "shfl.sync.idx.b32 %r4, %r1, 31, 31, -1;",
                    up = "shfl.sync.up.b32 %r4, %r1, 1, 0, -1;",
                    down = "shfl.sync.down.b32 %r4, %r1, 1, 31, -1;";
  EXPECT_EQ(after(last, 64).wavefronts, 1U);
  EXPECT_EQ(after(last, 64).verdict, KernelVerdict::proved);
  EXPECT_NE(after(last, 40).verdict, KernelVerdict::proved) << "the second warp has no lane 31";
  EXPECT_EQ(after(up, 40).verdict, KernelVerdict::proved);
  EXPECT_NE(after(down, 40).verdict, KernelVerdict::proved) << "lane 7 of the second warp reads lane 8";
  std::string const ends = "setp.ge.u32 %p1, %r1, 20; @%p1 bra out; ", out = " out: ";
  EXPECT_NE(
      decided(ends + down + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved)
      << "lane 19 reads lane 20, which has left";
  EXPECT_EQ(
      decided(ends + up + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved);
  std::string const uniform = "setp.ge.u32 %p1, %r3, 20; @%p1 bra out; ";
  EXPECT_EQ(
      decided(uniform + down + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved)
      << "all lanes execute it, or none";
}

// The lanes of the mask execute a shuffle: what shows that they do not is kept, what is not known is assumed, and named.
TEST(Kernel, AShuffleWhoseSourceIsNotKnownToExecuteItIsAssumedToReadIt) {
  std::string const load =
                        "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; "
                        "ld.global.u32 %r9, [%rd1]; setp.lt.s32 %p1, %r9, 0; ",
                    rest =
                        "shfl.sync.idx.b32 %r4, %r1, 3, 31, -1; shl.b32 %r5, %r4, 2; "
                        "add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5]; ";
  std::vector<std::string> const named{"shfl from a lane that is not known to execute it"};
  KernelReport const data = report_of(load + "@%p1 bra out; " + rest + "out: ");
  EXPECT_EQ(data.accesses.at(0).verdict, KernelVerdict::proved) << data.accesses.at(0).reason;
  EXPECT_EQ(data.accesses.at(0).wavefronts, 1U);
  EXPECT_EQ(data.assumed, named);
  // Runs in which a lane is not there show nothing: any value would be 32 rows.
  KernelReport const rows =
      report_of(load +
                "@%p1 bra out; shfl.sync.idx.b32 %r4, %r1, 3, 31, -1; and.b32 %r4, %r4, 63; "
                "shl.b32 %r5, %r4, 7; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5]; "
                "out: ");
  EXPECT_EQ(rows.accesses.at(0).wavefronts, 1U);
  EXPECT_EQ(rows.assumed, named);
  KernelReport const all = report_of(rest);
  EXPECT_EQ(all.accesses.at(0).verdict, KernelVerdict::proved);
  EXPECT_TRUE(all.assumed.empty()) << "all lanes execute it";
  // The last lanes end by their number, with any data.
  for (std::string const ends :
       {"setp.ge.u32 %p1, %r1, %r3; @%p1 bra out; ", "setp.ge.or.u32 %p1, %r1, %r3, %p1; @%p1 bra out; "}) {
    KernelReport const r = report_of(load + ends + rest + "out: ");
    EXPECT_NE(r.accesses.at(0).verdict, KernelVerdict::proved) << ends;
    EXPECT_TRUE(r.assumed.empty()) << ends;
  }
  KernelReport const counted = report_of(
      "mov.u32 %r9, 0;\nM: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r1; @%p2 bra M; "
      "setp.gt.u32 %p1, %r9, 20; @%p1 bra out; " +
      rest + "out: ");
  EXPECT_NE(counted.accesses.at(0).verdict, KernelVerdict::proved) << "each lane counts to its number";
  EXPECT_TRUE(counted.assumed.empty());
  KernelReport const kept = report_of(
      "setp.ge.u32 %p2, %r1, %r3; selp.b32 %r8, 1, 0, %p2; setp.eq.u32 %p1, %r8, 1; @%p1 bra out; " + rest +
      "out: ");
  EXPECT_NE(kept.accesses.at(0).verdict, KernelVerdict::proved) << "the comparison is kept in a register";
  EXPECT_TRUE(kept.assumed.empty());
  // The shuffle counts only where a parameter has been assumed to choose.
  KernelReport const chosen = report_of(
      load +
      "@%p1 bra out; shfl.sync.idx.b32 %r4, %r1, 3, 31, -1; and.b32 %r4, %r4, 63; shl.b32 %r5, %r4, 7; "
      "setp.gt.u32 %p3, %r3, 9; shl.b32 %r7, %r1, 3; selp.b32 %r8, %r7, %r1, %p3; setp.lt.u32 %p4, %r8, 512; "
      "selp.b32 %r5, %r5, 0, %p4; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5]; out: ");
  EXPECT_EQ(chosen.accesses.at(0).wavefronts, 1U);
  EXPECT_EQ(chosen.assumed, named);
  KernelReport const loop = report_of("L: " + load + rest + "@%p1 bra L; ");
  EXPECT_EQ(loop.accesses.at(0).verdict, KernelVerdict::proved) << loop.accesses.at(0).reason;
  EXPECT_EQ(loop.assumed, named);
}

TEST(Kernel, AShuffleBehindAnExitOfALoopReadsLanesThatLeaveByIt) {
  auto const behind_exit = [](std::string const& leaves) {
    return report_of(
        "ld.param.u64 %rd1, [g]; mov.u32 %r20, 0;\n"
        "L: add.u32 %r20, %r20, 1; ld.global.u32 %r9, [%rd1];\n" +
        leaves +
        " setp.gt.u32 %p8, %r20, 3; @%p8 bra out; bra L;\n"
        "A: shfl.sync.idx.b32 %r4, %r1, 3, 31, -1; shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; "
        "ld.shared.u32 %r6, [%r5];\nout: ");
  };
  KernelReport const together = behind_exit("setp.eq.u32 %p7, %r9, %r20; @%p7 bra A;");
  EXPECT_EQ(together.accesses.at(0).verdict, KernelVerdict::proved) << together.accesses.at(0).reason;
  EXPECT_EQ(together.accesses.at(0).wavefronts, 1U);
  EXPECT_TRUE(together.assumed.empty());
  KernelReport const apart = behind_exit("setp.le.u32 %p7, %r1, %r20; @%p7 bra A;");
  EXPECT_NE(apart.accesses.at(0).verdict, KernelVerdict::proved) << "lane 0 leaves first";
  KernelReport const ends =
      behind_exit("setp.ge.u32 %p6, %r1, 20; @%p6 ret; setp.eq.u32 %p7, %r9, %r20; @%p7 bra A;");
  EXPECT_NE(ends.accesses.at(0).verdict, KernelVerdict::proved) << "lanes end in the loop";
}

TEST(Kernel, AValueThatComesByTwoWaysDoesNotDependOnWhich) {
  // Each lane takes one of two ways to J with n, or all come there with 0.
  std::string const store = " shl.b32 %r5, %r6, 2; add.s32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;";
  auto const by = [&](std::string const& first, std::string const& second) {
    return one(
        "ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; mov.u32 %r6, 0; setp.gt.u32 %p1, %r3, 50;\n"
        "@%p1 bra J; mov.u32 %r6, " +
        first +
        "; setp.lt.u32 %p2, %r1, %r9; @%p2 bra J;\n"
        "bar.sync 0; mov.u32 %r6, " +
        second + ";\nJ:" + store);
  };
  KernelAccess const same = by("%r3", "%r3");
  EXPECT_EQ(same.verdict, KernelVerdict::proved) << same.reason;
  EXPECT_EQ(same.wavefronts, 1U);
  EXPECT_NE(by("%r3", "0").verdict, KernelVerdict::proved);
  EXPECT_NE(by("0", "%r3").verdict, KernelVerdict::proved);
}

// Loops within loops, each left behind shuffles of registers that the others change. A loop that failed is not tried again for each of the
// others, with which five loops took 2.9 GB, and ten more than 3 GB.
TEST(Kernel, LoopsWhoseShufflesDependOnEachOtherEnd) {
  constexpr unsigned loops = 12, registers = 4;
  auto const name = [](unsigned r) { return "%r" + std::to_string(10 + r % registers); };
  std::string body = "mov.u32 %r10, %r1; mov.u32 %r11, 1; mov.u32 %r12, 2; mov.u32 %r13, 3;\n";
  for (unsigned l = 0; l < loops; ++l) {
    body += "L" + std::to_string(l) + ":\n";
    for (unsigned r = 0; r < registers; ++r)
      body += "shfl.sync.down.b32 " + name(r) + ", " + name(r + 1) + ", 1, 31, -1; setp.eq.u32 %p1, " +
              name(r) + ", " + name(r + 2) + "; @%p1 bra X" + std::to_string(l) + ";\n";
  }
  for (unsigned l = loops; l-- > 0;)
    body += "setp.lt.u32 %p2, " + name(l) + ", %r3; @%p2 bra L" + std::to_string(l) + ";\nX" +
            std::to_string(l) + ":\n";
  KernelAccess const a = one(body + "shl.b32 %r5, %r10, 2; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;");
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.wavefronts, 32U);
}

/// A row of words at a stage of 1056 bytes, by a sum that is divided: it does not wrap if the stage in %r9 is small.
KernelAccess at_stage(std::string const& stage) {
  return one(stage +
             " mul.lo.u32 %r5, %r1, 3; mad.lo.u32 %r5, %r9, 792, %r5; div.u32 %r5, %r5, 3;\n"
             "shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;");
}

TEST(Kernel, AProductWhoseHighBitsAreAQuotientIsOne) {
  std::string const by_3 = "mul.hi.u32 %r6, %r3, 0xaaaaaaab; shr.u32 %r6, %r6, 1; ",
                    by_7 =
                        "mul.hi.u32 %r6, %r3, 0x24924925; sub.u32 %r7, %r3, %r6; shr.u32 %r7, %r7, 1; "
                        "add.u32 %r7, %r7, %r6; shr.u32 %r6, %r7, 2; ";
  for (std::string const& stage : std::vector<std::string>{
           std::string("mul.wide.u32 %rd1, %r3, 0xaaaaaaab; shr.u64 %rd1, %rd1, 33; cvt.u32.u64 %r6, %rd1; "
                       "mul.lo.u32 %r6, "
                       "%r6, 3; "
                       "sub.u32 %r9, %r3, %r6;"),
           by_3 + "mul.lo.u32 %r6, %r6, 3; sub.u32 %r9, %r3, %r6;", by_3 + "mad.lo.s32 %r9, %r6, -3, %r3;",
           by_7 + "mul.lo.u32 %r6, %r6, 7; sub.u32 %r9, %r3, %r6;"}) {
    KernelAccess const a = at_stage(stage);
    EXPECT_EQ(a.verdict, KernelVerdict::proved) << stage << a.reason;
    EXPECT_EQ(a.wavefronts, 1U) << stage;
  }
  // A product of 65 bits wraps, though its factor of 33 bits is that of 7; so the quotient of a large n is none.
  EXPECT_EQ(at_stage("cvt.u64.u32 %rd1, %r3; mul.lo.u64 %rd1, %rd1, 0x124924925; shr.u64 %rd1, %rd1, 35; "
                     "cvt.u32.u64 %r6, %rd1; mad.lo.s32 %r9, %r6, -7, %r3;")
                .verdict,
            KernelVerdict::unknown);
  // Other multiples are no remainder, nor are those of another number, and other factors are no divisor.
  for (std::string const& stage : std::vector<std::string>{
           "add.u32 %r8, %r3, 1; mul.hi.u32 %r6, %r8, 0xaaaaaaab; shr.u32 %r6, %r6, 1; mad.lo.s32 %r9, %r6, "
           "-3, "
           "%r3;",
           "mul.wide.u32 %rd1, %r3, 0xaaaaaaab; shr.u64 %rd1, %rd1, 16; cvt.u32.u64 %r6, %rd1; shr.u32 %r6, "
           "%r6, 17; mad.lo.s32 %r9, %r6, -3, %r3;",
           by_3 + "mul.lo.u32 %r6, %r6, 2; sub.u32 %r9, %r3, %r6;", by_3 + "mad.lo.s32 %r9, %r6, 3, %r3;",
           by_7 + "mul.lo.u32 %r6, %r6, 6; sub.u32 %r9, %r3, %r6;",
           std::string(
               "mul.hi.u32 %r6, %r3, 0xaaaaaaaa; shr.u32 %r6, %r6, 1; mul.lo.u32 %r6, %r6, 3; sub.u32 "
               "%r9, %r3, %r6;")})
    EXPECT_EQ(at_stage(stage).wavefronts, 32U) << stage;
}

TEST(Kernel, OneOfTwoStagesIsAsSmallAsEither) {
  // A row at a stage of 1056 bytes, or one that begins `later`.
  auto const by = [](std::string const& stage, std::string const& later) {
    return one("rem.u32 %r9, %r3, 7; shl.b32 %r5, %r1, 2; add.u32 %r6, %r5, " + later + "; mad.lo.u32 %r5, " +
               stage +
               ", 1056, %r5; setp.gt.u32 %p1, %r3, 100;\n"
               "selp.b32 %r5, %r5, %r6, %p1; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;");
  };
  KernelAccess const a = by("%r9", "6336");
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 1U);
  EXPECT_EQ(a.in_bounds, true) << a.bounds_reason;
  EXPECT_NE(by("%r9", "8000").in_bounds, true);
  EXPECT_NE(by("%r3", "6336").in_bounds, true);
}

TEST(Kernel, AStageThatLoopsPassOnIsSmall) {
  // The stage after n iterations is that of the next tile, for as many tiles as data says.
  auto const staged = [](std::string const& next, std::string const& first = "mov.u32 %r9, 0;") {
    return at_stage("ld.param.u64 %rd1, [g]; " + first +
                    "\n"
                    "T: mov.u32 %r20, 0;\n"
                    "K: " +
                    next +
                    " add.u32 %r20, %r20, 1; setp.lt.u32 %p1, %r20, %r3; @%p1 bra K;\n"
                    "ld.global.u32 %r8, [%rd1]; setp.eq.u32 %p2, %r8, 0; @%p2 bra T;\n");
  };
  KernelAccess const wraps =
      staged("add.u32 %r10, %r9, 1; setp.eq.u32 %p3, %r10, 7; selp.b32 %r9, 0, %r10, %p3;");
  EXPECT_EQ(wraps.verdict, KernelVerdict::proved) << wraps.reason;
  EXPECT_EQ(wraps.wavefronts, 1U);
  EXPECT_TRUE(wraps.in_bounds.value_or(false)) << "7 rows of 1056 bytes lie in 8192: " << wraps.bounds_reason;
  KernelAccess const beyond =
      staged("add.u32 %r10, %r9, 1; setp.eq.u32 %p3, %r10, 9; selp.b32 %r9, 0, %r10, %p3;");
  EXPECT_FALSE(beyond.in_bounds.value_or(false)) << "9 do not";
  KernelAccess const steps =
      staged("add.u32 %r10, %r9, 3; setp.eq.u32 %p3, %r10, 7; selp.b32 %r9, 0, %r10, %p3;");
  EXPECT_NE(steps.verdict, KernelVerdict::proved) << "9 is none of 7 stages";
  KernelAccess const other =
      staged("add.u32 %r10, %r9, 1; setp.eq.u32 %p3, %r20, 7; selp.b32 %r9, 0, %r10, %p3;");
  EXPECT_NE(other.verdict, KernelVerdict::proved) << "what is compared is another number";
  // Lanes 0 to 7 have banks of lanes 16 to 23 where each eight have a stage of their own.
  KernelAccess const apart =
      staged("add.u32 %r10, %r9, 4; and.b32 %r9, %r10, 7;", "shr.u32 %r9, %r1, 3; and.b32 %r9, %r9, 3;");
  EXPECT_EQ(apart.wavefronts, 2U) << apart.reason;
  KernelAccess const chosen = at_stage(
      "shr.u32 %r9, %r1, 3; and.b32 %r9, %r9, 3; and.b32 %r8, %r3, 3; add.u32 %r9, %r9, %r8;\n"
      "setp.gt.u32 %p1, %r3, 100; selp.b32 %r9, %r9, %r8, %p1;");
  EXPECT_EQ(chosen.wavefronts, 2U) << chosen.reason;
  KernelAccess const grows =
      staged("add.u32 %r10, %r9, 1; setp.eq.u32 %p3, %r10, 7; selp.b32 %r9, 1, %r10, %p3;");
  EXPECT_EQ(grows.verdict, KernelVerdict::proved) << grows.reason;
  KernelAccess const endless = staged("add.u32 %r9, %r9, 1;");
  EXPECT_NE(endless.verdict, KernelVerdict::proved);
}

/// A loop of n iterations, whose counter is %r20.
std::string looped(std::string const& first, std::string const& body) {
  return first + " mov.u32 %r20, 0;\nL: " + body +
         " add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, %r3; @%p8 bra L;";
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

TEST(Kernel, BitsThatNothingReadsAreNotNeeded) {
  std::string const garbage =
                        "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; "
                        "ld.global.u32 %r9, [%rd1]; mov.u32 %r4, %r1;",
                    use =
                        "and.b32 %r7, %r4, 65535; shl.b32 %r5, %r7, 2; add.s32 %r5, %r5, %r2; "
                        "ld.shared.u32 %r6, [%r5]; ",
                    pack = "and.b32 %r8, %r9, -65536; or.b32 %r4, %r7, %r8;";
  EXPECT_EQ(one(looped(garbage, use + pack)).verdict, KernelVerdict::proved);
  EXPECT_NE(one(looped(garbage, use + "and.b32 %r8, %r9, 33; or.b32 %r4, %r7, %r8;")).wavefronts, 1U);
  EXPECT_NE(one(looped(garbage,
                       "prmt.b32 %r7, %r4, 0, 0x4421; shl.b32 %r5, %r7, 2; add.s32 %r5, %r5, %r2; "
                       "ld.shared.u32 %r6, [%r5]; and.b32 %r7, %r4, 65535; " +
                           pack))
                .verdict,
            KernelVerdict::proved)
      << "a byte of the loaded half is read";
}

TEST(Kernel, AGuardedLoadHasTheAddressThatItsGuardGives) {
  auto const loaded = [](std::string const& guard) {
    return one(
        looped("mov.u32 %r4, 0; ld.param.u64 %rd1, [g];",
               guard + "mul.wide.u32 %rd2, %r20, 4; @%p1 add.s64 %rd3, %rd1, %rd2; "
                       "@%p1 ld.global.u32 %r4, [%rd3]; and.b32 %r6, %r4, 4095; mad.lo.u32 %r5, %r1, 4, %r6; "
                       "add.s32 %r5, %r5, %r2; ld.shared.u8 %r7, [%r5]; "));
  };
  KernelAccess const uniform = loaded("setp.gt.u32 %p1, %r3, 7; ");
  EXPECT_EQ(uniform.verdict, KernelVerdict::proved) << uniform.reason;
  EXPECT_EQ(uniform.wavefronts, 1U);
  EXPECT_NE(loaded("setp.gt.u32 %p1, %r1, 7; ").verdict, KernelVerdict::proved) << "eight lanes keep 0";
}

TEST(Kernel, ASumMayStartWhereAConditionChooses) {
  std::string const start =
                        "setp.gt.u32 %p1, %r3, 9; selp.b32 %r6, 4096, 0, %p1; mad.lo.u32 %r4, %r1, 4, %r6; "
                        "add.s32 %r4, %r4, %r2;",
                    toggle =
                        "ld.shared.u32 %r7, [%r4]; add.u32 %r8, %r20, %r3; and.b32 %r8, %r8, 1; "
                        "setp.eq.u32 %p2, %r8, 0; selp.b32 %r9, 2048, -2048, %p2; add.s32 %r4, %r4, %r9;";
  KernelAccess const a = one(looped(start, toggle));
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 1U);
  // A start that is no sum, and a step that depends on a counter that the launch gives.
  EXPECT_EQ(
      one("mad.lo.u32 %r4, %r1, 4, %r2; setp.gt.u32 %p1, %r3, 9; xor.b32 %r6, %r4, 128; selp.b32 %r4, %r6, "
          "%r4, %p1; "
          "mov.u32 %r20, %r3;\nL: ld.shared.u32 %r7, [%r4]; and.b32 %r8, %r20, 1; setp.eq.u32 %p2, %r8, 0; "
          "selp.b32 %r9, 4096, -4096, %p2; setp.gt.s32 %p3, %r20, 1; add.s32 %r10, %r4, %r9; "
          "selp.b32 %r4, %r10, %r4, %p3; sub.u32 %r20, %r20, 1; setp.gt.s32 %p8, %r20, 0; @%p8 bra L;")
          .wavefronts,
      1U);
  std::string own = toggle;  // each lane its own step
  own.replace(own.find("add.u32 %r8, %r20, %r3"), 22, "add.u32 %r8, %r20, %r1");
  EXPECT_NE(one(looped(start, own)).verdict, KernelVerdict::proved);
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

TEST(KernelRuns, AHeaderThatARunPassesOverLeavesItsRegistersOpen) {
  // After six toggles %r7 is 0 in all lanes; a run that stops after five of them shows nothing.
  KernelAccess const a =
      one("mov.u32 %r7, 0; mov.u32 %r13, 0;\nL: setp.gt.u32 %p5, %r1, 15; @!%p5 xor.b32 %r7, %r7, 32;\nM: "
          "add.u32 %r13, %r13, "
          "1; setp.lt.u32 %p4, %r13, 6; @%p4 bra L; and.b32 %r8, %r7, 32; shl.b32 %r8, %r8, 2; add.u32 %r28, "
          "%r2, %r8; "
          "ld.shared.u32 %r29, [%r28];");
  EXPECT_NE(a.verdict, KernelVerdict::refuted);
  EXPECT_EQ(a.seen, 0U);
}

// Lanes 0 and 1 take the counter, lane l takes l: a third iteration, which does not run, would have three lanes at one word.
TEST(Kernel, TheReplayTakesIterationsThatTheLoopHas) {
  KernelAccess const a = one(
      "mov.u32 %r4, 0;\nloop:\nsetp.le.u32 %p1, %r1, 1; selp.b32 %r5, %r4, %r1, %p1; shl.b32 %r5, %r5, 2; "
      "add.s32 %r6, %r5, %r2; cp.async.ca.shared.global [%r6], [%rd1], 4; add.s32 %r4, %r4, 1; "
      "setp.eq.s32 %p2, %r4, 2; @!%p2 bra loop;",
      {.block = std::array<std::uint32_t, 3>{7, 1, 1}});
  EXPECT_EQ(a.wavefronts, 2U);
}

TEST(Kernel, MisalignedIsWhatAnExecutionIs) {
  std::string const load = " add.s32 %r5, %r4, %r2; ld.shared.u16 %r6, [%r5];";
  EXPECT_EQ(one("and.b32 %r4, %r3, 1023;" + load).aligned, false) << "if n = 1";
  EXPECT_EQ(one("xor.b32 %r4, %r3, %r3; and.b32 %r4, %r4, 1023;" + load).verdict, KernelVerdict::proved)
      << "n ^ n is never 1";
  EXPECT_EQ(one("and.b32 %r4, %r3, 1022;" + load).aligned, true);
}

TEST(Kernel, OneOfTwoLanesIsMisalignedWhateverTheBaseIs) {
  auto const vectors = [](std::string const& shift, std::string const& guard = "") {
    return one(".shared .align 4 .b8 low[4096]; mov.u32 %r7, low; shl.b32 %r4, %r1, " + shift +
               "; add.u32 %r4, %r4, %r7; ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1];" + guard +
               " ld.shared.v4.u32 {%r5, %r6, %r8, %r3}, [%r4];");
  };
  EXPECT_EQ(vectors("2").aligned, false);
  EXPECT_EQ(vectors("2").verdict, KernelVerdict::refuted);
  EXPECT_EQ(vectors("2").reason,
            "lanes 0 and 1 of warp 0 are 4 bytes apart: one of them is at no multiple of 16");
  EXPECT_EQ(vectors("4").aligned, std::nullopt);
  EXPECT_EQ(vectors("2", "and.b32 %r8, %r1, 3; setp.eq.u32 %p1, %r8, 1; @%p1").aligned, std::nullopt)
      << "16 bytes apart";
  EXPECT_EQ(vectors("2", "setp.eq.u32 %p1, %r9, 1; @%p1").aligned, std::nullopt) << "it may not be executed";
}

TEST(Kernel, MatricesThatMayNotBeExecutedAreNotMisaligned) {
  auto const odd = [](std::string const& guard) {
    return one(
        "ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p1, %r9, 1; setp.lt.u32 %p2, "
        "%r1, 40; shl.b32 %r4, %r1, 4; and.b32 %r4, %r4, 1023; add.u32 %r4, %r4, %r2; add.u32 %r4, "
        "%r4, 2; " +
        guard + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];");
  };
  EXPECT_EQ(odd("").aligned, false);
  EXPECT_EQ(odd("@%p2 ").aligned, false) << "of warp 0";
  EXPECT_EQ(odd("@%p1 ").aligned, std::nullopt);
  EXPECT_NE(odd("@%p1 ").verdict, KernelVerdict::refuted);
  EXPECT_EQ(odd("setp.lt.u32 %p2, %r1, 16; @%p2 ").aligned, std::nullopt) << "no execution by half a warp";
}

TEST(Kernel, AnExpressionInAnAddressIsNotIgnored) {
  KernelAccess const a = one("st.shared.u32 [%r2+(2)], %r1;");
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.reason, "this form of an address is not read");
}

/// Accesses of the kernel `k` in this text, whose block has 32 threads.
std::vector<KernelAccess> accesses_of(std::string const& functions) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n.extern .func "
      "printing();\n" +
          functions,
      "test.ptx");
  for (ptx::Function const& f : m.functions)
    if (f.entry) return decide_kernel(m, f, {.block = std::array<std::uint32_t, 3>{32, 1, 1}}).accesses;
  return {};
}

TEST(Kernel, ACallThatIsNotInlinedIsListed) {
  auto const called = [](std::string const& body) {
    return accesses_of(".func inner()\n{\n.reg .b32 %r<9>;\n" + body +
                       "\nret;\n}\n.func outer()\n{\ncall.uni inner;\nret;\n}\n.entry k()\n{\ncall.uni "
                       "outer;\nret;\n}\n");
  };
  EXPECT_TRUE(called("mov.u32 %r1, 0;").empty());
  auto const external = called("call.uni printing;");
  ASSERT_EQ(external.size(), 1U) << "its body is in another file";
  EXPECT_EQ(external[0].verdict, KernelVerdict::unknown);
  EXPECT_EQ(external[0].reason, "the function printing is not in this file: the call is not inlined");
  EXPECT_EQ(external[0].calls, (std::vector<std::uint32_t>{19, 14})) << "of outer, then of inner";
  auto const indirect = called(".reg .b64 %rd<3>; call %rd1, (), proto;");
  ASSERT_EQ(indirect.size(), 1U);
  EXPECT_EQ(indirect[0].reason, "an indirect call: the call is not inlined");
  auto const recursive = called("mov.u32 %r1, tile; ld.shared.u32 %r2, [%r1]; call.uni outer;");
  ASSERT_EQ(recursive.size(), 1U);
  EXPECT_EQ(recursive[0].reason,
            "the function inner may access shared memory: the call is not inlined, since outer calls itself");
}

TEST(Kernel, AnAccessOfAFunctionIsOneForEachCall) {
  auto const all = accesses_of(
      ".func (.param .b32 out) get(.param .b32 step, .param .b64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "ld.param.u32 %r1, [step]; ld.param.u64 %rd1, [p]; mov.u32 %r2, %tid.x; mul.lo.u32 %r3, %r2, %r1;\n"
      "cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %rd1, %rd2;\nld.u32 %r4, [%rd3];\n"
      "st.param.b32 [out+0], %r3;\nret;\n}\n"
      ".entry k()\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.u32 %r1, tile; cvt.u64.u32 %rd1, %r1;\n"
      "cvta.shared.u64 %rd2, %rd1;\n"
      "{ .param .b32 param0; st.param.b32 [param0+0], 4; .param .b64 param1; st.param.b64 [param1+0], %rd2;\n"
      ".param .b32 retval0; call.uni (retval0), get, (param0, param1); ld.param.b32 %r2, [retval0+0]; }\n"
      "{ .param .b32 param0; st.param.b32 [param0+0], 64; .param .b64 param1; st.param.b64 [param1+0], "
      "%rd2;\n"
      ".param .b32 retval0;\ncall.uni (retval0), get, (param0, param1); ld.param.b32 %r3, [retval0+0]; }\n"
      "add.u32 %r4, %r1, %r3;\nld.shared.u32 %r5, [%r4];\nret;\n}\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].wavefronts, 1U);
  EXPECT_EQ(all[1].wavefronts, 16U) << "rows of 64 bytes";
  EXPECT_EQ(all[0].ptx_line, all[1].ptx_line);
  EXPECT_EQ(all[0].calls.size(), 1U);
  EXPECT_NE(all[0].calls, all[1].calls);
  EXPECT_TRUE(all[1].reached);
  EXPECT_EQ(all[2].wavefronts, 16U) << "at the number that the second call returned";
  EXPECT_TRUE(all[2].calls.empty());
}

TEST(Kernel, LanesThatACallLeavesOutAreOff) {
  std::string const body =
      ".func store(.reg .b32 at)\n{\n.reg .b32 %r<9>; .reg .pred %p<3>;\nmov.u32 %r1, tile;\n"
      "mad.lo.u32 %r2, at, 128, %r1;\nsetp.ge.u32 %p1, at, 16;\n@%p1 ret;\nst.shared.u32 [%r2], "
      "%r1;\nret;\n}\n"
      ".entry k()\n{\n.reg .b32 %r<9>; .reg .pred %p<3>;\nmov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4;\n";
  auto const some = accesses_of(body + "@%p1 call store, (%r1);\nret;\n}\n");
  ASSERT_EQ(some.size(), 1U);
  EXPECT_EQ(some[0].wavefronts, 4U) << "4 lanes call it";
  auto const rest = accesses_of(body + "@!%p1 call store, (%r1);\nret;\n}\n");
  EXPECT_EQ(rest.at(0).wavefronts, 12U) << "28 lanes call it, 16 of which return before the store";
  auto const all = accesses_of(body + "call.uni store, (%r1);\nret;\n}\n");
  EXPECT_EQ(all.at(0).wavefronts, 16U);
}

TEST(Kernel, WhatIsNotModelledIsNotData) {
  std::string const store = " add.s32 %r5, %r4, %r2; st.shared.u32 [%r5], %r1;";
  EXPECT_EQ(one("mul24.lo.u32 %r4, %r1, 128;" + store).verdict, KernelVerdict::unknown);
  EXPECT_EQ(one("ld.global.u32 %r6, [%rd1]; mul24.lo.u32 %r4, %r6, %r1;" + store).verdict,
            KernelVerdict::data);
}

/// The load at `tile + 4 * %r4` after these lines; %r6 is a number of global memory, the same in all lanes, %r7 one of each lane.
KernelAccess load_at(std::string const& body) {
  return one(
      "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1];\nmad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 "
      "%r7, [%rd2];\n" +
      body + "\nshl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];");
}
std::string const uniform_load = "the load at PTX line 10", lane_load = "the load at PTX line 11";
std::string not_modelled(std::string const& name) { return name + " at PTX line 12, which is not modelled"; }

TEST(Kernel, DataIsWhatComesFromALoad) {
  struct Row {
    char const* body;
    KernelVerdict verdict;
    std::string source;
  };
  constexpr KernelVerdict data = KernelVerdict::data, unknown = KernelVerdict::unknown;
  Row const rows[] = {
      {"activemask.b32 %r4;", unknown, not_modelled("activemask.b32")},
      {"elect.sync %r4|%p1, -1; shl.b32 %r4, %r1, 5; @%p1 mov.u32 %r4, 0;", unknown,
       not_modelled("elect.sync")},
      {"match.any.sync.b32 %r4, %r1, -1;", unknown, not_modelled("match.any.sync.b32")},
      {"match.any.sync.b32 %r4, %r7, -1;", data, lane_load},
      {"mov.u32 %r4, %clock;", unknown, not_modelled("%clock")},
      {"mov.u32 %r4, %warpid;", unknown, not_modelled("%warpid")},
      {"setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r4, %p1, -1; mul.lo.u32 %r4, %r4, %r1;", unknown,
       not_modelled("vote.sync.ballot.b32")},
      {"setp.lt.u32 %p1, %r7, 5; vote.sync.ballot.b32 %r4, %p1, -1; mul.lo.u32 %r4, %r4, %r1;", data,
       lane_load},
      {"setp.lt.u32 %p1, %r7, 5; vote.sync.uni.pred %p2, %p1, -1; selp.b32 %r4, 1, 32, %p2; mul.lo.u32 %r4, "
       "%r4, %r1;",
       data, lane_load},
      {"redux.sync.add.u32 %r4, %r1, -1; mul.lo.u32 %r4, %r4, %r1;", unknown,
       not_modelled("redux.sync.add.u32")},
      {"redux.sync.add.u32 %r4, %r7, -1; mul.lo.u32 %r4, %r4, %r1;", data, lane_load},
      {"activemask.b32 %r8; shfl.sync.idx.b32 %r4, %r8, 0, 31, -1; mul.lo.u32 %r4, %r4, %r1;", unknown,
       not_modelled("activemask.b32")},
      {"activemask.b32 %r8; shfl.sync.bfly.b32 %r4, %r8, 1, 31, -1;", unknown,
       not_modelled("activemask.b32")},
      {"shfl.sync.bfly.b32 %r4, %r7, 1, 31, -1;", data, lane_load},
      {"mul24.lo.u32 %r4, %r7, %r1;", data, lane_load},
      {"activemask.b32 %r8; add.u32 %r4, %r8, %r7;", unknown, not_modelled("activemask.b32")},
      {"atom.global.add.u32 %r4, [%rd1], 1;", data, "the atomic at PTX line 12"},
      {"addc.u32 %r4, %r1, %r1;", unknown, not_modelled("addc.u32")}};
  for (Row const& row : rows) {
    KernelAccess const a = load_at(row.body);
    EXPECT_EQ(a.verdict, row.verdict) << row.body;
    EXPECT_EQ(a.reason, "the address depends on " + row.source) << row.body;
    EXPECT_EQ(a.wavefronts, 32U) << row.body;
  }
}

TEST(Kernel, AConditionDependsOnDataIfALoadIsInIt) {
  std::string const rows = "shl.b32 %r4, %r1, 5;";
  auto const guarded = [&](std::string const& test) { return load_at(test + " @%p1 ret; " + rows); };
  KernelAccess const uniform = guarded("setp.eq.u32 %p1, %r6, 0;");
  EXPECT_EQ(uniform.verdict, KernelVerdict::data);
  EXPECT_EQ(uniform.reason, "which lanes take part depends on " + uniform_load);
  EXPECT_EQ(guarded("setp.lt.u32 %p1, %r1, %r6;").verdict, KernelVerdict::data);
  KernelAccess const active = guarded("activemask.b32 %r8; setp.lt.u32 %p1, %r1, %r8;");
  EXPECT_EQ(active.verdict, KernelVerdict::unknown);
  EXPECT_EQ(active.reason, "which lanes take part depends on " + not_modelled("activemask.b32"));
}

TEST(Kernel, AUniformLoadIsTriedForAllItsValues) {
  // 4 lane v for v below 16: 8-way conflicts at v = 8.
  KernelAccess const few = load_at("and.b32 %r4, %r6, 15; mul.lo.u32 %r4, %r4, %r1;");
  EXPECT_EQ(few.verdict, KernelVerdict::data);
  EXPECT_EQ(few.reason, "the address depends on " + uniform_load);
  EXPECT_EQ(few.wavefronts, 8U);
  EXPECT_FALSE(few.reached);
  EXPECT_EQ(load_at("and.b32 %r4, %r6, 1; mul.lo.u32 %r4, %r4, %r1;").verdict, KernelVerdict::proved);
  KernelAccess const any = load_at("mul.lo.u32 %r4, %r6, %r1;");
  EXPECT_EQ(any.verdict, KernelVerdict::data);
  EXPECT_EQ(any.reason, "the address depends on " + uniform_load);
  EXPECT_EQ(any.wavefronts, 32U);
}

TEST(Kernel, AStageMovesAllLanesByTheSame) {
  // Two buffers: what a branch on the stage adds to the address is the same in all lanes.
  std::string const around =
      "mov.u32 %r9, 1; mov.u32 %r6, 0;\nloop:\nld.shared.u32 %r7, [%r4]; setp.eq.s32 %p1, %r9, 1; @%p1 bra "
      "up;\nadd.s32 %r8, %r4, -1152; bra.uni join;\nup:\nadd.s32 %r8, %r4, 896;\njoin:\nxor.b32 %r9, %r9, 1; "
      "add.s32 %r4, %r8, 128; add.s32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, %r3; @%p2 bra loop;";
  EXPECT_EQ(one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; " + around).verdict, KernelVerdict::proved);
  KernelAccess const column = one("shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; " + around);
  EXPECT_EQ(column.verdict, KernelVerdict::refuted);
  EXPECT_EQ(column.wavefronts, 32U);
  // A condition on the lane is no stage.
  std::string other = around;
  other.replace(other.find("setp.eq.s32 %p1, %r9, 1;"), 24, "setp.eq.s32 %p1, %r1, 7;");
  other.replace(other.find("896"), 3, "900");
  EXPECT_EQ(one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; " + other).verdict, KernelVerdict::refuted);
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

TEST(Kernel, TheSignOfASmallSumIsKnown) {
  // n & 1023 is at most 1023: the sum with tid has no sign, and its upper bits are those of no other number.
  std::string const sum = "and.b32 %r4, %r3, 1023; add.s32 %r4, %r4, %r1; ";
  std::string const store =
      "mul.lo.u32 %r5, %r5, %r1; add.u32 %r5, %r5, %r1; shl.b32 %r5, %r5, 2; add.u32 %r5, "
      "%r5, %r2; st.shared.u32 [%r5], %r1;";
  EXPECT_EQ(one(sum + "shr.s32 %r5, %r4, 31; " + store).verdict, KernelVerdict::proved);
  EXPECT_EQ(one(sum + "shr.u32 %r5, %r4, 11; " + store).verdict, KernelVerdict::proved);
  EXPECT_NE(one(sum + "shr.u32 %r5, %r4, 10; " + store).verdict, KernelVerdict::proved) << "1023 + 1";
}

TEST(Kernel, ConvertedConstantsAreNotWhatAConditionDependsOn) {
  std::string const condition =
      "ld.param.u64 %rd1, [g]; ld.global.u16 %r6, [%rd1]; mov.u32 %r7, 0; "
      "cvt.rn.f16.s32 %r8, %r7; setp.ne.f16 %p1, %r6, %r8;";
  KernelAccess const a = behind(condition);
  EXPECT_EQ(a.verdict, KernelVerdict::data);
  EXPECT_EQ(a.reason, "which lanes take part depends on the load at PTX line 10");
}

TEST(Kernel, AnAccessOfManyStepsLeavesSomeForTheOthers) {
  std::string const many =
      "ld.param.u32 %r6, [g]; mul.lo.u32 %r4, %r1, %r3; xor.b32 %r7, %r1, 5; mul.lo.u32 %r7, "
      "%r7, %r6; add.u32 %r4, %r4, %r7; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; "
      "st.shared.u32 [%r4], %r1; ";
  KernelOptions few;
  few.steps = 300;
  auto const both = decided(
      many + "xor.b32 %r5, %r1, 3; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;",
      few);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].open, "the limit of 300 steps for one kernel");
  EXPECT_EQ(both[1].verdict, KernelVerdict::proved) << both[1].reason;
  // The first one waits, and gets the rest.
  few.steps = 40000;
  EXPECT_EQ(one(many, few).open.find("limit"), std::string::npos);
}

TEST(Kernel, AGenericAddressFromMemoryDependsOnData) {
  std::string const makes = " mov.u64 %rd3, tile; cvta.shared.u64 %rd4, %rd3;";
  KernelAccess const a =
      one("ld.param.u64 %rd1, [g]; ld.global.u64 %rd2, [%rd1]; st.u32 [%rd2], %r1;" + makes);
  EXPECT_EQ(a.verdict, KernelVerdict::data);
  EXPECT_EQ(a.reason, "the address depends on the load at PTX line 10: it may be shared memory");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.in_bounds, std::nullopt);
  // An atomic's cost at any addresses is not known, and a clock is no data.
  EXPECT_EQ(one("ld.param.u64 %rd1, [g]; ld.global.u64 %rd2, [%rd1]; atom.add.u32 %r4, [%rd2], %r1;" + makes)
                .verdict,
            KernelVerdict::unknown);
  EXPECT_EQ(one("mov.u64 %rd2, %clock64; st.u32 [%rd2], %r1;" + makes).verdict, KernelVerdict::unknown);
  // A kernel that makes no such address has none; another block's may be.
  std::string const generic = "ld.param.u64 %rd1, [g]; ld.global.u64 %rd2, [%rd1]; st.u32 [%rd2], %r1;";
  EXPECT_TRUE(decided(generic).empty());
  EXPECT_TRUE(decided(generic + " cvta.to.shared.u64 %rd4, %rd2;").empty());
  EXPECT_EQ(decided(generic + " mapa.u64 %rd4, %rd2, 1;").size(), 1U);
  EXPECT_EQ(decided(generic + " cvta.shared::cluster.u64 %rd4, %rd1;").size(), 1U);
}

TEST(Kernel, FewValuesInEachLaneBoundTheCost) {
  KernelAccess const table = load_at("and.b32 %r4, %r7, 31;");
  EXPECT_EQ(table.verdict, KernelVerdict::proved) << "32 words are 32 banks";
  EXPECT_EQ(table.aligned, true);
  EXPECT_EQ(load_at("and.b32 %r4, %r7, 31; add.u32 %r4, %r4, %r3;").verdict, KernelVerdict::proved);
  EXPECT_EQ(load_at("activemask.b32 %r4; and.b32 %r4, %r4, 7;").verdict, KernelVerdict::proved);
  EXPECT_EQ(load_at("and.b32 %r4, %r7, 63;").wavefronts, 2U);
  EXPECT_EQ(load_at("and.b32 %r4, %r7, 15; mad.lo.u32 %r4, %r1, 32, %r4;").wavefronts, 32U);
  EXPECT_EQ(load_at("and.b32 %r4, %r7, 15; mad.lo.u32 %r4, %r1, 16, %r4;").wavefronts, 16U)
      << "16 lanes may meet in a bank";
  KernelAccess const bytes = one(
      "ld.param.u64 %rd1, [g]; mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r7, [%rd2]; and.b32 %r4, %r7, "
      "127; add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];");
  EXPECT_EQ(bytes.aligned, std::nullopt) << "an odd byte is no word";
  EXPECT_EQ(bytes.wavefronts, 32U);
}

TEST(Kernel, ADivisionByZeroGivesAnyValue) {
  KernelAccess const zero = load_at("rem.u32 %r4, %r1, 0;");
  EXPECT_EQ(zero.verdict, KernelVerdict::unknown);
  EXPECT_EQ(zero.reason, "the address depends on " + not_modelled("rem.u32 by 0"));
  EXPECT_EQ(load_at("and.b32 %r4, %r1, 1; div.s32 %r4, %r1, %r4;").verdict, KernelVerdict::unknown);
  EXPECT_EQ(load_at("or.b32 %r4, %r1, 32; div.u32 %r4, %r1, %r4;").verdict, KernelVerdict::proved);
  KernelOptions given;
  given.params["n"] = {0};
  KernelAccess const n = one(
      "div.u32 %r4, %r1, %r3; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];", given);
  EXPECT_EQ(n.verdict, KernelVerdict::unknown);
  EXPECT_EQ(n.reason, "the address depends on div.u32 by 0 at PTX line 10, which is not modelled");
  // The same operands in all lanes, the same result.
  EXPECT_EQ(load_at("div.u32 %r4, %r3, %r6;").verdict, KernelVerdict::proved);
  // A grid has at least one block: tid % 1 .. tid % 0x7fffffff, and never tid % 0.
  EXPECT_EQ(load_at("mov.u32 %r8, %nctaid.x; setp.eq.u32 %p1, %r8, 0; selp.b32 %r4, 32, 1, %p1; mul.lo.u32 "
                    "%r4, %r4, %r1;")
                .verdict,
            KernelVerdict::proved);
}

TEST(Kernel, NamesThatAreNotDeclaredAreRefused) {
  auto const refused = [](std::string const& body) {
    KernelReport const r = report_of(body + " ld.shared.u32 %r6, [%r4];");
    for (KernelAccess const& a : r.accesses) EXPECT_EQ(a.verdict, KernelVerdict::unknown) << body;
    return r.refused;
  };
  EXPECT_EQ(refused("mov.u32 %r4, %r99;"), "line 10: %r99 is not declared");
  EXPECT_EQ(refused("mov.u32 %r99, %r4;"), "line 10: %r99 is not declared");
  EXPECT_EQ(refused("mov.u32 %r4, other;"), "line 10: other is not declared");
  EXPECT_EQ(refused("mov.u32 other, %r4;"), "line 10: other is not declared");
  EXPECT_EQ(refused("setp.lt.u32 %p9, %r1, 3;"), "line 10: %p9 is not declared");
  EXPECT_EQ(refused("mov.u32 %r4, %r2-4;"), "line 10: %r2-4 is not declared");
  EXPECT_EQ(refused("ld.shared.u32 %r4, [other];"), "line 10: other is not declared");
  EXPECT_EQ(report_of("mov.u64 %rd1, f; mov.u32 %r4, WARP_SZ; mov.u64 %rd2, %clock64; mov.u32 %r4, "
                      "%dynamic_smem_size;")
                .refused,
            "line 10: f is not declared");
  EXPECT_EQ(report_of("mov.u64 %rd1, k; mov.u32 %r4, WARP_SZ; mov.u64 %rd2, %clock64; mov.u32 %r4, "
                      "%dynamic_smem_size;")
                .refused,
            "");
  EXPECT_EQ(load_at("mul.lo.u32 %r4, %r1, WARP_SZ;").wavefronts, 32U);
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

/// A store at `few + 4 * i` or what `step` makes of it, in iterations 0 to 63 that `test` may leave; %r9 was loaded.
KernelAccess in_iterations(std::string const& guard, std::string const& step, std::string const& last,
                           std::string const& store = "st.shared.u32 [%r7], %r1;") {
  return decided(
             ".shared .align 16 .b8 few[128]; ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; mov.u32 "
             "%r7, "
             "few; mov.u32 %r6, 0;\nL: " +
             guard + store + step + " add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, " + last + " @%p1 bra L;")
      .at(0);
}

TEST(Kernel, FaultsOfAnIterationThatSurelyRuns) {
  std::string const word = " add.u32 %r7, %r7, 4;", half = " add.u32 %r7, %r7, 2;";
  KernelAccess const beyond = in_iterations("", word, "64;");
  EXPECT_EQ(beyond.verdict, KernelVerdict::refuted);
  EXPECT_EQ(beyond.in_bounds, false);
  EXPECT_EQ(beyond.reason, "lane 0 of warp 0 accesses byte 0x80 of few, which has 128 bytes");
  EXPECT_EQ(in_iterations("", word, "32;").in_bounds, true);
  EXPECT_EQ(in_iterations("", word, "33;").in_bounds, false);
  EXPECT_EQ(in_iterations("", " add.u32 %r7, %r7, -4;", "2;").reason,
            "lane 0 of warp 0 accesses byte -4 of few, which has 128 bytes");
  // The loop may end before, by data; or each iteration is guarded by data.
  EXPECT_EQ(in_iterations("", word, "64; setp.ne.and.u32 %p1, %r6, %r9, %p1;").in_bounds, std::nullopt);
  EXPECT_EQ(in_iterations("setp.eq.u32 %p2, %r6, %r9; @%p2 ret; ", word, "64;").in_bounds, std::nullopt);
  EXPECT_EQ(in_iterations(
                "", word + " setp.lt.u32 %p2, %r6, 10; setp.eq.and.u32 %p2, %r6, %r9, %p2; @%p2 ret;", "64;")
                .in_bounds,
            std::nullopt)
      << "a lane may end in the first ten";
  EXPECT_EQ(in_iterations("setp.eq.u32 %p2, %r6, %r9; @%p2 ", word, "64;").in_bounds, std::nullopt);
  EXPECT_EQ(in_iterations("", word, "%r3;").in_bounds, std::nullopt) << "n iterations";
  // A guard by the counter.
  EXPECT_EQ(in_iterations("setp.lt.u32 %p2, %r6, 32; @%p2 ", word, "64;").in_bounds, true);
  EXPECT_EQ(in_iterations("setp.lt.u32 %p2, %r6, 33; @%p2 ", word, "64;").in_bounds, false);
  // Two bytes further in each iteration: misaligned in the second.
  EXPECT_EQ(in_iterations("", half, "2;").aligned, false);
  EXPECT_EQ(in_iterations("", half, "1;").aligned, true);
  EXPECT_EQ(in_iterations("and.b32 %r8, %r6, 1; setp.eq.u32 %p2, %r8, 0; @%p2 ", half, "8;").aligned, true);
  // Two loops: 8 i + j for i in 0..3, j in 0..7 has 32 words.
  auto const nested = [](std::string const& outer) {
    return decided(
               ".shared .align 16 .b8 few[128]; mov.u32 %r7, few; mov.u32 %r6, 0;\nI: mov.u32 %r8, 0; "
               "mov.u32 "
               "%r10, %r7;\nJ: st.shared.u32 [%r10], %r1; add.u32 %r10, %r10, 4; add.u32 %r8, %r8, 1; "
               "setp.lt.u32 %p1, %r8, 8; @%p1 bra J;\nadd.u32 %r7, %r7, 32; add.u32 %r6, %r6, 1; "
               "setp.lt.u32 %p1, %r6, " +
               outer + "; @%p1 bra I;")
        .at(0)
        .in_bounds;
  };
  EXPECT_EQ(nested("4"), true);
  EXPECT_EQ(nested("5"), false);
  EXPECT_EQ(one("shl.b32 %r4, %r1, 2; ld.shared.u32 %r5, [%r4];").in_bounds, std::nullopt) << "of no array";
}

TEST(Kernel, BeyondTheArrayIsWhatAnExecutionIs) {
  // (tid + 3 i) & 31 of 3 threads in two iterations is at most 5.
  KernelAccess const a = decided(
                             ".shared .align 4 .b8 few[64]; mov.u32 %r2, few; mov.u32 %r6, 0; mov.u32 %r9, "
                             "%r1;\nloop:\nand.b32 %r4, %r9, 31; "
                             "shl.b32 %r5, %r4, 3; add.s32 %r7, %r2, %r5; st.shared.u32 [%r7], %r1; add.s32 "
                             "%r9, %r9, 3; add.s32 %r6, %r6, 4; "
                             "setp.gt.s32 %p2, %r6, 7; @!%p2 bra loop;",
                             {.block = std::array<std::uint32_t, 3>{3, 1, 1}})
                             .at(0);
  EXPECT_NE(a.in_bounds, false);
}

TEST(Kernel, AnInstructionThatTheArchitectureLacksIsNotDecided) {
  KernelOptions options;
  for (Architecture const& arch : architectures)
    if (arch.name == std::string_view("sm_80")) options.arch = &arch;
  KernelAccess const a = one("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};", options);
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.reason, "sm_80 has no stmatrix.x1");
}

TEST(Kernel, ABlockThatCannotBeLaunchedIsRefused) {
  auto const refused = [](std::string const& directive, std::optional<std::array<std::uint32_t, 3>> block) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n" + directive + "\n{\nret;\n}\n",
        "test.ptx");
    return decide_kernel(m, m.functions.at(0), {.block = block}).refused;
  };
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{64, 1, 1}}), "");
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{8, 8, 1}}), "") << "the threads count, not the shape";
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{96, 1, 1}}),
            "no block of 96,1,1: it was compiled for at most 64, 1, 1 threads (.maxntid)");
  EXPECT_EQ(refused(".maxntid 16, 1, 1", std::nullopt),
            "its block has at most 16 threads (.maxntid): give --block");
  EXPECT_EQ(refused(".maxntid 40, 1, 1", std::nullopt), "");
  EXPECT_EQ(refused(".reqntid 64", {{64, 1, 1}}), "");
  EXPECT_EQ(refused(".reqntid 64", {{32, 2, 1}}),
            "no block of 32,2,1: it was compiled for blocks of 64, 1, 1 (.reqntid)");
  EXPECT_EQ(refused(".reqntid 2048", std::nullopt), "no block of 2048,1,1: a block has at most 1024 threads");
  EXPECT_EQ(refused(".reqntid 1, 1, 65", std::nullopt),
            "no block of 1,1,65: a block has at most 64 threads in z");
  EXPECT_EQ(refused("", {{2, 2, 128}}), "no block of 2,2,128: a block has at most 64 threads in z");
  EXPECT_EQ(refused("", {{1, 2048, 1}}), "no block of 1,2048,1: a block has at most 1024 threads");
  EXPECT_EQ(refused("", {{32, 0, 1}}), "no block of 32,0,1: a block has at least one thread");
  EXPECT_EQ(refused("", {{1, 16, 64}}), "");
}

TEST(Kernel, AParameterHasOneValueThatFits) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k(.param .u32 n, .param .u64 g, .param .u8 b, "
      ".param "
      ".align 4 .b8 s[8])\n{\nret;\n}\n",
      "test.ptx");
  auto const why = [&](std::map<std::string, ParameterValue> const& given) {
    return why_no_parameter(m.functions.at(0), given);
  };
  EXPECT_EQ(why({{"n", {0xffffffff}}, {"g", {~std::uint64_t{0}}}, {"other", {1}}}), "");
  EXPECT_EQ(why({{"n", {0x100000000}}}), "n has 32 bits: -2147483648 to 4294967295");
  EXPECT_EQ(why({{"n", {0 - std::uint64_t{0x80000000}, true}}}), "");
  EXPECT_EQ(why({{"n", {0 - std::uint64_t{0x80000001}, true}}}), "n has 32 bits: -2147483648 to 4294967295");
  EXPECT_EQ(why({{"n", {~std::uint64_t{0}}}}), "n has 32 bits: -2147483648 to 4294967295");
  EXPECT_EQ(why({{"#2", {256}}}), "#2 has 8 bits: -128 to 255");
  EXPECT_EQ(why({{"g", {0 - (std::uint64_t{1} << 63), true}}}), "");
  EXPECT_EQ(why({{"g", {(std::uint64_t{1} << 63) - 1, true}}}),
            "g has 64 bits: -9223372036854775808 to 18446744073709551615");
  EXPECT_EQ(why({{"s", {1}}}), "s is a structure or an array of 8 bytes: a value is a number");
  EXPECT_EQ(why({{"#0", {1}}, {"n", {1}}}), "#0 and n are one parameter");
  KernelOptions minus;
  minus.params["n"] = {0 - std::uint64_t{1}, true};
  EXPECT_EQ(one("shr.u32 %r4, %r3, 30; mul.lo.s32 %r4, %r1, %r4; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; "
                "ld.shared.u32 %r6, [%r4];",
                minus)
                .wavefronts,
            1U)
      << "-1 >> 30 is 3";
  minus.params["#0"] = {1};
  EXPECT_EQ(report_of("", minus).refused, "#0 and n are one parameter");
}

TEST(Kernel, AtMostAndParameters) {
  std::string const body =
      "mul.lo.s32 %r4, %r1, %r3; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];";
  EXPECT_EQ(one(body).wavefronts, 32U);
  KernelOptions odd;
  odd.params["n"] = {33};
  EXPECT_EQ(one(body, odd).wavefronts, 1U);
  KernelOptions even;
  even.params["#0"] = {8};
  even.at_most = 8;
  KernelAccess const a = one(body, even);
  EXPECT_EQ(a.wavefronts, 8U);
  EXPECT_EQ(a.verdict, KernelVerdict::proved);
}

TEST(Kernel, ValuesAfterALoopOfDifferentLengthsAreNotTheSameInAllLanes) {
  // Lane l runs l + 1 iterations, then reads 128 * i: 32 words of one bank.
  KernelAccess const a =
      one("mov.u32 %r7, 0;\nL: add.s32 %r7, %r7, 1; setp.le.u32 %p1, %r7, %r1; @%p1 bra L;\nshl.b32 %r4, "
          "%r7, 7; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_NE(a.verdict, KernelVerdict::proved);
}

TEST(Kernel, ValuesOfAThreadsOwnMemoryDiffer) {
  KernelAccess const a =
      one(".local .align 4 .b8 own[16]; ld.local.u32 %r9, [own]; and.b32 %r9, %r9, 4092; add.s32 %r9, %r9, "
          "%r2; ld.shared.u32 %r6, [%r9];");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::data);
}

TEST(Kernel, AThirdOfASumThatWraps) {
  // (3 n + lane) / 3 has 11 values in the first warp, and 12 where 3 n mod 2^32 is no multiple of 3.
  KernelOptions const first{.block = {{32, 1, 1}}};
  std::string const sum = "mul.lo.s32 %r4, %r3, 3; add.s32 %r4, %r4, %r1; ";
  std::string const load = "shl.b32 %r4, %r4, 7; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];";
  EXPECT_GE(*one(sum + "div.u32 %r4, %r4, 3; " + load, first).wavefronts, 12U);
  EXPECT_GE(*one(sum + "cvt.u64.u32 %rd1, %r4; div.u64 %rd1, %rd1, 3; cvt.u32.u64 %r4, %rd1; " + load, first)
                 .wavefronts,
            12U);
}

TEST(Kernel, AlignedAndInBounds) {
  KernelAccess const a = one("shl.b32 %r4, %r1, 3; add.s32 %r4, %r4, %r2; ld.shared.u64 %rd4, [%r4+4];");
  EXPECT_EQ(a.aligned, false);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  KernelAccess const b = one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4+7936];");
  EXPECT_EQ(b.in_bounds, true);
  KernelAccess const c = one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4+7940];");
  EXPECT_EQ(c.in_bounds, false);
}

TEST(Kernel, ACounterexampleNamesTheBaseThatItNeeds) {
  std::string const sum = "shl.b32 %r4, %r1, 2; mov.u32 %r5, words; add.s32 %r4, %r4, %r5; ";
  std::string const swizzled = sum + "shr.u32 %r6, %r4, 5; and.b32 %r6, %r6, 28; xor.b32 %r4, %r4, %r6; ";
  std::string const load = "ld.shared.u32 %r7, [%r4];";
  std::string const array = ".shared .align 4 .b8 words[512]; ";
  KernelAccess const a = one(array + swizzled + load);
  ASSERT_TRUE(a.reached) << "two lanes meet at some bases only";
  EXPECT_EQ(a.wavefronts, 2U);
  ASSERT_EQ(a.worst->bases.size(), 1U);
  EXPECT_EQ(a.worst->bases[0].first, "words");
  auto const at = static_cast<std::uint32_t>(a.worst->bases[0].second);
  for (unsigned l = 0; l < 32; ++l) {
    std::uint32_t const plain = at + 4 * l;
    EXPECT_EQ(a.worst->lanes.address[l], plain ^ (plain >> 5 & 28)) << "the lanes are those at this base";
  }
  KernelAccess const b = one(
      "ld.param.u32 %r3, [n]; mul.lo.s32 %r4, %r1, %r3; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; " + load);
  ASSERT_TRUE(b.worst);
  EXPECT_TRUE(b.worst->bases.empty()) << "a summand of all lanes";
  KernelAccess const c =
      one(".shared .align 4 .b8 words[32768]; " + sum +
          "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r5; setp.gt.u32 %p1, %r5, 100; @%p1 " + load);
  ASSERT_TRUE(c.reached) << c.reason;
  ASSERT_EQ(c.worst->bases.size(), 1U) << "the guard takes the base";
  EXPECT_GT(c.worst->bases[0].second, 100U);
}

TEST(Kernel, TheBaseOfASwizzleIsTried) {
  std::string const sw =
      "shr.u32 %r5, %r4, 3; and.b32 %r5, %r5, 112; xor.b32 %r4, %r4, %r5; "
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r4];";
  KernelAccess const known =
      one("and.b32 %r5, %r1, 31; shl.b32 %r4, %r5, 7; mov.u32 %r5, dynamic; add.s32 %r4, %r4, %r5; " + sw);
  EXPECT_EQ(known.wavefronts, 4U);
  EXPECT_EQ(known.verdict, KernelVerdict::proved);
}

}  // namespace
}  // namespace swizproof
