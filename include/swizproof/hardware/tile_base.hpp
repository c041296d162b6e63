// Bytes that must divide the base of a swizzled tile, by what writes and reads it: one rule for all commands.
//
// TMA, wgmma and tcgen05 swizzle bits of the absolute address (H8, H9, H13). So a tile that one of them writes and another one reads is
// right from every base that both take. A thread that swizzles the offset from the tile's start agrees with them, or with a thread that
// swizzles the address, if and only if the base is a multiple of the swizzle's period. Campaign `bases` measured both, of TMA, wgmma and
// ldmatrix on sm_90; of tcgen05 it is documented. Checked by tests/unit/hardware/tile_base_test.cpp.
#pragma once

#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/hardware/tma.hpp>

#include <algorithm>
#include <cstdint>

namespace swizproof {

/// Bytes that divide the start in a descriptor of wgmma or tcgen05.
inline constexpr std::uint32_t descriptor_start = 16;

/// Instructions that write or read one tile.
struct TileUsers {
  bool tma = false;         ///< a copy of a tensor
  bool descriptor = false;  ///< wgmma or tcgen05
  /// Period of a swizzle of offsets that a thread computes, while another user swizzles addresses; 1: none does.
  std::uint64_t offsets = 1;
};

/// Bytes that must divide the tile's base, and that suffice. `base_unit({true, true}) == 128`, with a thread's own Sw<3,4,3> of offsets 1024.
[[nodiscard]] constexpr std::uint64_t base_unit(TileUsers users) {
  return std::max({users.tma ? std::uint64_t{tma_destination} : 1,
                   users.descriptor ? std::uint64_t{descriptor_start} : 1, users.offsets});
}

static_assert(base_unit({true, false}) == 128 && base_unit({false, true}) == 16 &&
              base_unit({true, true}) == 128);
static_assert(base_unit({true, true, swizzle_of(TmaMode::b128).period()}) == 1024);

}  // namespace swizproof
