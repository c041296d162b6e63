// Layouts as code: what is printed is the tile. tests/program/emitted compiles it as well.
#include <swizproof/report/code.hpp>
#include <swizproof/parse/parse.hpp>

#include <swizproof/core/error.hpp>
#include <swizproof/layout/composed.hpp>

#include <gtest/gtest.h>

#include <cstdio>

namespace swizproof {
namespace {

std::string code(std::string_view text, Language language, std::string element = "f16") {
  return code_of(parse_mapping(text, {16}), language, {1024, std::move(element)});
}

TEST(Code, TritonsParametersAreTheTile) {
  for (std::string_view const text : {"Sw<3,3,3> o _0 o (64,64):(64,1)", "Sw<2,3,3> o _0 o (64,32):(32,1)",
                                      "Sw<1,2,4> o _0 o (32,16):(16,1)", "Sw<2,3,3> o _0 o (32,64):(1,32)",
                                      "Sw<3,1,5> o _0 o (16,16):(16,1)", "(8,32):(32,1)"}) {
    Mapping const map = parse_mapping(text, {16});
    std::string const printed = code_of(map, Language::triton, {16, "f16"});
    int vec = 0, per_phase = 0, max_phase = 0, fast = -1, slow = -1;
    ASSERT_EQ(
        std::sscanf(
            printed.c_str(),
            "#shared = #ttg.swizzled_shared<{vec = %d, perPhase = %d, maxPhase = %d, order = [%d, %d]}>",
            &vec, &per_phase, &max_phase, &fast, &slow),
        5)
        << printed;
    std::int64_t const rows = map.domain()->shape.mode(0).product(),
                       columns = map.domain()->shape.mode(1).product();
    std::int64_t const line = fast == 1 ? columns : rows;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      std::int64_t const row = i % rows, column = i / rows;
      std::int64_t const along = fast == 1 ? column : row, across = fast == 1 ? row : column;
      std::int64_t const place =
          across * line + ((along / vec) ^ (across / per_phase % max_phase)) * vec + along % vec;
      ASSERT_EQ(static_cast<std::int64_t>(
                    swizzle_bit_address(map, offset(map, static_cast<std::uint64_t>(i)).elements * 16) / 16),
                place)
          << text << " at " << i;
    }
  }
}

TEST(Code, CuteDslIsReadBack) {
  for (std::string_view const text :
       {"Sw<3,3,3> o _128 o ((8,8),64):((64,512),1)", "(8,64):(72,1)", "Sw<2,3,3> o _0 o (8,8,2):(8,1,64)"}) {
    Mapping const map = parse_mapping(text, {16});
    std::string const printed = code_of(map, Language::dsl, {16, "f16"});
    Mapping const back = parse_mapping(printed.substr(9, printed.find('\n') - 9), {16});
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(map.domain()->size()); ++i)
      ASSERT_EQ(offset(back, i).elements, offset(map, i).elements) << printed;
  }
}

TEST(Code, ModesBecomeDivisionsAndRemainders) {
  EXPECT_NE(code("Sw<3,3,3> o _128 o ((8,8),(4,2,8)):((8,512),(1,4,64))", Language::cuda)
                .find("unsigned x = row % 8 * 8 + row / 8 * 512 + column % 4 + column / 4 % 2 * 4 + column / "
                      "8 * 64 + 128;"),
            std::string::npos);
  EXPECT_NE(code("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", Language::cuda)
                .find("x = x ^ ((x >> 3) & 0x38);"),
            std::string::npos);
  EXPECT_NE(code("(8,64):(0,1)", Language::cuda).find("return column;"), std::string::npos);
  EXPECT_NE(code("64:2", Language::cuda).find("offset(unsigned i0) {\n  return i0 * 2;"), std::string::npos);
}

TEST(Code, BytesBecomeElements) {
  EXPECT_NE(code("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", Language::cute)
                .find("cute::Swizzle<3, 3, 3>{}"),
            std::string::npos);
  EXPECT_NE(code("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", Language::dsl)
                .find("cute.make_swizzle(3, 3, 3)"),
            std::string::npos);
}

TEST(Code, ArithmeticThatIsLinearIsWrittenAsTheSwizzleThatItIs) {
  EXPECT_EQ(code("fn(x) = x ^ ((x >> 3) & 0x70) o smem_ptr[16b](unset) o (64,64):(64,1)", Language::triton),
            code("Sw<3,3,3> o _0 o (64,64):(64,1)", Language::triton));
  EXPECT_EQ(code("fn(x) = x ^ ((x >> 3) & 0x38) o (64,64):(64,1)", Language::cute),
            code("Sw<3,3,3> o _0 o (64,64):(64,1)", Language::cute));
  EXPECT_NE(code("fn(x) = x ^ ((x >> 3) & 0x38) ^ ((x >> 9) & 3) o (32,64):(64,1)", Language::cuda)
                .find("  x = x ^ ((x >> 3) & 0x38) ^ ((x >> 9) & 0x3);\n"),
            std::string::npos);
}

TEST(Code, AFunctionIsReadBeforeItsTile) {
  EXPECT_EQ(code("fn(x) = x ^ ((x >> 3) & 0x38) o (60,64):(64,1)", Language::cuda),
            code("Sw<3,3,3> o _0 o (60,64):(64,1)", Language::cuda));
  EXPECT_EQ(code("fn(x) = x ^ ((x >> 3) & 0x70) o smem_ptr[16b](unset) o (64,64):(72,1)", Language::cute),
            code("Sw<3,3,3> o _0 o (64,64):(72,1)", Language::cute));
}

TEST(Code, TheArrayHoldsWhatTheSwizzleLeadsTo) {
  // 63*72 + 63 = 4599 is led to 4607, beyond CuTe's cosize of 4600.
  EXPECT_NE(code("Sw<3,3,3> o _0 o (64,64):(72,1)", Language::cute).find(" tile[4608];"), std::string::npos);
  EXPECT_NE(
      code("Sw<3,3,3> o _0 o (64,64):(64,1)", Language::cute).find(" tile[cute::cosize_v<SmemLayout>];"),
      std::string::npos);
}

TEST(Code, TheArrayHoldsADisplacedTile) {
  // CuTe's cosize of a composed layout leaves the offset out: 1024, and the last offset is 64 + 1023.
  for (std::string_view const text :
       {"Sw<0,3,3> o _64 o (16,64):(64,1)", "Sw<2,3,3> o _64 o (16,64):(64,1)"}) {
    EXPECT_NE(code(text, Language::cute).find(" tile[1088];"), std::string::npos);
    EXPECT_NE(code(text, Language::dsl)
                  .find("tile = cute.make_tensor(cute.recast_ptr(smem.allocate(2176, byte_alignment=1024), "
                        "dtype=cutlass.Float16), layout)\n"),
              std::string::npos)
        << code(text, Language::dsl);
  }
  // Offsets 512 - 32 * 7 .. 512 + 31; the cosize is 256.
  EXPECT_NE(code("Sw<0,3,3> o _512 o (8,32):(-32,1)", Language::cute).find(" tile[544];"), std::string::npos);
}

std::string code_of_bits(std::string_view text, unsigned bits, Language language, std::string element) {
  return code_of(parse_mapping(text, {bits}), language, {16, std::move(element)});
}

TEST(Code, ElementsBelowAByteArePacked) {
  EXPECT_NE(code_of_bits("(8,32):(32,1)", 4, Language::cute, "e2m1")
                .find("cute::ArrayEngine<cute::float_e2m1_t, cute::cosize_v<SmemLayout>> tile;"),
            std::string::npos);
  EXPECT_NE(code_of_bits("(5,3):(3,1)", 4, Language::dsl, "i4").find("smem.allocate(8, "), std::string::npos);
  // Bits 4..6 of a byte address are bits 5..7 of the offset of a 4-bit element, 7..9 of a bit's.
  EXPECT_NE(code_of_bits("Sw<3,4,3> o smem_ptr[4b](unset) o (8,256):(256,1)", 4, Language::cute, "")
                .find("cute::Swizzle<3, 5, 3>{}"),
            std::string::npos);
  EXPECT_NE(code_of_bits("fn(x) = x ^ ((x >> 3) & 0x70) o smem_ptr[1b](unset) o (8,1024):(1024,1)", 1,
                         Language::cute, "")
                .find("cute::Swizzle<3, 7, 3>{}"),
            std::string::npos);
}

TEST(Code, TypesThatALanguageLacksAreRefused) {
  auto const refused = [](unsigned bits, Language language, std::string element) {
    try {
      return "accepted: " + code_of_bits("(8,32):(32,1)", bits, language, std::move(element));
    } catch (InputError const& e) {
      return e.message;
    }
  };
  EXPECT_EQ(refused(4, Language::dsl, "u4"), "CuTe DSL has no type for u4");
  EXPECT_EQ(refused(4, Language::dsl, ""), "CuTe DSL has no type for elements of 4 bits");
  EXPECT_EQ(refused(4, Language::cuda, "e2m1"), "CUDA C++ has no type for e2m1");
  EXPECT_EQ(refused(4, Language::dsl, "4b"), "CuTe DSL has no type for elements of 4 bits");
  EXPECT_NE(code_of_bits("(8,32):(32,1)", 16, Language::cute, "16b").find("cute::uint16_t tile"),
            std::string::npos);
  EXPECT_EQ(refused(128, Language::triton, ""), "Triton has no type for elements of 128 bits");
  EXPECT_EQ(refused(8, Language::cute, "fp8"), "fp8 leaves open which type is meant");
  for (auto const& [element, type] : {std::pair{"e2m1", "cutlass.Float4E2M1FN"}, {"i4", "cutlass.Int4"}})
    EXPECT_NE(code_of_bits("(8,32):(32,1)", 4, Language::dsl, element).find(type), std::string::npos);
  EXPECT_NE(code_of_bits("(8,32):(32,1)", 128, Language::dsl, "").find("cutlass.Uint128"), std::string::npos);
  EXPECT_NE(code_of_bits("(8,32):(32,1)", 8, Language::cuda, "i8").find("std::int8_t tile[256]"),
            std::string::npos);
}

TEST(Code, SharedPlacesAreSaid) {
  std::string const shared = "// elements share places: indices 0 and 8 both lie at 0\n";
  EXPECT_EQ(
      code("fn(x) = x ^ ((x & 2) >> 1) ^ (x & 1) o (8,8):(8,1)", Language::cuda).substr(0, shared.size()),
      shared);
  EXPECT_EQ(code("(8,4):(4,1)", Language::cuda).find("share places"), std::string::npos);
}

TEST(Code, WhatALanguageHasNoWordForIsRefused) {
  auto const refused = [](std::string_view text, Language language) {
    try {
      return "accepted: " + code(text, language);
    } catch (InputError const& e) {
      return e.message;
    }
  };
  EXPECT_EQ(refused("(64,64):(72,1)", Language::triton),
            "Triton's swizzled_shared is not this: its lines have gaps");
  EXPECT_EQ(refused("(5,8):(8,1)", Language::triton),
            "Triton's swizzled_shared is not this: an extent is no power of two");
  EXPECT_EQ(refused("Sw<2,3,2> o _0 o (64,64):(64,1)", Language::triton),
            "Triton's swizzled_shared is not this: its swizzle takes bits of the place in a line");
  EXPECT_EQ(refused("Sw<3,4,3>", Language::cuda),
            "there is no tile to write down: this is a function of all integers");
  EXPECT_EQ(refused("Sw<3,0,3> o smem_ptr[16b](unset) o (8,64):(64,1)", Language::cute),
            "elements do not stay whole under this function of byte addresses");
  EXPECT_EQ(refused("fn(x) = (x * 3) % 128 o (8,16):(16,1)", Language::cuda),
            "this function is no swizzle, and not linear over GF(2) on this tile");
  // The bytes of an element apart; an element in the middle of another.
  for (char const* text : {"fn(x) = x ^ ((x & 1) << 4) o smem_ptr[16b](unset) o (8,16):(16,1)",
                           "fn(x) = x ^ ((x >> 7) & 1) o smem_ptr[16b](unset) o (128,64):(64,1)"})
    EXPECT_EQ(refused(text, Language::cuda),
              "elements do not stay whole under this function of byte addresses")
        << text;
}

}  // namespace
}  // namespace swizproof
