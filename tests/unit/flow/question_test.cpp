// Flow of names through small kernels: elements that reach the result, and accesses that refute every expectation.
#include "kernel_case.hpp"

#include <swizproof/hardware/fragment.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(Provenance, FollowsAnElementThroughSharedMemory) {
  EXPECT_EQ((Case{in + "bar.sync 0;\n" + neighbour(33) + store}.value(0)), "c[0] = a[33]");
}

// CUDA C++ Programming Guide, 20.8.3: 227 KiB of shared memory for a block of sm_90.
TEST(Launches, HaveTheSharedMemoryOfADevice) {
  auto const with = [](unsigned more) { return Case{fmt::format(".shared .align 1 .b8 more[{}];\n", more)}; };
  EXPECT_EQ(with(227 * 1024 - 4096).kind(), "proved");
  try {
    (void)with(227 * 1024 - 4095).kind();
    ADD_FAILURE() << "no device has it";
  } catch (InputError const& error) {
    EXPECT_EQ(error.message, "a block has 232449 bytes of shared memory, and sm_90a has at most 232448");
  }
}

TEST(Provenance, RefutesAReadWithoutABarrier) {
  for (std::string const between : {"", "bar.warp.sync -1;\n"})
    EXPECT_EQ(
        (Case{in + between + neighbour(33) + store}.value(0)),
        "thread 32 writes byte 0x480 of shared memory, which thread 1 has read: no barrier is between them");
  EXPECT_EQ(
      (Case{in + "membar.cta;\n" + neighbour(1) + store}.value(0)),
      "thread 0 reads byte 0x404 of shared memory, which thread 1 has written: no barrier is between them");
  EXPECT_EQ((Case{in + "bar.warp.sync -1;\n" + neighbour(1) + store}.value(1)), "c[1] = a[0]");
}

TEST(Provenance, NamesTheArray) {
  FlowReport const r = Case{load + "st.shared.f32 [%r2], %f1;\n"}.report();
  ASSERT_TRUE(r.fault);
  EXPECT_NE(r.fault->text.find("byte 0x400 of shared memory (tile+0x0), which"), std::string::npos)
      << r.fault->text;
}

TEST(Provenance, RefutesAWriteAfterAReadWithoutABarrier) {
  std::string const again = "st.shared.f32 [%r3], %f2;\n";
  Case const wrong{in + "bar.sync 0;\n" + neighbour(1) + again + store};
  EXPECT_EQ(
      wrong.value(0),
      "thread 0 writes byte 0x400 of shared memory, which thread 1 has read: no barrier is between them");
  ASSERT_EQ(wrong.report().fault->lines.size(), 2U);
  EXPECT_EQ(wrong.report().fault->lines[0].op, "st.shared.f32");
  EXPECT_EQ(wrong.report().fault->lines[1].op, "ld.shared.f32");
  EXPECT_EQ((Case{in + "bar.sync 0;\n" + neighbour(1) + "bar.sync 0;\n" + again + store}.value(0)),
            "c[0] = a[1]");
}

TEST(Provenance, RefutesTwoWritesOfOneByte) {
  EXPECT_EQ((Case{load + "st.shared.f32 [%r2], %f1;\n"}.value(0)),
            "thread 32 writes byte 0x400 of shared memory, which thread 31 has written: no barrier is "
            "between them");
}

std::string const copy = "cp.async.ca.shared.global [%r3], [%rd4], 4;\ncp.async.commit_group;\n";

TEST(Provenance, WaitsForGroupsOfCopies) {
  EXPECT_EQ((Case{copy + "cp.async.wait_group 0;\nbar.sync 0;\n" + neighbour(1) + store}.value(0)),
            "c[0] = a[1]");
  EXPECT_EQ((Case{copy + "cp.async.wait_group 1;\nbar.sync 0;\n" + neighbour(1) + store}.value(0)),
            "thread 0 reads byte 0x404 of shared memory, which cp.async of thread 1 writes: thread 1 has not "
            "waited for its group");
  EXPECT_EQ((Case{copy + "bar.sync 0;\ncp.async.wait_group 0;\n" + neighbour(1) + store}.value(0)),
            "thread 0 reads byte 0x404 of shared memory, which cp.async of thread 1 has written: there is no "
            "barrier between the "
            "wait for its group and this");
  EXPECT_EQ((Case{"cp.async.ca.shared.global [%r3], [%rd4], 4;\ncp.async.wait_group 0;\nbar.sync 0;\n" +
                  neighbour(1) + store}
                 .value(0)),
            "thread 0 reads byte 0x404 of shared memory, which cp.async of thread 1 writes: thread 1 has not "
            "waited for its group");
  EXPECT_EQ((Case{"cp.async.ca.shared.global [%r3], [%rd4], 4;\ncp.async.wait_all;\nbar.sync 0;\n" +
                  neighbour(1) + store}
                 .value(0)),
            "c[0] = a[1]");
}

TEST(Provenance, WaitsForGroupsOfBulkStores) {
  auto const read_back = [](std::string const& wait) {
    return Case{
        in +
        "fence.proxy.async.shared::cta;\nbar.sync 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $E;\n"
        "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 128;\ncp.async.bulk.commit_group;\n" +
        wait + " 0;\nld.global.f32 %f2, [%rd1];\n$E:\n"}
        .value(0);
  };
  EXPECT_EQ(read_back("cp.async.bulk.wait_group"), "c[0] = a[0]");
  EXPECT_NE(read_back("cp.async.bulk.wait_group.read").find("which the bulk store of thread 0 writes"),
            std::string::npos);
}

TEST(Provenance, FencesRegistersOfWgmma) {
  // Zeros times A in registers: 64 x 8 x 16, A is 7 everywhere.
  auto const value = [](std::string const& first, std::string const& second) {
    return Case{
        "mov.u32 %r5, 0; st.shared.u32 [%r3], %r5;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
        "shr.u32 %r6, %r2, 4; cvt.u64.u32 %rd7, %r6; or.b64 %rd7, %rd7, 68720001024;\n"
        "mov.u32 %r7, 7; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1;\n" +
            first + "mov.f32 %f4, %f1; setp.ne.u32 %p1, %r2, -1;\n" + second +
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, "
            "%rd7, %p1, 1, 1, 0;\nwgmma.commit_group.sync.aligned;\n"
            "wgmma.wait_group.sync.aligned 0;\n" +
            store,
        "f32[128]",
        "f32[128]",
        {},
        128}
        .value(0);
  };
  std::string const fence = "wgmma.fence.sync.aligned;\n";
  EXPECT_EQ(value("", fence), "c[0] = 0");
  EXPECT_EQ(value("", ""), "warp 0 has written accumulators of wgmma, and no wgmma.fence is between");
  EXPECT_EQ(value(fence, ""),
            "warp 0 has written accumulators of wgmma, %f4, behind its last wgmma.fence, and no wgmma.fence "
            "is between");
}

TEST(Provenance, FillsWhatACopyDoesNotTake) {
  EXPECT_EQ(
      (Case{
          "cp.async.ca.shared.global [%r3], [%rd4], 4, 0;\ncp.async.wait_all;\nld.shared.f32 %f2, [%r3];\n" +
          store}
           .value(3)),
      "c[3] = 0");
}

TEST(Provenance, AddsAndMultipliesNames) {
  EXPECT_EQ(
      (Case{load + "ld.global.f32 %f3, [%rd2];\nfma.rn.f32 %f2, %f1, %f3, %f1;\nsub.f32 %f2, %f2, %f1;\n" +
            store}
           .value(2)),
      "c[2] = a[0]*a[2]");
  EXPECT_EQ((Case{load + "mul.f32 %f2, %f1, 0f40400000;\nneg.f32 %f2, %f2;\n" + store}.value(1)),
            "c[1] = -3*a[1]");
  EXPECT_EQ((Case{"ld.global.u32 %r5, [%rd4];\nmad.lo.s32 %r5, %r5, 5, %r5;\nst.global.u32 [%rd3], %r5;\n",
                  "u32[64]", "u32[64]"}
                 .value(1)),
            "c[1] = 6*a[1]");
}

TEST(Provenance, FollowsNoPartsOfBytes) {
  auto const value = [](std::string const& op) {
    return Case{"ld.global.u32 %r5, [%rd4];\nmov.u32 %r6, 3;\n" + op + "st.global.u32 [%rd3], %r7;\n",
                "u32[64]", "u32[64]"}
        .value(0);
  };
  EXPECT_EQ(value("shr.u32 %r7, %r5, 4;\n"), "c[0] = shr.u32 of a[0]");
  EXPECT_EQ(value("and.b32 %r7, %r5, 0xfffffff0;\n"), "c[0] = and.b32 of a[0]");
  EXPECT_EQ(value("and.b32 %r7, %r5, -1;\n"), "c[0] = a[0]");
  EXPECT_EQ(value("sub.s32 %r7, %r6, %r5;\n"), "c[0] = 3 + -1*a[0]");
}

TEST(Provenance, KeepsHalvesApart) {
  std::string const pair = "ld.global.b32 %r5, [%rd4];\n", out = "st.global.b32 [%rd3], %r6;\n";
  auto const first = [&](std::string const& op) {
    return Case{pair + op + out, "f16[128]", "f16[128]"}.value(0);
  };
  EXPECT_EQ(first("prmt.b32 %r6, %r5, %r5, 0x1032;\n"), "c[0] = a[1]");
  EXPECT_EQ(first("mov.b32 {%h1, %h2}, %r5;\nmov.b32 %r6, {%h2, %h1};\n"), "c[0] = a[1]");
  EXPECT_EQ(first("shr.u32 %r6, %r5, 16;\n"), "c[0] = a[1]");
  EXPECT_EQ(first("shl.b32 %r7, %r5, 16;\nshr.u32 %r8, %r5, 16;\nor.b32 %r6, %r7, %r8;\n"), "c[0] = a[1]");
  EXPECT_EQ(first("bfi.b32 %r6, 0, %r5, 16, 16;\n"), "c[0] = a[0]");
  EXPECT_EQ(first("fma.rn.f16x2 %r6, %r5, %r5, %r5;\n"), "c[0] = a[0] + a[0]*a[0]");
  EXPECT_EQ(first("shr.u32 %r6, %r5, 8;\n"), "c[0] = f16(bits of a[0], a[1])");
}

TEST(Provenance, ConvertsNames) {
  auto const value = [](std::string const& op, std::string const& from) {
    return Case{op + "st.global.f32 [%rd3], %f2;\n", "f32[64]", from}.value(0);
  };
  EXPECT_EQ(value("ld.global.b16 %h1, [%rd2];\ncvt.f32.f16 %f2, %h1;\n", "f16[64]"), "c[0] = a[0]");
  EXPECT_EQ(value("ld.global.b16 %h1, [%rd2];\ncvt.f32.f16 %f2, %h1;\n", "bf16[64]"),
            "c[0] = f16(bits of a[0])");
  EXPECT_EQ(value("ld.global.u8 %h1, [%rd2+3];\ncvt.rn.f32.u16 %f2, %h1;\n", "u8[64]"), "c[0] = a[3]");
  EXPECT_EQ(value("ld.global.s8 %r5, [%rd2+3];\ncvt.rn.f32.s32 %f2, %r5;\n", "i8[64]"), "c[0] = a[3]");
  EXPECT_EQ(value("ld.global.u8 %r5, [%rd2+3];\ncvt.rn.f32.u32 %f2, %r5;\n", "i8[64]"),
            "c[0] = integer(bits of a[3])");
  EXPECT_EQ(value("ld.global.s8 %h1, [%rd2+3];\ncvt.s32.s8 %r5, %h1;\ncvt.rn.f32.s32 %f2, %r5;\n", "i8[64]"),
            "c[0] = a[3]");
  EXPECT_EQ(value("ld.global.u32 %r5, [%rd2];\ncvt.rn.f32.u32 %f2, %r5;\n", "u32[64]"), "c[0] = a[0]");
  EXPECT_EQ(value("ld.global.u32 %r5, [%rd2];\ncvt.rn.f32.s32 %f2, %r5;\n", "u32[64]"),
            "c[0] = integer(bits of a[0])");
  EXPECT_EQ(
      (Case{load + "cvt.rn.f16x2.f32 %r5, %f1, 0f00000000;\nst.global.b32 [%rd3], %r5;\n", "f16[128]"}.value(
          1)),
      "c[1] = a[0]");
}

TEST(Provenance, RefusesWhatDependsOnData) {
  EXPECT_EQ(
      (Case{load + "setp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 bar.sync 0;\n", "f32[64]", "f32[64]", {}, 32}
           .value(0)
           .substr(0, 46)),
      "a part of warp 0 is at bar.sync, which all of ");
  EXPECT_EQ((Case{in + "ld.global.u32 %r5, [%rd4];\nadd.s32 %r5, %r5, %r2;\nld.shared.u32 %r6, [%r2];\n" +
                      "bar.sync 0;\nld.shared.u32 %r6, [%r5];\n",
                  "u32[64]",
                  "u32[64]",
                  {},
                  1}
                 .value(0)),
            "the address depends on data: a[0] + 1024");
  EXPECT_EQ((Case{"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r2], 1, "
                  "[%r2+8];\n"}
                 .value(0)),
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 is not executed");
  EXPECT_EQ((Case{"list: .branchtargets A, B; brx.idx %r1, list;\nA: mov.u32 %r2, %r2;\nB:\n"}.value(0)),
            "the index 2 of brx.idx is behind its list");
  EXPECT_EQ(
      (Case{load + "ex2.approx.f32 %f2, %f1;\n" + store, "f32[64]", "f32[64]", {"c[i] = a[i]"}}.value(0)),
      "c[0] holds what is not followed: ex2.approx.f32 of a[0]");
}

TEST(Provenance, FindsFaultsOfAddresses) {
  EXPECT_EQ((Case{"ld.global.f32 %f2, [%rd4+4];\n" + store}.value(0)),
            "thread 63 reads byte 256 of a, which has 256");
  EXPECT_EQ((Case{"st.shared.u32 [%r2+4096], 1;\n"}.value(0)),
            "thread 0 writes byte 0x1400 of shared memory, which ends at 0x1400");
  EXPECT_EQ((Case{"st.shared.u32 [%r2+2], 1;\n"}.value(0)),
            "thread 0 writes 4 bytes at 0x402, which is no multiple of 4");
}

TEST(Provenance, ExecutesEachPathOfAWarp) {
  // odd threads leave a loop after one more iteration
  std::string const loop =
      "and.b32 %r5, %r1, 1; mov.f32 %f2, 0f00000000;\n" + load +
      "$L: add.f32 %f2, %f2, %f1; sub.s32 %r5, %r5, 1; setp.ge.s32 %p1, %r5, 0; @%p1 bra $L;\n" + store;
  EXPECT_EQ((Case{loop}.value(0)), "c[0] = a[0]");
  EXPECT_EQ((Case{loop}.value(1)), "c[1] = 2*a[1]");
  std::string const one = "setp.eq.u32 %p1, %r1, 5;\n@%p1 bra $E;\nbar.sync 0;\n$E:\n";
  EXPECT_EQ((Case{one}.value(0)),
            "a part of warp 0 is at bar.sync, which all of its threads have to execute");
}

TEST(Provenance, OrdersByNamedBarriersOfSomeWarps) {
  // warps 0 and 1 exchange by barrier 1; warp 2 leaves
  std::string const body =
      in + "setp.gt.u32 %p1, %r1, 63;\n@%p1 bra $E;\nbar.sync 1, 64;\n" + neighbour(33) + store + "$E:\n";
  EXPECT_EQ((Case{body, "f32[96]", "f32[96]", {}, 96}.value(0)), "c[0] = a[33]");
  std::string const fewer = in + "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra $E;\nbar.sync 1, 64;\n$E:\n";
  EXPECT_EQ((Case{fewer}.value(0)), "warp 0 waits and is never released");
}

TEST(Provenance, OrdersByMbarriers) {
  auto const body = [](std::string const& wait) {
    return "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $I;\nmbarrier.init.shared.b64 [%r2+2048], 64;\n$I: bar.sync "
           "0;\n" +
           in + "mbarrier.arrive.shared.b64 %rd9, [%r2+2048];\n" + wait + neighbour(33) + store;
  };
  EXPECT_EQ(
      (Case{body("$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 0;\n@!%p2 bra $W;\n")}.value(0)),
      "c[0] = a[33]");
  EXPECT_EQ(
      (Case{body("")}.value(0)),
      "thread 32 writes byte 0x480 of shared memory, which thread 1 has read: no barrier is between them");
  EXPECT_EQ(
      (Case{body("$W: mbarrier.try_wait.parity.shared.b64 %p2, [%r2+2048], 1;\n@!%p2 bra $W;\n")}.value(0)),
      "thread 32 writes byte 0x480 of shared memory, which thread 1 has read: no barrier is between them");
}

TEST(Provenance, BoundsTheWork) {
  std::string doubled = load;
  for (unsigned i = 0; i < 60; ++i) doubled += "add.f32 %f1, %f1, %f1;\n";
  EXPECT_EQ((Case{doubled + "mov.f32 %f2, %f1;\n" + store, "f32[64]", "f32[64]", {}, 1}.value(0)),
            "c[0] = a sum of more than 2^22 parts");
  std::string nested = load;
  for (unsigned i = 0; i < 3000; ++i) nested += "max.f32 %f1, %f1, %f2;\n";
  EXPECT_LT((Case{nested + "setp.gt.f32 %p1, %f1, %f1;\n@%p1 bra $E;\n$E:\n"}.value(0)).size(), 500U);
}

TEST(Provenance, ExchangesWithinAWarp) {
  EXPECT_EQ((Case{load + "shfl.sync.down.b32 %f2, %f1, 3, 31, -1;\n" + store}.value(4)), "c[4] = a[7]");
  EXPECT_EQ((Case{load + "shfl.sync.bfly.b32 %f2, %f1, 16, 31, -1;\n" + store}.value(33)), "c[33] = a[49]");
}

TEST(Provenance, MultipliesMatricesByTheirFragments) {
  // each lane loads its own registers of A and B from rows of elements, and mma adds the products to 0
  MmaShape const& shape = mma_shapes[7];
  std::string body =
      "mov.f32 %f1, 0f00000000; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.f32 %f5, %f1;\n"
      "shr.u32 %r5, %r1, 2; and.b32 %r6, %r1, 3; shl.b32 %r7, %r5, 5; shl.b32 %r8, %r6, 2; add.s32 %r9, %r7, "
      "%r8;\n"
      "cvt.u64.u32 %rd6, %r9; add.s64 %rd7, %rd2, %rd6;\n"
      "ld.global.b32 %r10, [%rd7]; ld.global.b32 %r11, [%rd7+256]; ld.global.b32 %r12, [%rd7+16]; "
      "ld.global.b32 %r13, "
      "[%rd7+272];\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f3, %f4, %f5}, {%r10, %r11, %r12, %r13}, "
      "{%r10, %r12}, "
      "{%f1, %f3, %f4, %f5};\n"
      "shl.b32 %r14, %r1, 4; cvt.u64.u32 %rd8, %r14; add.s64 %rd9, %rd1, %rd8;\n"
      "st.global.v4.f32 [%rd9], {%f1, %f3, %f4, %f5};\n";
  FlowReport const r = Case{body, "f32[128]", "f16[16][16]", {}, 32}.report();
  ASSERT_EQ(r.values.size(), 128U) << r.reason;
  Fragment const d = shape.fragment(Operand::d, 32);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      MatrixElement const e = element_of(d, lane, i);
      // B is the upper half of A, transposed: column n of B is row n of A
      std::string expected = fmt::format("c[{}] =", 4 * lane + i);
      for (unsigned k = 0; k < 16; ++k)
        expected +=
            fmt::format("{}a[{}][{}]*a[{}][{}]", k == 0 ? " " : " + ", std::min<unsigned>(e.row, e.column), k,
                        std::max<unsigned>(e.row, e.column), k);
      ASSERT_EQ(r.values[4 * lane + i], expected);
    }
}

TEST(Provenance, ComparesEveryElement) {
  Case c{load + "mov.f32 %f2, %f1;\n" + store, "f32[64]", "f32[64]", {"c[i] = a[i]"}};
  EXPECT_EQ(c.report().verdict, FlowVerdict::proved);
  EXPECT_EQ(c.report().right, 64U);
  c.expect = {"c[i] = a[i] for i in 0..62"};
  EXPECT_EQ(c.report().verdict, FlowVerdict::refuted);
  EXPECT_EQ(c.report().unexpected_names, std::vector<std::string>{"c[63]"});
  c.body = load + "add.f32 %f2, %f1, %f1;\n" + store, c.expect = {"c[i] = a[i]"};
  EXPECT_EQ(c.report().wrong, 64U);
  EXPECT_EQ(c.report().first->extra, std::vector<std::string>{"2*a[0]"});
  c.body = load + "mov.f32 %f2, %f1;\n" + store;
  c.expect = {"c[i] = a[63-i]"};
  FlowReport const wrong = c.report();
  EXPECT_EQ(wrong.wrong, 64U);
  EXPECT_EQ(wrong.first->missing, std::vector<std::string>{"a[63]"});
  EXPECT_EQ(wrong.first->extra, std::vector<std::string>{"a[0]"});
  c.expect = {"c[i] = a[i]"}, c.c = "f32[65]", c.a = "f32[65]";
  EXPECT_EQ(c.report().missing_names, std::vector<std::string>{"c[64]"});
  EXPECT_EQ(c.report().verdict, FlowVerdict::refuted);
}

TEST(Provenance, FindsRacesBetweenBlocks) {
  std::string const shifted = "ld.global.f32 %f2, [%rd4+4];\n",
                    move =
                        "mov.u32 %r5, %ctaid.x; mul.wide.u32 %rd6, %r5, 256;\n"
                        "add.s64 %rd3, %rd3, %rd6; add.s64 %rd4, %rd4, %rd6;\n";
  Case c{store, "f32[128]", "f32[129]", {}, 64, 2};
  c.body = "mov.f32 %f2, 0f00000000;\n" + store;
  EXPECT_EQ(c.value(0), "c[0] is written by block 0,0,0 and by block 1,0,0");
  c.body = move + shifted + store, c.expect = {"c[i] = a[i+1]"};
  EXPECT_EQ(c.report().verdict, FlowVerdict::proved);
  c.body = move + "add.s64 %rd4, %rd3, 4; setp.eq.u32 %p1, %r1, 127;\n" + shifted.substr(0, 0) +
           "ld.global.f32 %f2, [%rd4];\nbar.sync 0;\n" + store;
  c.c = "f32[129]", c.expect = {"c[i] = c[i+1] for i in 0..127"};
  EXPECT_EQ(c.value(0), "c[64] is written by block 1,0,0 and read by another block");
}

}  // namespace
}  // namespace swizproof
