// Loops that lanes leave one by one.
#include "kernel_case.hpp"
#include "sass_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace swizproof {
namespace {

constexpr char const* column =  ///< a load of 32 words in one bank
    "shl.b32 %r9, %r1, 7; add.u32 %r9, %r9, %r2;\nld.shared.u32 %r10, [%r9];\n";

/// Decides the load of `column` between these lines; %r5 is the address of `locks`, %r6 that of the thread's own word there, and %rd1 is g.
KernelAccess held(std::string const& before, std::string const& behind, std::string const& between = "") {
  auto const all = decided(
      ".shared .align 4 .b8 locks[512]; mov.u32 %r5, locks; shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r5; "
      "ld.param.u64 %rd1, [g];\n" +
      before + between + column + behind);
  for (KernelAccess const& a : all)
    if (a.op == "ld.shared.u32") return a;
  return {};
}

/// Takes a lock by a compare-and-swap.
std::string taken(std::string const& lock, std::string const& space = "shared") {
  return "L: atom." + space + ".cas.b32 %r7, [" + lock + "], 0, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra L;\n";
}
std::string given_back(std::string const& lock, std::string const& space = "shared") {
  return "membar.gl;\natom." + space + ".exch.b32 %r8, [" + lock + "], 0;\n";
}

constexpr char const* one_by_one =
    "lanes leave the loop at PTX line 11 one by one: which of them execute it together is not known";

TEST(KernelLocks, LanesThatHoldOneLockAreNotTogether) {
  KernelAccess const a = held(taken("%r5"), given_back("%r5"));
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_FALSE(a.reached);
  EXPECT_EQ(a.reason, one_by_one);
  EXPECT_FALSE(a.executions);
  EXPECT_EQ(held(taken("%rd1", "global"), given_back("%rd1", "global")).reason, one_by_one);
  EXPECT_EQ(held(taken("%rd1", "global"), "st.volatile.global.u32 [%rd1], 0;").reason, one_by_one);
  EXPECT_EQ(held(taken("%r5"), "st.shared.u32 [%r5], 0;").reason, one_by_one);
  std::string const groups = "shr.u32 %r11, %r1, 3; shl.b32 %r11, %r11, 2; add.u32 %r11, %r11, %r5;\n";
  EXPECT_EQ(held(groups + taken("%r11"), given_back("%r11")).verdict, KernelVerdict::unknown)
      << "one of 8 lanes";
  // The compiler takes the first iteration out of the loop.
  std::string const peeled = "atom.shared.cas.b32 %r7, [%r5], 0, 1;\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra X;\n";
  EXPECT_EQ(held(peeled + taken("%r5") + "X:\n", given_back("%r5")).verdict, KernelVerdict::unknown);
  // A loop in it whose length is data.
  KernelAccess const inner =
      held("ld.global.u32 %r11, [%rd1]; mov.u32 %r12, 0;\n" + taken("%r5"),
           "add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, %r11; @%p2 bra IN;\n" + given_back("%r5"), "IN:\n");
  EXPECT_EQ(inner.verdict, KernelVerdict::unknown) << inner.reason;
}

TEST(KernelLocks, LanesMeetAtABarrierOfAllOfThem) {
  auto const behind = [](std::string const& barrier) {
    return held(taken("%r5"), given_back("%r5"), barrier).verdict;
  };
  EXPECT_EQ(behind("bar.sync 0;\n"), KernelVerdict::refuted);
  EXPECT_EQ(behind("bar.warp.sync -1;\n"), KernelVerdict::refuted);
  EXPECT_EQ(behind("bar.warp.sync 0xff;\n"), KernelVerdict::unknown);
  EXPECT_EQ(behind("bar.arrive 0, 96;\n"), KernelVerdict::unknown);
  EXPECT_EQ(behind("barrier.sync 1, 32;\n"), KernelVerdict::unknown) << "lanes of both warps may be the 32";
}

TEST(KernelLocks, LanesThatTakeTurnsAreNotTogether) {
  auto const turns = [](std::string const& load) {
    return held("L: " + load + " %r7, [%r5];\nsetp.ne.u32 %p1, %r7, %r1;\n@%p1 bra L;\n",
                "add.u32 %r7, %r7, 1; st.volatile.shared.u32 [%r5], %r7;");
  };
  EXPECT_EQ(turns("ld.volatile.shared.u32").verdict, KernelVerdict::unknown);
  EXPECT_EQ(turns("ld.acquire.cta.shared.u32").verdict, KernelVerdict::unknown);
  EXPECT_EQ(held("atom.shared.add.u32 %r12, [%r5+4], 1;\nL: ld.volatile.shared.u32 %r7, [%r5];\nsetp.ne.u32 "
                 "%p1, %r7, %r12;\n@%p1 bra L;\n",
                 "atom.shared.add.u32 %r12, [%r5], 1;")
                .verdict,
            KernelVerdict::unknown);
}

/// A load of `column` whose lanes a lock parts: no cost is refuted, and no number of executions is given.
void is_apart(std::string const& before, std::string const& behind, std::string const& between = "") {
  KernelAccess const a = held(before, behind, between);
  EXPECT_EQ(a.verdict, KernelVerdict::unknown) << before << between << behind;
  EXPECT_TRUE(a.reason.starts_with("lanes leave the loop at PTX line ")) << a.reason;
  EXPECT_FALSE(a.executions) << before;
}

TEST(KernelLocks, OfTwoLoopsWithOneHeader) {
  std::string const again = "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p2, %r12, ", back = ";\n@%p2 bra L;\n";
  is_apart("mov.u32 %r12, 0;\n" + taken("%r5"), given_back("%r5") + again + "4" + back);
  is_apart("mov.u32 %r12, 0;\n" + taken("%rd1", "global"),
           given_back("%rd1", "global") + again + "%r3" + back);
  EXPECT_EQ(held("mov.u32 %r12, 0;\nL: ld.volatile.shared.u32 %r11, [%r5];\nadd.u32 %r13, %r11, 3;\n"
                 "atom.shared.cas.b32 %r7, [%r5], %r11, %r13;\nsetp.ne.u32 %p1, %r7, %r11;\n@%p1 bra L;\n",
                 "atom.shared.add.u32 %r8, [%r5], 1;\n" + again + "4" + back)
                .reason.find("one by one"),
            std::string::npos)
      << "a sum by compare-and-swap";
}

TEST(KernelLocks, OfABitInAWordThatIsReadBefore) {
  std::string const read = "L: ld.volatile.shared.u32 %r11, [%r5];\n",
                    end = "setp.ne.u32 %p1, %r7, %r11;\n@%p1 bra L;\n";
  is_apart(
      read + "and.b32 %r11, %r11, -2; or.b32 %r12, %r11, 1;\natom.shared.cas.b32 %r7, [%r5], %r11, %r12;\n" +
          end,
      "st.volatile.shared.u32 [%r5], %r11;");
  is_apart(read +
               "and.b32 %r13, %r11, 1;\nsetp.ne.u32 %p2, %r13, 0;\n@%p2 bra L;\nadd.u32 %r12, %r11, 1;\n"
               "atom.shared.cas.b32 %r7, [%r5], %r11, %r12;\n" +
               end,
           "add.u32 %r12, %r11, 2; st.volatile.shared.u32 [%r5], %r12;");
}

TEST(KernelLocks, OfLanesThatJoinOthersBeforeTheyGiveItBack) {
  std::string const odd = "and.b32 %r11, %r1, 1; setp.eq.u32 %p2, %r11, 0;\n@%p2 bra X;\n",
                    two = "setp.gt.u32 %p2, %r1, 1;\n@%p2 bra X;\n",
                    back = "@!%p2 st.volatile.shared.u32 [%r5], 0;";
  is_apart(odd + taken("%r5") + "X:\n", back);
  is_apart(two + taken("%r5") + "X:\n", back);
  is_apart(
      "setp.lt.u32 %p2, %r1, 16;\n@%p2 bra X;\nL: ld.volatile.shared.u32 %r7, [%r5];\nsetp.eq.u32 %p1, "
      "%r7, 0;\n@%p1 bra L;\nX:\n",
      "@%p2 st.volatile.shared.u32 [%r5], 1;");
  KernelAccess const one = held("setp.ne.u32 %p2, %r1, 0;\n@%p2 bra X;\n" + taken("%r5") + "X:\n", back);
  EXPECT_EQ(one.verdict, KernelVerdict::refuted) << "no lane of its warp waits for the one that has it";
}

TEST(KernelLocks, WhoseAddressIsData) {
  std::string const index = "mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r11, [%rd2];\n";
  is_apart(index + "and.b32 %r11, %r11, 28; add.u32 %r11, %r11, %r5;\n" + taken("%r11"), given_back("%r11"));
  is_apart("shr.u32 %r11, %r1, 4; mad.wide.u32 %rd2, %r11, 8, %rd1; ld.global.u64 %rd3, [%rd2];\n" +
               taken("%rd3", "global"),
           given_back("%rd3", "global"));
}

TEST(KernelLocks, ThatAnotherLaneGivesBack) {
  auto const turn = [](std::string const& load, std::string const& number) {
    return "L: " + load + " %r7, [%r5];\nsetp.ne.u32 %p1, %r7, " + number + ";\n@%p1 bra L;\n";
  };
  std::string const load = "ld.volatile.shared.u32";
  is_apart("shr.u32 %r11, %r1, 4;\n" + turn(load, "%r11"),
           "setp.eq.u32 %p2, %r1, 0;\n@%p2 st.volatile.shared.u32 [%r5], 1;");
  std::string const own = "L: atom.shared.exch.b32 %r7, [%r6], 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra L;\n";
  is_apart(own + "M: atom.shared.exch.b32 %r7, [%r6+4], 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra M;\n",
           "st.volatile.shared.u32 [%r6+4], 0; st.volatile.shared.u32 [%r6], 0;");
  is_apart(own, "atom.shared.exch.b32 %r8, [%r6+4], 0;");
  is_apart(taken("%r5"),
           "mapa.shared::cluster.u32 %r8, %r5, 0; st.release.cluster.shared::cluster.u32 [%r8], 0;");
  // Another warp counts how many are through.
  is_apart(
      "setp.gt.u32 %p2, %r1, 31;\n@%p2 bra S;\n" + turn(load, "%r1"),
      "add.u32 %r12, %r1, 1; st.volatile.shared.u32 [tile], %r12;\nbra X;\nS: ld.volatile.shared.u32 %r13, "
      "[tile];\nst.volatile.shared.u32 [%r5], %r13;\nsetp.lt.u32 %p3, %r13, 32;\n@%p3 bra S;\nX:");
}

TEST(KernelLocks, WithWeakAccessesToGlobalMemory) {
  for (std::string const load :
       {"ld.global.cg.u32", "ld.global.cv.u32", "multimem.ld_reduce.relaxed.gpu.global.add.u32"})
    is_apart("L: " + load + " %r7, [%rd1];\nsetp.ne.u32 %p1, %r7, %r1;\n@%p1 bra L;\n",
             "add.u32 %r7, %r7, 1; st.global.u32 [%rd1], %r7;");
  is_apart(taken("%rd1", "global"), "st.global.u32 [%rd1], 0;");
}

TEST(KernelLocks, InALoopPartWhatIsInFrontOfThem) {
  std::string const crit = taken("%r5") + given_back("%r5"),
                    again = "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p2, %r12, 4;\n@%p2 bra O;\n";
  is_apart("mov.u32 %r12, 0;\nO:\n", crit + again);
  is_apart("mov.u32 %r12, 0;\nO: setp.eq.u32 %p3, %r12, 0;\n@%p3 bra L;\n", crit + again);
  EXPECT_EQ(held("mov.u32 %r12, 0;\nO:\n", crit + "bar.sync 0;\n" + again).executions, 8U);
}

TEST(KernelLocks, LanesThatMayBeTogetherAreRefuted) {
  auto const refuted = [](std::string const& before, std::string const& behind,
                          std::string const& between = "") {
    KernelAccess const a = held(before, behind, between);
    EXPECT_EQ(a.verdict, KernelVerdict::refuted) << before << between << behind << a.reason;
  };
  refuted(taken("%r6"), given_back("%r6"));  // each lane has its own
  refuted(taken("%r5"), given_back("%r5"), given_back("%r5") + "bar.sync 0;\n");
  refuted(taken("%r5"), "", given_back("%r5") + "bar.warp.sync -1;\n");
  refuted("setp.ne.u32 %p2, %r1, 0;\n@%p2 bra OVER;\n" + taken("%r5") + given_back("%r5") + "OVER: ", "");
  // No lane waits for what is behind these loops.
  refuted(
      "ld.global.u32 %r11, [%rd1]; mov.u32 %r12, 0;\nL: add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, "
      "%r11;\n@%p1 bra L;\n",
      "st.global.u32 [%rd1], %r12;");
  refuted("L: ld.volatile.shared.u32 %r7, [%r5];\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra L;\n",
          "st.volatile.shared.u32 [%r5], 0;");
  refuted("L: atom.global.add.u32 %r7, [%rd1], 1;\nsetp.lt.u32 %p1, %r7, %r3;\n@%p1 bra L;\n", "");
  // All lanes are in it until none of them waits.
  refuted(
      "mov.u32 %r12, -1;\nL: mov.u32 %r7, 1; setp.eq.u32 %p2, %r1, 0;\n@%p2 bra M;\nld.volatile.shared.u32 "
      "%r7, [%r6];\nM: setp.eq.u32 %p1, %r7, 0; vote.sync.any.pred %p1, %p1, %r12;\n@%p1 bra L;\n",
      "st.volatile.shared.u32 [%r5+4], 1;");
  // A sum by compare-and-swap.
  refuted(
      "mov.u32 %r7, 0;\nL: mov.u32 %r11, %r7; add.u32 %r12, %r11, 3;\natom.shared.cas.b32 %r7, [%r5], %r11, "
      "%r12;\nsetp.ne.u32 %p1, %r7, %r11;\n@%p1 bra L;\n",
      "atom.shared.add.u32 %r7, [%r5], 1;");
  refuted(
      "L: ld.volatile.shared.u32 %r11, [%r5];\nadd.u32 %r12, %r11, 3;\natom.shared.cas.b32 %r7, [%r5], %r11, "
      "%r12;\nsetp.ne.u32 %p1, %r7, %r11;\n@%p1 bra L;\n",
      "atom.shared.add.u32 %r7, [%r5], 1;");
}

// ------------------------------------------------------------------------------------- other waits

/// A hand-over from lane to lane by a barrier of two lanes: %r11 is that with the lane in front, %r12 that with the next one.
constexpr char const* pairs =
    "mov.u32 %r13, %lanemask_eq; shr.u32 %r11, %r13, 1; or.b32 %r11, %r11, %r13; shl.b32 %r12, %r13, 1; "
    "or.b32 %r12, "
    "%r12, %r13; setp.ne.u32 %p2, %r1, 0; setp.ne.u32 %p3, %r1, 31;\n";

TEST(KernelLocks, ABarrierOfLanesWithMasksOfTheirOwnIsAWait) {
  std::string const first = std::string(pairs) + "@%p2 bar.warp.sync %r11;\n",
                    last = "@%p3 bar.warp.sync %r12;\n";
  KernelAccess const a = held(first, last);
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(
      a.reason,
      "lanes pass bar.warp.sync at PTX line 12 one by one: which of them execute it together is not known");
  EXPECT_EQ(held("setp.gt.u32 %p2, %r1, 15;\n@!%p2 bar.warp.sync -1;\n", "@%p2 bar.warp.sync -1;\n").verdict,
            KernelVerdict::unknown)
      << "half of the lanes wait for the others";
  auto const is_none = [](std::string const& before, std::string const& behind = "") {
    EXPECT_EQ(held(before, behind).verdict, KernelVerdict::refuted) << before;
  };
  is_none(
      "shr.u32 %r11, %r1, 3; and.b32 %r11, %r11, 3; shl.b32 %r11, %r11, 3; mov.u32 %r12, 255; shl.b32 %r12, "
      "%r12, "
      "%r11;\nbar.warp.sync %r12;\n");  // groups of 8
  is_none(
      "setp.ne.u32 %p2, %r3, 5; mov.u32 %r12, -1; vote.sync.ballot.b32 %r11, %p2, %r12;\nbar.warp.sync "
      "%r11;\n");
  is_none("activemask.b32 %r11;\nbar.warp.sync %r11;\n");
  is_none("barrier.sync 1, 64;\n");
  EXPECT_EQ(held("and.b32 %r11, %r1, 1;\nbarrier.sync %r11, 32;\n", "").verdict, KernelVerdict::unknown);
}

/// A wait for a phase of an mbarrier.
std::string phase_of(std::string const& barrier, std::string const& parity = "0") {
  return "L: mbarrier.try_wait.parity.shared.b64 %p4, [" + barrier + "], " + parity + ";\n@!%p4 bra L;\n";
}

TEST(KernelLocks, LanesWaitForMbarriersOfTheirOwn) {
  std::string const own = "shl.b32 %r11, %r1, 3; add.u32 %r11, %r11, %r5;\n",
                    next = "mbarrier.arrive.shared.b64 %rd3, [%r11+8];";
  EXPECT_EQ(held(own + phase_of("%r11"), next).verdict, KernelVerdict::unknown);
  EXPECT_EQ(held(own + "L: mbarrier.test_wait.shared.b64 %p4, [%r11], %rd2;\n@!%p4 bra L;\n", next).verdict,
            KernelVerdict::unknown);
  EXPECT_EQ(
      held("and.b32 %r11, %r1, 1;\n" + phase_of("%r5", "%r11"), "mbarrier.arrive.shared.b64 %rd3, [%r5];")
          .verdict,
      KernelVerdict::unknown);
  EXPECT_EQ(held("setp.eq.u32 %p5, %r1, 0;\n@%p5 bra X;\n" + phase_of("%r5") + "X: ",
                 "@%p5 mbarrier.arrive.shared.b64 %rd3, [%r5];")
                .verdict,
            KernelVerdict::unknown)
      << "31 lanes wait for one of their warp";
  // One barrier and one parity of all lanes.
  EXPECT_EQ(held(phase_of("%r5"), "mbarrier.arrive.shared.b64 %rd3, [%r5];").verdict, KernelVerdict::refuted);
  EXPECT_EQ(
      held("mov.u32 %r12, 0;\nO: and.b32 %r11, %r12, 1; shl.b32 %r13, %r12, 3; and.b32 %r13, %r13, 24; "
           "add.u32 "
           "%r13, %r13, %r5;\n" +
               phase_of("%r13", "%r11"),
           "mbarrier.arrive.shared.b64 %rd3, [%r13];\nadd.u32 %r12, %r12, 1; setp.lt.u32 %p5, %r12, 8;\n@%p5 "
           "bra O;\n")
          .verdict,
      KernelVerdict::refuted)
      << "a pipeline";
}

TEST(KernelLocks, DynamicArraysAreOne) {
  KernelAccess const a = held(
      "mov.u32 %r11, dynamic; mov.u32 %r12, other;\n.extern .shared .align 16 .b8 other[];\n" + taken("%r11"),
      "st.volatile.shared.u32 [%r12], 0;");
  EXPECT_EQ(a.verdict, KernelVerdict::unknown) << a.reason;
}

TEST(KernelLocks, EveryInstructionThatWritesMemoryMayGiveItBack) {
  for (std::string const write :
       {"cp.async.ca.shared.global [%r5], [%rd1], 4;", "mbarrier.init.shared.b64 [%r5], 1;",
        "mbarrier.inval.shared.b64 [%r5];", "st.bulk.weak.shared::cta [%r5], 64, 0;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd1], 16, [tile];",
        "cp.async.mbarrier.arrive.shared.b64 [%r5];", "red.shared.and.b32 [%r5], 0;"})
    is_apart(taken("%r5"), write);
  for (std::string const write : {"multimem.red.relaxed.gpu.global.and.b32 [%rd1], 0;",
                                  "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 16;"})
    is_apart(taken("%rd1", "global"), write);
}

TEST(KernelLocks, CallsThatAreNotInlinedMayHoldLanesBackAndWriteMemory) {
  auto const load = [](std::string const& function, std::string const& before, std::string const& behind) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n" + function +
            "\n.shared .align 16 .b8 tile[8192];\n.shared .align 4 .b8 locks[512];\n.entry k()\n{\n.reg "
            ".pred %p<9>; "
            ".reg .b32 %r<30>; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r5, locks;\n" +
            before + column + behind + "\nret;\n}\n",
        "test.ptx");
    KernelOptions options;
    options.block = {64, 1, 1};
    for (KernelAccess const& a : decide_kernel(m, m.functions.back(), options).accesses)
      if (a.op == "ld.shared.u32") return a;
    return KernelAccess{};
  };
  std::string const call = "call f;\n",
                    sums = ".func f() { .reg .b32 %r<3>; add.u32 %r1, %r2, 1; call f; ret; }",
                    takes = ".func f() { .reg .b32 %r<3>; atom.shared.exch.b32 %r1, [0], 1; call f; ret; }";
  KernelAccess const behind = load(takes, call, "st.volatile.shared.u32 [%r5], 0;");
  EXPECT_EQ(behind.verdict, KernelVerdict::unknown);
  EXPECT_TRUE(behind.reason.starts_with("lanes pass call at PTX line ")) << behind.reason;
  EXPECT_EQ(load(".extern .func f();", taken("%r5"), call).verdict, KernelVerdict::unknown);
  EXPECT_EQ(load(sums, taken("%r5"), call).verdict, KernelVerdict::refuted) << "it has no memory";
  EXPECT_EQ(load(sums, call, "").verdict, KernelVerdict::refuted);
}

TEST(KernelLocks, AWriteInFrontOfTheLoopCountsUnlessABarrierOfTheBlockIsBehindIt) {
  std::string const
      turn = "L: ld.volatile.shared.u32 %r7, [%r5];\nsetp.ne.u32 %p1, %r7, %r1;\n@%p1 bra L;\n",
      helper =
          "setp.lt.u32 %p2, %r1, 32;\n@%p2 bra C;\nP: ld.volatile.shared.u32 %r7, "
          "[tile];\nst.volatile.shared.u32 [%r5], %r7;\nsetp.lt.u32 %p3, %r7, 32;\n@%p3 bra P;\nC: ",
      done = "add.u32 %r12, %r1, 1; st.volatile.shared.u32 [tile], %r12;";
  is_apart(helper + "setp.ge.u32 %p2, %r1, 32;\n@%p2 bra E;\n" + turn, done + "\nE:");
  EXPECT_EQ(held("st.volatile.shared.u32 [%r5], %r1;\nbar.sync 0;\n" + turn, "").verdict,
            KernelVerdict::refuted)
      << "no lane waits for one behind the loop";
  is_apart("st.volatile.shared.u32 [%r5], %r1;\nbar.sync 0, 32;\n" + turn, "");
  is_apart("O: st.volatile.shared.u32 [%r5], %r1;\nbar.sync 0;\n" + turn,
           "setp.lt.u32 %p4, %r7, %r3;\n@%p4 bra O;\n");
  is_apart("mov.u32 %r12, 0;\nO: st.volatile.shared.u32 [%r5], %r1;\nbar.sync 0;\n" + turn,
           "add.u32 %r12, %r12, 1; setp.lt.u32 %p4, %r12, 4;\n@%p4 bra O;\n");
}

TEST(KernelLocks, ALaneMayHaveToBeAheadOfThoseThatTakeBackWhatAllWaitFor) {
  std::string const first = "setp.eq.u32 %p2, %r1, 0;\n@%p2 st.volatile.shared.u32 [%r5], 1;\nbar.sync 0;\n",
                    loop = "L: ld.volatile.shared.u32 %r7, [%r5];\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra L;\n";
  is_apart(first + "@%p2 st.volatile.shared.u32 [%r5], 0;\n" + loop, "st.volatile.shared.u32 [%r5], 1;");
  EXPECT_EQ(held(first + loop, "st.volatile.shared.u32 [%r5], 1;").verdict, KernelVerdict::refuted);
}

// ------------------------------------------------------------------------------------- values behind waits

constexpr char const* slot =
    "and.b32 %r11, %r11, 3968; add.u32 %r9, %r2, %r11;\n";  ///< address of a word in bank 0

/// Decides a store whose address is made of %r11, between these lines and a barrier.
KernelAccess stored_by(std::string const& lines, std::string const& barrier = "bar.warp.sync -1;\n") {
  auto const all = decided(
      ".shared .align 4 .b8 locks[512]; mov.u32 %r5, locks; shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r5; "
      "ld.param.u64 %rd1, [g];\n" +
      lines + barrier + slot + "st.shared.u16 [%r9], %r1;\n");
  for (KernelAccess const& a : all)
    if (a.op == "st.shared.u16") return a;
  return {};
}

TEST(KernelLocks, WhatLanesLoadOneByOneDiffers) {
  std::string const next = "add.u32 %r12, %r11, 128; st.shared.u32 [%r5+4], %r12;\n";
  for (std::string const load : {"ld.shared.u32", "ld.volatile.shared.u32"}) {
    KernelAccess const a = stored_by(taken("%r5") + load + " %r11, [%r5+4];\n" + next + given_back("%r5"));
    EXPECT_EQ(a.wavefronts, 32U) << load;
    EXPECT_EQ(a.verdict, KernelVerdict::data);
  }
  EXPECT_EQ(stored_by(taken("%r5") + "mov.u32 %r11, %clock;\n" + given_back("%r5")).wavefronts, 32U);
  EXPECT_EQ(stored_by(taken("%r5") + "vote.sync.ballot.b32 %r11, %p1, 15;\n" + given_back("%r5")).wavefronts,
            32U);
  EXPECT_EQ(
      stored_by(taken("%rd1", "global") + "ld.global.u32 %r11, [%rd1+4];\nst.global.u32 [%rd1+4], %r1;\n" +
                given_back("%rd1", "global"))
          .wavefronts,
      32U);
  EXPECT_EQ(stored_by(std::string(pairs) + "@%p2 bar.warp.sync %r11;\nld.shared.u32 %r11, [%r5+4];\n" + next +
                      "@%p3 bar.warp.sync %r12;\n")
                .wavefronts,
            32U);
  EXPECT_EQ(
      stored_by("shl.b32 %r13, %r1, 3; add.u32 %r13, %r13, %r5;\n" + phase_of("%r13") +
                "ld.shared.u32 %r11, [%r5+4];\n" + next + "mbarrier.arrive.shared.b64 %rd3, [%r13+8];\n")
          .wavefronts,
      32U);
  KernelAccess const choice =
      stored_by(taken("%r5") + "ld.shared.u32 %r11, [%r5+4];\n" + next + given_back("%r5") +
                "setp.eq.u32 %p2, %r11, 0; selp.b32 %r11, 0, 128, %p2;\n");
  EXPECT_EQ(choice.wavefronts, 2U);
  EXPECT_EQ(stored_by(taken("%r5") + "ld.shared.u32 %r11, [%r5+4];\n" + next + given_back("%r5") +
                      "bar.warp.sync -1;\n" + slot +
                      "M: ld.volatile.shared.u32 %r13, [%r5+8];\nsetp.lt.u32 %p3, %r13, %r9;\n@%p3 bra M;\n")
                .wavefronts,
            32U)
      << "a loop that waits for it was looked at before";
}

TEST(KernelLocks, WhatNoWriteChangesIsOneNumber) {
  auto const proved = [](std::string const& lines) {
    KernelAccess const a = stored_by(lines);
    EXPECT_EQ(a.verdict, KernelVerdict::proved) << lines << a.reason;
  };
  std::string const load = "ld.shared.u32 %r11, [dynamic];\n";
  proved(taken("%r5") + load + given_back("%r5"));  // nothing writes it
  proved("st.shared.u32 [dynamic], %r1;\nbar.sync 0;\n" + taken("%r5") + load + given_back("%r5"));
  proved(taken("%r5") + given_back("%r5") + "bar.warp.sync -1;\n" + load);  // they have met
  proved(phase_of("%r5") + "ld.shared.u32 %r11, [%r5+16];\n");              // they leave it together
  proved(taken("%r5") + "ld.global.nc.u32 %r11, [%rd1];\nst.global.u32 [%rd1], %r1;\n" + given_back("%r5"));
  KernelReport const report = report_of(
      ".shared .align 4 .b8 locks[512]; mov.u32 %r5, locks; ld.param.u64 %rd1, [g];\n" + taken("%r5") +
      "ld.global.u32 %r11, [%rd1];\n" + given_back("%r5") + slot + "st.shared.u16 [%r9], %r1;\n");
  EXPECT_EQ(report.rests_on,
            std::vector<std::string>{
                "no other kernel writes what lanes that wait for each other load from global memory"});
}

/// Decides the store to 0x800 and on of these lines of machine code.
KernelAccess stored_in_sass(std::string const& lines) {
  sass::Module const m = sass::read_module(sass_kernel("S2R R0, SR_TID.X\n" + lines + "EXIT"), "k.sass");
  KernelOptions options;
  options.block = {32, 1, 1};
  for (KernelAccess const& a : decide_kernel(m, sass::lower(m, m.functions.at(0)), options).accesses)
    if (a.op == "STS.U16") return a;
  return {};
}

TEST(KernelLocks, OfMachineCode) {
  std::string const column = "SHF.L.U32 R5, R0, 0x7, RZ\n", store = "STS.U16 [R5+0x800], R0\n",
                    taken =
                        ".L_1:\nATOMS.CAS R6, [RZ+0x400], RZ, R0\nISETP.NE.AND P0, PT, R6, RZ, PT\n@P0 BRA "
                        "`(.L_1)\n",
                    back = "STS [RZ+0x400], RZ\n";
  EXPECT_EQ(stored_in_sass(column + taken + store + back).verdict, KernelVerdict::unknown);
  EXPECT_EQ(stored_in_sass(taken + "LDS R7, [RZ+0x404]\nIADD3 R8, R7, 0x80, RZ\nSTS [RZ+0x404], R8\n" + back +
                           "WARPSYNC.ALL\nLOP3.LUT R5, R7, 0xf80, RZ, 0xc0, !PT\n" + store)
                .wavefronts,
            32U);
  auto const phase = [&](std::string const& barrier) {
    return stored_in_sass(column +
                          "SHF.L.U32 R4, R0, 0x3, RZ\nUMOV UR4, 0x0\n.L_1:\nSYNCS.PHASECHK.TRANS64.TRYWAIT "
                          "P0, [" +
                          barrier + "+0x400], RZ\n@!P0 BRA `(.L_1)\n" + store +
                          "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [" + barrier + "+0x408], RZ\n")
        .verdict;
  };
  EXPECT_EQ(phase("R4+URZ"), KernelVerdict::unknown);
  EXPECT_EQ(phase("UR4"), KernelVerdict::refuted);
  std::string const pairs =
      "S2R R6, SR_EQMASK\nSHF.R.U32.HI R7, RZ, 0x1, R6\nLOP3.LUT R7, R7, R6, RZ, 0xfc, !PT\n";
  EXPECT_EQ(stored_in_sass(column + pairs + "WARPSYNC R7\n" + store).verdict, KernelVerdict::unknown);
}

// ------------------------------------------------------------------------------------- loops that end with a plain load

/// Lanes that wait for their turn with such a load.
std::string turn_by(std::string const& load, std::string const& address = "%r5") {
  return "L: " + load + " %r7, [" + address + "];\nsetp.ne.u32 %p1, %r7, %r1;\n@%p1 bra L;\n";
}

TEST(KernelLocks, OneLaneMayWaitForTheOthers) {
  for (char const* lane : {"0", "7"})
    is_apart("setp.ne.u32 %p1, %r1, " + std::string(lane) +
                 ";\n@%p1 bra S;\nL: ld.volatile.shared.u32 %r7, [%r5];\nsetp.eq.u32 %p2, %r7, 0;\n@%p2 bra "
                 "L;\nS:\n",
             "st.volatile.shared.u32 [%r5], 1;");
}

TEST(KernelLocks, APlainLoadMayBeRepeatedUntilAnotherLaneWrites) {
  std::string const next = "add.u32 %r7, %r7, 1; st.shared.u32 [%r5], %r7;",
                    global = "add.u32 %r7, %r7, 1; st.global.u32 [%rd1], %r7;";
  is_apart(turn_by("ld.shared.b32"), next);
  is_apart("cvta.shared.u64 %rd2, %r5;\n" + turn_by("ld.u32", "%rd2"), next);
  is_apart(turn_by("ld.global.u32", "%rd1"), global);
  is_apart("mov.u32 %r12, 0;\n" + turn_by("ld.shared.b32"), next + "\n", "add.u32 %r12, %r12, 1;\n");
  std::string const end = "setp.ne.u32 %p1, %r7, %r1;\n@%p1 bra L;\n";
  // A register that the load was kept in; a count of rounds that trap; one that the address takes before the flag is set.
  is_apart(
      "ld.shared.b32 %r7, [%r5];\nL: setp.eq.u32 %p1, %r7, %r1;\n@%p1 bra X;\nld.shared.b32 %r7, "
      "[%r5];\nbra L;\nX:\n",
      next);
  is_apart(
      "mov.u32 %r12, 0;\nL: ld.shared.b32 %r7, [%r5];\nsetp.eq.u32 %p1, %r7, %r1;\n@%p1 bra X;\nadd.u32 "
      "%r12, %r12, 1; setp.lt.u32 %p2, %r12, 100;\n@%p2 bra L;\ntrap;\nX:\n",
      next);
  is_apart(
      "mov.u32 %r12, 0;\nL: shl.b32 %r13, %r12, 2; add.u32 %r13, %r13, %r5; ld.shared.b32 %r7, "
      "[%r13];\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 add.u32 %r12, %r12, 1;\nsetp.le.u32 %p1, %r12, %r1;\n"
      "@%p1 bra L;\n",
      "st.shared.u32 [%r6+4], 1;");
}

TEST(KernelLocks, APlainLoadIsNoWaitIfTheLoopEndsWithoutAWrite) {
  auto const is_none = [](std::string const& loop, std::string const& behind = "st.shared.u32 [%r5], 0;") {
    EXPECT_EQ(held(loop, behind).verdict, KernelVerdict::refuted) << loop;
  };
  // Rounds are counted, up to a number that is loaded in each of them, too, or by data until one of two ends.
  std::string const rounds = "mov.u32 %r12, %r1;\nL: ld.shared.b32 %r7, [%r5];\nadd.u32 %r12, %r12, 1; ";
  is_none(rounds + "setp.lt.u32 %p1, %r12, %r7;\n@%p1 bra L;\n");
  is_none(rounds + "setp.lt.s32 %p1, %r12, %r7;\n@%p1 bra L;\n");
  is_none(rounds + "setp.ne.u32 %p1, %r7, 0;\n@%p1 bra X;\nsetp.lt.u32 %p1, %r12, 100;\n@%p1 bra L;\nX:\n");
  is_none(rounds + "setp.ne.u32 %p1, %r7, 0; setp.ge.or.u32 %p1, %r12, 100, %p1;\n@!%p1 bra L;\n");
  // A search for a number among sorted ones, by two ends of a range, or by its first word and how many there are.
  is_none(
      "mov.u32 %r11, 0; mov.u32 %r12, 64;\nL: add.u32 %r13, %r11, %r12; shr.u32 %r13, %r13, 1; shl.b32 "
      "%r14, %r13, 2; add.u32 %r14, %r14, %r5; ld.shared.b32 %r7, [%r14];\nadd.u32 %r14, %r13, 1; "
      "setp.lt.u32 %p2, %r7, %r1; selp.b32 %r11, %r14, %r11, %p2; selp.b32 %r12, %r12, %r13, %p2; "
      "setp.lt.u32 %p1, %r11, %r12;\n@%p1 bra L;\n");
  is_none(
      "mov.u32 %r11, 0; mov.u32 %r12, 64;\nL: shr.u32 %r13, %r12, 1; add.u32 %r15, %r11, %r13; shl.b32 "
      "%r14, %r15, 2; add.u32 %r14, %r14, %r5; ld.shared.b32 %r7, [%r14];\nadd.u32 %r15, %r15, 1; sub.u32 "
      "%r16, %r12, "
      "%r13; sub.u32 %r16, %r16, 1; setp.lt.u32 %p2, %r7, %r1; selp.b32 %r11, %r15, %r11, %p2; selp.b32 "
      "%r12, %r16, %r13, "
      "%p2; setp.gt.s32 %p1, %r12, 0;\n@%p1 bra L;\n");
  // No lane writes the list.
  is_none("mov.u32 %r12, %r6;\nL: ld.shared.b32 %r12, [%r12];\nsetp.ne.u32 %p1, %r12, 0;\n@%p1 bra L;\n", "");
}

TEST(KernelLocks, ALoopThatMemoryAloneEndsIsAWait) {
  std::string const end = "setp.le.u32 %p1, %r12, %r1;\n@%p1 bra L;\n",
                    load = "L: ld.shared.b32 %r7, [%r5];\n";
  auto const waits = [](std::string const& loop) { is_apart(loop, "st.shared.u32 [%r5], 1;"); };
  // A sum; a sum of truths; a count by an inner loop; a list, and a union; an index that comes round from where the lane begins.
  waits("mov.u32 %r12, 0;\n" + load + "add.u32 %r12, %r12, %r7;\n" + end);
  waits("mov.u32 %r12, 0;\n" + load +
        "setp.gt.u32 %p2, %r7, %r12; selp.u32 %r13, 1, 0, %p2; add.u32 %r12, %r12, %r13; setp.lt.u32 %p1, "
        "%r12, %r1;\n@%p1 bra L;\n");
  waits("mov.u32 %r12, 0;\n" + load +
        "mov.u32 %r13, 0;\nI: setp.ge.u32 %p2, %r13, %r7;\n@%p2 bra J;\nadd.u32 %r13, %r13, 1; "
        "add.u32 %r12, %r12, 1;\nbra I;\nJ: " +
        end);
  waits("mov.u32 %r12, %r6;\nL: ld.shared.b32 %r12, [%r12];\nsetp.ne.u32 %p1, %r12, 0;\n@%p1 bra L;\n");
  waits(
      "mov.u32 %r12, %r6;\nL: mov.u32 %r13, %r12; ld.shared.b32 %r12, [%r13];\nsetp.ne.u32 %p1, %r12, "
      "%r13;\n@%p1 bra L;\n");
  waits(
      "mov.u32 %r13, %r1;\nL: add.u32 %r13, %r13, 1; and.b32 %r13, %r13, 31; shl.b32 %r14, %r13, 2; add.u32 "
      "%r14, %r14, %r5; "
      "ld.shared.b32 %r12, [%r14];\n" +
      end);
  // By way of a table, a thread's own memory, and a word that the loop writes; up and down by what is found.
  waits(load + "shl.b32 %r14, %r7, 2; add.u32 %r14, %r14, %r2; ld.shared.b32 %r12, [%r14];\n" + end);
  waits(".local .align 4 .b8 own[4]; " + load + "st.local.u32 [own], %r7; ld.local.b32 %r12, [own];\n" + end);
  waits(load + "st.shared.u32 [%r2], %r7; ld.shared.b32 %r12, [%r2];\n" + end);
  waits("mov.u32 %r12, 9;\n" + load +
        "setp.eq.u32 %p2, %r7, %r1; selp.b32 %r13, -1, 1, %p2; add.u32 %r12, %r12, %r13; "
        "setp.ne.u32 %p1, %r12, 0;\n@%p1 bra L;\n");
  // Two statements on one line are two loads.
  waits(".shared .align 4 .b8 other[4];\nL: ld.shared.b32 %r8, [other]; ld.shared.b32 %r12, [%r5];\n" + end);
  waits(".local .align 4 .b8 own[4]; cvta.local.u64 %rd2, own; " + load +
        "st.local.u32 [own], %r7; ld.u32 %r12, [%rd2];\n" + end);
  waits("cvt.u64.u32 %rd2, %r2; " + load +
        "cp.async.ca.shared.global [%r2], [%rd1], 4;\ncp.async.wait_all;\nld.shared.b32 %r12, [%r2];\n" +
        end);
  // A predicate that is carried.
  waits("setp.ne.u32 %p1, %r1, %r1;\n" + load + "setp.eq.or.u32 %p1, %r7, %r1, %p1;\n@!%p1 bra L;\n");
}

TEST(KernelLocks, ACounterEndsALoopIfItReachesItsBound) {
  auto const tried = [](std::string const& count) {
    return "mov.u32 %r12, 1; mov.u32 %r13, 0; ld.param.u32 %r14, [n];\nL: ld.shared.b32 %r7, "
           "[%r5];\nsetp.ne.u32 %p1, %r7, %r1;\n" +
           count + " and.pred %p1, %p1, %p2;\n@%p1 bra L;\n";
  };
  for (char const* count : {"add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, %r14;",
                            "add.s32 %r12, %r12, -1; setp.gt.s32 %p2, %r12, %r14;",
                            "add.u32 %r12, %r12, 1; setp.ne.u32 %p2, %r12, %r14;",
                            "shr.u32 %r12, %r12, 1; setp.ne.u32 %p2, %r12, 0;"})
    EXPECT_EQ(held(tried(count), "st.shared.u32 [%r5], 1;").verdict, KernelVerdict::refuted) << count;
  for (char const* count : {"add.u32 %r12, %r12, 1; setp.ge.u32 %p2, %r12, 0;",
                            "add.u32 %r12, %r12, 1; setp.le.u32 %p2, %r12, 0xffffffff;",
                            "add.u32 %r12, %r12, 2; setp.ne.u32 %p2, %r12, 1000;",
                            "add.u32 %r12, %r12, 1; add.u32 %r13, %r13, 1; setp.ne.u32 %p2, %r12, %r13;",
                            "add.u32 %r12, %r12, %r14; setp.lt.u32 %p2, %r12, 100;",
                            "add.u32 %r12, %r12, 1; cvt.u32.u8 %r15, %r12; setp.lt.u32 %p2, %r15, 1000;",
                            "xor.b32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 20;",
                            "shr.s32 %r12, %r12, 1; setp.lt.s32 %p2, %r12, %r14;"})
    is_apart(tried(count), "st.shared.u32 [%r5], 1;");
}

TEST(KernelLocks, AWriteThroughAChosenAddressMayGiveItBack) {
  std::string const turn =
      ".shared .align 4 .b8 other[4]; ld.param.u32 %r14, [n]; setp.eq.u32 %p3, %r14, 3; mov.u32 %r13, "
      "other;\nselp.b32 %r13, %r13, %r5, %p3; "
      "L: ld.volatile.shared.u32 %r7, [%r5];\nsetp.ne.u32 %p1, %r7, %r1;\n@%p1 bra L;\n";
  is_apart(turn, "st.volatile.shared.u32 [%r13], 1;");
  is_apart(turn,
           "mov.u32 %r13, other; sub.u32 %r14, %r5, %r13; add.u32 %r13, %r13, %r14; st.volatile.shared.u32 "
           "[%r13], 1;");
  EXPECT_EQ(held(turn, "st.volatile.shared.u32 [other], 1;").verdict, KernelVerdict::refuted);
  std::string of_chosen = turn;
  of_chosen.replace(of_chosen.find("%r7, [%r5]"), 10, "%r7, [%r13]");
  is_apart(of_chosen, "st.volatile.shared.u32 [%r5], 1;");
}

TEST(KernelLocks, AWriteIsOverIfAllThreadsPassAsManyBarriers) {
  std::string const turn = "L: ld.volatile.shared.u32 %r7, [%r5];\nsetp.ne.u32 %p1, %r7, %r1;\n@%p1 bra L;\n",
                    written = "st.volatile.shared.u32 [%r5], 1;\nbar.sync 0;\n";
  EXPECT_EQ(held(written + turn, "").verdict, KernelVerdict::refuted);
  EXPECT_EQ(held("mov.u32 %r12, 0;\nO: bar.sync 0;\nadd.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, 4;\n@%p2 "
                 "bra O;\n" +
                     written + turn,
                 "")
                .verdict,
            KernelVerdict::refuted);
  // Half of the threads do not come to the loop with the barrier.
  is_apart(
      "setp.lt.u32 %p2, %r1, 16; mov.u32 %r12, 0;\n@%p2 bra J;\nO: setp.ge.u32 %p2, %r12, 4;\n@%p2 bra J;\n"
      "st.volatile.shared.u32 [%r5], 1;\nbar.sync 0;\nadd.u32 %r12, %r12, 1;\nbra O;\nJ:\n" +
          turn,
      "");
  // Half of the threads pass none, and one more round.
  is_apart("setp.lt.u32 %p2, %r1, 16;\n@%p2 bra L;\n" + written + turn, "");
  is_apart(
      "mov.u32 %r12, 0;\nO: bar.sync 0;\nadd.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, %r1;\n@%p2 bra O;\n" +
          written + turn,
      "");
}

TEST(KernelLocks, APartOfAWarpMaySearch) {
  auto const all = decided(
      "mov.u32 %r5, 0; mov.u32 %r6, 64;\nL: add.u32 %r7, %r5, %r6; shr.u32 %r7, %r7, 1; shl.b32 %r8, %r7, 2; "
      "add.u32 %r8, %r8, %r2; ld.shared.u32 %r9, "
      "[%r8];\nadd.u32 %r8, %r7, 1; setp.lt.u32 %p1, %r9, %r1; selp.b32 %r5, %r8, %r5, %p1; selp.b32 %r6, "
      "%r6, %r7, %p1; setp.lt.u32 %p1, %r5, %r6;\n"
      "@%p1 bra L;\nst.shared.u32 [%r2], %r1;\n",
      {.block = {{48, 1, 1}}});
  ASSERT_EQ(all.size(), 2U);
}

TEST(KernelLocks, LanesAtAnAlignedBarrierInEachIterationAreTogether) {
  auto const rounds = [](std::string const& barrier) {
    return "mov.u32 %r12, %r1;\nL: " + barrier +
           "ld.shared.b32 %r7, [%r5];\nadd.u32 %r12, %r12, 1; setp.le.u32 %p1, %r7, %r1;\n@%p1 bra L;\nX:\n";
  };
  is_apart(rounds(""), "st.shared.u32 [%r5], 1;");
  is_apart(rounds("setp.eq.u32 %p3, %r12, 9;\n@%p3 bra Y;\nbar.sync 0;\nY: "), "st.shared.u32 [%r5], 1;");
  for (char const* barrier : {"bar.sync 0;\n", "barrier.sync.aligned 0;\n"})
    EXPECT_EQ(held(rounds(barrier), "st.shared.u32 [%r5], 1;").verdict, KernelVerdict::refuted);
  // A lane that has left goes on to another one.
  for (char const* barrier : {"bar.warp.sync 0xffffffff;\n", "barrier.sync 0;\n"})
    is_apart(rounds(barrier), "st.shared.u32 [%r5], 1;");
}

TEST(KernelLocks, APlainLoadOfMachineCodeMayBeVolatile) {
  std::string const column = "SHF.L.U32 R5, R0, 0x7, RZ\n", store = "STS.U16 [R5+0x800], R0\n",
                    end = "ISETP.NE.AND P0, PT, R6, R0, PT\n@P0 BRA `(.L_1)\n";
  auto const turns = [&](std::string const& load, std::string const& next) {
    return stored_in_sass(column + ".L_1:\n" + load + "\n" + end + store + "IADD3 R6, R6, 0x1, RZ\n" + next +
                          "\n")
        .verdict;
  };
  EXPECT_EQ(turns("LDS R6, [RZ+0x400]", "STS [RZ+0x400], R6"), KernelVerdict::unknown);
  EXPECT_EQ(turns("LDG.E R6, desc[UR4][R2.64]", "STG.E desc[UR4][R2.64], R6"), KernelVerdict::unknown);
  EXPECT_EQ(turns("LDG.E.STRONG.SYS R6, desc[UR4][R2.64]", "STG.E.STRONG.SYS desc[UR4][R2.64], R6"),
            KernelVerdict::unknown);
  EXPECT_EQ(turns("LD.E R6, desc[UR4][R2.64]", "ST.E desc[UR4][R2.64], R6"), KernelVerdict::unknown);
  EXPECT_EQ(turns("LDG.E R6, desc[UR4][R2.64]", "STS [RZ+0x400], R6"), KernelVerdict::refuted);
}

TEST(KernelLocks, ALaneAloneStillHasItsFaults) {
  auto const all = decided(".shared .align 4 .b8 locks[512]; mov.u32 %r5, locks;\n" + taken("%r5") +
                           "mad.lo.u32 %r9, %r1, 256, %r2; st.shared.u32 [%r9], %r1;\n" + given_back("%r5"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].in_bounds, false);
  EXPECT_EQ(all[1].verdict, KernelVerdict::refuted);
}

}  // namespace
}  // namespace swizproof
