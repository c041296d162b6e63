// descriptors_of(): the fields of every canonical tile by closed formulas, the steps, and what is refused for which reason.
#include <swizproof/analysis/descriptor.hpp>
#include <swizproof/core/error.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace swizproof {
namespace {

DescriptorAnswer ask_about(std::string const& layout, DescriptorQuestion question = {}, unsigned bits = 0) {
  return descriptors_of(parse_mapping(layout, {bits == 0 ? std::nullopt : std::optional(bits)}), question,
                        {});
}

std::string refusal(std::string const& layout, DescriptorQuestion question = {}, unsigned bits = 16) {
  try {
    (void)ask_about(layout, question, bits);
    return {};
  } catch (InputError const& error) {
    return error.message;
  }
}

std::string joined(DescriptorAnswer const& answer) {
  std::string text;
  for (std::string const& reason : answer.reasons) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

TEST(Descriptor, OfEveryCanonicalTileIsTheOneOfTheManual) {
  struct Atom {
    char const* name;
    char const* mode;
    std::uint32_t row;  // bytes
  };
  for (Atom const& atom :
       {Atom{"INTER", "none", 16}, {"SW32", "32B", 32}, {"SW64", "64B", 64}, {"SW128", "128B", 128}})
    for (unsigned const bits : {8U, 16U, 32U}) {
      DescriptorAnswer const k = ask_about(
          fmt::format("gmma:K_{}<{}b> (128,{})", atom.name, bits, 2048 / bits), {.operand = Operand::b});
      ASSERT_FALSE(k.solutions.empty()) << atom.name << bits;
      TileDescriptor const& d = k.solutions.front();
      EXPECT_EQ(d.fields.operand_mode().name, atom.mode);
      EXPECT_EQ(d.major, Major::k);
      EXPECT_EQ(d.fields.stride_byte_offset, 8 * atom.row);
      EXPECT_EQ(d.leading_is_read, atom.row == 16);
      // Atoms are stacked along the rows first: 128 of them before the next 16 bytes of k.
      EXPECT_EQ(d.fields.leading_byte_offset, atom.row == 16 ? 128 * 16U : 16U);
      EXPECT_EQ(d.bases, (Bases{16, {0}}));
      // 256 bytes of k are 8 instructions; atoms are 128 rows of `row` bytes apart.
      for (std::int64_t j = 0; j < 8; ++j)
        EXPECT_EQ(d.starts[static_cast<std::size_t>(j)],
                  32 * j / atom.row * 128 * atom.row + 32 * j % atom.row);
      EXPECT_TRUE(std::holds_alternative<Proved>(k.outcome));
      EXPECT_EQ(k.instructions.rows, 128U);
      EXPECT_EQ(k.instructions.depth, 256 / bits);
    }
  for (Atom const& atom :
       {Atom{"INTER", "none", 16}, {"SW32", "32B", 32}, {"SW64", "64B", 64}, {"SW128", "128B", 128}}) {
    DescriptorAnswer const mn =
        ask_about(fmt::format("gmma:MN_{}<f16> (128,64)", atom.name), {.operand = Operand::b});
    ASSERT_FALSE(mn.solutions.empty()) << atom.name;
    TileDescriptor const& d = mn.solutions.front();
    EXPECT_EQ(d.major, Major::mn);
    EXPECT_TRUE(d.stride_is_read && d.leading_is_read);
    // An atom is 8 lines of k; atoms are stacked along the rows, 256 bytes of them, first.
    std::uint32_t const atom_bytes = 8 * atom.row, line_of_atoms = 256 / atom.row * atom_bytes;
    EXPECT_EQ(d.fields.stride_byte_offset, atom.row == 16 ? atom_bytes : line_of_atoms);
    EXPECT_EQ(d.fields.leading_byte_offset, atom.row == 16 ? line_of_atoms : atom_bytes);
    EXPECT_EQ(d.starts,
              (std::vector<std::int64_t>{0, 2 * line_of_atoms, 4 * line_of_atoms, 6 * line_of_atoms}));
  }
}

TEST(Descriptor, IsOneForAllInstructionsOfATile) {
  DescriptorAnswer const found = ask_about("gmma:K_SW128<f16> (128,128,3)");
  EXPECT_EQ(found.instructions.along_rows, 2U);
  EXPECT_EQ(found.instructions.along_k, 8U);
  EXPECT_EQ(found.instructions.rest, 3U);
  TileDescriptor const& d = found.solutions.front();
  ASSERT_EQ(d.starts.size(), 48U);
  EXPECT_EQ(d.starts[1], 32);
  EXPECT_EQ(d.starts[4], 16384) << "the second panel of k";
  EXPECT_EQ(d.starts[8], 8192) << "the next 64 rows";
  EXPECT_EQ(d.starts[16], 32768) << "the next stage";
}

TEST(Descriptor, OfATileSwizzledFromItsBaseHasABaseOffsetForEveryRow) {
  DescriptorAnswer const found = ask_about("Sw<3,3,3> o _0 o (64,64):(64,1)", {}, 16);
  EXPECT_EQ(found.solutions.front().bases, (Bases{1024, {0}}));
  EXPECT_EQ(found.solutions.front().fields.base_offset, 0U);
  for (std::uint32_t b = 0; b < 8; ++b) {
    bool found_it = false;
    for (TileDescriptor const& d : found.solutions)
      found_it = found_it || (d.fields.base_offset == b && d.start == 0 && d.bases == Bases{1024, {128 * b}});
    EXPECT_TRUE(found_it) << b;
  }
}

TEST(Descriptor, CountsItsStartFromTheTilesBase) {
  DescriptorAnswer const found = ask_about("Sw<3,4,3> o smem_ptr[16b](unset) o 2048 o (64,64):(64,1)");
  EXPECT_EQ(found.solutions.front().start, 4096);
  EXPECT_EQ(found.solutions.front().bases, (Bases{16, {0}}));
}

TEST(Descriptor, MayStartBelowTheTilesBase) {
  DescriptorAnswer const below = ask_about("Sw<3,4,3> o smem_ptr[16b](unset) o -512 o (64,64):(64,1)");
  ASSERT_FALSE(below.solutions.empty());
  EXPECT_EQ(below.solutions.front().start, -1024);
  EXPECT_EQ(below.solutions.front().bases, (Bases{16, {0}}));
  EXPECT_EQ(
      ask_about("Sw<3,4,3> o smem_ptr[16b](unset) o ((64,2),64):((64,-4096),1)").solutions.front().starts[4],
      -8192);
}

TEST(Descriptor, NamesTheStageOfAnElementThatIsReadFromElsewhere) {
  DescriptorAnswer const found = ask_about(
      "fn(x) = x ^ ((x >> 3) & 0x70) ^ (((x >> 14) & 1) * ((x >> 7) & 1) << 4) o smem_ptr[16b](unset) o "
      "(64,64,3):(64,1,4096)");
  ASSERT_TRUE(found.misread.has_value());
  EXPECT_EQ(found.misread->rest, 2U);
  EXPECT_EQ(found.misread->row, 1U);
}

TEST(Descriptor, OfIntegersHasFewerRowsOfB) {
  EXPECT_EQ(ask_about("gmma:K_SW128<i8> (40,128)", {.operand = Operand::b}).instructions.rows, 40U);
  EXPECT_EQ(
      ask_about("gmma:K_SW128<i8> (40,128)", {.integers = true, .operand = Operand::b}).instructions.rows,
      8U);
}

TEST(Descriptor, SaysWhatIsNotRead) {
  DescriptorAnswer const eight = ask_about("gmma:K_SW128<f16> (8,64)");
  EXPECT_EQ(eight.instructions.operand, Operand::b) << "8 rows are no A";
  EXPECT_FALSE(eight.solutions.front().stride_is_read) << "there is one atom";
  EXPECT_FALSE(eight.solutions.front().leading_is_read);
  DescriptorAnswer const mn = ask_about("gmma:MN_SW128<f16> (64,64)");
  EXPECT_FALSE(mn.solutions.front().leading_is_read) << "64 rows are one atom";
  EXPECT_TRUE(mn.solutions.front().stride_is_read);
}

TEST(Descriptor, OfTcgen05ReadsTransposed32BitsUnderItsOwnMode) {
  DescriptorAnswer const found =
      ask_about("umma:MN_SW128_32B<tf32> (128,64)", {.reader = OperandReader::tcgen05});
  TileDescriptor const& d = found.solutions.front();
  EXPECT_EQ(d.fields.operand_mode().name, "128B_ATOM_32B");
  EXPECT_EQ(d.fields.leading_byte_offset, 512U) << "an atom: 4 lines of 128 bytes";
  EXPECT_EQ(d.fields.stride_byte_offset, 2048U) << "4 atoms along the rows";
  EXPECT_EQ(found.instructions.rows, 128U);
  EXPECT_EQ(d.fields.bits() >> 61, 1U);
  EXPECT_TRUE(ask_about("umma:MN_SW128_32B<tf32> (128,64)").solutions.empty()) << "not of wgmma";
  EXPECT_TRUE(
      ask_about("umma:MN_SW128<tf32> (128,64)", {.reader = OperandReader::tcgen05}).solutions.empty());
  EXPECT_FALSE(
      ask_about("umma:MN_SW128<fp8> (128,64)", {.reader = OperandReader::tcgen05}).solutions.empty());
}

TEST(Descriptor, OfAPaddedRowIsNone) {
  DescriptorAnswer const found = ask_about("(64,64):(72,1)", {}, 16);
  ASSERT_TRUE(found.solutions.empty());
  EXPECT_TRUE(std::holds_alternative<Refuted>(found.outcome));
  ASSERT_TRUE(found.misread.has_value());
  EXPECT_EQ(found.misread->row, 1U);
  EXPECT_EQ(found.misread->read, 16);
  EXPECT_EQ(found.misread->stored, 144);
}

TEST(Descriptor, NamesASwizzleThatNoModeHas) {
  DescriptorAnswer const found = ask_about("Sw<2,5,2> o smem_ptr[16b](unset) o (64,64):(64,1)");
  EXPECT_TRUE(found.solutions.empty());
  EXPECT_NE(joined(found).find("Sw<2,5,2> of bytes, is no mode of wgmma, but one of tcgen05"),
            std::string::npos)
      << joined(found);
  EXPECT_TRUE(found.misread.has_value());
  EXPECT_NE(joined(ask_about("Sw<3,3,4> o _0 o (64,64):(64,1)", {}, 16)).find("Sw<3,4,4> of bytes"),
            std::string::npos);
}

TEST(Descriptor, NamesTheOrderThatNoInstructionReads) {
  EXPECT_EQ(joined(ask_about("gmma:MN_SW128<fp8> (128,64)")),
            "the tile is MN-major, mode 128B, and wgmma reads elements of 8 and 32 bits K-major alone");
  EXPECT_EQ(joined(ask_about("((8,8),(16,2)):((16,128),(1,1024))", {.major = Major::mn}, 8)),
            "wgmma reads elements of 8 and 32 bits K-major alone; K-major it is read");
}

TEST(Descriptor, NamesTheFieldThatHoldsNoSuchStride) {
  EXPECT_NE(joined(ask_about("Sw<3,4,3> o smem_ptr[16b](unset) o ((8,8),16):((64,-512),1)", {}))
                .find("K-major, mode 128B: stride byte offset would be -1024 bytes, to row 8, k 0"),
            std::string::npos)
      << "its own mode, though another reads some elements";
  EXPECT_NE(
      joined(ask_about("((8,8),16):((8,-64),1)", {}, 16)).find("stride byte offset would be -128 bytes"),
      std::string::npos);
  EXPECT_NE(joined(ask_about("((8,8),(8,2)):((8,68),(1,1024))", {}, 16))
                .find("stride byte offset would be 136 bytes"),
            std::string::npos);
}

TEST(Descriptor, RefusesWhatIsNoTileOfAnInstruction) {
  EXPECT_EQ(refusal("64:1"), "an operand is a tile of (rows, k)");
  EXPECT_EQ(refusal("(64,16):(16,1)", {}, 0), "the element size is not known");
  EXPECT_NE(refusal("(64,16):(16,1)", {}, 64).find("elements of 8, 16 or 32 bits"), std::string::npos);
  EXPECT_NE(refusal("(64,8):(8,1)").find("8 elements along k"), std::string::npos);
  EXPECT_NE(refusal("(60,16):(16,1)").find("60 rows"), std::string::npos);
  EXPECT_NE(refusal("(64,16):(16,1)", {.rows = 128, .depth = {}}).find("128 rows are no"),
            std::string::npos + 1);
  EXPECT_NE(refusal("(64,16):(16,1)", {.operand = Operand::a, .rows = 128})
                .find("no instruction of wgmma reads 128 rows of A"),
            std::string::npos);
  EXPECT_NE(refusal("(64,32):(32,1)", {.depth = 32}).find("16 elements of 16 bits along k"),
            std::string::npos);
  EXPECT_NE(refusal("(64,16):(16,8192)").find("more than the 232448"), std::string::npos);
  EXPECT_NE(refusal("Sw<1,0,3> o smem_ptr[16b](unset) o (64,16):(16,1)").find("splits elements"),
            std::string::npos);
}

TEST(Descriptor, OfASwizzleThatIsWrittenByHandIsTheModes) {
  DescriptorAnswer const found =
      ask_about("fn(x) = x ^ ((x >> 3) & 0x70) o smem_ptr[16b](unset) o (64,64):(64,1)");
  ASSERT_FALSE(found.solutions.empty());
  EXPECT_EQ(found.solutions.front().fields.bits(), 0x4000004000010000U);
  EXPECT_EQ(found.solutions.front().bases, (Bases{16, {0}}));
}

TEST(Descriptor, IsUnknownWhereBasesCannotBeTried) {
  DescriptorAnswer const found =
      ask_about("fn(x) = x + (((x >> 4) * (x >> 20)) & 64) o smem_ptr[16b](unset) o (64,16):(16,1)");
  EXPECT_TRUE(std::holds_alternative<Unknown>(found.outcome));
}

// Every element of every instruction's rows, at the address of the formula: 8-bit rows that fill no 16 bytes too.
TEST(Descriptor, AsALayoutIsWhatTheInstructionReads) {
  std::size_t read = 0, no_layout = 0;
  for (OperandReader const reader : {OperandReader::wgmma, OperandReader::tcgen05})
    for (std::size_t mode = 0; mode < std::size(operand_modes); ++mode)
      for (Major const major : {Major::k, Major::mn})
        for (unsigned const bits : {8U, 16U, 32U}) {
          if (!why_not(reader, operand_modes[mode], major, bits).empty()) continue;
          MatrixDescriptor const d{reader, mode, 1024, 2048, 4096, 0};
          for (std::uint64_t rows = 8; rows <= 256; rows += 8) {
            std::optional<Mapping> const map = map_of(d, major, bits, rows);
            if (!map) {
              ++no_layout;
              EXPECT_TRUE(major == Major::mn && rows % (16 * 8 / bits) != 0 ||
                          rows * bits / 8 % operand_modes[mode].shape.row_bytes != 0)
                  << operand_modes[mode].name << ", " << rows;
              continue;
            }
            std::uint32_t const depth = 8 * operand_k_bytes / bits;
            ASSERT_EQ(map->domain()->size(), static_cast<std::int64_t>(rows * depth));
            for (std::uint32_t k = 0; k < depth; ++k)
              for (std::uint32_t row = 0; row < rows; ++row, ++read)
                ASSERT_EQ(value(*map, Address<std::uint64_t>{0}, row + rows * k, Unit::bytes),
                          address_read(d, major, bits / 8, d.start, row, k).bytes)
                    << operand_modes[mode].name << ", " << name(major) << ", " << rows << " rows: " << row
                    << ", " << k;
          }
        }
  EXPECT_GT(read, 500'000U);
  EXPECT_GT(no_layout, 20U);
  for (std::uint64_t const rows : {8U, 24U, 40U})  // part of one column of 128 bytes
    EXPECT_TRUE(map_of({OperandReader::tcgen05, 3, 0, 1024, 1024, 0}, Major::mn, 8, rows)) << rows;
  EXPECT_FALSE(map_of({OperandReader::tcgen05, 3, 0, 1024, 1024, 0}, Major::mn, 8, 0));
}

TEST(Suspicions, AreOfTheMistakesThatAreMade) {
  auto const about = [](std::uint64_t bits, Major major = Major::k) {
    std::vector<std::string> const all =
        suspicions(decode(OperandReader::wgmma, bits).descriptor, major, 16, 64);
    std::string text;
    for (std::string const& s : all) text += s + "\n";
    return text;
  };
  EXPECT_EQ(about(0x4000004000010000), "");
  EXPECT_EQ(about(0x0000001000080000), "") << "K-major, none, atoms that touch";
  EXPECT_NE(about(0x4000040000010000).find("written without >> 4"), std::string::npos);
  EXPECT_NE(about(0x4000000100400000).find("exchanged (16 and 1024)"), std::string::npos);
  EXPECT_NE(about(0xC000000800080000).find("elements overlap: two of them"), std::string::npos);
  EXPECT_NE(about(0x4000004000010008).find("128 bytes into the swizzle's pattern of 1024"),
            std::string::npos);
  EXPECT_EQ(about(0x4002004000010008).find("pattern"), std::string::npos) << "with a base offset";
  EXPECT_NE(about(0x4000004000010007).find("112 bytes into a row of 128"), std::string::npos);
  EXPECT_EQ(about(0x4000004000010006).find("row of 128"), std::string::npos)
      << "the last 32 bytes of the row";
  EXPECT_NE(about(0x4000004000013FFF).find("beyond the 232448 bytes"), std::string::npos);
  EXPECT_NE(about(0x8000004000010000).find("8 rows under 128B, and the mode is 64B"), std::string::npos)
      << "tcgen05's number of 128B";
  EXPECT_NE(about(0x0000004000010000).find("the mode is none"), std::string::npos);
  EXPECT_NE(about(0x4000004004000000, Major::mn).find("leading byte offset is 16384 bytes"),
            std::string::npos);
  EXPECT_NE(about(0x0000010000800000).find("leading byte offset is 2048 bytes"), std::string::npos)
      << "128 and 256, neither divided";
  EXPECT_NE(about(0x0000010000800000).find("stride byte offset is 4096 bytes"), std::string::npos);
  EXPECT_NE(about(0x8000004000010000).find("right where 2 atoms lie side by side"), std::string::npos);
  EXPECT_NE(about(0x4000004000400004, Major::mn).find("from the next row of k"), std::string::npos)
      << "64 rows";
  EXPECT_TRUE(
      suspicions(decode(OperandReader::wgmma, 0x4000004000400004).descriptor, Major::mn, 16, 32).empty())
      << "32 rows end with the row";
}

}  // namespace
}  // namespace swizproof
