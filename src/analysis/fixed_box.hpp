// The box that a kernel hard-codes, tried on a tile: which elements do boxes of this shape write to their places?
#pragma once

#include <swizproof/analysis/tma.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// Boxes of one shape that write a tile, or why they do not.
struct FixedCover {
  TmaBoxes boxes{};
  std::vector<std::size_t>
      starts{};  ///< plain index of each box's first element, ascending; empty if some element is in no box
  std::uint64_t covered = 0;  ///< elements that are in a box which writes all of its own to their places
  std::string reason{};
  std::uint64_t right = 0;  ///< elements of the box that is explained which lie where the tile has them
  std::optional<std::size_t> element{};  ///< plain index of the first that a box puts elsewhere
  std::uint64_t tma = 0;                 ///< byte address where it does
};

/// Tries a box in one mode: a box that starts anywhere in the tile, lies in it and puts each of its elements where the tile has it is
/// good, and an element that is in no good box cannot be written. Of the orders of dimensions that the fixed box allows the
/// one that covers most is returned. Preconditions as those of BoxSearch. Checked by tests/reference/hard_coded.py.
[[nodiscard]] FixedCover cover_with(FixedBox const& fixed, TmaMode mode,
                                    std::span<std::uint64_t const> extents, std::uint32_t element_bytes,
                                    std::span<std::uint64_t const> addresses);

}  // namespace swizproof
