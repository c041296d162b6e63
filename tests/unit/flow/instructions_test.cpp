// Further instructions: barrier.red, activemask, brx.idx, special registers, cp.async that arrives, st.bulk, cp.reduce, clusters of one block.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace swizproof {
namespace {

/// A, B and C of 8 x 8 from one array of f64: D = A * B + C, of one warp. `layout` is that of B.
Case wmma(std::string const& layout) {
  return {
      ".reg .f64 %d<6>;\nmov.u32 %r4, 8;\n"
      "wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%d0}, [%rd2], %r4;\n"
      "wmma.load.b.sync.aligned." +
          layout +
          ".m8n8k4.global.f64 {%d1}, [%rd2+512], %r4;\n"
          "wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%d2, %d3}, [%rd2], %r4;\n"
          "wmma.mma.sync.aligned.row." +
          layout +
          ".m8n8k4.rn.f64.f64.f64.f64 {%d4, %d5}, {%d0}, {%d1}, {%d2, %d3};\n"
          "wmma.store.d.sync.aligned.col.m8n8k4.global.f64 [%rd1], {%d4, %d5}, %r4;\n",
      "f64[8][8]",
      "f64[16][8]",
      {"c[j][i] = a[i][j] + sum(k in 0..3) a[i][k] * a[8 + k][j] for i in 0..7 for j in 0..7"},
      32};
}

TEST(Wmma, MultipliesMatricesInMemory) {
  EXPECT_EQ(wmma("row").answer(), "proved");
  EXPECT_EQ(wmma("col").answer(), "wrong element");
  EXPECT_NE(wmma("row").report().assumed.back().find("(H19)"), std::string::npos);
  Case part = wmma("row");
  part.threads = 48;
  EXPECT_EQ(part.kind(), "misuse") << "a warp of 16 threads";
}

TEST(Wmma, IsAtMultiplesOfItsFragment) {
  auto const of = [](std::string const& offset, unsigned stride, std::string const& form) {
    Case c{fmt::format("wmma.load.{}.shared.f16 {{%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}}, [%r2+{}], {};\n",
                       form, offset, stride),
           "f32[32]",
           "f32[32]",
           {},
           32};
    // 1024 bytes of zeros for it
    c.body =
        "shl.b32 %r4, %r1, 5; add.s32 %r4, %r4, %r2; mov.u32 %r5, 0;\nst.shared.v4.u32 [%r4], "
        "{%r5,%r5,%r5,%r5};\nst.shared.v4.u32 [%r4+16], {%r5,%r5,%r5,%r5};\nbar.sync 0;\n" +
        c.body;
    return c;
  };
  std::string const a = "a.sync.aligned.row.m16n16k16";
  EXPECT_EQ(of("32", 16, a).kind(), "proved");
  EXPECT_EQ(
      of("16", 16, a).answer(),
      "misaligned: the address 0x410 of wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 of warp 0 is no "
      "multiple of 32: the size of a lane's fragment is 32 bytes");
  // a stride of 48 bytes: the guide allows it
  EXPECT_EQ(of("0", 24, a).kind(), "proved");
  EXPECT_EQ(of("0", 24, a).report().assumed.size(), of("0", 32, a).report().assumed.size() + 1);
  EXPECT_EQ(of("0", 20, a).kind(), "misaligned");
}

TEST(Products, OfKnownNumbersOfFourBitsAreNotFollowed) {
  Case c{
      "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32 {%r4, %r5}, {%r1}, {%r1}, {%r1, %r1};\n"
      "st.global.u32 [%rd3], %r4;\n",
      "i32[32]",
      "i32[32]",
      {},
      32};
  EXPECT_EQ(c.kind(), "proved") << "no race, no fault";
  c.expect = {"c[i] = a[i]"};
  EXPECT_EQ(c.kind(), "unknown");
}

std::string const give = "st.global.u32 [%rd3], %r6;\n", read_element = "ld.global.u32 %r5, [%rd4];\n";

Case case_of(std::string const& body, unsigned threads = 64) {
  return Case{body, "u32[64]", "u32[64]", {}, threads};
}

TEST(BarrierRed, IsAVoteOfAllThreads) {
  std::string const p = "setp.lt.u32 %p1, %r1, 40;\n";
  auto const value = [&](std::string const& op) { return case_of(p + op + give).value(0); };
  EXPECT_EQ(value("barrier.cta.red.popc.aligned.u32 %r6, 0, %p1;\n"), "c[0] = 40");
  EXPECT_EQ(value("bar.red.popc.u32 %r6, 0, 64, !%p1;\n"), "c[0] = 24");
  EXPECT_EQ(value("bar.red.and.pred %p2, 0, %p1;\nselp.u32 %r6, 1, 0, %p2;\n"), "c[0] = 0");
  EXPECT_EQ(value("bar.red.or.pred %p2, 0, %p1;\nselp.u32 %r6, 1, 0, %p2;\n"), "c[0] = 1");
}

TEST(BarrierRed, OnDataIsNotFollowedUnlessOthersDecide) {
  std::string const p =
      read_element + "setp.lt.u32 %p1, %r5, 40;\nsetp.lt.u32 %p3, %r1, 1;\nor.pred %p4, %p1, %p3;\n";
  auto const value = [&](std::string const& op) { return case_of(p + op + give).value(0); };
  EXPECT_EQ(value("bar.red.or.pred %p2, 0, %p4;\nselp.u32 %r6, 1, 0, %p2;\n"), "c[0] = 1");
  EXPECT_NE(value("bar.red.and.pred %p2, 0, %p4;\nselp.u32 %r6, 1, 0, %p2;\n"), "c[0] = 1");
  EXPECT_NE(value("bar.red.popc.u32 %r6, 0, %p1;\n").find("bar.red"), std::string::npos);
}

TEST(BarrierRed, SynchronisesAndMeetsNoOtherInstruction) {
  std::string const red = "bar.red.popc.u32 %r6, 0, %p1;\n", p = "setp.lt.u32 %p1, %r1, 40;\n";
  EXPECT_EQ(case_of(p + in + red + neighbour(33)).kind(), "proved");
  EXPECT_EQ(case_of(p + only_warp(0, "$A", red) + only_warp(1, "$B", "bar.sync 0;\n")).kind(), "misuse");
}

TEST(Votes, OnDataAreNotFollowedUnlessOthersDecide) {
  std::string const p =
      read_element + "setp.lt.u32 %p1, %r5, 40;\nsetp.lt.u32 %p3, %r1, 1;\nand.pred %p4, %p1, %p3;\n";
  auto const value = [&](std::string const& op) { return case_of(p + op + give).value(0); };
  EXPECT_EQ(value("vote.sync.all.pred %p2, %p4, -1;\nselp.u32 %r6, 1, 0, %p2;\n"), "c[0] = 0");
  EXPECT_NE(value("vote.sync.ballot.b32 %r6, %p1, -1;\n").find("vote.sync.ballot"), std::string::npos);
}

TEST(Branches, ByAnIndexGoToTheTargetOfTheirNumber) {
  std::string const body =
      "and.b32 %r4, %r1, 3;\n"
      "$T: .branchtargets $A, $B, $C;\n"
      "setp.eq.u32 %p1, %r4, 3;\nmov.u32 %r6, 7;\n@!%p1 brx.idx %r4, $T;\nbra $D;\n"
      "$A: mov.u32 %r6, 10;\nbra $D;\n$B: mov.u32 %r6, 11;\nbra $D;\n$C: mov.u32 %r6, 12;\n$D:\n" +
      give;
  FlowReport const r = case_of(body).report();
  ASSERT_EQ(r.values.size(), 64U) << case_of(body).answer();
  EXPECT_EQ(r.values[4], "c[4] = 10");
  EXPECT_EQ(r.values[5], "c[5] = 11");
  EXPECT_EQ(r.values[6], "c[6] = 12");
  EXPECT_EQ(r.values[7], "c[7] = 7");
  EXPECT_NE(case_of("$T: .branchtargets $A, $B;\nadd.u32 %r4, %r1, 1;\nbrx.idx %r4, $T;\n$A:\n$B:\n")
                .answer()
                .find("behind its list"),
            std::string::npos);
}

TEST(Branches, ByAnIndexMayHaveTheirTargetsOnOneLine) {
  std::string const adds =
      "mov.u32 %r6, 0; setp.gt.u32 %p1, %r1, 2; $T: .branchtargets $A, $B, $C; @!%p1 brx.idx %r1, $T; "
      "$A: add.u32 %r6, %r6, 1; $B: add.u32 %r6, %r6, 2; $C: add.u32 %r6, %r6, 4; " +
      give.substr(0, give.size() - 1) + " ret;";
  FlowReport const r = case_of(adds).report();
  ASSERT_EQ(r.values.size(), 64U) << case_of(adds).answer();
  EXPECT_EQ(r.values[0], "c[0] = 7");
  EXPECT_EQ(r.values[1], "c[1] = 6");
  EXPECT_EQ(r.values[2], "c[2] = 4");
  EXPECT_EQ(r.values[3], "c[3] = 7");
  std::string const trap = "setp.eq.u32 %p1, %r1, 99; mov.u32 %r6, 1; " + give.substr(0, give.size() - 1);
  EXPECT_EQ(case_of(trap + " @%p1 ret; ret; trap;").value(0), "c[0] = 1");
  EXPECT_EQ(case_of(trap + " @%p1 bra $A; ret; $A: trap;").value(0), "c[0] = 1");
}

TEST(SpecialRegisters, OfAClusterAreThoseOfOneBlock) {
  EXPECT_EQ(case_of("mov.u32 %r6, %cluster_ctarank;\n" + give).value(0), "c[0] = 0");
  EXPECT_EQ(case_of("mov.u32 %r6, %cluster_nctarank;\n" + give).value(0), "c[0] = 1");
  EXPECT_EQ(case_of("mov.u32 %r6, %envreg3;\n" + give).value(0), "c[0] = %envreg3");
  EXPECT_EQ(case_of("activemask.b32 %r6;\n" + give, 16).value(0), "c[0] = 65535");
}

TEST(CopiesThatArrive, AreBehindTheWaitForTheirPhase) {
  std::string const copy = "cp.async.ca.shared.global [%r3], [%rd4], 4;\n", sync = "bar.sync 0;\n",
                    wait = "$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n@!%p2 bra $W;\n";
  auto const with = [&](unsigned count, std::string const& arrives) {
    return case_of(only_first("$I", fmt::format("mbarrier.init.shared.b64 [%r2+2048], {};\n", count)) + sync +
                   copy + arrives + wait + neighbour(33) + "st.global.f32 [%rd3], %f2;\n");
  };
  std::string const noinc = "cp.async.mbarrier.arrive.noinc.shared.b64 [%r2+2048];\n",
                    more = "cp.async.mbarrier.arrive.shared.b64 [%r2+2048];\n",
                    arrive = "mbarrier.arrive.shared.b64 %rd9, [%r2+2048];\n";
  EXPECT_EQ(with(64, noinc).kind(), "proved");
  EXPECT_EQ(with(64, more + arrive).kind(), "proved");
  EXPECT_EQ(with(64, arrive).kind(), "race");
  EXPECT_EQ(with(64, arrive + more).kind(), "race") << "its phase may be complete before";
  EXPECT_EQ(with(64, more).kind(), "never released");
  // an arrival that is not counted holds no phase: the other warp may complete it before
  auto const apart = [&](std::string const& between) {
    return case_of(only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 32;\n") + sync +
                   only_warp(0, "$A", copy + more) + between + only_warp(1, "$B", arrive) + wait +
                   "ld.shared.f32 %f2, [%r2+4];\nst.global.f32 [%rd3], %f2;\n");
  };
  EXPECT_EQ(apart("").kind(), "race");
  EXPECT_EQ(apart(sync).kind(), "proved");
  // the mbarrier is in use until they have arrived
  auto const ends = [&](std::string const& before) {
    return case_of(only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 64;\n") + sync + copy + noinc +
                   before + sync + only_first("$Z", "mbarrier.inval.shared.b64 [%r2+2048];\n"))
        .kind();
  };
  EXPECT_EQ(ends(wait), "proved");
  EXPECT_EQ(ends(""), "race");
  // what a thread has stored is not behind it
  EXPECT_EQ(case_of(only_first("$I", "mbarrier.init.shared.b64 [%r2+2048], 64;\n") + sync + in + noinc +
                    wait + neighbour(33))
                .kind(),
            "race");
}

TEST(CopiesThatIgnoreTheirSource, WriteZeros) {
  std::string const copy =
      "setp.lt.u32 %p1, %r1, 1;\ncp.async.ca.shared.global [%r3], [%rd4], 4, %p1;\ncp.async.wait_all;\n"
      "ld.shared.u32 %r6, [%r3];\n" +
      give;
  FlowReport const r = case_of(copy).report();
  ASSERT_EQ(r.values.size(), 64U);
  EXPECT_EQ(r.values[0], "c[0] = 0");
  EXPECT_EQ(r.values[1], "c[1] = a[1]");
}

TEST(BulkZeros, AreStoresOfOneThread) {
  std::string const zeros = only_first("$Z", "st.bulk.weak.shared::cta [%r2], 256, 0;\n"),
                    read = "ld.shared.u32 %r6, [%r3];\n" + give;
  EXPECT_EQ(case_of(zeros + "bar.sync 0;\n" + read).value(9), "c[9] = 0");
  EXPECT_EQ(case_of(zeros + read).kind(), "race");
  EXPECT_EQ(case_of(only_first("$Z", "st.bulk.weak.shared::cta [%r2], 252, 0;\n")).kind(), "misaligned");
  EXPECT_EQ(case_of(only_first("$Z", "st.bulk.weak.shared::cta [%r2], 4104, 0;\n")).kind(), "out of bounds");
}

TEST(BulkReductions, AddToGlobalMemory) {
  auto const with = [](std::string const& after) {
    Case c{in + "fence.proxy.async.shared::cta;\nbar.sync 0;\n" +
               only_first("$R",
                          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r2], 256;\n"
                          "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n") +
               after,
           "f32[64]",
           "f32[64]",
           {"c[i] = c[i] + a[i]"}};
    return c;
  };
  EXPECT_EQ(with("").answer(), "proved");
  EXPECT_EQ(with("ld.global.f32 %f2, [%rd3];\n").kind(), "race");
  // each warp adds: one kind of atomics
  Case twice{in + "fence.proxy.async.shared::cta;\nbar.sync 0;\nand.b32 %r8, %r1, 31; setp.ne.u32 %p3, %r8, "
                  "0;\n@%p3 bra $E;\n"
                  "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd1], [%r2], 256;\n"
                  "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n$E:\n",
             "f32[64]",
             "f32[64]",
             {"c[i] = c[i] + 2*a[i]"}};
  EXPECT_EQ(twice.answer(), "proved");
  twice.expect = {"c[i] = -(-c[i] - 2*a[i])"};
  EXPECT_EQ(twice.answer(), "proved");
  twice.expect = {"c[i] = c[i] + a[i]"};
  EXPECT_EQ(twice.answer(), "wrong element");
  EXPECT_EQ(
      case_of(in + "bar.sync 0;\n" +
              only_first("$R",
                         "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 256;\n"))
          .kind(),
      "missing fence");
}

/// Two reductions without order: each of them is the first in some order, and needs a fence behind what a thread has stored.
TEST(BulkReductions, NeedAFenceInEachOrder) {
  auto const with = [](std::string const& fence) {
    std::string const wait = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n",
                      op = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], ";
    return case_of(in + "setp.lt.u32 %p5, %r1, 32;\n@%p5 st.global.u32 [%rd3], %r1;\nbar.sync 0;\n" +
                   only_warp(0, "$W0",
                             "fence.proxy.async;\nbar.warp.sync 0xffffffff;\n" +
                                 only_first("$R0", op + "[%r2], 128;\n" + wait)) +
                   only_warp(1, "$W1",
                             fence + "bar.warp.sync 0xffffffff;\nsetp.ne.u32 %p6, %r1, 32;\n@%p6 bra $R1;\n" +
                                 op + "[%r2+128], 128;\n" + wait + "$R1:\n"))
        .kind();
  };
  EXPECT_EQ(with("fence.proxy.async;\n"), "proved");
  EXPECT_EQ(with("fence.proxy.async.shared::cta;\n"), "missing fence");
}

TEST(BulkReductions, AreNotAtomicWithAnAtomicOfAThread) {
  auto const with = [](std::string const& between) {
    return case_of(
               "mov.u32 %r6, 1;\nst.shared.u32 [%r3], %r6;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n" +
               only_first("$R",
                          "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 128;\n"
                          "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n") +
               between +
               "setp.lt.u32 %p5, %r1, 32;\n@%p5 bra $T;\nred.global.add.u32 [%rd3+-128], %r6;\n$T:\n")
        .report();
  };
  EXPECT_EQ(with("").verdict, FlowVerdict::unknown);
  EXPECT_EQ(with("bar.sync 0;\n").verdict, FlowVerdict::proved);
}

TEST(Clusters, OfOneBlockHaveItsSharedMemory) {
  std::string const mapped = "mapa.shared::cluster.u32 %r4, %r3, 0;\n";
  // one of them is not waited for, and the last one is
  auto const read = [](std::string const& how) {
    return case_of(in + "fence.proxy.async.shared::cta;\nbar.sync 0;\n" +
                   only_warp(
                       0, "$W0",
                       only_first(
                           "$R0",
                           "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 128;\n"
                           "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group" +
                               how + " 0;\n")) +
                   only_warp(1, "$W1",
                             "setp.ne.u32 %p6, %r1, 32;\n@%p6 bra "
                             "$R1;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], "
                             "[%r2+128], 128;\n"
                             "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n$R1:\n") +
                   "bar.sync 0;\nld.global.u32 %r6, [%rd1];\n")
        .kind();
  };
  EXPECT_EQ(read(""), "proved");
  EXPECT_EQ(read(".read"), "race");
  EXPECT_EQ(case_of(in + "bar.sync 0;\n" + mapped + "ld.shared::cluster.u32 %r6, [%r4];\n" + give).value(0),
            "c[0] = a[0]");
  EXPECT_NE(case_of("mapa.shared::cluster.u32 %r4, %r3, 1;\n").answer().find("another block"),
            std::string::npos);
  std::string const
      send = read_element + "mapa.shared::cluster.u32 %r4, %r3, %r31;\n" +
             "mapa.shared::cluster.u32 %r7, %r2, %r31;\n"
             "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], %r5, [%r7+2048];\n",
      init = only_first("$I",
                        "mbarrier.init.shared.b64 [%r2+2048], 1;\nmbarrier.arrive.expect_tx.shared.b64 %rd9, "
                        "[%r2+2048], 256;\n") +
             "bar.sync 0;\n",
      wait = "$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n@!%p2 bra $W;\n";
  auto const sent = [&](std::string const& behind, unsigned blocks) {
    Case c = case_of("mov.u32 %r31, %cluster_ctarank;\n" + init + send + behind);
    c.grid = std::max(blocks, 1U), c.cluster = blocks, c.same_values = true;
    return c;
  };
  std::string const all = wait + neighbour(33) + "st.global.f32 [%rd3], %f2;\n";
  EXPECT_EQ(sent(all, 2).value(0), "c[0] = a[33]");
  EXPECT_EQ(sent(neighbour(33), 2).kind(), "race");
  EXPECT_EQ(sent(all, 1).kind(), "misuse");  // 9.7.9.12: %cluster_nctarank > 1
  EXPECT_EQ(sent(all, 0).kind(), "unknown");
}

}  // namespace
}  // namespace swizproof
