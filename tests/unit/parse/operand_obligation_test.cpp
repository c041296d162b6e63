// Obligations on descriptors, copies of the TMA and registers: what is hard-coded, and what is refused.
#include <swizproof/parse/obligations.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace swizproof {
namespace {

/// The obligations of a file with one entry, whose name is "x".
std::vector<Obligation> entry(std::string const& rest) {
  std::string const path = testing::TempDir() + "operand_obligation_test_" +
                           testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
  std::ofstream(path) << "[[obligation]]\nname = \"x\"\n" << rest << "\n";
  std::vector<Obligation> all = read_obligations(path);
  std::remove(path.c_str());
  return all;
}

ObligationReport decided(std::string const& rest) { return decide(entry(rest).at(0), {}); }

/// "proved", "refuted", "unknown", or "error: " and the message.
std::string verdict(std::string const& rest) {
  ObligationReport const report = decided(rest);
  return report.error ? "error: " + report.error->message : std::string(name(report.outcome));
}

std::uint64_t value(ObligationReport const& report, std::string const& what) {
  for (auto const& [name, number] : std::get<Refuted>(report.found).values)
    if (name == what) return number;
  ADD_FAILURE() << what << " is no value of the counterexample";
  return 0;
}

std::string const a_tile = "layout = \"gmma:K_SW128<f16> (64,64)\"\n";
/// Swizzled from its own base: the base offset is the base's row.
std::string const relative = "layout = \"Sw<3,3,3> o _0 o (64,64):(64,1)\"\nelement = \"f16\"\n";

TEST(DescriptorObligations, TheCommandsNumberHolds) {
  EXPECT_EQ(verdict(a_tile + "descriptor = {}"), "proved");
  EXPECT_EQ(verdict(a_tile + "descriptor = {number = \"0x4000004000010000\"}"), "proved");
  EXPECT_EQ(verdict(a_tile + "descriptor = {mode = \"128B\", stride_byte_offset = 1024}"), "proved");
  EXPECT_EQ(verdict(a_tile + "descriptor = {number = \"0x4000004000000000\"}"), "proved")
      << "the leading byte offset is not read";
  EXPECT_EQ(verdict(a_tile + "align = 16\ndescriptor = {number = 4611686293305360384}"), "proved");
}

TEST(DescriptorObligations, AWrongFieldNamesTheFirstElementThatIsMisread) {
  ObligationReport const stride =
      decided(a_tile + "descriptor = {mode = \"128B\", stride_byte_offset = 512}");
  ASSERT_TRUE(std::holds_alternative<Refuted>(stride.outcome));
  EXPECT_EQ(value(stride, "row"), 8U);
  EXPECT_EQ(value(stride, "stored at byte"), 1024U);
  EXPECT_NE(stride.detail.find("0x4000004000010000 reads it"), std::string::npos) << stride.detail;
  EXPECT_EQ(verdict(a_tile + "descriptor = {mode = \"64B\"}"), "refuted");
  EXPECT_EQ(verdict(a_tile + "descriptor = {start = 16}"), "refuted");
  EXPECT_EQ(verdict(a_tile + "align = 16\ndescriptor = {base_offset = 1}"), "refuted");
}

TEST(DescriptorObligations, EveryAlignedBaseIsAsked) {
  std::string const number = "descriptor = {number = \"0x4000004000010000\"}";
  EXPECT_EQ(verdict(relative + number), "proved");
  EXPECT_EQ(verdict(relative + "align = 1024\n" + number), "proved");
  ObligationReport const report = decided(relative + "align = 128\n" + number);
  ASSERT_TRUE(std::holds_alternative<Refuted>(report.outcome));
  EXPECT_EQ(value(report, "base"), 128U);
  EXPECT_NE(report.detail.find("base offset 1"), std::string::npos) << report.detail;
  EXPECT_EQ(verdict(relative + "align = 128\ndescriptor = {mode = \"128B\"}"), "proved")
      << "one base offset for each base";
  EXPECT_EQ(verdict(relative + "align = 64\ndescriptor = {mode = \"128B\"}"), "refuted");
}

TEST(DescriptorObligations, AnArchitectureHasItsOwnReader) {
  std::vector<Obligation> const both = entry("arch = [\"sm_90\", \"sm_100\"]\n" + a_tile + "descriptor = {}");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].title(), "x on sm_100");
  EXPECT_EQ(decide(both[0], {}).basis, Support::measured);
  EXPECT_EQ(decide(both[1], {}).basis, Support::documented);
  EXPECT_NE(decide(both[1], {}).detail.find("tcgen05"), std::string::npos);
  EXPECT_NE(verdict("arch = \"sm_100\"\n" + a_tile + "descriptor = {number = \"0x4000004000010000\"}")
                .find("sm_100 has no wgmma"),
            std::string::npos);
  EXPECT_NE(verdict("arch = \"sm_80\"\n" + a_tile + "descriptor = {}").find("sm_80 has no instruction"),
            std::string::npos);
}

TEST(DescriptorObligations, WhatCannotBeIsRefused) {
  auto const refused = [](std::string const& keys, std::string const& why) {
    std::string const found = verdict(a_tile + keys);
    EXPECT_NE(found.find(why), std::string::npos) << found;
  };
  refused("descriptor = \"wgmma\"", "descriptor is a table");
  refused("descriptor = {box = [1]}", "unknown key 'box'");
  refused("descriptor = {mode = \"128\"}", "no mode has this name");
  refused("descriptor = {stride_byte_offset = 1000}", "a multiple of 16 bytes");
  refused("descriptor = {number = \"0x40\", mode = \"none\"}", "number has all fields");
  refused("descriptor = {operand = \"c\"}", "operand is a or b");
  refused("descriptor = {}\ntma = {}", "exactly one of");
  refused("align = 24\ndescriptor = {}", "bases are multiples of 16 bytes, and align is 24");
  EXPECT_NE(verdict("descriptor = {}").find("descriptor needs a layout"), std::string::npos);
}

std::string const panels = "layout = \"gmma:K_SW128<f16> (64,128)\"\n";

TEST(TmaObligations, EveryBoxThatWritesTheTileHolds) {
  EXPECT_EQ(verdict(panels + "tma = {}"), "proved");
  EXPECT_EQ(verdict(panels + "tma = {box = [64, 64], mode = \"128B\"}"), "proved");
  EXPECT_EQ(verdict(panels + "tma = {box = [64, 32]}"), "proved") << "more boxes than needed";
  EXPECT_EQ(verdict(panels + "tma = {box = [64, 64, 1]}"), "proved") << "a dimension of the tensor alone";
  EXPECT_EQ(verdict("layout = \"(263,64):(64,1)\"\nelement = \"f16\"\ntma = {box = [64, 132]}"), "proved")
      << "boxes overlap";
}

TEST(TmaObligations, AWrongBoxNamesTheFirstElementThatIsWrittenElsewhere) {
  ObligationReport const mode = decided(panels + "tma = {box = [32, 64], mode = \"64B\"}");
  ASSERT_TRUE(std::holds_alternative<Refuted>(mode.outcome));
  EXPECT_EQ(value(mode, "mode 0"), 1U);
  EXPECT_EQ(value(mode, "the layout has it at byte"), 144U);
  EXPECT_EQ(verdict(panels + "tma = {box = [32, 64], mode = \"128B\"}"), "refuted") << "a box at byte 64";
  EXPECT_EQ(verdict(panels + "tma = {box = [128, 64], mode = \"128B\"}"), "refuted") << "lines too wide";
  EXPECT_EQ(verdict(panels + "tma = {box = [64, 128]}"), "refuted") << "more rows than the tile";
  EXPECT_EQ(verdict(panels + "tma = {mode = \"64B\"}"), "refuted");
}

TEST(TmaObligations, EveryAlignedBaseIsAsked) {
  std::string const box = "tma = {box = [64, 64], mode = \"128B\"}";
  EXPECT_EQ(verdict(relative + box), "proved");
  EXPECT_EQ(verdict(relative + "align = 1024\n" + box), "proved");
  ObligationReport const report = decided(relative + "align = 128\n" + box);
  ASSERT_TRUE(std::holds_alternative<Refuted>(report.outcome));
  EXPECT_EQ(value(report, "TMA puts it at byte"), 144U);
  EXPECT_EQ(value(report, "the layout has it at byte"), 128U);
  EXPECT_EQ(verdict(panels + "align = 16\n" + box), "refuted") << "destinations are multiples of 128";
}

TEST(TmaObligations, WhatCannotBeIsRefused) {
  auto const refused = [](std::string const& keys, std::string const& why) {
    std::string const found = verdict(panels + keys);
    EXPECT_NE(found.find(why), std::string::npos) << found;
  };
  refused("tma = {box = []}", "box is a list of integers");
  refused("tma = {box = [512, 1]}", "from 1 to 256");
  refused("tma = {box = [1, 1, 1, 1, 1, 1]}", "at most 5 dimensions");
  refused("tma = {steps = [1]}", "are those of a box");
  refused("tma = {box = [64], modes = [1]}", "modes and steps go together");
  refused("tma = {box = [64], modes = [7], steps = [1]}", "the tile has no mode 7");
  refused("tma = {mode = \"96B\"}", "no mode has this name");
  refused("tma = {mode = \"128B_ATOM_32B\"}", "sm_90 does not load with mode 128B_ATOM_32B");
  refused("arch = \"sm_80\"\ntma = {}", "no TMA");
}

TEST(FragmentObligations, RowsAndTheOrderOfRegistersHold) {
  auto const fragment = [](std::string const& rows, std::string const& registers) {
    return "fragment = {from = \"ldmatrix.x4" + rows + "\", into = \"mma.m16n8k16.f16:a\"" + registers + "}";
  };
  std::string const usual = ": row = lane%16, col = 8*(lane/16)",
                    other = ": row = lane%8 + 8*(lane/16), col = 8*(lane/8%2)";
  EXPECT_EQ(verdict(fragment("", "")), "proved");
  EXPECT_EQ(verdict(fragment(usual, "")), "proved");
  EXPECT_EQ(verdict(fragment(usual, ", registers = [0, 1, 2, 3]")), "proved");
  EXPECT_EQ(verdict(fragment(other, ", registers = [0, 2, 1, 3]")), "proved");
  ObligationReport const report = decided(fragment(usual, ", registers = [0, 2, 1, 3]"));
  ASSERT_TRUE(std::holds_alternative<Refuted>(report.outcome));
  EXPECT_EQ(value(report, "register"), 1U);
  EXPECT_EQ(value(report, "holds k"), 8U);
  EXPECT_EQ(value(report, "wanted m"), 8U);
  EXPECT_EQ(verdict(fragment(other, "")), "refuted");
  EXPECT_NE(verdict(fragment(usual, ", registers = [0, 2, 2, 3]")).find("names each of the 4 once"),
            std::string::npos);
  EXPECT_NE(verdict(fragment("", ", registers = [0, 2, 1, 3]")).find("of rows that are given"),
            std::string::npos);
  EXPECT_EQ(verdict("fragment = {from = \"ldmatrix.x4\", into = 3}").find("3: into must be a string"),
            verdict("fragment = {from = \"ldmatrix.x4\", into = 3}").rfind("3: "))
      << "the line is named once";
  EXPECT_NE(verdict("fragment = {from = \"ldmatrix.x4\"}").find("fragment needs into"), std::string::npos);
}

TEST(FragmentObligations, TheArchitectureHasTheInstruction) {
  EXPECT_NE(
      verdict("arch = \"sm_75\"\nfragment = {from = \"mma.m16n8k16.f16:d\", into = \"mma.m16n8k16.f16:a\"}")
          .find("sm_75 has no mma.m16n8k16"),
      std::string::npos);
}

TEST(ThreadValueObligations, TheLayoutIsTheInstructionsOwn) {
  auto const fragment = [](std::string const& rest) { return "fragment = {" + rest + "}"; };
  std::string const of = "of = \"mma.m16n8k16.f16:d\", tv = ";
  EXPECT_EQ(verdict(fragment(of + "\"((4,8),(2,2)):((32,1),(16,8))\"")), "proved");
  ObligationReport const report = decided(fragment(of + "\"((4,8),(2,2)):((32,1),(8,16))\""));
  ASSERT_TRUE(std::holds_alternative<Refuted>(report.outcome));
  EXPECT_EQ(value(report, "value"), 1U);
  EXPECT_EQ(value(report, "the layout has"), 8U);
  EXPECT_EQ(value(report, "the instruction has"), 16U);
  EXPECT_EQ(verdict("element = \"e4m3\"\n" + fragment("of = \"ldmatrix.x1\", tv = \"32:1\"")).find("error: "),
            0U)
      << "a layout of two modes";
  auto const refused = [&](std::string const& keys, std::string const& why) {
    std::string const found = verdict(keys);
    EXPECT_NE(found.find(why), std::string::npos) << found;
  };
  refused(fragment("of = \"mma.m16n8k16.f16:d\""), "3: fragment needs tv next to of");
  refused(fragment("tv = \"(32,4):(4,1)\""), "3: fragment needs of next to tv");
  refused(fragment(of + "\"(32,4):(4,1)\", registers = [0]"), "3: registers is of a movement");
  refused(fragment(of + "\"(32,8):(8,1)\""), "3: this layout has 32 threads and 8 values");
  refused("arch = \"sm_75\"\n" + fragment(of + "\"((4,8),(2,2)):((32,1),(16,8))\""),
          "sm_75 has no mma.m16n8k16");
}

TEST(BoxObligations, ABoxWithoutItsTileIsLegalOrNot) {
  std::string const f16 = "layout = \"-\"\nelement = \"f16\"\n";
  EXPECT_EQ(verdict(f16 + "tma = {mode = \"32B\", box = [16, 16]}"), "proved");
  EXPECT_EQ(verdict(f16 + "tma = {mode = \"32B\", box = [17, 16]}"), "refuted");
  EXPECT_EQ(verdict(f16 + "tma = {mode = \"none\", box = [512]}"), "refuted") << "an extent that no box has";
  EXPECT_EQ(verdict(f16 + "tma = {mode = \"128B\", im2col = [64, 512]}"), "proved");
  EXPECT_EQ(verdict(f16 + "tma = {mode = \"128B\", box = [64, 512]}"), "refuted") << "pixels are no rows";
  std::string const packed =
      "layout = \"-\"\nelement = \"16U4_ALIGN16B\"\ntma = {mode = \"128B\", box = [128, 8]}";
  EXPECT_EQ(verdict(packed), "refuted") << "sm_90 has no such elements";
  EXPECT_EQ(verdict("arch = \"sm_100\"\n" + packed), "proved");
  auto const refused = [&](std::string const& keys, std::string const& why) {
    std::string const found = verdict(keys);
    EXPECT_NE(found.find(why), std::string::npos) << found;
  };
  refused(f16 + "tma = {box = [16]}", "5: a box without a tile needs its mode");
  refused(f16 + "tma = {mode = \"none\"}", "5: tma without a tile needs one box");
  refused(f16 + "tma = {mode = \"none\", box = [16], im2col = [16, 16]}",
          "5: tma without a tile needs one box");
  refused(f16 + "tma = {mode = \"none\", im2col = [16]}", "5: im2col needs two numbers");
  refused(f16 + "tma = {mode = \"96B\", box = [16]}", "5: unknown swizzle mode");
  refused(f16 + "align = 128\ntma = {mode = \"none\", box = [16]}", "5: align is of a tile's bases");
  refused("layout = \"-\"\ntma = {mode = \"none\", box = [16]}", "4: the element type is missing");
  refused("arch = \"sm_80\"\n" + f16 + "tma = {mode = \"none\", box = [16]}", "no TMA");
  refused(panels + "tma = {im2col = [64, 64]}", "4: an im2col box writes no tile");
}

TEST(ConversionObligations, OtherUnitsCoverTheSameBytes) {
  std::string const tile = "layout = \"(8,64):(64,1)\"\nelement = \"f16\"\n";
  EXPECT_EQ(verdict(tile + "convert = {to = \"f32\"}"), "proved");
  EXPECT_EQ(verdict(tile + "convert = {to = \"f32\", gives = \"(8,32):(32,1)\"}"), "proved");
  EXPECT_EQ(verdict(tile + "convert = {to = \"f32\", gives = \"(8,32):(36,1)\"}"), "refuted");
  EXPECT_NE(decided(tile + "convert = {to = \"f32\", gives = \"(8,32):(36,1)\"}")
                .detail.find("at 1 32 and 36 elements"),
            std::string::npos);
  EXPECT_EQ(verdict("layout = \"tma:128B\"\nconvert = {to = \"f16\", gives = \"Sw<3,3,3>\"}"), "proved");
  EXPECT_EQ(verdict("layout = \"tma:128B\"\nconvert = {to = \"f16\", gives = \"Sw<3,4,3>\"}"), "refuted");
  EXPECT_EQ(
      verdict("layout = \"Sw<2,0,3> o smem_ptr[16b](unset) o (32,1):(1,0)\"\nconvert = {to = \"bytes\"}"),
      "refuted")
      << "it splits elements";
  auto const refused = [&](std::string const& keys, std::string const& why) {
    std::string const found = verdict(keys);
    EXPECT_NE(found.find(why), std::string::npos) << found;
  };
  refused(tile + "convert = {gives = \"(8,32):(32,1)\"}", "5: convert needs to");
  refused(tile + "convert = {to = \"word\"}", "5: unknown element type");
  refused(tile + "convert = {to = \"f32\", from = \"f16\"}", "5: unknown key 'from'");
  refused("arch = \"sm_90\"\n" + tile + "convert = {to = \"f32\"}", "arch cannot be used with convert");
  refused("convert = {to = \"f32\"}", "convert needs a layout");
}

TEST(OperandObligations, BudgetsCountAccessesAlone) {
  std::string const text =
      "kernel = \"gemm\"\n" + a_tile + "descriptor = {}\n" +
      "[[obligation]]\nname = \"reads\"\nkernel = \"gemm\"\n" + a_tile +
      "access = \"ldmatrix.x4\"\n[[obligation]]\nname = \"all\"\nkernel = \"gemm\"\nbudget = 64\n";
  std::vector<Obligation> const all = entry(text);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(std::get<StaysWithin>(all[2].what).parts.size(), 1U);
}

}  // namespace
}  // namespace swizproof
