#include "race_case.hpp"

namespace swizproof {
namespace {

/// A copy to the own word, and a load of the neighbour's.
std::string const copy = "ld.param.u64 %rd1, [g]; cp.async.ca.shared.global [%r4], [%rd1], 4; ",
                  neighbour = "ld.shared.u32 %r6, [%r5];";

/// Races in blocks of any shape.
KernelRaces report_of_any(std::string const& body) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n.entry "
      "k()\n{\n.reg .pred %p<9>; "
      ".reg .b32 %r<30>;\nmov.u32 %r1, %tid.x; mov.u32 %r2, tile;\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  KernelOptions options;
  options.races = true;
  return decide_kernel(m, m.functions.at(0), options).races.value();
}
void expect_free(std::string const& body) {
  KernelRaces const races = races_of(body);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << body << ": " << races.reason;
}

TEST(KernelRaces, ABarrierOrdersANeighboursStore) {
  expect_free("st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r6, [%r5];");
  KernelRaces const races = expect_race("st.shared.u32 [%r4], %r1; ld.shared.u32 %r6, [%r5];");
  ASSERT_FALSE(races.races.empty());
  Race const& race = races.races[0];
  EXPECT_EQ(race.first.thread[0] + race.second.thread[0],
            2 * std::min(race.first.thread[0], race.second.thread[0]) + 1);
  EXPECT_EQ(race.array, "tile");
  EXPECT_NE(race.first.write, race.second.write);
}

TEST(KernelRaces, PairsAreAskedTogether) {
  std::string many;
  for (unsigned k = 0; k < 12; ++k) many += "st.shared.u32 [%r4+" + std::to_string(512 * k) + "], %r1; ";
  KernelOptions options;
  options.block = {128, 1, 1};
  KernelRaces const races = races_of(many, options);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << races.reason;
  EXPECT_GT(races.pairs, 64U);
}

TEST(KernelRaces, AThreadDoesNotRaceWithItself) {
  KernelRaces const races =
      expect_race("st.shared.u32 [%r4], %r1; ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r6, [%r5];");
  EXPECT_EQ(races.races.size(), 1U);
  for (Race const& race : races.races) EXPECT_NE(race.first.thread, race.second.thread);
}

TEST(KernelRaces, AMapThatIsNotOneToOneLosesAStore) {
  expect_free("xor.b32 %r7, %r1, 21; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r2; st.shared.u32 [%r7], %r1;");
  expect_race("and.b32 %r7, %r1, 30; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r2; st.shared.u32 [%r7], %r1;",
              RaceKind::lost_store);
}

TEST(KernelRaces, ALoopNeedsItsBarrier) {
  expect_free(looped("", "ld.shared.u32 %r6, [%r5]; bar.sync 0; st.shared.u32 [%r4], %r6; bar.sync 0;"));
  expect_race(looped("", "ld.shared.u32 %r6, [%r5]; bar.sync 0; st.shared.u32 [%r4], %r6;"));
}

TEST(KernelRaces, ABarrierThatSomeThreadsSkipOrdersNothing) {
  std::string const skipped = "setp.lt.u32 %p1, %r1, 7; @%p1 bra S; bar.sync 0;\nS: ";
  expect_race("st.shared.u32 [%r4], %r1; " + skipped + "ld.shared.u32 %r6, [%r5];");
  expect_free(
      "st.shared.u32 [%r4], %r1; setp.lt.u32 %p1, %r3, 7; @%p1 bra S; bar.sync 0; ld.shared.u32 %r6, "
      "[%r5];\nS: ");
}

TEST(KernelRaces, AThreadThatEndsEarlyTakesPartInNoLaterInterval) {
  expect_free(
      "setp.ge.u32 %p1, %r1, %r3; @%p1 ret; st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r6, [%r5];");
}

TEST(KernelRaces, AtomicsRaceWithLoadsAlone) {
  expect_free("red.shared.add.u32 [%r2], 1; red.shared.add.u32 [%r2], 2;");
  expect_race("red.shared.add.u32 [%r2], 1; ld.shared.u32 %r6, [%r2];");
}

TEST(KernelRaces, EqualStoresAreOfTheirOwnKind) {
  expect_race("st.shared.u32 [%r2], 7;", RaceKind::same_value);
  expect_race("st.shared.u32 [%r2], %r1;", RaceKind::lost_store);
}

TEST(KernelRaces, WarpsAreOrderedByTheirBarrier) {
  std::string const exchange = "xor.b32 %r7, %r1, 1; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r2; ";
  expect_free("st.shared.u32 [%r4], %r1; bar.warp.sync -1; " + exchange + "ld.shared.u32 %r6, [%r7];");
  expect_race("st.shared.u32 [%r4], %r1; " + exchange + "ld.shared.u32 %r6, [%r7];");
  expect_race("st.shared.u32 [%r4], %r1; bar.warp.sync -1; ld.shared.u32 %r6, [%r5];");
  // Half of the warp executes a shuffle before it, so that each half has come by another number of instructions of the warp.
  expect_free(
      "and.b32 %r8, %r1, 31; setp.ge.u32 %p1, %r8, 16; @%p1 bra L; shfl.sync.bfly.b32 %r6, %r1, 1, 31, "
      "65535; "
      "st.shared.u32 [%r4], %r1;\nL: bar.warp.sync -1; @!%p1 bra E; ld.shared.u32 %r7, [%r4+-64];\nE: ");
}

/// Thread 0 stores a word and sets a flag; the others read the word when they have read the flag.
std::string by_flag(std::string const& write, std::string const& set, std::string const& read,
                    std::string const& behind, std::string const& more = "") {
  return "setp.ne.u32 %p1, %r1, 0; @%p1 bra B; " + write + set + " bra.uni E;\nB: " + read +
         " [%r2+4096]; setp.eq.u32 %p2, %r6, 0; @%p2 bra B; " + behind +
         "ld.shared.u32 %r7, [%r2];\nE: " + more;
}
std::string const word = "st.shared.u32 [%r2], 7; ", membar = "membar.cta; ",
                  set = "st.volatile.shared.u32 [%r2+4096], 1; ", poll = "ld.volatile.shared.u32 %r6,";

TEST(KernelRaces, AFlagMayOrderAccesses) {
  std::string const why = "it may be ordered by a flag", all = "fence.acq_rel.cta; ",
                    release = "st.release.cta.shared.u32 [%r2+4096], 1; ",
                    acquire = "ld.acquire.cta.shared.u32 %r6,";
  expect_open(by_flag(word + membar, set, poll, membar), why);
  expect_open(
      by_flag(word + all, "st.relaxed.cta.shared.u32 [%r2+4096], 1;", "ld.relaxed.cta.shared.u32 %r6,", all),
      why);
  expect_open(by_flag(word, release, acquire, ""), why);
  expect_open(by_flag(word + "fence.sc.cta; ", set, acquire, ""), why);
  expect_open(by_flag(word + "membar.gl; ", "red.shared.or.b32 [%r2+4096], 1;", poll, "membar.sys; "), why);
  // Warps pass it on: thread 1 alone waits, and its warp behind it.
  std::string const lanes =
      "setp.ge.u32 %p1, %r1, 32; @%p1 bra W; setp.ne.u32 %p2, %r1, 0; @%p2 bra V; " + word +
      "\nV: bar.warp.sync -1; setp.ne.u32 %p2, %r1, 1; @%p2 ret; " + membar + set +
      "ret;\nW: setp.ne.u32 %p2, %r1, 33; @%p2 bra X;\nB: " + poll +
      " [%r2+4096]; setp.eq.u32 %p2, %r6, 0; @%p2 bra B; " + membar +
      "\nX: bar.warp.sync -1; setp.eq.u32 %p2, %r1, 33; @%p2 ret; ld.shared.u32 %r7, [%r2]; ";
  EXPECT_NE(races_of(lanes, {.block = {{64, 1, 1}}}).verdict, RaceVerdict::refuted);
}

TEST(KernelRaces, AThreadThatWaitsLetsOthersGoOn) {
  std::string const waits = "setp.eq.u32 %p1, %r1, 1; @%p1 bra B; setp.ne.u32 %p1, %r1, 0; @%p1 ret;\nL: " +
                            poll + " [%r2+4096]; setp.eq.u32 %p2, %r6, 0; @%p2 bra L; ",
                    sets = "ld.shared.u32 %r7, [%r2]; ret;\nB: " + word;
  expect_race(waits + sets + set);
  expect_open(waits + membar + sets + membar + set, "it may be ordered by a flag");
}

TEST(KernelRaces, AFlagWithoutAFenceOrdersNothing) {
  expect_race(by_flag(word, set, poll, membar));
  expect_race(by_flag(word + membar, set, poll, ""));
  expect_race(by_flag(membar, set + word, poll, membar));
  expect_race(by_flag(word + membar, "st.shared.u32 [%r2+4096], 1; ", poll, membar));
  expect_race(by_flag(word + membar, set, "ld.shared.u32 %r6,", membar));
  expect_race(
      by_flag(word + membar, set, poll, membar, "bar.sync 0; st.shared.u32 [%r4], %r1; " + neighbour));
}

// Both threads write a word while they hold a lock.
TEST(KernelRaces, ALockNeedsFences) {
  auto const locked = [](std::string const& behind, std::string const& in_front) {
    return "setp.gt.u32 %p1, %r1, 1; @%p1 ret;\nL: atom.shared.cas.b32 %r6, [%r2+4096], 0, 1; setp.ne.u32 "
           "%p2, "
           "%r6, 0; @%p2 bra L; " +
           behind + "st.shared.u32 [%r2], %r1; " + in_front + "atom.shared.exch.b32 %r6, [%r2+4096], 0;";
  };
  expect_open(locked(membar, membar), "it may be ordered by a flag");
  expect_race(locked(membar, ""), RaceKind::lost_store);
  expect_race(locked("", membar), RaceKind::lost_store);
}

TEST(KernelRaces, WhatIsNotModelledIsUndecided) {
  expect_open("st.bulk.weak.shared::cta [%r2], 4096, 0; ld.shared.u32 %r6, [%r5];", "st.bulk");
  expect_open("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r2], 32; ld.shared.u32 %r6, [%r5];",
              "tcgen05.alloc");
  // the box of a tensor is not known where nothing initialises its mbarrier
  expect_open(
      "ld.param.u64 %rd1, [g]; cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%r2], [%rd1, {%r1}], [%r2+4096];",
      "the box of a tensor");
  expect_open(copy + "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2+64];", "cp.async.mbarrier.arrive");
  expect_open("bar.sync 1, 32; st.shared.u32 [%r4], %r1; bar.sync 1, 32; ld.shared.u32 %r6, [%r5];",
              "part of the block");
  expect_open(
      "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; and.b32 %r6, %r6, 255; add.u32 %r6, %r6, %r1; "
      "mbarrier.init.shared.b64 [%r4], 1;",
      "mbarrier");
}

TEST(KernelRaces, APointerToSharedOrGlobalMemoryIsUndecided) {
  expect_open(
      "ld.param.u64 %rd1, [g]; cvt.u64.u32 %rd2, %r2; cvta.shared.u64 %rd2, %rd2; ld.param.u32 %r9, [n]; "
      "setp.ne.u32 %p1, %r9, 0; selp.b64 %rd3, %rd2, %rd1, %p1; cvt.u64.u32 %rd4, %r1; shl.b64 %rd4, %rd4, "
      "2; "
      "add.u64 %rd3, %rd3, %rd4; st.u32 [%rd3], %r1; ld.u32 %r6, [%rd3+4];",
      "a generic address may be one of shared memory");
}

TEST(KernelRaces, NothingIsProvedWhereAnAccessLeavesItsArray) {
  expect_open("st.shared.u32 [%r4+8192], %r1;", "an access leaves its array");
}

TEST(KernelRaces, ACopyIsCompleteBehindAWaitAndABarrier) {
  expect_free(copy + "cp.async.wait_all; bar.sync 0; " + neighbour);
  expect_race(copy + "cp.async.wait_all; " + neighbour);
  expect_race(copy + "bar.sync 0; " + neighbour);
  EXPECT_EQ(expect_race(copy + "bar.sync 0; cp.async.wait_all; " + neighbour).races.at(0).interval, 1U);
  expect_race(copy + "bar.sync 0; bar.sync 0; " + neighbour);
  expect_free(neighbour + "bar.sync 0; " + copy);
}

TEST(KernelRaces, ACopyRacesWithItsOwnThreadBeforeTheWait) {
  std::string const own = "ld.shared.u32 %r6, [%r4];";
  expect_free("ld.shared.u32 %r6, [%r4]; " + copy + "cp.async.wait_all; " + own);
  KernelRaces const races = expect_race(copy + own);
  EXPECT_EQ(races.races.at(0).first.thread, races.races.at(0).second.thread);
  expect_race(copy + "bar.sync 0; bar.sync 0; st.shared.u32 [%r4], %r1;", RaceKind::lost_store);
  expect_race(copy + copy, RaceKind::same_value);
  expect_race(copy + "cp.async.ca.shared.global [%r4], [%rd1+4], 4; ", RaceKind::lost_store);
  // A copy of fewer bytes writes zeros behind them; one of more than 4 is not defined.
  expect_race(copy + "cp.async.ca.shared.global [%r4], [%rd1], 4, %r3; ", RaceKind::race);
  expect_race(copy + "mov.u32 %r6, 4; cp.async.ca.shared.global [%r4], [%rd1], 4, %r6; ",
              RaceKind::same_value);
  expect_race(copy + "mov.u32 %r6, 0; cp.async.ca.shared.global [%r4], [%rd1], 4, %r6; ",
              RaceKind::lost_store);
  expect_race(
      "mov.u32 %r6, 0; ld.param.u64 %rd1, [g]; cp.async.ca.shared.global [%r4], [%rd1], 4, %r6; "
      "st.shared.u32 [%r4], %r6;",
      RaceKind::same_value);
  // All of the source, or zeros if the predicate ignore-src is true.
  expect_race(copy + "setp.eq.u32 %p1, %r1, %r1; cp.async.ca.shared.global [%r4], [%rd1], 4, %p1; ",
              RaceKind::lost_store);
  expect_race(copy + "setp.ne.u32 %p1, %r1, %r1; cp.async.ca.shared.global [%r4], [%rd1], 4, %p1; ",
              RaceKind::same_value);
  expect_open(
      copy + "setp.eq.u32 %p1, %r3, 123456; @!%p1 cp.async.wait_all; setp.ne.u32 %p1, %r3, 77; @%p1 ret; " +
          own,
      "its own copy");
}

TEST(KernelRaces, AWaitLeavesTheLastGroups) {
  std::string const second = "cp.async.ca.shared.global [%r4+2048], [%rd1], 4; cp.async.commit_group; ",
                    both = copy + "cp.async.commit_group; " + second;
  expect_free(both + "cp.async.wait_group 1; bar.sync 0; " + neighbour);
  expect_race(both + "cp.async.wait_group 2; bar.sync 0; " + neighbour);
  expect_race(both + "cp.async.wait_group 1; bar.sync 0; ld.shared.u32 %r6, [%r5+2048];");
  expect_race(copy + second + "cp.async.wait_group 1; bar.sync 0; " + neighbour);
  expect_race(copy + "cp.async.wait_group 0; bar.sync 0; " + neighbour);  // not committed
}

TEST(KernelRaces, AWaitWithAGuardProvesNothing) {
  expect_open(copy + "setp.ge.u32 %p1, %r1, 0; @%p1 cp.async.wait_all; bar.sync 0; " + neighbour,
              "two threads may access one byte");
  expect_race(copy + "setp.gt.u32 %p1, %r1, 3; @%p1 cp.async.wait_all; bar.sync 0; " + neighbour);
  expect_open(copy +
                  "setp.ge.u32 %p1, %r1, 0; @%p1 cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; " +
                  neighbour,
              "two threads may access one byte");
}

// Two buffers: each iteration copies into the one that the iteration before has read.
/// A wgmma whose A is the first 2 KiB of `tile` and whose B, 8 columns, lies behind `b` more bytes: both without a swizzle.
std::string wgmma_at(std::string const& b = "2048") {
  std::string const fields = "0x0000001000080000";  // SBO 256, LBO 128
  return "shr.u32 %r8, %r2, 4; and.b32 %r8, %r8, 16383; cvt.u64.u32 %rd2, %r8; or.b64 %rd2, %rd2, " + fields +
         "; add.u32 %r9, %r2, " + b +
         "; shr.u32 %r9, %r9, 4; and.b32 %r9, %r9, 16383; cvt.u64.u32 %rd3, %r9; or.b64 %rd3, %rd3, " +
         fields +
         "; wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r20, %r21, %r22, "
         "%r23}, %rd2, %rd3, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; ";
}
std::string const warpgroup_wait = "wgmma.wait_group.sync.aligned 0; ",
                  fence = "fence.proxy.async.shared::cta; ", fill = "st.shared.u32 [%r4], %r1; ";
KernelOptions const warpgroup{.block = {{128, 1, 1}}};

TEST(KernelRaces, WgmmaReadsUntilTheWaitForItsGroup) {
  auto const verdict = [](std::string const& body) { return races_of(body, warpgroup).verdict; };
  EXPECT_EQ(verdict(wgmma_at() + warpgroup_wait + "bar.sync 0; " + fill), RaceVerdict::proved);
  EXPECT_EQ(verdict(wgmma_at() + warpgroup_wait + fill),
            RaceVerdict::refuted);  // other warps have not waited
  EXPECT_EQ(verdict(wgmma_at() + "bar.sync 0; " + fill), RaceVerdict::refuted);
  EXPECT_EQ(verdict(wgmma_at() + "bar.sync 0; bar.sync 0; " + fill), RaceVerdict::refuted);
  EXPECT_EQ(verdict(wgmma_at() + "bar.sync 0; st.shared.u32 [%r4+2304], %r1; "), RaceVerdict::proved);
  EXPECT_EQ(verdict(wgmma_at() + "bar.sync 0; ld.shared.u32 %r6, [%r4]; "), RaceVerdict::proved);
  EXPECT_EQ(verdict(wgmma_at("4096") + "bar.sync 0; st.shared.u32 [%r4+4096], %r1; "), RaceVerdict::refuted);
}

TEST(KernelRaces, WaitsForWgmmaLeaveTheLastGroups) {
  auto const verdict = [](std::string const& body) { return races_of(body, warpgroup).verdict; };
  std::string const one = "wgmma.wait_group.sync.aligned 1; bar.sync 0; ";
  EXPECT_EQ(verdict(wgmma_at() + one + fill), RaceVerdict::refuted);
  EXPECT_EQ(verdict(wgmma_at("4096") + wgmma_at("6144") + one + "st.shared.u32 [%r4+4096], %r1;"),
            RaceVerdict::proved);
  EXPECT_EQ(verdict(wgmma_at("4096") + wgmma_at("6144") + one + "st.shared.u32 [%r4+6144], %r1;"),
            RaceVerdict::refuted);
  EXPECT_EQ(verdict(wgmma_at() + "cp.async.wait_all; bar.sync 0; " + fill), RaceVerdict::refuted);
}

TEST(KernelRaces, WritesNeedAProxyFenceBeforeWgmma) {
  auto const answer = [](std::string const& body) { return races_of(body + warpgroup_wait, warpgroup); };
  EXPECT_EQ(answer(fill + fence + "bar.sync 0; " + wgmma_at()).verdict, RaceVerdict::proved);
  EXPECT_EQ(answer(fill + "bar.sync 0; " + fence + wgmma_at()).verdict, RaceVerdict::proved);
  EXPECT_EQ(answer(fill + "bar.sync 0; bar.sync 0; " + fence + "bar.sync 0; " + wgmma_at()).verdict,
            RaceVerdict::proved);
  KernelRaces const none = answer(fill + "bar.sync 0; " + wgmma_at());
  EXPECT_EQ(none.verdict, RaceVerdict::unknown);
  EXPECT_NE(none.reason.find("no fence.proxy.async"), std::string::npos) << none.reason;
  EXPECT_EQ(answer(fence + fill + "bar.sync 0; " + wgmma_at()).verdict, RaceVerdict::unknown);
  EXPECT_EQ(answer(fill + "setp.lt.u32 %p1, %r1, 9; @%p1 " + fence + "bar.sync 0; " + wgmma_at()).verdict,
            RaceVerdict::unknown);
  EXPECT_EQ(answer(fill + "fence.proxy.async.global; bar.sync 0; " + wgmma_at()).verdict,
            RaceVerdict::unknown);
  EXPECT_EQ(answer(fill + fence + wgmma_at()).verdict, RaceVerdict::refuted);  // no barrier
  // A fence for a copy is behind the wait for it.
  EXPECT_EQ(answer(copy + "cp.async.wait_all; " + fence + "bar.sync 0; " + wgmma_at()).verdict,
            RaceVerdict::proved);
  EXPECT_EQ(answer(copy + fence + "cp.async.wait_all; bar.sync 0; " + wgmma_at()).verdict,
            RaceVerdict::unknown);
}

TEST(KernelRaces, DescriptorsThatAreNotConstantAreUndecided) {
  EXPECT_NE(races_of("cvt.u64.u32 %rd2, %r3; shl.b64 %rd2, %rd2, 16; "
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r20, %r21, %r22, "
                     "%r23}, %rd2, %rd2, 1, 1, 1, 0, 0;",
                     warpgroup)
                .reason.find("a field of a descriptor is no constant"),
            std::string::npos);
}

/// A bulk copy of thread 0 into the first 256 bytes of `tile`, which completes an mbarrier behind them, and a wait for it.
std::string const first_thread = "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra S;\n",
                  init = "mbarrier.init.shared::cta.b64 [%r2+4096], 1;\nS: bar.sync 0;\n",
                  bulk =
                      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, "
                      "[%r2+4096];\n",
                  expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+4096], 256;\n",
                  phase_wait =
                      "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+4096], 0;\n@!%p2 bra W;\n",
                  own_load = "ld.shared.u32 %r6, [%r4];\n";
std::string issued(std::string const& what) { return "@%p1 bra T;\n" + what + "T:\n"; }

TEST(KernelRaces, ABulkCopyIsCompleteBehindItsPhase) {
  std::string const start = first_thread + init + issued(expect + bulk);
  expect_free(start + phase_wait + own_load);
  expect_free(start + "bar.sync 0;\n" + phase_wait + "bar.sync 0;\n" + fill);
  expect_free(start + "st.shared.u32 [%r4+2048], %r1;\n" + phase_wait + own_load);
  expect_open(start + own_load + phase_wait, "its own copy, for which it has not waited");
  expect_open(start + "bar.sync 0;\n" + own_load, "may access one byte");
  expect_open(start + "@%p1 bra V;\n" + own_load + "V:\n" + phase_wait, "may access one byte");
  expect_open(start + phase_wait.substr(0, phase_wait.find('@')) + "@%p2 bra W;\n" + own_load, "may access");
  expect_free(
      "elect.sync %r7|%p3, 0xffffffff;\nsetp.lt.u32 %p4, %r1, 32;\nand.pred %p3, %p3, %p4;\nnot.pred "
      "%p1, %p3;\n@%p1 bra S;\n" +
      init + issued(expect + bulk) + phase_wait + own_load);
}

TEST(KernelRaces, AnInvalidationEndsAnMbarriersLife) {
  std::string const copied = first_thread + init + issued(expect + bulk) + phase_wait + own_load,
                    inval = "mbarrier.inval.shared::cta.b64 [%r2+4096];\n";
  KernelRaces const races = races_of(copied + "bar.sync 0;\n" + "@%p1 bra I;\n" + inval + "I: bar.sync 0;\n" +
                                     "st.shared.u32 [%r4+4096], %r1;\n");
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << races.reason;
  EXPECT_TRUE(std::any_of(races.assumed.begin(), races.assumed.end(), [](std::string const& a) {
    return a.find("until mbarrier.inval") != std::string::npos;
  }));
  expect_open(copied + "@%p1 bra I;\n" + inval + "I:\n",
              "mbarrier.inval.shared::cta.b64 and mbarrier.try_wait");
  expect_open(copied + "bar.sync 0;\n" + inval, "may access one byte: mbarrier.inval");
  EXPECT_EQ(
      races_of(copied + "bar.sync 0;\n" + "@%p1 bra I;\n" + inval +
               "I: bar.sync 0;\n@%p1 bra J; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 64; "
               "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nJ:\n")
          .verdict,
      RaceVerdict::proved);
  // The bytes are others' only behind a barrier, and no mbarrier is used again.
  expect_open(copied + "bar.sync 0;\n@%p1 bra I;\n" + inval + "I: st.shared.u32 [%r4+4096], %r1;\n",
              "mbarrier.inval");
  expect_open(first_thread + init + "@%p1 bra I;\n" + inval + "I: bar.sync 0;\n" + issued(expect + bulk) +
                  phase_wait + own_load,
              "may be behind an mbarrier.inval");
}

TEST(KernelRaces, AnMbarrierHasOnePhase) {
  auto const open = [](std::string const& more, std::string const& reason, std::string of = init) {
    expect_open(first_thread + of + issued(more) + phase_wait + own_load, reason);
  };
  open(expect + bulk + bulk, "bulk copies bring more bytes than are expected");
  open(expect + expect + bulk, "a thread arrives again at an mbarrier that no other one is paired with");
  // Its phase is never complete: no thread goes on.
  expect_free(first_thread + "mbarrier.init.shared::cta.b64 [%r2+4096], 2;\nS: bar.sync 0;\n" +
              issued(expect + bulk) + phase_wait + own_load);
  open(expect + bulk, "mbarrier.init", "mbarrier.init.shared::cta.b64 [%r2+4096], 1;\nS:\n");
  open(expect + bulk, "not one mbarrier.init", "S: bar.sync 0;\n");
  expect_open(first_thread + "S: bar.sync 0;\n" + issued(expect + bulk) + phase_wait,
              "not one mbarrier.init");
  expect_open(first_thread + init + expect + bulk + phase_wait + own_load,
              "64 threads may arrive at an mbarrier");
  expect_open(first_thread + init + issued(expect + bulk) +
                  "V: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+4096], 1;\n@!%p2 bra V;\n" +
                  own_load,
              "two threads may access one byte");
  expect_open(first_thread + init + looped("", "\n" + issued(expect + bulk) + phase_wait + "bar.sync 0;\n"),
              "a thread arrives again at an mbarrier that no other one is paired with");
}

TEST(KernelRaces, WritesNeedAProxyFenceBeforeABulkCopy) {
  std::string const rest = issued(expect + bulk) + phase_wait + own_load;
  expect_open(fill + first_thread + init + rest, "no fence.proxy.async");
  expect_free(fill + fence + first_thread + init + rest);
  expect_free(fill + first_thread + init + fence + rest);
}

TEST(KernelRaces, StagesOfALoopAreTakenTogether) {
  // Reads one of two buffers and copies to the other; the numbers of both are registers of their own.
  std::string const
      at = "shl.b32 %r9, %r10, 11; add.u32 %r9, %r9, %r5; ld.shared.u32 %r6, [%r9]; shl.b32 %r9, %r11, 11; "
           "add.u32 %r9, %r9, %r4; st.shared.u32 [%r9], %r1; bar.sync 0; ",
      next = "xor.b32 %r10, %r10, 1; setp.eq.u32 %p1, %r11, 1; selp.b32 %r11, 0, 1, %p1;";
  expect_free(looped("mov.u32 %r10, 0; mov.u32 %r11, 1;", at + next));
  expect_race(looped("mov.u32 %r10, 0; mov.u32 %r11, 0;", at + next));
}

TEST(KernelRaces, ALoopCopiesAhead) {
  auto const pipeline = [](std::string const& wait, std::string const& behind) {
    std::string const
        to = "and.b32 %r7, %r6, 1; shl.b32 %r7, %r7, 10; add.u32 %r7, %r7, %r4; ",
        from = "xor.b32 %r7, %r6, 1; and.b32 %r7, %r7, 1; shl.b32 %r7, %r7, 10; add.u32 %r7, %r7, %r5; ";
    return copy + "cp.async.commit_group; mov.u32 %r6, 1;\nL: " + to +
           "cp.async.ca.shared.global [%r7], [%rd1], 4; cp.async.commit_group; " + wait + " bar.sync 0; " +
           from + "ld.shared.u32 %r8, [%r7]; " + behind +
           " add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r3; @%p1 bra L;";
  };
  KernelOptions options;
  options.block = {{128, 1, 1}};
  auto const of = [&](std::string const& wait, std::string const& behind) {
    return races_of(pipeline(wait, behind), options).verdict;
  };
  EXPECT_EQ(of("cp.async.wait_group 1;", "bar.sync 0;"), RaceVerdict::proved);
  EXPECT_EQ(of("cp.async.wait_group 2;", "bar.sync 0;"), RaceVerdict::refuted);
  EXPECT_EQ(of("cp.async.wait_group 1;", ""), RaceVerdict::refuted);
}

TEST(KernelRaces, AThreadThatEndsBehindItsWaitIsOrderedWithNone) {
  std::string const leaves = "setp.ge.u32 %p1, %r1, %r3; @%p1 ret; ";
  expect_open(copy + "bar.sync 0; cp.async.wait_all; " + leaves + "bar.sync 0; ld.shared.u32 %r6, [%r5];",
              "a thread may end");
}

TEST(KernelRaces, ARaceInOtherParametersIsFound) {
  expect_race("setp.ne.u32 %p1, %r3, 12345; @%p1 ret; st.shared.u32 [%r2], %r1;", RaceKind::lost_store);
  KernelOptions options;
  options.params["n"] = {5};
  EXPECT_EQ(races_of("setp.ne.u32 %p1, %r3, 12345; @%p1 ret; st.shared.u32 [%r2], %r1;", options).verdict,
            RaceVerdict::proved);
}

// All threads store the word that they load from one place: of one value in each launch, and no execution shows two.
TEST(KernelRaces, AnAtomicGivesNumbersInTheOrderOfTheThreads) {
  std::string const indexed = "shl.b32 %r7, %r6, 2; add.u32 %r7, %r7, %r2; st.shared.u32 [%r7+4], %r1;",
                    none = "mov.u32 %r8, 0; atom.shared.add.u32 %r6, [%r2], %r8; ";
  expect_race(none + indexed, RaceKind::lost_store);
  expect_open("atom.shared.add.u32 %r6, [%r2], 1; " + indexed, "two threads may access one byte");
}

/// %r7 is a loaded number of each thread.
std::string const loaded =
    "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;\nld.global.u32 %r7, "
    "[%rd1]; ";

/// Loaded numbers that the first race needs, in the order of their threads.
std::vector<std::uint64_t> data_of(std::string const& body, KernelOptions options = {}) {
  KernelRaces const races = races_of(body, std::move(options));
  EXPECT_EQ(races.verdict, RaceVerdict::refuted) << body;
  std::vector<std::uint64_t> values;
  if (races.races.empty()) return values;
  for (RaceData const& d : races.races.front().data) values.push_back(d.value);
  return values;
}
using Loads = std::vector<std::uint64_t>;
std::string const at_the_number = "shl.b32 %r8, %r7, 2; and.b32 %r8, %r8, 1020; add.u32 %r8, %r8, %r2; ",
                  store_there = "st.shared.u32 [%r8], %r1;";

TEST(KernelRaces, AnIndexThatIsLoadedRacesForSomeData) {
  KernelRaces const races = races_of(loaded + at_the_number + store_there);
  ASSERT_EQ(races.verdict, RaceVerdict::refuted);
  Race const& race = races.races.front();
  ASSERT_EQ(race.data.size(), 2U);
  EXPECT_EQ(race.data[0].value, race.data[1].value);
  EXPECT_EQ(race.data[0].load.op, "ld.global.u32");
  EXPECT_EQ(race.data[0].load.thread, race.first.thread);
  EXPECT_EQ(race.data[1].load.thread, race.second.thread);
  EXPECT_EQ(race.data[1].address, "g+4");
  EXPECT_FALSE(race.more_data);
  // The number itself is no part of the address.
  EXPECT_EQ(data_of(loaded + "st.shared.u32 [%r2], %r7;"), Loads{});
}

TEST(KernelRaces, AGuardThatIsLoadedRacesForSomeData) {
  std::string const zero = loaded + "setp.eq.u32 %p1, %r7, 0; ";
  EXPECT_EQ(data_of(zero + "@%p1 st.shared.u32 [%r2], %r1;"), (Loads{0, 0}));
  EXPECT_EQ(data_of(zero + "@!%p1 bra L; st.shared.u32 [%r2], %r1; L:"), (Loads{0, 0}));
  // A register that one side of a branch writes depends on it, also behind the other side.
  std::string const two = "mov.u32 %r8, %r2; @%p1 bra L; mov.u32 %r8, %r4; L: ";
  EXPECT_EQ(data_of(zero + two + store_there), (Loads{0, 0}));
  // Behind it nothing else does.
  EXPECT_EQ(data_of(zero + two + "st.shared.u32 [%r2], %r1;"), Loads{});
  // But for a barrier on one side, and behind a thread that may have ended.
  std::string const uniform = "ld.param.u64 %rd1, [g]; ld.global.u32 %r7, [%rd1]; setp.eq.u32 %p1, %r7, 0; ";
  EXPECT_EQ(data_of(uniform + "@!%p1 bra L; bar.sync 0; L: st.shared.u32 [%r2], %r1;"), Loads{0});
  EXPECT_EQ(data_of(zero + "@!%p1 ret; st.shared.u32 [%r2], %r1;"), (Loads{0, 0}));
  // Threads that load nothing meet others at a barrier, which loaded numbers lead there.
  EXPECT_FALSE(data_of("setp.ge.u32 %p2, %r1, 32; @%p2 bra B; " + loaded +
                       "setp.ne.u32 %p1, %r7, 0; @%p1 ret; B: bar.sync 0; @%p2 st.shared.u32 [%r2], %r1;")
                   .empty());
}

TEST(KernelRaces, AnIndexFarFromItsPointerIsNoParameter) {
  for (std::string const space : {".global", ""})
    for (std::string const far :
         {"0x7f00000000000000", "0x0000040200000000", "0x0000040200100000", "0x0000040200200000"}) {
      KernelRaces const races =
          expect_race("ld.param.u64 %rd1, [g]; xor.b64 %rd2, %rd1, " + far + "; ld" + space +
                      ".u32 %r6, [%rd2]; st.shared.u32 [%r4], %r6; ld.shared.u32 %r7, [%r5];");
      ASSERT_FALSE(races.races.empty());
      EXPECT_EQ(races.races[0].params.size(), 1U) << space << far;  // n
    }
}

TEST(KernelRaces, ANumberFromSharedMemoryIsDataIfItIsNotWritten) {
  std::string const load =
      " bar.sync 0; ld.shared.u32 %r7, [%r4]; bar.sync 0; " + at_the_number + store_there;
  EXPECT_EQ(data_of("mov.u32 %r6, 5; st.shared.u32 [%r4], %r6;" + load), Loads{});
  EXPECT_EQ(data_of(load), (Loads{0, 0}));
  EXPECT_EQ(data_of(loaded + "st.shared.u32 [%r4], %r7;" + load), (Loads{0, 0}));
  // A store that a loaded number decides may be the one that is loaded.
  std::string const five = "mov.u32 %r6, 5; st.shared.u32 [%r4], %r6; ";
  EXPECT_FALSE(
      data_of(loaded + five + "setp.eq.u32 %p1, %r7, 7; @%p1 st.shared.u32 [%r4], %r1;" + load).empty());
  EXPECT_FALSE(
      data_of(loaded + five + "setp.ne.u32 %p1, %r7, 7; @%p1 bra L; st.shared.u32 [%r4], %r1; L:" + load)
          .empty());
}

TEST(KernelRaces, ThatNeedNoDataComeFirst) {
  KernelRaces const races =
      races_of(loaded + at_the_number + store_there + "\nbar.sync 0; st.shared.u32 [%r2+4096], %r1;");
  ASSERT_EQ(races.races.size(), 2U);
  EXPECT_TRUE(races.races[0].data.empty());
  EXPECT_FALSE(races.races[1].data.empty());
  // In another launch.
  EXPECT_EQ(data_of(loaded + at_the_number + store_there +
                    "\nbar.sync 0; setp.ne.u32 %p2, %r3, 1024; @%p2 ret; st.shared.u32 [%r2+4096], %r1;"),
            Loads{});
}

TEST(KernelRaces, OfDifferentValuesNeedTheirData) {
  KernelOptions accepted;
  accepted.same_values = true;
  Loads const two = data_of(loaded + "st.shared.u32 [%r2], %r7;", accepted);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_NE(two[0], two[1]);
}

TEST(KernelRaces, ProxiesMayBeLeftOut) {
  KernelOptions off;
  off.proxies = false;
  std::string const rest = issued(expect + bulk) + phase_wait + own_load;
  KernelRaces const races = races_of(fill + first_thread + init + rest, off);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << races.reason;
  EXPECT_TRUE(std::any_of(races.assumed.begin(), races.assumed.end(),
                          [](std::string const& a) { return a.find("--proxy off") != std::string::npos; }));
}

TEST(KernelRaces, ABarrierOfAPartOrdersNoOtherThreads) {
  std::string const part = "setp.ge.u32 %p1, %r1, 32; @%p1 bra S; bar.sync 1, 32;\nS: ";
  expect_free("st.shared.u32 [%r4], %r1; bar.sync 0; " + part + "ld.shared.u32 %r6, [%r5];");
  expect_open("st.shared.u32 [%r4], %r1; " + part + "ld.shared.u32 %r6, [%r5];",
              "two threads may access one byte");
  expect_open("st.shared.u32 [%r4], %r1; bar.sync 1; " + part + "ld.shared.u32 %r6, [%r5];",
              "a barrier of a part of the block");
}

TEST(KernelRaces, VolatileAccessesAreNoDataRace) {
  expect_race("st.shared.u32 [%r2], %r1;", RaceKind::lost_store);
  expect_open("st.volatile.shared.u32 [%r2], %r1;", "two threads may access one byte");
}

TEST(KernelRaces, AProofListsWhatItAssumes) {
  std::string const own = "st.shared.u32 [%r4], %r1;";
  std::vector<std::string> assumed{"each access stays in its array",
                                   "arrays lie where devices were measured to place them (H18)"};
  EXPECT_EQ(races_of(own).assumed, assumed);
  assumed.emplace_back("barriers do not wait for threads that have ended");
  EXPECT_EQ(races_of("setp.gt.u32 %p1, %r1, 7; @%p1 ret; " + own + " bar.sync 0; ld.shared.u32 %r6, [%r4];")
                .assumed,
            assumed);
}

TEST(KernelRaces, AnMbarrierIsNotWritten) {
  std::string const first =
                        "mov.u32 %r6, 0; cvt.u64.u32 %rd3, %r6; setp.eq.u32 %p1, %r1, 0;\n@%p1 "
                        "mbarrier.init.shared.b64 [%r2], "
                        "64;\nbar.sync 0;\n@%p1 ",
                    behind = "\nbar.sync 0;\nmbarrier.arrive.shared.b64 %rd4, [%r2];\n";
  for (std::string const write : {"st.shared.u64 [%r2], %rd3;", "st.shared.u8 [%r2+7], %r6;",
                                  "atom.shared.exch.b32 %r7, [%r2+4], %r6;"})
    expect_open(first + write + behind, "writes an mbarrier");
  expect_free(first + "st.shared.u64 [%r2+8], %rd3;" + behind);
  expect_free(first + "ld.shared.u32 %r7, [%r2+8];" + behind);
}

TEST(KernelRaces, ACopyOrAnMbarrierThatLeavesItsArrayIsNotProved) {
  auto const init = [](std::string const& at) {
    return "setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [" + at + "], 1; ";
  };
  auto const copied = [&](std::string const& bytes) {
    return init("%r2") + "bar.sync 0; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], " + bytes +
           "; ld.param.u64 %rd1, [g]; @%p1 "
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+7168], [%rd1], " +
           bytes + ", [%r2];\nW: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra W;";
  };
  expect_free(init("%r2+8184"));
  expect_open(init("%r2+8188"), "mbarrier.init.shared.b64 leaves its array");
  expect_open(init("%r2+8192"), "leaves its array");
  expect_free(copied("1024"));
  expect_open(copied("1040"), "complete_tx::bytes leaves its array");
}

// Threads 1022 and 1023 meet, which blocks of 1024 threads alone have.
TEST(KernelRaces, ABlockHasAtMost1024Threads) {
  KernelRaces const races = report_of_any("setp.lt.u32 %p1, %r1, 1022; @%p1 ret; st.shared.u32 [%r2], %r1;");
  ASSERT_EQ(races.verdict, RaceVerdict::refuted) << races.reason;
  EXPECT_EQ(races.races.at(0).block[0], 1024U);
}

TEST(KernelRaces, AGridHasNoOtherBlocks) {
  std::string const fifth = "mov.u32 %r6, %ctaid.x; setp.eq.u32 %p1, %r6, 5; @%p1 st.shared.u32 [%r2], %r1;";
  KernelOptions options;
  options.grid = {{5, 1, 1}};
  EXPECT_EQ(races_of(fifth, options).verdict, RaceVerdict::proved);
  options.grid = {{6, 1, 1}};
  KernelRaces const races = races_of(fifth, options);
  EXPECT_EQ(races.verdict, RaceVerdict::refuted) << races.reason;
  std::string const blocks =
      "mov.u32 %r6, %nctaid.x; setp.ne.u32 %p1, %r6, 6; @%p1 st.shared.u32 [%r2], %r1;";
  EXPECT_EQ(races_of(blocks, options).verdict, RaceVerdict::proved);
  EXPECT_EQ(races_of(blocks).verdict, RaceVerdict::refuted);
}

// Thread 0 stores its word over the one that thread 1 loads, in one order before it does.
TEST(KernelRaces, WhatARaceGivesIsOfNoKnownValue) {
  KernelRaces const races =
      races_of("ld.shared.u32 %r6, [%r4];\nst.shared.u32 [%r2+4], %r6;", {.block = {{2, 1, 1}}});
  ASSERT_EQ(races.races.size(), 2U);
  for (Race const& r : races.races) EXPECT_EQ(r.kind, RaceKind::race) << r.second.ptx_line;
  expect_race("ld.shared.u32 %r6, [%r2+256]; st.shared.u32 [%r2+4], %r6;", RaceKind::same_value);
}

// Two that overlap, but not completely, are no morally strong operations [PTX ISA 9.1, 8.7.2].
TEST(KernelRaces, AtomicsOfTwoSizesRace) {
  auto const verdict = [](std::string const& first, std::string const& second) {
    return races_of("mov.u32 %r6, 0; cvt.u64.u32 %rd3, %r6; setp.eq.u32 %p1, %r1, 0;\n@%p1 " + first +
                        "\n@!%p1 " + second,
                    {.block = {{2, 1, 1}}})
        .verdict;
  };
  std::string const wide = "red.shared.add.u64 [%r2], %rd3;", half = "red.shared.add.noftz.f16x2 [%r2], %r6;";
  EXPECT_EQ(verdict(wide, "red.shared.add.u32 [%r2+4], %r6;"), RaceVerdict::refuted);
  EXPECT_EQ(verdict(wide, "red.shared.add.u32 [%r2+8], %r6;"), RaceVerdict::proved);
  EXPECT_EQ(verdict(wide, "atom.shared.exch.b64 %rd4, [%r2], %rd3;"), RaceVerdict::proved);
  EXPECT_EQ(verdict(half, "red.shared.add.u32 [%r2], %r6;"), RaceVerdict::refuted)
      << "two scalars, one after the other";
  EXPECT_EQ(verdict(half, "red.shared.add.noftz.bf16x2 [%r2], %r6;"), RaceVerdict::proved);
  std::string const arrives =
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [%r2], 2;\nbar.sync "
      "0;\nmbarrier.arrive.shared.b64 "
      "%rd4, [%r2];\n";
  EXPECT_EQ(races_of(arrives).verdict, RaceVerdict::proved);
  expect_open(arrives + "and.b32 %r7, %r3, 8; add.u32 %r7, %r7, %r2; red.shared.add.u64 [%r7], %rd4;",
              "may access one byte");
}

}  // namespace
}  // namespace swizproof
