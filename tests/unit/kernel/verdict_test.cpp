// Executions that reach a bound: witnesses, replays and runs.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace swizproof {
namespace {

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
  EXPECT_EQ(a.verdict, KernelVerdict::proved);
  EXPECT_FALSE(a.reached);
  EXPECT_EQ(a.reason, "no lane executes it");
  EXPECT_EQ(a.wavefronts, 0U);
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

TEST(KernelWitness, TermsOfAnotherLaneAreItsOwn) {
  // The lane's number is n ^ lane ^ n, the last of lane 0.
  KernelAccess const a = behind(
      "and.b32 %r10, %r1, 31; xor.b32 %r6, %r3, %r10; shfl.sync.idx.b32 %r7, %r6, 0, 31, -1; xor.b32 %r8, "
      "%r6, "
      "%r7;\nsetp.eq.u32 %p2, %r8, %r10; xor.b32 %r9, %r3, 1515870810; setp.eq.and.u32 %p1, %r9, 77, %p2;");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_TRUE(a.reached);
}

TEST(KernelWitness, AddressesMayComeFromAnotherLane) {
  KernelAccess const a =
      one("xor.b32 %r6, %r3, 1515870810; setp.eq.u32 %p1, %r6, 77; shfl.sync.idx.b32 %r7, %r1, 0, 31, -1;\n"
          "shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2; add.s32 %r5, %r5, %r7; @%p1 st.shared.u8 [%r5], %r1;");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
}

TEST(KernelWitness, AShuffleFromAKnownLaneIsFollowed) {
  // The number of lane 0 in all lanes, as CUTLASS takes the warp's; all pass if the parameter fits.
  KernelAccess const a = behind(
      "shfl.sync.idx.b32 %r7, %r1, 0, 31, -1; mad.lo.u32 %r7, %r7, 8, %r3; xor.b32 %r7, %r7, 1515870810; "
      "setp.eq.u32 %p1, %r7, 77;");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_TRUE(a.reached);
}

TEST(KernelWitness, WhatALaneThatIsOffGivesIsNone) {
  // Eight lanes of the second warp read its lane 31, which it lacks: nothing says that it gives more than 100.
  KernelAccess const a = behind("shfl.sync.idx.b32 %r7, %r1, 31, 31, -1; setp.gt.u32 %p1, %r7, 100;",
                                {.block = std::array<std::uint32_t, 3>{40, 1, 1}});
  EXPECT_EQ(a.wavefronts, 8U);
  EXPECT_FALSE(a.reached);
  EXPECT_NE(a.verdict, KernelVerdict::refuted);
}

using Values = std::vector<std::pair<std::string, std::uint64_t>>;

TEST(KernelWitness, HasTheSmallestNumbers) {
  KernelAccess const a = behind("setp.gt.u32 %p1, %r3, 1000;");
  ASSERT_TRUE(a.worst);
  EXPECT_EQ(a.worst->values, (Values{{"n", 1001}}));
  EXPECT_FALSE(a.worst->every_launch);
  // The number of the last block is lowered with the number of blocks.
  KernelAccess const last = behind(
      "mov.u32 %r6, %ctaid.x; mov.u32 %r7, %nctaid.x; add.u32 %r8, %r6, 1; setp.eq.u32 %p2, %r8, %r7; "
      "setp.ge.and.u32 %p1, %r6, 3, %p2;");
  ASSERT_TRUE(last.worst);
  EXPECT_EQ(last.worst->values, (Values{{"nctaid.x", 4}, {"ctaid.x", 3}}));
}

TEST(KernelWitness, HasTheLowestWarp) {
  KernelAccess const a = behind("shr.u32 %r6, %r1, 5; add.u32 %r6, %r6, %r3; setp.eq.u32 %p1, %r6, 1;",
                                {.block = {{128, 1, 1}}});
  ASSERT_TRUE(a.worst);
  EXPECT_EQ(a.worst->warp, 0U);
  EXPECT_EQ(a.worst->values, (Values{{"n", 1}}));
}

TEST(KernelWitness, OfEveryLaunchHasNoNumbers) {
  // n moves all lanes alike; a condition that holds for every n needs none.
  KernelAccess const a =
      behind("shl.b32 %r6, %r3, 7; and.b32 %r6, %r6, 1023; add.u32 %r2, %r2, %r6; setp.ge.u32 %p1, %r3, 0;");
  ASSERT_TRUE(a.worst);
  EXPECT_TRUE(a.worst->every_launch);
  EXPECT_TRUE(a.worst->values.empty());
  // The number that decides is shown, and no other one.
  KernelAccess const b = behind(
      "shl.b32 %r6, %r3, 7; and.b32 %r6, %r6, 1023; add.u32 %r2, %r2, %r6; mov.u32 %r7, %ctaid.x; "
      "setp.eq.u32 %p1, %r7, 5;");
  ASSERT_TRUE(b.worst);
  EXPECT_FALSE(b.worst->every_launch);
  EXPECT_EQ(b.worst->values, (Values{{"ctaid.x", 5}}));
}

// Without --block it is one of 1024 threads; in one of 32 threads the same access has no conflict.
TEST(KernelWitness, OfEveryLaunchHasEveryBlock) {
  auto const worst = [](std::string const& stride) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<9>; "
        ".shared .align 16 .b8 sm[65536];\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; " +
            stride +
            " mul.lo.u32 %r3, %r1, %r2; shl.b32 %r3, %r3, 2; and.b32 %r3, %r3, 4092; mov.u32 %r4, sm;\n"
            "add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], %r1;\nret;\n}\n",
        "test.ptx");
    return decide_kernel(m, m.functions.at(0), {.block = std::nullopt}).accesses.at(0).worst.value();
  };
  KernelWorst const of_block = worst("shr.u32 %r2, %r2, 5;");
  EXPECT_FALSE(of_block.every_launch);
  EXPECT_EQ(of_block.values, (Values{{"ntid.x", 1024}}));
  KernelWorst const of_any = worst("mov.u32 %r2, 32;");
  EXPECT_TRUE(of_any.every_launch);
  EXPECT_TRUE(of_any.values.empty());
}

TEST(KernelWitness, AFaultHasTheSmallestNumbers) {
  KernelAccess const a = one("mad.lo.u32 %r5, %r3, 4, %r2; st.shared.u32 [%r5], %r1;");
  EXPECT_EQ(a.in_bounds, false);
  EXPECT_EQ(a.reason, "lane 0 of warp 0 accesses byte 0x2000 of tile, which has 8192 bytes, if n = 2048");
}

TEST(KernelWitness, OfAnAccessWithAFaultHasLanes) {
  // Lanes 16 to 31 take 4 wavefronts within the tile for some grids, and leave it for others; lanes 0 to 15 divide by 0 and are off.
  std::string const text =
      "and.b32 %r4, %r1, 48; mov.u32 %r5, %nctaid.x; div.s32 %r6, %r5, %r4; mul.lo.u32 %r6, %r6, %r1;\n"
      "and.b32 %r6, %r6, 8190; add.u32 %r6, %r6, %r2; setp.gt.s32 %p1, %r4, 0; @%p1 st.shared.b16 "
      "[%r6+4096], %r1;";
  KernelAccess const a = one(text, {.any_base = true});
  EXPECT_EQ(a.in_bounds, false);
  ASSERT_TRUE(a.worst);
  EXPECT_NE(a.seen, 0U);
  EXPECT_TRUE(
      std::any_of(a.worst->lanes.active.begin(), a.worst->lanes.active.end(), [](bool on) { return on; }));
  EXPECT_FALSE(a.worst->values.empty());
}

TEST(KernelExecutions, AreThoseOfAllWarpsAndIterations) {
  auto const of = [](std::string const& body, KernelOptions options = {}) {
    return one(body, std::move(options));
  };
  std::string const store = "add.u32 %r5, %r2, %r1; st.shared.u8 [%r5], %r1;";
  EXPECT_EQ(of(store).executions, 2U);
  EXPECT_EQ(of(store).loop_depth, 0U);
  std::string const loop =
      "mov.u32 %r20, 0;\nL: " + store + " add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, 6; @%p8 bra L;";
  EXPECT_EQ(of(loop).executions, 12U);
  EXPECT_EQ(of(loop).loop_depth, 1U);
  // A loop of n iterations; a condition on n; every other iteration; one warp of four.
  KernelAccess const open = of(looped("", store));
  EXPECT_EQ(open.executions, std::nullopt);
  EXPECT_EQ(open.open_loops, 1U);
  EXPECT_EQ(of("setp.gt.u32 %p1, %r3, 7; @%p1 bra L;\n" + store + "\nL:").executions, std::nullopt);
  std::string const odd =
      "mov.u32 %r20, 0;\nL: and.b32 %r6, %r20, 1; setp.eq.u32 %p1, %r6, 1; add.u32 %r5, %r2, %r1; @%p1 "
      "st.shared.u8 [%r5], %r1; add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, 6; @%p8 bra L;";
  EXPECT_EQ(of(odd).executions, 6U);
  EXPECT_EQ(of("setp.lt.u32 %p1, %r1, 32; add.u32 %r5, %r2, %r1; @%p1 st.shared.u8 [%r5], %r1;",
               {.block = {{128, 1, 1}}})
                .executions,
            1U);
}

TEST(KernelExecutions, AreNotKnownOfEveryBlock) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n.entry "
      "k()\n{\n.reg .b32 "
      "%r<9>;\nmov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3; "
      "st.shared.u32 "
      "[%r2], %r1;\nret;\n}\n",
      "test.ptx");
  KernelReport const report = decide_kernel(m, m.functions.at(0), {});
  EXPECT_EQ(report.accesses.at(0).executions, std::nullopt);
}

TEST(KernelWitness, AnAnswerDoesNotDependOnLines) {
  std::string const swizzled =
      "mov.u32 %r2, dynamic; shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; shr.u32 %r5, %r4, 5; and.b32 %r5, "
      "%r5, 28;\n"
      "xor.b32 %r4, %r4, %r5; ld.shared.u32 %r6, [%r4];";
  KernelAccess const first = one(swizzled);
  ASSERT_TRUE(first.worst);
  for (unsigned lines = 1; lines < 40; ++lines) {
    KernelAccess const a = one(std::string(lines, '\n') + swizzled);
    ASSERT_TRUE(a.worst) << lines;
    EXPECT_EQ(a.worst->bases, first.worst->bases) << lines;
    EXPECT_EQ(a.worst->lanes.address, first.worst->lanes.address) << lines;
  }
  // A replay that takes its parameter by chance is a launch in eight.
  std::string const rare =
      "and.b32 %r7, %r3, 7; setp.eq.u32 %p1, %r7, 3; shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; @%p1 "
      "ld.shared.u32 %r6, [%r4];";
  bool const reached = one(rare).reached;
  for (unsigned lines = 1; lines < 40; ++lines)
    EXPECT_EQ(one(std::string(lines, '\n') + rare).reached, reached) << lines;
}

TEST(KernelRuns, AHeaderThatARunPassesOverLeavesItsRegistersOpen) {
  // After 13 toggles %r7 is 0 in all lanes; a run that leaves the header out after twelve of them shows nothing.
  KernelAccess const a =
      one("setp.gt.u32 %p5, %r1, 15; selp.b32 %r7, 0, 32, %p5; mov.u32 %r13, 0;\nL: setp.gt.u32 %p5, %r1, "
          "15; @!%p5 "
          "xor.b32 %r7, %r7, 32;\nM: add.u32 %r13, %r13, 1; setp.lt.u32 %p4, %r13, 13; @%p4 bra L; and.b32 "
          "%r8, %r7, "
          "32; shl.b32 %r8, %r8, 2; add.u32 %r28, %r2, %r8; ld.shared.u32 %r29, [%r28];");
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

TEST(Kernel, ACounterexampleNamesTheBaseThatItNeeds) {
  std::string const sum = "shl.b32 %r4, %r1, 2; mov.u32 %r5, words; add.s32 %r4, %r4, %r5; ";
  std::string const swizzled = sum + "shr.u32 %r6, %r4, 5; and.b32 %r6, %r6, 28; xor.b32 %r4, %r4, %r6; ";
  std::string const load = "ld.shared.u32 %r7, [%r4];";
  std::string const array = ".shared .align 4 .b8 words[512]; ";
  KernelAccess const a = one(array + swizzled + load, {.any_base = true});
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

}  // namespace
}  // namespace swizproof
