#include <swizproof/layout/composed.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Layout layout(std::string_view text) { return std::get<Layout>(parse_mapping(text).on_elements.at(0)); }

TEST(Layout, RunsLeftmostModeFastest) {
  Layout const l = layout("(_2,(_2,_2)):(_4,(_2,_1))");
  std::uint32_t const expected[] = {0, 4, 2, 6, 1, 5, 3, 7};
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(l(i).elements, expected[i]);
}

TEST(Layout, GoesOnAlongTheLastModePastItsEnd) {
  EXPECT_EQ(layout("4:2")(5U).elements, 10U);
  EXPECT_EQ(layout("(2,3):(1,10)")(7U).elements, 31U);  // (1,3)
}

TEST(Layout, KnowsItsSizeCosizeRankAndDepth) {
  Layout const l = layout("((_4,_8),(_2,_2)):((_0,_1),(_8,_0))");
  EXPECT_EQ(l.size(), 128);
  EXPECT_EQ(l.cosize(), 16);
  EXPECT_EQ(l.rank(), 2U);
  EXPECT_EQ(l.shape.depth(), 2);
  EXPECT_EQ(layout("():()").size(), 1);
  EXPECT_EQ(layout("(_32,_32):(_33,_1)").cosize(), 1055);
}

TEST(Layout, TakesOneIndexForEachTopLevelMode) {
  Layout const l = layout("((8,2),64):((64,512),1)");
  std::uint32_t const at[] = {9, 5};
  EXPECT_EQ(l(std::span<std::uint32_t const>(at)).elements, 64U + 512U + 5U);
}

TEST(Layout, NegativeStridesWrapAtTheWord) {
  EXPECT_EQ(static_cast<std::int64_t>(layout("_4:_-8")(std::uint64_t{3}).elements), -24);
  EXPECT_EQ(static_cast<std::int32_t>(layout("_4:_-8")(std::uint32_t{3}).elements), -24);
}

TEST(Layout, PrintsCoordinateStridesOutermostLast) {
  IntTuple stride(5, false);
  stride.basis = {0, 1};
  EXPECT_EQ(to_string(stride), "5@1@0");
  EXPECT_TRUE(IntTuple(std::vector<IntTuple>{1, stride}).has_basis());
}

TEST(Displacement, PrintsItsThreeKinds) {
  EXPECT_EQ(to_string(Displacement{-16}), "_-16");
  EXPECT_EQ(to_string(Displacement{72, false}), "72");
  EXPECT_EQ(to_string(Displacement{192, false, 64}), "M_128|(64&64)=192");
}

TEST(Layout, PrintsAsItWasWritten) {
  for (char const* text : {"(_8,_64):(_64,_1)", "((_4)):((_2))", "(8,_3):(_3,-1)", "_12:_-5", "():()"})
    EXPECT_EQ(to_string(layout(text)), text);
}

TEST(Mapping, ByteSwizzleSeesTheBaseAndElementSwizzleDoesNot) {
  Mapping const bytes = parse_mapping("Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)");
  EXPECT_EQ(bit_address(bytes, Address<std::uint64_t>{0}, std::uint64_t{1}) / 8, 0x90U) << "row 1";
  EXPECT_EQ(bit_address(bytes, Address<std::uint64_t>{128}, std::uint64_t{0}) / 8, 0x90U) << "base in row 1";
  Mapping const elements = parse_mapping("Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
  EXPECT_EQ(offset(elements, std::uint64_t{1}).elements, 0x48U);
}

TEST(Mapping, SubByteElementsKeepTheirPlaceInTheByte) {
  Mapping const map = parse_mapping("Sw<3,4,3> o smem_ptr[4b](unset) o (_8,_256):(_256,_1)");
  EXPECT_EQ(bit_address(map, Address<std::uint64_t>{0}, std::uint64_t{1 + 8}), (0x90U * 8) + 4)
      << "row 1, column 1";
}

TEST(Map, WithoutItsSwizzleKeepsWhatIsBelow) {
  struct Case {
    std::string_view given, below;
  };
  for (auto const& [given, below] :
       {Case{"Sw<3,3,3> o _0 o (8,64):(64,1)", "(8,64):(64,1)"}, Case{"(8,64):(64,1)", "(8,64):(64,1)"},
        Case{"Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "(8,64):(64,1)"},
        Case{"Sw<3,3,3> o 8 o Sw<2,3,3> o _0 o (8,64):(64,1)", "8 o Sw<2,3,3> o _0 o (8,64):(64,1)"},
        Case{"fn(x) = x ^ 16 o smem_ptr[16b](unset) o Sw<3,3,3> o _0 o (8,64):(64,1)",
             "Sw<3,3,3> o _0 o (8,64):(64,1)"}}) {
    Map const map = without_swizzle(parse_mapping(given));
    EXPECT_TRUE(map.on_bytes.empty()) << given;
    EXPECT_EQ(to_string(map), below) << given;
  }
}

TEST(Map, HasItsValueInEveryUnit) {
  Map const map = parse_mapping("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)");
  Address<std::uint64_t> const base{4096};
  EXPECT_EQ(value(map, base, std::uint64_t{1}, Unit::elements), 64U);
  EXPECT_EQ(value(map, base, std::uint64_t{1}, Unit::bytes), 4096U + 144);
  EXPECT_EQ(value(map, base, std::uint64_t{1}, Unit::bits), 8 * (4096U + 144));
}

}  // namespace
}  // namespace swizproof
