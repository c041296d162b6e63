// H8: which lines a box may have, what the driver refuses, and where the bytes lie.
#include <swizproof/hardware/tma.hpp>

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace swizproof {
namespace {

TEST(Tma, LinesAreWholeUnitsWithinTheSwizzle) {
  for (TmaMode const mode : tma_modes)
    for (std::uint32_t bytes = 4; bytes <= 512; bytes += 4) {
      TmaLine const must = bytes % 16 != 0                                    ? TmaLine::no_whole_units
                           : mode != TmaMode::none && bytes > tma_width(mode) ? TmaLine::too_wide
                                                                              : TmaLine::fits;
      EXPECT_EQ(tma_line(tma_width(mode), 8 * bytes), must) << name(mode) << ", " << bytes;
    }
  EXPECT_EQ(tma_line(96, 96 * 8), TmaLine::fits);
  EXPECT_EQ(tma_line(128, 4), TmaLine::no_whole_units) << "one element of 4 bits";
}

TEST(Tma, TheDriverRefusesModesOfOtherDevicesAndWhatIsNotAligned) {
  for (unsigned mode = 0; mode <= 3; ++mode) EXPECT_FALSE(tma_refuses(mode, 32, 0)) << mode;
  for (unsigned mode = 4; mode <= 7; ++mode) EXPECT_TRUE(tma_refuses(mode, 32, 0)) << mode;
  EXPECT_FALSE(tma_refuses(0, 1024, 16)) << "without a swizzle the bytes of a line are not bounded";
  EXPECT_TRUE(tma_refuses(0, 16, 8)) << "a tensor at a multiple of 8";
  EXPECT_TRUE(tma_refuses(0, 8, 0)) << "a line of 8 bytes";
  for (unsigned mode = 1; mode <= 3; ++mode) {
    EXPECT_FALSE(tma_refuses(mode, 16U << mode, 16)) << "a tensor at a multiple of 16, under a swizzle";
    EXPECT_TRUE(tma_refuses(mode, (16U << mode) + 16, 0)) << "a line wider than the swizzle";
  }
}

// As ptxas 13.0 takes tensormap.replace.tile.swizzle_atomicity: for sm_100a, sm_103a, sm_110a, sm_120a and sm_121a.
// 12.x has the 128B_ATOM modes for stores alone. [PTX ISA 9.1, 9.7.10.28.5.1]
TEST(Tma, ModesAreTheArchitectures) {
  for (Architecture const& arch : architectures) {
    bool const loads_atoms = arch.capability >= 100 && arch.capability < 120;
    EXPECT_EQ(tma_modes_of(arch).size(), arch.capability < 90 ? 0U : loads_atoms ? 6U : 4U) << arch.name;
    EXPECT_EQ(arch.operands.value(), arch.capability == 90 ? OperandUnit::wgmma
                                     : loads_atoms         ? OperandUnit::tcgen05
                                                           : OperandUnit::none)
        << arch.name;
  }
}

// A fact that is not stated is unknown, and a table that is assumed makes nothing that rests on it more than assumed.
TEST(Tma, SupportIsTheWeakerOfTheTables) {
  Architecture arch = sm_90;
  EXPECT_EQ(tma_support(arch), Support::measured);
  arch.support = Support::assumed;
  EXPECT_EQ(tma_support(arch), Support::assumed);
  arch.support = Support::measured, arch.capability = 100;
  EXPECT_EQ(tma_support(arch), Support::documented);
  EXPECT_FALSE(tma_support(phases_alone(&sm_90_phases, usual_banks)));
  EXPECT_EQ(tma_modes_of(phases_alone(&sm_90_phases, usual_banks)).size(), 0U);
}

TEST(Tma, NarrowLinesLieTheSwizzlesWidthApart) {
  EXPECT_EQ(tma_address(TmaMode::none, 256, 3, 48, 16), 256U + 3 * 48 + 16);
  EXPECT_EQ(tma_address(TmaMode::b64, 0, 1, 32, 0), 64U);
  EXPECT_EQ(tma_address(TmaMode::b64, 0, 2, 32, 0), 128U + 16) << "line 2 of 64 bytes: row 1 of 128";
  EXPECT_EQ(tma_address(TmaMode::b128_atom_32b, 0, 1, 32, 0), 128U + 32);
  EXPECT_EQ(tma_pitch(TmaMode::b128_atom_64b, 32), 128U) << "the larger atoms are of 128 bytes too";
  EXPECT_EQ(tma_address(TmaMode::b128, 128, 0, 128, 0), 128U + 16) << "the swizzle is of absolute addresses";
}

// With the numbers and names of cuda.h 13.0, and the sets of bits that the table of PTX 5.5.7 swaps.
TEST(Tma, ModesAndTypesAreThoseOfCudaH) {
  EXPECT_EQ(static_cast<int>(TmaMode::b128_atom_32b), 4);
  EXPECT_EQ(static_cast<int>(TmaMode::b128_atom_32b_flip_8b), 5);
  EXPECT_EQ(static_cast<int>(TmaMode::b128_atom_64b), 6);
  EXPECT_EQ(name(TmaMode::b128_atom_64b), "128B_ATOM_64B");
  for (std::uint32_t a = 0; a < 2048; ++a) {
    std::uint32_t const line = a >> 7;
    EXPECT_EQ(swizzle_of(TmaMode::b128_atom_32b)(a), a ^ (line & 3) << 5);
    EXPECT_EQ(swizzle_of(TmaMode::b128_atom_64b)(a), a ^ (line & 1) << 6);
  }
  unsigned number = 0;
  for (TmaDataType const& type : tma_data_types) EXPECT_EQ(type.number, number++) << type.name;
  for (auto const& [element, type, bits] : {std::tuple{"f16", "FLOAT16", 16U},
                                            {"bf16", "BFLOAT16", 16U},
                                            {"tf32", "TFLOAT32", 32U},
                                            {"f64", "FLOAT64", 64U},
                                            {"e5m2", "UINT8", 8U},
                                            {"i8", "UINT8", 8U},
                                            {"i16", "UINT16", 16U},
                                            {"i32", "INT32", 32U},
                                            {"u64", "UINT64", 64U}}) {
    ASSERT_NE(tma_data_type(element), nullptr) << element;
    EXPECT_EQ(tma_data_type(element)->name, type);
    EXPECT_EQ(tma_data_type(element)->bits, bits);
  }
  EXPECT_EQ(tma_data_type("fp4"), nullptr);
  EXPECT_EQ(tma_data_type("16b"), nullptr);
  EXPECT_FALSE(tma_data_type("tf32")->keeps_bits);
}

TEST(Tma, IsMeasuredOn9AndDocumentedBeyond) {
  for (Architecture const& arch : architectures) {
    int const number = std::stoi(std::string(arch.name.substr(3)));
    EXPECT_EQ(tma_support(arch), number < 90    ? std::nullopt
                                 : number == 90 ? std::optional(Support::measured)
                                                : std::optional(Support::documented))
        << arch.name;
  }
}

}  // namespace
}  // namespace swizproof
