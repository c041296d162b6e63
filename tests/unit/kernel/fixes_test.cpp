// Fixes of arrays.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace swizproof {
namespace {

/// A column of 32 words, 128 bytes apart, in each of two warps and three iterations, and rows that are free.
constexpr char column[] =
    "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; shl.b32 %r5, %r1, 2; add.s32 %r5, %r5, %r2; mov.u32 %r6, "
    "0;\n"
    "L: mad.lo.s32 %r7, %r6, 4, %r4; ld.shared.u32 %r8, [%r7]; st.shared.u32 [%r5], %r8;\n"
    "add.s32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra L;";

TEST(KernelFixes, SayWhyThereIsNone) {
  auto const why = [](std::string const& body) {
    KernelReport const report = report_of(body, {.fixes = true});
    EXPECT_TRUE(report.fixes.empty());
    EXPECT_EQ(report.unfixed.size(), 1U);
    return report.unfixed.empty() ? "" : report.unfixed[0].array + ": " + report.unfixed[0].reason;
  };
  EXPECT_EQ(
      why("and.b32 %r4, %r3, 63; mul.lo.u32 %r4, %r4, %r1; shl.b32 %r4, %r4, 2; and.b32 %r4, %r4, 8191; "
          "add.u32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];"),
      "tile: its addresses depend on n: --param n=N gives it a value");
  EXPECT_EQ(
      why("ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; and.b32 %r6, %r6, 127; shl.b32 %r6, %r6, "
          "2;\nshl.b32 %r4, %r1, 6; add.u32 %r4, %r4, %r2; add.u32 %r4, %r4, %r6; ld.shared.u32 %r5, [%r4];"),
      "tile: its addresses depend on the load at PTX line 10");
}

// Only swizzles of whole rows keep what cp.async.cg takes; padding of 16 bytes a row would move its sectors.
TEST(KernelFixes, KeepWhatACopyThatBypassesL1Takes) {
  std::string const copied =
      "shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 16; "
      "add.s64 %rd3, %rd1, %rd2; cp.async.cg.shared.global [%r4], [%rd3], 16;\n";
  std::string const rows =
      "and.b32 %r5, %r1, 7; shl.b32 %r5, %r5, 7; add.u32 %r5, %r5, %r2; ld.shared.v4.u32 {%r6,%r7,%r8,%r9}, "
      "[%r5];";
  KernelReport const r = report_of(copied + rows, {.fixes = true, .pointers = 128});
  ASSERT_EQ(r.fixes.size(), 1U);
  EXPECT_EQ(r.fixes[0].left_out.size(), 1U);
  ASSERT_EQ(r.fixes[0].fixes.size(), 1U);
  EXPECT_TRUE(r.fixes[0].fixes[0].of_copies);
  EXPECT_FALSE(r.fixes[0].fixes[0].padding);
  ASSERT_TRUE(r.fixes[0].fixes[0].swizzle);
  EXPECT_EQ(r.fixes[0].fixes[0].swizzle->swizzle.base, 4);
  KernelReport const shifted = report_of(
      "shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 16; "
      "add.s64 "
      "%rd3, %rd1, %rd2; add.u32 %r4, %r4, 16; cp.async.cg.shared.global [%r4], [%rd3], 16;",
      {.fixes = true, .pointers = 128});
  EXPECT_TRUE(shifted.fixes.empty());
  ASSERT_EQ(shifted.unfixed.size(), 1U);
  EXPECT_NE(shifted.unfixed[0].reason.find("source and destination"), std::string::npos);
}

TEST(KernelFixes, AreOfAllExecutionsOfAnArray) {
  KernelReport const r = report_of(column, {.fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  KernelFix const& f = r.fixes[0];
  EXPECT_EQ(f.array, "tile");
  EXPECT_EQ(f.start, "tile");
  EXPECT_EQ(f.accesses, 2U);
  EXPECT_TRUE(f.left_out.empty());
  EXPECT_EQ(f.executions, 12U);
  ASSERT_EQ(f.fixes.size(), 1U);
  EXPECT_EQ(f.fixes[0].before, 6U * 32 + 6U);
  EXPECT_EQ(f.fixes[0].ideal, 12U);
  EXPECT_EQ(f.fixes[0].after(), 12U);
  EXPECT_TRUE(report_of(column).fixes.empty());  // without the option, none
}

// Lane l executes l + 1 iterations, so the wavefronts of a column are 32 + 31 + .. + 1.
TEST(KernelFixes, CountNoLanesThatLeftALoop) {
  KernelReport const r = report_of(
      "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; mov.u32 %r6, 0;\nL: ld.shared.u32 %r8, [%r4]; add.s32 "
      "%r6, %r6, 1; setp.le.u32 %p1, %r6, %r1; @%p1 bra L;",
      {.block = {{32, 1, 1}}, .fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  EXPECT_EQ(r.fixes[0].executions, 32U);
  EXPECT_EQ(r.fixes[0].fixes.at(0).before, 32U * 33 / 2);
}

// Each execution has one value of a parameter, and of the block's number: it is not counted once for each of 16.
TEST(KernelFixes, LeaveOutAddressesThatALaunchMoves) {
  std::string const words = "shl.b32 %r4, %r1, 3; add.s32 %r4, %r4, %r2; ld.shared.u32 %r8, [%r4];\n";
  std::string const rows =
      "and.b32 %r9, %r9, 15; shl.b32 %r9, %r9, 7; mad.lo.s32 %r9, %r1, 4, %r9; add.s32 %r9, %r9, %r2; "
      "ld.shared.u32 %r8, [%r9];";
  for (std::string const row : {"mov.u32 %r9, %r3; ", "mov.u32 %r9, %ctaid.x; "}) {
    KernelReport const r = report_of(words + row + rows, {.block = {{32, 1, 1}}, .fixes = true});
    ASSERT_EQ(r.fixes.size(), 1U) << row;
    EXPECT_EQ(r.fixes[0].left_out, (std::vector<std::uint32_t>{r.accesses.at(1).ptx_line}));
    EXPECT_EQ(r.fixes[0].executions, 1U);
    EXPECT_EQ(r.fixes[0].fixes.at(0).before, 2U);
  }
  // The steps of a loop are executed, and count.
  std::string const loop =
      "mov.u32 %r20, 0;\nL: and.b32 %r9, %r20, 3; shl.b32 %r9, %r9, 10; add.s32 %r9, %r9, %r4; ld.shared.u32 "
      "%r8, [%r9];\nadd.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, %r3; @%p8 bra L;";
  KernelReport const steps = report_of(words + loop, {.block = {{32, 1, 1}}, .fixes = true});
  ASSERT_EQ(steps.fixes.size(), 1U);
  EXPECT_TRUE(steps.fixes[0].left_out.empty());
  EXPECT_EQ(steps.fixes[0].executions, 1U + 4U);
}

TEST(KernelFixes, LeaveOutWhatTheyDoNotKnow) {
  std::string const load = "ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; and.b32 %r9, %r9, 31; ";
  std::string const data =
      load + "mad.lo.s32 %r10, %r9, 4, %r2; ld.shared.u32 %r8, [%r10]; red.shared.add.u32 [%r5], 1;";
  KernelReport const r = report_of(column + data, {.fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  EXPECT_EQ(r.fixes[0].accesses, 4U);
  EXPECT_EQ(r.fixes[0].left_out,
            (std::vector<std::uint32_t>{r.accesses[2].ptx_line, r.accesses[3].ptx_line}));
  EXPECT_EQ(r.fixes[0].executions, 12U);
}

TEST(KernelFixes, KeepTheBytesOfAccessesThatAreLeftOut) {
  // Words of a row of 272 bytes in its first 16: matrices are loaded from a row of 16 bytes that data chooses.
  std::string const words =
      ".shared .align 16 .b8 wide[8704]; mov.u32 %r2, wide; mul.lo.s32 %r4, %r1, 272; add.s32 %r4, %r4, %r2; "
      "st.shared.u32 [%r4], %r1; st.shared.u32 [%r4+8], "
      "%r1;\n"
      "ld.param.u64 %rd1, [g]; ld.global.u32 %r5, [%rd1]; shl.b32 %r5, %r5, 4; add.s32 %r5, %r4, %r5;\n";
  std::string const by_data = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r9, %r10, %r11}, [%r5];",
                    barrier = "mbarrier.init.shared.b64 [%r2+136], 1;";
  auto const least_unit = [&](std::string const& other) {
    KernelReport const r = report_of(words + other, {.block = {{32, 1, 1}}, .fixes = true});
    unsigned unit = 16;
    for (KernelFix const& f : r.fixes)
      for (Fix const& one : f.fixes) {
        if (one.swizzle) unit = std::min(unit, 1U << one.swizzle->swizzle.base);
        if (one.padding)
          unit = std::min(unit, 1U << std::countr_zero(one.padding->padding | one.padding->pitch));
      }
    return unit;
  };
  EXPECT_EQ(least_unit(""), 4U);
  for (std::string const& other : {by_data, barrier}) EXPECT_EQ(least_unit(other), 16U) << other;
}

// Instructions that take bytes in their order, and those whose address may be in the array.
TEST(KernelFixes, AreOfNoArrayThatAnInstructionAccessesAsItIs) {
  std::string const words = "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; ld.shared.u32 %r8, [%r4];\n",
                    pointer = "cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd4, %rd3; ld.param.u64 %rd1, [g];\n",
                    remote = "mapa.shared::cluster.u32 %r9, %r4, 1; ",
                    last = " may access it, and is not known to follow a fix";
  auto const why = [&](std::string const& other) {
    KernelReport const r = report_of(words + other, {.block = {{32, 1, 1}}, .fixes = true});
    EXPECT_TRUE(r.fixes.empty()) << other;
    return r.unfixed.size() != 1 ? other : r.unfixed[0].reason;
  };
  EXPECT_EQ(why("st.bulk.weak.shared::cta [%r2], 4096, 0;"),
            "st.bulk.weak.shared::cta at PTX line 11" + last);
  EXPECT_EQ(why("ld.param.u64 %rd1, [g]; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 4096;"),
            "cp.async.bulk.global.shared::cta.bulk_group at PTX line 11" + last);
  EXPECT_EQ(why(remote + "ld.shared::cluster.v4.u32 {%r10, %r11, %r12, %r13}, [%r9];"),
            "ld.shared::cluster.v4.u32 at PTX line 11" + last);
  EXPECT_EQ(why(remote + "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r9], %r1, [%r9];"),
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 at PTX line 11" + last);
  EXPECT_EQ(why(pointer + "setp.eq.u32 %p1, %r3, 0; selp.b64 %rd5, %rd4, %rd1, %p1; ld.u32 %r10, [%rd5];"),
            "ld.u32 at PTX line 12" + last);
  EXPECT_EQ(why(pointer + "call.uni other, (%rd4);"), "call.uni at PTX line 12" + last);
  EXPECT_EQ(why("wmma.load.a.sync.aligned.row.m16n16k16.shared.e4m3 {%r10, %r11}, [%r2];"),
            "wmma.load.a.sync.aligned.row.m16n16k16.shared.e4m3 at PTX line 11" + last);
  EXPECT_EQ(why("mov.u32 %r5, dynamic; setp.eq.u32 %p1, %r3, 0; selp.b32 %r5, %r5, %r2, %p1; ld.shared.u32 "
                "%r6, [%r5];"),
            "ld.shared.u32 at PTX line 11" + last);
  // Not of another array, nor if no lane executes it.
  std::string const others[] = {"mov.u32 %r5, dynamic; st.bulk.weak.shared::cta [%r5], 4096, 0;",
                                "setp.gt.u32 %p1, %r1, 99; @%p1 st.bulk.weak.shared::cta [%r2], 4096, 0;",
                                "ld.param.u64 %rd1, [g]; ld.v4.u32 {%r10, %r11, %r12, %r13}, [%rd1];",
                                "ld.param.u64 %rd1, [g]; cp.async.ca.shared.global [%r2], [%rd1], 4;\nL: "
                                "ld.shared.u32 %r9, [%r2]; setp.eq.u32 %p1, %r9, 0; @%p1 bra L;"};
  for (std::string const& other : others)
    EXPECT_EQ(report_of(words + other, {.block = {{32, 1, 1}}, .fixes = true}).fixes.size(), 1U) << other;
}

// Dynamic arrays are one memory.
TEST(KernelFixes, AreOfNoMemoryWithTwoNames) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 a[];\n.extern .shared "
      ".align 16 .b8 b[];\n.entry k()\n{\n.reg .b32 %r<9>;\nmov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 7; "
      "mov.u32 "
      "%r3, a; add.u32 %r3, %r3, %r2; mov.u32 %r4, b; add.u32 %r4, %r4, %r2; st.shared.u32 [%r3], %r1; "
      "ld.shared.u32 %r5, [%r4];\nret;\n}\n",
      "test.ptx");
  KernelReport const r = decide_kernel(m, m.functions.at(0), {.block = {{32, 1, 1}}, .fixes = true});
  EXPECT_TRUE(r.fixes.empty());
  ASSERT_EQ(r.unfixed.size(), 2U);
  EXPECT_EQ(r.unfixed[0].reason, "its memory is also that of b");
}

// A copy of a tensor follows the modes of its map.
TEST(KernelFixes, AreModesOfDescriptorsIfATensorIsCopied) {
  KernelReport const r = report_of(
      "ld.param.u64 %rd1, [g]; mov.u32 %r5, 0; cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group "
      "[%rd1, {%r5, %r5}], [%r2];\nand.b32 %r4, %r1, 7; shl.b32 %r4, %r4, 7; add.s32 %r4, %r4, %r2; "
      "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];",
      {.block = {{32, 1, 1}}, .fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  EXPECT_TRUE(r.fixes[0].fixes.at(0).of_descriptors);
  EXPECT_FALSE(r.fixes[0].fixes[0].padding);
}

TEST(KernelFixes, CountFromTheStartThatIsRoundedUp) {
  std::string const text =
      "mov.u32 %r2, dynamic; add.s32 %r2, %r2, 1023; and.b32 %r2, %r2, -1024; shl.b32 %r4, %r1, 7;\n"
      "add.s32 %r4, %r4, %r2; ld.shared.u32 %r8, [%r4+8];";
  KernelReport const r = report_of(text, {.fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  EXPECT_EQ(r.fixes[0].array, "dynamic");
  EXPECT_NE(r.fixes[0].start, "dynamic");
  EXPECT_EQ(r.fixes[0].fixes.at(0).region.at(0).begin, 8U);
}

TEST(KernelFixes, AreOfPartsIfEachHasABetterOne) {
  // Columns of 16 bytes in the first half and of 4 in the second: what keeps vectors whole leaves words in 8 banks.
  KernelReport const r = report_of(
      "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];\n"
      "ld.shared.u32 %r9, [%r4+4096];",
      {.block = {{32, 1, 1}}, .fixes = true});
  ASSERT_EQ(r.fixes.size(), 1U);
  ASSERT_EQ(r.fixes[0].fixes.size(), 2U);
  EXPECT_EQ(r.fixes[0].fixes[0].after() + r.fixes[0].fixes[1].after(), 4U + 1U);
}

TEST(KernelFixes, LeaveOutMatricesOfPartWarps) {
  std::string const text =
      "and.b32 %r4, %r1, 31; shl.b32 %r4, %r4, 7; add.s32 %r4, %r4, %r2;\n"
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];";
  EXPECT_EQ(report_of(text, {.block = {{64, 1, 1}}, .fixes = true}).fixes.size(), 1U);
  KernelReport const part = report_of(text, {.block = {{40, 1, 1}}, .fixes = true});
  EXPECT_EQ(part.accesses.at(0).verdict, KernelVerdict::refuted);
  EXPECT_TRUE(part.fixes.empty());
}

TEST(KernelFixes, AreOfNoArrayWithoutConflict) {
  EXPECT_TRUE(
      report_of("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r8, [%r4];", {.fixes = true})
          .fixes.empty());
  // Atomics alone have no fix, and what is out of bounds is not refuted for its cost.
  EXPECT_TRUE(
      report_of("shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; red.shared.add.u32 [%r4], 1;", {.fixes = true})
          .fixes.empty());
}

}  // namespace
}  // namespace swizproof
