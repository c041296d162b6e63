// An access on a tile: what is refused, the variables, and the addresses of lanes on numbers that are worked out by hand.
#include <swizproof/access/placement.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Placement placed(std::string const& layout, std::string const& access, std::optional<unsigned> bits = 32) {
  return {layout == "-" ? Map{} : parse_mapping(layout, {bits}), parse_access(access)};
}

std::string refusal(std::string const& layout, std::string const& access, std::optional<unsigned> bits = 32) {
  try {
    (void)placed(layout, access, bits);
  } catch (InputError const& error) {
    return error.message;
  }
  return "placed";
}

using Numbers = std::vector<std::uint64_t>;

/// Address of a lane under values of the variables.
std::uint64_t address(Placement const& p, Numbers const& values, unsigned lane, std::uint64_t base = 0) {
  auto const warp = p.warp(std::span<std::uint64_t const>(values), base);
  EXPECT_TRUE(warp.active[lane]);
  return warp.address[lane];
}

/// Name and number of values of each variable.
std::string variables(Placement const& p) {
  std::string out;
  for (Variable const& v : p.variables())
    out += (out.empty() ? "" : ", ") + v.name + " " + std::to_string(v.count);
  return out;
}

bool inside(Placement const& p, Numbers const& values, std::uint64_t lane) {
  std::span<std::uint64_t const> const given(values);
  return p.inside(given, p.lane(given, lane));
}

TEST(Placement, RefusesAddressesOfATileAndOfElements) {
  std::string const raw = "ld.shared.b32: address = 4*lane";
  EXPECT_EQ(refusal("(32,32):(32,1)", raw), "an access by address does not use the layout");
  EXPECT_EQ(refusal("Sw<3,4,3>", raw, 16), "addresses are bytes, this function acts on element offsets");
  EXPECT_EQ(refusal("Sw<3,4,3>", raw, std::nullopt), "placed");
}

TEST(Placement, RefusesATileWithoutShapeOrElement) {
  EXPECT_EQ(refusal("Sw<3,4,3>", "ldmatrix.x4"), "this access needs a tile with a shape; Sw<3,4,3> has none");
  EXPECT_EQ(refusal("(32,32):(32,1)", "ldmatrix.x4", std::nullopt), "the element size is not known");
  EXPECT_EQ(refusal("():()", "ld.shared.b32: coord = (0)"), "the layout has no modes");
}

TEST(Placement, RefusesWhatReachesFurtherThanSharedAddresses) {
  std::string const access = "ld.shared.b32: coord = (lane, 0)",
                    too_far = "the layout reaches further than 2^32 bytes, the addresses of shared memory";
  EXPECT_EQ(refusal("(2,1073741824):(1073741824,1)", access), too_far);
  EXPECT_EQ(refusal("(2,536870912):(536870912,1)", access), "placed");
  EXPECT_EQ(refusal("(2,536870912):(536870912,1)", access, 64), too_far);
}

TEST(Placement, RefusesCoordinatesOfAnotherRank) {
  EXPECT_EQ(refusal("(8,8,8):(64,8,1)", "ld.shared.b32: coord = (lane%8, 0)"),
            "the access gives 2 indices, the layout has 3 modes");
  EXPECT_EQ(refusal("(8,8,8):(64,8,1)", "ld.shared.b32: coord = (lane)"), "placed");
  EXPECT_EQ(refusal("64:1", "ldmatrix.x4", 16), "the access touches 16 rows, the tile 64 has one mode");
}

// Thread (8,4), one value each, on a tile of 8 x 4 elements.
TEST(Placement, RefusesPartitionsThatDoNotFit) {
  std::string const tv = "ld.shared.b32: tv ((8,4),1):((1,8),0) tile (8,4)";
  EXPECT_EQ(refusal("(16,8):(8,1)", tv), "placed");
  EXPECT_EQ(refusal("(12,8):(8,1)", tv), "the tile (8,4) does not divide the layout's shape (12,8)");
  EXPECT_EQ(refusal("16:1", tv), "the thread-value layout's tile has more modes than the layout 16");
  EXPECT_EQ(refusal("(16,8):(8,1)", tv, 64),
            "the 32 bits of ld.shared.b32 are no whole number of elements of 64 bits");
  EXPECT_EQ(refusal("(16,8):(8,1)", "ld.shared.b64: tv ((8,4),1):((1,8),0) tile (8,4)"),
            "a thread has 1 values, the instruction takes 2 at once");
  EXPECT_EQ(refusal("(16,8):(8,1)", "ldmatrix.x1: tv ((8,2),8):((1,64),8) tile (8,16)", 16),
            "the thread-value layout has 16 threads, ldmatrix.x1 is executed by whole warps of 32");
}

TEST(Placement, RefusesValuesOfAnotherType) {
  Access access = parse_access("ld.shared.b32: tv ((8,4),2):((1,8),0) tile (8,4)");
  auto& values = std::get<ThreadValues>(access.where);
  Map const map = parse_mapping("(16,8):(8,1)", {16});
  EXPECT_NO_THROW((Placement{map, access}));
  values.value_bits = 32;
  EXPECT_THROW((Placement{map, access}), InputError) << "elements of 16 bits";
  values.value_bits = 16, values.partition = 1;
  EXPECT_THROW((Placement{map, access}), InputError)
      << "a vector of two values crosses the gaps of the tiler";
}

TEST(Placement, RefusesOffsetsThatCarryIntoASwizzle) {
  std::string const tv = "ld.shared.b32: tv ((_8,_4),_1):((_1,_8),_0) tile (8,4)";
  std::string const carries =
      "CuTe's partition of this layout may be another function: offsets carry into the bits of Sw<1,2,3>, "
      "and "
      "CuTe takes thread, value and tile through it one by one";
  EXPECT_EQ(refusal("Sw<1,2,3> o 0 o (32,32):(32,1)", tv), "placed");
  EXPECT_EQ(refusal("Sw<1,2,3> o 0 o (32,24):(24,1)", tv), carries);
  EXPECT_EQ(refusal("Sw<1,2,3> o 4 o (32,32):(32,1)", tv), carries) << "the layout's own offset";
}

TEST(Placement, AddressesOfRowsAndColumns) {
  Placement const padded = placed("(32,32):(33,1)", "ld.shared.b32: row = lane, col = i for i in 0..31");
  EXPECT_EQ(variables(padded), "i 32");
  EXPECT_EQ(padded.assignments(), 32U);
  EXPECT_EQ(address(padded, {3}, 5), (5 * 33 + 3) * 4U);
  EXPECT_EQ(address(padded, {3}, 5, 1024), 1024 + (5 * 33 + 3) * 4U);
  EXPECT_EQ(address(placed("(32,32):(1,32)", "ld.shared.b32: row = lane, col = 2"), {0, 2}, 5),
            (5 + 2 * 32) * 4U);
  EXPECT_EQ(address(placed("(32,32):(32,1)", "ld.shared.b32: coord = (lane + 64)"), {0, 2}, 5),
            (5 * 32 + 2) * 4U)
      << "a plain index runs through the columns";
}

// Sw<3,4,3> of byte 5 * 128 + 32: chunk 2 of line 5 is chunk 7.
TEST(Placement, SwizzlesBytesAfterTheBase) {
  std::string const access = "ld.shared.b128: row = lane%8, col = 16";
  Placement const p = placed("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", access, 16);
  EXPECT_EQ(address(p, {0, 16}, 5), 5 * 128 + 7 * 16U);
  EXPECT_EQ(address(p, {0, 16}, 5, 128), 6 * 128 + (2 ^ 6) * 16U) << "the base moves the line";
  EXPECT_EQ(address(placed("Sw<3,3,3> o 0 o (8,64):(64,1)", access, 16), {0, 16}, 5, 128),
            128 + 5 * 128 + 7 * 16U)
      << "a swizzle of elements does not see the base";
}

TEST(Placement, ElementsOfHalfAByte) {
  Placement const p = placed("(8,64):(64,1)", "ld.shared.b32: row = lane%8, col = 8*(lane/8)", 4);
  EXPECT_EQ(address(p, {0, 0}, 13), (5 * 64 + 8) / 2U);
  EXPECT_EQ(p.vector_elements(), 8U);
  EXPECT_EQ(p.grain(), 4U);
  EXPECT_EQ(placed("(8,64):(64,1)", "ldmatrix.x4", 16).grain(), 8U);
}

TEST(Placement, RawAddressesKnowNoTile) {
  Placement const p =
      placed("-", "ld.shared.b32: address = 4*lane + 256*i for i in 0..3 if lane < 16", std::nullopt);
  EXPECT_EQ(address(p, {2}, 7, 16), 16 + 28 + 512U);
  Numbers const values{2};
  EXPECT_FALSE(p.warp(std::span<std::uint64_t const>(values), std::uint64_t{0}).active[16]);
  EXPECT_TRUE(inside(p, {2}, 31));
}

// ldmatrix.x4 touches 16 rows of 32 bytes, and is moved by a row, or by the 16 bytes of a lane.
TEST(Placement, MovesANamedPatternToEveryPosition) {
  Placement const p = placed("(64,64):(64,1)", "ldmatrix.x4", 16);
  EXPECT_EQ(variables(p), "row 49, byte 7");
  EXPECT_TRUE(p.is_everywhere());
  EXPECT_EQ(p.row_mode(), 0U);
  EXPECT_EQ(address(p, {16, 32}, 3), (16 + 3) * 128 + 32U);
  EXPECT_EQ(address(p, {16, 32}, 19), (16 + 3) * 128 + 32 + 16U) << "lanes 16 to 31: the next 8 columns";
  Placement const column_major = placed("(64,64):(1,64)", "ldmatrix.x4", 16);
  EXPECT_EQ(column_major.row_mode(), 1U);
  EXPECT_EQ(address(column_major, {16, 32}, 3), (16 + 3) * 128 + 32U);
  EXPECT_EQ(variables(placed("(64,64,3):(64,1,4096)", "ldmatrix.x4", 16)), "row 49, byte 7, mode 2 3");
  EXPECT_EQ(address(placed("(64,64,3):(64,1,4096)", "ldmatrix.x4", 16), {0, 0, 2}, 1), 2 * 8192 + 128U);
  EXPECT_EQ(variables(placed("(8,8):(8,1)", "ldmatrix.x4", 16)), "row 1, byte 1") << "larger than the tile";
}

TEST(Placement, MovesAHandWrittenAccessLikeANamedOne) {
  std::string const tile = "(64,64):(64,1)", hand = "ldmatrix.x4: row = lane%16, col = 8*(lane/16)";
  Placement const p = placed(tile, hand, 16);
  EXPECT_EQ(variables(p), "row 49, col 7");
  EXPECT_EQ(p.variables()[1].step, 8U) << "elements of 16 bytes";
  EXPECT_EQ(address(p, {1, 8}, 19), address(placed(tile, "ldmatrix.x4", 16), {1, 16}, 19));
  EXPECT_EQ(variables(placed("(64,64):(1,64)", hand, 16)), "row 6, col 56") << "along the contiguous mode";
  EXPECT_EQ(variables(placed("(64,64,3):(64,1,4096)", "ld.shared.b32: coord = (lane, 0, 2)")),
            "mode 0 33, mode 1 64, mode 2 3");
  EXPECT_EQ(variables(placed("(64):(1)", "ld.shared.b32: coord = lane")), "index 33");
  EXPECT_EQ(variables(placed(tile, "ld.shared.b32: row = lane, col = i for i in 0..3")), "i 4")
      << "the text gives the positions";
}

// The text's own position is among them: rows from 0 on, odd columns.
TEST(Placement, PositionsAreNamedByTheLeastRowAndColumn) {
  Placement const p = placed("(16,16):(16,1)", "ld.shared.b32: row = lane%8 + 3, col = 2*(lane/8) + 1", 16);
  EXPECT_EQ(variables(p), "row 9, col 4");
  EXPECT_EQ(p.variables()[1].first, 1U);
  EXPECT_EQ(address(p, {3, 1}, 0), (3 * 16 + 1) * 2U);
  EXPECT_EQ(address(p, {0, 5}, 9), (1 * 16 + 7) * 2U);
}

TEST(Placement, LanesThatLeaveTheTileStayThere) {
  EXPECT_EQ(variables(placed("(8,64):(64,1)", "ld.shared.b128: row = lane, col = 0", 16)), "row 1, col 8");
  Placement const p = placed("(8,8):(8,1)", "ld.shared.b32: row = lane%4 + 100, col = 0");
  EXPECT_EQ(variables(p), "row 1, col 8");
  EXPECT_EQ(address(p, {100, 0}, 1), 101 * 8 * 4U);
  EXPECT_EQ(variables(placed("(8,8):(8,1)", "ld.shared.b32: row = lane%4 - 1, col = 0")), "row 1, col 8");
}

TEST(Placement, ClausesNarrowThePositions) {
  std::string const tile = "(64,64):(64,1)";
  EXPECT_EQ(variables(placed(tile, "ldmatrix.x4 step row 16, byte 32", 16)), "row 4, byte 4");
  EXPECT_EQ(variables(placed(tile, "ldmatrix.x4 at byte 32 step row 8", 16)), "row 7, byte 1");
  EXPECT_EQ(variables(placed(tile, "ld.shared.b32: row = lane%8 + 3, col = 0 step row 2")), "row 28, col 64");
  EXPECT_FALSE(placed(tile, "ldmatrix.x4 step row 1", 16).is_everywhere());
  EXPECT_EQ(refusal(tile, "ldmatrix.x4 at row 49", 16), "'at row 49' leaves the tile: the last row is 48");
  EXPECT_EQ(refusal(tile, "ldmatrix.x4 step byte 8", 16),
            "'step byte 8' is no multiple of the 16 that ldmatrix.x4 needs");
  EXPECT_EQ(refusal(tile, "ldmatrix.x4 step col 8", 16), "this access has no axis 'col'");
  EXPECT_EQ(refusal(tile, "ld.shared.b32: tv ((8,4),1):((1,8),0) tile (8,4) step row 8"),
            "'at' and 'step' are for accesses that are moved through the tile");
}

TEST(Placement, NamesTheStepOfItsFootprint) {
  std::string const tile = "(64,64):(64,1)";
  Placement const p = placed(tile, "ldmatrix.x4", 16);
  EXPECT_EQ(p.footprint_clause(), "step row 16, byte 32");
  EXPECT_EQ(variables(p.at_footprints()), "row 4, byte 4");
  EXPECT_EQ(placed(tile, "ldmatrix.x1", 16).footprint_clause(), "step row 8")
      << "16 bytes are its step already";
  EXPECT_EQ(placed(tile, "ld.shared.b64: row = lane/3, col = 2*(lane%3)", 16).footprint_clause(),
            "step row 16, col 8")
      << "11 rows, and columns 0 to 7: powers of two";
  EXPECT_EQ(placed(tile, "ldmatrix.x4 step row 2", 16).footprint_clause(), "");
  EXPECT_EQ(placed("(16,16):(16,1)", "ldmatrix.x4", 16).footprint_clause(), "") << "one position";
}

TEST(Placement, ThreadsAndValuesOfATile) {
  Placement const p = placed("(16,16):(16,1)", "ld.shared.b32: tv ((8,8),2):((1,8),64) tile (8,16)", 32);
  EXPECT_EQ(variables(p), "warp 2, instruction 2, tile 0 2, tile 1 1");
  // Thread 41 = 1 + 8 * 5 has element 1 + 8 * 5 of 8 x 16: row 1, column 5; its second value lies 8 columns on.
  EXPECT_EQ(address(p, {1, 0, 0, 0}, 9), (1 * 16 + 5) * 4U);
  EXPECT_EQ(address(p, {1, 1, 1, 0}, 9), (9 * 16 + 13) * 4U);
  EXPECT_TRUE(p.whole_vectors()) << "an element";
  EXPECT_FALSE(placed("(16,16):(16,1)", "ld.shared.b64: tv ((8,8),2):((1,8),64) tile (8,16)").whole_vectors())
      << "two values of a thread";
}

TEST(Placement, ThreadsThatFillNoWarp) {
  Placement const p = placed("(8,8):(8,1)", "ld.shared.b16: tv ((4,4),2):((1,4),16) tile (4,8)", 16);
  EXPECT_EQ(variables(p), "warp 1, instruction 2, tile 0 2, tile 1 1");
  Numbers const values{0, 1, 1, 0};
  auto const warp = p.warp(std::span<std::uint64_t const>(values), std::uint64_t{0});
  EXPECT_TRUE(warp.active[15]);
  EXPECT_FALSE(warp.active[16]);
  EXPECT_EQ(warp.address[15], ((4 + 3) * 8 + 3 + 4) * 2U);
}

TEST(Placement, InsideIsTheWholeVector) {
  Placement const p = placed("(4,6):(6,1)", "ld.shared.b64: row = lane%8, col = lane/8", 32);
  EXPECT_TRUE(inside(p, {0, 0}, 3));
  EXPECT_FALSE(inside(p, {0, 0}, 4)) << "row 4 of 4";
  Placement const edge = placed("(4,6):(6,1)", "ld.shared.b64: row = 0, col = lane", 32);
  EXPECT_TRUE(inside(edge, {0, 0}, 4));
  EXPECT_FALSE(inside(edge, {0, 0}, 5)) << "its second element is column 6";
}

TEST(Placement, WholeVectors) {
  std::string const access = "ld.shared.b128: row = lane%8, col = 0";
  EXPECT_TRUE(placed("(8,64):(64,1)", access, 16).whole_vectors());
  EXPECT_FALSE(placed("(8,(4,16)):(64,(1,512))", access, 16).whole_vectors()) << "runs of four elements";
  EXPECT_FALSE(placed("Sw<3,3,3> o smem_ptr[16b](unset) o (8,64):(64,1)", access, 16).whole_vectors())
      << "8 bytes stay together";
  EXPECT_TRUE(placed("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", access, 16).whole_vectors());
  EXPECT_TRUE(placed("Sw<3,3,3> o 0 o (8,64):(64,1)", access, 16).whole_vectors());
  EXPECT_FALSE(placed("Sw<3,2,3> o 0 o (8,64):(64,1)", access, 16).whole_vectors())
      << "4 elements stay together";
  EXPECT_TRUE(
      placed("Sw<3,2,3> o 0 o (8,64):(64,1)", "ld.shared.b16: row = lane%8, col = 0", 16).whole_vectors());
}

// The layout keeps element 4 of the vector elsewhere: element 4 of the row lies 512 elements on.
TEST(Placement, BitsOfAVector) {
  Placement const p = placed("(8,(4,16)):(64,(1,512))", "ld.shared.b128: row = lane%8, col = 0", 16);
  Numbers const origin{0, 0};
  std::span<std::uint64_t const> const values(origin);
  auto const place = p.lane(values, std::uint64_t{2});
  EXPECT_EQ(p.bit_of_vector(values, place, 3 * 16 + 5, std::uint64_t{0}), (128 + 3) * 16 + 5U);
  EXPECT_EQ(p.bit_of_vector(values, place, 4 * 16 + 5, std::uint64_t{0}), (128 + 512) * 16 + 5U);
  EXPECT_EQ(p.bit_of_vector(values, place, 0, std::uint64_t{64}), 64 * 8 + 128 * 16U);
  EXPECT_EQ(p.place_of_vector(values, place, 4 * 16 + 5), (128 + 512) * 16 + 5U);
}

TEST(Placement, AssignmentsEndAtTwoToThe63) {
  Access access = parse_access("ld.shared.b32: address = 4*lane + v for v");
  EXPECT_EQ(Placement(Map{}, access).assignments(), std::uint64_t{1} << 32);
  for (int i = 0; i < 2; ++i) access.variables.push_back(access.variables[0]);
  EXPECT_EQ(Placement(Map{}, access).assignments(), std::uint64_t{1} << 63);
}

TEST(Placement, VisitsEveryAssignmentTheLastFastest) {
  std::vector<Numbers> seen;
  for_each_assignment(
      placed("(64,64):(64,1)", "ldmatrix.x4 ", 32),
      [&](std::span<std::uint64_t const> values) { seen.emplace_back(values.begin(), values.end()); });
  ASSERT_EQ(seen.size(), 49 * 15U);
  EXPECT_EQ(seen[0], (Numbers{0, 0}));
  EXPECT_EQ(seen[1], (Numbers{0, 16}));
  EXPECT_EQ(seen[15], (Numbers{1, 0}));
}

}  // namespace
}  // namespace swizproof
