// Layouts given bit by bit: where each bit of an offset, or of a coordinate, leads. Triton's LinearLayout of shared
// memory is such a list of bases; what is linear over GF(2) becomes a Swizzle, or a LinearMap, on a layout.
#pragma once

#include <swizproof/layout/map.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace swizproof {

/// The bases of Triton's LinearLayout with the input `offset`: bit k of an offset leads to the coordinate coordinates[k],
/// and an offset to the XOR of its bits' coordinates. A base of zeros is a gap: no coordinate is kept there.
/// {(2,4), {[0,1], [0,2], [1,0]}}: row-major.
struct OffsetBases {
  std::vector<std::int64_t> shape{};                     ///< powers of two
  std::vector<std::vector<std::int64_t>> coordinates{};  ///< one index a mode, below its extent
};

/// Position of each bit of a coordinate: of mode 0 from its lowest bit, then of mode 1, and so on. The offset of a coordinate
/// is the XOR of its bits' offsets.
using BitPlaces = std::vector<std::uint64_t>;

/// The inverse of the bases, with offsets that are 0 in the gaps, as Triton computes addresses; nothing if the bases do not
/// reach every coordinate, or reach one twice otherwise than by a gap. Checked by tests/unit/layout/bases_test.cpp.
[[nodiscard]] std::optional<BitPlaces> places(OffsetBases const& bases);

/// The layout that keeps bit i of a coordinate `places[i]` behind its first element. Precondition: as many places as `shape`
/// has bits. Bits of one mode whose places double are one mode of the layout: (8,64) row-major is `(_8,_64):(_64,_1)`.
[[nodiscard]] Layout layout_of_bits(std::span<std::int64_t const> shape, BitPlaces const& places);

/// The same map as stages on element offsets: a layout of bits whose places are apart, and before it `Swizzle o _0` where
/// the rest is one, else a LinearMap. Row-major (64,64) whose bits of the row lie at 2^6 + 2^3, 2^7 + 2^4, 2^8 + 2^5, 2^9, ...:
/// `Sw<3,3,3> o _0 o (_64,_64):(_64,_1)`. Checked by tests/unit/layout/bases_test.cpp.
[[nodiscard]] std::vector<Stage> stages_of_bits(std::span<std::int64_t const> shape, BitPlaces const& places);

/// The same of a function given by its values, the first index fastest; nothing if it is not linear over GF(2), an extent is no
/// power of two, or a value is below 0 or needs more than 32 bits. {0, 1, 3, 2} of shape (4): `Sw<1,0,1> o _0 o (_4):(_1)`.
/// Checked by tests/unit/parse/coordinate_test.cpp.
[[nodiscard]] std::optional<std::vector<Stage>> linear_stages(std::span<std::int64_t const> shape,
                                                              std::span<std::int64_t const> values);

/// The Swizzle, or else the LinearMap, that leads bit i of a number to images[i]; bits beyond stay. {1, 2, 4, 9}: `Sw<1,0,3>`.
/// Checked by tests/unit/report/code_test.cpp.
[[nodiscard]] Stage linear_stage(std::span<std::uint64_t const> images);

}  // namespace swizproof
