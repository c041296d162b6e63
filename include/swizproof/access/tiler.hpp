// Tilers of thread-value layouts: `(_32,_16)`, or a layout for each mode, `((_8,_4,_2):(_1,_16,_8),(_4,_2,_2):(_2,_1,_8))`.
#pragma once

#include <swizproof/layout/algebra.hpp>

#include <span>

namespace swizproof {

/// CuTe's shape(Tiler_MN). Throws AlgebraError for a tiler of _.
[[nodiscard]] IntTuple tile_shape(Tiler const& tiler);

/// The tiler of one mode, and its copies in the gaps that it leaves: `(_8,_2):(_1,_16)` and `_2:_8`, together 32 coordinates.
/// Throws AlgebraError unless they name each coordinate once.
struct WholeMode {
  Layout tiler{};
  Layout gaps{};
  [[nodiscard]] std::int64_t extent() const { return tiler.size() * gaps.size(); }
};
[[nodiscard]] WholeMode whole_mode(Tiler const& tiler);

/// The tile's extents. Makes of each side's indices in the tiler's order column-major indices into the tile; a tiler with
/// gaps is repeated into them: the copies are further values of each thread. Throws AlgebraError.
[[nodiscard]] IntTuple through_tiler(Tiler const& tiler, std::span<Layout* const> sides);

}  // namespace swizproof
