// A dump of SASS compared with PTX, without an execution: each rule of src/profile/sass_as_trace.hpp on a small kernel, and its faults.
#include "profile/sass_as_trace.hpp"

#include "sass_case.hpp"

#include <swizproof/core/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
namespace {

/// A kernel k over `tile`, 8 KiB with an alignment of 16 bytes. %r1 is tid.x, %r2 the tile, %r3 the parameter n.
PtxFile ptx_of(std::string const& body) {
  return {"case.ptx",
          ptx::read_module(".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"/elsewhere/case.cu\"\n"
                           ".shared .align 16 .b8 tile[8192];\n.entry k(.param .u32 n)\n{\n"
                           ".reg .pred %p<9>; .reg .b32 %r<30>;\n"
                           "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u32 %r3, [n];\n" +
                               body + "\nret;\n}\n",
                           "case.ptx"),
          {}};
}

/// The same in SASS: R0 is tid.x, R2 four times it from the start of the block's memory on, R3 the parameter.
PtxFile sass_of(std::string const& lines) {
  std::string const text = sass_kernel(
      "S2R R0, SR_TID.X\nIMAD.SHL.U32 R2, R0, 0x4, RZ\nVIADD R2, R2, 0x400\nULDC UR4, c[0x0][0x210]\nMOV R3, "
      "UR4\n" +
      lines + "\nEXIT");
  return {"case.sass", {}, sass::read_module(text, "case.sass")};
}

struct Answer {
  Trace trace{};
  CompiledReport report{};
  [[nodiscard]] CompiledInstruction const& only() const {
    EXPECT_EQ(report.instructions.size(), 1U);
    return report.instructions.at(0);
  }
};
Answer compared(std::string const& sass, std::string const& ptx,
                CompiledOptions options = {{{64, 1, 1}}, {}}) {
  Answer out;
  out.trace = as_trace(sass_of(sass), sm_90, options);
  out.report = compare_compiled(out.trace, {ptx_of(ptx)}, options);
  return out;
}

std::string const row = ".loc 1 7 0\nshl.b32 %r4, %r1, 2; add.u32 %r5, %r2, %r4;\nld.shared.u32 %r6, [%r5];";
/// Bytes 0 and 4 of each lane, in two iterations.
std::string const loop =
    "mov.u32 %r8, 0; shl.b32 %r4, %r1, 2; add.u32 %r5, %r2, %r4;\nL: .loc 1 7 0\nld.shared.u32 %r6, [%r5]; "
    "add.u32 %r5, "
    "%r5, 4; add.u32 %r8, %r8, 1; setp.ne.u32 %p1, %r8, 2; @%p1 bra L;";

TEST(Dumped, EachWarpIsAPatternOfThePtx) {
  Answer const a = compared("#7\nLDS R4, [R2]", row);
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
  EXPECT_EQ(a.only().patterns, 2U);
  EXPECT_EQ(a.only().found, 2U);
  EXPECT_TRUE(a.only().certain);
  EXPECT_EQ(a.only().worst, 1U);
  EXPECT_EQ(a.only().proved, 1U);
  EXPECT_EQ(a.report.not_traced, 0U);
  EXPECT_EQ(a.report.lower, 0U);
}

TEST(Dumped, EachBlockStandsForItself) {
  Answer const a = compared("#7\nLDS R4, [R2]", row, {{{64, 1, 1}, {96, 1, 1}}, {}});
  ASSERT_EQ(a.report.instructions.size(), 2U);
  EXPECT_EQ(a.report.instructions[0].patterns, 2U);
  EXPECT_EQ(a.report.instructions[1].patterns, 3U);
  for (CompiledInstruction const& i : a.report.instructions) EXPECT_EQ(i.found, i.patterns);
}

TEST(Dumped, WithoutABlockEveryOneCounts) {
  Answer const a = compared("#7\nLDS R4, [R2]", row, {});
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
  EXPECT_EQ(a.only().patterns, 32U);
}

TEST(Dumped, AnotherAddressInALaneDiffers) {
  Answer const a =
      compared("#7\nISETP.NE.AND P0, PT, R0, 0x5, PT\n@!P0 VIADD R2, R2, 0x100\nLDS R4, [R2]", row);
  EXPECT_EQ(a.only().outcome, AsCompiled::differs);
  EXPECT_EQ(a.only().found, 1U);  // the second warp's
  ASSERT_TRUE(a.only().nearest);
  EXPECT_EQ(a.only().nearest->lane, 5U);
}

TEST(Dumped, AMergeIsNamed) {
  Answer const a = compared("#7\nIMAD.SHL.U32 R2, R0, 0x8, RZ\nLDS.64 R4, [R2+0x400]",
                            ".loc 1 7 0\nshl.b32 %r4, %r1, 3; add.u32 %r5, %r2, %r4;\n"
                            "ld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, [%r5+4];");
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
  EXPECT_EQ(a.only().merged, 2U);
  EXPECT_EQ(a.only().worst, 2U);
  EXPECT_EQ(a.only().proved, 4U);
  EXPECT_EQ(a.only().ptx_lines.size(), 2U);
}

TEST(Dumped, OneAccessIsNotTwoPartsOfAMerge) {
  // In a loop it may be: two iterations of it.
  std::string const wide = "#7\nLDS.64 R4, [R2]";
  EXPECT_EQ(compared(wide, row).only().outcome, AsCompiled::undecided);
  // n moves it by any number of words.
  std::string const moved =
      ".loc 1 7 0\nshl.b32 %r4, %r1, 2; add.u32 %r5, %r2, %r4; shl.b32 %r6, %r3, 2; add.u32 %r5, %r5, %r6; "
      "ld.shared.u32 "
      "%r7, [%r5];";
  EXPECT_EQ(compared(wide, moved).only().outcome, AsCompiled::undecided);
  Answer const a = compared(wide, loop);
  EXPECT_EQ(a.only().merged, 2U);
  EXPECT_FALSE(a.only().certain);
}

TEST(Dumped, PartsOfAMergeAreNeighbours) {
  std::string const wide = "#7\nIMAD.SHL.U32 R2, R0, 0x8, RZ\nLDS.64 R4, [R2+0x400]";
  std::string const two =
      ".loc 1 7 0\nshl.b32 %r4, %r1, 3; add.u32 %r5, %r2, %r4;\nld.shared.u32 %r6, [%r5]; ld.shared.u32 %r7, "
      "[%r5+4];";
  EXPECT_TRUE(compared(wide, two).only().certain);
  // 20 bytes further, which is 4 modulo the array's alignment.
  std::string far = two;
  far.replace(far.find("+4]"), 3, "+20]");
  EXPECT_EQ(compared(wide, far).only().outcome, AsCompiled::undecided);
  // By other warps: whether they are neighbours is not known.
  std::string apart = two;
  apart.replace(apart.find("ld.shared.u32 %r6"), 5, "setp.lt.u32 %p1, %r1, 32; @%p1 ld.sh");
  apart.replace(apart.find("ld.shared.u32 %r7"), 5, "@!%p1 ld.sh");
  Answer const a = compared(wide, apart);
  EXPECT_EQ(a.only().merged, 2U) << a.only().why;
  EXPECT_FALSE(a.only().certain);
}

TEST(Dumped, IterationsThatWereMergedAreNotKnownToBeNeighbours) {
  // All iterations read the same 8 bytes, which n moves by any number of them.
  Answer const a =
      compared("#7\nIMAD.SHL.U32 R2, R0, 0x10, RZ\nLDS.128 R4, [R2+0x400]",
               ".reg .b64 %rd<3>; mov.u32 %r8, 0; shl.b32 %r4, %r1, 4; add.u32 %r5, %r2, %r4; shl.b32 %r9, "
               "%r3, 3; add.u32 %r5, %r5, %r9;\nL: .loc 1 7 "
               "0\nld.shared.v2.u32 {%r6, %r7}, [%r5]; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, %r3; "
               "@%p1 bra L;");
  EXPECT_NE(a.only().outcome, AsCompiled::differs);
  EXPECT_FALSE(a.only().outcome == AsCompiled::as_proved && a.only().certain);
}

TEST(Dumped, APartIsCertainForTheAccessThatWasChosen) {
  // The guarded pair is on the line; the other one, elsewhere, is executed by all.
  Answer const a =
      compared("#7\nIMAD.SHL.U32 R2, R0, 0x8, RZ\nLDS.64 R4, [R2+0x400]",
               "shl.b32 %r4, %r1, 3; add.u32 %r5, %r2, %r4; setp.eq.u32 %p1, %r3, 5;\n.loc 1 7 0\n@%p1 "
               "ld.shared.u32 %r6, [%r5]; @%p1 ld.shared.u32 %r7, [%r5+4];\n.loc 1 9 0\nld.shared.u32 %r8, "
               "[%r5]; ld.shared.u32 %r9, [%r5+4];");
  EXPECT_EQ(a.only().merged, 2U) << a.only().why;
  EXPECT_FALSE(a.only().certain);
}

TEST(Dumped, ANumberThatIsTakenTwiceIsNotAnyMultiple) {
  // 4 (n - (n & ~1)) is 0 or 4, and never 8.
  Answer const a = compared(
      "#7\nLDS R4, [R2+0x8]",
      ".loc 1 7 0\nshl.b32 %r4, %r1, 2; add.u32 %r5, %r2, %r4; and.b32 %r6, %r3, 0xfffffffe; sub.u32 "
      "%r6, %r3, %r6; shl.b32 %r6, %r6, 2; add.u32 %r5, %r5, %r6; ld.shared.u32 %r7, [%r5];");
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
  EXPECT_FALSE(a.only().certain);
}

TEST(Dumped, NarrowerAccessesOnTheLineLeaveItOpen) {
  // 8 and two times 4 bytes may have become 16.
  Answer const a = compared(
      "#7\nIMAD.SHL.U32 R2, R0, 0x10, RZ\nLDS.128 R4, [R2+0x480]\nLDS.128 R8, [R2+0x408]",
      ".loc 1 7 0\nshl.b32 %r4, %r1, 4; add.u32 %r5, %r2, %r4; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, "
      "[%r5]; ld.shared.v2.u32 {%r10, %r11}, [%r5+24]; ld.shared.u32 %r12, [%r5+32]; ld.shared.u32 "
      "%r13, [%r5+36];");
  ASSERT_EQ(a.report.instructions.size(), 2U);
  EXPECT_EQ(a.report.instructions[1].outcome, AsCompiled::undecided);
}

TEST(Dumped, ACounterIsNotAnyMultipleForCertain) {
  // 8 is neither 0 nor 4.
  Answer const a = compared("#7\nLDS R4, [R2+0x8]", loop);
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
  EXPECT_FALSE(a.only().certain);
  // By 16 bytes, the array's alignment, it says no more than that the array may be anywhere.
  std::string far = loop;
  far.replace(far.find("%r5, %r5, 4"), 11, "%r5, %r5, 16");
  EXPECT_TRUE(compared("#7\nLDS R4, [R2+0x10]", far).only().certain);
}

TEST(Dumped, AKernelOfWhichPtxasLeftNothingIsCounted) {
  Answer const a = compared("#7\nMOV R4, R2", row);
  EXPECT_TRUE(a.report.instructions.empty());
  EXPECT_EQ(a.report.not_traced, 1U);
}

TEST(Dumped, AMergeThatLooksLikeAnotherAccessIsNamed) {
  // Both wide ones are the PTX's wide one, moved by 16 bytes; one of them is its two narrow ones.
  std::string const ptx =
      ".loc 1 7 0\nshl.b32 %r4, %r1, 3; add.u32 %r5, %r2, %r4;\nld.shared.v2.u32 {%r6, %r7}, [%r5+1024];\n"
      "ld.shared.u32 %r8, [%r5];\nld.shared.u32 %r9, [%r5+4];";
  std::string const wide = "#7\nIMAD.SHL.U32 R2, R0, 0x8, RZ\nLDS.64 R4, [R2+0x800]";
  Answer const a = compared(wide + "\nLDS.64 R6, [R2+0x400]", ptx);
  ASSERT_EQ(a.report.instructions.size(), 2U);
  for (CompiledInstruction const& i : a.report.instructions) {
    EXPECT_EQ(i.outcome, AsCompiled::as_proved) << i.why;
    EXPECT_EQ(i.merged, 1U);
  }
  ASSERT_EQ(a.report.merges.size(), 1U);
  EXPECT_EQ(a.report.merges[0].ptx_lines.size(), 2U);
  EXPECT_EQ(a.report.not_traced, 0U);
  // Only one of the two is no merge.
  Answer const b = compared(wide + "\nLDS R6, [R2+0x400]", ptx);
  EXPECT_TRUE(b.report.merges.empty());
  EXPECT_EQ(b.report.not_traced, 1U) << "the other one";
}

TEST(Dumped, WhatPtxasRemovedIsCounted) {
  Answer const a = compared("#7\nLDS R4, [R2]",
                            row + "\n.loc 1 8 0\nst.shared.u32 [%r5], %r6; st.shared.u32 [%r5+4], %r6;");
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved);
  EXPECT_EQ(a.report.not_traced, 2U);
}

TEST(Dumped, AnAccessThatIsNotDecidedIsUndecided) {
  Answer const a = compared("#7\nLDS R2, [R2]\nIMAD.SHL.U32 R2, R2, 0x4, RZ\nLDS R4, [R2]",
                            row + "\nshl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6];");
  ASSERT_EQ(a.report.instructions.size(), 2U);
  CompiledInstruction const& open = a.report.instructions[1];
  EXPECT_EQ(open.outcome, AsCompiled::undecided);
  EXPECT_NE(open.why.find("depends on the load"), std::string::npos) << open.why;
  EXPECT_EQ(open.worst, 32U);
  EXPECT_EQ(open.proved, 32U) << "the bound of both";
}

TEST(Dumped, APatternThatMayNotOccurDoesNotDiffer) {
  // A parameter decides whether the lanes are 8 bytes apart.
  Answer const a =
      compared("#7\nISETP.NE.AND P0, PT, R3, 0x5, PT\n@!P0 IMAD.SHL.U32 R2, R0, 0x8, RZ\nLDS R4, [R2]", row);
  EXPECT_EQ(a.only().outcome, AsCompiled::undecided);
  EXPECT_NE(a.only().why.find("is not known"), std::string::npos) << a.only().why;
  EXPECT_EQ(a.only().found, 2U);
  EXPECT_EQ(a.only().patterns, 4U);
}

TEST(Dumped, AConditionThatMayNotHoldIsNotCertain) {
  Answer const a = compared("#7\nISETP.NE.AND P0, PT, R3, 0x5, PT\n@P0 LDS R4, [R2]", row);
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
  EXPECT_FALSE(a.only().certain);
}

TEST(Dumped, AnAccessThatNoLaneExecutesIsLeftOut) {
  Answer const a = compared("#7\nISETP.GE.U32.AND P0, PT, R0, 0x40, PT\n@P0 STS [R2], R3\nLDS R4, [R2]", row);
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
}

TEST(Dumped, AnUnknownShiftOfAllLanesIsNotCertain) {
  // By n bytes in both: in PTX the low 4 bits of the base are known to be 0, in SASS here only 2 of n * 4.
  Answer const a = compared("#7\nLEA R2, R3, R2, 0x2\nLDS R4, [R2]", row);
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
  EXPECT_FALSE(a.only().certain);
  // It may make up for the 4 bytes by which the PTX's lanes lie behind a multiple of 16.
  std::string ptx = row;
  ptx.replace(ptx.find("[%r5]"), 5, "[%r5+4]");
  Answer const b = compared("#7\nLEA R2, R3, R2, 0x2\nLDS R4, [R2]", ptx);
  EXPECT_EQ(b.only().outcome, AsCompiled::as_proved) << b.only().why;
}

TEST(Dumped, ADearerWarpOfThePtxIsCounted) {
  // In the PTX the second warp reads a column. In the SASS both read a row, which is the first warp's in the PTX.
  std::string const ptx =
      ".loc 1 7 0\nshl.b32 %r4, %r1, 2; add.u32 %r5, %r2, %r4;\nsetp.lt.u32 %p1, %r1, 32; shl.b32 %r6, %r1, "
      "7;\n"
      "@!%p1 add.u32 %r5, %r2, %r6; ld.shared.u32 %r7, [%r5];";
  Answer const less = compared("#7\nLDS R4, [R2]", ptx);
  EXPECT_EQ(less.only().outcome, AsCompiled::as_proved) << less.only().why;
  EXPECT_EQ(less.only().worst, 1U);
  EXPECT_EQ(less.only().proved, 32U);
  EXPECT_EQ(less.report.lower, 1U);
  Answer const same =
      compared("#7\nISETP.LT.U32.AND P0, PT, R0, 0x20, PT\n@!P0 LEA R2, R0, 0x400, 0x7\nLDS R4, [R2]", ptx);
  EXPECT_EQ(same.only().outcome, AsCompiled::as_proved) << same.only().why;
  EXPECT_EQ(same.only().worst, 32U);
  EXPECT_EQ(same.report.lower, 0U);
}

TEST(Dumped, AnotherKernelIsNamedSo) {
  Trace const trace = as_trace(sass_of("#7\nLDS R4, [R2]"), sm_90, {{{64, 1, 1}}, {}});
  PtxFile other = ptx_of(row);
  other.module.functions.at(0).name = "other";
  EXPECT_EQ(compare_compiled(trace, {other}, {}).instructions.at(0).outcome, AsCompiled::no_kernel);
}

TEST(Dumped, AParameterHasItsValueInBoth) {
  CompiledOptions of_three{{{64, 1, 1}}, {{"#0", {3}}}};
  Answer const a = compared("#7\nIMAD R5, R0, R3, RZ\nLEA R5, R5, 0x400, 0x2\nLDS R4, [R5]",
                            ".loc 1 7 0\nmul.lo.u32 %r4, %r1, %r3; shl.b32 %r4, %r4, 2; add.u32 %r5, %r2, "
                            "%r4;\nld.shared.u32 %r6, [%r5];",
                            of_three);
  ASSERT_EQ(a.trace.instructions.size(), 1U);
  EXPECT_EQ(a.trace.instructions[0].patterns.size(), 2U) << "one of each warp";
  EXPECT_EQ(a.only().outcome, AsCompiled::as_proved) << a.only().why;
}

TEST(Dumped, AShapeThatIsNeededIsAskedFor) {
  EXPECT_THROW((void)as_trace(sass_of("#7\nS2R R5, SR_TID.Y\nLEA R2, R5, R2, 0x7\nLDS R4, [R2]"), sm_90, {}),
               InputError);
}

}  // namespace
}  // namespace swizproof
