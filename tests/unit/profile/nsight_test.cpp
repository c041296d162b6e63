// Nsight Compute's export, read and compared: SASS lines, forms of tables, and what a counter may exceed.
#include "profile/profile_vs_obligations.hpp"
#include "profile/nsight.hpp"
#include "parse/access/sass.hpp"

#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <tuple>

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
  EXPECT_EQ(compare(line(1000, 3999), {ldsm(4)}).comparison, Comparison::undecided) << "no LDSM.x4 costs 3";
  EXPECT_EQ(compare(line(1000, 4000), {ldsm(8), ldsm(4)}).comparison, Comparison::below);
  EXPECT_EQ(compare(line(1, 8), {ldsm(8), ldsm(4)}).comparison, Comparison::undecided)
      << "either may be executed";
  EXPECT_EQ(compare(line(1, 9), {ldsm(8), ldsm(4)}).comparison, Comparison::above);
}

/// A line of SASS as a profile has it.
Measurement counted(std::string sass, std::uint64_t executed, std::uint64_t wavefronts,
                    std::optional<std::uint64_t> ideal = {}) {
  Measurement m;
  m.kernel = m.kernel_as_written = "k";
  m.instruction = parse_sass(sass);
  m.where = std::move(sass);
  m.executed = executed;
  m.wavefronts = wavefronts;
  m.ideal = ideal;
  return m;
}

ProvedAccess proved(char const* sass, unsigned wavefronts) {
  return {"tile", {}, sass, parse_sass(sass).value(), wavefronts};
}

Comparison outcome(Measurement const& m, unsigned wavefronts) {
  return compare(m, {proved(m.where.c_str(), wavefronts)}).comparison;
}

// H3: warps that a predicate switched off are counted as executions of no wavefronts.
TEST(Nsight, WarpsThatAPredicateSwitchedOffHideNoConflict) {
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 1024, 1024), 1), Comparison::as_proved);
  EXPECT_EQ(outcome(counted("@!P0 LDS R0, [R1]", 1024, 1024), 1), Comparison::undecided);
  EXPECT_EQ(outcome(counted("@!P0 LDS R0, [R1]", 1024, 1024, 64), 1), Comparison::above);
  EXPECT_EQ(outcome(counted("@!P0 LDS R0, [R1]", 1024, 64, 64), 1), Comparison::as_proved);
  EXPECT_EQ(outcome(counted("@!P0 LDS R0, [R1]", 1024, 2048), 1), Comparison::above);
  EXPECT_EQ(outcome(counted("@P0 LDSM.16.M88.4 R0, [R1]", 64, 128, 128), 4), Comparison::as_proved);
  EXPECT_EQ(outcome(counted("@P0 LDSM.16.M88.4 R0, [R1]", 3, 5), 4), Comparison::above)
      << "one at most was live";
  EXPECT_EQ(outcome(counted("@P0 LDSM.16.M88.4 R0, [R1]", 3, 4), 4), Comparison::as_proved)
      << "exactly one was";
  EXPECT_EQ(outcome(counted("@P0 LDSM.16.M88.4 R0, [R1]", 64, 129, 128), 4), Comparison::above);
  EXPECT_EQ(outcome(counted("LDGSTS.E.128 [R0], desc[UR4][R2.64], P0", 4, 16), 4), Comparison::undecided);
  EXPECT_EQ(outcome(counted("LDGSTS.E.128 [R0], desc[UR4][R2.64], P0", 4, 16, 16), 4), Comparison::as_proved);
}

// H3, second form: idle phases of 8- and 16-byte accesses cost the counter nothing (H11).
TEST(Nsight, IdlePhasesHideNoConflict) {
  for (char const* sass : {"LDS.128 R0, [R1]", "STS.128 [R1], R0"}) {
    EXPECT_EQ(outcome(counted(sass, 64, 256), 4), Comparison::undecided) << sass;
    EXPECT_EQ(outcome(counted(sass, 64, 256, 160), 4), Comparison::undecided) << sass;
    EXPECT_EQ(outcome(counted(sass, 64, 256, 256), 4), Comparison::as_proved) << sass;
    EXPECT_EQ(outcome(counted(sass, 64, 160, 160), 4), Comparison::below) << sass;
    EXPECT_EQ(outcome(counted(sass, 64, 257, 256), 4), Comparison::above) << sass;
  }
  EXPECT_EQ(outcome(counted("LDS.64 R0, [R1]", 64, 128, 128), 2), Comparison::as_proved);
}

TEST(Nsight, AMeanHidesNoConflict) {
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 64, 128), 2), Comparison::undecided) << "half at 1, half at 3";
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 64, 65), 2), Comparison::below);
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 64, 66), 2), Comparison::undecided);
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 1, 2), 2), Comparison::as_proved);
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 64, 2048), 32), Comparison::as_proved)
      << "none costs more than 32";
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 64, 2049), 32), Comparison::undecided);
}

// H6: a count of 0 is a count; an empty field is none.
TEST(Nsight, NoExecutionCostsNothing) {
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 64, 0), 1), Comparison::undecided);
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 64, 63), 1), Comparison::undecided);
  EXPECT_EQ(outcome(counted("LDS R0, [R1]", 64, 64, 63), 1), Comparison::undecided) << "its ideal is of 63";
  Measurement missing = counted("LDS R0, [R1]", 64, 0);
  missing.counted = false;
  Compared const compared = compare(missing, {proved("LDS R0, [R1]", 1)});
  EXPECT_EQ(compared.comparison, Comparison::undecided);
  EXPECT_EQ(compared.why, "the profile has no count of it");
}

// LDGSTS: the fill of the line is counted too: gpu/evidence/traces/gemm_mma.csv has 8 for each where 4 are right.
TEST(Nsight, ACopyAboveTheProofIsUndecided) {
  EXPECT_EQ(outcome(counted("LDGSTS.E.128 [R0], desc[UR4][R2.64]", 8, 32), 4), Comparison::undecided);
  EXPECT_EQ(outcome(counted("LDGSTS.E.128 [R0], desc[UR4][R2.64]", 8, 32, 32), 4), Comparison::as_proved);
  EXPECT_EQ(outcome(counted("LDGSTS.E.128 [R0], desc[UR4][R2.64]", 1, 4), 4), Comparison::below);
  EXPECT_EQ(outcome(counted("LDGSTS.E [R0], desc[UR4][R2.64]", 8, 8), 1), Comparison::as_proved);
  EXPECT_EQ(outcome(counted("LDGSTS.E.128 [R0], desc[UR4][R2.64]", 8, 64), 4), Comparison::undecided);
  EXPECT_EQ(outcome(counted("LDGSTS.E.128 [R0], desc[UR4][R2.64]", 8, 0), 4), Comparison::undecided);
}

// H7: what is refuted is not proved, and what is proved is not refuted.
TEST(Nsight, ARefutedObligationProvesNothing) {
  ProvedAccess refuted = proved("LDS R0, [R1]", 0);
  refuted.why_not = "refuted: 32 wavefronts, 1 allowed";
  Measurement const m = counted("LDS R0, [R1]", 64, 2048);
  EXPECT_EQ(compare(m, {refuted}).comparison, Comparison::undecided);
  EXPECT_EQ(compare(m, {refuted, proved("LDS R0, [R1]", 1)}).comparison, Comparison::undecided)
      << "it may be the refuted one";
  ProvedAccess expected = proved("LDS R0, [R1]", 32);
  expected.refuted = true;
  EXPECT_EQ(compare(m, {expected}).comparison, Comparison::as_expected);
}

TEST(Nsight, ObligationsThatAreRefutedAreLeftOut) {
  auto const oblige = [](std::string const& layout, bool expect_refuted) {
    Obligation o;
    o.name = "tile";
    o.expect_refuted = expect_refuted;
    AccessesHold hold;
    static_cast<Mapping&>(hold.map) = parse_mapping(layout, {.element_bits = 32});
    hold.placements.emplace_back(hold.map, parse_access("ld.shared.b32: row = lane, col = i for i in 0..31"));
    o.what = std::move(hold);
    return o;
  };
  auto const found = [&](std::string const& layout, bool expect_refuted) {
    std::vector<Obligation> obligations;
    obligations.push_back(oblige(layout, expect_refuted));
    ProvedAccesses const all = prove_accesses(obligations, {});
    return all.proved.at(0).why_not + (all.proved[0].refuted ? " (refuted)" : "") +
           (all.left_out.empty() ? "" : "; left out");
  };
  EXPECT_EQ(found("(32,32):(33,1)", false), "");
  EXPECT_EQ(found("(32,32):(32,1)", false), "refuted: 32 wavefronts, 1 allowed; left out");
  EXPECT_EQ(found("(32,32):(32,1)", true), " (refuted)");
  EXPECT_EQ(found("(32,32):(33,1)", true), "it expects to be refuted, and it is proved (refuted); left out");
  EXPECT_EQ(found("(32,32):(1,1)", false), "refuted: two elements share an address; left out");
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

TEST(Nsight, EqualAddressesOfWideLoadsLeaveItOpen) {
  ProvedAccess merged = ldsm(4);
  merged.counts_as_cycles = false;
  EXPECT_EQ(compare(line(1000, 8000), {merged}).comparison, Comparison::undecided);
}

// In a sum, neither the live executions nor the widths are known: an unproved instruction costs at most 32.
TEST(Nsight, ASumIsAboveOnlyWhatEveryInstructionMayCost) {
  auto const of = [](Measurement m, std::vector<ProvedAccess> const& all) {
    m.shared_with_others = false;
    return compare(m, all).comparison;
  };
  EXPECT_EQ(of(loads(0, 4, 16), {ldsm(4)}), Comparison::undecided);
  EXPECT_EQ(of(loads(0, 4, 128), {ldsm(4)}), Comparison::undecided) << "LDSM.MT88.4 may have cost it";
  EXPECT_EQ(of(loads(0, 4, 129), {ldsm(4)}), Comparison::above);
  ProvedAccess transposed = ldsm(4);
  transposed.instruction.transposed = true;
  EXPECT_EQ(of(loads(0, 4, 64), {ldsm(4), transposed}), Comparison::undecided) << "LDSM.M88.2 costs up to 16";
  EXPECT_EQ(of(loads(0, 4, 65), {ldsm(4), transposed}), Comparison::above);
  EXPECT_EQ(of(loads(1, 4, 96), {ldsm(4), transposed}), Comparison::undecided) << "an LDS costs up to 32";
  EXPECT_EQ(of(loads(1, 4, 97), {ldsm(4), transposed}), Comparison::above);
  EXPECT_EQ(compare(loads(1, 4, 97), {ldsm(4), transposed}).comparison, Comparison::undecided) << "others";
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

std::string sheet_row(std::string const& id, std::string const& metric, std::string const& value) {
  return "\"" + id + "\",\"k\",\"" + metric + "\",\"" + value + "\"\n";
}

// An average over SMs without a block is no bound, so the maximum goes first, and the sum of active SMs before that of all.
TEST(Nsight, TakesTheFirstPairOfMetricsOfThePipe) {
  std::string const wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.", cycles = "sm__cycles_";
  std::string rows =
      sheet_row("0", wavefronts + "sum", "660") + sheet_row("0", cycles + "elapsed.sum", "13200");
  auto const read = [&] { return read_nsight("f.csv", narrow_header + rows).pipes.at(0); };
  EXPECT_EQ(std::tuple(read().wavefronts, read().cycles, read().of), std::tuple(660U, 13200U, PipeSms::all));
  rows += sheet_row("0", cycles + "active.sum", "6600");
  EXPECT_EQ(std::tuple(read().wavefronts, read().cycles, read().of),
            std::tuple(660U, 6600U, PipeSms::active));
  rows += sheet_row("0", wavefronts + "max", "21") + sheet_row("0", cycles + "elapsed.max", "100");
  EXPECT_EQ(std::tuple(read().wavefronts, read().cycles, read().of), std::tuple(21U, 100U, PipeSms::busiest));
  rows = sheet_row("0", wavefronts + "max", "105") + sheet_row("0", cycles + "elapsed.max", "100");
  EXPECT_EQ(read().wavefronts, 105U) << "two passes of the profiler may differ";
  rows = sheet_row("0", wavefronts + "max", "106") + sheet_row("0", cycles + "elapsed.max", "100");
  EXPECT_THROW((void)read(), InputError);
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
  Profile const read = read_nsight(
      "f.csv", narrow_header + sheet_row("0", executed_ldsm, "8") + sheet_row("0", wavefronts_ldsm, "256") +
                   sheet_row("0", executed_ldsm, "8") + sheet_row("0", wavefronts_ldsm, "32"));
  ASSERT_EQ(read.measurements.size(), 1U);
  EXPECT_EQ(read.measurements[0].executed, 16U);
  EXPECT_EQ(read.measurements[0].wavefronts, 288U);
  EXPECT_EQ(read.added_up, 2U);
}

TEST(Nsight, KeepsLaunchesOfConcatenatedExportsAndProcessesApart) {
  std::string const bad = narrow_header + sheet_row("0", executed_ldsm, "8") +
                          sheet_row("0", wavefronts_ldsm, "256"),
                    good = narrow_header + sheet_row("0", executed_ldsm, "80000") +
                           sheet_row("0", wavefronts_ldsm, "80000");
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
  Profile const ranks = read_nsight("f.csv", header + of("1", sheet_row("0", executed_ldsm, "8")) +
                                                 of("2", sheet_row("0", executed_ldsm, "8")) +
                                                 of("2", sheet_row("0", wavefronts_ldsm, "32")) +
                                                 of("1", sheet_row("0", wavefronts_ldsm, "256")));
  ASSERT_EQ(ranks.measurements.size(), 2U);
  EXPECT_EQ(ranks.measurements[0].wavefronts, 256U);
  EXPECT_EQ(ranks.measurements[1].wavefronts, 32U);
  std::string const wide = "\"ID\",\"Kernel Name\",\"" + executed_ldsm + "\",\"" + wavefronts_ldsm + "\"\n";
  EXPECT_EQ(read_nsight("f.csv", wide + "0,k,8,256\n0,k,8,32\n").measurements.size(), 2U);
  // a table of other metrics behind it has rows of another length
  EXPECT_EQ(read_nsight("f.csv", wide + "0,k,8,256\nID,Kernel Name,gpu__time_duration.sum\n1,k,17\n")
                .measurements.size(),
            1U);
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
  Profile const four = read_nsight("f.csv", table + table + other + table);
  EXPECT_EQ(four.measurements.size(), 2U) << "equal tables say the same of each launch";
  EXPECT_EQ(four.repeated, 2U);
  ASSERT_EQ(four.tables.size(), 2U);
  EXPECT_EQ(four.tables[0].copies, 3U) << "one print too many, or a launch more: nothing is guessed";
  EXPECT_EQ(four.tables[1].copies, 1U);
}

TEST(Nsight, TellsACountOf0FromAMissingOne) {
  Profile const zero = read_nsight("f.csv", source_header + "0x10,LDS R1,8,0\n");
  ASSERT_EQ(zero.measurements.size(), 1U);
  EXPECT_TRUE(zero.measurements[0].counted);
  EXPECT_EQ(zero.never_ran + zero.no_count, 0U);
  for (char const* none : {"", "-", "N/A", "n/a"}) {
    Profile const missing = read_nsight("f.csv", source_header + "0x10,LDS R1,8," + none + "\n");
    ASSERT_EQ(missing.measurements.size(), 1U) << none;
    EXPECT_FALSE(missing.measurements[0].counted) << none;
    EXPECT_EQ(missing.no_count, 1U) << none;
  }
  EXPECT_EQ(read_nsight("f.csv", source_header + "0x10,@!P0 LDS R1,8,0\n").never_ran, 1U);
}

TEST(Nsight, RefusesAddressesThatNoKernelHas) {
  for (char const* wrong : {"0x10,LDS R1,8,8\n0x10,LDS R1,8,8\n", "0x10,LDS R1,8,8\n0x0,LDS R1,8,8\n",
                            "0x10,LDS R1,8,8\n-,LDS R1,8,8\n"})
    EXPECT_THROW((void)read_nsight("f.csv", source_header + wrong), InputError) << wrong;
}

TEST(Nsight, SaysOfWhatThereIsNoCount) {
  EXPECT_EQ(read_nsight("f.csv", source_header + "0x10,LDS R1,8,-\n").no_count, 1U);
  EXPECT_EQ(read_nsight("f.csv", narrow_header + sheet_row("0", executed_ldsm, "8") +
                                     sheet_row("0", wavefronts_ldsm, "n/a"))
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
  EXPECT_EQ(refusal(narrow_header + sheet_row("0", executed_ldsm, "8") + "\"1\"\n"),
            "f.csv:3: the row has 1 fields, its table has 4");
  EXPECT_EQ(refusal(narrow_header + sheet_row("0", executed_ldsm, "1 048 576") +
                    sheet_row("0", wavefronts_ldsm, "4 999 99")),
            "f.csv:3: '4 999 99' is no count");
  EXPECT_EQ(refusal(source_header + "0x10,LDS R1,0,256\n"),
            "f.csv:3: wavefronts of an instruction that did not run");
  EXPECT_EQ(refusal(narrow_header + sheet_row("0", executed_ldsm, "8")),
            "f.csv: no sum has both its wavefronts and its instructions");
  EXPECT_EQ(refusal("ID,Kernel Name," + executed_ldsm + "," + wavefronts_ldsm + "," + wavefronts_ldsm +
                    "\n0,k,8,32,64\n"),
            "f.csv:1: the column '" + wavefronts_ldsm + "' appears twice");
  EXPECT_EQ(refusal("ID,Kernel Name," + executed_ldsm + "," + wavefronts_ldsm + "\n,,Kinst,\n0,k,8,32\n"),
            "f.csv:2: the unit 'Kinst' is no unit of counts");
  EXPECT_EQ(refusal("==PROF== Connected\n" + narrow_header + sheet_row("0", executed_ldsm, "8") +
                    "==WARNING== \"so, so\n" + sheet_row("0", wavefronts_ldsm, "32")),
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
