// Our descriptors == CUTLASS's, for the canonical layouts of its headers, as recorded in cutlass_descriptors.jsonl: what
// make_gmma_desc (sm_90) and make_umma_desc (sm_100) of CUTLASS 4.x (commit 7107b05, 2026-08-20) gave for the first instruction of
// each tile. tests/cutlass/descriptors.cpp prints the file again.
#include "oracle/oracle.hpp"

#include <swizproof/analysis/descriptor.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <map>

namespace swizproof {
namespace {

/// One line: a descriptor, and the tile that it was made of.
struct Made {
  std::string tile, element, atom;
  OperandReader reader = OperandReader::wgmma;
  Major major = Major::k;
  unsigned rows = 0, depth = 0;  ///< of one instruction
  DecodedDescriptor decoded{};
  Mapping map{};

  [[nodiscard]] MatrixDescriptor const& fields() const { return decoded.descriptor; }
  [[nodiscard]] std::string name() const {
    return std::string(swizproof::name(reader)) + ", " + element + ", " +
           std::string(swizproof::name(major)) + ", " + tile;
  }
  [[nodiscard]] bool taken() const {
    return why_not(reader, fields().operand_mode(), major, *map.element_bits).empty();
  }
  [[nodiscard]] std::uint32_t read(MatrixDescriptor const& d, std::uint32_t row, std::uint32_t k) const {
    return address_read(d, major, *map.element_bits / 8, std::uint32_t{0}, row, k).bytes;
  }
  /// Where an element stands, in bytes.
  [[nodiscard]] std::uint64_t stored(std::uint64_t row, std::uint64_t k) const {
    auto const all_rows = static_cast<std::uint64_t>(map.domain()->shape.mode(0).product());
    return value(map, Address<std::uint64_t>{0}, row + all_rows * k, Unit::bytes);
  }
  /// Whether another number in a field would make the instruction read another element.
  [[nodiscard]] bool reads(std::uint32_t MatrixDescriptor::*field) const {
    MatrixDescriptor other = fields();
    other.*field += 1 << 13;
    for (std::uint32_t row = 0; row < rows; ++row)
      for (std::uint32_t k = 0; k < depth; ++k)
        if (read(fields(), row, k) != read(other, row, k)) return true;
    return false;
  }
};

std::vector<Made> const& all_made() {
  static std::vector<Made> const all = [] {
    std::vector<Made> out;
    std::ifstream file = oracle::open("cutlass_descriptors.jsonl");
    for (std::string text; std::getline(file, text);) {
      auto const line = nlohmann::json::parse(text);
      Made made;
      made.tile = line["tile"], made.element = line["element"], made.atom = line["atom"];
      made.reader = line["call"] == "make_umma_desc" ? OperandReader::tcgen05 : OperandReader::wgmma;
      made.major = line["major"] == "k" ? Major::k : Major::mn;
      made.rows = line["mn"], made.depth = line["k"];
      made.decoded = decode(made.reader, std::stoull(line["descriptor"].get<std::string>(), nullptr, 16));
      made.map = parse_mapping(made.tile);
      out.push_back(std::move(made));
    }
    return out;
  }();
  return all;
}

TEST(CutlassDescriptors, AreOfEveryLayout) {
  std::map<std::string, int> of_atom;
  for (Made const& made : all_made()) ++of_atom[made.atom + " " + std::string(name(made.reader))];
  for (OperandMode const& mode : operand_modes)
    for (char const* major : {"K_", "MN_"})
      for (OperandReader const reader : {OperandReader::wgmma, OperandReader::tcgen05}) {
        bool const none = mode.number(reader) < 0 || (mode.shape.k_lines == 4 && major[0] == 'K');
        std::string const atom =
            std::string(major) + std::string(mode.atom) + " " + std::string(name(reader));
        EXPECT_EQ(of_atom.contains(atom), !none) << atom;
        if (!none) EXPECT_GE(of_atom[atom], 16) << atom;
      }
}

TEST(CutlassDescriptors, SetNoFieldThatWeDoNotKnow) {
  for (Made const& made : all_made()) {
    EXPECT_EQ(made.decoded.reserved, 0U) << made.name();
    EXPECT_FALSE(made.decoded.version_is_wrong || made.decoded.mode_is_wrong ||
                 made.decoded.leading_is_address)
        << made.name();
    EXPECT_EQ(made.fields().base_offset, 0U) << made.name();
    EXPECT_TRUE(made.atom.ends_with(made.fields().operand_mode().atom)) << made.name();
  }
}

TEST(CutlassDescriptors, ReadTheTileThatTheyAreMadeOf) {
  for (Made const& made : all_made())
    for (std::uint32_t row = 0; row < made.rows; ++row)
      for (std::uint32_t k = 0; k < made.depth; ++k)
        ASSERT_EQ(made.read(made.fields(), row, k), made.stored(row, k))
            << made.name() << " at " << row << ", " << k;
}

/// Ours for the whole tile, of which CUTLASS's is that of the first instruction.
DescriptorAnswer answer_to(Made const& made) {
  return descriptors_of(made.map,
                        {.reader = made.reader,
                         .major = made.major,
                         .operand = Operand::b,
                         .rows = made.rows,
                         .depth = made.depth},
                        Limits{});
}

TEST(CutlassDescriptors, AreOurs) {
  // Each proof takes a tenth of a second: one tile in 13; tests/cutlass/asked asks for any number of them.
  std::size_t compared = 0;
  for (std::size_t i = 0; i < all_made().size(); i += 13) {
    Made const& made = all_made()[i];
    if (!made.taken()) continue;
    SCOPED_TRACE(made.name());
    DescriptorAnswer const answer = answer_to(made);
    ASSERT_FALSE(answer.solutions.empty())
        << (answer.reasons.empty() ? std::string() : answer.reasons.front());
    TileDescriptor const& ours = answer.solutions.front();
    EXPECT_EQ(ours.major, made.major);
    EXPECT_EQ(ours.fields.mode, made.fields().mode);
    EXPECT_EQ(ours.fields.base_offset, 0U);
    EXPECT_EQ(ours.leading_is_read, made.reads(&MatrixDescriptor::leading_byte_offset));
    EXPECT_EQ(ours.stride_is_read, made.reads(&MatrixDescriptor::stride_byte_offset));
    if (ours.leading_is_read) EXPECT_EQ(ours.fields.leading_byte_offset, made.fields().leading_byte_offset);
    if (ours.stride_is_read) EXPECT_EQ(ours.fields.stride_byte_offset, made.fields().stride_byte_offset);
    ++compared;
  }
  EXPECT_GT(compared, 15U);
}

// What is right is called suspicious where it is read alone only if another mode's rows would lie as far apart.
TEST(CutlassDescriptors, AreNotSuspicious) {
  std::size_t looked_at = 0, doubtful = 0;
  for (Made const& made : all_made()) {
    if (!made.taken()) continue;
    ++looked_at;
    for (std::string const& s : suspicions(made.fields(), made.major, *made.map.element_bits, made.rows)) {
      ++doubtful;
      EXPECT_NE(s.find("atoms lie side by side along k"), std::string::npos) << made.name() << ": " << s;
    }
  }
  EXPECT_GT(looked_at, 250U);
  EXPECT_LT(doubtful, 20U);
}

// CUTLASS makes descriptors of tiles that no instruction reads in this order, and says nothing: its instructions are what refuses
// them, if one is named at all.
TEST(CutlassDescriptors, AreMadeOfTilesThatNoInstructionReads) {
  std::size_t silent = 0;
  for (Made const& made : all_made()) {
    if (made.taken()) continue;
    EXPECT_EQ(made.major, Major::mn) << made.name();
    ++silent;
    DescriptorAnswer const answer = answer_to(made);
    EXPECT_TRUE(answer.solutions.empty()) << made.name();
  }
  EXPECT_GT(silent, 100U);
}

}  // namespace
}  // namespace swizproof
