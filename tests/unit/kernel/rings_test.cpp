#include "kernel_case.hpp"

#include <algorithm>
#include <utility>

namespace swizproof {
namespace {

/// Two stages of 256 bytes: thread 0 copies, threads 32 to 63 read. Mbarriers `full` lie at 4096, `empty` at 4112.
struct RingText {
  std::string producers = "1", consumers = "32",  ///< counts of the mbarriers
      producing = "setp.ne.u32 %p1, %r1, 0; @%p1 bra E;\n", consuming = "",
              empty_wait =
                  "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r12+4112], %r11; @!%p3 bra W;\n",
              expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12+4096], 256;\n",
              copy =
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 256, "
                  "[%r12+4096];\n",
              first_parity = "1", first_stage = "0", behind_init = "bar.sync 0;\n",
              full_wait =
                  "V: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r12+4096], %r11; @!%p3 bra V;\n",
              read = "ld.shared.u32 %r15, [%r13+4];\n",
              release = "mbarrier.arrive.shared::cta.b64 _, [%r12+4112];\n", stages = "2",
              flip = "selp.u32 %r14, 1, 0, %p4; xor.b32 %r11, %r11, %r14;\n";
};

/// A loop over stages: %r10 is the stage, %r11 the parity, %r12 its mbarrier, %r13 its first byte.
std::string stages_of(std::string const& label, std::string const& stage, std::string const& parity,
                      std::string const& stages, std::string const& flip, std::string const& body) {
  return "mov.u32 %r10, " + stage + "; mov.u32 %r11, " + parity + "; mov.u32 %r20, 0;\n" + label +
         ": shl.b32 %r12, %r10, 3; add.u32 %r12, %r12, %r2; shl.b32 %r13, %r10, 8; add.u32 %r13, %r13, "
         "%r2;\n" +
         body + "add.u32 %r10, %r10, 1; setp.eq.u32 %p4, %r10, " + stages +
         "; selp.u32 %r10, 0, %r10, %p4;\n" + flip +
         "add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, %r3; @%p8 bra " + label + ";\n";
}

std::string text_of(RingText const& t) {
  std::string const init =
      "ld.param.u64 %rd1, [g]; setp.ne.u32 %p1, %r1, 0; @%p1 bra S;\n"
      "mbarrier.init.shared::cta.b64 [%r2+4096], " +
      t.producers + ";\nmbarrier.init.shared::cta.b64 [%r2+4104], " + t.producers +
      ";\nmbarrier.init.shared::cta.b64 [%r2+4112], " + t.consumers +
      ";\nmbarrier.init.shared::cta.b64 [%r2+4120], " + t.consumers + ";\nS:\n" + t.behind_init;
  return init + "setp.ge.u32 %p2, %r1, 32; @%p2 bra C;\n" + t.producing +
         stages_of("P", t.first_stage, t.first_parity, t.stages, t.flip, t.empty_wait + t.expect + t.copy) +
         "bra E;\nC:\n" + t.consuming +
         stages_of("Q", "0", "0", "2", "selp.u32 %r14, 1, 0, %p4; xor.b32 %r11, %r11, %r14;\n",
                   t.full_wait + t.read + t.release) +
         "E:\n";
}

KernelRaces races_of_ring(RingText const& t) {
  KernelOptions options;
  options.races = true;
  return report_of(text_of(t), std::move(options)).races.value();
}
void expect_ring(RingText const& t) {
  KernelRaces const races = races_of_ring(t);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << text_of(t) << races.reason;
}
void expect_no_ring(RingText const& t, std::string const& reason) {
  KernelRaces const races = races_of_ring(t);
  EXPECT_EQ(races.verdict, RaceVerdict::unknown) << text_of(t);
  EXPECT_NE(races.reason.find(reason), std::string::npos) << races.reason;
}

TEST(KernelRings, ProducersAndConsumersPassStages) {
  RingText t;
  expect_ring(t);
  std::swap(t.expect, t.copy);  // the bytes are expected behind the copy
  expect_ring(t);
  RingText half;
  half.copy =
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 128, [%r12+4096];\n"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r13+128], [%rd1], 128, [%r12+4096];\n";
  expect_ring(half);
}

// The next copy is of the asynchronous proxy; a commit of tcgen05 does not track loads and stores.
TEST(KernelRings, AStageIsNotReleasedByWhatDoesNotOrderIt) {
  RingText written;
  for (char const* write : {"st.shared.u32 [%r13+4], %r1;\n", "red.shared.add.u32 [%r13+4], 1;\n"}) {
    written.read = write;
    written.producers = "1", written.consumers = "1";
    written.consuming = "setp.ne.u32 %p1, %r1, 32; @%p1 bra E;\n";
    expect_no_ring(written, "two threads may access one byte");
  }
  RingText committed = written;
  committed.read = RingText{}.read;
  expect_ring(committed);
  committed.release = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r12+4112];\n";
  expect_no_ring(committed, "two threads may access one byte");
}

// Each premise of the theorem, left out.
TEST(KernelRings, WithoutAPremiseThereIsNoRing) {
  auto const without = [](std::string RingText::*part, std::string const& text, std::string const& reason) {
    RingText t;
    t.*part = text;
    expect_no_ring(t, reason);
  };
  std::string const not_empty = "a thread arrives again at an mbarrier that no other one is paired with";
  without(&RingText::empty_wait, "", not_empty);
  without(&RingText::full_wait, "", "two threads may access one byte");
  without(&RingText::release, "", not_empty);
  without(&RingText::release, "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r12+4112];\n",
          "releases nothing");
  without(&RingText::first_parity, "0", "two threads may access one byte");
  without(&RingText::first_stage, "1", "two threads may access one byte");
  without(&RingText::flip, "", not_empty);
  without(&RingText::behind_init, "", "mbarrier.init");
  without(&RingText::read, "ld.shared.u32 %r15, [%r13+256];\n", "two threads may access one byte");
  without(&RingText::read, "mbarrier.arrive.shared::cta.b64 _, [%r12+4112]; ld.shared.u32 %r15, [%r13];\n",
          not_empty);
  without(&RingText::expect, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12+4096], 240;\n",
          "more bytes than are expected");
  without(&RingText::expect, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12+4096], 272;\n",
          "expects 16 bytes more");
  without(&RingText::copy,
          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 128, [%r12+4096];\n"
          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 128, [%r12+4096];\n",
          "may access one byte");
  without(&RingText::full_wait,
          "V: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p3, [%r12+4096], %r11; @!%p3 bra V;\n",
          "two threads may access one byte");
  without(&RingText::full_wait,
          "V: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r12+4096], %r11; @%p3 bra V;\n",
          "two threads may access one byte");
}

TEST(KernelRings, AnMbarrierCountsItsThreads) {
  RingText t;
  t.consumers = "31";
  expect_no_ring(t, "32 threads may arrive at an mbarrier, or access its stage, that counts 31");
  t.consuming = "setp.ge.u32 %p5, %r1, 63; @%p5 bra E;\n";
  expect_ring(t);
  t.producing = "setp.gt.u32 %p1, %r1, 1; @%p1 bra E;\n";
  expect_no_ring(t, "2 threads may arrive at an mbarrier, or access its stage, that counts 1");
  // One lane of the warp arrives for all that read: the others are not counted.
  RingText one;
  one.consumers = "1";
  one.release =
      "setp.ne.u32 %p6, %r1, 32; @%p6 bra R;\nmbarrier.arrive.shared::cta.b64 _, [%r12+4112];\nR:\n";
  expect_no_ring(one, "32 threads may arrive at an mbarrier, or access its stage, that counts 1");
}

// Both the first copies and those of the loop are made by threads with tid.x = 0, whose predicates are two registers.
TEST(KernelRings, TruthsOfOneFunctionAgree) {
  std::string const
      init =
          "ld.param.u64 %rd1, [g]; setp.ne.u32 %p1, %r1, 0; @%p1 bra S;\nmbarrier.init.shared::cta.b64 "
          "[%r2+4096], 1;\n"
          "mbarrier.init.shared::cta.b64 [%r2+4112], 64;\nS: bar.sync 0;\n",
      fill =
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+4096], 256;\n"
          "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [%r2+4096];\n";
  auto const kernel = [&](std::string const& again) {
    return init + "setp.ne.u32 %p2, %r1, 0; @%p2 bra T;\n" + fill +
           "T: mov.u32 %r11, 0; mov.u32 %r20, 0;\n"
           "Q: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2+4096], %r11; @!%p3 bra Q;\n"
           "ld.shared.u32 %r15, [%r2]; mbarrier.arrive.shared::cta.b64 _, [%r2+4112];\n" +
           again +
           " %p4, %r1, 0; @%p4 bra U;\nW: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2+4112], %r11; "
           "@!%p5 bra W;\n" +
           fill +
           "U: xor.b32 %r11, %r11, 1; add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, %r3; @%p8 bra Q;\n";
  };
  KernelOptions options;
  options.races = true;
  EXPECT_EQ(report_of(kernel("setp.ne.u32"), options).races.value().verdict, RaceVerdict::proved);
  EXPECT_EQ(report_of(kernel("setp.eq.u32"), options).races.value().verdict, RaceVerdict::unknown);
}

TEST(KernelRings, AThreadArrivesForItsWarpgroup) {
  auto const kernel = [](std::string const& count, std::string const& arriving, std::string const& waits) {
    std::string const fill =
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+4096], 256;\n"
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, [%r2+4096];\n";
    return "ld.param.u64 %rd1, [g]; setp.ne.u32 %p1, %r1, 0; @%p1 bra S;\nmbarrier.init.shared::cta.b64 "
           "[%r2+4096], 1;\n"
           "mbarrier.init.shared::cta.b64 [%r2+4112], " +
           count + ";\nS: bar.sync 0;\n@%p1 bra T;\n" + fill +
           "T: mov.u32 %r11, 0; mov.u32 %r20, 0; shr.u32 %r9, %r2, 4; and.b32 %r9, %r9, 16383; cvt.u64.u32 "
           "%rd3, %r9;\n"
           "or.b64 %rd3, %rd3, 68720001024;\n"
           "Q: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2+4096], %r11; @!%p3 bra "
           "Q;\nwgmma.fence.sync.aligned;\n"
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r24, %r25, %r26, %r27}, {%r21, %r21, %r21, "
           "%r21}, %rd3, "
           "1, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\n" +
           waits + arriving +
           "mbarrier.arrive.shared::cta.b64 _, [%r2+4112];\nR: @%p1 bra U;\n"
           "W: mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2+4112], %r11; @!%p5 bra W;\n" +
           fill +
           "U: xor.b32 %r11, %r11, 1; add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, %r3; @%p8 bra Q;\n";
  };
  auto const races = [&](std::string const& text, unsigned threads = 128) {
    KernelOptions options;
    options.races = true, options.block = {{threads, 1, 1}};
    return report_of(text, options).races.value();
  };
  auto const assumes = [](KernelRaces const& r) {
    return std::any_of(r.assumed.begin(), r.assumed.end(), [](std::string const& a) {
      return a.find("is complete in its warpgroup") != std::string::npos;
    });
  };
  std::string const wait = "wgmma.wait_group.sync.aligned 0;\n",
                    one = "setp.ne.u32 %p6, %r1, 64; @%p6 bra R;\n",
                    other = "setp.ne.u32 %p6, %r1, 128; @%p6 bra R;\n";
  KernelRaces const all = races(kernel("128", "", wait));
  EXPECT_EQ(all.verdict, RaceVerdict::proved) << all.reason;
  EXPECT_FALSE(assumes(all));
  KernelRaces const of_one = races(kernel("1", one, wait));
  EXPECT_EQ(of_one.verdict, RaceVerdict::proved) << of_one.reason;
  EXPECT_TRUE(assumes(of_one));
  EXPECT_EQ(races(kernel("1", one, "")).verdict, RaceVerdict::unknown);
  // The other warpgroup arrives, for both of them.
  KernelRaces const of_other = races(kernel("1", other, wait), 256);
  EXPECT_NE(of_other.reason.find("no thread may arrive for a warpgroup"), std::string::npos)
      << of_other.reason;
}

TEST(KernelRings, ABoxIsTheDistanceToTheNextDestination) {
  RingText t;
  t.copy =
      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd1, {%r10}], "
      "[%r12+4096];\n";
  KernelRaces const races = races_of_ring(t);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << races.reason;
  EXPECT_TRUE(std::any_of(races.assumed.begin(), races.assumed.end(), [](std::string const& a) {
    return a.find("boxes of tensors have 256 bytes each") != std::string::npos;
  }));
  t.expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12+4096], 512;\n";
  expect_no_ring(t, "two threads may access one byte");
}

// tcgen05.mma reads a stage, and tcgen05.commit arrives for it.
TEST(KernelRings, ACommitWaitsForWhatTcgen05Reads) {
  std::string const
      matrix =
          "shr.u32 %r21, %r13, 4; cvt.u64.u32 %rd2, %r21; and.b64 %rd2, %rd2, 16383; or.b64 %rd2, "
          "%rd2, 70368744177664; mov.b32 %r22, 67239952; setp.eq.u32 %p5, %r20, 0;\n",
      mma = "tcgen05.mma.cta_group::1.kind::f16 [%r23], %rd2, %rd2, %r22, %p5;\n",
      commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r12+4112];\n",
      arrive = "mbarrier.arrive.shared::cta.b64 _, [%r12+4112];\n";
  RingText t;
  t.consumers = "1", t.consuming = "setp.ne.u32 %p6, %r1, 32; @%p6 bra E;\n";
  t.read = matrix + mma, t.release = commit;
  expect_ring(t);
  t.release = "cvt.u64.u32 %rd3, %r12; tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%rd3+4112];\n";
  expect_ring(t);  // a generic address
  std::string const meet = "two threads may access one byte";
  t.release = arrive;  // it does not wait
  expect_no_ring(t, meet);
  t.read = matrix, t.release = commit + mma;
  expect_no_ring(t, "");
  t.read = matrix + mma;
  t.release = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r12+4112];\n";
  expect_no_ring(t, "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 is not modelled");
  t.release = commit;
  t.read = "add.u32 %r13, %r13, 128;\n" + matrix + mma;  // its second half
  expect_ring(t);
  t.read = "add.u32 %r13, %r13, 240;\n" + matrix + mma;  // and 112 bytes of the next stage
  expect_no_ring(t, meet);
}

// The number of the warp comes from its first lane: an address of the stage in one warp, and of the next stage in another one.
TEST(KernelRings, TheThreadsOfAWarpHavePathsOfTheirOwn) {
  auto const reading = [](std::string const& scale) {
    return "shr.u32 %r21, %r1, 5; mov.u32 %r24, 0; shfl.sync.idx.b32 %r22, %r21, %r24, 31, -1; shl.b32 %r22, "
           "%r22, " +
           scale + "; add.u32 %r22, %r22, %r13;\nld.shared.u32 %r15, [%r22+4];\n";
  };
  RingText t;
  t.read = reading("7");
  expect_ring(t);
  t.read = reading("8");
  expect_no_ring(t, "two threads may access one byte");
}

// It ends before the mbarriers, which lie behind it.
TEST(KernelRings, ABoxThatIsStoredEndsWhereACopyBegins) {
  RingText t;
  t.read +=
      "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r10}], [%r2+2048];\n"
      "cp.async.bulk.commit_group;\n";
  KernelRaces const races = races_of_ring(t);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << races.reason;
  EXPECT_TRUE(std::any_of(races.assumed.begin(), races.assumed.end(), [](std::string const& a) {
    return a.find("boxes of tensors that are stored have at most 2048 bytes each") != std::string::npos;
  }));
  std::string const store = "setp.eq.u32 %p7, %r1, 32; @%p7 st.shared.u32 [%r2+";
  t.read += store + "1024], %r1;\n";
  expect_ring(t);
  t.read += store + "4080], %r1;\n";
  expect_no_ring(t, "may access one byte");
}

// Stores are of the generic proxy, tcgen05.mma reads by the asynchronous one.
TEST(KernelRings, AStoreForTheAsynchronousProxyNeedsAFence) {
  std::string const arrive = "mbarrier.arrive.shared::cta.b64 _, [%r12+4096];\n",
                    fence = "fence.proxy.async.shared::cta;\n";
  RingText t;
  t.consumers = "1", t.consuming = "setp.ne.u32 %p6, %r1, 32; @%p6 bra E;\n";
  t.read =
      "shr.u32 %r21, %r13, 4; cvt.u64.u32 %rd2, %r21; and.b64 %rd2, %rd2, 16383; or.b64 %rd2, %rd2, "
      "70368744177664; mov.b32 %r22, 67239952; setp.eq.u32 %p5, %r20, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%r23], %rd2, %rd2, %r22, %p5;\n";
  t.release = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r12+4112];\n";
  t.expect = "st.shared.u32 [%r13], %r1;\n";
  t.copy = fence + arrive;
  expect_ring(t);
  t.copy = arrive;
  expect_no_ring(t, "two threads may access one byte");
  t.expect = fence + t.expect;  // before the store
  expect_no_ring(t, "two threads may access one byte");
  KernelOptions options;
  options.races = true, options.proxies = false;
  EXPECT_EQ(report_of(text_of(t), std::move(options)).races.value().verdict, RaceVerdict::proved);
}

TEST(KernelRings, BytesMayBeExpectedBeforeTheArrival) {
  std::string const bytes = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r12+4096], 256;\n",
                    arrive = "mbarrier.arrive.shared::cta.b64 _, [%r12+4096];\n";
  RingText t;
  t.expect = bytes, t.copy += arrive;
  expect_ring(t);
  std::swap(t.expect, t.copy);
  t.copy = bytes + arrive, t.expect = RingText{}.copy;  // behind the copy
  expect_ring(t);
  t.copy = arrive + bytes;
  expect_no_ring(t, "256 bytes more than are expected");
  t.copy = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r12+4096], 240;\n" + arrive;
  expect_no_ring(t, "16 bytes more than are expected");
}

// An array is aligned, or it is not, in all launches alike.
TEST(KernelRings, AnArrayIsAlignedByABranch) {
  std::string const align =
      "mov.u32 %r24, %r2; and.b32 %r25, %r24, 1023; setp.eq.u32 %p7, %r25, 0; @%p7 bra A;\n"
      "and.b32 %r24, %r24, 64512; add.u32 %r24, %r24, 1024;\nA:\n";
  RingText t;
  t.copy =
      "shl.b32 %r13, %r10, 8; add.u32 %r13, %r13, %r24;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r13], [%rd1], 256, [%r12+4096];\n";
  t.read = "shl.b32 %r13, %r10, 8; add.u32 %r13, %r13, %r24;\nld.shared.u32 %r15, [%r13+4];\n";
  KernelOptions options;
  options.races = true;
  KernelRaces const races = report_of(align + text_of(t), std::move(options)).races.value();
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << races.reason;
}

TEST(KernelRings, AClusterOfOneBlockIsAssumed) {
  RingText t;
  t.release = "mapa.shared::cluster.u32 %r16, %r12, 0; mbarrier.arrive.shared::cluster.b64 _, [%r16+4112];\n";
  KernelRaces const races = races_of_ring(t);
  EXPECT_EQ(races.verdict, RaceVerdict::proved) << races.reason;
  EXPECT_NE(std::find(races.assumed.begin(), races.assumed.end(),
                      "a cluster has one block, so that mapa and .multicast are about its own memory"),
            races.assumed.end());
}

TEST(KernelRings, ABarrierOfTheClusterHoldsTheBlock) {
  RingText t;
  t.behind_init = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  expect_ring(t);
  t.behind_init = "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n";
  expect_no_ring(t, "mbarrier.init");
}

}  // namespace
}  // namespace swizproof
