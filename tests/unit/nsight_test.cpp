// Nsight Compute's export, read and compared: SASS lines, forms of tables, and what a counter may exceed.
#include "../../src/nsight.hpp"

#include <swizproof/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string sass(std::string_view line) {
  auto const instruction = parse_sass(line);
  return instruction ? to_string(*instruction) : "none";
}

TEST(Sass, NamesTheInstruction) {
  EXPECT_EQ(sass("LDS R2, [R3]"), "ld.shared.b32");
  EXPECT_EQ(sass("@!P0 LDS.64 R2, [R3+0x10]"), "ld.shared.b64");
  EXPECT_EQ(sass("@UP1 LDS.U.128 R4, [R3.X16+UR4]"), "ld.shared.b128");
  EXPECT_EQ(sass("LDS.U8 R2, [R3]"), "ld.shared.b8");
  EXPECT_EQ(sass("LDS.S16 R2, [R3]"), "ld.shared.b16");
  EXPECT_EQ(sass("STS.128 [R3], R4"), "st.shared.b128");
  EXPECT_EQ(sass("LDSM.16.M88.4 R4, [R3]"), "ldmatrix.x4");
  EXPECT_EQ(sass("LDSM.16.M88 R4, [R3]"), "ldmatrix.x1");
  EXPECT_EQ(sass("LDSM.16.MT88.2 R4, [R3]"), "ldmatrix.x2.trans");
  EXPECT_EQ(sass("STSM.16.MT88.4 [R3], R4"), "stmatrix.x4.trans");
  EXPECT_EQ(sass("LDGSTS.E.BYPASS.LTC128B.128 [R3], [R4.64]"), "cp.async.b128");
  EXPECT_EQ(sass("LDGSTS.E [R3], [R4.64]"), "cp.async.b32");
  for (char const* other :
       {"ATOMS.ADD RZ, [R3], R2", "LDG.E.128 R4, [R2.64]", "HGMMA.64x128x16.F32 R24", "", "BRA 0x100"})
    EXPECT_EQ(sass(other), "none") << other;
}

ProvedAccess ldsm(unsigned wavefronts, std::string kernel = {}) {
  return {"A tile", std::move(kernel), "ldmatrix.x4", {Operation::ldmatrix, 16, 4, false}, wavefronts, true};
}

Measurement line(std::uint64_t executed, std::uint64_t wavefronts) {
  return {"gemm",
          "LDSM.16.M88.4 R4, [R3]",
          Instruction{Operation::ldmatrix, 16, 4, false},
          {},
          executed,
          wavefronts,
          false};
}

TEST(Nsight, OneWavefrontAboveTheProofIsAContradiction) {
  EXPECT_EQ(compare(line(1000, 4000), {ldsm(4)}).comparison, Comparison::as_proved);
  EXPECT_EQ(compare(line(1000, 4001), {ldsm(4)}).comparison, Comparison::above);
  EXPECT_EQ(compare(line(1000, 3999), {ldsm(4)}).comparison, Comparison::below);
  EXPECT_EQ(compare(line(1000, 4000), {ldsm(8), ldsm(4)}).comparison, Comparison::as_proved);
}

TEST(Nsight, ObligationsSpeakOfTheirInstructionAndKernel) {
  EXPECT_EQ(compare(line(1, 4), {}).comparison, Comparison::not_covered);
  EXPECT_EQ(compare(line(1, 4), {ldsm(4, "attention")}).comparison, Comparison::not_covered);
  EXPECT_EQ(compare(line(1, 4), {ldsm(4, "^ge")}).comparison, Comparison::as_proved);
  ProvedAccess other = ldsm(4);
  other.instruction.matrices = 2;
  EXPECT_EQ(compare(line(1, 4), {other}).comparison, Comparison::not_covered);
}

TEST(Nsight, SharedCountersAndEqualAddressesLeaveItOpen) {
  Measurement noisy = line(1000, 4190);
  noisy.shared_with_others = true;
  EXPECT_EQ(compare(noisy, {ldsm(4)}).comparison, Comparison::noisy);
  ProvedAccess merged = ldsm(4);
  merged.counts_as_cycles = false;
  EXPECT_EQ(compare(line(1000, 8000), {merged}).comparison, Comparison::noisy);
}

std::string const narrow_header = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n";

// A row that ends before the column of names: found by fuzz_nsight, as a read behind the row's end.
TEST(Nsight, ColumnsMayStandInAnyOrderAndRowsMayEndEarly) {
  std::string const metric = "smsp__sass_inst_executed_op_ldsm.sum",
                    wavefronts = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
                    header = "\"Metric Value\",\"ID\",\"Kernel Name\",\"Metric Name\"\n";
  auto const read = read_nsight(
      "f.csv", header + "\"1\",\"0\",\"k\"\n\"1\"\n" + "1,0,k," + metric + "\n4,0,k," + wavefronts + "\n");
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].executed, 1U);
  EXPECT_EQ(read[0].wavefronts, 4U);
}

TEST(Nsight, ReadsSeparatorsOfThousands) {
  for (char const* number : {"1048576", "1,048,576", "1.048.576"}) {
    auto const read = read_nsight(
        "f.csv", "==PROF== Connected\n" + narrow_header +
                     "\"0\",\"k\",\"smsp__sass_inst_executed_op_ldsm.sum\",\"1\"\n"
                     "\"0\",\"k\",\"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum\",\"" +
                     number + "\"\n");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].wavefronts, 1048576U) << number;
  }
}

TEST(Nsight, RefusesWhatItCannotRead) {
  EXPECT_THROW((void)read_nsight("f.csv", ""), InputError);
  EXPECT_THROW((void)read_nsight("f.csv", "a,b\n1,2\n"), InputError);
  EXPECT_THROW((void)read_nsight("f.csv", narrow_header + "0,k,smsp__sass_inst_executed_op_ldsm.sum,1.5\n"),
               InputError);
  EXPECT_THROW(
      (void)read_nsight("f.csv",
                        narrow_header + "0,k,smsp__sass_inst_executed_op_ldsm.sum,99999999999999999999\n"),
      InputError);
}

}  // namespace
}  // namespace swizproof
