// H8: what a TMA copy writes to shared memory.
//
//   box {b0, b1, b2, ..}, in elements, innermost first;   line = y1 + b1 * (y2 + b2 * ..)
//   element (x, y1, y2, ..) of the box lies at   sigma(destination + line * pitch + x * element bytes)
//   pitch = the bytes of one line of the box, with a swizzle at least its width of 32, 64 or 128 bytes
//
// sigma is the mode's swizzle of the absolute address. A box has at most 256 elements along each of at most
// five dimensions; its line is a multiple of 16 bytes, with a swizzle at most its width; its destination is a
// multiple of 128 bytes. [cuda.h 13.0, cuTensorMapEncodeTiled; CUDA C++ Programming Guide 13.1, 10.29.3] The
// addresses, the pitch of narrow boxes included, are measured: campaign `tma`, 316 copies of 16-bit elements in
// boxes of up to three dimensions, 0 mismatches. Interleaved tensors are left out.
#pragma once

#include <swizproof/core/swizzle.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace swizproof {

/// Swizzle modes of a tensor map, with the numbers of CUtensorMapSwizzle.
enum class TmaMode : std::uint8_t { none = 0, b32 = 1, b64 = 2, b128 = 3 };
inline constexpr TmaMode tma_modes[] = {TmaMode::none, TmaMode::b32, TmaMode::b64, TmaMode::b128};

/// "none", "32B", "64B", "128B", in text and JSON.
[[nodiscard]] constexpr std::string_view name(TmaMode mode) {
  constexpr std::string_view names[] = {"none", "32B", "64B", "128B"};
  return names[static_cast<std::size_t>(mode)];
}
/// The mode's function of byte addresses. `swizzle_of(TmaMode::b64) == Swizzle{2, 4, 3}`
[[nodiscard]] constexpr Swizzle swizzle_of(TmaMode mode) { return {static_cast<int>(mode), 4, 3}; }
/// Bytes of the widest line of a box; 0: only the number of elements is bounded.
[[nodiscard]] constexpr std::uint32_t tma_width(TmaMode mode) {
  return mode == TmaMode::none ? 0 : 16U << static_cast<unsigned>(mode);
}
/// Bytes from one line of a box to the next. 32-byte lines: `tma_pitch(TmaMode::b128, 32) == 128`
[[nodiscard]] constexpr std::uint32_t tma_pitch(TmaMode mode, std::uint32_t line_bytes) {
  return std::max(line_bytes, tma_width(mode));
}

/// A swizzle mode as cuda.h names it, the ones that only sm_100 has included. The first four are TmaMode.
struct TmaModeName {
  std::string_view name;
  Swizzle swizzle;      ///< of byte addresses; of 128B_ATOM_32B_FLIP_8B see below
  std::uint32_t width;  ///< bytes of the widest line of a box; 0: only the number of elements is bounded
  bool flips = false;   ///< no Swizzle: `x ^ ((x >> 2) & 0x60) ^ ((x >> 4) & 8)`
};
inline constexpr TmaModeName tma_mode_names[] = {
    {"none", swizzle_of(TmaMode::none), tma_width(TmaMode::none)},
    {"32B", swizzle_of(TmaMode::b32), tma_width(TmaMode::b32)},
    {"64B", swizzle_of(TmaMode::b64), tma_width(TmaMode::b64)},
    {"128B", swizzle_of(TmaMode::b128), tma_width(TmaMode::b128)},
    {"128B_ATOM_32B", {2, 5, 2}, 128},
    {"128B_ATOM_64B", {1, 6, 1}, 128},
    {"96B", swizzle_of(TmaMode::b32), 96},
    {"128B_ATOM_32B_FLIP_8B", {}, 128, true},
};

inline constexpr std::uint32_t tma_most_elements = 256;  ///< of a box along one dimension
inline constexpr std::size_t tma_most_dimensions = 5;
inline constexpr std::uint32_t tma_line_unit = 16;     ///< bytes that divide a line of a box
inline constexpr std::uint32_t tma_destination = 128;  ///< bytes that divide a box's destination

static_assert(tma_width(TmaMode::b32) == 32 && tma_pitch(TmaMode::none, 48) == 48);
static_assert(swizzle_of(TmaMode::b128) == swizzle_128B && name(TmaMode::b128) == "128B");

}  // namespace swizproof
