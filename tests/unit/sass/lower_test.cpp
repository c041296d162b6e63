// The meaning of instructions: each is lowered, executed and evaluated for given numbers.
#include "executed_dump.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace swizproof::sass {
namespace {

/// The dump, its first kernel with functions that it calls outside of it, and all its calls of them calls of the driver.
Module with_externs(Module m, std::vector<std::string> const& externs) {
  m.functions.at(0).facts.externs = externs;
  for (Instruction const& i : m.functions[0].body)
    if (i.opcode.starts_with("CALL.ABS") && !externs.empty())
      m.functions[0].facts.system_calls.push_back(i.pc);
  return m;
}

/// Value of R9 in each lane after these instructions: what the address of `LDS R0, [R9]` is. R0 is the lane's number, tid.x.
execution::Lanes lanes_of_r9(std::string const& lines, unsigned arch,
                             std::vector<std::string> const& externs = {}) {
  std::string const text = sass_kernel("S2R R0, SR_TID.X\n" + lines + "\nLDS R0, [R9]\nEXIT", arch);
  ExecutedDump dump(with_externs(read_module(text, "a.sass"), externs));
  EXPECT_EQ(dump.lowered.program.refused, "");
  EXPECT_EQ(dump.execution.refused, "");
  return dump.warp.value().value(dump.execution.accesses.back().address, 24);
}
std::array<std::uint64_t, 32> r9(std::string const& lines, unsigned arch = 90) {
  execution::Lanes const v = lanes_of_r9(lines, arch);
  EXPECT_TRUE(v.pure()) << lines;
  return v.lane;
}
bool knows_r9(std::string const& lines) { return lanes_of_r9(lines, 90).pure(); }
std::uint64_t r9_of_lane(std::string const& lines, unsigned lane) { return r9(lines)[lane]; }

/// Lines by which ptxas divides R2 by R3: the quotient in R9, the remainder in R16.
std::string const divided =
    "I2F.U32.RP R10, R3\nMUFU.RCP R10, R10\nVIADD R12, R10, 0xffffffe\nF2I.FTZ.U32.TRUNC.NTZ R13, R12\n"
    "IMAD.MOV.U32 R12, RZ, RZ, RZ\nIADD3 R14, -R13, RZ, RZ\nIMAD R14, R14, R3, RZ\n"
    "IMAD.HI.U32 R13, R13, R14, R12\nIMAD.HI.U32 R9, R13, R2, RZ\nIADD3 R15, -R9, RZ, RZ\n"
    "IMAD R16, R15, R3, R2\nISETP.GE.U32.AND P0, PT, R16, R3, PT\n@P0 VIADD R16, R16, -R3\n"
    "@P0 IADD3 R9, R9, 0x1, RZ\nISETP.GE.U32.AND P1, PT, R16, R3, PT\n@P1 VIADD R9, R9, 0x1\n"
    "@P1 IADD3 R16, R16, -R3, RZ";

TEST(SassLower, ProductsOfWarpgroupsWriteHalfOfTheirColumns) {
  auto const behind = [](std::string const& from) {
    return knows_r9("MOV R27, R0\nMOV R28, R0\nHGMMA.64x8x16.F32 R24, gdesc[UR8], R24\nMOV R9, " + from);
  };
  EXPECT_TRUE(behind("R28"));
  EXPECT_FALSE(behind("R27"));
}

TEST(SassLower, DivisionsByAValueThatIsNotKnownAreQuotients) {
  // 1000 + lane by lane + 1
  std::string const numbers = "IADD3 R2, R0, 0x3e8, RZ\nIADD3 R3, R0, 0x1, RZ\n";
  auto const quotients = r9(numbers + divided), rests = r9(numbers + divided + "\nMOV R9, R16");
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(quotients[lane], (1000 + lane) / (lane + 1));
    EXPECT_EQ(rests[lane], (1000 + lane) % (lane + 1));
  }
  // By 0, and with the sign of IABS, whose lines are those of a signed division.
  std::string const by_zero = "IADD3 R2, R0, 0x3e8, RZ\nMOV R3, R0\n";
  EXPECT_EQ(r9_of_lane(by_zero + divided, 0), 2U);
  EXPECT_EQ(r9_of_lane(by_zero + divided + "\nMOV R9, R16", 0), 1000U);
  std::string const fixed = "ISETP.NE.U32.AND P2, PT, R3, RZ, PT\n@!P2 LOP3.LUT R9, RZ, R3, RZ, 0x33, !PT";
  EXPECT_EQ(r9_of_lane(by_zero + divided + "\n" + fixed, 0), 0xffffffU) << "the low 24 bits of ~0";
  EXPECT_EQ(r9_of_lane(by_zero + divided + "\n" + fixed, 7), 1007U / 7);
  // Other code gives no quotient.
  for (auto const& [part, other] :
       {std::pair{"0xffffffe", "0xfffffff"},
        {"IMAD R16, R15, R3, R2", "IMAD R16, R15, R3, R0"},
        {"IMAD.HI.U32 R13, R13, R14, R12", "IMAD.HI.U32 R13, R13, R14, RZ"},
        {"IMAD R14, R14, R3, RZ", "IMAD R14, R14, R2, RZ"},
        {"@P1 VIADD R9, R9, 0x1\n@P1 IADD3 R16, R16, -R3", "@P1 VIADD R9, R9, 0x2\n@P1 IADD3 R16, R16, R3"},
        {"MUFU.RCP R10, R10", "MUFU.RCP R10, |R10|"},
        {"I2F.U32.RP", "I2F.U32"},
        {"ISETP.GE.U32.AND P0", "ISETP.GT.U32.AND P0"}}) {
    std::string wrong = numbers + divided;
    std::size_t const at = wrong.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    wrong.replace(at, std::string(part).size(), other);
    EXPECT_FALSE(knows_r9(wrong)) << other;
    EXPECT_FALSE(knows_r9(wrong + "\nMOV R9, R16")) << other;
  }
}

TEST(SassLower, SignsThatDifferAreThoseOfTwoWords) {
  auto const lanes = [](std::string const& d) {  // its own number where lane - 5 and d have one sign, else 0
    return r9("IADD3 R2, R0, -0x5, RZ\nLDC R3, c[0x0][0x210]\n" + d +
              "\nLOP3.LUT R4, R2, R3, RZ, 0x3c, !PT\nISETP.GE.AND P1, PT, R4, RZ, PT\nSEL R9, R0, RZ, P1");
  };
  auto const positive = lanes("LOP3.LUT R3, R3, 0x7fffffff, RZ, 0xc0, !PT");
  EXPECT_EQ(positive[4], 0U);
  EXPECT_EQ(positive[7], 7U);
  auto const small = lanes("LOP3.LUT R3, R3, 0xff, RZ, 0xc0, !PT\nIADD3 R3, R3, -0x100, RZ");
  EXPECT_EQ(small[4], 4U);
  EXPECT_EQ(small[7], 0U);
}

TEST(SassLower, AVoteOfAllLanesOrNoneIsTheSameInAll) {
  std::string const other = "ISETP.GT.U32.AND P1, PT, R0, 0x3, PT\n",
                    vote = other + "@P0 EXIT\nVOTE.ANY R9, PT, P1";
  std::string const by_launch = "LDC R2, c[0x0][0x210]\nISETP.NE.AND P0, PT, R2, RZ, PT\n",
                    by_lane = "ISETP.NE.AND P0, PT, R0, RZ, PT\n";
  EXPECT_TRUE(lanes_of_r9(by_launch + vote, 90).uniform());
  EXPECT_FALSE(lanes_of_r9(by_lane + vote, 90).uniform()) << "lane 0 alone votes";
  // The value of the first lane for which the vote holds.
  auto const first = [&](std::string const& votes, std::string const& segment) {
    return lanes_of_r9(other + "VOTE.ANY R3, PT, P1\n" + votes + "FLO.U32 R4, R3\nSHFL.IDX PT, R9, R0, R4, " +
                           segment,
                       90)
        .uniform();
  };
  EXPECT_TRUE(first("", "0x1f"));
  EXPECT_FALSE(first("", "0x1c1f")) << "a lane of each segment of four";
  EXPECT_FALSE(first("IADD3 R3, R3, R0, RZ\n", "0x1f")) << "each lane has a number of its own";
}

// @P0 EXIT P1 ends lanes with both, EXIT P1 those with P1: the others go on.
TEST(SassLower, AnExitTakesAPredicate) {
  auto const rest = [](std::string const& exit) {
    ExecutedDump dump(sass_kernel(
        "S2R R0, SR_TID.X\nISETP.LT.AND P0, PT, R0, 0x10, PT\nISETP.GE.AND P1, PT, R0, 0x8, PT\n" + exit +
        "\nLDS R0, [R0]\nEXIT"));
    return dump.warp ? dump.warp->truth(dump.execution.accesses.back().guard).yes : 0U;
  };
  EXPECT_EQ(rest("@P0 EXIT"), 0xffff0000U);
  EXPECT_EQ(rest("@P0 EXIT P1"), 0xffff00ffU);
  EXPECT_EQ(rest("@P0 EXIT !P1"), 0xffffff00U);
  EXPECT_EQ(rest("EXIT P1"), 0xffU);
  EXPECT_EQ(rest("@P0 RET.REL.NODEC R2, P1"), 0U) << "refused";
}

TEST(SassLower, AQuestionForTheSpaceOfAnAddress) {
  std::string const pointer = "LDC.64 R2, c[0x0][0x210]\nQSPC.E.S P0, RZ, [R2+-0x2]\n",
                    answer = "SEL R9, R0, RZ, P0";
  EXPECT_EQ(r9_of_lane(pointer + answer, 7), 0U) << "the kernel makes no generic address of shared memory";
  std::string const makes = "S2R R7, SR_SWINHI\n" + pointer;
  EXPECT_FALSE(knows_r9(makes + answer));
  auto const again = [&](std::string const& query) {
    return knows_r9(makes + query + "\nPLOP3.LUT P0, PT, P0, P1, PT, 0x28, 0x0\n" + answer);
  };
  EXPECT_TRUE(again("QSPC.E.S P1, RZ, [R2+-0x2]")) << "one address, one answer";
  EXPECT_FALSE(again("QSPC.E.S P1, RZ, [R2]"));
  EXPECT_FALSE(again("QSPC.E.G P1, RZ, [R2+-0x2]"));
}

/// The lanes of a warp that surely make the first copy.
std::uint32_t lanes_of_copy(std::string const& lines) {
  ExecutedDump dump(sass_kernel("S2R R0, SR_TID.X\n" + lines + "\nEXIT"));
  return dump.warp.value().truth(dump.execution.operands.at(0).guard).yes;
}

TEST(SassLower, ACopyForAnyLaneHasTheRegistersOfLanesThatWantIt) {
  std::string const third = "ISETP.EQ.AND P0, PT, R0, 0x3, PT\nUMOV UR4, 0x7\n@P0 R2UR UR4, RZ\n",
                    vote = "VOTEU.ANY UP0, P0\n", copy = "@UP0 UTMALDG.2D [UR4], [UR8]";
  EXPECT_EQ(lanes_of_copy(third + vote + copy), 8U);
  EXPECT_EQ(lanes_of_copy(third + vote + "ISETP.EQ.AND P0, PT, R0, RZ, PT\n" + copy), 0U) << "P0 is another";
  EXPECT_EQ(lanes_of_copy(third + vote + "UISETP.EQ.AND UP0, UPT, UR9, URZ, UPT\n" + copy), 0U);
  EXPECT_EQ(lanes_of_copy(third + vote + "BRA `(.L_x_0)\n.L_x_0:\n" + copy), 0U) << "another block";
  EXPECT_EQ(lanes_of_copy(third + "VOTEU.ALL UP0, P0\n" + copy), 0U);
  EXPECT_EQ(lanes_of_copy(third + "VOTEU.ANY UP0, !P0\n" + copy), 0U);
  EXPECT_EQ(lanes_of_copy(third + vote + "@!UP0 UTMALDG.2D [UR4], [UR8]"), 0U);
}

TEST(SassLower, TwoCarriesAreFunctionsOfTheOperands) {
  auto const same = [](std::string const& second, std::string const& which) {
    return knows_r9("LDC R2, c[0x0][0x210]\nIADD3 R3, P0, P1, R2, R0, R2\nIADD3 R4, P2, P3, " + second +
                    "\nPLOP3.LUT P0, PT, P0, " + which + ", PT, 0x28, 0x0\nSEL R9, R0, RZ, P0");
  };
  EXPECT_TRUE(same("R2, R0, R2", "P2"));
  EXPECT_FALSE(same("R2, R0, R2", "P3")) << "which carry has which predicate is not known";
  EXPECT_FALSE(same("R0, R2, R2", "P2"));
}

TEST(SassLower, SumsOfPairsHaveTheirUpperWords) {
  EXPECT_EQ(r9_of_lane("MOV R2, RZ\nMOV R3, R0\nMOV R4, RZ\nMOV R5, 0x7\nIADD3.64 R8, R2, R4, RZ", 3), 10U);
}

TEST(SassLower, TheStackKeepsWordsIfNothingElseWritesR1) {
  std::string const spill = "IADD3 R1, R1, -0x20, RZ\nSTL [R1+0x8], R0\n", back = "LDL R9, [R1+0x8]";
  EXPECT_EQ(r9_of_lane(spill + back, 7), 7U);
  EXPECT_EQ(r9_of_lane(spill + "STS.128 [R0+0x80], RZ\n" + back, 7), 7U) << "R0 is the address, and no pair";
  EXPECT_EQ(r9_of_lane(spill + "MOV R2, R0\nMOV R3, R0\nSTL.64 [R1+0x10], R2\n" + back, 7), 7U);
  EXPECT_FALSE(knows_r9(spill + "CS2R R0, SRZ\n" + back)) << "R1 is written";
  EXPECT_FALSE(knows_r9(spill + "F2I.U64.TRUNC R0, R4\n" + back)) << "R0 and R1 are its result";
  EXPECT_FALSE(knows_r9(spill + "HMMA.16816.F32 R0, R4, R8, R4\n" + back)) << "R0 to R3 are";
  EXPECT_FALSE(knows_r9(spill + "XFOO R0, R4\n" + back)) << "an instruction that is not known";
  EXPECT_FALSE(knows_r9("MOV R5, RZ\n.L_x_0:\n" + spill +
                        "ISETP.EQ.AND P0, PT, R0, R5, PT\n@P0 BRA `(.L_x_0)\n" + back))
      << "R1 is set in a loop";
  EXPECT_FALSE(knows_r9(spill + "ISETP.EQ.AND P0, PT, R0, RZ, PT\n@P0 BRA 0x0\n" + back))
      << "the kernel begins again";
  EXPECT_FALSE(
      knows_r9("ISETP.EQ.AND P0, PT, R0, RZ, PT\n@P0 BRA `(.L_x_0)\nIADD3 R1, R1, -0x20, RZ\n.L_x_0:\n"
               "STL [R1+0x8], R0\n" +
               back))
      << "R1 is set behind a jump";
  EXPECT_FALSE(
      knows_r9("BRA `(.L_x_0)\n.L_x_1:\nIADD3 R1, R1, -0x20, RZ\nBRA `(.L_x_2)\n.L_x_0:\nSTL [R1+0x8], R0\n"
               "BRA `(.L_x_1)\n.L_x_2:\n" +
               back))
      << "R1 is set behind the store";
  EXPECT_FALSE(knows_r9(spill + "STG.E [R0.64], R2\n" + back)) << "R1 is read";
  EXPECT_FALSE(knows_r9(spill + "STL [R0], R2\n" + back)) << "any word may be written";
}

TEST(SassLower, Integers) {
  EXPECT_EQ(r9_of_lane("IADD3 R9, R0, 0x10, -R0", 5), 16U);
  EXPECT_EQ(r9_of_lane("IMAD R9, R0, 0x24, R0", 3), 111U);
  EXPECT_EQ(r9_of_lane("LEA R9, R0, 0x7, 0x3", 4), 39U);
  EXPECT_EQ(r9_of_lane("IMAD.SHL.U32 R1, R0, 0x40, RZ\nLEA.HI R9, R1, R0, RZ, 0x1d", 9), 81U)
      << "(9 * 64 >> 3) + 9";
  EXPECT_EQ(
      r9_of_lane(
          "IADD3 R1, R0, -0x10, RZ\nLEA.HI.SX32 R1, R1, R0, 0x1e\nLOP3.LUT R9, R1, 0xff, RZ, 0xc0, !PT", 3),
      255U)
      << "(-13 >> 2) + 3 = -1";
  EXPECT_EQ(r9_of_lane("SHF.R.U32.HI R9, RZ, 0x2, R0", 13), 3U);
  EXPECT_EQ(
      r9_of_lane("IADD3 R1, -R0, RZ, RZ\nSHF.R.S32.HI R1, RZ, 0x1f, R1\nLOP3.LUT R9, R1, 0xf0, RZ, 0xc0, !PT",
                 1),
      240U);
  EXPECT_EQ(r9_of_lane("SHF.L.U64.HI R9, R0, 0x1e, R0", 12), 3U)
      << "upper word of {12, 12} << 30, modulo 2^24";
  EXPECT_EQ(r9_of_lane("LOP3.LUT R9, R0, 0xc, 0x3, 0x6a, !PT", 13), 15U) << "(13 & 12) ^ 3";
  EXPECT_EQ(r9_of_lane("LOP3.LUT R9, R0, 0xc, 0x7, 0xf8, !PT", 2), 6U) << "2 | (12 & 7)";
  EXPECT_EQ(r9_of_lane("LOP3.LUT R9, R0, 0x6, 0x3, 0x96, !PT", 13), 8U) << "13 ^ 6 ^ 3";
  EXPECT_EQ(r9_of_lane("LOP3.LUT R9, R0, 0x6, 0x3, 0xe8, !PT", 13), 7U) << "majority of 13, 6, 3";
  EXPECT_EQ(r9_of_lane("PRMT R9, R0, 0x4012, RZ", 13), 0xd0000U) << "bytes 2, 1, 0 of R0, 0";
  EXPECT_EQ(r9_of_lane("VIMNMX R9, R0, 0x8, PT", 13), 8U);
  EXPECT_EQ(r9_of_lane("VIMNMX R9, R0, 0x8, !PT", 13), 13U);
  EXPECT_EQ(r9_of_lane("VIADDMNMX R9, R0, 0x2, RZ, !PT", 13), 15U);
  EXPECT_EQ(r9_of_lane("IADD3 R1, R0, -0x10, RZ\nIABS R9, R1", 3), 13U);
  EXPECT_EQ(r9_of_lane("BMSK R9, R0, 0x3", 4), 0x70U);
  EXPECT_EQ(r9_of_lane("POPC R9, R0", 13), 3U);
  EXPECT_EQ(r9_of_lane("BREV R1, R0\nSHF.R.U32.HI R9, RZ, 0x1b, R1", 1), 16U);
  EXPECT_EQ(r9_of_lane("SGXT R1, R0, 0x4\nLOP3.LUT R9, R1, 0xff, RZ, 0xc0, !PT", 9), 0xf9U);
  EXPECT_EQ(r9_of_lane("HFMA2.MMA R9, -RZ, RZ, 0, 5.9604644775390625e-08", 9), 1U);
  EXPECT_EQ(r9_of_lane("HFMA2.MMA R1, -RZ, RZ, 1.875, 0\nSHF.R.U32.HI R9, RZ, 0x10, R1", 9), 0x3f80U);
}

TEST(SassLower, WideProductsAndCarries) {
  EXPECT_EQ(r9_of_lane("IADD3 R1, R0, -0x1, RZ\nIMAD.WIDE.U32 R2, R1, 0x2, RZ\nMOV R9, R3", 0), 1U)
      << "2 (2^32 - 1) >> 32";
  EXPECT_EQ(
      r9_of_lane(
          "IMAD.MOV.U32 R2, RZ, RZ, RZ\nIMAD.MOV.U32 R3, RZ, RZ, R0\nIMAD.HI.U32 R9, R0, 0x40000000, R2", 8),
      10U)
      << "(8 * 2^30 >> 32) + 8";
  EXPECT_EQ(r9_of_lane("IADD3 R1, P0, R0, -0x2, RZ\nIADD3.X R9, RZ, 0x10, RZ, P0, !PT", 1), 16U)
      << "1 - 2 has no carry";
  EXPECT_EQ(r9_of_lane("IADD3 R1, P0, R0, -0x2, RZ\nIADD3.X R9, RZ, 0x10, RZ, P0, !PT", 2), 17U);
  EXPECT_EQ(r9_of_lane("IADD3 R1, P0, RZ, -R0, RZ\nIMAD.X R9, RZ, RZ, 0x3, P0", 0), 4U)
      << "0 - 0 = 0 + ~0 + 1 has one";
  EXPECT_EQ(r9_of_lane("IADD3 R1, P0, RZ, -R0, RZ\nIMAD.X R9, RZ, RZ, 0x3, P0", 1), 3U);
  EXPECT_EQ(r9_of_lane("LEA R1, P0, R0, -0x10, 0x4\nLEA.HI.X R9, R0, 0x7, RZ, 0x4, P0", 1), 8U);
}

TEST(SassLower, Predicates) {
  EXPECT_EQ(r9_of_lane("ISETP.GE.U32.AND P0, P1, R0, 0x8, PT\nSEL R9, 0x1, 0x2, P0", 8), 1U);
  EXPECT_EQ(r9_of_lane("ISETP.GE.U32.AND P0, P1, R0, 0x8, PT\nSEL R9, 0x1, 0x2, P1", 7), 1U);
  EXPECT_EQ(r9_of_lane("ISETP.LT.U32.AND P0, PT, R0, 0x8, PT\nISETP.LT.AND.EX P0, PT, R0, R0, PT, P0\nSEL "
                       "R9, 0x1, 0x2, P0",
                       7),
            1U)
      << "equal upper words: what the lower ones gave";
  EXPECT_EQ(r9_of_lane("ISETP.NE.AND P0, PT, R0, 0x3, PT\nISETP.NE.AND P1, PT, R0, 0x4, PT\nPLOP3.LUT P0, "
                       "P1, P1, P0, PT, 0xf0, 0xcc\n"
                       "SEL R9, 0x1, 0x2, P0",
                       4),
            2U)
      << "P0 takes P1's value";
  EXPECT_EQ(r9_of_lane("ISETP.NE.AND P0, PT, R0, 0x3, PT\nISETP.NE.AND P1, PT, R0, 0x4, PT\nPLOP3.LUT P0, "
                       "P1, P1, P0, PT, 0xf0, 0xcc\n"
                       "SEL R9, 0x1, 0x2, P1",
                       3),
            2U)
      << "and P1 what P0 was before";
  EXPECT_EQ(r9_of_lane("ISETP.EQ.AND P2, PT, R0, 0x3, PT\nP2R R9, PR, RZ, 0x4", 3), 4U);
  EXPECT_EQ(r9_of_lane("R2P PR, R0, 0x2\nSEL R9, 0x1, 0x2, P1", 2), 1U);
  EXPECT_EQ(r9_of_lane("LOP3.LUT P0, RZ, R0, 0x4, RZ, 0xc0, !PT\nSEL R9, 0x1, 0x2, P0", 4), 1U);
  EXPECT_EQ(r9_of_lane("MOV R9, 0x5\nISETP.EQ.AND P0, PT, R0, RZ, PT\n@P0 MOV R9, R0\n@!PT MOV R9, 0x77", 0),
            0U);
}

TEST(SassLower, ComparisonsOfPairsHaveTheirUpperWords) {
  // R4 is 2^32 times 1, R6 is 1.
  auto const is = [](std::string const& comparison) {
    return r9_of_lane(
               "MOV R4, RZ\nMOV R5, 0x1\nMOV R6, 0x1\nMOV R7, RZ\nUMOV UR4, URZ\nUMOV UR5, 0x1\n"
               "UMOV UR6, 0x1\nUMOV UR7, URZ\n" +
                   comparison + "\nMOV R3, 0x4\nSEL R9, R3, RZ, P0",
               1) == 4;
  };
  EXPECT_TRUE(is("ISETP.GE.U64.AND P0, PT, R4, R6, PT"));
  EXPECT_FALSE(is("ISETP.LT.S64.AND P0, PT, R4, R6, PT"));
  EXPECT_TRUE(is("ISETP.NE.S64.AND P0, PT, R4, RZ, PT"));
  EXPECT_FALSE(is("ISETP.EQ.U64.AND P0, PT, R4, RZ, PT"));
  EXPECT_TRUE(is("MOV R7, 0x80000000\nISETP.GT.S64.AND P0, PT, R4, R6, PT"));
  EXPECT_FALSE(is("MOV R7, 0x80000000\nISETP.GT.U64.AND P0, PT, R4, R6, PT"));
  EXPECT_TRUE(is("ISETP.GT.U64.AND P0, PT, R4, 0x7, PT"));
  EXPECT_TRUE(is("UISETP.GE.U64.AND UP0, UPT, UR4, UR6, UPT\nPLOP3.LUT P0, PT, PT, PT, UP0, 0xaa, 0x0"));
  std::string const pair = "MOV R4, RZ\nMOV R5, 0x1\n", use = "\nSEL R9, R0, RZ, P0";
  EXPECT_FALSE(knows_r9(pair + "ISETP.GT.S64.AND P0, PT, R4, -0x1, PT" + use)) << "its upper word";
  EXPECT_FALSE(knows_r9(pair + "ISETP.GT.U64.AND.EX P0, PT, R4, R4, PT, P1" + use));
}

TEST(SassLower, ASuffixThatIsNotKnownIsNotModelled) {
  std::string const before =
      "MOV R4, 0x4\nMOV R5, RZ\nMOV R6, 0x8\nMOV R7, RZ\nMOV R9, 0x4\nUMOV UR9, 0x4\nISETP.EQ.AND P0, PT, "
      "R4, R4, PT\n";
  for (std::string const line :
       {"IADD3.FOO R9, R4, R6, RZ", "LOP3.LUT.FOO R9, R4, R6, RZ, 0xc0, !PT", "SHF.L.64 R9, R4, 0x1, R5",
        "LEA.64 R9, R4, R6, 0x2", "LOP3.LUT.64 R9, R4, R6, RZ, 0xc0, !PT", "IMAD.WIDE.64 R8, R4, R6, RZ",
        "POPC.INV R9, R4", "VIADD.16x2 R9, R4, R6", "VIADD.U8x4 R9, R4, R6", "MOV.FOO R9, R4",
        "SGXT.FOO R9, R4, 0x2", "BMSK.FOO R9, R4, R6", "BREV.FOO R9, R4", "S2R.FOO R9, SR_TID.X",
        "LDC.IS R9, c[0x0][R4]", "VOTE.FOO R9, PT, P1", "SHFL.FOO PT, R9, R4, 0x0, 0x1f", "LDL.FOO R9, [R1]"})
    EXPECT_FALSE(knows_r9(before + line)) << line;
  for (std::string const line : {"PLOP3.LUT.FOO P0, PT, P1, PT, PT, 0x8, 0x0",
                                 "ISETP.GT.U16 P0, PT, R4, R6, PT", "ISETP.GT.AND.FOO P0, PT, R4, R6, PT"})
    EXPECT_FALSE(knows_r9(before + line + "\nSEL R9, R4, RZ, P0")) << line;
  EXPECT_FALSE(knows_r9(before + "IADD3.64 R2, P0, R4, R6, RZ\nSEL R9, R4, RZ, P0")) << "a carry of pairs";
  EXPECT_FALSE(knows_r9(before + "UIADD3.FOO UR9, UR9, UR9, URZ\nMOV R9, UR9"));
  EXPECT_FALSE(knows_r9(before + "LOP3.LUT.64 R8, R4, R6, RZ, 0xc0, !PT")) << "two registers";
  EXPECT_TRUE(knows_r9(before + "ISETP.GT.FOO.AND P0, PT, R8, R6, PT")) << "its sources stay";
  EXPECT_FALSE(knows_r9("MOV R1, c[0x0][0x28]\nMOV R4, 0x4\nSTL [R1], R4\nSTL.FOO [R1], R4\nLDL R9, [R1]"));
  for (std::string const line :
       {"LDS.FOO R9, [R0]", "LDS.TRANS R9, [R0]", "STS.FOO [R0], R4", "ATOMS.FOO R9, [R0], R4",
        "LDSM.16.M88.FOO R9, [R0]", "LDGSTS.E.FOO [R0], desc[UR4][R2.64]", "LD.E.FOO R9, [R2.64]",
        "ST.E.FOO [R2.64], R4"}) {
    Module const m = read_module(sass_kernel("S2R R0, SR_TID.X\n" + line + "\nEXIT"), "a.sass");
    EXPECT_EQ(lower(m, m.functions.at(0)).program.accesses.back().reason, "a suffix is not modelled") << line;
  }
  for (std::string const line :
       {"LDG.E.128.CONSTANT R12, desc[UR4][R2.64]", "LDG.E.LTC128B.EF.STRONG.GPU R12, desc[UR4][R2.64]",
        "LD.E.U8.STRONG.SYS R12, [R2.64]", "STS.U.128 [R0], R4",
        "LDGSTS.E.BYPASS.LTC128B.128.ZFILL [R0], desc[UR4][R2.64]"}) {
    Module const m = read_module(sass_kernel("S2R R0, SR_TID.X\n" + line + "\nLDS R0, [R0]\nEXIT"), "a.sass");
    for (program::MemoryAccess const& a : lower(m, m.functions.at(0)).program.accesses)
      EXPECT_EQ(a.reason, "") << line;
  }
}

TEST(SassLower, ABulkCopyNamesWhatItReadsLast) {
  using Role = program::OperandRole;
  // Each operand, and the uniform register that it is in.
  auto const operands = [](std::string const& line) {
    Module const m = read_module(sass_kernel(line + "\nEXIT"), "a.sass");
    std::map<Role, std::string> found;
    program::Program const p = lower(m, m.functions.at(0)).program;
    for (program::SharedOperand const& o : p.operands)
      found[o.role] = o.at.address.value < p.registers.size() ? p.registers[o.at.address.value] : "any";
    return found;
  };
  using Found = std::map<Role, std::string>;
  EXPECT_EQ(operands("UBLKCP.S.G [UR4], [UR6], UR8"),
            (Found{{Role::destination, "UR4"}, {Role::barrier, "UR5"}}));
  EXPECT_EQ(operands("UBLKCP.S.G.MULTICAST [UR4], [UR6], UR8, UR9"),
            (Found{{Role::destination, "UR4"}, {Role::barrier, "UR5"}}));
  EXPECT_EQ(operands("UBLKCP.S.S [UR4], [UR6], UR8"),
            (Found{{Role::destination, "UR4"}, {Role::barrier, "UR5"}}));
  EXPECT_EQ(operands("UBLKCP.G.S [UR6], [UR4], UR8"), (Found{{Role::source, "UR4"}}));
  EXPECT_EQ(operands("UBLKRED.G.S.ADD [UR6], [UR4], UR8"), (Found{{Role::source, "UR4"}}));
  EXPECT_EQ(operands("UBLKRED.ADD.G.S [UR6], [UR4], UR8"), (Found{{Role::source, "UR4"}}));
}

TEST(SassLower, TheLaunchsShapeLiesWhereTheArchitectureHasIt) {
  using program::Special;
  auto const word = [](unsigned arch, std::string const& offset) -> std::optional<Special> {
    Module const m = read_module(sass_kernel("MOV R9, c[0x0][" + offset + "]\nEXIT", arch), "a.sass");
    program::Program const p = lower(m, m.functions.at(0)).program;
    for (program::Step const& s : p.steps)
      if (s.action == program::Action::special && s.extra <= static_cast<std::uint32_t>(Special::nctaid_z))
        return static_cast<Special>(s.extra);
    return std::nullopt;
  };
  for (unsigned const arch : {80U, 90U}) {
    EXPECT_EQ(word(arch, "0x8"), Special::ntid_z);
    EXPECT_EQ(word(arch, "0xc"), Special::nctaid_x);
    EXPECT_EQ(word(arch, "0x14"), Special::nctaid_z);
  }
  for (unsigned const arch : {100U, 120U}) {
    EXPECT_EQ(word(arch, "0x360"), Special::ntid_x);
    EXPECT_EQ(word(arch, "0x368"), Special::ntid_z);
    EXPECT_EQ(word(arch, "0x36c"), std::nullopt);
    EXPECT_EQ(word(arch, "0x370"), Special::nctaid_x);
    EXPECT_EQ(word(arch, "0x374"), Special::nctaid_y);
    EXPECT_EQ(word(arch, "0x378"), Special::nctaid_z);
  }
}

TEST(SassLower, AUniformRegisterHasNoNumberOfEachLane) {
  EXPECT_TRUE(knows_r9("S2UR UR4, SR_CgaCtaId\nLOP3.LUT R9, R0, UR4, RZ, 0xf0, !PT"));
  for (std::string const lane : {"SR_TID.X", "SR_TID.Y", "SR_LANEID", "SR_LTMASK"})
    EXPECT_FALSE(knows_r9("S2UR UR4, " + lane + "\nMOV R9, UR4")) << lane;
}

TEST(SassLower, ABranchForAnyLaneTakesTheOthers) {
  std::string const by = "MOV R9, 0x8\nISETP.EQ.AND P0, PT, R0, 0x3, PT\n@P0 BRA",
                    to = " `(.L_x_1)\nMOV R9, 0x4\n.L_x_1:\nSEL R9, RZ, R9, P0";
  EXPECT_TRUE(knows_r9(by + to));
  EXPECT_FALSE(knows_r9(by + ".U.ANY" + to)) << "lane 3 takes all lanes";
}

TEST(SassLower, CallsReturnToTheAddressThatAMoveGives) {
  EXPECT_EQ(r9_of_lane("MOV R4, 0x30\nCALL.REL.NOINC `(.L_f)\nIADD3 R9, R9, 0x1, RZ\nBRA "
                       "`(.L_end)\n.L_f:\nIMAD.SHL.U32 R9, R0, 0x2, "
                       "RZ\nRET.REL.NODEC R4 `(k)\n.L_end:\nNOP",
                       5),
            11U);
}

TEST(SassLower, AnInstructionThatIsNotKnownLosesWhatItMayWrite) {
  ExecutedDump dump(
      "\t.target\tsm_90\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n        .other          "
      "k,@\"STO_CUDA_ENTRY "
      "STV_DEFAULT\"\nk:\n        /*0000*/ S2R R9, SR_TID.X ;\n        /*0010*/ NEVERSEEN R4, R2 ;\n"
      "        /*0020*/ LDS R0, [R9] ;\n        /*0030*/ EXIT ;\n");
  EXPECT_EQ(dump.warp.value().value(dump.execution.accesses.back().address, 24).state,
            execution::Lanes::State::varying);
}

// On sm_90 each of these results was measured (gpu/evidence/h100-sass.json), on others none.
TEST(SassLower, NamesTheFormsThatWereNotMeasured) {
  auto const assumed = [](std::string const& target, std::string const& shift) {
    Module const m = read_module(
        "\t.target\t" + target +
            "\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n        .other          k,@\"STO_CUDA_ENTRY "
            "STV_DEFAULT\"\nk:\n        /*0000*/ S2R R9, SR_TID.X ;\n        /*0010*/ IMAD R1, R9, R9, R9 ;\n"
            "        /*0020*/ " +
            shift + " ;\n        /*0030*/ LDS R0, [R2] ;\n        /*0040*/ EXIT ;\n",
        "a.sass");
    return lower(m, m.functions.at(0)).assumed;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(assumed("sm_80", "LEA R2, R9, 0x400, 0x2"), (Names{"LDS", "LEA", "S2R"}))
      << "no address depends on the IMAD";
  EXPECT_EQ(assumed("sm_90a", "LEA R2, R9, 0x400, 0x2"), Names{});
  EXPECT_EQ(assumed("sm_90a", "BMSK R2, R9, 0x2"), Names{});
  EXPECT_EQ(assumed("sm_90a", "SHF.L.S32 R2, R9, 0x2, RZ"), Names{"SHF.L"}) << "no record has this one";
  EXPECT_EQ(assumed("sm_90a", "MOV.64 R2, R8"), Names{"MOV"});
  EXPECT_EQ(assumed("sm_90a", "IADD3.64 R2, R8, 0xfe, RZ"), Names{"IADD3.64"});
}

/// A kernel of three parameters at 0x210, 0x214 and 0x218: 2, 1 and 16 bytes.
Lowered with_parameters(std::string const& line, unsigned arch = 90) {
  Module m = read_module("\t.target\tsm_" + std::to_string(arch) +
                             "\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n        .other          "
                             "k,@\"STO_CUDA_ENTRY "
                             "STV_DEFAULT\"\nk:\n        /*0000*/ " +
                             line + " ;\n        /*0010*/ LDS R0, [R9] ;\n        /*0020*/ EXIT ;\n",
                         "a.sass");
  LaunchFacts& facts = m.functions.at(0).facts;
  facts.known = facts.listed = true;
  facts.parameters = {{0, 0, 2}, {1, 4, 1}, {2, 8, 16}};
  facts.parameter_base = 0x210;
  return lower(m, m.functions.at(0));
}

TEST(SassLower, AKernelThatMakesNoGenericAddressIsKnown) {
  auto const makes = [](std::string const& line) { return with_parameters(line).program.makes_generic; };
  EXPECT_FALSE(makes("LDC R9, c[0x0][R2+0x210]"));
  EXPECT_FALSE(makes("MOV R9, c[0x0][0x18]")) << "the window's word before sm_90";
  EXPECT_TRUE(makes("S2R R9, SR_SWINHI"));
  EXPECT_TRUE(makes("S2UR UR9, SR_SWINHI"));
  EXPECT_TRUE(makes("LDC R9, c[0x0][R2]")) << "it may be any word of the bank";
  EXPECT_TRUE(makes("CALL.ABS.NOINC R2"));
  EXPECT_TRUE(with_parameters("IMAD.WIDE R2, R2, R3, c[0x0][0x18]", 80).program.makes_generic);
  EXPECT_TRUE(with_parameters("MOV R9, c[0x0][0x1c]", 80).program.makes_generic);
  EXPECT_FALSE(with_parameters("MOV R9, c[0x0][0x164]", 80).program.makes_generic);
}

TEST(SassLower, ConversionsWriteAsManyWordsAsTheirResultHas) {
  for (std::string const write :
       {"F2F.F32.F64 R8, |R2|", "F2F.F16.F64 R8, R2", "F2F.BF16.F32 R8, R2", "I2F.S64 R8, R2",
        "I2F.U64.RP R8, R2", "F2I.F64.TRUNC R8, R2", "F2I.S8.F64 R8, R2", "SHF.R.U64 R8, R2, R4, R3"})
    EXPECT_EQ(r9_of_lane("IMAD.SHL.U32 R9, R0, 0x4, RZ\n" + write, 5), 20U) << write;
  for (std::string const write : {"F2F.F64.F32 R8, R2", "I2F.F64 R8, R2", "I2F.F64.S64 R8, R2",
                                  "F2I.S64.F64.TRUNC R8, R2", "FRND.F64 R8, R2"})
    EXPECT_FALSE(knows_r9("IMAD.SHL.U32 R9, R0, 0x4, RZ\n" + write)) << write;
}

TEST(SassLower, EachRegisterOfAResultIsLost) {
  for (auto const& [line, lost] : std::map<std::string, std::vector<std::string>>{
           {"UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR44, UR44", {"UR44"}},
           {"UTCATOMSWS.2CTA.FIND_AND_SET.ALIGN UP0, UR44, UR44", {"UR44"}},
           {"ATOM.E.CAS.128 PT, R44, [R2.64], R4, R8", {"R44", "R47"}},
           {"ATOM.E.MIN.S64 PT, R44, [R2.64], R4", {"R44", "R45"}},
           {"ATOM.E.EXCH.128 PT, R44, desc[UR4][R2.64], R4", {"R44", "R47"}},
           {"ATOMG.E.EXCH.128 PT, R44, desc[UR4][R2.64], R4", {"R44", "R47"}},
           {"LDG.E.ENL2.256 R56, R44, desc[UR4][R2.64]", {"R44", "R47", "R56", "R59"}},
           {"LD.E.EFL2.256 R56, R44, [R2.64]", {"R44", "R47", "R56", "R59"}}})
    for (std::string const& r : lost) {
      bool const uniform = r[0] == 'U';
      std::string const set = uniform ? "UMOV " + r + ", 0x4\n" : "MOV " + r + ", 0x4\n";
      EXPECT_TRUE(knows_r9(set + "MOV R9, " + r)) << r;
      EXPECT_FALSE(knows_r9(set + line + "\nMOV R9, " + r)) << line << ": " << r;
    }
  std::string const p = "UISETP.EQ.AND UP0, UPT, URZ, URZ, UPT\n",
                    use = "\nUSEL UR9, UR4, URZ, UP0\nMOV R9, UR9";
  EXPECT_FALSE(knows_r9(p + "UMOV UR4, 0x4\nUTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR5, UR5" + use));
  EXPECT_TRUE(knows_r9("MOV R60, R0\nLDG.E.ENL2.256 R56, R44, desc[UR4][R2.64]\nMOV R9, R60"));
}

TEST(SassLower, PredicatesKeptInBitsOfARegister) {
  std::string const set =
      "ISETP.GT.U32.AND P5, PT, R0, 0x6, PT\nISETP.LT.U32.AND P4, PT, R0, 0x3, PT\n"
      "LOP3.LUT R5, R5, 0x7fffffff, RZ, 0xc0, !PT\n@P5 LOP3.LUT R5, R5, 0x80000000, RZ, 0xfc, !PT\n"
      "LOP3.LUT R5, R5, 0xfffffffb, RZ, 0xc0, !PT\n@P4 LOP3.LUT R5, R5, 0x4, RZ, 0xfc, !PT\n";
  for (unsigned const lane : {0U, 2U, 3U, 6U, 7U, 31U}) {
    EXPECT_EQ(r9_of_lane(set + "LOP3.LUT P0, RZ, R5, 0x80000000, RZ, 0xc0, !PT\nSEL R9, R0, RZ, P0", lane),
              lane > 6 ? lane : 0U);
    EXPECT_EQ(r9_of_lane(set + "LOP3.LUT P0, RZ, R5, 0x4, RZ, 0xc0, !PT\nSEL R9, R0, 0x40, P0", lane),
              lane < 3 ? lane : 64U);
    EXPECT_EQ(r9_of_lane(set + "P2R R6, PR, R6, 0x30\nISETP.EQ.U32.AND P5, PT, R0, R0, PT\nR2P PR, R6, "
                               "0x20\nSEL R9, R0, 0x80, P5",
                         lane),
              lane > 6 ? lane : 128U);
  }
  // A bit that was never written is not known, nor is one behind another write.
  EXPECT_FALSE(
      knows_r9("@P4 LOP3.LUT R5, R5, 0x2, RZ, 0xfc, !PT\nLOP3.LUT P0, RZ, R5, 0x8, RZ, 0xc0, !PT\nSEL R9, "
               "R0, RZ, P0"));
  EXPECT_FALSE(knows_r9(
      set + "LDG.E R5, desc[UR4][R2.64]\nLOP3.LUT P0, RZ, R5, 0x4, RZ, 0xc0, !PT\nSEL R9, R0, RZ, P0"));
  EXPECT_EQ(
      r9_of_lane(
          set + "IMAD.SHL.U32 R5, R0, 0x4, RZ\nLOP3.LUT P0, RZ, R5, 0x4, RZ, 0xc0, !PT\nSEL R9, R0, 0x40, P0",
          3),
      3U);
  EXPECT_EQ(
      r9_of_lane(
          set + "IMAD.SHL.U32 R5, R0, 0x4, RZ\nLOP3.LUT P0, RZ, R5, 0x4, RZ, 0xc0, !PT\nSEL R9, R0, 0x40, P0",
          2),
      64U);
}

TEST(SassLower, AGuardIsReadBeforeTheInstructionWritesIt) {
  std::string const start =
      "ISETP.LT.U32.AND P0, PT, R0, 0xd, PT\nISETP.NE.AND P1, PT, RZ, RZ, PT\nIMAD.SHL.U32 R9, R0, 0x4, RZ\n"
      "IMAD.SHL.U32 R21, R0, 0x80, RZ\nMOV R5, 0x2\n";
  EXPECT_EQ(r9_of_lane(start + "@P0 IADD3 R9, P0, R21, 0x4, RZ", 5), 644U);
  EXPECT_EQ(r9_of_lane(start + "@P0 IADD3 R9, P0, R21, 0x4, RZ", 13), 52U);
  EXPECT_EQ(r9_of_lane(start + "@P0 LOP3.LUT P0, R9, R21, 0x80, RZ, 0xc0, !PT", 4), 0U);
  for (std::string const write : {"@P0 R2P PR, R5, 0x3", "@P0 ISETP.GE.U32.AND P0, P1, R0, 0x20, PT"}) {
    EXPECT_EQ(r9_of_lane(start + write + "\nSEL R9, R21, RZ, P1", 12), 12U * 128) << write;
    EXPECT_EQ(r9_of_lane(start + write + "\nSEL R9, R21, RZ, P1", 13), 0U) << write;
  }
}

TEST(SassLower, AWarpHasOneSetOfUniformRegisters) {
  EXPECT_TRUE(knows_r9("UMOV UR4, 0x4\nMOV R9, UR4"));
  EXPECT_FALSE(
      knows_r9("ISETP.LT.U32.AND P0, PT, R0, 0xd, PT\nUMOV UR4, 0x4\nMOV R17, R0\n@P0 CALL.ABS.NOINC R4\n"
               "ISETP.LT.U32.AND P1, PT, R17, 0xd, PT\nMOV R9, UR4\nSEL R9, RZ, R9, P1"))
      << "also in lanes that do not call";
}

TEST(SassLower, FunctionsOutsideOfTheDumpKeepSomeRegisters) {
  for (std::string const r : {"R2", "R16", "R31", "R36", "R47"})
    EXPECT_EQ(r9_of_lane("MOV " + r + ", R0\nCALL.ABS.NOINC R4\nMOV R9, " + r, 5), 5U) << r;
  Module const m = read_module(
      "\t.target\tsm_90\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n        .other          "
      "k,@\"STO_CUDA_ENTRY STV_DEFAULT\"\nk:\n        /*0000*/ S2R R2, SR_TID.X ;\n        /*0010*/ "
      "CALL.ABS.NOINC R4 ;\n"
      "        /*0020*/ LDS R0, [R2] ;\n        /*0030*/ EXIT ;\n",
      "a.sass");
  EXPECT_EQ(lower(m, m.functions.at(0)).assumed, std::vector<std::string>{"CALL.ABS"}) << "that R2 is kept";
  for (std::string const r : {"R3", "R15", "R20", "R21", "R32", "R40"})
    EXPECT_FALSE(knows_r9("MOV " + r + ", R0\nCALL.ABS.NOINC R4\nMOV R9, " + r)) << r;
}

TEST(SassLower, AllLanesOfAWarpMeetAtABarrier) {
  auto const meets = [](std::string const& line) {
    Module const m = read_module(
        sass_kernel("S2R R0, SR_TID.X\nATOMS.EXCH R3, [R0], R0\n" + line + "\nLDS R0, [R0]\nEXIT"), "a.sass");
    auto const events = lower(m, m.functions.at(0)).program.events;
    return std::any_of(events.begin(), events.end(), std::mem_fn(&program::Event::meets));
  };
  EXPECT_TRUE(meets("BAR.SYNC.DEFER_BLOCKING 0x0"));
  EXPECT_TRUE(meets("WARPSYNC.ALL"));
  for (char const* other :
       {"BAR.ARV 0x0, 0x40", "WARPSYNC R0", "BSYNC B0", "@P0 BAR.SYNC.DEFER_BLOCKING 0x0"})
    EXPECT_FALSE(meets(other)) << other;
}

TEST(SassLower, AFailedAssertionDoesNotReturn) {
  std::string const failed =
      "ISETP.LT.U32.AND P0, PT, R0, 0xd, PT\nUMOV UR4, 0x4\nMOV R40, R0\n@P0 CALL.ABS.NOINC R4\nIMAD R9, "
      "R40, UR4, RZ";
  auto const is_known = [&](std::vector<std::string> const& externs) {
    return lanes_of_r9(failed, 90, externs).pure();
  };
  EXPECT_TRUE(is_known({"__assertfail"}));
  EXPECT_FALSE(is_known({"vprintf"}));
  EXPECT_FALSE(is_known({"__assertfail", "vprintf"})) << "which of them is called";
  EXPECT_FALSE(is_known({}));
  auto const lowered = [&](std::vector<std::string> const& externs) {
    Module const m =
        with_externs(read_module(sass_kernel(failed + "\nLDS R0, [R9]\nEXIT"), "a.sass"), externs);
    return lower(m, m.functions.at(0));
  };
  EXPECT_EQ(lowered({"__assertfail"}).assumed.at(0), "CALL.ABS of __assertfail");
  EXPECT_FALSE(lowered({"vprintf", "__assertfail"}).program.makes_generic);
  EXPECT_TRUE(lowered({"vprintf", "of_another_cubin"}).program.makes_generic);
}

TEST(SassLower, ParametersAreThoseOfTheDump) {
  Lowered const l = with_parameters("MOV R9, c[0x0][0x21c]");
  ASSERT_EQ(l.head.params.size(), 4U);
  EXPECT_EQ(l.head.params[0].name, "c[0x0][0x210]");
  EXPECT_EQ(l.head.params[1].bytes, 1U);
  EXPECT_EQ(l.head.params[2].name, "c[0x0][0x218..0x227]");
  EXPECT_TRUE(l.head.params[2].array);
  EXPECT_EQ(l.head.params[3].name, "c[0x0][0x21c]");
  EXPECT_TRUE(l.head.params[3].part) << "a word of the structure has no number";
  EXPECT_EQ(l.program.params, 4U);
}

TEST(SassLower, AWordOfTwoParametersHasTheBytesOfBoth) {
  // 0x210 and 0x211 are the first parameter, 0x214 the second; the rest is padding.
  for (auto const& [line, loads] : std::map<std::string, std::size_t>{
           {"MOV R9, c[0x0][0x210]", 1}, {"MOV R9, c[0x0][0x214]", 1}, {"MOV R9, c[0x0][0x21c]", 1}}) {
    Lowered const l = with_parameters(line);
    std::size_t found = 0;
    for (program::Step const& s : l.program.steps)
      found +=
          s.action == program::Action::load && s.extra == static_cast<std::uint32_t>(program::Space::param)
              ? 1
              : 0;
    EXPECT_EQ(found, loads) << line;
  }
}

}  // namespace
}  // namespace swizproof::sass
