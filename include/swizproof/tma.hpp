// What a TMA copy writes to shared memory, and which copies write exactly a given tile.
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

#include <swizproof/mapping.hpp>
#include <swizproof/question.hpp>

#include <algorithm>
#include <span>
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

inline constexpr std::uint32_t tma_most_elements = 256;  ///< of a box along one dimension
inline constexpr std::size_t tma_most_dimensions = 5;
inline constexpr std::uint32_t tma_line_unit = 16;     ///< bytes that divide a line of a box
inline constexpr std::uint32_t tma_destination = 128;  ///< bytes that divide a box's destination

/// Equal boxes, side by side in the tensor, that together write each element of a tile to its place and touch
/// no other element's. (64,128) of 16 bits in atoms of 8 rows of 128 bytes: mode 128B, box {64, 64}, 2 boxes.
struct TmaBoxes {
  TmaMode mode = TmaMode::none;
  std::vector<std::uint32_t> box{};  ///< elements, innermost first; one for each mode longer than 1
  std::vector<std::size_t> modes{};  ///< the mode of the tile that each of them runs along
  std::uint64_t boxes = 1;
  std::uint32_t pitch = 0;                  ///< bytes from line to line of a box
  std::uint64_t bytes = 0;                  ///< of one box: what its barrier expects
  std::uint64_t destination_alignment = 0;  ///< the tile's base is a multiple of this many bytes
};

/// TmaBoxes, or why there are none.
struct TmaAnswer {
  std::optional<TmaBoxes> writes{};
  std::string reason{};  ///< empty iff `writes` is not
};

/// The boxes that write exactly this tile, the fewest of all modes, decided on every byte of every element and
/// on every base that is a multiple of `destination_alignment`. Each mode of the tile is a dimension of the
/// tensor, whichever of them is the innermost. Throws InputError without a shape or an element size.
/// Checked by tests/unit/tma_test.cpp against the formula above, and by `equal`.
[[nodiscard]] TmaAnswer tma_boxes(Mapping const& map, Limits const& limits = {});

/// The same for a tile of modes of these extents, given by each element's first byte from a base that is a
/// multiple of 1024: in the order of plain indices, the first mode fastest. Precondition: no two elements
/// overlap, and each element's bytes lie side by side.
[[nodiscard]] TmaAnswer tma_boxes(std::span<std::uint64_t const> extents, unsigned element_bits,
                                  std::span<std::uint64_t const> addresses);

static_assert(tma_width(TmaMode::b32) == 32 && tma_pitch(TmaMode::none, 48) == 48);
static_assert(swizzle_of(TmaMode::b128) == swizzle_128B && name(TmaMode::b128) == "128B");

}  // namespace swizproof
