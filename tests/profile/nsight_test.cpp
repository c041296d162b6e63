// Nsight Compute's export, read and compared: SASS lines, forms of tables, and what a counter may exceed.
#include "profile/comparison.hpp"
#include "profile/nsight.hpp"
#include "parse/sass.hpp"

#include <swizproof/parse/parse.hpp>

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
       {"ATOMS.ADD RZ, [R3], R2", "LDG.E.128 R4, [R2.64]", "HGMMA.64x128x16.F32 R24", "", "BRA 0x100",
        "@X0 LDS R2, [R3]", "@P LDS R2, [R3]", "@P0", "LDS. R2, [R3]", "LDS..64 R2, [R3]", "LDS[R3]"})
    EXPECT_EQ(sass(other), "none") << other;
}

ProvedAccess ldsm(unsigned wavefronts, std::string kernel = {}) {
  return {"A tile", std::move(kernel), "ldmatrix.x4", {Operation::ldmatrix, 16, 4, false}, wavefronts, true};
}

Measurement line(std::uint64_t executed, std::uint64_t wavefronts) {
  Measurement m;
  m.kernel = m.kernel_as_written = "gemm";
  m.where = "LDSM.16.M88.4 R4, [R3]";
  m.instruction = Instruction{Operation::ldmatrix, 16, 4, false};
  m.executed = executed;
  m.wavefronts = wavefronts;
  return m;
}

/// A sum over the two kinds of loads, as the counters of the whole L1 have it.
Measurement loads(std::uint64_t lds, std::uint64_t ldsm, std::uint64_t wavefronts) {
  Measurement m = line(lds + ldsm, wavefronts);
  m.instruction.reset();
  if (lds != 0) m.operations.push_back({Operation::ld_shared, lds});
  if (ldsm != 0) m.operations.push_back({Operation::ldmatrix, ldsm});
  m.shared_with_others = true;
  return m;
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
  Measurement cast = line(1, 4);
  cast.kernel = "ldsm<0>", cast.kernel_as_written = "ldsm<(bool)0>";
  for (char const* either : {"ldsm<0>", R"(ldsm<\(bool\)0>)"})
    EXPECT_EQ(compare(cast, {ldsm(4, either)}).comparison, Comparison::as_proved) << either;
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

// An LDS of which nothing is proved costs at most 32: what goes beyond that the proved LDSM must have cost.
TEST(Nsight, SumsOverSeveralInstructionsAllowWhatEachMayCost) {
  EXPECT_EQ(compare(loads(0, 4, 16), {ldsm(4)}).comparison, Comparison::as_proved);
  EXPECT_EQ(compare(loads(1, 4, 17), {ldsm(4)}).comparison, Comparison::not_covered);
  EXPECT_EQ(compare(loads(1, 4, 48), {ldsm(4)}).comparison, Comparison::not_covered);
  EXPECT_EQ(compare(loads(1, 4, 49), {ldsm(4)}).comparison, Comparison::noisy);
  ProvedAccess lds = ldsm(2);
  lds.instruction = {Operation::ld_shared, 4, 0, false};
  EXPECT_EQ(compare(loads(1, 4, 18), {ldsm(4), lds}).comparison, Comparison::as_proved);
  EXPECT_EQ(compare(loads(1, 4, 17), {ldsm(4), lds}).comparison, Comparison::below);
  EXPECT_EQ(compare(loads(1, 4, 19), {ldsm(4), lds}).comparison, Comparison::noisy);
}

TEST(Nsight, NamesAtomics) {
  for (char const* sass :
       {"ATOMS.POPC.INC.32 RZ, [R0+URZ]", "@P0 ATOMS.ADD RZ, [R3], R2", "RED.E.ADD [R2.64], R5"})
    EXPECT_TRUE(is_atomic(sass)) << sass;
  EXPECT_FALSE(is_atomic("LDS R2, [R3]"));
  Measurement m = line(64, 64);
  m.instruction.reset();
  EXPECT_EQ(compare(m, {ldsm(4)}).comparison, Comparison::not_modelled);
  m.atomic = true;
  EXPECT_EQ(compare(m, {ldsm(4)}).comparison, Comparison::atomic);
}

TEST(Nsight, ReadsCountsInEveryFormThatTheProfilerWrites) {
  for (char const* text :
       {"1048576", "1,048,576", "1.048.576", "1'048'576", "1 048 576", "1\u00a0048\u00a0576",
        "1\u202f048\u202f576", "1048576.000000", "1,048,576.000000", "1.048.576,00"})
    EXPECT_EQ(parse_count(text), 1048576U) << text;
  EXPECT_EQ(parse_count("32.000000"), 32U);
  EXPECT_EQ(parse_count("1,081"), 1081U);
  EXPECT_EQ(parse_count("1.081,000000"), 1081U);
  EXPECT_EQ(parse_count("0"), 0U);
  for (char const* none : {"", "-", "n/a", "N/A", "no data"})
    EXPECT_EQ(parse_count(none), std::nullopt) << none;
  for (char const* bad : {"4 999 99", "1.5", "1.05", "1.081", "32.5", "1e6", "12 (50%)", "-3", "1,04,8",
                          "1,048.576", "99999999999999999999", "999999999999999999", "+1", " 1", "1 "})
    EXPECT_THROW((void)parse_count(bad), InputError) << bad;
}

TEST(Nsight, NamesAKernelInOneWay) {
  EXPECT_EQ(plain_kernel_name("void ldsm<(bool)0>(unsigned int *, const uint4 *)"),
            "void ldsm<0>(unsigned int *, const uint4 *)");
  EXPECT_EQ(plain_kernel_name("gemm<(int)128, (unsigned int)64, (cutlass::Kind)-1>(int)"),
            "gemm<128, 64, -1>(int)");
  EXPECT_EQ(plain_kernel_name("k(int)"), "k(int)");
}

std::string const narrow_header = "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n";
std::string const executed_ldsm = "smsp__sass_inst_executed_op_ldsm.sum",
                  wavefronts_ldsm = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum";

std::string row(std::string const& id, std::string const& metric, std::string const& value) {
  return "\"" + id + "\",\"k\",\"" + metric + "\",\"" + value + "\"\n";
}

TEST(Nsight, ColumnsMayStandInAnyOrder) {
  std::string const header = "\"Metric Value\",\"ID\",\"Kernel Name\",\"Metric Name\"\n";
  auto const read =
      read_nsight("f.csv", header + "1,0,k," + executed_ldsm + "\n4,0,k," + wavefronts_ldsm + "\n")
          .measurements;
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].executed, 1U);
  EXPECT_EQ(read[0].wavefronts, 4U);
}

TEST(Nsight, AddsUpRowsOfOneKernelThatNothingTellsApart) {
  Profile const read =
      read_nsight("f.csv", narrow_header + row("0", executed_ldsm, "8") + row("0", wavefronts_ldsm, "256") +
                               row("0", executed_ldsm, "8") + row("0", wavefronts_ldsm, "32"));
  ASSERT_EQ(read.measurements.size(), 1U);
  EXPECT_EQ(read.measurements[0].executed, 16U);
  EXPECT_EQ(read.measurements[0].wavefronts, 288U);
  EXPECT_EQ(read.added_up, 2U);
  EXPECT_EQ(compare(read.measurements[0], {ldsm(4)}).comparison, Comparison::above);
}

TEST(Nsight, KeepsLaunchesOfConcatenatedExportsAndProcessesApart) {
  std::string const bad = narrow_header + row("0", executed_ldsm, "8") + row("0", wavefronts_ldsm, "256"),
                    good =
                        narrow_header + row("0", executed_ldsm, "80000") + row("0", wavefronts_ldsm, "80000");
  for (std::string const& both : {bad + good, good + bad}) {
    Profile const read = read_nsight("f.csv", both);
    ASSERT_EQ(read.measurements.size(), 2U);
    EXPECT_NE(read.measurements[0].wavefronts, read.measurements[1].wavefronts);
    EXPECT_EQ(read.added_up, 0U);
  }
  std::string const header = "\"Process ID\"," + narrow_header;
  auto const of = [](std::string const& process, std::string const& text) {
    return "\"" + process + "\"," + text;
  };
  Profile const ranks = read_nsight(
      "f.csv", header + of("1", row("0", executed_ldsm, "8")) + of("2", row("0", executed_ldsm, "8")) +
                   of("2", row("0", wavefronts_ldsm, "32")) + of("1", row("0", wavefronts_ldsm, "256")));
  ASSERT_EQ(ranks.measurements.size(), 2U);
  EXPECT_EQ(ranks.measurements[0].wavefronts, 256U);
  EXPECT_EQ(ranks.measurements[1].wavefronts, 32U);
  std::string const wide = "\"ID\",\"Kernel Name\",\"" + executed_ldsm + "\",\"" + wavefronts_ldsm + "\"\n";
  EXPECT_EQ(read_nsight("f.csv", wide + "0,k,8,256\n0,k,8,32\n").measurements.size(), 2U);
}

std::string const source_header =
    "\"Kernel Name\",\"k\",\nAddress,Source,Instructions Executed,L1 Wavefronts Shared\n";

TEST(Nsight, ShowsATableThatIsPrintedTwiceOnce) {
  std::string const table =
      source_header + "0x10,LDS R1,8,256\n0x20,\"@!PT LDS RZ, [RZ]\",8,0\n0x30,STS R1,0,0\n";
  Profile const read = read_nsight("f.csv", table + table);
  EXPECT_EQ(read.measurements.size(), 1U);
  EXPECT_EQ(read.never_ran, 2U);
  EXPECT_EQ(read.repeated, 1U);
  std::string other = table;
  other.replace(other.find("256"), 3, "128");
  EXPECT_EQ(read_nsight("f.csv", table + other).measurements.size(), 2U) << "another launch";
  Profile const two = read_nsight("f.csv", table + table + table + table);
  EXPECT_EQ(two.measurements.size(), 2U) << "another launch of the same counts";
  EXPECT_EQ(two.repeated, 2U);
  EXPECT_EQ(two.launches, (std::map<std::string, std::uint64_t>{{"k", 2}}));
}

TEST(Nsight, SaysOfWhatThereIsNoCount) {
  EXPECT_EQ(read_nsight("f.csv", source_header + "0x10,LDS R1,8,-\n").no_count, 1U);
  EXPECT_EQ(
      read_nsight("f.csv", narrow_header + row("0", executed_ldsm, "8") + row("0", wavefronts_ldsm, "n/a"))
          .no_count,
      1U);
}

/// Message of the reader for a text that it refuses.
std::string refusal(std::string const& text) {
  try {
    (void)read_nsight("f.csv", text);
  } catch (InputError const& error) {
    return error.message;
  }
  return "none";
}

TEST(Nsight, LosesNoRowWithoutAWord) {
  EXPECT_EQ(refusal(source_header + "0x10,LDS R1,8,256\n0x20,LDS R1,8,256,\n"),
            "f.csv:4: the row has 5 fields, its table has 4");
  EXPECT_EQ(refusal(source_header + "0x10,LDS R1,8,256\n0x20,LDS R2, [R3],8,256\n"),
            "f.csv:4: the row has 5 fields, its table has 4");
  EXPECT_EQ(refusal(source_header + "0x10,LDS R1,8,256\n0x20,LDS"),
            "f.csv:4: the row has 2 fields, its table has 4");
  EXPECT_EQ(refusal(source_header + "0x10,LDS R1,8,256\n0x20,LDS R2,8,25"),
            "f.csv:4: the last row is cut off");
  EXPECT_EQ(refusal(source_header + "0x10,LDS R1,8,256\n0x20,LDS R2,8,\"25"),
            "f.csv:4: the last row is cut off");
  EXPECT_EQ(refusal(narrow_header + "0,k(int, float)," + executed_ldsm + ",8\n"),
            "f.csv:2: the row has 5 fields, its table has 4");
  EXPECT_EQ(refusal(narrow_header + row("0", executed_ldsm, "8") + "\"1\"\n"),
            "f.csv:3: the row has 1 fields, its table has 4");
  EXPECT_EQ(
      refusal(narrow_header + row("0", executed_ldsm, "1 048 576") + row("0", wavefronts_ldsm, "4 999 99")),
      "f.csv:3: '4 999 99' is no count");
  EXPECT_EQ(refusal(source_header + "0x10,LDS R1,0,256\n"),
            "f.csv:3: wavefronts of an instruction that did not run");
  EXPECT_EQ(refusal(narrow_header + row("0", executed_ldsm, "8")),
            "f.csv: no sum has both its wavefronts and its instructions");
  EXPECT_EQ(refusal("ID,Kernel Name," + executed_ldsm + "," + wavefronts_ldsm + "," + wavefronts_ldsm +
                    "\n0,k,8,32,64\n"),
            "f.csv:1: the column '" + wavefronts_ldsm + "' appears twice");
  EXPECT_EQ(refusal("ID,Kernel Name," + executed_ldsm + "," + wavefronts_ldsm + "\n,,Kinst,\n0,k,8,32\n"),
            "f.csv:2: the unit 'Kinst' is no unit of counts");
  EXPECT_EQ(refusal("==PROF== Connected\n" + narrow_header + row("0", executed_ldsm, "8") +
                    "==WARNING== \"so, so\n" + row("0", wavefronts_ldsm, "32")),
            "none")
      << "the profiler's own messages are no rows";
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
