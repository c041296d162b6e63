// Sectors and lines of global memory: worked out by hand.
#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace swizproof {
namespace {

/// Decides a kernel of 32 threads with a pointer p, whose address is %d1, and tid.x in %r1. `pointer`: attributes of p.
KernelReport global_report(std::string const& body, KernelOptions options = {},
                           std::string const& pointer = "") {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".entry k(.param .u64 " +
          pointer +
          " p, .param .u32 n, .param .u64 q)\n{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg "
          ".b64 %d<30>;\n.shared .align 16 .b8 a[4096];\nld.param.u64 %d1, [p]; ld.param.u32 %r2, [n]; "
          "mov.u32 %r1, %tid.x;\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  if (!options.block) options.block = {32, 1, 1};
  options.global = true;
  return decide_kernel(m, m.functions.at(0), options);
}
KernelAccess global_access(std::string const& body, KernelOptions const& options = {},
                           std::string const& pointer = "") {
  return global_report(body, options, pointer).global.at(0);
}

/// A load at p + 4 * tid.
std::string const consecutive_words =
    "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r3, [%d3];";

TEST(Sectors, OfConsecutiveLanesAreOneMoreWhereThePointerIsNotAligned) {
  KernelAccess const any = global_access(consecutive_words);
  EXPECT_EQ(any.verdict, KernelVerdict::proved);
  EXPECT_EQ(any.wavefronts, 5U);
  EXPECT_EQ(any.ideal, 4U);
  EXPECT_EQ(any.sectors->least, 4U);
  EXPECT_EQ(any.sectors->lines, 2U);
  EXPECT_EQ(any.sectors->least_lines, 1U);
  EXPECT_EQ(any.sectors->stride, 4);
  EXPECT_FALSE(any.sectors->near);

  KernelAccess const strict = global_access(consecutive_words, {.excess_sectors = 0});
  EXPECT_EQ(strict.verdict, KernelVerdict::refuted);
  ASSERT_TRUE(strict.worst);
  ASSERT_FALSE(strict.worst->values.empty()) << "the pointer that it needs";
}

TEST(Sectors, OfAnAlignedPointerAreTheIdealOnes) {
  for (KernelAccess const& a :
       {global_access(consecutive_words, {.excess_sectors = 0}, ".ptr .global .align 32"),
        global_access(consecutive_words, {.excess_sectors = 0, .pointers = 256})}) {
    EXPECT_EQ(a.verdict, KernelVerdict::proved);
    EXPECT_EQ(a.wavefronts, 4U);
    EXPECT_EQ(a.sectors->least, 4U);
  }
  EXPECT_EQ(global_access(consecutive_words, {}, ".ptr .global .align 32").sectors->lines, 2U);
  EXPECT_EQ(global_access(consecutive_words, {}, ".ptr .global .align 128").sectors->lines, 1U);
  EXPECT_EQ(global_access(consecutive_words, {}, ".align 128").wavefronts, 5U)
      << "the alignment of the parameter itself";
}

TEST(Sectors, AssumedOfPointersIsListed) {
  EXPECT_TRUE(global_report(consecutive_words).rests_on.empty());
  EXPECT_EQ(global_report(consecutive_words, {.pointers = 256}).rests_on.size(), 1U);
  // q is a number of bytes that is multiplied, no pointer.
  std::string const moved =
      "ld.param.u64 %d4, [q]; shl.b64 %d4, %d4, 2; add.s64 %d1, %d1, %d4; " + consecutive_words;
  EXPECT_EQ(global_access(moved, {.pointers = 256}).wavefronts, 5U);
  // Two parameters, and either may be the pointer.
  std::string const two = "ld.param.u64 %d4, [q]; add.s64 %d1, %d1, %d4; " + consecutive_words;
  EXPECT_TRUE(global_report(two, {.pointers = 256}).rests_on.empty());
}

TEST(Sectors, OfRowsAreOneALane) {
  KernelAccess const rows =
      global_access("mul.wide.u32 %d2, %r1, 4096; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r1;");
  EXPECT_EQ(rows.verdict, KernelVerdict::refuted);
  EXPECT_EQ(rows.wavefronts, 32U);
  EXPECT_TRUE(rows.reached);
  EXPECT_EQ(rows.sectors->stride, 4096);
  EXPECT_TRUE(rows.worst->every_launch);

  KernelAccess const back = global_access(
      "neg.s32 %r3, %r1; mul.wide.s32 %d2, %r3, 8; add.s64 %d3, %d1, %d2; "
      "ld.global.nc.u64 %d4, [%d3];");
  EXPECT_EQ(back.wavefronts, 9U);
  EXPECT_EQ(back.sectors->least, 8U);
  EXPECT_EQ(back.sectors->stride, -8);
}

TEST(Sectors, OfAPitchThatIsNotKnownAreRefutedByAnExecution) {
  KernelAccess const a = global_access(
      "mul.lo.s32 %r3, %r1, %r2; mul.wide.s32 %d2, %r3, 4; add.s64 %d3, %d1, %d2; "
      "ld.global.u32 %r4, [%d3];");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  EXPECT_TRUE(a.reached);
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.sectors->lines, 0U) << "not known";
  ASSERT_TRUE(a.sectors->stride);
  EXPECT_GE(std::abs(*a.sectors->stride), 32) << "of the execution that is shown";
}

/// A load at p + 4 * (tid / 16 * n + tid % 16), two rows of 64 bytes, after these lines.
std::string global_rows_of_16(std::string const& before, std::string const& pitch = "%r2") {
  return before + " shr.u32 %r3, %r1, 4; and.b32 %r4, %r1, 15; mad.lo.s32 %r5, %r3, " + pitch +
         ", %r4; mul.wide.s32 %d2, %r5, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r6, [%d3];";
}

TEST(Sectors, OfRowsAnUnknownPitchApartAreThoseOfTheRows) {
  KernelAccess const a = global_access(global_rows_of_16(""));
  EXPECT_EQ(a.wavefronts, 6U);
  EXPECT_TRUE(a.reached);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  EXPECT_TRUE(a.sectors->near);
  // The first row starts where the pointer does, and the second anywhere; behind a multiple of 8 words both start there.
  KernelAccess const aligned =
      global_access(global_rows_of_16(""), {.excess_sectors = 0}, ".ptr .global .align 128");
  EXPECT_EQ(aligned.wavefronts, 5U);
  EXPECT_TRUE(aligned.reached);
  KernelAccess const both =
      global_access(global_rows_of_16("shl.b32 %r7, %r2, 3;", "%r7"), {}, ".ptr .global .align 128");
  EXPECT_EQ(both.wavefronts, 4U);
  EXPECT_EQ(both.verdict, KernelVerdict::proved);
  // Blocks shift both rows by a multiple of the pitch.
  KernelAccess const blocks = global_access(
      "shr.u32 %r3, %r1, 4; mov.u32 %r7, %ctaid.x; mad.lo.s32 %r3, %r7, 2, %r3; and.b32 %r4, %r1, 15; "
      "mad.lo.s32 "
      "%r5, %r3, %r2, %r4; mul.wide.s32 %d2, %r5, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r6, [%d3];");
  EXPECT_EQ(blocks.wavefronts, 6U);
  EXPECT_TRUE(blocks.reached);
}

TEST(Sectors, OfRowsThatOverlapInEveryLaunchAreBoundedAlone) {
  KernelAccess const a = global_access(global_rows_of_16("setp.gt.u32 %p1, %r2, 3; @%p1 ret;"));
  EXPECT_EQ(a.wavefronts, 6U);
  EXPECT_FALSE(a.reached);
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  KernelAccess const strict =
      global_access(global_rows_of_16("setp.gt.u32 %p1, %r2, 3; @%p1 ret;"), {.excess_sectors = 0});
  EXPECT_EQ(strict.verdict, KernelVerdict::unknown) << "19 words take 4 sectors";
}

TEST(Sectors, OfLoadedIndicesAreData) {
  KernelReport const report = global_report(consecutive_words +
                                            "mul.wide.u32 %d4, %r3, 4; add.s64 %d5, %d1, %d4; "
                                            "st.global.u32 [%d5], %r1;");
  ASSERT_EQ(report.global.size(), 2U);
  EXPECT_EQ(report.global[1].verdict, KernelVerdict::data);
  EXPECT_EQ(report.global[1].wavefronts, 32U);
}

TEST(Sectors, OfANumberThatHasNotAllValuesAreNotRefuted) {
  // n (n + 1) is even, so that every address is a multiple of 32: no launch takes 5 sectors.
  std::string const even =
      "add.u32 %r3, %r2, 1; mul.lo.u32 %r3, %r3, %r2; mul.wide.u32 %d2, %r3, 16; mul.wide.u32 %d3, %r1, 4; "
      "add.s64 %d4, %d1, %d2; add.s64 %d4, %d4, %d3; ld.global.u32 %r4, [%d4];";
  KernelAccess const a = global_access(even, {.excess_sectors = 0}, ".ptr .global .align 128");
  EXPECT_EQ(a.wavefronts, 5U);
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_FALSE(a.reached);
}

TEST(Sectors, OfIndicesThatWrapAreThoseOfTheirAddresses) {
  // Lanes 0 to 15 are 2^34 - 64 bytes and more behind p, lanes 16 to 31 at p.
  std::string const wraps =
      "sub.s32 %r3, %r1, 16; mul.wide.u32 %d2, %r3, 4; add.s64 %d3, %d1, %d2; "
      "ld.global.u32 %r4, [%d3];";
  KernelAccess const a = global_access(wraps, {}, ".ptr .global .align 16");
  EXPECT_EQ(a.sectors->least, 4U);
  EXPECT_EQ(a.wavefronts, 6U);  // p at byte 16 of a sector: 3 on either side
  EXPECT_FALSE(a.sectors->near);
  EXPECT_FALSE(a.sectors->stride);
  // With an unknown part it is assumed that none wraps around between two lanes.
  std::string const moved =
      "add.s32 %r3, %r1, %r2; mul.wide.s32 %d2, %r3, 4; add.s64 %d3, %d1, %d2; "
      "ld.global.u32 %r4, [%d3];";
  KernelReport const report = global_report(moved, {.pointers = 256});
  EXPECT_EQ(report.global[0].wavefronts, 5U);
  EXPECT_TRUE(report.global[0].sectors->near);
  EXPECT_EQ(report.rests_on.size(), 2U);
}

TEST(Sectors, OfMisalignedLanesAreNone) {
  KernelAccess const a =
      global_access("mul.wide.u32 %d2, %r1, 2; add.s64 %d3, %d1, %d2; ld.global.u32 %r3, [%d3];");
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.reason.substr(0, 26), "some lanes are not aligned");
  KernelAccess const vector = global_access(
      "mul.wide.u32 %d2, %r1, 16; add.s64 %d3, %d1, %d2; add.s64 %d3, %d3, 16; "
      "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d3];");
  EXPECT_EQ(vector.wavefronts, 17U);
  EXPECT_EQ(vector.ideal, 16U);
}

TEST(Sectors, IdealIsThatOfTheActiveLanes) {
  std::string const guard = "and.b32 %r5, %r1, 7; setp.eq.u32 %p1, %r5, 0; ";
  KernelAccess const a = global_access(
      guard + "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; @%p1 ld.global.u32 %r3, [%d3];");
  EXPECT_EQ(a.ideal, 1U);
  EXPECT_EQ(a.wavefronts, 4U);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  EXPECT_EQ(global_access(consecutive_words, {.block = {{8, 1, 1}}}).ideal, 1U);
}

TEST(Sectors, OfAtomicsAndCopiesOfUnknownSize) {
  std::string const at = "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ";
  for (std::string const op : {"red.global.add.u32 [%d3], 1;", "atom.global.add.u32 %r3, [%d3], 1;"}) {
    KernelAccess const a = global_access(at + op);
    EXPECT_EQ(a.verdict, KernelVerdict::unknown) << op;
    EXPECT_NE(a.reason.find("(H20)"), std::string::npos) << op;
  }
  std::string const rows =
      "mul.wide.u32 %d2, %r1, 64; add.s64 %d3, %d1, %d2; mov.u32 %r4, a; shl.b32 %r5, %r1, 4; "
      "add.u32 %r4, %r4, %r5; ";
  KernelAccess const copied = global_access(rows + "cp.async.cg.shared.global [%r4], [%d3], 16;");
  EXPECT_EQ(copied.verdict, KernelVerdict::refuted);
  EXPECT_EQ(copied.wavefronts, 32U);
  EXPECT_EQ(copied.ideal, 16U);
  EXPECT_EQ(global_access(rows + "cp.async.cg.shared.global [%r4], [%d3], 16, %r2;").verdict,
            KernelVerdict::unknown);
}

// The execution that is tried for the global access has a matrix in it, too.
TEST(Sectors, BesideAnInstructionThatTheArchitectureLacks) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 tile[512];\n.entry k(.param .u64 "
      "g)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u64 %rd1, [g];\n"
      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1}; mul.wide.u32 %rd2, %r1, 2; add.u64 %rd2, %rd2, "
      "%rd1;\n"
      "st.global.u32 [%rd2], %r1;\nret;\n}\n",
      "test.ptx");
  KernelOptions options;
  options.block = {{32, 1, 1}}, options.global = true;
  for (Architecture const& arch : architectures)
    if (arch.name == "sm_80") options.arch = &arch;
  KernelReport const r = decide_kernel(m, m.functions.at(0), options);
  EXPECT_EQ(r.accesses.at(0).reason, "sm_80 has no stmatrix.x1");
}

TEST(Sectors, AreListedOnlyIfAskedFor) {
  KernelReport const report = global_report(consecutive_words + "mov.u32 %r4, a; ld.shared.u32 %r5, [%r4];");
  EXPECT_EQ(report.accesses.size(), 1U);
  EXPECT_EQ(report.global.size(), 1U);
  EXPECT_EQ(report.global[0].op, "ld.global.u32");
  EXPECT_EQ(global_access("mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.u32 %r3, [%d3];").wavefronts,
            5U)
      << "a generic address of a parameter";
}

}  // namespace
}  // namespace swizproof
