#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

InputError input_error_of(std::string_view text, MappingOptions const& options = {}) {
  try {
    (void)parse_mapping(text, options);
  } catch (InputError const& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << text;
  return {""};
}

TEST(Parse, ReadsEverySpellingOfASwizzle) {
  for (char const* text : {"Sw<3,4,3>", "S<3,4,3>", "Swizzle<3,4,3>", " Sw < 3 , 4 , 3 > "})
    EXPECT_EQ(parse_swizzle(text), swizzle_128B) << text;
  EXPECT_EQ(parse_swizzle("S <2, 0, -3 >"), (Swizzle{2, 0, -3}));
}

TEST(Parse, ReadsWhatCuTePrints) {
  for (char const* text :
       {"(_8,_64):(_64,_1)", "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,3,3> o 72 o (_8,_64):(_64,_1)",
        "Sw<2,3,3> o _-16 o (_4,_8):(_8,_1)", "Sw<3,4,3> o M_128|(64&64)=192 o (_4,_64):(_256,_1)",
        "Sw<2,0,2> o _0 o Sw<2,2,2> o _1 o (_4,_16):(_16,_1)", "(_4,_8):(_8,_1) o _0 o (_2,_16):(_16,_1)",
        "_512:_1 o _-64 o Sw<3,3,3>", "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)",
        "Sw<0,4,3> o smem_ptr[16b](unset) o ((_8,_8),(_8,_2)):((_8,_64),(_1,_512))"})
    EXPECT_EQ(parse_mapping(text).text, text);
}

InputError access_error(std::string_view text) {
  try {
    (void)parse_access(text);
  } catch (InputError const& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << text;
  return {""};
}

TEST(ParseAccess, FindsTheTileBehindTheThreadValueLayout) {
  Access const access = parse_access("ldmatrix.x4: tv tile_to_shape((16,2):(1,16),(32,8)) tile (32,8)");
  EXPECT_EQ(to_string(std::get<ThreadValues>(access.where).tv), "((_16,_2),(_2,_4)):((_1,_32),(_16,_64))");
  EXPECT_EQ(access_error("ldmatrix.x4: tv tile_to_shape((16,2):(1,16),(32,8))").message,
            "a thread-value layout needs the tile that it indexes");
}

TEST(ParseAccess, TakesThreadValuesOnlyFromALayoutThatIsAllOfIt) {
  std::string_view const swizzled =
      "ldmatrix.x4: tv Sw<3,4,3> o smem_ptr[16b](unset) o (32,8):(1,32) tile (32,8)";
  EXPECT_EQ(access_error(swizzled).message,
            "a thread-value layout is a plain layout of two modes, (thread, value)");
  EXPECT_EQ(access_error(swizzled).at, 16U);
  EXPECT_EQ(access_error("ldmatrix.x4: tv slice((32,8,2):(1,32,256),(_,_,1)) tile (32,16)").message,
            "this layout is not the whole function: the slice starts at offset 256, which CuTe adds to the "
            "pointer");
  EXPECT_EQ(access_error("ldmatrix.x4: tv (32,8):(1,32) tile (1048576,1048576,1048576,1048576)").message,
            "the tile has more than 2^62 elements");
}

TEST(ParseAccess, CountsRowsBeyond32Bits) {
  EXPECT_EQ(access_error("ldmatrix.x1: row = lane + 4294967296, byte = 0").message,
            "a lane is more than 2^20 rows or bytes from the origin");
}

TEST(ParseAccess, AForNeedsItsVariable) {
  EXPECT_EQ(access_error("ld.shared.b32: row = lane, col = 0 for").message,
            "expected the name of a variable after 'for'");
}

TEST(ParseAccess, ANamedPatternMayStandBetweenSpaces) {
  EXPECT_EQ(parse_access(" ldmatrix.x4 ").name, "ldmatrix.x4");
}

TEST(Parse, AVariableMayBeCalledLikeASwizzle) {
  Access const access = parse_access("ld.shared.b32: row = lane, col = S<2 for S in 0..3");
  EXPECT_EQ(std::get<Coordinate>(access.where).modes.size(), 2U);
  InputError const error = access_error("ld.shared.b32: row = Sw<3,3,2>(lane), col = 0");
  EXPECT_EQ(error.at, 21U) << "in the whole text";
  EXPECT_EQ(error.input, "ld.shared.b32: row = Sw<3,3,2>(lane), col = 0");
}

TEST(Parse, APointerLiesWhereItsElementsCan) {
  EXPECT_EQ(input_error_of("smem_ptr[16b](0x101) o (8,64):(64,1)").message,
            "an element of 16 bits does not lie at this address");
  EXPECT_EQ(parse_mapping("smem_ptr[4b](0x101) o (8,64):(64,1)").base_address, 0x101U);
}

TEST(Parse, TheAlgebraTakesNoFunctionOfBytes) {
  EXPECT_EQ(input_error_of("composition(tma:128B, (8,64):(64,1))").message,
            "a TMA mode without a box maps byte addresses, and the algebra acts on elements");
  EXPECT_EQ(input_error_of("upcast<2>(tma:128B)").at, 10U);
  EXPECT_EQ(input_error_of("size(Sw<3,4,3>)").message, "size: a swizzle alone has no size");
  EXPECT_EQ(
      input_error_of("coalesce(5)").message,
      "coalesce: argument 1 must be a layout, and _5 is a shape: make_layout(_5) is its column-major layout");
  EXPECT_EQ(input_error_of("recast_layout<f99,f16>((2,4):(1,2))").at, 14U);
}

TEST(Parse, ReadsTheOlderFlag) {
  Mapping const map = parse_mapping("S<3,4,3> o smem_ptr_16b(unset) o (_8,_64):(_64,_1)");
  EXPECT_EQ(map.element_bits, 16U);
  EXPECT_TRUE(map.acts_on_bytes());
}

TEST(Parse, TakesTheValueOfMixedBits) {
  Mapping const map = parse_mapping("Sw<3,4,3> o M_128|(64&64)=192 o (_4,_64):(_256,_1)");
  EXPECT_EQ(std::get<Displacement>(map.on_elements.at(1)).elements, 192);
}

TEST(Parse, ReadsDescriptorsAsTheLayoutsThatAreRead) {
  auto const places = [](std::string const& layout, std::uint64_t base) {
    Mapping const map = parse_mapping(layout);
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(map.domain()->size()); ++i)
      all.push_back(value(map, Address<std::uint64_t>{base}, i, Unit::bytes));
    return all;
  };
  struct Read {
    char const* text;
    Major major;
    unsigned bytes, rows, depth;
  };
  for (Read const& r : {Read{"desc:0x4002004000010048<f16>,K (64,16)", Major::k, 2, 64, 16},
                        {"desc:0x0000000800400008<f16>,MN (64,16)", Major::mn, 2, 64, 16},
                        {"desc:0x0000000800400008<e4m3>,K (24,32)", Major::k, 1, 24, 32},
                        {"desc:0x8000008000200010<bf16>,MN (128,16)", Major::mn, 2, 128, 16},
                        {"desc:0x4000008000200010<bf16>,MN (8,16)", Major::mn, 2, 8, 16},
                        {"desc:0x2000408000200000<tf32>,MN (64,8)", Major::mn, 4, 64, 8},
                        {"desc:0xC000404000010000<i8>,K (128,32)", Major::k, 1, 128, 32}}) {
    std::string const text = r.text;
    std::uint64_t const bits = parse_number(text, 5, text.find('<'), "a number");
    MatrixDescriptor const d = decode(reader_of(bits), bits).descriptor;
    std::vector<std::uint64_t> read;
    for (std::uint64_t k = 0; k < r.depth; ++k)
      for (std::uint64_t row = 0; row < r.rows; ++row)
        read.push_back(address_read(d, r.major, r.bytes, std::uint64_t{4096} + d.start, row, k).bytes);
    EXPECT_EQ(places(text, 4096), read) << text;
  }
}

TEST(Parse, RefusesDescriptorsWithThePlace) {
  auto const message = [](std::string const& text) { return input_error_of(text).message; };
  EXPECT_EQ(input_error_of("desc:0x4000404000010000<f16>,N (64,16)").at, 29U);
  EXPECT_EQ(input_error_of("desc:0x0001004000010000<f16>,K (64,16)").at, 5U);
  EXPECT_NE(message("desc:0x0010004000010000<f16>,K (64,16)").find("reserved bits are set: 0x10000000000000"),
            std::string::npos);
  EXPECT_NE(message("desc:0x6000404000010000<f16>,K (64,16)").find("swizzle mode (bits 63..61) is 3"),
            std::string::npos);
  EXPECT_NE(message("desc:0x4010404000010000<f16>,K (64,16)").find("LBO mode (bit 52)"), std::string::npos);
  EXPECT_NE(message("desc:0x4000004000010000<f16>,K (64,32)").find("one instruction reads (rows, 16)"),
            std::string::npos);
  EXPECT_NE(message("desc:0x4000004000010000<f16>,K (12,16)").find("no instruction of wgmma reads 12 rows"),
            std::string::npos);
  EXPECT_NE(message("desc:0x4000004000010000<tf32>,MN (64,8)").find("K-major alone"), std::string::npos);
  EXPECT_NE(message("desc:0x4000004000010000<f16>,MN (72,16)").find("the addresses of 72 rows are no layout"),
            std::string::npos);
  EXPECT_NE(message("desc:0x4000004000010000,K (64,16)").find("element type is missing"), std::string::npos);
}

TEST(Parse, NamesWgmmaAtomsAndTilesThem) {
  auto const text = [](std::string_view atom) { return parse_mapping(atom).text; };
  EXPECT_EQ(text("gmma:K_SW128<f16>"), "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)");
  EXPECT_EQ(text("gmma:K_SW64<f32>"), "Sw<2,4,3> o smem_ptr[32b](unset) o (_8,_16):(_16,_1)");
  EXPECT_EQ(text("gmma:MN_SW32<bf16>"), "Sw<1,4,3> o smem_ptr[16b](unset) o (_16,_8):(_1,_16)");
  EXPECT_EQ(text("gmma:K_INTER<fp8> (16,32)"),
            "Sw<0,4,3> o smem_ptr[8b](unset) o ((_8,_2),(_16,_2)):((_16,_128),(_1,_256))");
  EXPECT_EQ(
      text("gmma:MN_SW128<f16> (128,64,3)"),
      "Sw<3,4,3> o smem_ptr[16b](unset) o ((_64,_2),(_8,_8),(_1,_3)):((_1,_512),(_64,_1024),(_0,_8192))");
  EXPECT_EQ(parse_mapping("gmma:MN_SW64", {32}).element_bits, 32U);
  EXPECT_EQ(text("umma:K_SW128<f16>"), text("gmma:K_SW128<f16>"));
  EXPECT_EQ(text("umma:MN_SW128_32B<tf32>"), "Sw<2,5,2> o smem_ptr[32b](unset) o (_32,_4):(_1,_32)");
}

TEST(Parse, LaysOutTmaBoxes) {
  auto const text = [](std::string_view box) { return parse_mapping(box).text; };
  EXPECT_EQ(text("tma:128B<f16> (128,64)"), "Sw<3,4,3> o smem_ptr[16b](unset) o (_128,_64):(_64,_1)");
  EXPECT_EQ(text("tma:64B<f16> (8,8)"), "Sw<2,4,3> o smem_ptr[16b](unset) o (_8,_8):(_32,_1)")
      << "a row takes the swizzle's width";
  EXPECT_EQ(text("tma:64B<f16> (8,64)"), "Sw<2,4,3> o smem_ptr[16b](unset) o (_8,(_32,_2)):(_32,(_1,_256))")
      << "two boxes, one behind the other";
  EXPECT_EQ(text("tma:none<f32> (8,12)"), "Sw<0,4,3> o smem_ptr[32b](unset) o (_8,_12):(_12,_1)");
  EXPECT_EQ(parse_mapping("tma:128B (8,32)", {32}).element_bits, 32U);
}

TEST(Parse, ReadsBoundPointers) {
  Mapping const plain = parse_mapping("smem_ptr[16b](0x5626ac5a2c00) o (_8,_64):(_64,_1)");
  EXPECT_EQ(plain.base_address, 0x5626ac5a2c00U);
  EXPECT_EQ(plain.element_bits, 16U);
  EXPECT_FALSE(plain.acts_on_bytes());
  for (char const* text : {"smem_ptr_S<3,4,3>_16b(0x7f00) o (_8,_64):(_64,_1)",
                           "Sw<3,4,3>_smem_ptr[16b](0x7f00) o (_8,_64):(_64,_1)"}) {
    Mapping const map = parse_mapping(text);
    EXPECT_EQ(map.text, "Sw<3,4,3>_smem_ptr[16b](0x7f00) o (_8,_64):(_64,_1)");
    EXPECT_EQ(parse_mapping(map.text).text, map.text);
    EXPECT_TRUE(map.acts_on_bytes());
  }
  Mapping const half = parse_mapping("Sw<3,4,3>_smem_subptr[4b](0x400.4) o (_8,_256):(_256,_1)");
  EXPECT_EQ(bit_address(half, Address<std::uint64_t>{*half.base_address}, std::uint64_t{0}), 0x400U * 8 + 4);
  Mapping const global = parse_mapping("gmem_ptr[32b](0x100) o (3,4):(_1,3)");
  EXPECT_FALSE(global.base_address);
  EXPECT_NE(global.notes.at(0).find("no pointer to shared memory"), std::string::npos);
}

TEST(Parse, IgnoresATableOnlyIfItIsTheLayouts) {
  std::string const table =
      "(_2,_3):(_3,_1)\n       0    1    2 \n    +----+----+----+\n 0  |  0 |  1 |  2 |\n    "
      "+----+----+----+\n"
      " 1  |  3 |  4 |  5 |\n    +----+----+----+\n";
  EXPECT_EQ(parse_mapping(table).text, "(_2,_3):(_3,_1)");
  std::string wrong = table;
  wrong[wrong.find("4 |")] = '7';
  EXPECT_EQ(input_error_of(wrong).message, "the table says 7, the layout 4");
  EXPECT_EQ(input_error_of(wrong).at, wrong.find("7 |"));
  EXPECT_THROW((void)parse_mapping(table.substr(0, table.size() - 10)), InputError);
  EXPECT_NO_THROW(
      (void)parse_mapping("ptr[32b](0x10) o (_2,_3):(_1,_2):\n    0    1    2\n    3    4    5\n"));
  EXPECT_THROW((void)parse_mapping("ptr[32b](0x10) o (_2,_3):(_1,_2):\n    0    1    2\n    3    4\n"),
               InputError);
  EXPECT_EQ(parse_mapping("% Layout: (_2,_2):(_1,_2)\n\\documentclass{standalone}\n").text,
            "(_2,_2):(_1,_2)");
}

TEST(Parse, WarnsOfTheFlagThatStdCoutLoses) {
  Mapping const map = parse_mapping("Sw<3,4,3> o _0 o ((_8,_16),(_64,_1)):((_64,_512),(_1,_0))");
  ASSERT_EQ(map.notes.size(), 1U);
  EXPECT_NE(map.notes[0].find("you mean Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_16)"), std::string::npos);
  EXPECT_TRUE(parse_mapping("Sw<3,3,3> o _0 o (_8,_64):(_64,_1)").notes.empty());
}

TEST(Parse, ABareSwizzleActsOnBytesUnlessAnElementIsNamed) {
  EXPECT_TRUE(parse_mapping("Sw<3,4,3>").acts_on_bytes());
  EXPECT_FALSE(parse_mapping("Sw<3,3,3>", {16}).acts_on_bytes());
}

TEST(Parse, KnowsTheTmaModes) {
  auto const at = [](std::string_view mode, std::uint64_t x) {
    return value(parse_mapping("tma:" + std::string(mode)).on_bytes, x);
  };
  EXPECT_EQ(at("none", 0x3ff), 0x3ffU);
  EXPECT_EQ(at("32B", 0x80), 0x90U);
  EXPECT_EQ(at("128B", 0x380), 0x3f0U);
  EXPECT_EQ(at("128B_ATOM_32B", 0x180), 0x1e0U);
  EXPECT_EQ(at("128B_ATOM_32B_FLIP_8B", 0x80), 0xa8U);
  EXPECT_EQ(at("128B_ATOM_64B", 0x80), 0xc0U);
}

// The text after the function says what x is.
TEST(Parse, PutsAFunctionOnALayout) {
  auto const at = [](std::string_view text, std::uint64_t index) {
    return bit_address(parse_mapping(text, {16}), Address<std::uint64_t>{0}, index) / 8;
  };
  std::string const f = "fn(x) = x ^ ((x >> 3) & 8) o ";
  EXPECT_EQ(at(f + "(8,64):(64,1)", 1), 2U * (64 ^ 8)) << "element offsets of a layout";
  EXPECT_EQ(at(f + "smem_ptr[16b](unset) o (8,64):(64,1)", 1), 128U) << "byte addresses";
  EXPECT_EQ(at(f + "smem_ptr[16b](unset) o (8,32):(32,1)", 1), (64U ^ 8));
  EXPECT_EQ(at(f + "64 o (8,64):(64,1)", 0), 2U * (64 ^ 8)) << "behind an offset";
  EXPECT_EQ(at(f + "smem_ptr[16b](unset) o _32 o (8,64):(64,1)", 0), (64U ^ 8));
  EXPECT_EQ(at(f + "Sw<1,3,3> o _0 o (8,64):(64,1)", 1), 2U * (64 ^ 8 ^ 8)) << "behind a swizzle of elements";
  EXPECT_EQ(at(f + "8 o Sw<1,3,3> o _0 o (8,64):(64,1)", 1), 2U * (((64 ^ 8) + 8) ^ 8));
  EXPECT_EQ(at(f + "gmma:K_SW128<f16>", 1), ((128U ^ 16) ^ 0)) << "behind a swizzle of bytes";
  EXPECT_EQ(at(f + "Sw<3,4,3> o smem_ptr[16b](unset) o (8,32):(32,1)", 3), ((192U ^ 16) ^ 8));
  EXPECT_EQ(at("fn(o) = o ^ 8 o coalesce((8,8):(1,8))", 2), 2U * (2 ^ 8));
  EXPECT_TRUE(parse_mapping(f + "(8,64):(64,1)").on_bytes.empty()) << "without --element, too";
  for (std::string const bad :
       {"", "64", "Sw<3,3,3>", "(8,64)", "tma:128B", "smem_ptr[16b](unset)", "64 o 64 o (8):(1)",
        "smem_ptr[16b](unset) o Sw<3,4,3> o smem_ptr[16b](unset) o (8):(1)", "(8):(1@0)", "(8):(1) o (8):(1)",
        "smem_ptr[32b](unset) o (8):(1)"})
    EXPECT_THROW((void)parse_mapping(f + bad, {16}), InputError) << bad;
}

TEST(ParseError, PointsAtTheCharacter) {
  EXPECT_EQ(input_error_of("(8,64)").at, 6U);
  EXPECT_EQ(input_error_of("(8,64):(64,1").at, 12U);
  EXPECT_EQ(input_error_of("(8,64):(64,x)").at, 11U);
  EXPECT_EQ(input_error_of("(8,64):(64,1) junk").at, 14U);
  EXPECT_EQ(input_error_of("Sw<3,4>").at, 6U);
  EXPECT_EQ(input_error_of("(8,64):(64,1) o (8,64):(64,1)").hint.empty(), false);
  EXPECT_EQ(parse_mapping("Sw<3,3,3> o (8,64):(64,1)").text, "Sw<3,3,3> o _0 o (8,64):(64,1)");
  EXPECT_EQ(input_error_of("(8,64):((64,2),1)").at, 7U);
  EXPECT_EQ(input_error_of("fn(x) = x ^ y").at, 12U);
  EXPECT_EQ(input_error_of("tma:256B").at, 4U);
  EXPECT_EQ(input_error_of("gmma:K_SW96<f16>").at, 5U);
  EXPECT_EQ(input_error_of("coalesce(complement((_4,_4):(_1,_2),_64))").at, 9U) << "the inner call";
  EXPECT_EQ(input_error_of("composition((_8,_8):(_8,_1), (_4,x))").at, 33U);
}

TEST(ParseError, NamesTheReasonOfAnInvalidSwizzle) {
  EXPECT_NE(input_error_of("Sw<4,0,2>").message.find("exceed |shift|"), std::string::npos);
  EXPECT_NE(input_error_of("S<-1,0,2>").message.find("bits"), std::string::npos);
  EXPECT_NE(input_error_of("S<5,29,5>").message.find("32"), std::string::npos);
  EXPECT_NE(input_error_of("S<999999999999,0,2>").message.find("range"), std::string::npos);
}

TEST(ParseError, RefusesWhatIsNoLayout) {
  for (char const* bad : {"",
                          " ",
                          "o",
                          "8",
                          "_",
                          "(8,0):(1,8)",
                          "(8,-2):(1,8)",
                          "(_8,_):(1,8)",
                          "(4,3):(1@0,1@1)",
                          "Sw<3,3,3> o",
                          "_0 o (8):(1)",
                          "Sw<3,3,3> o _0",
                          "Sw<3,3,3> o _0 o",
                          "Sw<3,4,3> o smem_ptr[16b](unset)",
                          "smem_ptr[16b](unset) o (8):(1)",
                          "Sw<3,4,3> o smem_ptr[17b](unset) o 8:1",
                          "Sw<3,4,3> o smem_ptr[16b] o 8:1",
                          "(8,64):(64,1):(1,2)",
                          "fn",
                          "fn(x)",
                          "fn(x) =",
                          "fn() = 1",
                          "fn(1) = 1",
                          "tma:",
                          "gmma:K_SW128",
                          "gmma:SW128<f16>",
                          "gmma:K_SW128<f17>",
                          "gmma:K_SW128<f16> (100,64)",
                          "tma:128B (8,64)",
                          "tma:128B<f16> (8,64,2)",
                          "tma:128B<f16> (257,64)",
                          "tma:128B<f16> (8,4)",
                          "tma:128B<f16> (8,96)",
                          "tma:32B<f16> (3,32)",
                          "smem_ptr[16b](unset) o 8:1",
                          "smem_ptr[16b](0x7f00)",
                          "tmem_[32b](0x0000.0000) o 8:1",
                          "smem_sparse<2>_ptr[16b](0x7f00) o 8:1",
                          "ArithTuple(_0,_3) o (_4,5):(_1@0,_1@1)",
                          "coalesce((8,4))",
                          "coalesce()",
                          "frobnicate(8:1)",
                          "composition(8:1,x)",
                          "Sw<3,3,3> o _0 o max_alignment(8:1)",
                          "Sw<3,3,3> o M_0|(64&32)=64 o 8:1",
                          "(99999999999999999999):(1)",
                          "(4294967296,4294967296):(1,4294967296)",
                          "(2,2):(9223372036854775807,1)",
                          "Sw<3,3,3> o _0 o 5 o 8:1"})
    EXPECT_THROW((void)parse_mapping(bad), InputError) << bad;
}

TEST(ParseError, RefusesEnormousInput) {
  EXPECT_THROW((void)parse_mapping(std::string(10000, '(')), InputError);
  EXPECT_THROW((void)parse_mapping(std::string(2 << 20, '8')), InputError);
}

TEST(ParseElement, KnowsTypesAndBits) {
  EXPECT_EQ(parse_element("bf16"), 16U);
  EXPECT_EQ(parse_element("4b"), 4U);
  EXPECT_EQ(parse_element("s8"), 8U);
  for (char const* sixteen : {"half_t", "bfloat16_t"}) EXPECT_EQ(parse_element(sixteen), 16U) << sixteen;
  for (char const* eight : {"float_e4m3_t", "float_e5m2_t", "int8_t", "uint8_t"})
    EXPECT_EQ(parse_element(eight), 8U) << eight;
  EXPECT_EQ(parse_element("tfloat32_t"), 32U);
  EXPECT_EQ(parse_element_type("cutlass::half_t").name, "f16");
  EXPECT_EQ(parse_element_type("16b").name, "16b");
  EXPECT_EQ(parse_element_type("b16").name, "16b");
  for (char const* bad : {"", "f17", "3b", "256b", "16", "b", "b17", "16bb", "b16b"})
    EXPECT_THROW((void)parse_element(bad), InputError) << bad;
  EXPECT_THROW((void)parse_mapping("Sw<3,4,3> o smem_ptr[16b](unset) o 8:1", {32}), InputError)
      << "contradiction";
}

TEST(ParseElement, NamesTheTypeThatMayBeMeant) {
  auto const hint = [](char const* text) {
    try {
      (void)parse_element(text);
    } catch (InputError const& error) {
      return error.hint.substr(0, error.hint.find('?') + 1);
    }
    return std::string("accepted");
  };
  EXPECT_EQ(hint("halft"), "did you mean half?");
  EXPECT_EQ(hint("cutlass::hafl_t"), "did you mean half_t?");
  EXPECT_EQ(hint("__nv_bfloat61"), "did you mean __nv_bfloat16?");
  EXPECT_EQ(hint("quaternion"), "") << "no question";
}

TEST(Parse, NamesTheElementTypeByItsFirstName) {
  EXPECT_EQ(parse_mapping("gmma:K_SW128<half_t>").element, "f16");
  EXPECT_EQ(parse_mapping("gmma:K_SW128<cutlass::half_t> (64,64)").element_bits, 16U);
  EXPECT_EQ(parse_mapping("tma:128B<unsigned char> (8,128)").element, "u8");
  EXPECT_EQ(parse_mapping("recast_layout<half_t,float>((8,64):(64,1))").text,
            parse_mapping("recast_layout<16b,32b>((8,64):(64,1))").text);
}

TEST(ParseInstruction, RoundTrips) {
  for (char const* text :
       {"ld.shared.b8", "st.shared.b128", "ldmatrix.x4.trans", "stmatrix.x1", "cp.async.b64"})
    EXPECT_EQ(to_string(parse_instruction(text)), text);
  for (char const* bad : {"", "ld.shared", "ld.shared.b256", "ldmatrix.x3", "cp.async.b8", "LD.SHARED.B32"})
    EXPECT_THROW((void)parse_instruction(bad), InputError) << bad;
}

TEST(ParseAccess, MeasuresItsFootprint) {
  Access const a = parse_access("ldmatrix.x4");
  EXPECT_EQ(a.pattern().rows, 16U);
  EXPECT_EQ(a.pattern().row_bytes, 32U);
  Access const b = parse_access("ld.shared.b32: row = lane/8, byte = 12*(lane%8)");
  EXPECT_EQ(b.pattern().rows, 4U);
  EXPECT_EQ(b.pattern().row_bytes, 128U) << "88 bytes, rounded up";
}

TEST(ParseAccess, ReadsPositions) {
  auto const positions = [](std::string_view text) { return parse_access(text).positions; };
  using All = std::vector<PositionsAlong>;
  EXPECT_EQ(positions("ldmatrix.x4 step row 16, byte 32"), (All{{"row", 16, false}, {"byte", 32, false}}));
  EXPECT_EQ(parse_access(" LDSM.16.M88.4 at row 8 ").name, "LDSM.16.M88.4 at row 8");
  EXPECT_EQ(positions("ld.shared.b32: row = lane, col = 0 if lane < 8 at col 3 step row 2"),
            (All{{"col", 3, true}, {"row", 2, false}}));
  EXPECT_EQ(positions("ld.shared.b32: coord = (lane, 0, 0) step mode 2 4"), (All{{"mode 2", 4, false}}));
  EXPECT_EQ(
      parse_access("ld.shared.b32: row = at, col = step for at in 0..3 for step in 0..3").variables.size(),
      2U)
      << "names of variables, too";
  for (char const* bad :
       {"ldmatrix.x4 step", "ldmatrix.x4 step row", "ldmatrix.x4 step row 0", "ldmatrix.x4 at row -1",
        "ldmatrix.x4 at row 1, row 2", "ldmatrix.x4 step row 2 at row 2", "ldmatrix.x4 when row 2",
        "ldmatrix.x4 at row 1 once", "ld.shared.b32: row = lane, col = i for i in 0..3 step row 2"})
    EXPECT_THROW((void)parse_access(bad), InputError) << bad;
  EXPECT_TRUE(
      parse_access("ld.shared.b32: row = threadIdx.x, col = 0", {}, {std::nullopt, BlockShape{32, 1, 1}})
          .as_written);
}

TEST(ParseAccess, RefusesBadOnes) {
  for (char const* bad : {"", "ldmatrix.x9", "ld.shared.b32:", "ld.shared.b32: row = lane",
                          "ld.shared.b32: row = lane, byte = 2", "ld.shared.b32: row = lane, byte = 4*i",
                          "ld.shared.b32: row = 1 << 30, byte = 0"})
    EXPECT_THROW((void)parse_access(bad), InputError) << bad;
}

TEST(Parse, NumbersAreCsLiterals) {
  for (auto const& [text, number] : {std::pair{"010", 8},
                                     {"0b11", 3},
                                     {"0B101", 5},
                                     {"0x1F", 31},
                                     {"1'024", 1024},
                                     {"0'17", 15},
                                     {"0x1'0", 16},
                                     {"0", 0},
                                     {"8u", 8},
                                     {"-8", -8}}) {
    std::string const written = text;
    EXPECT_EQ(parse_mapping("(2,2):(1," + written + ")").domain()->stride.leaves()[1], number) << written;
    if (number >= 0)
      EXPECT_EQ(value(parse_mapping("fn(x) = x + " + written).on_bytes, std::uint64_t{0}),
                static_cast<std::uint64_t>(number))
          << written;
  }
  for (char const* wrong : {"(08,2):(1,8)", "(019,2):(1,8)", "(0b2,2):(1,2)", "(1',2):(1,2)", "(0x,2):(1,2)"})
    EXPECT_THROW((void)parse_mapping(wrong), InputError) << wrong;
}

TEST(Parse, CommentsAndTrailingCommasAreThoseOfTheirLanguages) {
  Mapping const plain = parse_mapping("make_layout(make_shape(8,64), make_stride(64,1))");
  for (char const* same :
       {"make_layout((8, 64,), stride=(64, 1,),)", "make_layout(  # rows, columns\n  (8, 64), (64, 1))",
        "make_layout(make_shape(8, /* columns */ 64), // then\n make_stride(64, 1))",
        "Layout<Shape<_8, _64>,  // rows\n Stride<_64, _1>>{};"})
    EXPECT_EQ(*parse_mapping(same).domain(), *plain.domain()) << same;
  EXPECT_THROW((void)parse_mapping("make_layout((128 // 2\n, 64))"), InputError) << "Python divides";
  EXPECT_THROW((void)parse_mapping("(8,64):(64,1) /* open"), InputError);
  EXPECT_EQ(parse_mapping("cute.make_layout((8,))").domain()->rank(), 1U);
}

TEST(Parse, ExpressionsHaveCsTypes) {
  auto const value = [](std::string const& text, std::uint64_t x) {
    Variable const variables[] = {Variable::range("x", 0, 15)};
    Expression const e = parse_expression(text, variables);
    return static_cast<std::int64_t>(e(std::span<std::uint64_t const>(&x, 1), x));
  };
  EXPECT_EQ(value("(x - 8) % 7", 1), 0);
  EXPECT_EQ(value("(x - 8) % 7", 2), -6);
  EXPECT_EQ(value("(x - 8) / 4", 1), -1);
  EXPECT_EQ(value("(x - 8) >> 2", 1), -2);
  EXPECT_EQ(value("x - 8 < 0", 7), 1);
  EXPECT_EQ(value("(unsigned)(x - 8) % 7", 1), 4294967289 % 7);
  EXPECT_THROW((void)value("x << 30", 1), InputError) << "an int overflows";
  Variable const any[] = {Variable::range("x", 0, ~std::uint64_t{0})};
  auto const of_any = [&](std::string const& text, std::uint64_t x) {
    return parse_expression(text, any)(std::span<std::uint64_t const>(&x, 1), x);
  };
  EXPECT_EQ(of_any("x + (-1 < 0)", 5), 6U) << "a literal is an int";
  EXPECT_EQ(of_any("x + -7 / 2", 5), 2U);
  EXPECT_EQ(of_any("x & -8", 15), 8U);
  EXPECT_EQ(of_any("x & ~7u", (std::uint64_t{1} << 32) + 9), 8U) << "~7u has 32 bits";
  EXPECT_EQ(of_any("x * 3 - 4 < 0", 0), 0U) << "it wraps, and is not negative";
  EXPECT_THROW((void)of_any("x >> 65", 0), InputError);
  Mapping const map = parse_mapping("fn(r,c) = r*8 + (c - r) % 8 (8,8)");
  EXPECT_EQ(static_cast<std::int64_t>(offset(map, std::uint64_t{1}).elements), 7) << "row 1, column 0: 8 - 1";
  Access const access = parse_access("ld.shared.b32: row = lane, col = (i - lane) % 32 + 31 for i in 0..31");
  std::array<std::uint64_t, 2> const lane_1_of_0{1, 0};
  auto const& column = std::get<Coordinate>(access.where).modes[1];
  EXPECT_EQ(column(std::span<std::uint64_t const>(lane_1_of_0), std::uint64_t{}), 30U);
}

TEST(Parse, SaysWhereCuTeMakesSomethingElseOfRunTimeIntegers) {
  auto const notes = [](std::string const& text) { return parse_mapping(text).notes; };
  EXPECT_TRUE(notes("composition((_2,_3):(_1,_2), (_2,_3):(_3,_1))").empty());
  auto const other = notes("composition((2,3):(1,2), (2,3):(3,1))");
  ASSERT_EQ(other.size(), 1U);
  EXPECT_NE(other[0].find("CuTe prints ((1,2),(2,1)):((3,4),(1,2)), which is another function"),
            std::string::npos)
      << other[0];
  auto const profile = notes("coalesce((2,4):(1,2))");
  ASSERT_EQ(profile.size(), 1U);
  EXPECT_NE(profile[0].find("CuTe's result is (2,4):(1,2), not _8:_1: the same function"), std::string::npos)
      << profile[0];
  auto const inverse = notes("right_inverse(((2,4,2)):((1,2,24)))");
  ASSERT_EQ(inverse.size(), 1U);
  EXPECT_NE(inverse[0].find("CuTe's result is _1:_0, not _8:_1: another function"), std::string::npos)
      << inverse[0];
  // 16 elements each; index 2 is at 12 and at 16.
  auto const values = notes("logical_divide((3,1):(4,12), 8:2)");
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0],
            "13 of the 16 coordinates lie outside (_3,_1):(_4,_12), which the tiles do not divide");
  EXPECT_NE(values[1].find("not (_8,_2):(_8,_4): another function"), std::string::npos) << values[1];
  EXPECT_TRUE(notes("logical_divide((8,64):(64,1), (4,8))").empty()) << "the same, but for the marks";
}

TEST(Parse, AFragmentHasNoSwizzle) {
  EXPECT_EQ(parse_mapping("make_fragment_like(ComposedLayout<Swizzle<3,0,-3>,C<4>,Layout<Shape<C<1>,_8>,"
                          "Stride<_2,Int<2>>>>{})")
                .text,
            "(_1,(_8)):(_0,(_1))");
}

TEST(Parse, ModesByTheirNumbers) {
  for (auto const& [text, result] : {std::pair{"select<1,0>((8,64):(64,1))", "(_64,_8):(_1,_64)"},
                                     {"get<1>((8,64):(64,1))", "_64:_1"},
                                     {"layout<0,1>(((2,4),8):((1,2),8))", "_4:_2"},
                                     {"take<0,2>((8,64,2):(64,1,512))", "(_8,_64):(_64,_1)"},
                                     {"replace<1>((8,64):(64,1), 4:2)", "(_8,_4):(_64,_2)"},
                                     {"group_modes((2,4,8):(1,2,8), 0, 2)", "((_2,_4),_8):((_1,_2),_8)"},
                                     {"layout<0>(Sw<3,3,3> o _0 o (8,64):(64,1))", "Sw<3,3,3> o _0 o _8:_64"},
                                     {"slice((_,1), (8,64):(64,1))", "(_8):(_64)"},
                                     {"slice((8,64):(64,1), (_,1))", "(_8):(_64)"},
                                     {"recast_layout(32, 16, (_8,_64):(_64,_1))", "(_8,_32):(_32,_1)"}})
    EXPECT_EQ(parse_mapping(text).text, result) << text;
  for (char const* wrong :
       {"get<2>((8,64):(64,1))", "select<0,2>((8,64):(64,1))", "take<1,1>((8,64):(64,1))",
        "take<0,3>((8,64):(64,1))", "replace<2>((8,64):(64,1), 4:2)", "recast_layout(32, (8,64):(64,1))"})
    EXPECT_THROW((void)parse_mapping(wrong), InputError) << wrong;
}

}  // namespace
}  // namespace swizproof
