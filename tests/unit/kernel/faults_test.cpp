// Alignment, and bounds of arrays.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace swizproof {
namespace {

TEST(Kernel, MisalignedIsWhatAnExecutionIs) {
  std::string const load = " add.s32 %r5, %r4, %r2; ld.shared.u16 %r6, [%r5];";
  EXPECT_EQ(one("and.b32 %r4, %r3, 1023;" + load).aligned, false) << "if n = 1";
  EXPECT_EQ(one("xor.b32 %r4, %r3, %r3; and.b32 %r4, %r4, 1023;" + load).verdict, KernelVerdict::proved)
      << "n ^ n is never 1";
  EXPECT_EQ(one("and.b32 %r4, %r3, 1022;" + load).aligned, true);
}

TEST(Kernel, OneOfTwoLanesIsMisalignedWhateverTheBaseIs) {
  auto const vectors = [](std::string const& shift, std::string const& guard = "") {
    return one(".shared .align 4 .b8 low[4096]; mov.u32 %r7, low; shl.b32 %r4, %r1, " + shift +
                   "; add.u32 %r4, %r4, %r7; ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1];" + guard +
                   " ld.shared.v4.u32 {%r5, %r6, %r8, %r3}, [%r4];",
               {.any_base = true});
  };
  EXPECT_EQ(vectors("2").aligned, false);
  EXPECT_EQ(vectors("2").verdict, KernelVerdict::refuted);
  EXPECT_EQ(vectors("2").reason,
            "lanes 0 and 1 of warp 0 are 4 bytes apart: they cannot both be at a multiple of 16");
  EXPECT_EQ(vectors("4").aligned, std::nullopt);
  EXPECT_EQ(vectors("2", "and.b32 %r8, %r1, 3; setp.eq.u32 %p1, %r8, 1; @%p1").aligned, std::nullopt)
      << "16 bytes apart";
  EXPECT_EQ(vectors("2", "setp.eq.u32 %p1, %r9, 1; @%p1").aligned, std::nullopt) << "it may not be executed";
}

TEST(Kernel, MatricesThatMayNotBeExecutedAreNotMisaligned) {
  auto const odd = [](std::string const& guard) {
    return one(
        "ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p1, %r9, 1; setp.lt.u32 %p2, "
        "%r1, 40; shl.b32 %r4, %r1, 4; and.b32 %r4, %r4, 1023; add.u32 %r4, %r4, %r2; add.u32 %r4, "
        "%r4, 2; " +
        guard + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];");
  };
  EXPECT_EQ(odd("").aligned, false);
  EXPECT_EQ(odd("@%p2 ").aligned, false) << "of warp 0";
  EXPECT_EQ(odd("@%p1 ").aligned, std::nullopt);
  EXPECT_NE(odd("@%p1 ").verdict, KernelVerdict::refuted);
  EXPECT_EQ(odd("setp.lt.u32 %p2, %r1, 16; @%p2 ").aligned, std::nullopt) << "no execution by half a warp";
}

/// A store at `few + 4 * i` or what `step` makes of it, in iterations 0 to 63 that `test` may leave; %r9 was loaded.
KernelAccess in_iterations(std::string const& guard, std::string const& step, std::string const& last,
                           std::string const& store = "st.shared.u32 [%r7], %r1;") {
  return decided(
             ".shared .align 16 .b8 few[128]; ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; mov.u32 "
             "%r7, "
             "few; mov.u32 %r6, 0;\nL: " +
             guard + store + step + " add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, " + last + " @%p1 bra L;")
      .at(0);
}

TEST(Kernel, FaultsOfAnIterationThatSurelyRuns) {
  std::string const word = " add.u32 %r7, %r7, 4;", half = " add.u32 %r7, %r7, 2;";
  KernelAccess const beyond = in_iterations("", word, "64;");
  EXPECT_EQ(beyond.verdict, KernelVerdict::refuted);
  EXPECT_EQ(beyond.in_bounds, false);
  EXPECT_EQ(beyond.reason, "lane 0 of warp 0 accesses byte 0x80 of few, which has 128 bytes");
  EXPECT_EQ(in_iterations("", word, "32;").in_bounds, true);
  EXPECT_EQ(in_iterations("", word, "33;").in_bounds, false);
  EXPECT_EQ(in_iterations("", " add.u32 %r7, %r7, -4;", "2;").reason,
            "lane 0 of warp 0 accesses byte -4 of few, which has 128 bytes");
  // The loop may end before, by data; or each iteration is guarded by data.
  EXPECT_EQ(in_iterations("", word, "64; setp.ne.and.u32 %p1, %r6, %r9, %p1;").in_bounds, std::nullopt);
  EXPECT_EQ(in_iterations("setp.eq.u32 %p2, %r6, %r9; @%p2 ret; ", word, "64;").in_bounds, std::nullopt);
  EXPECT_EQ(in_iterations(
                "", word + " setp.lt.u32 %p2, %r6, 10; setp.eq.and.u32 %p2, %r6, %r9, %p2; @%p2 ret;", "64;")
                .in_bounds,
            std::nullopt)
      << "a lane may end in the first ten";
  EXPECT_EQ(in_iterations("setp.eq.u32 %p2, %r6, %r9; @%p2 ", word, "64;").in_bounds, std::nullopt);
  EXPECT_EQ(in_iterations("", word, "%r3;").in_bounds, std::nullopt) << "n iterations";
  // A guard by the counter.
  EXPECT_EQ(in_iterations("setp.lt.u32 %p2, %r6, 32; @%p2 ", word, "64;").in_bounds, true);
  EXPECT_EQ(in_iterations("setp.lt.u32 %p2, %r6, 33; @%p2 ", word, "64;").in_bounds, false);
  // Two bytes further in each iteration: misaligned in the second.
  EXPECT_EQ(in_iterations("", half, "2;").aligned, false);
  EXPECT_EQ(in_iterations("", half, "1;").aligned, true);
  EXPECT_EQ(in_iterations("and.b32 %r8, %r6, 1; setp.eq.u32 %p2, %r8, 0; @%p2 ", half, "8;").aligned, true);
  // Two loops: 8 i + j for i in 0..3, j in 0..7 has 32 words.
  auto const nested = [](std::string const& outer) {
    return decided(
               ".shared .align 16 .b8 few[128]; mov.u32 %r7, few; mov.u32 %r6, 0;\nI: mov.u32 %r8, 0; "
               "mov.u32 "
               "%r10, %r7;\nJ: st.shared.u32 [%r10], %r1; add.u32 %r10, %r10, 4; add.u32 %r8, %r8, 1; "
               "setp.lt.u32 %p1, %r8, 8; @%p1 bra J;\nadd.u32 %r7, %r7, 32; add.u32 %r6, %r6, 1; "
               "setp.lt.u32 %p1, %r6, " +
               outer + "; @%p1 bra I;")
        .at(0)
        .in_bounds;
  };
  EXPECT_EQ(nested("4"), true);
  EXPECT_EQ(nested("5"), false);
  EXPECT_EQ(one("shl.b32 %r4, %r1, 2; ld.shared.u32 %r5, [%r4];").in_bounds, std::nullopt) << "of no array";
}

TEST(Kernel, BeyondTheArrayIsWhatAnExecutionIs) {
  // (tid + 3 i) & 31 of 3 threads in two iterations is at most 5.
  KernelAccess const a = decided(
                             ".shared .align 4 .b8 few[64]; mov.u32 %r2, few; mov.u32 %r6, 0; mov.u32 %r9, "
                             "%r1;\nloop:\nand.b32 %r4, %r9, 31; "
                             "shl.b32 %r5, %r4, 3; add.s32 %r7, %r2, %r5; st.shared.u32 [%r7], %r1; add.s32 "
                             "%r9, %r9, 3; add.s32 %r6, %r6, 4; "
                             "setp.gt.s32 %p2, %r6, 7; @!%p2 bra loop;",
                             {.block = std::array<std::uint32_t, 3>{3, 1, 1}})
                             .at(0);
  EXPECT_NE(a.in_bounds, false);
}

TEST(Kernel, AlignedAndInBounds) {
  KernelAccess const a = one("shl.b32 %r4, %r1, 3; add.s32 %r4, %r4, %r2; ld.shared.u64 %rd4, [%r4+4];");
  EXPECT_EQ(a.aligned, false);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  KernelAccess const b = one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4+7936];");
  EXPECT_EQ(b.in_bounds, true);
  KernelAccess const c = one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4+7940];");
  EXPECT_EQ(c.in_bounds, false);
}

/// A store of each thread's element to `few`, 64 elements of so many bytes, by 128 threads.
KernelAccess elements(unsigned bytes, std::string const& condition = "", std::string const& more = "") {
  std::string const type = bytes == 1 ? "u8 [%r7], %h1;" : bytes == 2 ? "u16 [%r7], %h1;" : "u32 [%r7], %r1;";
  return decided(".reg .b16 %h<3>; .shared .align " + std::to_string(bytes) + " .b8 few[" +
                     std::to_string(64 * bytes) + "]; mov.u32 %r7, few; mul.lo.u32 %r8, %r1, " +
                     std::to_string(bytes) + "; add.u32 %r7, %r7, %r8; " + condition + " st.shared." + type +
                     more,
                 {.block = std::array<std::uint32_t, 3>{128, 1, 1}})
      .at(0);
}

TEST(KernelFaults, ElementsOfLessThanAWordThatLeaveTheirArray) {
  for (unsigned const bytes : {1U, 2U, 4U}) {
    KernelAccess const a = elements(bytes);
    EXPECT_EQ(a.verdict, KernelVerdict::refuted) << bytes;
    EXPECT_EQ(a.in_bounds, false);
    EXPECT_TRUE(a.reason.starts_with("lane 0 of warp 2 accesses byte 0x" +
                                     std::string(bytes == 1   ? "40"
                                                 : bytes == 2 ? "80"
                                                              : "100") +
                                     " of few, which has "))
        << a.reason;
    EXPECT_EQ(elements(bytes, "setp.lt.u32 %p1, %r1, 64; @%p1 ").in_bounds, true) << bytes;
  }
}

TEST(KernelFaults, ExecutionsBehindConditionsOnParametersAreFound) {
  KernelAccess const branch = elements(4, "setp.gt.s32 %p1, %r3, 3; @%p1 ");
  EXPECT_EQ(branch.reason, "lane 0 of warp 2 accesses byte 0x100 of few, which has 256 bytes, if n = 4");
  EXPECT_EQ(branch.verdict, KernelVerdict::refuted);
  EXPECT_EQ(elements(2, "setp.eq.s32 %p1, %r3, 70000; @%p1 ").reason,
            "lane 0 of warp 2 accesses byte 0x80 of few, which has 128 bytes, if n = 70000");
  KernelAccess const loop = elements(4, "setp.lt.s32 %p1, %r3, 1; @%p1 ret; mov.u32 %r9, 0;\nL: ",
                                     " add.u32 %r9, %r9, 1; setp.lt.s32 %p2, %r9, %r3; @%p2 bra L;");
  EXPECT_EQ(loop.reason, "lane 0 of warp 2 accesses byte 0x100 of few, which has 256 bytes, if n = 1");
  // Iteration 40 of n leaves it.
  KernelAccess const later =
      elements(4, "setp.ge.u32 %p1, %r1, 60; @%p1 ret; mov.u32 %r9, 0;\nL: ",
               " add.u32 %r7, %r7, 4; add.u32 %r9, %r9, 1; setp.lt.s32 %p2, %r9, %r3; @%p2 bra L;");
  EXPECT_EQ(later.in_bounds, false);
  EXPECT_EQ(later.reason, "lane 27 of warp 1 accesses byte 0x100 of few, which has 256 bytes, if n = 6");
  // n > 3 and n < 3: no thread comes there.
  EXPECT_NE(elements(4, "setp.gt.s32 %p1, %r3, 3; setp.lt.and.s32 %p1, %r3, 3, %p1; @%p1 ").in_bounds, false);
}

/// A store at `dynamic + %r9`, which these lines compute from the thread in %r1 and n in %r3.
KernelAccess behind_dynamic(std::string const& offset, std::string const& guard = "") {
  return one("mov.u32 %r8, dynamic; " + offset + " add.u32 %r7, %r8, %r9; " + guard +
             " st.shared.u32 [%r7], %r1;");
}

TEST(KernelFaults, BelowADynamicArrayIsOutsideOfIt) {
  KernelAccess const a = behind_dynamic("mov.u32 %r9, -16;");
  EXPECT_EQ(a.in_bounds, false);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  EXPECT_EQ(a.reason, "lane 0 of warp 0 accesses byte -16 of dynamic, before its start");
  EXPECT_EQ(behind_dynamic("mov.u32 %r9, 16;").in_bounds, std::nullopt) << "its size is not known";
  std::string const words = "shl.b32 %r9, %r1, 2; sub.u32 %r9, %r9, 64;";
  EXPECT_EQ(behind_dynamic(words).in_bounds, false);
  EXPECT_EQ(behind_dynamic(words, "setp.ge.u32 %p1, %r1, 16; @%p1").in_bounds, std::nullopt);
  EXPECT_EQ(behind_dynamic(words, "setp.ge.u32 %p1, %r1, 15; @%p1").reason,
            "lane 15 of warp 0 accesses byte -4 of dynamic, before its start");
  std::string const data = "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; setp.eq.u32 %p1, %r6, 0; @%p1";
  EXPECT_EQ(behind_dynamic(words, data).in_bounds, std::nullopt) << "it may not be executed";
  EXPECT_EQ(behind_dynamic("shl.b32 %r9, %r3, 2; neg.s32 %r9, %r9;").reason,
            "lane 0 of warp 0 accesses byte -4 of dynamic, before its start, if n = 1");
}

TEST(KernelFaults, NoBlockHasWhatLiesFarBehindADynamicArray) {
  KernelAccess const a = behind_dynamic("shl.b32 %r9, %r1, 13;");
  EXPECT_EQ(a.in_bounds, false);
  EXPECT_EQ(a.reason,
            "lane 29 of warp 0 accesses byte 0x3a000 of dynamic, and a block has at most 232448 bytes");
  EXPECT_EQ(behind_dynamic("shl.b32 %r9, %r1, 10;").in_bounds, std::nullopt);
  EXPECT_EQ(behind_dynamic("shl.b32 %r9, %r3, 13;").in_bounds, std::nullopt) << "n may be small";
  KernelAccess const far =
      behind_dynamic("mul.lo.u32 %r9, %r1, %r3; shl.b32 %r9, %r9, 2;",
                     "setp.ge.u32 %p1, %r3, 8192; setp.lt.u32 %p2, %r3, 65536; and.pred %p1, %p1, %p2; @%p1");
  EXPECT_NE(far.verdict, KernelVerdict::refuted) << "no launch has the execution";
}

TEST(KernelFaults, AnIterationLeadsBelowADynamicArray) {
  auto const iterations = [](std::string const& most) {
    return one("mov.u32 %r8, dynamic; mov.u32 %r9, 0;\nL: sub.u32 %r7, %r8, %r9; st.shared.u32 [%r7+256], "
               "%r1; add.u32 %r9, %r9, 64; setp.le.u32 %p1, %r9, " +
               most + "; @%p1 bra L;")
        .in_bounds;
  };
  EXPECT_EQ(iterations("256"), std::nullopt);
  EXPECT_EQ(iterations("320"), false);
}

TEST(KernelFaults, TheFirstIterationThatRunsMayBeALaterOne) {
  auto const load = [](std::string const& array, std::string const& guard) {
    return one(
        "ld.param.u64 %rd1, [g]; mov.u32 %r7, " + array + "; mov.u32 %r6, 0;\nL: " + guard +
        " @%p1 ld.shared.u32 %r9, [%r7]; add.u32 %r7, %r7, 4; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, "
        "5; @%p3 bra L;");
  };
  std::string const late = "setp.ge.u32 %p1, %r6, 2;";
  EXPECT_EQ(load("dynamic", late).in_bounds, std::nullopt) << "its size is not known";
  EXPECT_EQ(load("tile", late).in_bounds, true);
  EXPECT_EQ(load("tile+2", late).aligned, false);
  EXPECT_NE(
      one("mov.u32 %r6, 0; shl.b32 %r8, %r1, 1; add.u32 %r8, %r8, %r2;\nL: and.b32 %r5, %r1, 1; setp.eq.u32 "
          "%p1, %r5, %r6; @%p1 ld.shared.u32 %r9, [%r8]; add.u32 %r8, %r8, 4; add.u32 %r6, %r6, 1; "
          "setp.lt.u32 %p3, %r6, 2; @%p3 bra L;")
          .aligned,
      true)
      << "lane 1 in iteration 1";
}

TEST(KernelFaults, DynamicArraysBeginAtOneAddress) {
  auto const all = decided(
      ".extern .shared .align 4 .b8 other[]; mov.u32 %r8, dynamic; mov.u32 %r9, other; st.shared.u32 "
      "[%r8+-4], %r1; st.shared.u32 [%r9+-8], %r1; st.shared.u32 [%r9+8], %r1;");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].in_bounds, false);
  EXPECT_EQ(all[1].reason, "lane 0 of warp 0 accesses byte -8 of other, before its start");
  EXPECT_EQ(all[2].in_bounds, std::nullopt);
  // The sum of two addresses is that of no array.
  EXPECT_EQ(one("mov.u32 %r8, dynamic; sub.u32 %r8, %r8, %r2; st.shared.u32 [%r8+-4], %r1;").in_bounds,
            std::nullopt);
}

}  // namespace
}  // namespace swizproof
