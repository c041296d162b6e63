// Loops that a warp passes once for each value of its lanes.
#include "executed_dump.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace swizproof::sass {
namespace {

std::string const in_front =
    "S2R R0, SR_TID.X\nIMAD.SHL.U32 R2, R0, 0x80, RZ\nMOV R3, 0x40\n"
    "PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0\nIADD3 R4, R3, 0x1, RZ\n";
std::string const one_value =
    ".L_x_0:\nPLOP3.LUT P1, PT, P1, P0, PT, 0xa2, 0x0\n@P0 R2UR P1, UR4, R2\n"
    "@P0 PLOP3.LUT P0, PT, P1, PT, PT, 0x80, 0x0\nUTMASTG.2D [UR4], [UR8]\n@P0 BRA.U.ANY `(.L_x_0)\n";
std::string const two_values =
    ".L_x_0:\nPLOP3.LUT P1, PT, P1, P0, PT, 0xa2, 0x0\n@P0 R2UR P1, UR4, R2\n"
    "PLOP3.LUT P1, PT, P1, P0, PT, 0xa2, 0x0\n@P0 R2UR.OR P1, UR5, R3\n"
    "@P0 PLOP3.LUT P0, PT, P1, PT, PT, 0x80, 0x0\nUTMASTG.2D [UR4], [UR8]\n@P0 BRA.U.ANY `(.L_x_0)\n";

/// The values of the lanes that the first operand has, or an access after it; nothing if they are not known.
std::optional<std::array<std::uint64_t, 32>> source(std::string const& lines, bool of_access = false) {
  ExecutedDump dump(sass_kernel(lines + "EXIT"));
  EXPECT_EQ(dump.lowered.program.refused, "") << lines;
  auto const& all = of_access ? dump.execution.accesses : dump.execution.operands;
  execution::Lanes const v = dump.warp.value().value(all.at(0).address, 24);
  return v.pure() ? std::optional(v.lane) : std::nullopt;
}

TEST(SassRounds, ALaneHasOnePassWithItsOwnValue) {
  for (std::string const& loop : {one_value, two_values}) {
    auto const values = source(in_front + loop);
    ASSERT_TRUE(values);
    for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ((*values)[lane], 128 * lane);
  }
  Module const m = read_module(sass_kernel(in_front + one_value + "EXIT"), "a.sass");
  auto const assumed = lower(m, m.functions.at(0)).assumed;
  EXPECT_NE(std::find(assumed.begin(), assumed.end(), "R2UR of each value"), assumed.end());
}

TEST(SassRounds, BehindItTheWarpHasTheValuesOfTheLastPass) {
  EXPECT_TRUE(source(in_front + one_value + "LDS R9, [R2]\n", true));
  EXPECT_FALSE(source(in_front + one_value + "LDS R9, [UR4]\n", true));
  EXPECT_FALSE(source(in_front + one_value + "SEL R8, R2, RZ, P1\nLDS R9, [R8]\n", true));
  auto const none = source(in_front + one_value + "SEL R8, R2, RZ, P0\nLDS R9, [R8]\n", true);
  ASSERT_TRUE(none);
  EXPECT_EQ((*none)[5], 0U) << "no lane is left";
}

TEST(SassRounds, OtherLoopsAreNone) {
  struct Change {
    std::string of, to;
  };
  for (auto const& [of, to] :
       {Change{"PLOP3.LUT P0, PT, PT, PT, PT, 0x80", "PLOP3.LUT P0, PT, PT, PT, PT, 0x40"},
        {"PLOP3.LUT P0, PT, PT, PT, PT", "PLOP3.LUT P0, PT, PT, !PT, PT"},
        {"PLOP3.LUT P0, PT, PT, PT, PT", "PLOP3.LUT P2, PT, PT, PT, PT"},
        {"IADD3 R4, R3, 0x1, RZ", "ISETP.NE.AND P0, PT, R0, RZ, PT"},
        {"IADD3 R4, R3, 0x1, RZ\n", "@P3 BRA `(.L_x_0)\n"},
        {"IADD3 R4, R3, 0x1, RZ\n", ".L_x_1:\nMOV R4, R3\n"},
        {"P1, P0, PT, 0xa2", "P1, P0, PT, 0xa0"},
        {"P1, P0, PT, 0xa2", "P1, P2, PT, 0xa2"},
        {"PLOP3.LUT P1, PT, P1, P0", "PLOP3.LUT P2, PT, P2, P0"},
        {"@P0 R2UR P1, UR4, R2", "R2UR P1, UR4, R2"},
        {"@P0 R2UR P1, UR4, R2", "@P0 R2UR.OR P1, UR4, R2"},
        {"@P0 R2UR P1, UR4, R2", "@P0 R2UR P1, UR4, R2\nMOV R2, R3"},
        {"@P0 R2UR P1, UR4, R2\n", "@P0 R2UR P1, UR4, R2\n.L_x_1:\n"},
        {"P0, PT, P1, PT, PT", "P0, PT, P1, P2, PT"},
        {"P0, PT, P1, PT, PT, 0x80", "P0, PT, P1, PT, PT, 0x40"},
        {"@P0 PLOP3.LUT P0", "PLOP3.LUT P0"},
        {"UTMASTG", "MOV R2, RZ\nUTMASTG"},
        {"@P0 BRA", "@!P0 BRA"},
        {"@P0 BRA", "@P1 BRA"}}) {
    std::string text = in_front + one_value;
    std::size_t const at = text.find(of);
    ASSERT_NE(at, std::string::npos) << of;
    text.replace(at, of.size(), to);
    EXPECT_FALSE(source(text)) << to;
  }
  EXPECT_FALSE(source(in_front + one_value + "@P2 BRA `(.L_x_0)\n")) << "a second way into it";
}

}  // namespace
}  // namespace swizproof::sass
