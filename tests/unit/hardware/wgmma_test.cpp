#include <swizproof/hardware/wgmma.hpp>
#include <swizproof/hardware/fragment.hpp>

#include <gtest/gtest.h>

#include <set>

namespace swizproof {
namespace {

constexpr WgmmaMode modes[] = {WgmmaMode::none, WgmmaMode::b32, WgmmaMode::b64, WgmmaMode::b128};

TEST(WgmmaDescriptor, PutsEachFieldWhereTheManualSays) {
  EXPECT_EQ((WgmmaDescriptor{0x3FFF0, 0, 0, WgmmaMode::none}.bits()), 0x3FFFULL);
  EXPECT_EQ((WgmmaDescriptor{0, 0x3FFF0, 0, WgmmaMode::none}.bits()), 0x3FFFULL << 16);
  EXPECT_EQ((WgmmaDescriptor{0, 0, 0x3FFF0, WgmmaMode::none}.bits()), 0x3FFFULL << 32);
  EXPECT_EQ((WgmmaDescriptor{0, 0, 0, WgmmaMode::none, 7}.bits()), 7ULL << 49);
  EXPECT_EQ((WgmmaDescriptor{0, 0, 0, WgmmaMode::b128}.bits()), 1ULL << 62);
  EXPECT_EQ((WgmmaDescriptor{0, 0, 0, WgmmaMode::b64}.bits()), 2ULL << 62);
  EXPECT_EQ((WgmmaDescriptor{0, 0, 0, WgmmaMode::b32}.bits()), 3ULL << 62);
}

TEST(WgmmaDescriptor, IsReadBackFromItsBits) {
  for (WgmmaMode const mode : modes)
    for (std::uint32_t base = 0; base < 8; ++base) {
      WgmmaDescriptor const d{0x1230, 0x4560, 0x7890, mode, base};
      EXPECT_EQ(wgmma_descriptor(d.bits()), d);
    }
}

TEST(WgmmaDescriptor, RefusesWhatDoesNotFitItsFields) {
  EXPECT_TRUE((WgmmaDescriptor{0x3FFF0, 16, 1024, WgmmaMode::b128, 7}.valid()));
  EXPECT_FALSE(WgmmaDescriptor{8}.valid()) << "not a multiple of 16";
  EXPECT_FALSE(WgmmaDescriptor{0x40000}.valid()) << "18 bits of address";
  EXPECT_FALSE((WgmmaDescriptor{0, 8}.valid()));
  EXPECT_FALSE((WgmmaDescriptor{0, 0, 8}.valid()));
  EXPECT_FALSE((WgmmaDescriptor{0, 0, 0, WgmmaMode::none, 8}.valid()));
}

TEST(WgmmaAddress, CanonicalTilesHoldEveryElementOnce) {
  for (Major const major : {Major::k, Major::mn})
    for (WgmmaMode const mode : modes) {
      std::set<std::uint32_t> places;
      for (std::uint32_t mn = 0; mn < 128; ++mn)
        for (std::uint32_t k = 0; k < 16; ++k)
          places.insert(wgmma_address(canonical_descriptor(4096, major, mode), major, 2, mn, k).bytes);
      EXPECT_EQ(places.size(), 128U * 16U);
      EXPECT_EQ(*places.begin() % 2, 0U);
    }
}

TEST(WgmmaAddress, AdvancingKInsideAnAtomReadsTheNextColumns) {
  for (WgmmaMode const mode : {WgmmaMode::b64, WgmmaMode::b128}) {
    WgmmaDescriptor const whole = canonical_descriptor(1024, Major::k, mode);
    WgmmaDescriptor advanced = whole;
    advanced.start += 32;
    for (std::uint32_t mn = 0; mn < 64; ++mn)
      for (std::uint32_t k = 0; k < 16; ++k)
        EXPECT_EQ(wgmma_address(advanced, Major::k, 2, mn, k), wgmma_address(whole, Major::k, 2, mn, k + 16));
  }
}

TEST(WgmmaAddress, ABaseOffsetReadsATileWhosePatternStartsAtThatRow) {
  WgmmaDescriptor const aligned = canonical_descriptor(0, Major::k, WgmmaMode::b128);
  for (std::uint32_t row = 0; row < 8; ++row) {
    WgmmaDescriptor shifted = aligned;
    shifted.start = 128 * row;
    shifted.base_offset = row;
    for (std::uint32_t mn = 0; mn < 64; ++mn)
      for (std::uint32_t k = 0; k < 16; ++k)
        EXPECT_EQ(wgmma_address(shifted, Major::k, 2, mn, k).bytes,
                  wgmma_address(aligned, Major::k, 2, mn, k).bytes + 128 * row);
  }
}

TEST(MatrixElement, LanesHoldEveryElementOnce) {
  for (bool const transposed : {false, true}) {
    std::set<std::uint32_t> elements;
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      for (std::uint32_t half = 0; half < 2; ++half) {
        MatrixElement const e = matrix_element(lane, half, transposed);
        elements.insert(8 * e.row + e.column);
      }
    EXPECT_EQ(elements.size(), 64U);
  }
}

}  // namespace
}  // namespace swizproof
