// Instructions that the warps of a warpgroup execute together: wgmma and setmaxnreg.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string const fence = "wgmma.fence.sync.aligned;\n", commit = "wgmma.commit_group.sync.aligned;\n",
                  wait = "wgmma.wait_group.sync.aligned 0;\n",
                  product =
                      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd7, %rd8, "
                      "%p1, 1, 1, 0, 0;\n";

Case case_of(std::string const& body, unsigned threads = 128) {
  std::string const size = fmt::format("f32[{}]", threads);
  return Case{body, size, size, {}, threads};
}

/// Ones in shared memory, accumulators of 0, and descriptors %rd7 and %rd8 of them. `more` goes on, and `threads` store an accumulator.
Case after_ones(std::string const& more, unsigned threads = 128) {
  return case_of(
      "shl.b32 %r4, %r1, 4; add.s32 %r4, %r4, %r2; mov.u32 %r5, 0x3c003c00;\n"
      "st.shared.v4.u32 [%r4], {%r5,%r5,%r5,%r5};\nfence.proxy.async;\nbar.sync 0;\n"
      "shr.u32 %r6, %r2, 4; cvt.u64.u32 %rd7, %r6; or.b64 %rd7, %rd7, 0x1000080000; mov.u64 %rd8, %rd7;\n"
      "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
      "setp.eq.u32 %p1, %r1, %r1; shr.u32 %r7, %r1, 5; setp.eq.u32 %p2, %r7, 0;\n" +
          more + store,
      threads);
}

TEST(Warpgroups, ExecuteOneInstruction) {
  EXPECT_EQ(after_ones(fence + product + commit + wait).answer(), "proved");
  EXPECT_EQ(
      after_ones("@%p2 bra $E;\n" + fence + product + commit + wait + "$E:").answer(),
      "misuse: warp 1 executes it, and warp 0 of its warpgroup does not: all of its warps have to execute "
      "the same");
  EXPECT_EQ(
      after_ones("@%p2 bra $A;\n" + fence + product + "bra $E;\n$A:" + fence + product + "$E:" + commit +
                 wait)
          .answer(),
      "misuse: warp 1 executes wgmma.fence.sync.aligned: warp 0 of its warpgroup executes another one there: "
      "all of its warps have to execute the same");
  for (std::string const& one : {fence, commit, wait})
    EXPECT_EQ(after_ones(fence + product + commit + wait + "@%p2 bra $E;\n" + one + "$E:").kind(), "misuse")
        << one;
  // a branch that all of a warpgroup takes
  EXPECT_EQ(
      after_ones("setp.lt.u32 %p3, %r1, 128;\n@%p3 bra $E;\n" + fence + product + commit + wait + "$E:", 256)
          .kind(),
      "proved");
}

TEST(Warpgroups, ReadRowsOfAByAnyOfTheirWarps) {
  // B, 8 x 16, is at tile+2048, and each warp writes 512 bytes of A, 16 rows, behind its own wait
  std::string const
      b = "shr.u32 %r8, %r2, 4; add.u32 %r8, %r8, 128; cvt.u64.u32 %rd8, %r8; or.b64 %rd8, %rd8, "
          "0x1000080000;\nst.shared.v4.u32 [%r4+2048], {%r5,%r5,%r5,%r5}; fence.proxy.async; bar.sync 0;\n",
      write = "st.shared.u32 [%r4], %r5;\n", doubt = "the PTX ISA does not say which warp";
  EXPECT_EQ(after_ones(b + fence + product + commit + wait + "bar.sync 0;\n" + write).answer(), "proved");
  std::string const behind = after_ones(b + fence + product + commit + wait + write).answer();
  EXPECT_TRUE(behind.starts_with("unknown") && behind.find(doubt) != std::string::npos) << behind;
  std::string const before = after_ones(b + "@%p2 " + write + "fence.proxy.async; bar.warp.sync -1;\n" +
                                        fence + product + commit + wait)
                                 .answer();
  EXPECT_TRUE(before.starts_with("unknown") && before.find(doubt) != std::string::npos)
      << before << ": warp 0 alone writes";
  EXPECT_EQ(after_ones(b + fence + product + commit + write).kind(), "race") << "its own rows";
}

TEST(Warpgroups, HaveFourWarps) {
  EXPECT_EQ(
      after_ones(fence + product + commit + wait, 96).answer(),
      "misuse: warp 0 executes wgmma.fence.sync.aligned: warp 0 is in no warpgroup, which has 4 warps: the "
      "block has 3");
  // warps 1 to 4 are four that follow each other, and no warpgroup
  EXPECT_EQ(after_ones("@%p2 bra $E;\n" + fence + product + commit + wait + "$E:", 160).kind(), "misuse");
}

TEST(Warpgroups, HaveOneDescriptor) {
  EXPECT_EQ(after_ones("@%p2 add.u64 %rd8, %rd8, 8;\n" + fence + product + commit + wait).answer(),
            "misuse: warp 1 executes wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16: warp 0 of its "
            "warpgroup has other "
            "descriptors: all of its warps have to have the same");
}

TEST(Warpgroups, CommitWithoutAProduct) {
  EXPECT_EQ(case_of(commit + "st.shared.u32 [%r3], %r1;\n").answer(), "proved");
  EXPECT_EQ(case_of(wait + "st.shared.u32 [%r3], %r1;\n").answer(), "proved");
}

TEST(Wgmma, NeedsAFenceBetweenTwoUsesOfRegisters) {
  std::string const other =
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1,%f2,%f3,%f4}, %rd7, %rd8, "
      "%p1, 1, 1;\n";
  EXPECT_EQ(after_ones(fence + product + product + commit + wait).kind(), "proved");
  EXPECT_EQ(
      after_ones(fence + product + other + commit + wait).answer(),
      "missing fence: wgmma of warp 0 uses %f1 as an accumulator of the shape m64n8k8, and another one has "
      "used it as an accumulator of the shape m64n8k16, and no wgmma.fence is between");
  EXPECT_EQ(after_ones(fence + product + fence + other + commit + wait).kind(), "proved");
  auto const as_a = [](std::string const& between) {
    std::string const halves = "mov.u32 %r8, 0; mov.u32 %r9, 0;\n";
    return after_ones(
               halves + fence +
               "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r8,%r9}, %rd7, %rd8, %p1, 1, 1, 0, 0;\n" +
               commit + wait + between +
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r8,%r9,%r5,%r5}, "
               "%rd8, %p1, 1, 1, 0;\n" +
               commit + wait)
        .kind();
  };
  EXPECT_EQ(as_a(""), "missing fence");
  EXPECT_EQ(as_a(fence), "proved");
}

TEST(Setmaxnreg, IsExecutedByAWarpgroup) {
  std::string const dec = "setmaxnreg.dec.sync.aligned.u32 ", inc = "setmaxnreg.inc.sync.aligned.u32 ";
  std::string const first = "shr.u32 %r7, %r1, 5; setp.eq.u32 %p2, %r7, 0;\n";
  EXPECT_EQ(case_of(dec + "40;\n").kind(), "proved");
  EXPECT_EQ(case_of(dec + "40;\n").report().assumed.size(), 1U);
  EXPECT_EQ(case_of(first + "@%p2 " + dec + "40;\n").kind(), "misuse");
  EXPECT_EQ(case_of("setp.eq.u32 %p2, %r1, 0;\n@%p2 " + dec + "40;\n").kind(), "misuse");
  EXPECT_EQ(case_of(dec + "41;\n").kind(), "misuse");
  // at two places, as CUTLASS has it: one count, and another one
  auto const places = [&](std::string const& other) {
    return case_of(first + "@%p2 bra $A;\n" + dec + "40;\nbra $E;\n$A: " + other + "$E:");
  };
  EXPECT_EQ(places(dec + "40;\n").kind(), "proved");
  EXPECT_EQ(places(dec + "40;\n").report().assumed.size(), 2U);
  EXPECT_EQ(places(dec + "48;\n").answer(),
            "misuse: warp 1 executes setmaxnreg.dec.sync.aligned.u32: warp 0 of its warpgroup has another "
            "count: all "
            "of its warps have to have the same");
  EXPECT_EQ(places(inc + "40;\n").kind(), "misuse");
  EXPECT_EQ(places(wait).kind(), "misuse");
  EXPECT_EQ(
      case_of(dec + "40;\n" + dec + "32;\n").answer(),
      "misuse: warp 0 executes setmaxnreg.dec.sync.aligned.u32: nothing orders the setmaxnreg before it of "
      "warp 1: a warpgroup synchronises between two of them");
  EXPECT_EQ(case_of(dec + "40;\nbar.sync 0;\n" + dec + "32;\n").kind(), "proved");
  // two barriers of two warps each
  EXPECT_EQ(case_of("shr.u32 %r7, %r1, 6; add.u32 %r7, %r7, 1;\n" + dec + "40;\nbar.sync %r7, 64;\n" + dec +
                    "32;\n")
                .kind(),
            "misuse");
  EXPECT_EQ(case_of(dec + "40;\nbar.sync 0;\n" + dec + "48;\n").answer(),
            "misuse: warp 0 executes setmaxnreg.dec.sync.aligned.u32: it reduces the registers of a thread "
            "to 48, and "
            "there are 40");
  EXPECT_EQ(case_of(dec + "40;\nbar.sync 0;\n" + inc + "32;\n").kind(), "misuse");
}

}  // namespace
}  // namespace swizproof
