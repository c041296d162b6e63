// Clusters of several blocks: their registers and memory, the barrier of the cluster, mbarriers of other blocks, multicast copies.
#include "flow/clusters.hpp"
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// %r11 is the other rank of two, %r12 its tile, %r15 the thread's word there; %rd3 and %rd4 the thread's elements of c and a, block by block.
std::string const
    other =
        "mov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1; mapa.shared::cluster.u32 %r12, %r2, "
        "%r11;\nshl.b32 %r16, %r1, 2; add.s32 %r15, %r12, %r16;\n"
        "mov.u32 %r13, %ctaid.x; mad.lo.u32 %r14, %r13, 64, %r1; mul.wide.u32 %rd6, %r14, 4;\n"
        "add.s64 %rd3, %rd1, %rd6; add.s64 %rd4, %rd2, %rd6;\n",
    meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n",
    relaxed_meet = "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n",
    pull = "ld.shared::cluster.f32 %f2, [%r15];\n" + store, push = "st.shared::cluster.f32 [%r15], %f1;\n",
    own = "ld.shared::cta.f32 %f2, [%r3];\n" + store;

Case pair(std::string const& body) {
  Case out{other + body, "f32[128]", "f32[128]"};
  out.expect = {"c[i] = a[i+64] for i in 0..63", "c[i] = a[i-64] for i in 64..127"};
  out.grid = out.cluster = 2;
  return out;
}

TEST(Clusters, DivideTheGrid) {
  EXPECT_EQ(why_no_cluster({}, {2, 1, 1}, {4, 1, 1}), "");
  EXPECT_EQ(why_no_cluster({2, 1, 1}, {}, {4, 1, 1}), "");
  EXPECT_EQ(why_no_cluster({}, {}, {3, 1, 1}), "");
  EXPECT_EQ(why_no_cluster({}, {3, 1, 1}, {4, 1, 1}), "the grid 4,1,1 is no multiple of the cluster 3,1,1");
  EXPECT_EQ(why_no_cluster({}, {32, 1, 1}, {32, 1, 1}), "a cluster has at most 16 blocks");
  EXPECT_EQ(why_no_cluster({2, 1, 1}, {4, 1, 1}, {4, 1, 1}),
            "it was compiled for clusters of 2,1,1 blocks (.reqnctapercluster)");
}

TEST(Clusters, HaveTheirRegisters) {
  Case c{
      "mov.u32 %r4, %ctaid.x; mul.wide.u32 %rd6, %r4, 16; add.s64 %rd3, %rd1, %rd6;\n"
      "mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %clusterid.x; mov.u32 %r7, %nclusterid.x;\n"
      "mov.u32 %r8, %cluster_nctarank; st.global.v4.u32 [%rd3], {%r5, %r6, %r7, %r8};\n",
      "u32[24]"};
  c.threads = 1, c.grid = 6, c.cluster = 3;
  std::vector<std::string> const values = c.report().values;
  ASSERT_EQ(values.size(), 24U);
  EXPECT_EQ(values[16], "c[16] = 1");  // block 4: rank 1 of the second cluster of two, which has three blocks
  EXPECT_EQ(values[17], "c[17] = 1");
  EXPECT_EQ(values[18], "c[18] = 2");
  EXPECT_EQ(values[19], "c[19] = 3");
}

TEST(Clusters, HaveTwoAxes) {
  EXPECT_EQ(flow_detail::block_of_rank({4, 0, 0}, {2, 2, 1}, 3), (std::array<std::uint32_t, 3>{5, 1, 0}));
  EXPECT_EQ(flow_detail::block_of_rank({0, 2, 4}, {1, 2, 2}, 3), (std::array<std::uint32_t, 3>{0, 3, 5}));
}

TEST(Clusters, ShareMemory) {
  EXPECT_EQ(pair(in + meet + pull + meet).answer(), "proved");
  EXPECT_EQ(pair(load + meet + push + meet + own).answer(), "proved");
  EXPECT_EQ(pair(in + meet + "cvta.shared.u32 %r9, %r2;\nld.shared.f32 %f2, [%r15];\n" + store + meet).kind(),
            "out of bounds");  // .shared is .shared::cta
  EXPECT_EQ(pair(in + relaxed_meet + pull + meet).kind(), "race");
  EXPECT_EQ(pair(in + meet + pull + relaxed_meet).kind(), "proved");
  EXPECT_EQ(pair(in + meet + push + own + meet).kind(), "race");
}

TEST(Clusters, HaveBlocksThatBeginAndEnd) {
  EXPECT_EQ(
      pair(in + meet + pull).answer(),
      "block lifetime: thread 0 of rank 1 accesses the shared memory of rank 0, which may have ended: no "
      "thread of that block waits for this access before its end");
  EXPECT_EQ(
      pair(in + "bar.sync 0;\n" + pull + meet).answer(),
      "block lifetime: thread 0 of rank 0 reads the shared memory of rank 1, which may not have begun: no "
      "barrier of the cluster is before");
  EXPECT_EQ(pair(load + push + meet + own).kind(), "block lifetime");
  // Rank 1 reads and ends, which the barrier of rank 0 waits for: so rank 0 has not ended. It orders no memory.
  auto const reader_ends = [](std::string const& rest) {
    Case c = pair(in + meet + "setp.eq.u32 %p1, %r10, 0;\n@%p1 bra $R;\n" + pull + "ret;\n$R:\n" + rest);
    c.expect = {"c[i] = a[i-64] for i in 64..127"};
    return c.kind();
  };
  EXPECT_EQ(reader_ends(meet), "proved");
  EXPECT_EQ(reader_ends(""), "block lifetime");
  EXPECT_EQ(reader_ends("barrier.cluster.arrive.aligned;\n"), "block lifetime");
  EXPECT_EQ(reader_ends(meet + "st.shared.f32 [%r3], %f1;\n"), "race");
  // It has arrived before it reads: the phase is complete before its end.
  Case early = pair(in + meet + "barrier.cluster.arrive.aligned;\nsetp.eq.u32 %p1, %r10, 0;\n@%p1 bra $R;\n" +
                    pull + "ret;\n$R: barrier.cluster.wait.aligned;\n");
  early.expect = {"c[i] = a[i-64] for i in 64..127"};
  EXPECT_EQ(early.kind(), "block lifetime");
}

TEST(Clusters, HaveAddressesOfTheirBlocks) {
  std::string const rank = "mapa.shared::cluster.u32 %r12, %r2, 2;\n";
  EXPECT_EQ(pair(rank).answer(),
            "out of bounds: thread 0 of rank 0 maps an address into rank 2, and the cluster has 2 blocks");
  Case c{
      "mapa.shared::cluster.u32 %r12, tile+8, 1; getctarank.shared::cluster.u32 %r13, %r12; "
      "getctarank.shared::cluster.u32 %r14, %r2;\nmov.u32 %r4, %ctaid.x; mul.wide.u32 %rd6, %r4, 8;\n"
      "add.s64 %rd3, %rd1, %rd6; st.global.v2.u32 [%rd3], {%r13, %r14};\n",
      "u32[4]"};
  c.threads = 1, c.grid = c.cluster = 2;
  std::vector<std::string> const found = c.report().values;
  EXPECT_EQ(found, (std::vector<std::string>{"c[0] = 1", "c[1] = 0", "c[2] = 1", "c[3] = 1"}));
}

/// Each thread 0 initialises an mbarrier for 64 arrivals.
std::string const init_remote = only_first("$I",
                                           "mbarrier.init.shared::cta.b64 [%r2+2048], 64;\n"
                                           "fence.mbarrier_init.release.cluster;\n"),
                  arrive_remote = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12+2048];\n",
                  wait_own =
                      "$W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+2048], 0;\n@!%p2 bra $W;\n";

TEST(Clusters, ArriveAtMbarriersOfOthers) {
  EXPECT_EQ(pair(load + init_remote + meet + push + arrive_remote + wait_own + own + meet).answer(),
            "proved");
  EXPECT_EQ(pair(load + init_remote + relaxed_meet + push + arrive_remote + wait_own + own + meet).answer(),
            "proved");
  EXPECT_EQ(pair(load + meet + init_remote + push + arrive_remote + wait_own + own + meet).kind(), "misuse");
  EXPECT_EQ(pair(load + init_remote + meet + arrive_remote + push + wait_own + own + meet).kind(), "race");
  std::string const with_state = "mbarrier.arrive.release.cluster.shared::cluster.b64 %rd9, [%r12+2048];\n",
                    of_block = "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r12+2048];\n",
                    wait_remote =
                        "$W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r12+2048], 0;\n@!%p2 bra $W;\n";
  EXPECT_EQ(pair(load + init_remote + meet + push + with_state + wait_own + own + meet).kind(), "misuse");
  EXPECT_EQ(pair(load + init_remote + meet + push + of_block + wait_own + own + meet).kind(), "race");
  EXPECT_EQ(pair(load + init_remote + meet + push + arrive_remote + wait_remote + own + meet).kind(),
            "out of bounds");
  // it may be that the arrivals of the other block come when this one has ended
  EXPECT_EQ(pair(load + init_remote + meet + push + meet + own + arrive_remote).kind(), "block lifetime");
}

TEST(Clusters, OrderAtomicsByTheirScopes) {
  auto const sums = [](char const* scope) {
    Case c{only_first("$I", "st.shared::cta.u32 [%r2], 0;\n") + meet +
               fmt::format("mapa.shared::cluster.u32 %r12, %r2, 1;\nred.relaxed.{}.shared::cluster.add.u32 "
                           "[%r12], 1;\n",
                           scope) +
               meet +
               only_first("$J",
                          "ld.shared::cta.u32 %r9, [%r2]; mov.u32 %r4, %ctaid.x; mul.wide.u32 %rd6, %r4, 4;\n"
                          "add.s64 %rd3, %rd1, %rd6; st.global.u32 [%rd3], %r9;\n"),
           "u32[2]"};
    c.grid = c.cluster = 2;
    return c;
  };
  EXPECT_EQ(sums("cluster").report().values, (std::vector<std::string>{"c[0] = 0", "c[1] = 128"}));
  EXPECT_EQ(sums("cta").kind(), "race");
}

TEST(Clusters, SendBytesToOthers) {
  std::string const expects =
      only_first("$I",
                 "mbarrier.init.shared::cta.b64 [%r2+2048], 1;\nfence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+2048], 256;\n");
  std::string const value = load + "mov.b32 %r17, %f1;\n";
  auto const sent = [](std::string const& to, std::string const& bar) {
    return "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [" + to + "], %r17, [" + bar +
           "+2048];\n";
  };
  EXPECT_EQ(pair(value + expects + meet + sent("%r15", "%r12") + wait_own + own + meet).answer(), "proved");
  EXPECT_EQ(pair(value + expects + meet + sent("%r15", "%r2") + wait_own + own + meet).kind(), "misuse");
  Case one{value + expects + sent("%r3", "%r2") + wait_own + own};
  one.cluster = 1;
  EXPECT_EQ(one.kind(), "misuse");  // it requires more than one block
  auto const copied = [](std::string const& mask, std::string const& proxy) {
    return only_first(
        "$C", proxy +
                  "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r12+1024], "
                  "[%r2], 256, [%r12+2048];\n" +
                  mask);
  };
  std::string const fence = "fence.proxy.async.shared::cta;\nbar.sync 0;\n",
                    moved = "ld.shared::cta.f32 %f2, [%r3+1024];\n" + store;
  EXPECT_EQ(pair(in + expects + fence + meet + copied("", "") + wait_own + moved + meet).answer(), "proved");
  EXPECT_EQ(pair(in + expects + "bar.sync 0;\n" + meet + copied("", "") + wait_own + moved + meet).kind(),
            "missing fence");
  EXPECT_EQ(pair(in + expects + fence + meet + copied("", "") + meet).kind(), "block lifetime");
}

TEST(Clusters, MulticastToTheBlocksOfAMask) {
  // block 0 copies 64 elements of a to both blocks
  auto const kernel = [](unsigned mask, unsigned bytes) {
    Case c{
        other +
            only_first("$I", fmt::format("mbarrier.init.shared::cta.b64 [%r2+2048], 1;\n"
                                         "fence.mbarrier_init.release.cluster;\n"
                                         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+2048], {};\n",
                                         bytes)) +
            meet + "setp.ne.u32 %p6, %r10, 0;\n@%p6 bra $N;\n" +
            only_first(
                "$C", fmt::format("mov.b16 %h1, {};\ncp.async.bulk.shared::cluster.global.mbarrier::complete_"
                                  "tx::bytes.multicast::cluster [%r2], [%rd2], 256, [%r2+2048], %h1;\n",
                                  mask)) +
            "$N:\n" + wait_own + own + meet,
        "f32[128]", "f32[64]"};
    c.expect = {"c[i] = a[i] for i in 0..63", "c[i] = a[i-64] for i in 64..127"};
    c.grid = c.cluster = 2;
    return c;
  };
  EXPECT_EQ(kernel(3, 256).answer(), "proved");
  Case unknown = kernel(3, 256);
  unknown.cluster = 0;
  EXPECT_EQ(unknown.kind(), "unknown");  // the size of the cluster is not given
  EXPECT_EQ(kernel(1, 256).kind(), "never released");
  EXPECT_EQ(kernel(2, 256).kind(), "never released");
  EXPECT_EQ(kernel(7, 256).kind(), "out of bounds");
  EXPECT_EQ(kernel(3, 240).kind(), "never released");
}

TEST(Clusters, CommitTensorWorkToTheBlocksOfAMask) {
  auto const kind = [](unsigned mask, std::string const& last) {
    return pair(only_first("$I",
                           "mbarrier.init.shared::cta.b64 [%r2+2048], 1;\n"
                           "fence.mbarrier_init.release.cluster;\n") +
                meet + "setp.ne.u32 %p6, %r10, 0;\n@%p6 bra $N;\n" +
                only_first("$C",
                           fmt::format("mov.b16 %h1, {};\ntcgen05.commit.cta_group::1.mbarrier::arrive::one."
                                       "shared::cluster.multicast::cluster.b64 [%r2+2048], %h1;\n",
                                       mask)) +
                "$N:\n" + last)
        .kind();
  };
  EXPECT_EQ(kind(3, wait_own), "refuted");  // nothing is stored, and nothing else is wrong
  EXPECT_EQ(kind(1, wait_own), "never released");
  EXPECT_EQ(kind(3, ""), "block lifetime");
}

TEST(Clusters, OrderNoArrivalOfACommitBehindAnother) {
  // Rank 1 waits for the arrival at its own mbarrier and says so to rank 0, by another one. Rank 0 takes its first phase to be complete.
  auto const answer = [](std::string const& waits) {
    Case c{other +
           only_first("$I",
                      "mbarrier.init.shared::cta.b64 [%r2+2048], 1;\nmbarrier.init.shared::cta.b64 "
                      "[%r2+2056], 1;\nfence.mbarrier_init.release.cluster;\n") +
           meet + "setp.ne.u32 %p6, %r10, 0;\nsetp.ne.u32 %p5, %r1, 0;\n@%p5 bra $E;\n@%p6 bra $R;\n" +
           "mov.b16 %h1, 3;\ntcgen05.commit.cta_group::1.mbarrier::arrive::one."
           "shared::cluster.multicast::cluster.b64 [%r2+2048], %h1;\n"
           "$U: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+2056], 0;\n@!%p2 bra $U;\n" +
           waits +
           "mbarrier.arrive.shared.b64 %rd9, [%r2+2048];\n"
           "$V: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+2048], 1;\n@!%p2 bra $V;\nbra $E;\n"
           "$R:\n" +
           wait_own + "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12+2056];\n$E:\n" + meet};
    c.grid = c.cluster = 2;
    return c.answer();
  };
  EXPECT_EQ(answer("$X: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2+2048], 0;\n@!%p2 bra $X;\n"),
            "proved");
  EXPECT_EQ(answer("").substr(0, 7), "unknown") << answer("");
}

TEST(Clusters, RefuseScopesOfABlock) {
  std::string const flag = "setp.ne.u32 %p6, %r10, 0;\n";
  EXPECT_EQ(pair(load + meet + push + "fence.acq_rel.cta;\n" + relaxed_meet + own).answer(),
            "unknown: a relaxed arrival behind a fence of the scope .cta: what it releases is not modelled");
  EXPECT_EQ(pair(load + meet + push + "fence.acq_rel.cluster;\n" + relaxed_meet + own).answer(), "proved");
}

}  // namespace
}  // namespace swizproof
