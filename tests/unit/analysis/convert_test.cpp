// convert_units(): the tile in other units, and where CuTe's recast is another tile.
#include <swizproof/analysis/convert.hpp>
#include <swizproof/core/error.hpp>
#include <swizproof/layout/composed.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Mapping of_f16(Layout const& layout) {
  Mapping map = mapping(layout);
  map.element_bits = 16;
  map.text = to_string(map);
  return map;
}
IntTuple const shape{std::vector<IntTuple>{8, 64}};

TEST(Conversion, PairsOfElements) {
  Conversion const found = convert_units(of_f16({shape, IntTuple(std::vector<IntTuple>{64, 1})}), 32, {});
  EXPECT_EQ(found.converted.text, "(_8,_32):(_32,_1)");
  EXPECT_EQ(found.unit_bits, 32U);
  EXPECT_TRUE(found.same);
  EXPECT_TRUE(found.converted.notes.empty());
}

TEST(Conversion, ARecastThatCoversOtherUnitsIsAnotherTile) {
  Conversion const found = convert_units(
      of_f16({IntTuple(std::vector<IntTuple>{1, 64}), IntTuple(std::vector<IntTuple>{1, 2})}), 32, {});
  EXPECT_FALSE(found.same);
  ASSERT_FALSE(found.converted.notes.empty());
}

/// A swizzle that moves bits below units of eight bytes from offset 32 on, of a row of bytes.
Conversion eights(std::int64_t bytes, std::int64_t first) {
  Mapping map =
      mapping(Layout{IntTuple(std::vector<IntTuple>{1, bytes}), IntTuple(std::vector<IntTuple>{1, 1})});
  map.on_elements.insert(map.on_elements.begin(), {Stage(Swizzle{2, 2, 3}), Stage(Displacement{first})});
  map.element_bits = 8;
  map.text = to_string(map);
  return convert_units(map, 64, {});
}

TEST(Conversion, UnitsStayWholeWhereTheTileIs) {
  EXPECT_TRUE(eights(16, 0).same);
  EXPECT_TRUE(eights(32, 0).same);
  EXPECT_TRUE(eights(32, 0).converted.notes.empty());
  EXPECT_FALSE(eights(64, 0).same);
  EXPECT_FALSE(eights(16, 32).same);
  EXPECT_FALSE(eights(16, 32).converted.notes.empty());
}

TEST(Conversion, UnitsThatDoNotDivideAreRefused) {
  Mapping const map = of_f16({shape, IntTuple(std::vector<IntTuple>{64, 1})});
  EXPECT_THROW((void)convert_units(map, 24, {}), InputError);
  Mapping none = map;
  none.element_bits.reset();
  EXPECT_THROW((void)own_unit(none), InputError);
}

}  // namespace
}  // namespace swizproof
