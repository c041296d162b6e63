// CuTe's algebra of layouts: what its functions of the same names return, digit for digit.
//
//   composition(A, B)       i -> A(B(i))
//   complement(A, n)        the offsets below n that A leaves out, as steps between copies of A
//   logical_divide(A, T)    A cut into tiles T: (tile, rest)
//   logical_product(A, T)   copies of A arranged as T: (A, copies)
//   right_inverse(A)        R with A(R(i)) = i
//
// An integer is static (`_8`) or dynamic (`8`), and an operation gives a static one where CuTe does,
// because CuTe's results depend on it: it merges modes, and checks divisibility, only for static
// numbers. So a composition of dynamic layouts may be another function than A o B; agrees()
// compares them. Input that CuTe's static assertions refuse is refused here with an AlgebraError.
//
// tests/oracle/algebra_oracle.cpp compares every function with what CuTe's headers printed.
#pragma once

#include <swizproof/core/error.hpp>
#include <swizproof/layout/layout.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace swizproof {

/// `_`: leaves a mode as it is in a tiler, and free in a coordinate.
struct Underscore {
  friend constexpr bool operator==(Underscore, Underscore) = default;
};

/// Operands of composition, division and slicing: `_`, an integer, a layout, or one of these
/// for each of the first modes. `(_3:_3,(_2,_4):(_1,_8))`, `(_32,_)`. Its integers are leaves.
struct Tiler {
  std::variant<Underscore, IntTuple, Layout, std::vector<Tiler>> value{};

  [[nodiscard]] bool is_tuple() const { return std::holds_alternative<std::vector<Tiler>>(value); }
};

/// Text as CuTe prints it.
[[nodiscard]] std::string to_string(Tiler const& tiler);
/// The tree of integers that a tiler of integers is; nothing if it holds a layout or `_`.
[[nodiscard]] std::optional<IntTuple> integers(Tiler const& tiler);
/// A tree of integers as a tiler: by mode.
[[nodiscard]] Tiler tiler(IntTuple const& shape);

/// The order in which compact strides are given: leftmost mode fastest (column-major), or rightmost.
enum class Order : std::uint8_t { left, right };

/// The compact layout of a shape. `(4,(_3,8))`, left: `(4,(_3,8)):(_1,(4,12))`.
[[nodiscard]] Layout make_layout(IntTuple const& shape, Order major = Order::left);
/// The compact layout whose modes grow in the order of `order`: `(2,2):(_2,1)` for order (_1,_0).
/// Dynamic orders come last, from left to right.
[[nodiscard]] Layout make_ordered_layout(IntTuple const& shape, IntTuple const& order);
/// The modes side by side: `_4:_1` and `_2:_8` give `(_4,_2):(_1,_8)`.
[[nodiscard]] Layout make_layout(std::vector<Layout> const& modes);
/// The compact layout with the order of `l`'s strides; static strides of 0 stay.
[[nodiscard]] Layout make_layout_like(Layout const& l);
/// make_layout_like, but with mode 0 compact and first: what register fragments get.
[[nodiscard]] Layout make_fragment_like(Layout const& l);

/// The same function with as few modes as static integers allow: `(_2,_3):(_1,_2)` is `_6:_1`.
[[nodiscard]] Layout coalesce(Layout const& l);
/// coalesce() of each mode that `profile` names: `(_1,_1)` keeps rank 2.
[[nodiscard]] Layout coalesce(Layout const& l, IntTuple const& profile);
/// Modes of static stride 0 get the extent 1.
[[nodiscard]] Layout filter_zeros(Layout const& l);
/// filter_zeros() and coalesce(), of the whole or of each mode that `profile` names.
[[nodiscard]] Layout filter(Layout const& l);
[[nodiscard]] Layout filter(Layout const& l, IntTuple const& profile);
/// One level of parentheses.
[[nodiscard]] Layout flatten(Layout const& l);
/// Modes first to last - 1 become one mode of modes.
[[nodiscard]] Layout group(Layout const& l, std::size_t first, std::size_t last);
/// Modes `x` until the rank is `rank`, behind the others or before them.
[[nodiscard]] Layout append(Layout const& l, std::size_t rank, Layout const& x = {});
[[nodiscard]] Layout prepend(Layout const& l, std::size_t rank, Layout const& x = {});

/// CuTe's A o B: compatible with B's shape. `(_6,_2):(_8,_2)` o `(_4,_3):(_3,_1)` is
/// `((_2,_2),_3):((_24,_2),_8)`.
[[nodiscard]] Layout composition(Layout const& a, Layout const& b);
/// Mode by mode; modes that the tiler does not name are dropped.
[[nodiscard]] Layout composition(Layout const& a, Tiler const& tiler);
/// An index i < b.size() with 0 <= b(i) < end at which `result` is not a(b(i)), or the first index that only one of
/// result and b has; nothing if they agree. At most 2^20 indices are tried: a larger layout's are spread
/// evenly.
[[nodiscard]] std::optional<std::uint64_t> difference(Layout const& a, Layout const& b, Layout const& result,
                                                      std::uint64_t end = ~std::uint64_t{0});

/// Steps between copies of `l` that tile `target` offsets. `_6:_4` in 24: `_4:_1`.
[[nodiscard]] Layout complement(Layout const& l, IntTuple const& target);
/// The same within the layout's own cosize.
[[nodiscard]] Layout complement(Layout const& l);
/// The largest R with l(R(i)) = i, from the static strides.
[[nodiscard]] Layout right_inverse(Layout const& l);
/// R with l(R(l(i))) = l(i); R(l(i)) = i where l is one-to-one.
[[nodiscard]] Layout left_inverse(Layout const& l);
/// The indices that a static stride of 0 sends to offset 0.
[[nodiscard]] Layout nullspace(Layout const& l);

/// (tile, rest) of the layout, or of each mode that the tiler names.
[[nodiscard]] Layout logical_divide(Layout const& l, Tiler const& tiler);
/// logical_divide with all tiles in mode 0 and all rests in mode 1.
[[nodiscard]] Layout zipped_divide(Layout const& l, Tiler const& tiler);
/// zipped_divide with the rests as modes of their own.
[[nodiscard]] Layout tiled_divide(Layout const& l, Tiler const& tiler);
/// zipped_divide with tiles and rests as modes of their own.
[[nodiscard]] Layout flat_divide(Layout const& l, Tiler const& tiler);
/// (block, copies), and its rearrangements as above.
[[nodiscard]] Layout logical_product(Layout const& block, Tiler const& tiler);
[[nodiscard]] Layout zipped_product(Layout const& block, Tiler const& tiler);
[[nodiscard]] Layout tiled_product(Layout const& block, Tiler const& tiler);
[[nodiscard]] Layout flat_product(Layout const& block, Tiler const& tiler);
/// Copies side by side: mode i is (block's mode i, tiler's mode i).
[[nodiscard]] Layout blocked_product(Layout const& block, Layout const& tiler);
/// Copies interleaved: mode i is (tiler's mode i, block's mode i).
[[nodiscard]] Layout raked_product(Layout const& block, Layout const& tiler);
/// Mode j of the result holds the j-th modes of `a` and `b`.
[[nodiscard]] Layout zip(Layout const& a, Layout const& b);
/// The block repeated until it has the shape; along the modes in the order of `order`, leftmost first
/// without one.
[[nodiscard]] Layout tile_to_shape(Layout const& block, IntTuple const& shape,
                                   std::optional<IntTuple> const& order = {});

/// Offsets in units of n elements: `(_8,_64):(_64,_1)` by 8 is `(_8,_8):(_8,_1)`.
[[nodiscard]] Layout upcast(Layout const& l, std::int64_t n);
/// Offsets in units n times finer.
[[nodiscard]] Layout downcast(Layout const& l, std::int64_t n);

/// The layout of the modes that the coordinate leaves free, and the offset of the rest.
struct Slice {
  Layout layout;
  IntTuple offset;
};
[[nodiscard]] Slice slice(Layout const& l, Tiler const& coordinate);

/// The layout that points at the most elements contiguous in `a` and `b` alike, and its size.
[[nodiscard]] Layout max_common_layout(Layout const& a, Layout const& b);
[[nodiscard]] IntTuple max_common_vector(Layout const& a, Layout const& b);
/// The largest n by which upcast() is allowed.
[[nodiscard]] IntTuple max_alignment(Layout const& l);
/// The least bound of the offsets: 1 + sum of (extent - 1) x |stride|; a tree for coordinate maps.
[[nodiscard]] IntTuple coshape(Layout const& l);
/// Product of the leaves of a tree, static where all of them are.
[[nodiscard]] IntTuple size(IntTuple const& shape);
/// An even share of `n` indices in the domain of `shape`.
[[nodiscard]] Layout domain_distribute(IntTuple const& shape, IntTuple const& n);

/// The coordinate that a coordinate map gives an index, as CuTe prints it: `(3,_0)`.
[[nodiscard]] IntTuple coordinate(Layout const& map, std::int64_t index);

/// The layout whose values these are, a tuple of as few modes as can be, none for a single 0; nothing if they are those of no layout.
/// Not of CuTe. 0 32 64 96 8192 8224 8256 8288: `(_4,_2):(_32,_8192)`. Checked by tests/unit/layout/algebra_test.cpp.
[[nodiscard]] std::optional<Layout> layout_of_values(std::span<std::int64_t const> values);

}  // namespace swizproof
