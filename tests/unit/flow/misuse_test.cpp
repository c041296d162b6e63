// Uses that the PTX ISA calls undefined: parities, tx-counts, destinations, .uni, sizes of prefetches, spaces of vector atomics.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
namespace {

std::string first_alone(std::string const& body) { return Case{only_first("$A", body)}.kind(); }

// 9.7.13.15.16: the valid values of phaseParity are 0 and 1.
TEST(Misuse, OfParities) {
  auto const kind = [](std::string const& parity) {
    return first_alone(
        "mbarrier.init.shared.b64 [tile], 1;\nmbarrier.arrive.shared.b64 _, [tile];\n"
        "$W: mbarrier.try_wait.parity.shared.b64 %p2, [tile], " +
        parity + ";\n@!%p2 bra $W;\n");
  };
  EXPECT_EQ(kind("0"), "proved");
  EXPECT_EQ(kind("2"), "misuse");
}

// 9.7.13.15.2: a tx-count is at most 2^20 - 1; copies may be complete behind all that expect them.
TEST(Misuse, OfTransactionCounts) {
  auto const kind = [](std::string const& more) {
    return first_alone(
        "mbarrier.init.shared.b64 [tile], 1;\n"
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 1048575;\n" +
        more);
  };
  EXPECT_EQ(kind(""), "proved");
  EXPECT_EQ(kind("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [tile], 1;\n"), "misuse");
  EXPECT_EQ(kind("mbarrier.arrive.expect_tx.shared.b64 _, [tile], 1;\n"), "misuse");
}

// 6.4.3: the elements of a vector that is a destination are unique.
TEST(Misuse, OfDestinations) {
  EXPECT_EQ(first_alone("ld.global.v2.f32 {%f1, %f2}, [%rd2];\n"), "proved");
  EXPECT_EQ(first_alone("ld.global.v2.f32 {%f1, %f1}, [%rd2];\n"), "misuse");
  EXPECT_EQ(first_alone("mov.b64 {%r5, %r5}, %rd2;\n"), "misuse");
  EXPECT_EQ(first_alone("mov.b64 {_, %r5}, %rd2;\n"), "proved");
  EXPECT_EQ(first_alone("mov.b64 %rd7, {%r1, %r1};\n"), "proved");
}

// 9.7.12.5: the active threads of a warp have one guard at call.uni.
TEST(Misuse, OfUniformCalls) {
  auto const kind = [](std::string const& how) {
    Case c{"setp.lt.u32 %p1, %r1, 16;\n@%p1 call" + how + " (%r5), f, (%r1);\n"};
    c.functions = ".func (.reg .b32 %q) f(.reg .b32 %n)\n{\nadd.u32 %q, %n, 1;\nret;\n}\n";
    return c.kind();
  };
  EXPECT_EQ(kind(""), "proved");
  EXPECT_EQ(kind(".uni"), "misuse");
}

// 9.7.14.5.15: of sm_75 all threads give valid addresses.
TEST(Misuse, OfRowsThatAreNotRead) {
  auto const kind = [](std::string const& target) {
    Case c{in +
           "bar.sync 0;\nsetp.lt.u32 %p1, %r1, 8; shl.b32 %r5, %r1, 4; add.u32 %r5, %r5, %r2; selp.u32 "
           "%r5, %r5, 0xfffffff0, %p1;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r5];\n"};
    c.target = target, c.threads = 32;
    return c.kind();
  };
  EXPECT_EQ(kind("sm_80"), "proved");
  EXPECT_EQ(kind("sm_75"), "out of bounds");
}

// 9.7.9.25.4.3: address and size of a prefetch are multiples of 16.
TEST(Misuse, OfPrefetches) {
  EXPECT_EQ(first_alone("cp.async.bulk.prefetch.L2.global [%rd2], 32;\n"), "proved");
  EXPECT_EQ(first_alone("cp.async.bulk.prefetch.L2.global [%rd2], 20;\n"), "misaligned");
  EXPECT_EQ(first_alone("cp.async.bulk.prefetch.L2.global [%rd2+4], 16;\n"), "misaligned");
}

// 9.7.13.6: red with a vector type is one of global memory; 9.7.9.8: .acquire is not one of local memory.
TEST(Misuse, OfSpaces) {
  std::string const zeros =
                        "mov.f32 %f1, 0f00000000;\nst.shared.v4.f32 [tile], {%f1, %f1, %f1, %f1};\n"
                        "mov.u64 %rd7, tile;\ncvta.shared.u64 %rd7, %rd7;\n",
                    local =
                        ".local .align 4 .b8 l[4];\nst.local.u32 [l], %r1;\nmov.u64 %rd7, l;\ncvta.local.u64 "
                        "%rd7, %rd7;\n";
  EXPECT_EQ(first_alone(zeros + "red.add.v4.f32 [%rd7], {%f1, %f1, %f1, %f1};\n"), "misuse");
  EXPECT_EQ(first_alone(zeros + "red.add.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};\n"), "proved");
  EXPECT_EQ(Case{local + "ld.acquire.cta.u32 %r5, [%rd7];\n"}.kind(), "misuse");
  EXPECT_EQ(Case{local + "ld.u32 %r5, [%rd7];\n"}.kind(), "proved");
}

// 9.7.9.25.4.1: a copy from .shared::cta to .shared::cluster is one to another block.
TEST(Misuse, OfCopiesToTheBlockItself) {
  auto const kind = [](std::string const& rank) {
    Case c{
        in + "fence.proxy.async;\nmov.u32 %r10, %cluster_ctarank; xor.b32 %r11, %r10, 1;\n" +
        only_first("$A",
                   "mbarrier.init.shared.b64 [tile+2048], 1;\nfence.mbarrier_init.release.cluster;\n"
                   "mbarrier.arrive.expect_tx.shared.b64 _, [tile+2048], 256;\n") +
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n" +
        only_first("$B",
                   "add.u32 %r12, %r2, 1024; add.u32 %r13, %r2, 2048; mapa.shared::cluster.u32 %r12, %r12, " +
                       rank + ";\nmapa.shared::cluster.u32 %r13, %r13, " + rank +
                       ";\ncp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                       "[%r12], [%r2], 256, [%r13];\n") +
        "$W: mbarrier.try_wait.parity.shared.b64 %p2, [tile+2048], 0;\n@!%p2 bra $W;\n"
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"};
    c.grid = c.cluster = 2;
    return c.kind();
  };
  EXPECT_EQ(kind("%r11"), "proved");
  EXPECT_EQ(kind("%r10"), "misuse");
}

// An element that is written is none that is not written.
TEST(Misuse, DoesNotCountElementsThatAreNotDecided) {
  Case c{"ld.global.u32 %r5, [%rd2];\nadd.u32 %r5, %r5, %r5;\nst.global.u32 [%rd1], %r5;\n",
         "u16[2]",
         "u16[2]",
         {"c[i] = 2 * a[i]"}};
  c.threads = 1;
  FlowReport const r = c.report();
  EXPECT_EQ(r.verdict, FlowVerdict::refuted);
  EXPECT_EQ(r.missing, 0U);
  EXPECT_EQ(r.wrong, 1U);
  EXPECT_EQ(r.undecided_names, std::vector<std::string>{"c[0]"});
}

}  // namespace
}  // namespace swizproof
