// One rule for the base of a tile (hardware/tile_base.hpp), and what TMA, descriptors and alignment find by their own models.
#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/descriptor.hpp>
#include <swizproof/analysis/tma.hpp>
#include <swizproof/hardware/tile_base.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace swizproof {
namespace {

struct OperandTile {
  std::string name;
  std::uint64_t period;
};

/// Tiles that swizzle addresses: K- and MN-major, of each mode.
std::vector<OperandTile> tiles_of_addresses() {
  std::vector<OperandTile> all;
  for (char const* major : {"K", "MN"})
    for (auto const& [mode, period] : {std::pair{"SW32", 256U}, {"SW64", 512U}, {"SW128", 1024U}})
      all.push_back({fmt::format("gmma:{}_{}<f16> (64,64)", major, mode), period});
  return all;
}

TEST(TileBase, OfATileOfAddressesIsThatOfItsUsers) {
  for (OperandTile const& tile : tiles_of_addresses()) {
    Mapping const map = parse_mapping(tile.name, {16});
    TmaAnswer const tma = tma_boxes(map);
    ASSERT_TRUE(tma.writes) << tile.name;
    EXPECT_EQ(tma.writes->destination_alignment, base_unit({.tma = true})) << tile.name;
    DescriptorAnswer const read = descriptors_of(map, {}, {});
    ASSERT_FALSE(read.solutions.empty()) << tile.name;
    EXPECT_EQ(read.solutions.front().bases, (Bases{base_unit({.descriptor = true}), {0}})) << tile.name;
    Alignment const agrees = alignment_of(map, {});
    EXPECT_EQ(agrees.bytes, base_unit({.tma = true, .descriptor = true, .offsets = tile.period}))
        << tile.name;
  }
}

// A tile of swizzled offsets has the period as its unit, for each user.
TEST(TileBase, OfATileOfOffsetsIsThePeriod) {
  for (auto const& [bits, line] : {std::pair{1, 16}, {2, 32}, {3, 64}}) {
    std::string const layout = fmt::format("Sw<{},3,3> o _0 o (64,{}):({},1)", bits, line, line);
    std::uint64_t const unit =
        base_unit({.tma = true, .descriptor = true, .offsets = std::uint64_t{128} << bits});
    Mapping const map = parse_mapping(layout, {16});
    TmaAnswer const tma = tma_boxes(map);
    ASSERT_TRUE(tma.writes) << layout;
    EXPECT_EQ(tma.writes->destination_alignment, unit) << layout;
    DescriptorAnswer const read = descriptors_of(map, {}, {});
    ASSERT_FALSE(read.solutions.empty()) << layout;
    EXPECT_EQ(read.solutions.front().bases, (Bases{unit, {0}})) << layout;
    EXPECT_EQ(alignment_of(map, {}).bytes, unit) << layout;
  }
}

}  // namespace
}  // namespace swizproof
