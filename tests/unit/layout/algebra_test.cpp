#include <swizproof/layout/composed.hpp>
#include <swizproof/parse/parse.hpp>
#include <swizproof/access/tiled_copy.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// CuTe's results for integers that its compiler does not know.
MappingOptions const at_run_time{.keep_dynamic = true};

std::string text(std::string_view call, MappingOptions const& options = {}) {
  return parse_mapping(call, options).text;
}

std::string note(std::string_view call, MappingOptions const& options = {}) {
  Mapping const map = parse_mapping(call, options);
  return map.notes.empty() ? "" : map.notes[0];
}

std::string reason(std::string_view call, MappingOptions const& options = {}) {
  try {
    return "accepted: " + text(call, options);
  } catch (InputError const& error) {
    return error.message;
  }
}

std::int64_t at(std::string_view call, std::uint64_t index, MappingOptions const& options = {}) {
  return static_cast<std::int64_t>(offset(parse_mapping(call, options), index).elements);
}

// Each of these was checked with CUTLASS 4.7.0's headers and Int<> for every integer.
TEST(Algebra, PlainIntegersAreStaticEverywhere) {
  EXPECT_EQ(text("tile_to_shape(gmma:MN_SW128<f16>, (256,64), (2,1))"),
            "Sw<3,4,3> o smem_ptr[16b](unset) o ((_64,_4),(_8,_8)):((_1,_4096),(_64,_512))");
  EXPECT_EQ(text("tile_to_shape((8,64):(64,1),(128,128))"), "((_8,_16),(_64,_2)):((_64,_512),(_1,_8192))");
  EXPECT_EQ(text("make_ordered_layout((4,8),(2,1))"), "(_4,_8):(_8,_1)");
  EXPECT_EQ(text("coalesce((2,4):(1,2))"), "_8:_1");
  EXPECT_EQ(text("coalesce((2,(1,6)):(1,(6,2)),(1,1))"), "(_2,_6):(_1,_2)");
  EXPECT_EQ(text("complement((4,2):(1,8),24)"), "(_2,_2):(_4,_16)");
  EXPECT_EQ(text("right_inverse((8,4):(4,1))"), "(_4,_8):(_8,_1)");
  EXPECT_EQ(text("left_inverse((4):(2))"), "(_2,_4):(_0,_1)");
  EXPECT_EQ(text("logical_divide((16,8):(8,1),(4,2))"), "((_4,_4),(_2,_4)):((_8,_32),(_1,_2))");
  EXPECT_EQ(text("composition((10,2):(16,4),(5,4):(1,5))"), "(_5,(_2,_2)):(_16,(_80,_4))");
  EXPECT_EQ(text("upcast<4>(16:2)"), "_8:_1");
  EXPECT_EQ(text("slice(Sw<3,3,3> o 0 o (8,64):(64,1),1,_)"), "((_8,_2,_4)):((_1,_-8,_16))");
  EXPECT_EQ(text("composition((8,64):(64,1),(2,_))"), "(_2,_64):(_64,_1)") << "inside a tiler";
  EXPECT_EQ(text("coalesce(make_layout((2,4),LayoutLeft))"), "_8:_1") << "inside a call";
  EXPECT_EQ(to_string(std::get<IntTuple>(parse_value("max_common_vector((8,4):(1,8),(16):(1))"))), "_16");
  EXPECT_NE(reason("composition((6,4):(1,8),8:1)").find("shape divisibility"), std::string::npos);
}

TEST(Algebra, WhatIsOnlyEchoedIsSpelledAsItWas) {
  EXPECT_EQ(text("(8,64):(64,1)"), "(8,64):(64,1)");
  EXPECT_EQ(text("Sw<3,3,3> o 72 o (8,_64):(_64,1)"), "Sw<3,3,3> o 72 o (8,_64):(_64,1)");
  EXPECT_EQ(text("Sw<3,3,3> o 0 o make_layout((8,64),LayoutRight)"), "Sw<3,3,3> o 0 o (_8,_64):(_64,_1)");
}

TEST(Algebra, RefusesNumbersAndArgumentsThatItWouldNotUse) {
  EXPECT_EQ(reason("coalesce<3>((2,4):(1,2))"), "coalesce: takes no numbers in <>, not 1");
  EXPECT_EQ(reason("upcast((2,4):(1,2))"), "upcast: takes 1 number in <>, such as upcast<2>(L), not 0");
  EXPECT_EQ(reason("upcast<f16>((2,4):(1,2))"), "expected a number");
  EXPECT_EQ(reason("group<1>((2,4):(1,2))"), "group: takes 2 numbers in <>, such as group<0,2>(L), not 1");
  EXPECT_EQ(reason("make_layout((2,4),(1,2),(3,4))"),
            "make_layout: a shape takes one argument more, its strides, LayoutLeft or LayoutRight");
  EXPECT_EQ(reason("domain_distribute((4,8),(2,2))"), "domain_distribute: the share must be one integer");
}

TEST(Algebra, NotesAndRefusalsQuoteTheWholeOfWhatCuTePrints) {
  EXPECT_EQ(
      reason("tiled_divide((4,(3,2)):(3,(12,108)), (1,2))"),
      "tiled_divide: CuTe prints ((_1,_2),_4,(_2,_2)):((_0,_12),_3,(_24,_108)), in which mode 1 is another "
      "function: at 3 it gives 36, not 108");
  EXPECT_EQ(reason("composition(((16,10),2):((1,128),5000), ((6,12):(1,13),2))"),
            "composition: CuTe prints ((_6,(_2,_6)),_2):((_1,(_13,_128)),_5000), in which mode 0 is another "
            "function: "
            "at 9 it gives 16, not 128");
  EXPECT_EQ(reason("composition(Sw<3,3,3> o 0 o ((16,10),2):((1,128),5000), ((6,12):(1,13),2))")
                .find("composition: CuTe prints Sw<3,3,3> o _0 o ((_6,"),
            0U);
}

TEST(Algebra, SaysWhereItsResultIsNotWhatCuTePrints) {
  EXPECT_EQ(text("upcast<2>(Sw<2,4,3> o -8 o 4:2)"), "Sw<2,3,3> o _-4 o _4:_1");
  EXPECT_EQ(
      note("upcast<2>(Sw<2,4,3> o -8 o 4:2)"),
      "CuTe prints Sw<2,3,3> o _2147483644 o _4:_1: it takes a negative offset for 32 bits without a sign");
  EXPECT_EQ(note("downcast<2>(Sw<2,3,3> o -16 o 4:1)").find("CuTe prints Sw<2,4,3> o _4294967264 o _8:_1"),
            0U);
  EXPECT_EQ(note("upcast<2>(Sw<2,4,3> o _8 o _4:_2)"), "");
  EXPECT_EQ(note("slice(Sw<1,3,1> o 0 o 8:1, 4)"), "CuTe does not compile this slice: no mode is free");
  EXPECT_NE(reason("complement(7:-1)").find("CuTe's result (_-1,_0):(_1,_-7) is no layout"),
            std::string::npos);
  std::vector<std::string> notes;
  Evaluated const vector =
      parse_value("max_common_vector(_16:_1, Sw<3,4,4> o smem_ptr[32b](unset) o _8:_1)", {}, &notes);
  EXPECT_EQ(to_string(std::get<IntTuple>(vector)), "_4") << "16 bytes";
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], "CuTe prints _16: it takes the bytes that the swizzle keeps together for elements");
}

TEST(Algebra, ComparesFunctionsInAsFewModesAsTheyHave) {
  std::string ones;
  for (int i = 0; i < 20000; ++i) ones += "1,";
  std::string const call = "composition(1048576:1,(" + ones + "1024,1024):(" + ones + "1,1024))";
  EXPECT_EQ(parse_mapping(call).domain()->size(), 1 << 20);
}

TEST(Composed, RefusesALayoutOfSeveralModesBelowZero) {
  EXPECT_EQ(reason("(4,2):(1,8) o -3 o 8:1"),
            "a layout in (4,2):(1,8) o -3 o 8:1 is evaluated at its index -3, and indices begin with 0");
  EXPECT_EQ(text("(4,2):(1,8) o 3 o (4):(-1)"), "(4,2):(1,8) o 3 o (4):(-1)") << "from 3 down to 0";
  EXPECT_EQ(text("512:1 o -64 o 8:1"), "512:1 o -64 o 8:1") << "one mode is a multiplication";
  EXPECT_NE(reason("(4,2):(1,8) o 0 o Sw<1,0,1> o 0 o 3:-1").find("index -2"), std::string::npos);
  EXPECT_NE(reason("(4,2):(1,8) o 0 o (2,3):(4,-2) o 0 o 6:1").find("index -4"), std::string::npos);
}

TEST(Composed, ASwizzleGoesThroughALayoutAsFarAsItIsUsed) {
  EXPECT_EQ(text("composition((1,(8,4,2)):(4,(8,1,4)),Sw<1,4,3> o 0 o (1):(1))"),
            "Sw<1,1,3> o _0 o (_1):(_1)");
}

TEST(Composed, InvertsNestedCompositionsAsCuTeDoes) {
  EXPECT_EQ(text("right_inverse(Sw<2,5,4> o 64 o Sw<2,1,4> o 0 o 1:1)"), "_1:_0 o _-64 o Sw<2,5,4>");
  EXPECT_EQ(text("left_inverse(Sw<2,3,3> o 0 o Sw<1,0,3> o 0 o (8,64):(1,8))"),
            "Sw<1,0,3> o _0 o Sw<2,3,3> o _0 o _512:_1");
  EXPECT_NE(
      reason("right_inverse(Sw<3,2,3> o 1 o Sw<2,2,5> o 0 o (24,2,15):(98,15,1))").find("does not take"),
      std::string::npos);
}

TEST(Algebra, LayoutsInCommonAreAskedInTheirOrder) {
  EXPECT_EQ(text("max_common_layout((2,5):(5,1), (4,2):(1,-8))"), "_1:_0");
  EXPECT_NE(reason("max_common_layout((4,2):(1,-8), (2,5):(5,1))").find("divisib"), std::string::npos);
}

TEST(Algebra, MergesOnlyWhatStaticIntegersAllow) {
  EXPECT_EQ(text("coalesce((_2,_3,_4):(_1,_2,_6))"), "_24:_1");
  EXPECT_EQ(text("coalesce((2,4):(1,2))", at_run_time), "(2,4):(1,2)") << "dynamic";
  EXPECT_EQ(text("coalesce((_4,8):(_1,_4))", at_run_time), "(_4,8):(_1,_4)")
      << "a dynamic extent stays by itself";
  EXPECT_EQ(text("coalesce((4,_8):(_1,4))", at_run_time), "(4,_8):(_1,4)") << "4 x _1 is dynamic";
  EXPECT_EQ(text("coalesce((_2,(_1,_6)):(_1,(_6,_2)),(_1,_1))"), "(_2,_6):(_1,_2)");
  EXPECT_EQ(text("coalesce((_1,_1):(_0,_0))"), "_1:_0");
}

TEST(Algebra, ComposesAndKeepsTheRightShape) {
  EXPECT_EQ(text("composition((_6,_2):(_8,_2),(_4,_3):(_3,_1))"), "((_2,_2),_3):((_24,_2),_8)");
  EXPECT_EQ(text("composition((10,2):(16,4),(_5,_4):(_1,_5))", at_run_time), "((5,1),(2,2)):((16,4),(80,4))");
  EXPECT_EQ(text("composition((_4,_1):(_1,_7),_8:_1)"), "(_4,_2):(_1,_7)")
      << "past the end of the left layout";
  EXPECT_EQ(text("composition((_8,_16):(_16,_1),(_4,_))"), "(_4,_16):(_16,_1)");
  EXPECT_EQ(text("composition(Sw<3,3,3>,(_8,_64):(_64,_1))"), "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
  EXPECT_EQ(text("composition(Sw<0,4,3>,(_8,_64):(_64,_1))"), "(_8,_64):(_64,_1)") << "identity vanishes";
}

TEST(Algebra, RefusesADivisibilityThatCuTeAsserts) {
  EXPECT_NE(reason("composition((_6,_4):(_1,_8),_8:_1)").find("shape divisibility"), std::string::npos);
  EXPECT_NE(reason("composition((_4,_8):(_1,_8),_4:_6)").find("stride divisibility"), std::string::npos);
  EXPECT_NE(reason("complement((_4,_4):(_1,_2),_64)").find("one-to-one"), std::string::npos);
  EXPECT_NE(reason("upcast<4>(_16:2)", at_run_time).find("dynamic stride 2 is not a multiple of 4"),
            std::string::npos);
  EXPECT_NE(reason("composition((_8,_8):(_8,_1),_0)").find("extents must be 1 or more"), std::string::npos);
  EXPECT_NE(reason("left_inverse((4):(2))", at_run_time).find("static strides"), std::string::npos);
  EXPECT_NE(reason("tile_to_shape((_8,_8):(_8,_1),(_12,_8))").find("does not divide"), std::string::npos);
}

TEST(Algebra, GivesTheFunctionWhereCuTesCompositionIsAnother) {
  // 6 and 4 do not divide each other; CuTe checks static integers only.
  std::string_view const call = "composition((6,4):(1,8),8:1)";
  EXPECT_EQ(text(call, at_run_time), "(6,4):(1,8) o _0 o 8:1");
  EXPECT_EQ(at(call, 6, at_run_time), 8) << "index 6 is coordinate (0,1)";
  EXPECT_EQ(note(call, at_run_time),
            "CuTe prints (6,1):(1,8), which is another function: it has 6 elements, not 8");
  // Even static integers are not checked enough: 9 = 3 + 6 carries out of the first mode.
  EXPECT_EQ(note("composition((_16,_10):(_1,_128),(_6,_12):(_1,_13))"),
            "CuTe prints (_6,(_2,_6)):(_1,(_13,_128)), which is another function: at 9 it gives 16, not 128");
}

TEST(Algebra, DividesAndMultiplies) {
  EXPECT_EQ(text("zipped_divide((100,60):(60,_1),(_32,_16))", at_run_time),
            "((_32,_16),(4,4)):((60,_1),(1920,_16))");
  EXPECT_EQ(text("tiled_divide((_16,_8):(_1,_16),(_4,_2))"), "((_4,_2),_4,_4):((_1,_16),_4,_32)");
  EXPECT_EQ(text("flat_divide((_16,_8):(_1,_16),(_4,_2))"), "(_4,_2,_4,_4):(_1,_16,_4,_32)");
  EXPECT_EQ(text("blocked_product((_2,_5):(_5,_1),(_3,_4):(_1,_3))"),
            "((_2,_3),(_5,_4)):((_5,_10),(_1,_30))");
  EXPECT_EQ(text("raked_product((_2,_5):(_5,_1),(_3,_4):(_1,_3))"), "((_3,_2),(_4,_5)):((_10,_5),(_30,_1))");
  EXPECT_EQ(text("tile_to_shape(gmma:K_SW128<f16>,(_128,_64,_4))"),
            "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_16),(_64,_1),(_1,_4)):((_64,_512),(_1,_0),(_0,_8192))");
  EXPECT_EQ(text("tile_to_shape((_8,_8):(_8,_1),(_16,_16),(_1,_0))"),
            "((_8,_2),(_8,_2)):((_8,_128),(_1,_64))");
}

TEST(Algebra, ReturnsIntegersAndCoordinates) {
  EXPECT_EQ(to_string(std::get<IntTuple>(parse_value("max_alignment((_8,_64):(_72,_1))"))), "_8");
  EXPECT_EQ(to_string(std::get<IntTuple>(parse_value("coshape((_4,5):(_1@0,_1@1))"))), "(_4,_5)");
  Layout const map = std::get<Layout>(parse_value("(_4,(2,3)):(_1@1,(5@1@0,_1@0))"));
  EXPECT_EQ(to_string(map), "(_4,(2,3)):(_1@1,(5@1@0,_1@0))");
  EXPECT_NE(reason("(_4,5):(_1@0,_1@1)").find("coordinate map"), std::string::npos);
  EXPECT_NE(reason("cosize((_8,_64):(_72,_1))").find("this is _568"), std::string::npos);
}

TEST(Algebra, NestsAtWill) {
  EXPECT_EQ(text("composition(tile_to_shape(gmma:K_SW128<f16>, (_64,_64)), (_8, coalesce((_2,_4):(_1,_2))))"),
            "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_8):(_64,_1)");
  EXPECT_EQ(text("Sw<3,3,3> o _0 o make_layout((_8,_64),LayoutRight)"), "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
}

TEST(Composed, InvertsAndRecasts) {
  EXPECT_EQ(text("right_inverse(Sw<3,3,3> o _0 o (_8,_64):(_64,_1))"), "Sw<3,0,-6> o _0 o (_64,_8):(_8,_1)");
  EXPECT_EQ(text("right_inverse(Sw<3,3,3> o _64 o (_8,_64):(_1,_8))"), "_512:_1 o _-64 o Sw<3,3,3>");
  EXPECT_EQ(text("upcast<8>(gmma:K_SW128<f16>)"), "Sw<3,4,3> o smem_ptr[128b](unset) o (_8,_8):(_8,_1)");
  EXPECT_EQ(text("recast_layout<32b,16b>((_8,_32):(_32,_1))"), "(_8,_64):(_64,_1)");
  EXPECT_NE(note("upcast<4>(Sw<3,1,3>)").find("offset 16 goes to 18"), std::string::npos);
  EXPECT_EQ(reason("right_inverse(gmma:K_SW128<f16>)").find("right_inverse: CuTe does not invert"), 0U);
}

TEST(Composed, SlicesOfPlainSwizzlesDecayAsInCuTe) {
  EXPECT_EQ(text("slice(Sw<3,3,3> o _0 o (_8,_64):(_64,_1),1,_)", at_run_time),
            "((_8,_2,_2,_2)):((_1,-8,16,32))");
  EXPECT_EQ(text("slice(Sw<3,3,3> o _0 o (_8,_64):(_64,_1),_1,_)"), "((_8,_2,_4)):((_1,_-8,_16))");
  EXPECT_EQ(note("slice(Sw<3,3,3> o _0 o (_8,_64):(_64,_1),1,_)"),
            "the slice starts at offset 72, which CuTe adds to the pointer");
}

TEST(Composed, SlicesOfFlaggedLayoutsStayFlagged) {
  std::string_view const slice = "slice(gmma:K_SW128<f16>,_,9)";
  Mapping const map = parse_mapping(slice);
  EXPECT_EQ(map.text, "Sw<3,4,3> o smem_ptr[16b](unset) o _9 o (_8):(_64)");
  EXPECT_EQ(parse_mapping(map.text).text, map.text);
  for (std::uint64_t row = 0; row < 8; ++row)
    EXPECT_EQ(bit_address(map, Address<std::uint64_t>{0}, row),
              bit_address(parse_mapping("gmma:K_SW128<f16>"), Address<std::uint64_t>{0}, row + 8 * 9));
  EXPECT_NE(map.notes.at(0).find("CuTe prints Sw<3,4,3> o _9 o (_8):(_64), which is another function"),
            std::string::npos);
  EXPECT_TRUE(parse_mapping("slice(gmma:K_SW128<f16>,_,_0)").notes.empty());
}

TEST(Composed, VectorsOfFlaggedLayoutsCountElementsNotBytes) {
  auto const value = [](std::string_view call) { return to_string(std::get<IntTuple>(parse_value(call))); };
  EXPECT_EQ(value("max_common_vector(gmma:K_SW128<f16>,(_8,_64):(_64,_1))"), "_8") << "16 bytes";
  EXPECT_EQ(value("max_alignment(gmma:K_SW128<f32>)"), "_4");
}

TEST(TiledCopy, ATilerWithGapsIsRepeatedIntoThem) {
  TiledCopy const copy = parse_tiled_copy(
      "TiledCopy\n  Tiler_MN:       ((_8,_2):(_1,_16),_1)\n  TiledLayout_TV: (_16,_1):(_1,_0)\nCopy_Atom\n"
      "  ThrID:        _1:_0\n  ValLayoutSrc: (_1,_1):(_0,_1)\n  ValLayoutDst: (_1,_1):(_0,_1)\n"
      "  ValLayoutRef: (_1,_1):(_0,_1)\n  ValueType:    16b\n");
  EXPECT_EQ(to_string(copy.tile), "(_32,_1)");
  EXPECT_EQ(copy.source_tv.shape.mode(1).product(), 2) << "the copy in the gap";
  EXPECT_EQ(copy.source_tv(std::uint64_t{8}).elements, 16U) << "thread 8";
  EXPECT_EQ(copy.source_tv(std::uint64_t{16}).elements, 8U) << "thread 0, second value";
  EXPECT_EQ(copy.layout_s_tv(std::uint64_t{8}).elements, 8U) << "CuTe counts in the tiler's order";
}

TEST(TiledCopy, AThrCopyIsOfAThreadThatTheCopyHas) {
  std::string const copy =
      " TiledCopy\n  Tiler_MN:       (_16,_1)\n  TiledLayout_TV: (_16,_1):(_1,_0)\nCopy_Atom\n"
      "  ThrID:        _1:_0\n  ValLayoutSrc: (_1,_1):(_0,_1)\n  ValLayoutDst: (_1,_1):(_0,_1)\n"
      "  ValLayoutRef: (_1,_1):(_0,_1)\n  ValueType:    16b\n";
  EXPECT_EQ(parse_tiled_copy("ThrCopy ThrIdx: 15" + copy).thread, 15);
  EXPECT_EQ(parse_tiled_copy(copy).thread, std::nullopt);
  std::vector<std::string> notes;
  (void)parse_noted_access("ld.shared.b16: ThrCopy ThrIdx: 15" + copy, notes);
  EXPECT_EQ(notes, std::vector<std::string>{"this ThrCopy is thread 15; the access is of all threads"});
  try {
    (void)parse_tiled_copy("ThrCopy ThrIdx: 16" + copy);
    ADD_FAILURE() << "accepted";
  } catch (InputError const& e) {
    EXPECT_EQ(e.message, "ThrIdx is not below the 16 threads of the TiledCopy");
    EXPECT_EQ(e.at, 16U);
  }
}

TEST(TiledCopy, PointsAtTheLineThatIsWrong) {
  auto const error = [](std::string_view block) {
    try {
      (void)parse_tiled_copy(block);
    } catch (InputError const& e) {
      return e;
    }
    return InputError{"accepted"};
  };
  std::string_view const atom =
      "Copy_Atom\nThrID: _1:_0\nValLayoutSrc: (_1,_2):(_0,_1)\nValLayoutDst: (_1,_2):(_0,_1)\n";
  EXPECT_EQ(error(atom).message, "the block has no line ValLayoutRef");
  std::string const whole = std::string(atom) + "ValLayoutRef: (_1,_2):(_0,_1)\nValueType: 16b";
  EXPECT_EQ(to_string(parse_tiled_copy(whole).tile), "_2");
  EXPECT_EQ(error(whole + "\nThrID: _1:_0").message, "ThrID is given twice");
  EXPECT_EQ(error(whole + "\nValues: 3").at, whole.size() + 1);
  EXPECT_EQ(
      error("TiledCopy\nTiler_MN: (_4,_1)\nTiledLayout_TV: (_4,_1):(_1,_0)\n" + whole).message,
      "this is not a TiledCopy that CuTe can make: TiledLayout_TV has too few values for the Copy_Atom");
}

}  // namespace
TEST(Algebra, ValuesAreTheirLayout) {
  auto const text = [](std::vector<std::int64_t> const& values) {
    std::optional<Layout> const layout = layout_of_values(values);
    return layout ? to_string(*layout) : std::string("none");
  };
  EXPECT_EQ(text({0, 32, 64, 96, 8192, 8224, 8256, 8288}), "(_4,_2):(_32,_8192)");
  EXPECT_EQ(text({0, 5, 10}), "(_3):(_5)");
  EXPECT_EQ(text({0, 0, 0, 0}), "(_4):(_0)");
  EXPECT_EQ(text({0}), "():()");
  EXPECT_EQ(text({0, 1, 2, 3, 5, 6}), "none");   // a run of 4 and one of 2
  EXPECT_EQ(text({0, 1, 4, 5, 9, 10}), "none");  // steps of 4, then of 5
  EXPECT_EQ(text({7, 8, 9, 10}), "none");        // no layout begins at 7
  EXPECT_EQ(text({0, 1, 4, 5, 8, 9, 100, 101, 104, 105, 108, 109}), "(_2,_3,_2):(_1,_4,_100)");
}

}  // namespace swizproof
