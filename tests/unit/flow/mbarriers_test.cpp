// Mbarriers: memory, counts, phases and parities.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// The mbarrier is at tile + 2048.
std::string const init = only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 64;\n"),
                  arrive = "mbarrier.arrive.shared.b64 %rd9, [%r2+2048];\n", sync = "bar.sync 0;\n";
std::string wait(unsigned parity, std::string const& label, std::string const& sem = "") {
  return fmt::format("{0}: mbarrier.try_wait.parity{2}.shared.b64 %p2, [%r2+2048], {1};\n@!%p2 bra {0};\n",
                     label, parity, sem);
}
std::string kind_by_barriers(std::string const& body) { return Case{body}.kind(); }

TEST(Mbarriers, OrderWhatIsBeforeTheArrival) {
  EXPECT_EQ(kind_by_barriers(init + sync + in + arrive + wait(0, "$W") + neighbour(33) + store), "proved");
  EXPECT_EQ(kind_by_barriers(init + sync + load + arrive + "st.shared.f32 [%r3], %f1;\n" + wait(0, "$W") +
                             neighbour(33) + store),
            "race");
}

TEST(Mbarriers, OrderNothingWhereTheyAreRelaxed) {
  std::string const relaxed = "mbarrier.arrive.relaxed.cta.shared.b64 %rd9, [%r2+2048];\n";
  EXPECT_EQ(kind_by_barriers(init + sync + in + relaxed + wait(0, "$W") + neighbour(33) + store), "race");
  EXPECT_EQ(
      kind_by_barriers(init + sync + in + arrive + wait(0, "$W", ".relaxed.cta") + neighbour(33) + store),
      "race");
  // but with fences: release and acquire patterns
  std::string const fence = "fence.acq_rel.cta;\n";
  EXPECT_EQ(kind_by_barriers(init + sync + in + fence + relaxed + wait(0, "$W") + neighbour(33) + store),
            "proved");
  EXPECT_EQ(kind_by_barriers(init + sync + in + relaxed + fence + wait(0, "$W") + neighbour(33) + store),
            "race");
  EXPECT_EQ(kind_by_barriers(init + sync + in + arrive + wait(0, "$W", ".relaxed.cta") + fence +
                             neighbour(33) + store),
            "proved");
  EXPECT_EQ(kind_by_barriers(init + sync + in + arrive + fence + wait(0, "$W", ".relaxed.cta") +
                             neighbour(33) + store),
            "race");
  EXPECT_EQ(kind_by_barriers(init + sync + in + relaxed + fence + wait(0, "$W", ".relaxed.cta") + fence +
                             neighbour(33) + store),
            "race");
  // no memory is shared: the phases are in order all the same
  EXPECT_EQ(kind_by_barriers(init + sync + relaxed + wait(0, "$W") + relaxed + wait(1, "$V")), "proved");
}

// PTX ISA, Memory Consistency Model: a release pattern has fence.release, .acq_rel or .sc, an acquire pattern .acquire, .acq_rel or .sc.
TEST(Mbarriers, AreOrderedByFencesOfOneDirection) {
  std::string const relaxed = "mbarrier.arrive.relaxed.cta.shared.b64 %rd9, [%r2+2048];\n",
                    release = "fence.release.cta;\n", acquire = "fence.acquire.cta;\n";
  auto const kind = [&](std::string const& before, std::string const& behind) {
    return kind_by_barriers(init + sync + in + before + relaxed + wait(0, "$W", ".relaxed.cta") + behind +
                            neighbour(33) + store);
  };
  EXPECT_EQ(kind(release, acquire), "proved");
  EXPECT_EQ(kind("fence.sc.cta;\n", "membar.cta;\n"), "proved");
  EXPECT_EQ(kind(acquire, acquire), "race");
  EXPECT_EQ(kind(release, release), "race");
  EXPECT_EQ(kind(release + acquire, release + acquire), "proved") << "the other one does not undo it";
}

// PTX ISA, fence: with .sync_restrict its effect only applies to operations on shared memory.
TEST(Mbarriers, AreOrderedByFencesOfSharedMemory) {
  std::string const relaxed = "mbarrier.arrive.relaxed.cta.shared.b64 %rd9, [%r2+2048];\n",
                    release = "fence.release.sync_restrict::shared::cta.cluster;\n",
                    acquire = "fence.acquire.sync_restrict::shared::cluster.cluster;\n",
                    other = "xor.b64 %rd7, %rd3, 128;\nld.global.f32 %f3, [%rd7];\n";
  auto const answer = [&](std::string const& give, std::string const& take) {
    return Case{init + sync + give + release + relaxed + wait(0, "$W", ".relaxed.cta") + acquire + take}
        .answer();
  };
  EXPECT_EQ(answer(in, neighbour(33) + store), "proved");
  EXPECT_EQ(answer("mov.f32 %f2, 0f40A00000;\n" + store, other),
            "unknown: thread 32 accesses c[0], which thread 0 has accessed: a fence with .sync_restrict, "
            "which orders shared memory alone, may be what orders them");
}

TEST(Mbarriers, WaitForTheMembersOfElect) {
  // one lane arrives for its warp: the others have left their wait before
  std::string const one = only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 1;\n") + "bar.sync 0;\n";
  auto const phases = [&](std::string const& chosen) {
    std::string body = one;
    for (unsigned phase = 0; phase < 2; ++phase)
      body += chosen + fmt::format("@!%p7 bra $E{0};\n{1}$E{0}:\n", phase, arrive) +
              wait(phase, fmt::format("$W{}", phase));
    return Case{body, "f32[32]", "f32[32]", {}, 32}.kind();
  };
  EXPECT_EQ(phases("elect.sync %r9|%p7, -1;\n"), "proved");
  EXPECT_NE(phases("setp.eq.u32 %p7, %r1, 0;\n"), "proved");
  EXPECT_EQ(phases("bar.warp.sync -1;\nsetp.eq.u32 %p7, %r1, 0;\n"), "proved");
  // it orders no memory
  EXPECT_EQ(
      (Case{in + "elect.sync %r9|%p7, -1;\n" + neighbour(1) + store, "f32[32]", "f32[32]", {}, 32}.kind()),
      "race");
}

TEST(Mbarriers, AreMemory) {
  EXPECT_EQ(kind_by_barriers(init + in + arrive + wait(0, "$W")),
            "race");                                              // init and arrivals without a barrier
  EXPECT_EQ(kind_by_barriers(arrive + wait(0, "$W")), "misuse");  // never initialised
  EXPECT_EQ(kind_by_barriers(only_warp(1, "$L",
                                       "setp.ne.u32 %p7, %r1, 63;\n@%p7 bra $L;\n"
                                       "mbarrier.init.shared.b64 [%r2+2048], 64;\n") +
                             arrive + wait(0, "$W")),
            "misuse");  // initialised by the last warp
  EXPECT_EQ(kind_by_barriers(init + sync + "st.shared.f32 [%r2+2052], 0f00000000;\n"), "misuse");
  EXPECT_EQ(kind_by_barriers(init + sync + "ld.shared.f32 %f1, [%r2+2052];\n"), "misuse");
  EXPECT_EQ(kind_by_barriers(only_first("$I", "mbarrier.init.shared.b64 [%r2+516], 64;\n")), "misaligned");
  EXPECT_EQ(kind_by_barriers(init + sync + arrive + wait(0, "$W") +
                             only_first("$J", "mbarrier.init.shared.b64 [%r2+2048], 64;\n")),
            "misuse");  // again without inval
}

TEST(Mbarriers, AreMemoryAgainBehindInval) {
  std::string const inval = only_first("$K", "mbarrier.inval.shared.b64 [%r2+2048];\n"),
                    again = only_first("$J", "mbarrier.init.shared.b64 [%r2+2048], 64;\n");
  EXPECT_EQ(kind_by_barriers(init + sync + arrive + wait(0, "$W") + sync + inval + again + sync + arrive +
                             wait(0, "$V")),
            "proved");
  EXPECT_EQ(kind_by_barriers(init + sync + arrive + wait(0, "$W") + inval), "race");  // others may still wait
  EXPECT_EQ(kind_by_barriers(init + sync + arrive + wait(0, "$W") + sync + inval + sync +
                             only_first("$S", "st.shared.f32 [%r2+2052], 0f00000000;\n")),
            "proved");
  EXPECT_EQ(kind_by_barriers(init + sync + arrive + wait(0, "$W") + sync + inval +
                             only_warp(1, "$S", "st.shared.f32 [%r3+1920], 0f00000000;\n")),
            "misuse");
}

TEST(Mbarriers, CountFrom1) {
  EXPECT_EQ(kind_by_barriers(only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 0;\n")), "misuse");
  EXPECT_EQ(kind_by_barriers(init + sync + "mbarrier.arrive.shared.b64 %rd9, [%r2+2048], 65;\n"), "misuse");
}

TEST(Mbarriers, HaveThePhasesThatAreExecuted) {
  // two phases, each waited for
  EXPECT_EQ(kind_by_barriers(init + sync + in + arrive + wait(0, "$W") + neighbour(33) + arrive +
                             wait(1, "$V") + in + arrive + wait(0, "$X") + neighbour(33) + store),
            "proved");
  // a warp arrives for the next phase and has not waited for this one
  EXPECT_EQ(kind_by_barriers(only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 64;\n") + sync + arrive +
                             arrive),
            "unknown");
  // the wait has the parity of the phase before: it does not wait
  EXPECT_EQ(kind_by_barriers(init + sync + in + arrive + wait(1, "$W") + neighbour(33) + store), "race");
  // of a parity that never comes
  EXPECT_EQ(kind_by_barriers(init + sync + wait(0, "$W") + arrive), "never released");
}

TEST(Mbarriers, ExpectBytesBeforeAnArrival) {
  auto const copied = [](std::string const& expect, std::string const& count) {
    return Case{only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], " + count +
                                     ";\nfence.mbarrier_init.release.cluster;\n") +
                sync + expect + wait(0, "$W") + "ld.shared.f32 %f2, [%r3];\n" + store}
        .answer();
  };
  std::string const issue =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 256, [%r2+2048];\n";
  EXPECT_EQ(
      copied(only_first("$C", "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2+2048], 256;\n" + issue), "1"),
      "proved");
  EXPECT_EQ(
      copied(only_first("$C", issue + "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2+2048], 256;\n"), "1"),
      "proved");
  // one warp arrives, another expects: in an order of the warps the phase is complete before
  EXPECT_EQ(copied(only_first("$C", "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2+2048], 256;\n" + issue) +
                       only_warp(1, "$D", "setp.ne.u32 %p7, %r1, 32;\n@%p7 bra $D;\n" + arrive),
                   "1"),
            "race: the TMA writes byte 0x480 of shared memory, which thread 32 has read: no barrier is "
            "between them");
}

/// Thread 0 fills the tile with what a copy of 256 bytes reads, and all threads wait.
std::string const
    issue =
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd2], 256, [%r2+2048];\n",
    expect = "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r2+2048], 256;\n",
    one =
        only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 1;\nfence.mbarrier_init.release.cluster;\n") +
        sync;

TEST(Mbarriers, AreCompleteWhenTheirCopiesAre) {
  // the second arrival may come while the copy is on its way: the phase has had its arrival
  EXPECT_EQ(kind_by_barriers(one + only_first("$C", expect + issue + expect)), "unknown");
  EXPECT_EQ(kind_by_barriers(one + only_first("$C", expect + issue + wait(0, "$W") + expect)), "proved");
  // a ring of one stage: the issue is behind the arrival, and the consumers have waited for the copy
  auto const ring = [](std::string const& order) {
    return kind_by_barriers(
        only_first("$I",
                   "mbarrier.init.shared.b64 [%r2+2048], 1;\nmbarrier.init.shared.b64 [%r2+2056], 32;\n"
                   "fence.mbarrier_init.release.cluster;\n") +
        sync + "mov.u32 %r5, 0;\n" +
        only_first("$P",
                   "$M: xor.b32 %r6, %r5, 1; and.b32 %r6, %r6, 1;\n"
                   "$E: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2056], %r6;\n@!%p2 bra $E;\n" +
                       order + "add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra $M;\n") +
        only_warp(1, "$K",
                  "$N: and.b32 %r6, %r5, 1;\n"
                  "$F: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], %r6;\n@!%p2 bra $F;\n"
                  "ld.shared.f32 %f2, [%r3];\nfence.proxy.async.shared::cta;\n"
                  "mbarrier.arrive.shared.b64 %rd9, [%r2+2056];\n"
                  "add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 bra $N;\n"));
  };
  EXPECT_EQ(ring(expect + issue), "proved");
  EXPECT_EQ(ring(issue + expect), "proved");
}

TEST(Mbarriers, ExpectAllBytes) {
  // if the copy is late, the arrival completes phase 0, and the wait for parity 1 has no end
  EXPECT_EQ(
      kind_by_barriers(one + only_first("$C", issue + "mbarrier.arrive.shared.b64 %rd9, [%r2+2048];\n") +
                       sync + wait(1, "$W")),
      "unknown");
}

TEST(Mbarriers, AreWellSynchronised) {
  auto const answer = [](std::string const& body, unsigned threads = 64) {
    std::string const size = fmt::format("f32[{}]", threads);
    return Case{body, size, size, {}, threads}.answer();
  };
  auto const thread = [](unsigned warp, std::string const& label, std::string const& body) {
    return only_warp(
        warp, label,
        fmt::format("and.b32 %r31, %r1, 31; setp.ne.u32 %p6, %r31, 0;\n@%p6 bra {};\n{}", label, body));
  };
  // bytes are expected, and nothing that arrives is behind
  EXPECT_EQ(
      answer(one + only_first("$C", "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2+2048], 256;\n" + issue) +
             thread(1, "$D", arrive)),
      "unknown: not well synchronised: thread 0 expects bytes, and the phase may be complete before: no "
      "arrival is behind it");
  // copies and expectations may belong to the phase before
  std::string const again = "bar.sync 2, 64;\n";
  EXPECT_EQ(answer(one + only_first("$C", arrive) + thread(1, "$D", issue + expect) + sync).substr(0, 8),
            "unknown:");
  EXPECT_EQ(answer(one + only_first("$C", arrive) +
                   thread(1, "$D",
                          "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2+2048], 256;\n" + issue + arrive) +
                   sync)
                .substr(0, 8),
            "unknown:");
  // the same for one of them alone: what follows is behind a barrier
  std::string const expected = "mbarrier.expect_tx.relaxed.cta.shared.b64 [%r2+2048], 256;\n";
  EXPECT_EQ(answer(one + only_first("$C", arrive) + thread(1, "$D", expected) + sync +
                   thread(1, "$E", issue + arrive)),
            "unknown: not well synchronised: thread 32 may expect bytes before thread 0 arrives at the "
            "mbarrier: which phase it belongs to depends on the order");
  // in another order the copy holds phase 0
  EXPECT_EQ(answer(one + only_first("$C", arrive) + thread(1, "$D", issue) + sync + thread(1, "$E", expect)),
            "misuse: thread 32 arrives 1 times at an mbarrier that waits for 0 arrivals");
  // the wait for phase 1 passes before phase 0 is complete, or when phase 1 is
  EXPECT_EQ(answer(one + only_first("$C", arrive + wait(0, "$W") + arrive + wait(1, "$V")) +
                   thread(1, "$D", wait(1, "$X"))),
            "unknown: not well synchronised: thread 32 may wait before thread 0 arrives at the mbarrier: "
            "which phase it belongs to depends on the order");
  // the wait for phase 0 may find phase 2
  std::string const late = one + thread(0, "$C", wait(0, "$W")) + thread(1, "$D", arrive) +
                           only_warp(1, "$E", again) + only_warp(2, "$F", again) + thread(1, "$G", arrive);
  EXPECT_NE(answer(late, 96), "proved");
}

TEST(Mbarriers, ReleaseLanesOnTwoSidesOfABranch) {
  // one arrival completes a phase; thread 0 waits at its side, which is executed first
  std::string const two = only_first("$I",
                                     "mbarrier.init.shared.b64 [%r2+2048], 1;\nmbarrier.init.shared.b64 "
                                     "[%r2+2056], 1;\n") +
                          sync + "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p4, %r1, 1;\n";
  std::string const back = "mbarrier.arrive.shared.b64 %rd9, [%r2+2056];\n",
                    wait_back =
                        "$V: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2056], 0;\n@!%p2 bra $V;\n";
  auto const kind = [&](std::string const& body) {
    return Case{two + body, "f32[32]", "f32[32]", {}, 32}.kind();
  };
  std::string const write = "st.shared.u32 [%r2], %r1;\n", read = "ld.shared.u32 %r5, [%r2];\n";
  EXPECT_EQ(kind("@!%p1 bra $A;\n" + wait(0, "$W") + read + "bra $E;\n$A: @!%p4 bra $E;\n" + write + arrive +
                 "$E:\n"),
            "proved");
  EXPECT_EQ(kind("@!%p1 bra $A;\n" + wait(0, "$W") + read + "bra $E;\n$A: @!%p4 bra $E;\n" + arrive + write +
                 "$E:\n"),
            "race");
  EXPECT_EQ(kind("@!%p1 bra $A;\n" + wait(0, "$W") + back + "bra $E;\n$A: @!%p4 bra $E;\n" + arrive +
                 wait_back + "$E: bar.sync 0;\n"),
            "proved");
  // behind the place at which both sides meet
  EXPECT_EQ(kind("@!%p1 bra $E;\n" + wait(0, "$W") + "$E: @!%p4 bra $F;\n" + arrive + "$F: bar.sync 0;\n"),
            "proved");
  EXPECT_EQ(kind("@!%p1 bra $E;\n" + wait(0, "$W") + "$E: bar.sync 0;\n@!%p4 bra $F;\n" + arrive + "$F:\n"),
            "never released");
  EXPECT_EQ(kind("@!%p1 bra $E;\n" + wait(0, "$W") + "$E:\n"), "never released");
  EXPECT_EQ(kind("@!%p1 bra $A;\n" + wait(0, "$W") + back + "bra $E;\n$A: @!%p4 bra $E;\n" + wait_back +
                 arrive + "$E:\n"),
            "never released");
  // an instruction of lanes that do not wait for the others, and one that does
  auto const shuffle = [&](std::string const& mask) {
    return kind("@!%p1 bra $A;\n" + wait(0, "$W") + "bra $E;\n$A: shfl.sync.idx.b32 %r5, %r1, 1, 31, " +
                mask + ";\n@!%p4 bra $E;\n" + arrive + "$E:\n");
  };
  EXPECT_EQ(shuffle("0xfffffffe"), "proved");
  EXPECT_EQ(shuffle("0xffffffff"), "never released");
  // a barrier of the cluster on both sides
  Case both{
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $A;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nbra "
      "$E;\n$A: barrier.cluster.arrive;\nbarrier.cluster.wait;\n$E:\n",
      "f32[32]",
      "f32[32]",
      {},
      32,
      2};
  both.cluster = 2;
  EXPECT_EQ(both.kind(), "proved");
}

// Lane 0 waits, and the others come to an instruction of the whole warp.
TEST(Mbarriers, HoldTheLanesThatNeedThoseThatWait) {
  auto const answer = [](unsigned count, std::string const& needs_all) {
    return Case{only_first("$I", fmt::format("mbarrier.init.shared.b64 [%r2+2048], {};\n", count)) + sync +
                    "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $L;\n" + arrive + "bra $A;\n$L: " + wait(0, "$W") +
                    "$A: " + needs_all,
                "f32[128]",
                "f32[128]",
                {},
                128}
        .answer();
  };
  std::string const fence = "wgmma.fence.sync.aligned;\n",
                    stuck = "never released: warp 0 waits and is never released";
  EXPECT_EQ(answer(128, fence), stuck);
  EXPECT_EQ(answer(128, sync), stuck);
  EXPECT_EQ(answer(127, sync), "proved") << "the lanes meet at the barrier";
  EXPECT_EQ(answer(127, fence).substr(0, 36), "unknown: lanes of warp 0 are on two ");
}

// PTX ISA 9.1, 9.7.13.15.16: the state is one that mbarrier.arrive at the same mbarrier has returned.
TEST(Mbarriers, WaitForTheirOwnStates) {
  auto const kind = [](unsigned waits, unsigned for_arrival) {
    return kind_by_barriers(
        only_first("$I",
                   "mbarrier.init.shared.b64 [%r2+2048], 64;\nmbarrier.init.shared.b64 [%r2+2056], 64;\n") +
        sync +
        fmt::format(
            "mbarrier.arrive.shared.b64 %rd8, [%r2+2048];\nmbarrier.arrive.shared.b64 %rd9, [%r2+2056];\n"
            "$W: mbarrier.try_wait.shared.b64 %p2, [%r2+{}], %rd{};\n@!%p2 bra $W;\n",
            waits, for_arrival));
  };
  EXPECT_EQ(kind(2048, 8), "proved");
  EXPECT_EQ(kind(2056, 9), "proved");
  EXPECT_EQ(kind(2048, 9), "misuse");
  EXPECT_EQ(kind(2056, 8), "misuse");
}

// A loop whose state repeats never ends: one of a branch, one whose wait passes again and again, one of several branches.
TEST(Loops, EndOrRepeatTheirState) {
  auto const answer = [](std::string const& body, std::uint64_t steps = 1'000'000) {
    Case c{init + sync + arrive + body};
    c.steps = steps;
    return c.answer();
  };
  auto const at_limit = [&](std::string const& body) { return answer(body, 20'000).substr(0, 24); };
  std::string const limit = "unknown: more than 20000",
                    endless = "never released: warp 0 is in a loop that never ends: its state repeats";
  EXPECT_EQ(answer("$W: bra $W;\n"), endless);
  EXPECT_EQ(answer("$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n@%p2 bra $W;\n"), endless);
  EXPECT_EQ(answer("mov.u32 %r5, 0;\n$W: add.u32 %r5, %r5, 1; and.b32 %r5, %r5, 15;\n"
                   "setp.ne.u32 %p2, %r5, 16; @%p2 bra $W;\n"),
            endless);
  // one that ends, and one that counts until the limit of steps
  EXPECT_EQ(answer("mov.u32 %r5, 0;\n$W: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 9000; @%p2 bra $W;\n"),
            "proved");
  EXPECT_EQ(at_limit("mov.u32 %r5, 0;\n$W: add.u32 %r5, %r5, 1; bra $W;\n"), limit);
  // a loop that writes, and one that reads the clock
  EXPECT_EQ(at_limit("$W: st.shared.u32 [%r3], %r1; bra $W;\n"), limit);
  EXPECT_EQ(at_limit("$W: mov.u32 %r5, %clock; bra $W;\n"), limit);
  // one that loads what it has written, and one that waits for the host
  EXPECT_EQ(
      answer("st.shared.u32 [%r3], %r1;\n$W: ld.shared.u32 %r5, [%r3];\nsetp.eq.u32 %p2, %r5, %r1; @%p2 "
             "bra $W;\n"),
      endless);
  EXPECT_TRUE(answer("st.global.u32 [%rd3], %r1;\n$W: ld.global.u32 %r5, [%rd3];\nsetp.eq.u32 %p2, %r5, %r1; "
                     "@%p2 bra $W;\n")
                  .starts_with("unknown: warp 0 is in a loop whose state repeats: it ends only if the host"));
  // a lane that loops until the others of its warp have arrived, or those of another warp
  auto const until = [](std::string const& guard, unsigned count) {
    return Case{only_first("$I", fmt::format("mbarrier.init.shared.b64 [%r2+2048], {};\n", count)) + sync +
                "setp.eq.u32 %p3, %r1, 0;\nsetp.lt.u32 %p4, %r1, 32;\n" + guard + "bra $L;\n" + arrive +
                "bra $E;\n$L: mbarrier.test_wait.parity.shared.b64 %p2, [%r2+2048], 1;\n@%p2 bra $L;\n$E:\n"}
        .answer();
  };
  EXPECT_EQ(until("@%p3 ", 63).substr(0, 8), "unknown:");
  EXPECT_EQ(until("@%p4 ", 32).substr(0, 8), "unknown:");
  EXPECT_EQ(until("@%p3 ", 64), endless);
}

// A test whose result says if a loop has to wait for the same: the consumer's try_wait and wait of CUTLASS.
TEST(Mbarriers, AreTestedBeforeALoopThatWaits) {
  auto const answer = [](std::string const& between, std::string const& loop,
                         std::string const& behind = "") {
    return Case{init + sync + in + arrive + "mbarrier.try_wait.parity.shared.b64 %p3, [%r2+2048], 0;\n" +
                between + loop + "$Y: " + neighbour(33) + store + behind}
        .answer();
  };
  std::string const unknown =
      "unknown: the wait at an mbarrier may fail, and the code that is executed then is not followed";
  std::string const token = "selp.u32 %r5, 1, 0, %p3;\nsetp.ne.u32 %p4, %r5, 0;\n@%p4 bra $Y;\n",
                    skip = "@%p3 bra $Y;\n";
  EXPECT_EQ(answer(skip, wait(0, "$W")), "proved");
  EXPECT_EQ(answer(token, wait(0, "$W")), "proved");
  EXPECT_EQ(
      answer(token, "$W: mbarrier.test_wait.parity.shared.b64 %p3, [%r2+2048], 0;\n@%p3 bra $Y;\nbra $W;\n"),
      "proved");
  EXPECT_EQ(answer("", "@%p3 bra $Y;\n" + wait(0, "$W"), "mov.u32 %r5, 1;\nst.shared.u32 [%r3+1024], %r5;\n"),
            "proved");
  // another way for the same, an effect before it, another semantic, no loop, and a result that is used behind
  EXPECT_EQ(answer(skip, wait(1, "$W")), unknown);
  EXPECT_EQ(answer(skip, wait(0, "$W", ".relaxed.cta")), unknown);
  EXPECT_EQ(answer(skip + "st.shared.u32 [%r3+1024], %r1;\n", wait(0, "$W")), unknown);
  EXPECT_EQ(answer(skip + "add.u32 %r2, %r2, 8;\n", wait(0, "$W")), unknown);
  EXPECT_EQ(answer(skip, "mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n"), unknown);
  EXPECT_EQ(answer(skip, "mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2056], 0;\n@!%p2 bra $Y;\n"),
            unknown);
  EXPECT_EQ(answer(token, wait(0, "$W"), "st.shared.u32 [%r3+1024], %r5;\n"), unknown);
  EXPECT_EQ(answer("mov.u32 %r6, 1;\n" + skip + "mov.u32 %r6, 2;\n", wait(0, "$W"),
                   "st.shared.u32 [%r3+1024], %r6;\n"),
            unknown);
}

TEST(Mbarriers, DoNotHoldAThreadThatTestsThemOnce) {
  EXPECT_EQ((Case{init + sync + "mbarrier.test_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n"}.answer()),
            "unknown: the wait at an mbarrier may fail, and the code that is executed then is not followed");
}

TEST(Mbarriers, NameWaitsWhoseFailureIsNotExecuted) {
  EXPECT_TRUE((Case{init + sync + arrive + wait(0, "$W")}.report().left_out.empty()));
  std::string const two_branches =
      "$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n@%p2 bra $D;\nbra $W;\n$D:\n";
  EXPECT_TRUE((Case{init + sync + arrive + two_branches}.report().left_out.empty()));
  std::string const counted =
      "$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\nadd.s32 %r5, %r5, 1;\n@!%p2 bra $W;\n";
  auto const answer = [](std::string const& body) { return Case{init + sync + arrive + body}.answer(); };
  std::string const unknown =
      "unknown: the wait at an mbarrier may fail, and the code that is executed then is not followed";
  EXPECT_EQ(answer("mov.u32 %r5, 0;\n" + counted), unknown);
  // the loop that compilers make of `while (!try_wait())`: what it computes again stays the same
  std::string const again =
      "mbarrier.try_wait.parity.shared.b64 %p2, [%r6], 0;\nselp.b32 %r7, 1, 0, %p2;\n"
      "setp.eq.s32 %p3, %r7, 0;\n@%p3 bra $W;\n";
  EXPECT_EQ(answer("$W: add.s32 %r6, %r2, 2048;\n" + again), "proved");
  EXPECT_EQ(answer("mov.u32 %r6, %r2;\n$W: add.s32 %r6, %r6, 2048;\n" + again), unknown);
  EXPECT_EQ(answer("add.s32 %r6, %r2, 2048;\n$W: " + again + "st.global.u32 [%rd3], %r7;\n"), "proved");
  // one test, whose result is stored, or which nothing reads
  std::string const once = "mbarrier.test_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n";
  EXPECT_EQ(answer(once + "selp.u32 %r5, 1, 0, %p2;\nst.global.u32 [%rd3], %r5;\n"), unknown);
  EXPECT_EQ(answer(once), unknown);
  // a failure that leaves a trace: a store, and a register that is used behind the loop
  EXPECT_EQ(
      answer("setp.eq.u32 %p4, %r1, 0;\n$W: " + once + "@%p4 st.global.u32 [%rd3], %r1;\n@!%p2 bra $W;\n"),
      unknown);
  EXPECT_EQ(answer("$W: " + once + "@!%p2 st.global.u32 [%rd3], %r1;\n@!%p2 bra $W;\n"), unknown);
  EXPECT_EQ(answer("mov.u32 %r5, 0;\n$W: " + once +
                   "@!%p2 mov.u32 %r5, 1;\n@!%p2 bra $W;\nst.global.u32 [%rd3], %r5;\n"),
            unknown);
}

}  // namespace
}  // namespace swizproof
