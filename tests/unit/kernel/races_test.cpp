#include "kernel_case.hpp"

namespace swizproof {
namespace {

/// %r4 is the address of the thread's own word, %r5 that of its neighbour's.
std::string const addresses = "shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; add.u32 %r5, %r4, 4;\n";

KernelRaces races_of(std::string const& body, KernelOptions options = {}) {
  options.races = true;
  return report_of(addresses + body, std::move(options)).races.value();
}
void expect_free(std::string const& body) {
  KernelRaces const races = races_of(body);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << body << ": " << races.reason;
}
KernelRaces expect_race(std::string const& body, RaceKind kind = RaceKind::read_write) {
  KernelRaces const races = races_of(body);
  EXPECT_EQ(races.verdict, RaceVerdict::refuted) << body << ": " << races.reason;
  if (!races.races.empty()) EXPECT_EQ(races.races.front().kind, kind) << body;
  return races;
}
void expect_open(std::string const& body, std::string const& reason) {
  KernelRaces const races = races_of(body);
  EXPECT_EQ(races.verdict, RaceVerdict::unknown) << body;
  EXPECT_NE(races.reason.find(reason), std::string::npos) << races.reason;
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
}

TEST(KernelRaces, WhatIsNotModelledIsUndecided) {
  expect_open("ld.param.u64 %rd1, [g]; cp.async.ca.shared.global [%r4], [%rd1], 4; ld.shared.u32 %r6, [%r5];",
              "cp.async");
  expect_open("bar.sync 1, 32; st.shared.u32 [%r4], %r1; bar.sync 1, 32; ld.shared.u32 %r6, [%r5];",
              "part of the block");
  expect_open(
      "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; and.b32 %r6, %r6, 255; add.u32 %r6, %r6, %r1; "
      "mbarrier.init.shared.b64 [%r4], 1;",
      "mbarrier");
}

TEST(KernelRaces, ARaceInOtherParametersIsFound) {
  expect_race("setp.ne.u32 %p1, %r3, 12345; @%p1 ret; st.shared.u32 [%r2], %r1;", RaceKind::lost_store);
  KernelOptions options;
  options.params["n"] = {5};
  EXPECT_EQ(races_of("setp.ne.u32 %p1, %r3, 12345; @%p1 ret; st.shared.u32 [%r2], %r1;", options).verdict,
            RaceVerdict::proved);
}

// All threads store the word that they load from one place: of one value in each launch, and no execution shows two.
TEST(KernelRaces, StoresOfLoadedValuesMayBeOfOneValue) {
  KernelOptions accepted;
  accepted.same_values = true;
  std::string const loads = "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1];",
                    stores = " st.shared.u32 [%r2], %r6;";
  expect_race(loads + stores, RaceKind::lost_store);
  EXPECT_EQ(races_of(loads + stores, accepted).verdict, RaceVerdict::unknown);
  EXPECT_EQ(races_of("mov.u32 %r6, %r1;" + stores, accepted).verdict, RaceVerdict::refuted);
}

TEST(KernelRaces, VolatileAccessesAreNoDataRace) {
  expect_race("st.shared.u32 [%r2], %r1;", RaceKind::lost_store);
  expect_open("st.volatile.shared.u32 [%r2], %r1;", "two threads may access one byte");
}

TEST(KernelRaces, AProofListsWhatItAssumes) {
  std::string const own = "st.shared.u32 [%r4], %r1;";
  std::vector<std::string> assumed{"each access stays in its array", "arrays lie where H18 has them"};
  EXPECT_EQ(races_of(own).assumed, assumed);
  assumed.emplace_back("barriers do not wait for threads that have ended");
  EXPECT_EQ(races_of("setp.gt.u32 %p1, %r1, 7; @%p1 ret; " + own + " bar.sync 0; ld.shared.u32 %r6, [%r4];")
                .assumed,
            assumed);
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

}  // namespace
}  // namespace swizproof
