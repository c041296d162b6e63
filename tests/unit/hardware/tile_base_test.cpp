// The rule for a tile's base, compared with the addresses that each user computes.
#include <swizproof/hardware/tile_base.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

// From a base each element lies where TMA (H8) writes it; wgmma (H9) takes it from there at every multiple of 128, a thread that swizzles offsets at
// multiples of the rule alone.
TEST(TileBase, IsWhereTheAddressesAgree) {
  for (TmaMode const mode : tma_modes) {
    Swizzle const swizzle = swizzle_of(mode);
    std::uint32_t const line = 16U << static_cast<unsigned>(mode);
    MatrixDescriptor const d{OperandReader::wgmma, static_cast<std::size_t>(mode), 0, 16, 8 * line};
    for (std::uint32_t base = 0; base < 2048; base += 128) {
      bool reads = true, agrees = true;
      for (std::uint32_t mn = 0; mn < 64; ++mn)
        for (std::uint32_t k = 0; k < std::min(line / 2, 16U); ++k) {
          std::uint32_t const written = tma_address(mode, base, mn, line, 2 * k);
          reads = reads && address_read(d, Major::k, 2, base, mn, k).bytes == written;
          agrees = agrees && base + swizzle(mn * line + 2 * k) == written;
        }
      EXPECT_TRUE(reads || mode == TmaMode::none) << name(mode) << " at " << base;
      EXPECT_EQ(agrees, base % base_unit({true, true, swizzle.period()}) == 0)
          << name(mode) << " at " << base;
    }
  }
}

}  // namespace
}  // namespace swizproof
