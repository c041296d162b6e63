#include "kernel_case.hpp"

#include <algorithm>
#include <array>

namespace swizproof {
namespace {

KernelRaces races_in_block(std::string const& body, unsigned threads, bool proxies = true) {
  KernelOptions options;
  options.races = true, options.proxies = proxies;
  options.block = {{threads, 1, 1}};
  return report_of(body, std::move(options)).races.value();
}
void expect_races(std::string const& body, RaceVerdict verdict, unsigned threads = 128) {
  KernelRaces const races = races_in_block(body, threads, false);
  EXPECT_EQ(races.verdict, verdict) << body << ": " << races.reason;
}

/// %r4: the thread's own word; %r5: that of a thread of the next warp or the one before.
std::string const own = "shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; xor.b32 %r5, %r4, 128;\n",
                  store = "st.shared.u32 [%r4], %r1;\n", read = "ld.shared.u32 %r6, [%r5];\n";

/// The last warps of the block store, meet and read.
std::string from_thread(unsigned first, std::string const& part) {
  return own + "setp.lt.u32 %p1, %r1, " + std::to_string(first) + "; @%p1 bra E;\n" + part + "E:\n";
}

TEST(KernelRaces, AThreadThatHasEndedIsNotCountedByABarrier) {
  auto const behind = [](std::string const& barrier) {
    return "setp.ge.u32 %p1, %r1, 64; @%p1 bra E;\n" + barrier + "\nst.shared.u32 [%r2], %r1;\nE:\n";
  };
  expect_races(behind("bar.sync 1;"), RaceVerdict::refuted);
  expect_races(behind("bar.sync 1, 128;"), RaceVerdict::unknown);
  expect_races(behind("barrier.red.popc.u32 %r6, 1, 128, %p1;"), RaceVerdict::unknown);
}

TEST(KernelRaces, ABarrierOfSomeWarpsHoldsThem) {
  auto const meet = [](std::string const& barrier) { return store + barrier + read; };
  expect_races(from_thread(64, meet("bar.sync 1, 64;\n")), RaceVerdict::proved);
  expect_races(from_thread(64, meet("barrier.sync 1, 64;\n")), RaceVerdict::proved);
  // More or fewer threads than come to it, bar.arrive, a guard, a number that another barrier has, two numbers.
  expect_races(from_thread(64, meet("bar.sync 1, 32;\n")), RaceVerdict::unknown);
  expect_races(from_thread(0, meet("bar.sync 1, 64;\n")), RaceVerdict::unknown);
  expect_races(from_thread(64, meet("bar.arrive 1, 64;\n")), RaceVerdict::unknown);
  expect_races(from_thread(64, "setp.eq.u32 %p2, %r3, 0;\n" + meet("@%p2 bar.sync 1, 64;\n")),
               RaceVerdict::unknown);
  expect_races(from_thread(64, meet("bar.sync 1, 64;\n")) + "bar.sync 1;\n", RaceVerdict::unknown);
  expect_races(from_thread(64, meet("bar.sync 1, 64;\n")) +
                   "setp.lt.u32 %p1, %r1, 64; @!%p1 bra F;\nbar.sync 1, 64;\nF:\n",
               RaceVerdict::unknown);
  // The read is by other warps, too.
  expect_races(own + "setp.lt.u32 %p1, %r1, 64; @%p1 bra E;\n" + store + "bar.sync 1, 64;\nE:\n" + read,
               RaceVerdict::unknown);
  // Another warp reads what the group stores.
  expect_races(own + "xor.b32 %r7, %r4, 256; setp.lt.u32 %p1, %r1, 64; @%p1 bra L;\n" +
                   meet("bar.sync 1, 64;\n") + "bra E;\nL: ld.shared.u32 %r6, [%r7];\nE:\n",
               RaceVerdict::unknown);
  // Two groups, and the block behind them.
  expect_races(own + "setp.lt.u32 %p1, %r1, 64; @%p1 bra L;\n" + meet("bar.sync 1, 64;\n") + "bra E;\nL:\n" +
                   meet("bar.sync 2, 64;\n") + "E: bar.sync 0;\nxor.b32 %r5, %r5, 256;\n" + read,
               RaceVerdict::proved);
}

// Some threads of the group do not come to the barrier in each iteration, or not at all.
TEST(KernelRaces, ABarrierOfSomeWarpsIsPassedByAllOfThem) {
  auto const loop = [](std::string const& limit, std::string const& behind) {
    return from_thread(64, "mov.u32 %r10, 0;\nL:\n" + store + "bar.sync 1, 64;\n" + read +
                               "bar.sync 1, 64;\nadd.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, " + limit +
                               "; @%p2 bra L;\n" + behind);
  };
  expect_races(loop("%r3", ""), RaceVerdict::proved);
  expect_races(loop("%r1", read), RaceVerdict::unknown);
  expect_races(from_thread(64, store + "setp.lt.u32 %p2, %r1, %r3; @%p2 bra E;\nbar.sync 1, 64;\n" + read),
               RaceVerdict::unknown);
  // Warps 2 and 3 take different ways to one barrier, each in the same way in all their threads.
  std::string const two = store + "setp.lt.u32 %p2, %r1, 96; @%p2 bra M;\nbar.sync 1, 64;\n" + read +
                          "bra E;\nM:\nbar.sync 1, 64;\n" + read;
  expect_races(from_thread(64, two), RaceVerdict::unknown);
}

// A barrier of more warps holds those of a group.
TEST(KernelRaces, ABarrierOfMoreWarpsHoldsAGroup) {
  // Warps 2 and 3 store, warp 1 reads what warp 2 stores; then warps 2 and 3 store again, and read.
  auto const kernel = [&](std::string const& barrier) {
    return own + "xor.b32 %r7, %r4, 384; setp.lt.u32 %p1, %r1, 32; @%p1 bra E;\nsetp.lt.u32 %p3, %r1, 64; " +
           "@%p3 bra O;\n" + store + "O:\nbar.sync 1, 96;\n@!%p3 bra P;\nld.shared.u32 %r6, [%r7];\nP:\n" +
           barrier + "@%p3 bra E;\n" + store + "bar.sync 2, 64;\n" + read +
           "E:\nld.shared.u32 %r6, [%r2+4096];\n";
  };
  expect_races(kernel("bar.sync 1, 96;\n"), RaceVerdict::proved);
  expect_races(kernel(""), RaceVerdict::unknown);
}

// The number of a warp comes from its first lane, and is part of an address.
TEST(KernelRaces, AnAddressHasWhatTheFirstLaneGives) {
  auto const kernel = [](std::string const& given, std::string const& lane) {
    return given + "shfl.sync.idx.b32 %r6, %r5, " + lane +
           ", 31, -1;\nand.b32 %r7, %r1, 31; shl.b32 %r6, %r6, 5; add.u32 %r6, %r6, %r7; shl.b32 %r6, %r6, "
           "2; "
           "add.u32 %r6, %r6, %r2;\nst.shared.u32 [%r6], %r1;\n";
  };
  std::string const warp = "shr.u32 %r5, %r1, 5; ";
  expect_races(kernel(warp, "0"), RaceVerdict::proved);
  expect_races(kernel("shr.u32 %r5, %r1, 6; ", "0"), RaceVerdict::refuted);
  expect_races(kernel(warp, "%r3"), RaceVerdict::unknown);
  expect_races(kernel("mov.u32 %r5, 0; ", "0"), RaceVerdict::refuted);
  expect_races(
      "shfl.sync.idx.b32 %r6, %r1, 0, 31, -1;\nshl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r2; st.shared.u32 "
      "[%r6], %r1;\n",
      RaceVerdict::refuted);
}

// The thread that copies waits: other threads come to neither.
TEST(KernelRaces, AWaitUnderTheConditionOfItsCopy) {
  auto const kernel = [](std::string const& copies, std::string const& waits) {
    return own + store + "bar.sync 0;\nsetp" + copies +
           " @%p1 bra L;\nld.param.u64 %rd1, [g];\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], "
           "512;\ncp.async.bulk.commit_group;\nL:\nsetp" +
           waits + " @%p2 bra M;\ncp.async.bulk.wait_group.read 0;\nM: bar.sync 0;\n" + store;
  };
  expect_races(kernel(".ne.u32 %p1, %r1, 0;", ".ne.u32 %p2, %r1, 0;"), RaceVerdict::proved);
  expect_races(kernel(".ne.u32 %p1, %r1, 0;", ".ne.u32 %p2, %r1, 1;"), RaceVerdict::unknown);
  expect_races(kernel(".ne.u32 %p1, %r1, 0;", ".eq.u32 %p2, %r1, 0;"), RaceVerdict::unknown);
  expect_races(kernel(".ne.u32 %p1, %r1, 0;", ".eq.u32 %p2, %r3, 0;"), RaceVerdict::unknown);
}

}  // namespace
}  // namespace swizproof
