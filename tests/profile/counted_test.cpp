// A trace beside a profile: what must be equal, what is known to differ, and what is a mismatch.
#include "profile/counted.hpp"

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
  EXPECT_EQ(outcome(9, 20), Outcome::different);
  EXPECT_EQ(outcome(11, 20), Outcome::different);  // and no predicate
}

TEST(Counted, WarpsThatAPredicateSwitchesOffAreCountedAsExecuted) {
  Trace const trace = traced(load, 8, "@!P0 LDS R2, [R3]");
  EXPECT_EQ(compared(trace, profiled("@!P0 LDS R2, [R3]", 16, 20)).lines.at(0).outcome, Outcome::predicated);
  EXPECT_EQ(compared(trace, profiled("@!P0 LDS R2, [R3]", 16, 21)).lines.at(0).outcome, Outcome::different);
  EXPECT_EQ(compared(trace, profiled("@!P0 LDS R2, [R3]", 9, 20)).lines.at(0).outcome, Outcome::different);
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
  twice.measurements.push_back(twice.measurements.at(0));
  twice.launches.begin()->second = 2;
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
}

}  // namespace
}  // namespace swizproof
