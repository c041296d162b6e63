// Named barriers: counts, arrivals and departures, and launches that are not well synchronised.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string const swapped = neighbour(33);

TEST(NamedBarriers, CompleteAtTheirCount) {
  auto const answer = [](std::string const& barrier, unsigned threads = 64) {
    std::string const size = fmt::format("f32[{}]", threads);
    return Case{in + barrier + swapped + store, size, size, {}, threads}.kind();
  };
  EXPECT_EQ(answer("bar.sync 0, 64;\n"), "proved");
  EXPECT_EQ(answer("barrier.sync 0, 64;\n"), "proved");
  EXPECT_EQ(answer("bar.sync 1;\n"), "proved");
  // a count smaller than the number of warps that come: each of them completes the barrier alone
  for (std::string const barrier :
       {"bar.sync 0, 32;\n", "bar.sync 1, 32;\n", "barrier.sync 0, 32;\n",
        "bar.sync 0, 32; bar.sync 0, 32;\n", "bar.arrive 0, 32; bar.sync 0, 32;\n"})
    EXPECT_EQ(answer(barrier), "race") << barrier;
  EXPECT_EQ(answer("bar.sync 0, 64;\n", 96), "never released");
  EXPECT_EQ(answer("bar.sync 0, 64;\n", 128), "race");
  EXPECT_EQ(answer("bar.sync 0, 96;\n", 128), "race");
}

TEST(NamedBarriers, AreExecutedByPathsTogether) {
  // thread 0 alone may leave; the paths come to the barrier on two ways and join behind it, at the end
  std::string const leaves =
      "ld.param.u32 %r9, [n];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $M;\nsetp.eq.u32 %p2, %r9, ";
  EXPECT_EQ(Case{in + leaves + "0;\n@%p2 bra $X;\n$M: bar.sync 0;\n" + swapped + store + "$X:"}.kind(),
            "proved");
  EXPECT_EQ(Case{in + leaves + "7;\n@%p2 bra $X;\n$M: bar.sync 0;\n" + swapped + store + "$X:"}.kind(),
            "misuse");
  // two levels: thread 1 comes on a third way
  std::string const third =
      "setp.eq.u32 %p3, %r1, 1;\n@!%p3 bra $M;\nsetp.eq.u32 %p4, %r9, 0;\n@%p4 bra $X;\nbra $M;\n";
  EXPECT_EQ(Case{in + "ld.param.u32 %r9, [n];\nsetp.gt.u32 %p1, %r1, 1;\n@%p1 bra $M;\n" + third +
                 "$M: bar.sync 0;\n" + swapped + store + "$X:"}
                .kind(),
            "proved");
  // two barriers: the paths are at different instructions
  EXPECT_EQ(Case{in + "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $M;\nbar.sync 0;\nbra $N;\n$M: bar.sync 0;\n$N:" +
                 swapped + store}
                .kind(),
            "misuse");
}

TEST(NamedBarriers, NameBothAccessesOfARace) {
  FlowReport const r = Case{in + "bar.sync 0, 32;\n" + swapped + store}.report();
  ASSERT_TRUE(r.fault && r.fault->first && r.fault->second);
  EXPECT_EQ(r.fault->text,
            "thread 0 reads byte 0x484 of shared memory (tile+0x84), which thread 33 has written: no barrier "
            "is between them");
  EXPECT_EQ(r.fault->first->by, "thread 33");
  EXPECT_EQ(r.fault->first->line.op, "st.shared.f32");
  EXPECT_EQ(r.fault->second->line.op, "ld.shared.f32");
  EXPECT_FALSE(r.fault->rule.empty());
}

TEST(NamedBarriers, OrderWhatIsBeforeTheArrival) {
  // warp 0 gives its half to warp 1
  auto const kind = [](std::string const& give, std::string const& take) {
    return Case{load + only_warp(0, "$A", give) + only_warp(1, "$B", take), "f32[64]", "f32[64]"}.kind();
  };
  std::string const st = "st.shared.f32 [%r3], %f1;\n", arrive = "bar.arrive 1, 64;\n",
                    take = "bar.sync 1, 64;\nld.shared.f32 %f2, [%r3+-128];\n" + store;
  EXPECT_EQ(kind(st + arrive, take), "proved");
  EXPECT_EQ(kind(arrive + st, take), "race");
  // what the giver does behind its arrival is not before what the taker has done
  EXPECT_EQ(kind(st + arrive + "bar.sync 2, 64;\n" + st, take + "bar.sync 2, 64;\n"), "proved");
  EXPECT_EQ(kind(st + arrive + st, take), "race");
  // the copy is complete behind the arrival
  std::string const copy = "cp.async.ca.shared.global [%r3], [%rd4], 4;\ncp.async.commit_group;\n",
                    wait = "cp.async.wait_group 0;\n";
  EXPECT_EQ(kind(copy + wait + arrive, take), "proved");
  EXPECT_EQ(kind(copy + arrive + wait, take), "race");
}

// PTX ISA, cp.async: it is non-blocking, and complete as its completion mechanism says: until then it reads its source.
TEST(Copies, ReadTheirSourceUntilTheyAreComplete) {
  std::string const copy = "cp.async.ca.shared.global [%r3], [%rd4], 4;\ncp.async.commit_group;\n",
                    wait = "cp.async.wait_group 0;\n", all = "cp.async.wait_all;\n", sync = "bar.sync 0;\n",
                    over = "mov.f32 %f3, 0f40A00000;\nst.global.f32 [%rd4], %f3;\n",
                    other = "xor.b64 %rd7, %rd4, 128;\nst.global.f32 [%rd7], 0f40A00000;\n";
  auto const kind = [](std::string const& body) { return Case{body}.kind(); };
  EXPECT_EQ((Case{copy + over + wait}.answer()),
            "race: thread 0 writes a[0], which cp.async of thread 0 reads: it has not waited for its group");
  EXPECT_EQ(kind(copy + wait + over), "proved");
  EXPECT_EQ(kind(copy + all + over), "proved");
  EXPECT_EQ(kind(copy + copy + "cp.async.wait_group 1;\n" + over), "race");
  EXPECT_EQ(kind(copy + "ld.global.f32 %f1, [%rd4];\n" + over), "race") << "a later read does not hide it";
  EXPECT_EQ(
      (Case{copy + sync + other + wait}.answer()),
      "race: thread 0 writes a[32], which cp.async of thread 32 reads: thread 32 has not waited for its "
      "group");
  EXPECT_EQ(kind(copy + wait + other), "race");
  EXPECT_EQ(kind(copy + wait + sync + other), "proved");
}

TEST(Faults, OfWaitsCiteTheirBarrier) {
  auto const rule = [](std::string const& body) {
    FlowReport const r = Case{body}.report();
    return r.fault && r.fault->kind == FlowFaultKind::never_released ? r.fault->rule : "no such fault";
  };
  std::string const init = only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 64;\n") + "bar.sync 0;\n";
  EXPECT_EQ(rule(only_warp(0, "$A", "bar.sync 1, 64;\n")), "PTX ISA, barrier{.cta}");
  EXPECT_EQ(rule(init + "$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n@!%p2 bra $W;\n"),
            "PTX ISA, mbarrier");
  EXPECT_EQ(rule(only_warp(0, "$A", "barrier.cluster.arrive;\nbarrier.cluster.wait;\n") +
                 only_warp(1, "$B", "bar.sync 1, 64;\n")),
            "PTX ISA, barrier.cluster");
}

// The reason is no advice: a fix is an instruction.
TEST(NamedBarriers, SayWhyTheyAreNotWellSynchronised) {
  FlowReport const r =
      Case{"bar.sync 1, 64;\nst.shared.u32 [%r2], %r1;\n", "f32[128]", "f32[128]", {}, 128}.report();
  ASSERT_TRUE(r.fault);
  EXPECT_EQ(r.fault->fix, "");
  EXPECT_EQ(
      r.fault->why,
      "not well synchronised: warp 2 may arrive at barrier 1 before warp 0: which warps meet there depends "
      "on the order");
}

TEST(NamedBarriers, NeedASecondBarrierForThePingPong) {
  // warp 0 fills the tile twice, warp 1 reads it: full is barrier 1, empty is barrier 2
  auto const kind = [](std::string const& second_full) {
    std::string const st = "st.shared.f32 [%r3], %f1;\n", ld = "ld.shared.f32 %f2, [%r3+-128];\n";
    return Case{
        load + only_warp(0, "$A", st + "bar.arrive 1, 64;\nbar.sync 2, 64;\n" + st + "bar.arrive 1, 64;\n") +
        only_warp(1, "$B", "bar.sync 1, 64;\n" + ld + "bar.arrive 2, 64;\n" + second_full + ld + store)}
        .kind();
  };
  EXPECT_EQ(kind("bar.sync 1, 64;\n"), "proved");
  EXPECT_EQ(kind(""), "race");
}

TEST(NamedBarriers, AreWellSynchronised) {
  // Weft, examples/negatives/over.cu: two warps wait for 64, a third arrives
  std::string const over = only_warp(0, "$A", "bar.sync 1, 64;\n") + only_warp(1, "$B", "bar.sync 1, 64;\n") +
                           only_warp(2, "$C", "bar.arrive 1, 64;\n");
  EXPECT_EQ((Case{over, "f32[96]", "f32[96]", {}, 96}.answer()),
            "never released: warp 1 waits and is never released");
  // any two of four warps meet, and nothing depends on which
  EXPECT_EQ(
      (Case{"bar.sync 1, 64;\n", "f32[128]", "f32[128]", {}, 128}.answer()),
      "unknown: not well synchronised: warp 2 may arrive at barrier 1 before warp 0: which warps meet there "
      "depends on the order");
  // nothing waits for an arrival that is left at the end
  EXPECT_EQ((Case{only_warp(0, "$A", "bar.arrive 1, 64;\n")}.answer()), "proved");
  EXPECT_EQ((Case{only_warp(0, "$A", "bar.sync 1, 64;\nbar.arrive 2, 64;\n") +
                  only_warp(1, "$B", "bar.arrive 1, 64;\n")}
                 .answer()),
            "proved");
  std::string const twice = only_warp(0, "$A", "bar.arrive 1, 64;\nbar.arrive 1, 64;\n") +
                            only_warp(1, "$B", "bar.sync 1, 64;\nbar.sync 1, 64;\n");
  EXPECT_EQ((Case{twice}.kind()), "never released");
  EXPECT_EQ((Case{only_warp(0, "$A", "bar.arrive 1, 64;\nbar.arrive 1, 64;\n")}.answer()),
            "unknown: not well synchronised: warp 0 arrives again at barrier 1 before it is complete");
}

TEST(NamedBarriers, AreUsedAsSpecified) {
  auto const answer = [](std::string const& body, unsigned threads = 64) {
    return Case{body, "f32[64]", "f32[64]", {}, threads}.answer();
  };
  EXPECT_EQ(answer("mov.u32 %r5, 16;\nbar.sync %r5;\n"),
            "misuse: warp 0 is at barrier 16: a block has barriers 0 to 15");
  EXPECT_EQ(answer("mov.u32 %r5, 33;\nbar.sync 1, %r5;\n"),
            "misuse: the count 33 of barrier 1 is no multiple of 32");
  EXPECT_EQ(answer("mov.u32 %r5, 0;\nbar.sync 1, %r5;\n"),
            "unknown: the count of a barrier is 0: the PTX ISA does not say how many threads take part");
  EXPECT_EQ(answer("mov.u32 %r5, 0;\nbar.arrive 1, %r5;\n"), "misuse: the count of a barrier is 0");
  EXPECT_EQ(answer(only_warp(0, "$A", "bar.sync 1, 64;\n") + only_warp(1, "$B", "bar.sync 1, 96;\n")),
            "misuse: barrier 1 has the counts 64 and 96");
  EXPECT_EQ(answer("setp.eq.u32 %p1, %r1, 5;\n@%p1 bra $E;\nbar.sync 0;\n$E:\n"),
            "misuse: a part of warp 0 is at bar.sync, which all of its threads have to execute");
  EXPECT_EQ(answer("and.b32 %r5, %r1, 1;\nbar.sync %r5;\n"),
            "misuse: threads of warp 0 are at barriers with different numbers");
  EXPECT_EQ(answer("setp.eq.u32 %p1, %r1, 5;\n@%p1 bra $E;\nbarrier.sync 0;\n$E:\n").substr(0, 8),
            "unknown:");
}

// PTX ISA, barrier.cluster, Examples: a memory fence before a relaxed arrival.
TEST(ClusterBarriers, OrderWhatAFenceReleases) {
  std::string const relaxed = "barrier.cluster.arrive.relaxed.aligned;\n", fence = "fence.acq_rel.cluster;\n",
                    rest = "barrier.cluster.wait.aligned;\n" + swapped + store;
  auto const kind = [](std::string const& body) { return Case{body}.kind(); };
  EXPECT_EQ(kind(in + relaxed + rest), "race");
  EXPECT_EQ(kind(in + fence + relaxed + rest), "proved");
  EXPECT_EQ(kind(in + relaxed + fence + rest), "race");
  EXPECT_EQ(kind(in + "fence.release.cluster;\n" + relaxed + rest), "proved");
  EXPECT_EQ(kind(in + "fence.acquire.cluster;\n" + relaxed + rest), "race");
  EXPECT_EQ(kind(load + fence + "st.shared.f32 [%r3], %f1;\n" + relaxed + rest), "race");
}

// fence.mbarrier_init orders initialisations alone, before a relaxed arrival, too.
TEST(ClusterBarriers, OrderInitialisationsBehindTheirFence) {
  auto const kind = [](std::string const& fence, std::string const& data = "", std::string const& wait = "") {
    return Case{only_first("$I", data + "mbarrier.init.shared.b64 [%r2+2048], 64;\n" + fence) +
                "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"
                "mbarrier.arrive.shared.b64 %rd9, [%r2+2048];\n" +
                wait}
        .kind();
  };
  std::string const init = "fence.mbarrier_init.release.cluster;\n", st = "st.shared.u32 [%r2], 1;\n",
                    ld = "ld.shared.u32 %r5, [%r2];\n";
  EXPECT_EQ(kind(""), "race");
  EXPECT_EQ(kind(init), "proved");
  EXPECT_EQ(kind("fence.acq_rel.cluster;\n"), "proved");
  EXPECT_EQ(kind(init, st, ld), "race");
  EXPECT_EQ(kind("fence.acq_rel.cluster;\n", st, ld), "proved");
}

TEST(NamedBarriers, WaitForWarpsThatHaveNotEnded) {
  std::string const body =
      in + "bar.sync 0;\n" + swapped + store + only_warp(0, "$A", "ret;\n") + "bar.sync 0;\n";
  EXPECT_EQ((Case{body}.kind()), "proved");
}

// Lanes of a warp end, and one of it waits: whichever flow executes first.
TEST(ClusterBarriers, WaitForLanesThatHaveNotEnded) {
  auto const kind = [](std::string const& guard, std::string const& aligned, std::string const& others) {
    Case c{load + store + "setp.eq.u32 %p1, %r1, 0;\n" + guard + " bra $Q;\n" + others +
           "$Q:\nbarrier.cluster.arrive" + aligned + ";\nbarrier.cluster.wait" + aligned + ";\n"};
    c.threads = 32;
    return c.kind();
  };
  EXPECT_EQ(kind("@%p1", "", "ret;\n"), "proved");
  EXPECT_EQ(kind("@!%p1", "", "ret;\n"), "proved");
  EXPECT_EQ(kind("@%p1", ".aligned", "ret;\n"), "proved");
  EXPECT_EQ(kind("@%p1", "", "barrier.cluster.arrive;\nret;\n"), "proved");
}

TEST(WarpBarriers, HaveTheirLanesInTheMask) {
  auto const kind = [](std::string const& body) { return Case{load + body}.kind(); };
  EXPECT_EQ(kind("bar.warp.sync -1;\n"), "proved");
  EXPECT_EQ(kind("bar.warp.sync 0xffff;\n"), "misuse");
  EXPECT_EQ(kind("shfl.sync.idx.b32 %f2, %f1, 0, 31, 0xfffffffe;\n"), "misuse");
  EXPECT_EQ(kind("shfl.sync.idx.b32 %f2, %f1, 0, 31, -1;\n"), "proved");
  EXPECT_EQ(kind("setp.lt.u32 %p1, %r1, 16;\nvote.sync.ballot.b32 %r5, %p1, 0x7fffffff;\n"), "misuse");
}

TEST(WarpBarriers, HaveOneMask) {
  std::string const first = "setp.eq.u32 %p1, %r1, 0;\nselp.u32 %r6, 1, -1, %p1;\n";
  std::string const half = "setp.lt.u32 %p1, %r1, 16;\nselp.u32 %r6, 0xffff, 0xffff0000, %p1;\n";
  auto const answer = [](std::string const& body) {
    return Case{load + body, "f32[32]", "f32[32]", {}, 32}.answer();
  };
  EXPECT_EQ(answer(first + "shfl.sync.idx.b32 %f2, %f1, 0, 31, %r6;\n"),
            "unknown: shfl.sync.idx.b32 has the masks 0xffffffff of lane 1 and 0x1 of lane 0: lanes wait "
            "until all of "
            "their mask come with the same one");
  EXPECT_EQ(answer(half + "shfl.sync.idx.b32 %f2, %f1, 0, 15, %r6;\n"), "proved");
  for (std::string const op : {"vote.sync.ballot.b32 %r5, %p1, %r6;\n", "match.any.sync.b32 %r5, %r1, %r6;\n",
                               "redux.sync.add.u32 %r5, %r1, %r6;\n", "bar.warp.sync %r6;\n"})
    EXPECT_EQ(answer(first + op).substr(0, 7), "unknown") << op;
}

TEST(Branches, WithUniGoOneWay) {
  auto const kind = [](std::string const& body) { return Case{load + body}.kind(); };
  std::string const warps = "setp.lt.u32 %p1, %r1, 32;\n", lanes = "setp.lt.u32 %p1, %r1, 16;\n";
  EXPECT_EQ(kind(warps + "@%p1 bra.uni $E;\nmov.u32 %r5, 2;\n$E:\n"), "proved");
  EXPECT_EQ(kind(lanes + "@%p1 bra $E;\nmov.u32 %r5, 2;\n$E:\n"), "proved");
  EXPECT_EQ(kind(lanes + "@%p1 bra.uni $E;\nmov.u32 %r5, 2;\n$E:\n"), "misuse");
  std::string const index = "selp.u32 %r6, 1, 0, %p1;\n$T: .branchtargets $A, $B;\n",
                    ways = " %r6, $T;\n$A: mov.u32 %r5, 2;\n$B:\n";
  EXPECT_EQ(kind(warps + index + "brx.idx.uni" + ways), "proved");
  EXPECT_EQ(kind(lanes + index + "brx.idx" + ways), "proved");
  EXPECT_EQ(kind(lanes + index + "brx.idx.uni" + ways), "misuse");
  // data may choose another way for each lane
  EXPECT_NE(kind("setp.lt.f32 %p1, %f1, 0f00000000;\n@%p1 bra.uni $E;\nmov.u32 %r5, 2;\n$E:\n"), "proved");
}

TEST(WarpInstructions, AreExecutedByAWholeWarp) {
  std::string const part = "setp.lt.u32 %p1, %r1, 16;\n";
  for (std::string const op : {"@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r2];\n",
                               "@%p1 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, "
                               "{%r5,%r5,%r5,%r5}, {%r5,%r5}, "
                               "{%f1,%f2,%f3,%f4};\n",
                               "@%p1 shfl.sync.idx.b32 %f2, %f1, 0, 31, 0xff;\n"})
    EXPECT_EQ((Case{load + part + op}.kind()), "misuse") << op;
}

}  // namespace
}  // namespace swizproof
