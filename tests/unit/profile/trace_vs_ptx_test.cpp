// Traces compared with PTX: each rule of src/profile/trace_vs_ptx.hpp on a small kernel, and its faults.
#include "profile/trace_vs_ptx.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace swizproof {
namespace {

using Lanes32 = std::array<std::optional<std::uint32_t>, warp_lanes>;

constexpr Instruction word_load{Operation::ld_shared, 4}, pair_load{Operation::ld_shared, 8},
    store32{Operation::st_shared, 4}, load8{Operation::ld_shared, 1}, matrix2{Operation::ldmatrix, 16, 2};

/// A kernel over `tile`, 8 KiB with an alignment of 16 bytes. %r1 is tid.x, %r2 the tile, %r3 the parameter n, %rd1 a pointer.
PtxFile file_with(std::string const& body, std::string const& more = {}) {
  return {"case.ptx",
          ptx::read_module(
              ".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"/elsewhere/case.cu\"\n.file 2 "
              "\"/other/part.cuh\"\n.shared .align 16 .b8 tile[8192];\n" +
                  more +
                  ".entry k(.param .u32 n, .param .u64 g)\n{\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 "
                  "%rd<9>;\nmov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u32 %r3, [n];\n"
                  "ld.param.u64 %rd1, [g]; shl.b32 %r4, %r1, 2; add.u32 %r5, %r2, %r4;\n" +
                  body + "\nret;\n}\n",
              "case.ptx")};
}

/// Addresses of the lanes by a formula.
template <class F>
Lanes32 lanes(F const& address) {
  Lanes32 out;
  for (unsigned l = 0; l < warp_lanes; ++l) out[l] = address(l);
  return out;
}
/// 4 bytes for each lane, from here on.
Lanes32 row_from(std::uint32_t base, unsigned first = 0, unsigned last = 31) {
  return lanes(
      [&](unsigned l) { return l >= first && l <= last ? std::optional(base + 4 * l) : std::nullopt; });
}

/// A trace of one instruction on line 7 of case.cu, of a block of 64 threads.
struct TracedCase {
  Trace trace{};
  CompiledOptions options{};

  TracedCase(Instruction const& instruction, std::vector<Lanes32> const& patterns) {
    TracedInstruction& i = trace.instructions.emplace_back();
    i.kernel = "k";
    i.launches = 1;
    i.grid = {1, 1, 1}, i.block = {64, 1, 1};
    i.file = "src/case.cu";
    i.source_line = 7;
    i.op = to_string(instruction);
    i.instruction = instruction;
    for (Lanes32 const& p : patterns) add(p);
  }
  static WarpAccess<std::uint32_t> access_of(Lanes32 const& p) {
    WarpAccess<std::uint32_t> access{};
    for (unsigned l = 0; l < warp_lanes; ++l)
      if (p[l]) access.active[l] = true, access.address[l] = *p[l];
    return access;
  }
  void add(Lanes32 const& p) {
    TracedInstruction& i = traced();
    auto const access = access_of(p);
    unsigned const w = cost(sm_90, *i.instruction, access).wavefronts;
    i.patterns.push_back({access, w, 1});
    ++i.executed, ++i.distribution[w];
  }
  TracedInstruction& traced() { return trace.instructions[0]; }
  CompiledReport report(PtxFile const& file) const { return compare_compiled(trace, {file}, options); }
  CompiledInstruction with(PtxFile const& file) const { return report(file).instructions.at(0); }
};

std::string const plain_load = ".loc 1 7 0\nld.shared.u32 %r6, [%r5];";

TEST(Compiled, EachWarpsPatternIsFoundAtAnyAddressThatTheArrayMayHave) {
  for (std::uint32_t const base : {1024U, 1040U, 4096U}) {
    CompiledInstruction const i =
        TracedCase(word_load, {row_from(base), row_from(base + 128)}).with(file_with(plain_load));
    EXPECT_EQ(i.outcome, AsCompiled::as_proved) << i.why;
    EXPECT_EQ(i.found, 2U);
    EXPECT_EQ(i.proved, 1U);
    EXPECT_EQ(i.worst, 1U);
    EXPECT_TRUE(i.certain);
    EXPECT_TRUE(i.reached);
    EXPECT_EQ(i.merged, 1U);
    EXPECT_EQ(i.ptx_lines.size(), 1U);
  }
}

TEST(Compiled, AllLanesMovedByLessThanTheArraysAlignmentDiffer) {
  CompiledInstruction const i = TracedCase(word_load, {row_from(1028)}).with(file_with(plain_load));
  EXPECT_EQ(i.outcome, AsCompiled::differs);
  EXPECT_EQ(i.found, 0U);
}

TEST(Compiled, AMovedLaneDiffersAndIsNamed) {
  Lanes32 moved = row_from(1024);
  moved[5] = 1024 + 4 * 5 + 256;
  CompiledInstruction const i = TracedCase(word_load, {row_from(1024), moved}).with(file_with(plain_load));
  EXPECT_EQ(i.outcome, AsCompiled::differs);
  EXPECT_EQ(i.found, 1U);
  EXPECT_EQ(i.patterns, 2U);
  ASSERT_TRUE(i.nearest);
  EXPECT_EQ(i.nearest->lane, 5U);
  EXPECT_EQ(i.nearest->equal, 31U);
  EXPECT_EQ(i.nearest->traced, 1300U);
  EXPECT_EQ(i.nearest->of_ptx, 1044U);
}

TEST(Compiled, TheLastLaneIsCompared) {
  Lanes32 moved = row_from(1024);
  moved[31] = 1024;
  EXPECT_EQ(TracedCase(word_load, {moved}).with(file_with(plain_load)).outcome, AsCompiled::differs);
}

TEST(Compiled, WhatPtxasMakesOfATensorMapIsNotCompared) {
  std::string const map =
      "\n.loc 1 7 0\ntensormap.replace.tile.rank.shared::cta.b1024.b32 [%r2], 1;\n"
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r2], "
      "128;\n";
  Lanes32 one{};
  one[0] = 1024 + 56;
  for (Instruction const& instruction : {word_load, store32}) {
    CompiledInstruction const i = TracedCase(instruction, {one}).with(file_with(plain_load + map));
    EXPECT_EQ(i.outcome, AsCompiled::not_compared) << i.why;
    EXPECT_NE(i.why.find("tensormap.replace.tile.rank"), std::string::npos) << i.why;
  }
  EXPECT_EQ(TracedCase(word_load, {row_from(1024)}).with(file_with(plain_load + map)).outcome,
            AsCompiled::as_proved);
  // Elsewhere, and of global memory, it explains nothing.
  Lanes32 moved = row_from(1024);
  moved[5] = 2048;
  EXPECT_EQ(
      TracedCase(word_load, {moved}).with(file_with(plain_load + "\n.loc 1 8 0" + map.substr(12))).outcome,
      AsCompiled::differs);
  EXPECT_EQ(TracedCase(word_load, {moved})
                .with(file_with(plain_load + "\ntensormap.replace.tile.rank.global.b1024.b32 [%rd1], 1;"))
                .outcome,
            AsCompiled::differs);
}

TEST(Compiled, ALaneThatIsOffIsUndecided) {
  CompiledInstruction const i = TracedCase(word_load, {row_from(1024, 0, 30)}).with(file_with(plain_load));
  EXPECT_EQ(i.outcome, AsCompiled::undecided);
  EXPECT_NE(i.why.find("a lane is off"), std::string::npos) << i.why;
}

TEST(Compiled, APatternThatDiffersCountsMoreThanALaneThatIsOff) {
  Lanes32 moved = row_from(1024);
  moved[5] = 1300;
  CompiledInstruction const i =
      TracedCase(word_load, {row_from(1024, 0, 30), moved}).with(file_with(plain_load));
  EXPECT_EQ(i.outcome, AsCompiled::differs);
  ASSERT_TRUE(i.nearest);
  EXPECT_EQ(i.nearest->lane, 5U);
}

TEST(Compiled, ALaneThatThePtxSwitchesOffIsNone) {
  PtxFile const file = file_with("setp.lt.u32 %p1, %r1, 16; .loc 1 7 0\n@%p1 ld.shared.u32 %r6, [%r5];");
  EXPECT_EQ(TracedCase(word_load, {row_from(1024, 0, 15)}).with(file).outcome, AsCompiled::as_proved);
  EXPECT_TRUE(TracedCase(word_load, {row_from(1024, 0, 15)}).with(file).certain);
  EXPECT_EQ(TracedCase(word_load, {row_from(1024, 0, 16)}).with(file).outcome, AsCompiled::differs);
  Lanes32 one_more = row_from(1024, 0, 15);
  one_more[16] = 1024;  // where the array begins
  EXPECT_EQ(TracedCase(word_load, {one_more}).with(file).outcome, AsCompiled::differs);
}

TEST(Compiled, LanesThatDataSwitchesMayBeOffAndTheOthersMayNot) {
  PtxFile const file = file_with(
      "cvt.u64.u32 %rd2, %r4; add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r7, [%rd3]; setp.eq.u32 %p1, %r7, 0;\n"
      "and.b32 %r8, %r1, 31; setp.lt.u32 %p2, %r8, 4; or.pred %p1, %p1, %p2; .loc 1 7 0\n@%p1 ld.shared.u32 "
      "%r6, [%r5];");
  CompiledInstruction const i = TracedCase(word_load, {row_from(1024, 0, 9), row_from(1024)}).with(file);
  EXPECT_EQ(i.outcome, AsCompiled::as_proved) << i.why;
  EXPECT_FALSE(i.certain);
  EXPECT_EQ(TracedCase(word_load, {row_from(1024, 1, 9)}).with(file).outcome, AsCompiled::undecided);
}

TEST(Compiled, LanesOfOneConditionTakePartTogether) {
  PtxFile const file = file_with("setp.lt.u32 %p1, %r3, 9; .loc 1 7 0\n@%p1 ld.shared.u32 %r6, [%r5];");
  CompiledInstruction const all = TracedCase(word_load, {row_from(1024)}).with(file);
  EXPECT_EQ(all.outcome, AsCompiled::as_proved);
  EXPECT_FALSE(all.certain);  // the condition may never hold
  EXPECT_EQ(TracedCase(word_load, {row_from(1024, 0, 30)}).with(file).outcome, AsCompiled::undecided);
}

TEST(Compiled, ValuesThatMayNotOccurAreNotCertain) {
  // Bytes at tile + (n & 3): each residue is tried, and each occurs. Of n * n the residues 2 and 3 do not.
  std::string const load = ".loc 1 7 0\nadd.u32 %r5, %r5, %r7; ld.shared.u8 %r6, [%r5];";
  auto const at = [](std::uint32_t base) {
    return lanes([&](unsigned l) { return std::optional(base + 4 * l); });
  };
  CompiledInstruction const parameter =
      TracedCase(load8, {at(1026)}).with(file_with("and.b32 %r7, %r3, 3;" + load));
  EXPECT_EQ(parameter.outcome, AsCompiled::as_proved) << parameter.why;
  EXPECT_TRUE(parameter.certain);
  CompiledInstruction const square =
      TracedCase(load8, {at(1026)}).with(file_with("mul.lo.u32 %r7, %r3, %r3; and.b32 %r7, %r7, 3;" + load));
  EXPECT_EQ(square.outcome, AsCompiled::as_proved) << square.why;
  EXPECT_FALSE(square.certain);
}

/// A load of line 7 behind these instructions, at an address in %r8.
void expect_undecided(std::string const& instructions, char const* why) {
  PtxFile const file =
      file_with(instructions + " add.u32 %r8, %r2, %r7; .loc 1 7 0\nld.shared.u32 %r6, [%r8];");
  CompiledInstruction const i = TracedCase(word_load, {row_from(1024)}).with(file);
  EXPECT_EQ(i.outcome, AsCompiled::undecided);
  EXPECT_NE(i.why.find(why), std::string::npos) << i.why;
}

TEST(Compiled, AnAddressThatIsNotKnownIsUndecided) {
  expect_undecided("ld.shared.u32 %r7, [%r5]; and.b32 %r7, %r7, 1020;", "depends on the load at PTX line");
  expect_undecided("div.u32 %r7, %r1, %r3; shl.b32 %r7, %r7, 2;", "depends on div.u32 by 0");
}

TEST(Compiled, AnotherWidthOperationOrLineIsNotInThePtx) {
  for (Instruction const& other : {pair_load, store32, Instruction{Operation::cp_async, 4}}) {
    CompiledInstruction const i =
        TracedCase(other, {lanes([](unsigned l) { return std::optional(1024 + 8 * l); })})
            .with(file_with(plain_load));
    EXPECT_EQ(i.outcome, AsCompiled::undecided) << to_string(other);
    EXPECT_NE(i.why.find("the PTX has no " + to_string(other) + " on this line"), std::string::npos) << i.why;
  }
  TracedCase c(word_load, {row_from(1024)});
  c.traced().source_line = 8;
  EXPECT_EQ(c.with(file_with(plain_load)).outcome, AsCompiled::undecided);
  c.traced().source_line = 7, c.traced().file = "src/part.cuh";
  EXPECT_EQ(c.with(file_with(plain_load)).outcome, AsCompiled::undecided);
  c.traced().file.clear();
  EXPECT_EQ(c.with(file_with(plain_load)).outcome, AsCompiled::as_proved);
}

TEST(Compiled, ALineThatAFunctionIsInlinedAtIsItsLine) {
  PtxFile const file = file_with(
      ".loc 1 7 0\n.loc 2 3 0, function_name $L__info_string0, inlined_at 1 7 0\n"
      ".loc 2 90 0, function_name $L__info_string1, inlined_at 2 3 0\n"
      "ld.shared.u32 %r6, [%r5];");
  TracedCase c(word_load, {row_from(1024)});
  EXPECT_EQ(c.with(file).outcome, AsCompiled::as_proved) << c.with(file).why;
  c.traced().file = "part.cuh";
  for (unsigned const line : {3U, 90U, 7U}) {
    c.traced().source_line = line;
    EXPECT_EQ(c.with(file).outcome, line == 7 ? AsCompiled::undecided : AsCompiled::as_proved) << line;
  }
}

TEST(Compiled, NeighboursMayBeMergedIfOneIsOnTheLine) {
  auto const at = [](std::uint32_t base) {
    return lanes([&](unsigned l) { return std::optional(base + 8 * l); });
  };
  std::string const both =
      "shl.b32 %r7, %r1, 3; add.u32 %r8, %r2, %r7; .loc 1 7 0\nld.shared.u32 %r6, [%r8]; .loc "
      "1 8 0\nld.shared.u32 %r9, [%r8+4];";
  CompiledInstruction const i = TracedCase(pair_load, {at(1024), at(1280)}).with(file_with(both));
  EXPECT_EQ(i.outcome, AsCompiled::as_proved) << i.why;
  EXPECT_EQ(i.merged, 2U);
  EXPECT_EQ(i.proved, 4U);  // 2 and 2
  EXPECT_EQ(i.ptx_lines.size(), 2U);
  TracedCase other(pair_load, {at(1024)});
  other.traced().source_line = 9;
  EXPECT_EQ(other.with(file_with(both)).outcome, AsCompiled::undecided);
  // The second one reads 8 bytes further.
  std::string gap = both;
  gap.replace(gap.find("+4"), 2, "+8");
  EXPECT_EQ(TracedCase(pair_load, {at(1024)}).with(file_with(gap)).outcome, AsCompiled::undecided);
  EXPECT_EQ(TracedCase(pair_load, {at(1024)}).report(file_with(both)).not_traced, 0U)
      << "line 8's is a part of it";
}

TEST(Compiled, APartOfAWiderAccessIsUndecided) {
  PtxFile const file = file_with(
      "shl.b32 %r7, %r1, 3; add.u32 %r8, %r2, %r7; .loc 1 7 0\nld.shared.v2.u32 {%r6, %r9}, [%r8];\n"
      "ld.shared.u32 %r6, [%r5];");
  CompiledInstruction const i =
      TracedCase(word_load, {lanes([](unsigned l) { return std::optional(1028 + 8 * l); })}).with(file);
  EXPECT_EQ(i.outcome, AsCompiled::undecided);
  EXPECT_NE(i.why.find("a part of ld.shared.v2.u32"), std::string::npos) << i.why;
}

TEST(Compiled, OfSeveralAccessesTheLeastBoundThatHasAllPatternsCounts) {
  // Lane * 128 costs 32, and lane * 4 costs 1; both are on the line.
  PtxFile const file = file_with(
      "shl.b32 %r7, %r1, 7; add.u32 %r8, %r2, %r7; .loc 1 7 0\nld.shared.u32 %r6, [%r8];\n"
      "ld.shared.u32 %r6, [%r5];");
  Lanes32 const column = lanes([](unsigned l) { return std::optional(1024 + 128 * l); });
  CompiledInstruction const row = TracedCase(word_load, {row_from(1024)}).with(file);
  EXPECT_EQ(row.proved, 1U);
  CompiledInstruction const both = TracedCase(word_load, {row_from(1024), column}).with(file);
  EXPECT_EQ(both.outcome, AsCompiled::as_proved);
  EXPECT_EQ(both.proved, 32U);
  EXPECT_EQ(both.ptx_lines.size(), 2U);
  EXPECT_EQ(both.worst, 32U);
}

TEST(Compiled, OfTwoAccessesThatHaveAllPatternsTheCheaperOneCounts) {
  // The first one is a row in warp 0 and a column in warp 1, the second one a row.
  PtxFile const file = file_with(
      "setp.lt.u32 %p1, %r1, 32; selp.b32 %r9, 4, 128, %p1; and.b32 %r8, %r1, 31; mad.lo.u32 %r8, %r8, %r9, "
      "%r2;\n"
      ".loc 1 7 0\nld.shared.u32 %r6, [%r8];\nld.shared.u32 %r6, [%r5];");
  CompiledInstruction const i = TracedCase(word_load, {row_from(1024)}).with(file);
  EXPECT_EQ(i.proved, 1U);
  EXPECT_EQ(i.ptx_lines.size(), 2U);
}

TEST(Compiled, LaterLaunchesMayHaveOtherBlocks) {
  TracedCase c(word_load, {row_from(1024 + 128 * 3)});  // warp 3
  PtxFile const file = file_with(
      "and.b32 %r7, %r1, 96; shl.b32 %r7, %r7, 4; add.u32 %r8, %r5, %r7; .loc 1 7 0\n"
      "setp.lt.u32 %p1, %r1, 64; @%p1 bra L; add.u32 %r8, %r8, 4;\nL: ld.shared.u32 %r6, [%r8];");
  Lanes32 const third = lanes([](unsigned l) { return std::optional(1024 + 4 * (96 + l) + 96 * 16 + 4); });
  c = TracedCase(word_load, {third});
  EXPECT_EQ(c.with(file).outcome, AsCompiled::differs);
  c.traced().launches = 2;
  EXPECT_EQ(c.with(file).outcome, AsCompiled::undecided);
  c.options.blocks = {{32, 1, 1}};
  EXPECT_EQ(c.with(file).outcome, AsCompiled::differs);
  c.options.blocks = {{128, 1, 1}};
  EXPECT_EQ(c.with(file).outcome, AsCompiled::as_proved) << c.with(file).why;
}

TEST(Compiled, ABlockThatThePtxExcludesIsUndecided) {
  PtxFile file = file_with(plain_load);
  file.module.functions.at(0).reqntid = {128, 1, 1};
  CompiledInstruction const i = TracedCase(word_load, {row_from(1024)}).with(file);
  EXPECT_EQ(i.outcome, AsCompiled::undecided);
  EXPECT_NE(i.why.find(".reqntid"), std::string::npos) << i.why;
}

TEST(Compiled, AGivenParameterHasNoOtherValue) {
  PtxFile const file = file_with("mad.lo.u32 %r8, %r1, %r3, %r2; .loc 1 7 0\nld.shared.u32 %r6, [%r8];");
  TracedCase c(word_load, {lanes([](unsigned l) { return std::optional(1024 + 8 * l); })});
  c.options.params["n"] = {8, false};
  EXPECT_EQ(c.with(file).outcome, AsCompiled::as_proved) << c.with(file).why;
  c.options.params["n"] = {4, false};
  EXPECT_EQ(c.with(file).outcome, AsCompiled::differs);
}

TEST(Compiled, TheWorstExecutionIsComparedThoughItWasNotKept) {
  TracedCase c(word_load, {row_from(1024)});
  Lanes32 const column = lanes([](unsigned l) { return std::optional(1024 + 128 * l); });
  c.traced().not_kept = 5;
  c.traced().worst = TracedCase::access_of(column);
  c.traced().distribution[32] = 5;
  CompiledInstruction const i = c.with(file_with(plain_load));
  EXPECT_EQ(i.outcome, AsCompiled::differs);
  EXPECT_EQ(i.worst, 32U);
  EXPECT_EQ(i.patterns, 2U);
}

TEST(Compiled, LoopsWhoseLanesLeaveTogetherKeepAllLanes) {
  std::string const step =
      ".loc 1 7 0\nL: ld.shared.u32 %r6, [%r5]; add.u32 %r5, %r5, 256; add.u32 %r7, %r7, 1;";
  PtxFile const together = file_with("mov.u32 %r7, 0;" + step + "setp.lt.u32 %p1, %r7, %r3; @%p1 bra L;");
  CompiledInstruction const all =
      TracedCase(word_load, {row_from(1024), row_from(1024 + 256 * 9)}).with(together);
  EXPECT_EQ(all.outcome, AsCompiled::as_proved) << all.why;
  EXPECT_TRUE(all.certain);
  EXPECT_EQ(TracedCase(word_load, {row_from(1024, 0, 30)}).with(together).outcome, AsCompiled::undecided);
  // Lane l stays for up to n - l iterations.
  PtxFile const apart = file_with("mov.u32 %r7, %r1;" + step + "setp.lt.u32 %p1, %r7, %r3; @%p1 bra L;");
  CompiledInstruction const some = TracedCase(word_load, {row_from(1024, 0, 30)}).with(apart);
  EXPECT_EQ(some.outcome, AsCompiled::as_proved) << some.why;
  EXPECT_FALSE(some.certain);
}

TEST(Compiled, LoopsOfAKnownNumberOfIterationsKeepTheLanesThatAreInAllOfThem) {
  // tid + 64 k < 128: two iterations of all lanes. tid + 16 k < 40: the lanes below 8 are in one more.
  auto const loop = [](unsigned step, unsigned end) {
    return file_with("mov.u32 %r7, %r1;\nL: .loc 1 7 0\nld.shared.u32 %r6, [%r5]; add.u32 %r7, %r7, " +
                     std::to_string(step) + "; setp.lt.u32 %p1, %r7, " + std::to_string(end) +
                     "; @%p1 bra L;");
  };
  EXPECT_TRUE(TracedCase(word_load, {row_from(1024)}).with(loop(64, 128)).certain);
  EXPECT_EQ(TracedCase(word_load, {row_from(1024, 1, 31)}).with(loop(64, 128)).outcome,
            AsCompiled::undecided);
  CompiledInstruction const apart = TracedCase(word_load, {row_from(1024, 0, 7)}).with(loop(16, 40));
  EXPECT_EQ(apart.outcome, AsCompiled::as_proved) << apart.why;
  EXPECT_FALSE(apart.certain);
}

TEST(Compiled, MatrixInstructionsCompareTheLanesThatGiveAddresses) {
  PtxFile const file = file_with(
      "shl.b32 %r7, %r1, 4; add.u32 %r8, %r2, %r7; .loc 1 7 0\n"
      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r6, %r9}, [%r8];");
  auto const at = [](std::uint32_t base, unsigned odd) {
    return lanes([&](unsigned l) {
      return l < 16 ? std::optional(base + 16 * l + (l == odd ? 512 : 0)) : std::nullopt;
    });
  };
  EXPECT_EQ(TracedCase(matrix2, {at(1024, 99)}).with(file).outcome, AsCompiled::as_proved);
  EXPECT_EQ(TracedCase(matrix2, {at(1024, 15)}).with(file).outcome, AsCompiled::differs);
  Instruction transposed = matrix2;
  transposed.transposed = true;
  EXPECT_EQ(TracedCase(transposed, {at(1024, 99)}).with(file).outcome, AsCompiled::undecided);
}

TEST(Compiled, KernelsAreFoundByName) {
  TracedCase c(word_load, {row_from(1024)});
  c.traced().kernel = "other";
  EXPECT_EQ(c.with(file_with(plain_load)).outcome, AsCompiled::no_kernel);
  c.traced().kernel = "void k(unsigned int, void*)";
  EXPECT_EQ(c.with(file_with(plain_load)).outcome, AsCompiled::as_proved);
  CompiledReport const twice =
      compare_compiled(c.trace, {file_with(plain_load), file_with(plain_load)}, c.options);
  EXPECT_EQ(twice.instructions.at(0).outcome, AsCompiled::undecided);
  EXPECT_NE(twice.instructions.at(0).why.find("2 kernels"), std::string::npos);
}

/// SASS of kernels that are all called k; each loads 4 bytes a lane, of these bytes' distance, at address 0x20 behind an instruction.
PtxFile sass_of(std::vector<std::pair<std::string, std::string>> const& kernels) {
  std::string text = "\t.target\tsm_90\n";
  for (auto const& [first, distance] : kernels)
    text +=
        "\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n        .other          k,@\"STO_CUDA_ENTRY "
        "STV_DEFAULT\"\nk:\n        /*0000*/ S2R R0, SR_TID.X ;\n        /*0010*/ " +
        first + " ;\n        /*0020*/ LDS R2, [R9] ;\n        /*0030*/ EXIT ;\n";
  for (std::size_t at = 0, k = 0; (at = text.find("DISTANCE", at)) != text.npos; ++k)
    text.replace(at, 8, kernels[k].second);
  return {"case.sass", {}, sass::read_module(text, "case.sass")};
}

TEST(Compiled, OfKernelsOfOneNameTheOneWithTheTracedInstructionsIsTaken) {
  std::string const shifted = "IMAD.SHL.U32 R9, R0, DISTANCE, RZ", product = "IMAD R9, R0, DISTANCE, RZ";
  TracedCase c(word_load, {row_from(0)});
  c.traced().block = {32, 1, 1};
  c.traced().pc = 0x20, c.traced().sass = "LDS R2, [R9]";
  auto& first = *c.trace.instructions.insert(c.trace.instructions.begin(), c.traced());
  first.pc = 0x10, first.sass = "IMAD.SHL.U32 R9, R0, 0x4, RZ", first.instruction.reset();
  auto const outcome = [&](std::vector<std::pair<std::string, std::string>> const& kernels) {
    return c.report(sass_of(kernels)).instructions.at(1);
  };
  EXPECT_EQ(outcome({{product, "0x8"}, {shifted, "0x4"}}).outcome, AsCompiled::as_proved);
  EXPECT_EQ(outcome({{product, "0x4"}, {shifted, "0x8"}}).outcome, AsCompiled::differs);
  EXPECT_EQ(outcome({{shifted, "0x4"}, {shifted, "0x4"}}).outcome, AsCompiled::as_proved)
      << "the same code twice";
  EXPECT_EQ(outcome({{shifted, "0x4"}, {shifted, "0x8"}}).why, "2 kernels have this name");
}

TEST(Compiled, TheBoundIsComparedWhereTheLanesAreNotKnown) {
  TracedCase c(word_load, {lanes([](unsigned l) { return std::optional(128 * l); })});
  c.traced().block = {32, 1, 1};
  c.traced().pc = 0x20, c.traced().sass = "LDS R2, [R9]";
  CompiledInstruction const i = c.report(sass_of({{"LDG.E R9, desc[UR4][R2.64]", ""}})).instructions.at(0);
  EXPECT_EQ(i.outcome, AsCompiled::undecided);
  EXPECT_EQ(i.proved, 32U);
  EXPECT_EQ(i.worst, 32U);
  // A masked address: the bound is 1 for all data, and the trace has 32.
  PtxFile const row =
      sass_of({{"LDG.E R8, desc[UR4][R2.64] ;\n        /*0018*/ LOP3.LUT R9, R8, 0x7c, RZ, 0xc0, !PT", ""}});
  EXPECT_THROW((void)c.report(row), Disagreement);
  c.traced().launches = 2;
  EXPECT_FALSE(c.report(row).instructions.at(0).proved) << "a later launch may have another block";
}

TEST(Compiled, ANameThatIsNotDemangledIsFoundByItsWords) {
  PtxFile file = file_with(plain_load);
  file.module.functions.at(0).name = "_ZN1a4gemmINS_4tileILi64EEELNS_4KindE2EfEEvT_Q";  // not a name
  TracedCase c(word_load, {row_from(1024)});
  c.traced().kernel = "void a::gemm<a::tile<(int)64>, (a::Kind)2, float>(T1)";
  EXPECT_EQ(c.with(file).outcome, AsCompiled::as_proved) << c.with(file).why;
  for (char const* other :
       {"void a::gemm<a::tile<(int)32>, (a::Kind)2, float>(T1)", "void a::gemm<(int)64>(T1)",
        "void a::gemm<a::tile<(int)64>, a::more, (a::Kind)2, float>(T1)"}) {
    c.traced().kernel = other;
    EXPECT_EQ(c.with(file).outcome, AsCompiled::no_kernel) << other;
  }
  c = TracedCase(word_load, {row_from(1028)});
  c.traced().kernel = "void a::gemm<a::tile<(int)64>, (a::Kind)2, float>(T1)";
  EXPECT_EQ(c.with(file).outcome, AsCompiled::undecided);
}

TEST(Compiled, ACallThatIsNotInlinedMayAccessAnything) {
  std::string const declared = ".extern .func outside();\n";
  Lanes32 moved = row_from(1024);
  moved[5] = 1300;
  CompiledInstruction const i =
      TracedCase(word_load, {moved})
          .with(file_with(plain_load + "\n.loc 1 20 0\ncall.uni outside;", declared));
  EXPECT_EQ(i.outcome, AsCompiled::undecided) << i.why;
}

TEST(Compiled, WhatHasNoCostModelAndWhatWasNotTracedAreCounted) {
  TracedCase c(word_load, {row_from(1024)});
  TracedInstruction& atomic = c.trace.instructions.emplace_back(c.traced());
  atomic.op = "atom.shared.b32", atomic.instruction.reset();
  CompiledReport const report = c.report(
      file_with(plain_load + "\n.loc 1 8 0\nst.shared.u32 [%r5], %r1;\natom.shared.add.u32 %r6, [%r5], 1;"));
  EXPECT_EQ(report.count(AsCompiled::as_proved), 1U);
  EXPECT_EQ(report.count(AsCompiled::not_modelled), 1U);
  EXPECT_EQ(report.not_traced, 1U);  // the store
}

}  // namespace
}  // namespace swizproof
