// CuTe layouts: a tree of extents and a congruent tree of strides.
//
//   ((_8,_2),_64):((_64,_512),_1)
//
// maps a coordinate to the sum of (coordinate x stride), in elements. A plain index runs through
// the coordinates with the leftmost mode fastest, as in CuTe. Static integers (`_8`) and dynamic
// ones (`8`) have the same value; the difference is kept because CuTe prints it.
#pragma once

#include <swizproof/core/units.hpp>

#include <cassert>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// An integer, or a tuple of them, nested at will: `_8`, `(8,(_2,_4))`. Extents and strides.
struct IntTuple {
  std::int64_t value = 0;         ///< value of a leaf
  bool is_static = false;         ///< printed as `_8` rather than `8`
  bool is_tuple = false;          ///< `(_8)` differs from `_8`
  std::vector<IntTuple> modes{};  ///< modes of a tuple
  std::vector<int> basis{};  ///< basis of a stride `5@1@0`: {0, 1}, the coordinate it runs along; else empty

  IntTuple() = default;
  IntTuple(std::int64_t leaf, bool fixed = true) : value(leaf), is_static(fixed) {}  // NOLINT
  explicit IntTuple(std::vector<IntTuple> tuple) : is_tuple(true), modes(std::move(tuple)) {}
  friend bool operator==(IntTuple const&, IntTuple const&) = default;

  /// Number of modes; 1 for an integer.
  [[nodiscard]] std::size_t rank() const { return is_tuple ? modes.size() : 1; }
  /// The i-th mode; an integer is its own only mode.
  [[nodiscard]] IntTuple const& mode(std::size_t i) const { return is_tuple ? modes[i] : *this; }
  /// Levels of parentheses: 0 for `_8`, 2 for `(8,(2,4))`.
  [[nodiscard]] int depth() const {
    int deepest = 0;
    for (IntTuple const& m : modes) deepest = m.depth() > deepest ? m.depth() : deepest;
    return is_tuple ? deepest + 1 : 0;
  }
  /// The leaves from left to right.
  [[nodiscard]] std::vector<std::int64_t> leaves() const {
    if (!is_tuple) return {value};
    std::vector<std::int64_t> all;
    for (IntTuple const& m : modes)
      for (std::int64_t const leaf : m.leaves()) all.push_back(leaf);
    return all;
  }
  /// Number of leaves.
  [[nodiscard]] std::size_t leaf_count() const {
    std::size_t count = is_tuple ? 0 : 1;
    for (IntTuple const& m : modes) count += m.leaf_count();
    return count;
  }
  /// Calls visit(value, value of the same leaf of `other`) from left to right. Precondition: congruent.
  template <class Visit>
  void for_each_leaf(IntTuple const& other, Visit const& visit) const {
    if (!is_tuple) visit(value, other.value);
    for (std::size_t i = 0; i < modes.size(); ++i) modes[i].for_each_leaf(other.modes[i], visit);
  }
  /// True if any leaf is a coordinate stride such as `_1@0`.
  [[nodiscard]] bool has_basis() const {
    for (IntTuple const& m : modes)
      if (m.has_basis()) return true;
    return !basis.empty();
  }
  /// Product of the leaves; 1 for `()`.
  [[nodiscard]] std::int64_t product() const {
    std::int64_t p = is_tuple ? 1 : value;
    for (IntTuple const& m : modes) p *= m.product();
    return p;
  }
};

/// Same nesting, leaf for leaf.
[[nodiscard]] inline bool congruent(IntTuple const& a, IntTuple const& b) {
  if (a.is_tuple != b.is_tuple || a.modes.size() != b.modes.size()) return false;
  for (std::size_t i = 0; i < a.modes.size(); ++i)
    if (!congruent(a.modes[i], b.modes[i])) return false;
  return true;
}

/// Shape and stride. Strides with a basis make it a coordinate map, which has no offsets: its operator()
/// means nothing, see coordinate(). Invariant: congruent(shape, stride), extents >= 1, all products fit 63 bits.
struct Layout {
  IntTuple shape{1};
  IntTuple stride{0};

  friend bool operator==(Layout const&, Layout const&) = default;

  [[nodiscard]] std::size_t rank() const { return shape.rank(); }
  /// Mode i as a layout of its own.
  [[nodiscard]] Layout mode(std::size_t i) const { return {shape.mode(i), stride.mode(i)}; }
  /// Number of coordinates. `(4,8):(8,1)`: 32.
  [[nodiscard]] std::int64_t size() const { return shape.product(); }
  /// CuTe's cosize: 1 + sum of (extent-1) x |stride|. `(32,32):(33,1)`: 1055. Strides that are
  /// negative reach below 0; the count is then the width of the range.
  [[nodiscard]] std::int64_t cosize() const {
    auto const extents = shape.leaves(), strides = stride.leaves();
    std::int64_t reach = 1;
    for (std::size_t i = 0; i < extents.size(); ++i)
      reach += (extents[i] - 1) * (strides[i] < 0 ? -strides[i] : strides[i]);
    return reach;
  }

  /// Offset of a plain index: leftmost mode fastest. An index past the end goes on along the last
  /// mode, as in CuTe. Arithmetic wraps at the word's width, so negative strides are exact modulo it.
  template <Word W>
  [[nodiscard]] Offset<W> operator()(W index) const {
    return {offset_of(shape, stride, index)};
  }
  /// Offset of a coordinate: one index for each top-level mode.
  template <Word W>
  [[nodiscard]] Offset<W> operator()(std::span<W const> coordinate) const {
    assert(!coordinate.empty() && coordinate.size() == rank());
    W offset = like(coordinate[0], 0);
    for (std::size_t i = 0; i < rank(); ++i)
      offset = offset + offset_of(shape.mode(i), stride.mode(i), coordinate[i]);
    return {offset};
  }
  /// Offsets of all indices, in order. Each mode repeats the offsets of the modes before it, one stride further.
  /// Checked by Layout.OffsetsAreThoseOfTheIndices.
  [[nodiscard]] std::vector<std::uint64_t> offsets() const;

 private:
  template <Word W>
  [[nodiscard]] static W offset_of(IntTuple const& shape, IntTuple const& stride, W index) {
    W offset = like(index, 0);
    std::size_t left = shape.leaf_count();
    shape.for_each_leaf(stride, [&](std::int64_t n, std::int64_t step) {
      auto const extent = static_cast<std::uint64_t>(n);
      W const coordinate = --left != 0 ? W(index % extent) : index;
      offset = W(offset + coordinate * static_cast<std::uint64_t>(step));
      if (left != 0) index = W(index / extent);
    });
    return offset;
  }
};

/// Text as CuTe prints it: `(_8,(2,_4))`, `5@1@0`.
[[nodiscard]] inline std::string to_string(IntTuple const& t) {
  if (!t.is_tuple) {
    std::string leaf = (t.is_static ? "_" : "") + std::to_string(t.value);
    for (auto mode = t.basis.rbegin(); mode != t.basis.rend(); ++mode) leaf += "@" + std::to_string(*mode);
    return leaf;
  }
  std::string text = "(";
  for (std::size_t i = 0; i < t.modes.size(); ++i) text += (i != 0 ? "," : "") + to_string(t.modes[i]);
  return text + ")";
}

/// Text as CuTe prints it: `(_8,_64):(_64,_1)`.
[[nodiscard]] inline std::string to_string(Layout const& l) {
  return to_string(l.shape) + ":" + to_string(l.stride);
}

}  // namespace swizproof
