// A trace compared with a profile: equal numbers, known differences, and mismatches.
#include "profile/trace_vs_profile.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

using Outcome = CountedLine::Outcome;

/// A trace of one line: 32 lanes at `stride` bytes, ten times.
Trace traced(Instruction instruction, unsigned stride, std::string sass, unsigned lanes = 32) {
  TracedPattern pattern;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    pattern.access.active[lane] = true;
    pattern.access.address[lane] = 1024 + stride * lane;
  }
  pattern.wavefronts = cost(sm_90, instruction, pattern.access).wavefronts;
  pattern.executed = 10;
  TracedInstruction line;
  line.kernel = "void (anonymous namespace)::k<4>(float*, float const*)";
  line.launches = 1;
  line.pc = 0x40;
  line.sass = std::move(sass);
  line.instruction = instruction;
  line.executed = 10;
  line.wavefronts = 10 * pattern.wavefronts;
  line.distribution[pattern.wavefronts] = 10;
  line.patterns = {pattern};
  Trace trace;
  trace.instructions = {line};
  return trace;
}

/// An export of one line of the same kernel, as its demangler writes it.
Profile profiled(std::string sass, unsigned executed, unsigned wavefronts,
                 std::string const& pc = "0x7f0000000040") {
  std::string const head = R"csv("Kernel Name","void <unnamed>::k<(int)4>(float *, const float *)"
"Address","Source","Instructions Executed","L1 Wavefronts Shared"
"0x7f0000000000","MOV R1, R2","10","0"
)csv";
  return read_nsight("p.csv", head + '"' + pc + "\",\"" + sass + "\",\"" + std::to_string(executed) +
                                  "\",\"" + std::to_string(wavefronts) + "\"\n");
}

CountedLines compared(Trace const& trace, Profile const& profile) { return compare_counted(trace, profile); }

constexpr Instruction load{Operation::ld_shared, 4}, store_of_16{Operation::st_shared, 16},
    copy{Operation::cp_async, 16};

TEST(Counted, TheLawsNumberIsEqualAndAnyOtherIsDifferent) {
  Trace const trace = traced(load, 8, "LDS R2, [R3]");
  auto const outcome = [&](unsigned executed, unsigned wavefronts) {
    CountedLines const lines = compared(trace, profiled("     LDS  R2, [R3] ;", executed, wavefronts));
    EXPECT_EQ(lines.lines.size(), 1u);
    return lines.lines.at(0).outcome;
  };
  EXPECT_EQ(outcome(10, 20), Outcome::equal);
  EXPECT_EQ(outcome(10, 19), Outcome::different);
  EXPECT_EQ(outcome(10, 21), Outcome::different);
  EXPECT_EQ(outcome(10, 0), Outcome::different) << "a count of 0 is a count";
  // H13: what no predicate switches off was executed another number of times: the runs were not the same.
  EXPECT_EQ(outcome(9, 20), Outcome::undecided);
  EXPECT_EQ(outcome(11, 22), Outcome::undecided);
}

// H12: Nsight Compute counts every warp of a generic load, the tracer those with a shared pointer.
TEST(Counted, GenericAccessesAreExecutedByMoreWarps) {
  Trace const trace = traced(load, 8, "LD.E.U8 R2, [R4.64]");
  auto const outcome = [&](unsigned executed, unsigned wavefronts) {
    return compared(trace, profiled("LD.E.U8 R2, [R4.64]", executed, wavefronts)).lines.at(0).outcome;
  };
  EXPECT_EQ(outcome(160, 20), Outcome::predicated);
  EXPECT_EQ(outcome(160, 21), Outcome::different);
  EXPECT_EQ(outcome(10, 0), Outcome::different);
  EXPECT_EQ(outcome(9, 20), Outcome::undecided);
}

TEST(Counted, WhatHasNoCountIsUndecided) {
  Trace const trace = traced(load, 8, "LDS R2, [R3]");
  Profile profile = profiled("LDS R2, [R3]", 10, 20);
  for (Measurement& m : profile.tables.at(0).lines) m.counted = false;
  EXPECT_EQ(compared(trace, profile).lines.at(0).outcome, Outcome::undecided);
}

/// A second line of the trace, and of the profile.
void add(Trace& trace, Profile& profile, std::uint64_t executed, std::uint64_t wavefronts) {
  TracedInstruction other = trace.instructions.at(0);
  other.pc = 0x80;
  trace.instructions.push_back(other);
  Measurement m = profile.tables.at(0).lines.at(0);
  m.pc = 0x80;
  m.executed = executed, m.wavefronts = wavefronts;
  profile.tables[0].lines.push_back(m);
}

// H13: gatherKthValue executed a line 6,588 times in one run and 6,600 times in the other.
TEST(Counted, RunsThatWereNotTheSameContradictNothing) {
  Trace trace = traced(load, 8, "LDS R2, [R3]");
  Profile profile = profiled("LDS R2, [R3]", 10, 21);
  add(trace, profile, 10, 20);
  EXPECT_EQ(compared(trace, profile).count(Outcome::different), 1U);
  profile.tables[0].lines[1].executed = 11;
  CountedLines const lines = compared(trace, profile);
  EXPECT_EQ(lines.count(Outcome::different), 0U);
  EXPECT_EQ(lines.count(Outcome::undecided), 2U);
}

// H15: how often the source page has a table is not guessed.
TEST(Counted, TablesAreLaunchesOrPrintsOfOne) {
  Trace trace = traced(load, 8, "LDS R2, [R3]");
  auto const outcome = [&](std::vector<std::pair<std::uint64_t, unsigned>> const& tables,
                           std::uint64_t launches) {
    trace.instructions[0].launches = launches;
    Profile all;
    for (auto const& [copies, wavefronts] : tables) {
      all.tables.push_back(
          profiled("LDS R2, [R3]", 10 / static_cast<unsigned>(launches), wavefronts).tables.at(0));
      all.tables.back().copies = copies;
    }
    CountedLines const lines = compared(trace, all);
    return lines.lines.empty() ? std::nullopt : std::optional(lines.lines[0].outcome);
  };
  EXPECT_EQ(outcome({{2, 20}}, 1), Outcome::equal) << "one launch, printed twice, or two";
  EXPECT_EQ(outcome({{2, 21}}, 1), Outcome::different) << "in either case";
  EXPECT_EQ(outcome({{1, 20}, {1, 21}}, 1), Outcome::undecided) << "an altered copy, or another launch";
  EXPECT_EQ(outcome({{2, 10}}, 2), Outcome::equal) << "two launches, printed once each";
  EXPECT_EQ(outcome({{2, 11}}, 2), Outcome::undecided) << "or one launch, printed twice";
  EXPECT_EQ(outcome({{1, 9}, {1, 11}}, 2), Outcome::equal);
  EXPECT_EQ(outcome({{1, 9}, {1, 12}}, 2), Outcome::different);
  EXPECT_EQ(outcome({{2, 9}, {2, 11}}, 2), Outcome::equal);
  EXPECT_EQ(outcome({{2, 9}, {2, 12}}, 2), Outcome::undecided) << "or four launches, two of them traced";
  EXPECT_EQ(outcome({{3, 9}, {1, 11}}, 2), Outcome::undecided);
  EXPECT_EQ(outcome({{3, 10}}, 2), std::nullopt);
}

// One altered copy of two takes the lines that it alters out, and no other.
TEST(Counted, LinesThatAllTablesAgreeOnAreCompared) {
  Trace trace = traced(load, 8, "LDS R2, [R3]");
  Profile profile = profiled("LDS R2, [R3]", 10, 20);
  add(trace, profile, 10, 20);
  profile.tables.push_back(profile.tables[0]);
  profile.tables[1].lines[1].wavefronts = 120;
  CountedLines const lines = compared(trace, profile);
  EXPECT_EQ(lines.lines.at(0).outcome, Outcome::equal);
  EXPECT_EQ(lines.lines.at(1).outcome, Outcome::undecided);
  EXPECT_FALSE(lines.lines[1].summed);
}

TEST(Counted, WarpsThatAPredicateSwitchesOffAreCountedAsExecuted) {
  Trace const trace = traced(load, 8, "@!P0 LDS R2, [R3]");
  EXPECT_EQ(compared(trace, profiled("@!P0 LDS R2, [R3]", 16, 20)).lines.at(0).outcome, Outcome::predicated);
  EXPECT_EQ(compared(trace, profiled("@!P0 LDS R2, [R3]", 16, 21)).lines.at(0).outcome, Outcome::different);
  EXPECT_EQ(compared(trace, profiled("@!P0 LDS R2, [R3]", 9, 20)).lines.at(0).outcome, Outcome::undecided);
}

TEST(Counted, IdlePhasesOfStoresAreNotCounted) {  // H11
  Trace const trace = traced(store_of_16, 16, "STS.128 [R3], R4", 8);
  EXPECT_EQ(trace.instructions[0].wavefronts, 40u);
  EXPECT_EQ(compared(trace, profiled("STS.128 [R3], R4", 10, 10)).lines.at(0).outcome, Outcome::equal);
  EXPECT_EQ(compared(trace, profiled("STS.128 [R3], R4", 10, 40)).lines.at(0).outcome, Outcome::different);
}

TEST(Counted, ACopyIsNeverCountedBelowTheLaw) {
  Trace const trace = traced(copy, 16, "LDGSTS.E.BYPASS.128 [R3], desc[UR4][R6.64]");
  std::string const counted = "LDGSTS.E.BYPASS.128 desc[UR4][R6.64], [R3]";
  EXPECT_EQ(compared(trace, profiled(counted, 10, 80)).lines.at(0).outcome, Outcome::bounded);
  EXPECT_EQ(compared(trace, profiled(counted, 10, 39)).lines.at(0).outcome, Outcome::different);
  EXPECT_EQ(compared(trace, profiled(counted, 10, 0)).lines.at(0).outcome, Outcome::undecided)
      << "gpu/evidence/traces/cutlass_14.csv has such a line";
}

TEST(Counted, ALineIsFoundByKernelPcAndOpcode) {
  Trace trace = traced(load, 8, "LDS R2, [R3]");
  EXPECT_EQ(compared(trace, profiled("LDS.U8 R2, [R3]", 10, 20)).not_counted, 1u);
  CountedLines const elsewhere = compared(trace, profiled("LDS R2, [R3]", 10, 20, "0x7f0000000050"));
  EXPECT_EQ(elsewhere.lines.size() + elsewhere.not_counted + elsewhere.not_traced, 2u);
  EXPECT_EQ(elsewhere.not_traced, 1u);
  trace.instructions[0].sass.clear();  // what was not disassembled
  EXPECT_EQ(compared(trace, profiled("LDS R2, [R3]", 10, 20)).lines.at(0).outcome, Outcome::equal);
  trace.instructions[0].kernel = "another(float*)";
  EXPECT_EQ(compared(trace, profiled("LDS R2, [R3]", 10, 20)).not_counted, 1u);
}

TEST(Counted, WhatWasNotKeptIsBoundedByItsDistribution) {
  Trace trace = traced(load, 8, "LDS R2, [R3]");
  TracedInstruction& line = trace.instructions[0];
  line.not_kept = 2;
  line.executed += 2;
  line.wavefronts += 64;
  EXPECT_EQ(compared(trace, profiled("LDS R2, [R3]", 12, 84)).lines.at(0).outcome, Outcome::equal);
  EXPECT_EQ(compared(trace, profiled("LDS R2, [R3]", 12, 83)).lines.at(0).outcome, Outcome::different);
}

TEST(Counted, KernelsThatWereNotLaunchedAsOftenAreNotCompared) {
  Trace trace = traced(load, 8, "LDS R2, [R3]");
  trace.instructions[0].launches = 2;
  CountedLines const one = compared(trace, profiled("LDS R2, [R3]", 5, 10));
  EXPECT_EQ(one.other_launches, 1u);
  EXPECT_TRUE(one.lines.empty());
  Profile twice = profiled("LDS R2, [R3]", 5, 10);
  twice.tables.at(0).copies = 2;
  EXPECT_EQ(compared(trace, twice).lines.at(0).outcome, Outcome::equal);
  trace.instructions[0].launches = 1;
  trace.instructions.push_back(trace.instructions[0]);
  trace.instructions[1].pc = 0x80;
  EXPECT_EQ(compared(trace, profiled("LDS R2, [R3]", 10, 20)).other_launches, 0u)
      << "two lines of one launch";
  // Two functions of one name: overloads, or the same in two contexts.
  trace.instructions[1].block = {64, 1, 1};
  EXPECT_EQ(compared(trace, profiled("LDS R2, [R3]", 10, 20)).other_launches, 1u);
  EXPECT_EQ(compared(trace, twice).lines.at(0).outcome, Outcome::equal);
}

TEST(Counted, NamesOfKernelsLoseTheirDemanglers) {
  EXPECT_EQ(comparable_kernel_name("void (anonymous namespace)::k<(anonymous namespace)::A>(float*)"),
            comparable_kernel_name("void <unnamed>::k<<unnamed>::A>(float *)"));
  EXPECT_EQ(comparable_kernel_name("k<(bool)0>(int)"), "k<0>");
  EXPECT_EQ(comparable_kernel_name("k<(unsigned int)4, m2u>(int)"),
            comparable_kernel_name("k<4u, m2u>(int)"));
  EXPECT_EQ(comparable_kernel_name("k<(bool)1, (bool)0, untrue>(int)"),
            comparable_kernel_name("k<true, false, untrue>(int)"));
  EXPECT_NE(comparable_kernel_name("k<4>(int)"), comparable_kernel_name("k<8>(int)"));
  // H14: Numba's tags, as the two demanglers write them.
  EXPECT_EQ(comparable_kernel_name("w::t[abi:v1][abi:cw51][abi:x](Array<float, 2, C>)"),
            comparable_kernel_name("w::t[abi:v1,cw51,x](Array<float, (int)2, C>)"));
  EXPECT_NE(comparable_kernel_name("w::t[abi:v1](int)"), comparable_kernel_name("w::t[abi:v2](int)"));
}

}  // namespace
}  // namespace swizproof
