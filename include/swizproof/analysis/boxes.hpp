// Which TMA copies write exactly a given tile.
#pragma once

#include <swizproof/engine/question.hpp>
#include <swizproof/hardware/tma.hpp>
#include <swizproof/layout/map.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

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
/// Checked by tests/analysis/boxes_test.cpp against the formula above, and by `equal`.
[[nodiscard]] TmaAnswer tma_boxes(Map const& map, Limits const& limits = {});

/// The same for a tile of modes of these extents, given by each element's first byte from a base that is a
/// multiple of 1024: in the order of plain indices, the first mode fastest. Precondition: no two elements
/// overlap, and each element's bytes lie side by side.
[[nodiscard]] TmaAnswer tma_boxes(std::span<std::uint64_t const> extents, unsigned element_bits,
                                  std::span<std::uint64_t const> addresses);

}  // namespace swizproof
