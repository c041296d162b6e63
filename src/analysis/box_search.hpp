// Equal boxes of one tensor map that write a tile, by what lies in memory: every box of the family below is tried.
//
// The family. A tensor map has at most five dimensions; each runs along one mode of the tile, at a step of 1, 2, 3, .. indices, and
// every mode longer than 1 has one at step 1, where the tile's place in the tensor is added. The innermost has step 1, and its box is
// a line of whole 16 bytes. (A traversal stride is such a step. A box that reaches beyond the tensor writes zeros there, so that
// clipping makes no smaller box.) Boxes are equal, begin at any coordinate, lie in the tile, and may overlap: each byte
// that two of them write has one value.
//
// Why all of it is tried. Before the swizzle a box is an interval of memory that starts at a multiple of 128: its lines, one pitch
// apart. The tile's lowest line can only be the first line of a box, so every box of a solution has the shape of one that begins there.
// From there the lines are read in the order of memory. Of the longest run of r lines at one step a box takes either N <= r and ends,
// or the whole run, and then r lines are the unit of the next run: were it to take N < r and go on, its next step would be N times the first, and
// the same lines are a longer part of this run. N lines at one step are dimensions of at most 256 each if and only if N is a product of
// such numbers. So there is one shape for each N of each run. For each, the fewest intervals that cover the tile are
// found from below: the next line that is not covered takes the box that starts last of those that reach it.
// Checked by tests/unit/analysis/tma_test.cpp and tests/reference/tma_boxes.py, which tries boxes one by one.
#pragma once

#include <swizproof/analysis/tma.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// Boxes that cover a tile, each by the plain index of its first element, in ascending order.
struct BoxCover {
  TmaBoxes boxes{};
  std::vector<std::size_t> starts{};
  std::uint64_t written = 0;  ///< units of memory that the boxes write, those that two write twice
};

/// Reason why a mode does not write the tile. Of all modes' reasons, that of the mode which makes the tile most regular is given: its swizzle
/// is the tile's.
struct BoxFailure {
  std::uint64_t regular = 0;  ///< neighbours along a mode that lie as far apart as the first two
  std::uint64_t reached = 0;  ///< bytes that boxes reach without a gap
  std::string reason{};
};

/// Boxes of one swizzle mode. Preconditions: no two elements overlap, each one's bytes lie side by side, and they reach over no more
/// than a block's shared memory.
class BoxSearch {
 public:
  BoxSearch(TmaMode mode, std::span<std::uint64_t const> extents, std::uint32_t element_bytes,
            std::span<std::uint64_t const> addresses);

  /// Finds the fewest boxes of the family, and of its boxes whose dimensions are the tile's own modes.
  void run();

  /// The boxes that a user gets: the tile's own modes if their boxes do not overlap, or are as few as any.
  [[nodiscard]] std::optional<BoxCover> const& best() const { return is_own_best() ? own_ : any_; }
  /// The fewest boxes of the family.
  [[nodiscard]] std::optional<BoxCover> const& fewest() const { return any_; }
  [[nodiscard]] BoxFailure const& failure() const { return failure_; }
  [[nodiscard]] TmaMode mode() const { return mode_; }

  /// The boxes' places from a base.
  [[nodiscard]] std::vector<TmaCopy> copies(BoxCover const& cover, std::uint64_t base) const;

  /// The first element that a copy in the longest possible lines writes elsewhere; nothing if the tile has no lines of 16 bytes,
  /// or if only the boxes' starts are wrong.
  [[nodiscard]] std::optional<TmaWitness> witness() const;

 private:
  struct Dimension {
    std::size_t mode;
    std::uint64_t step, extent;
  };
  /// A box as it grows from the lowest line on: its dimensions, and how many units of memory it has.
  struct Shape {
    std::vector<Dimension> dimensions{};
    std::size_t units = 1;
    bool of_own_modes = true;
  };

  [[nodiscard]] bool is_own_best() const;
  [[nodiscard]] bool read_units();
  [[nodiscard]] bool read_unit(std::size_t unit, std::span<std::size_t const> elements);
  void grow();
  [[nodiscard]] std::optional<Dimension> step_between(std::size_t low, std::size_t high) const;
  [[nodiscard]] std::optional<Shape> lengthened(Shape const& shape, Dimension step, std::size_t count,
                                                bool of_line) const;
  [[nodiscard]] std::size_t rank_of(Shape const& shape) const;
  [[nodiscard]] std::uint64_t most_boxes() const;
  [[nodiscard]] bool may_improve(std::size_t units) const;
  void consider(Shape const& shape, std::vector<std::uint32_t> const& run, std::uint32_t count);
  [[nodiscard]] std::optional<BoxCover> cover(Shape const& shape, std::vector<std::uint32_t> const& run,
                                              std::uint32_t count, std::uint64_t most);
  [[nodiscard]] TmaBoxes boxes_of(Shape const& shape, std::uint64_t count) const;
  [[nodiscard]] std::uint64_t bytes_of(std::size_t index) const;
  [[nodiscard]] std::uint64_t coordinate(std::size_t index, std::size_t mode) const;
  [[nodiscard]] std::uint64_t step(std::size_t mode) const { return plain_[strides_[mode]] - plain_[0]; }
  [[nodiscard]] std::uint64_t address_of(std::size_t unit) const { return low_ + unit * unit_bytes_; }
  [[nodiscard]] std::uint64_t regularity() const;
  [[nodiscard]] std::string no_lines() const;

  TmaMode mode_;
  std::span<std::uint64_t const> extents_;
  std::uint32_t bytes_;                   // of an element
  std::vector<std::uint64_t> plain_{};    // addresses before the swizzle
  std::vector<std::size_t> strides_{};    // of plain indices
  std::vector<std::uint64_t> weights_{};  // of coordinates in `at_`
  std::uint32_t unit_bytes_ = 0;          // a line's pitch, or 16 where lines are packed
  std::uint64_t low_ = 0;                 // address of the lowest unit
  std::size_t inner_ = 0;                 // the mode that lines run along
  std::uint64_t line_ = 0;                // elements of a unit
  std::vector<std::size_t> first_{};      // plain index of a unit's first element; npos: not of the tile
  std::vector<std::uint64_t> at_{};  // its coordinate as one number; differences are those of coordinates
  std::size_t present_ = 0;          // units of the tile
  std::optional<BoxCover> own_{}, any_{};
  BoxFailure failure_{};
};

/// A number as a product of as few factors of at most 256 as can be, the first at most `first`; empty if it is none.
/// `factors_of(260, 256)` is {2, 130}, and of 263 there are none.
[[nodiscard]] std::vector<std::uint32_t> factors_of(std::uint64_t number, std::uint32_t first);

}  // namespace swizproof
