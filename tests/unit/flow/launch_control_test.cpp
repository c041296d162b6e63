// clusterlaunchcontrol: what a request writes and when, what may be read of a response, and the work of canceled blocks.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
namespace {

std::string const requested =
                      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
                      "[%r2], [%r9];\n",
                  expected_bytes =
                      "mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 %rd11, [%r9], 16;\n",
                  canceled = "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p6, %q1;\n",
                  first_block = "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r5, %q1;\n",
                  released = "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;\n",
                  acquired = "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;\n",
                  awaited = "$w: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r9], %r6; @!%p5 bra $w;\n",
                  awaited_again =
                      "$v: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r9], %r6; @!%p5 bra $v;\n";

/// Block %r5 copies its elements of `a` to c, and then those of the blocks that it cancels: the loop of the CUDA Programming Guide, 12.2.
struct Persistent {
  std::string acquires = acquired, requests = requested, arrives = expected_bytes, waits = awaited,
              loads = "ld.shared.b128 %q1, [%r2];\n", queries = canceled + "@!%p6 bra $done;\n",
              takes = first_block, releases = released, meets = "bar.sync 0;\n", ends;
  unsigned grid = 3, cluster = 0;

  [[nodiscard]] Case kernel() const {
    Case c{
        ".reg .b128 %q<4>; setp.ne.u32 %p1, %r1, 0; mov.u32 %r5, %ctaid.x; mov.u32 %r6, 0; add.u32 %r9, %r2, "
        "3968;\n@%p1 bra $i; mbarrier.init.shared::cta.b64 [%r9], 1; $i:\n$loop: " +
            meets + "@%p1 bra $work;\n" + acquires + requests + arrives +
            "$work: mad.lo.u32 %r10, %r5, 64, %r1; mul.wide.u32 %rd6, %r10, 4; add.u64 %rd7, %rd2, %rd6; "
            "add.u64 %rd8, %rd1, %rd6;\nld.global.f32 %f1, [%rd7]; st.global.f32 [%rd8], %f1;\n" +
            waits + loads + queries + takes + releases + "xor.b32 %r6, %r6, 1; bra $loop;\n$done:\n" + ends,
        fmt::format("f32[{}]", 64 * grid), fmt::format("f32[{}]", 64 * grid)};
    c.expect = {fmt::format("c[i] = a[i] for i in 0..{}", 64 * grid - 1)};
    c.grid = grid, c.cluster = cluster;
    return c;
  }
  [[nodiscard]] std::string answer() const { return kernel().answer(); }
  [[nodiscard]] std::string kind() const { return kernel().kind(); }
};

bool starts(std::string const& text, std::string const& with) { return text.starts_with(with); }

TEST(LaunchControl, CancelsEachBlockOrNone) {
  std::uint64_t const ways[] = {1, 2, 5, 16, 65};
  for (unsigned grid = 1; grid <= 5; ++grid) {
    Persistent p;
    p.grid = grid;
    FlowReport const r = p.kernel().report();
    EXPECT_EQ(r.verdict, FlowVerdict::proved) << r.reason;
    EXPECT_EQ(r.ways, ways[grid - 1]);
    EXPECT_TRUE(r.cancels);
  }
  Persistent p;
  p.grid = 6;
  EXPECT_EQ(
      p.answer(),
      "unknown: a request may cancel any of 2 clusters: more than 256 ways, or 16 choices of one, are not "
      "followed");
}

TEST(LaunchControl, HasFurtherForms) {
  Persistent p;
  p.takes = "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r5, %r20, %r21, _}, %q1;\n";
  EXPECT_EQ(p.answer(), "proved");
  p.loads = "ld.shared.v2.b64 {%rd14, %rd15}, [%r2]; mov.b128 %q2, {%rd14, %rd15}; mov.b128 %q1, %q2;\n";
  EXPECT_EQ(p.answer(), "proved");
  p.loads = "ld.shared.v2.b64 {%rd15, %rd14}, [%r2]; mov.b128 %q1, {%rd14, %rd15};\n";
  EXPECT_EQ(p.answer(), "unknown: 16 bytes that are no response of clusterlaunchcontrol.try_cancel");
  p.loads = "ld.shared.b128 %q2, [%r2]; mov.b128 {%rd14, %rd15}, %q2; mov.b128 %q1, {%rd14, %rd14};\n";
  EXPECT_EQ(p.answer(), "unknown: 16 bytes that are no response of clusterlaunchcontrol.try_cancel");
  p.loads = "ld.shared.b128 %q2, [%r2]; st.shared.b128 [%r2+16], %q2; ld.shared.b128 %q1, [%r2+16];\n";
  EXPECT_EQ(p.kind(), "race");  // of all threads
}

TEST(LaunchControl, DoesTheWorkOfCanceledBlocks) {
  Persistent p;
  p.takes = "clusterlaunchcontrol.query_cancel.get_first_ctaid::y.b32.b128 %r5, %q1;\n";
  FlowReport const r = p.kernel().report();
  EXPECT_EQ(r.verdict, FlowVerdict::refuted);
  ASSERT_FALSE(r.missing_names.empty());
  EXPECT_EQ(r.missing_names[0], "c[64], where block 0,0,0 cancels block 1,0,0");
  p = {};
  p.queries = "mov.u32 %r5, 1; bra $done;\n", p.takes = "";
  EXPECT_EQ(p.kernel().report().missing_names[0], "c[64], where block 0,0,0 cancels block 1,0,0");
  p = {};
  p.takes +=
      "@%p1 add.f32 %f9, %f9, %f9; add.u32 %r20, %r5, 7; setp.eq.u32 %p2, %r20, 8; @%p2 mov.u64 %rd2, "
      "%rd1;\n";
  EXPECT_NE(p.answer(), "proved");  // block 1 is done with c in place of a
}

TEST(LaunchControl, NeedsTheWholeGrid) {
  Persistent p;
  Case c = p.kernel();
  c.only_first_block = true;
  EXPECT_EQ(c.answer(), "unknown: a request to cancel a cluster, and only a part of the grid is executed");
}

TEST(LaunchControl, WaitsForTheResponse) {
  Persistent p;
  p.waits = "";
  EXPECT_EQ(p.kind(), "race");
  p = {};
  p.requests = requested + requested;
  EXPECT_EQ(p.kind(), "race");  // of two responses
  p = {};
  p.arrives = "mbarrier.arrive.shared::cta.b64 %rd11, [%r9];\n";
  EXPECT_NE(p.answer(), "proved");  // the phase may be complete before the response
  p = {};
  p.requests = "";
  EXPECT_EQ(p.kind(), "never released");
  p = {};
  p.requests =
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2+8], "
      "[%r9];\n";
  EXPECT_EQ(p.kind(), "misaligned");
}

TEST(LaunchControl, HasAProxyOfItsOwn) {
  Persistent p;
  p.releases = "";
  EXPECT_EQ(p.kind(), "missing fence");
  p = {};
  p.acquires = "";
  EXPECT_EQ(p.kind(), "missing fence");
  p.acquires = "fence.proxy.async.shared::cta;\n", p.releases = "";
  EXPECT_EQ(p.answer(), "proved");
  p.acquires = "", p.releases = "fence.proxy.async.shared::cta;\n";
  EXPECT_EQ(p.answer(), "proved");
  p.acquires = released, p.releases = acquired;
  EXPECT_NE(p.answer(), "proved");
}

TEST(LaunchControl, IsUndefinedBehindAnObservedFailure) {
  Persistent p;
  p.queries = canceled, p.takes = "mov.u32 %r5, %ctaid.x;\n";
  EXPECT_TRUE(starts(p.answer(), "misuse: thread 0 requests to cancel a cluster, and thread 0 has observed"))
      << p.answer();
  p = {};
  p.queries = "", p.takes = first_block;
  EXPECT_TRUE(starts(p.answer(), "misuse: thread 0 reads the first block of a request that has failed"))
      << p.answer();
  // Two requests without an observation between.
  p = {};
  p.grid = 1;
  p.requests = requested + expected_bytes;
  p.arrives = awaited_again + "xor.b32 %r6, %r6, 1;\n" + acquired + requested + expected_bytes;
  p.ends = "";
  EXPECT_NE(p.kind(), "misuse");
}

TEST(LaunchControl, RequestsAreBeforeAnObservedFailure) {
  // Each thread observes the failure of thread 0's request, and thread 63 requests without order.
  Persistent p;
  p.grid = 1;
  p.ends =
      "setp.ne.u32 %p2, %r1, 63; @%p2 bra $e;\n"
      "add.u32 %r12, %r2, 64; add.u32 %r13, %r2, 3976; mbarrier.init.shared::cta.b64 [%r13], 1;\n"
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r12], [%r13];\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 %rd11, [%r13], 16;\n$e:\n";
  EXPECT_EQ(p.kind(), "misuse");
  // Thread 32 requests and observes, and thread 0 requests without order.
  p.ends = "";
  p.acquires =
      "bra $n; $m: add.u32 %r12, %r2, 64; add.u32 %r13, %r2, 3976; mbarrier.init.shared::cta.b64 [%r13], 1;\n"
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r12], [%r13];\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 %rd11, [%r13], 16; bra $work; $n:\n";
  p.meets = "bar.sync 0; setp.eq.u32 %p2, %r1, 0; @%p2 bra $m; setp.ne.u32 %p1, %r1, 32;\n";
  EXPECT_TRUE(starts(p.answer(), "unknown: thread 0 may request to cancel a cluster behind the failure"))
      << p.answer();
}

TEST(LaunchControl, RespondsInEachBlockOfTheCluster) {
  Persistent p;
  p.meets = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  p.requests =
      "mov.u32 %r20, %cluster_ctarank; setp.eq.u32 %p2, %r20, 0;\n"
      "@%p2 "
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::"
      "all."
      "b128 [%r2], [%r9];\n";
  p.takes = first_block + "mov.u32 %r20, %cluster_ctarank; add.u32 %r5, %r5, %r20;\n";
  p.grid = 6, p.cluster = 2;
  EXPECT_EQ(p.answer(), "proved");
  p.takes = first_block;
  EXPECT_NE(p.answer(), "proved");  // both blocks do the work of the first one
  p.takes = first_block + "mov.u32 %r20, %cluster_ctarank; add.u32 %r5, %r5, %r20;\n";
  p.meets = "bar.sync 0;\n";
  EXPECT_NE(p.answer(), "proved");
}

TEST(LaunchControl, RelaxedOperationsBetweenFencesAreNotModelled) {
  Persistent p;
  p.meets = "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n";
  p.cluster = 1;
  EXPECT_NE(p.answer(), "proved");
  p.meets = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
  EXPECT_EQ(p.answer(), "proved");
}

TEST(LaunchControl, BytesAreOpaque) {
  Persistent p;
  p.loads = "ld.shared.v2.b64 {%rd14, %rd15}, [%r2]; mov.b128 %q1, {%rd14, %rd15};\n";
  p.queries = "setp.eq.u64 %p6, %rd15, 0; @%p6 bra $done;\n";
  EXPECT_EQ(p.kind(), "unknown");
}

}  // namespace
}  // namespace swizproof
