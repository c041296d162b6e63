// A layout in units of another size: CuTe's recast, and whether it is the same tile.
#pragma once

#include <swizproof/engine/question.hpp>
#include <swizproof/engine/verdict.hpp>
#include <swizproof/layout/map.hpp>

#include <cstdint>

namespace swizproof {

/// A layout in other units.
struct Conversion {
  Mapping converted{};  ///< result, with notes: why it is another tile, and those of the given layout
  unsigned unit_bits = 8;
  std::uint64_t alignment = 1;  ///< bases for which both are the same addresses
  bool same = true;  ///< false where units do not stay whole, or others are covered, which a note says
};

/// Size in bits of the unit that the values count: bytes for a bare swizzle without an element type. Throws InputError.
[[nodiscard]] unsigned own_unit(Mapping const& map);

/// The layout in units of so many bits, as CuTe recasts it. `(8,64):(64,1)` of 16 bits is `(8,32):(32,1)` of 32. Throws InputError for
/// what has no such units, or where the comparison is not decided. Checked by tests/unit/analysis/convert_test.cpp.
[[nodiscard]] Conversion convert_units(Mapping const& given, unsigned unit_bits, Limits const& limits);

}  // namespace swizproof
