// Cases of an address: parts that all lanes share, residues, values and guards.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

namespace swizproof {
namespace {

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
  // Ten conditions on the parameter, and each adds another number: more truths than are tried one by one.
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
  std::string const
      start =
          "setp.gt.u32 %p1, %r3, 9; selp.b32 %r6, 4096, 2048, %p1; mad.lo.u32 %r4, %r1, 4, %r6; "
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
  EXPECT_EQ(one(looped(start, own)).wavefronts, 1U) << "2048 bytes move no bank";
  own.replace(own.find("2048, -2048"), 11, "64, -64");
  EXPECT_NE(one(looped(start, own)).verdict, KernelVerdict::proved);
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

TEST(Kernel, NumbersOfLanesAreDividedByAnyParameter) {
  // tid / n is 0 for each n above 63; n = 0 is tried, too, but not where the guard excludes it.
  std::string const by_n = "shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; @%p1 ld.shared.u32 %r6, [%r4];";
  KernelAccess const quotient = one("setp.gt.s32 %p1, %r3, 0; div.s32 %r4, %r1, %r3; " + by_n);
  EXPECT_EQ(quotient.verdict, KernelVerdict::proved) << quotient.reason;
  // 32 % 33 and 33 % 33 are in bank 0.
  KernelAccess const remainder = one("setp.gt.s32 %p1, %r3, 0; rem.s32 %r4, %r1, %r3; " + by_n);
  EXPECT_EQ(remainder.verdict, KernelVerdict::refuted);
  EXPECT_EQ(remainder.wavefronts, 2U);
  EXPECT_TRUE(remainder.reached);
  ASSERT_EQ(remainder.worst->values.size(), 1U);
  EXPECT_EQ(remainder.worst->values[0].second, 33U);
  // 31 and 63 are in one bank, and their remainders by each n below 64 in two, or the same.
  KernelAccess const large =
      one("setp.gt.s32 %p1, %r3, 0; and.b32 %r4, %r1, 1; shl.b32 %r4, %r4, 5; add.u32 %r4, %r4, 31; "
          "rem.s32 %r4, %r4, %r3; " +
          by_n);
  EXPECT_EQ(large.verdict, KernelVerdict::refuted);
  EXPECT_EQ(large.wavefronts, 2U);
  ASSERT_EQ(large.worst->values.size(), 1U);
  EXPECT_EQ(large.worst->values[0].second, 64U);
  // Without the guard n = 0 is open, and n = 33 refutes it all the same.
  KernelAccess const open = load_at("rem.u32 %r4, %r1, %r3;");
  EXPECT_EQ(open.verdict, KernelVerdict::refuted);
  EXPECT_EQ(open.wavefronts, 32U);
  EXPECT_EQ(open.seen, 2U);
}

TEST(Kernel, NumbersOfLanesAreShiftedByAnyParameter) {
  EXPECT_EQ(load_at("shr.u32 %r4, %r1, %r3;").verdict, KernelVerdict::proved);
  KernelAccess const left = load_at("shl.b32 %r4, %r1, %r3; and.b32 %r4, %r4, 1023;");
  EXPECT_EQ(left.verdict, KernelVerdict::refuted);
  EXPECT_EQ(left.wavefronts, 32U);
  EXPECT_TRUE(left.reached);
}

TEST(Kernel, AParameterThatIsMultipliedIsFound) {
  // Behind a loop over n, the words n * tid + n / 4 * 4 conflict by the low bits of n alone.
  KernelAccess const even =
      one("and.b32 %r4, %r3, 3; setp.eq.u32 %p1, %r4, 2; mul.lo.u32 %r4, %r1, %r3; shl.b32 %r4, %r4, 2; "
          "add.u32 %r4, %r4, %r2; @%p1 ld.shared.u32 %r6, [%r4];");
  EXPECT_EQ(even.verdict, KernelVerdict::refuted) << even.reason;
  EXPECT_EQ(even.wavefronts, 2U) << "2 modulo 4 is 2, 6, 10, ..";
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

TEST(Kernel, ADivisionByZeroNamesTheOptionsThatMayExcludeIt) {
  std::string const load = "shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];";
  std::string const by_grid =
      "mov.u32 %r8, %ctaid.x; sub.u32 %r8, %r3, %r8; min.u32 %r8, %r8, 8; rem.u32 %r4, %r1, %r8; ";
  std::string const why = "the address depends on rem.u32 by 0 at PTX line 10, which is not modelled";
  EXPECT_EQ(one(by_grid + load).reason,
            why + "; --grid X,Y,Z with --param n=VALUE may show that the divisor is never 0");
  KernelOptions options;
  options.params["n"] = {16};
  EXPECT_EQ(one(by_grid + load, options).reason, why + "; --grid X,Y,Z may show that the divisor is never 0");
  options.grid = {16, 1, 1};
  EXPECT_EQ(one(by_grid + load, options).reason, why);
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

TEST(Kernel, TheBaseOfASwizzleIsTried) {
  std::string const sw =
      "shr.u32 %r5, %r4, 3; and.b32 %r5, %r5, 112; xor.b32 %r4, %r4, %r5; "
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r4];";
  KernelAccess const known =
      one("and.b32 %r5, %r1, 31; shl.b32 %r4, %r5, 7; mov.u32 %r5, dynamic; add.s32 %r4, %r4, %r5; " + sw);
  EXPECT_EQ(known.wavefronts, 4U);
  EXPECT_EQ(known.verdict, KernelVerdict::proved);
}

TEST(KernelCases, AChoiceOfConstantsThatIsComparedIsItsCondition) {
  std::string const chosen =
      "setp.lt.u32 %p2, %r1, 4; setp.gt.s32 %p3, %r3, 0; and.pred %p2, %p2, %p3; selp.u32 %r6, 1, 0, %p2;\n";
  for (std::string const compared :
       {"setp.ne.b32 %p1, %r6, 0;", "setp.lt.u32 %p1, 0, %r6;", "setp.gt.s32 %p1, %r6, 0;",
        "xor.b32 %r6, %r6, 1; setp.eq.u32 %p1, %r6, 0;", "shl.b32 %r6, %r6, 4; setp.eq.u32 %p1, %r6, 16;",
        "selp.u32 %r7, 1, 3, %p2; add.u32 %r6, %r6, %r7; setp.eq.u32 %p1, %r6, 2;"}) {
    KernelAccess const a = behind(chosen + compared);
    EXPECT_EQ(a.wavefronts, 4U) << compared;
    EXPECT_EQ(a.verdict, KernelVerdict::refuted) << compared << ": " << a.reason;
  }
  EXPECT_FALSE(behind(chosen + "setp.eq.u32 %p1, %r6, 2;").executed);
  EXPECT_EQ(behind(chosen + "setp.lt.u32 %p1, %r6, 1;").wavefronts, 32U);
  EXPECT_TRUE(behind(chosen + "setp.lt.u32 %p1, %r6, 2;").reached);
  EXPECT_EQ(behind(chosen + "selp.u32 %r7, 1, 0, %p3; setp.ne.u32 %p1, %r6, %r7;").wavefronts, 32U)
      << "two conditions";
}

}  // namespace
}  // namespace swizproof
