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

TEST(Conversion, UnitsThatDoNotDivideAreRefused) {
  Mapping const map = of_f16({shape, IntTuple(std::vector<IntTuple>{64, 1})});
  EXPECT_THROW((void)convert_units(map, 24, {}), InputError);
  Mapping none = map;
  none.element_bits.reset();
  EXPECT_THROW((void)own_unit(none), InputError);
}

}  // namespace
}  // namespace swizproof
