#include "kernel_case.hpp"

#include <optional>

namespace swizproof {
namespace {

void expect_tensor(std::string const& body, RaceVerdict verdict, std::string const& reason = "") {
  KernelOptions options;
  options.races = true;
  options.block = {128, 1, 1};
  KernelRaces const races = report_of(body, std::move(options)).races.value();
  EXPECT_EQ(races.verdict, verdict) << body << ": " << races.reason;
  EXPECT_NE(races.reason.find(reason), std::string::npos) << races.reason;
}

/// Races of a kernel with at most 128 threads in a block.
RaceVerdict of_any_block(std::string const& body, std::string const& cluster = "") {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n"
      ".entry k()\n.maxntid 128, 1, 1\n" +
          cluster +
          "{\n.reg .pred %p<9>; .reg .b32 %r<30>;\n"
          "mov.u32 %r1, %tid.x; shl.b32 %r4, %r1, 2; mov.u32 %r2, tile; add.u32 %r4, %r4, %r2; "
          "xor.b32 %r5, %r4, 128;\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  KernelOptions options;
  options.races = true;
  return decide_kernel(m, m.functions.at(0), options).races.value().verdict;
}

// Which lane of the warp writes the address is not specified.
TEST(KernelRaces, AnAllocationWritesAWord) {
  std::string const alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 128;\n",
                    first = "setp.ge.u32 %p1, %r1, 32; @%p1 bra L;\n" + alloc + "L:\n",
                    read = "ld.shared.u32 %r6, [tile];";
  expect_tensor(first + "bar.sync 0;\n" + read, RaceVerdict::proved);
  expect_tensor(first + read, RaceVerdict::refuted);
  expect_tensor(first + "ld.shared.u32 %r6, [tile+4];", RaceVerdict::proved);
  // In its warp alone: behind __syncwarp().
  std::string const own = "setp.ge.u32 %p1, %r1, 32; @%p1 bra L;\n" + alloc;
  expect_tensor(own + read + "\nL:", RaceVerdict::unknown, "each lane of a warp counts");
  expect_tensor(own + "bar.warp.sync 0xffffffff;\n" + read + "\nL:", RaceVerdict::proved);
  // Two warps write one word.
  expect_tensor("setp.ge.u32 %p1, %r1, 64; @%p1 bra L;\n" + alloc + "L:", RaceVerdict::refuted);
  expect_tensor("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r2], 128;", RaceVerdict::unknown,
                "is not modelled");
}

TEST(KernelRaces, RegistersBehindTheFirstOnesAreWritten) {
  std::string const own = "shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; xor.b32 %r5, %r4, 128;\n",
                    store = own + "add.u32 %r4, %r4, %r6; st.shared.u32 [%r4], %r1;",
                    reduction = "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {%r7, %r8}, %r6, [%r9];\n",
                    texture = "tex.1d.v4.s32.s32 {%r7, %r8, %r9, %r6}|%p1, [%rd1, {%r10}];\n";
  expect_tensor("mov.u32 %r6, 0;\n" + store, RaceVerdict::proved);
  expect_tensor("mov.u32 %r6, 0;\n" + reduction + store, RaceVerdict::unknown);
  expect_tensor("mov.u32 %r6, 0;\n" + texture + store, RaceVerdict::unknown);
  std::string const barrier =
      own + "st.shared.u32 [%r4], %r1;\nbarrier.sync %r6, 128;\nld.shared.u32 %r7, [%r5];";
  expect_tensor("mov.u32 %r6, 1;\n" + barrier, RaceVerdict::proved);
  expect_tensor("mov.u32 %r6, 1;\n" + reduction + barrier, RaceVerdict::unknown);
}

// The number of a warp comes from its first lane, by a shuffle.
TEST(KernelRings, OneWarpAllocatesColumns) {
  std::string const of_warp =
      "shr.u32 %r5, %r1, 5; shfl.sync.idx.b32 %r6, %r5, 0, 31, -1; setp.ne.u32 %p1, %r6, ";
  std::string const alloc =
      "; @%p1 bra L;\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 128;\nL:\nbar.sync 0;";
  expect_tensor(of_warp + "2" + alloc, RaceVerdict::proved);
  expect_tensor("and.b32 %r7, %r1, 32; setp.ne.u32 %p1, %r7, 0" + alloc, RaceVerdict::refuted);
}

// The box of a tensor is not in the PTX: a copy may read all bytes to the end of the array.
TEST(KernelRaces, ACopyFromSharedMemoryReadsUntilItsGroupIsComplete) {
  std::string const first = "setp.ne.u32 %p1, %r1, 0;\nshl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2;\n",
                    store = "st.shared.u32 [%r4+4096], %r1;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n",
                    copy =
                        "@%p1 bra L;\nld.param.u64 %rd1, [g];\ncp.async.bulk.tensor.1d.global.shared::cta"
                        ".bulk_group [%rd1, {%r1}], [%r2+4096];\n",
                    commit = "cp.async.bulk.commit_group;\n", wait = "cp.async.bulk.wait_group.read 0;\n",
                    again = "L: bar.sync 0;\nst.shared.u32 [%r4+4608], %r1;";
  expect_tensor(first + store + copy + commit + wait + again, RaceVerdict::proved);
  expect_tensor(first + store + copy + wait + again, RaceVerdict::unknown, "two threads may access one byte");
  expect_tensor(first + store + copy + commit + again, RaceVerdict::unknown,
                "two threads may access one byte");
  expect_tensor(first + store + copy + commit + "L: bar.sync 0;\nst.shared.u32 [%r4], %r1;",
                RaceVerdict::proved);
  expect_tensor(first + "st.shared.u32 [%r4+4096], %r1;\nbar.sync 0;\n" + copy + commit + wait + "L:",
                RaceVerdict::unknown, "no fence.proxy.async");
  // A copy that has a size reads no more.
  std::string const sized =
      "@%p1 bra L;\nld.param.u64 %rd1, [g];\ncp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2+4096], "
      "512;\n" +
      commit;
  expect_tensor(first + store + sized + again, RaceVerdict::proved);
  expect_tensor(first + store + sized + "L: bar.sync 0;\nst.shared.u32 [%r4+4604], %r1;",
                RaceVerdict::unknown);
}

TEST(KernelRaces, ABarrierThatCountsTheLargestBlockIsOneOfTheWholeBlock) {
  std::string const store = "st.shared.u32 [%r4], %r1;\n", read = "ld.shared.u32 %r6, [%r5];";
  EXPECT_EQ(of_any_block(store + "mov.b32 %r7, 1;\nbar.sync %r7, 128;\n" + read), RaceVerdict::proved);
  EXPECT_EQ(of_any_block(store + "bar.sync 1, 96;\n" + read), RaceVerdict::unknown);
  // Smaller blocks do not pass it, so what is behind it is in no execution of them.
  EXPECT_EQ(of_any_block(store + "bar.sync 1, 128;\nst.shared.u32 [tile+512], %r1;"), RaceVerdict::unknown);
  EXPECT_EQ(of_any_block(store + "mov.b32 %r7, 1;\nmov.b32 %r7, %r1;\nbar.sync %r7, 128;\n" + read),
            RaceVerdict::unknown);
}

// With the size of a cluster, its other blocks may arrive too.
TEST(KernelRaces, AClusterOfAGivenSizeIsNotModelled) {
  std::string const text =
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra L;\nmbarrier.init.shared::cta.b64 [tile+1024], 1;\nL: bar.sync "
      "0;\n@%p1 bra E;\n"
      "mapa.shared::cluster.u32 %r6, %r2, 0;\nmbarrier.arrive.shared::cluster.b64 _, [%r6+1024];\nE:";
  EXPECT_EQ(of_any_block(text), RaceVerdict::proved);
  EXPECT_EQ(of_any_block(text, ".reqnctapercluster 2, 1, 1\n"), RaceVerdict::unknown);
}

}  // namespace
}  // namespace swizproof
