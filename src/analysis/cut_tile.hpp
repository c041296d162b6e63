// A tile of wgmma or tcgen05, cut into what single instructions read.
#pragma once

#include <swizproof/analysis/descriptor.hpp>

#include <cstdint>
#include <vector>

namespace swizproof {

inline constexpr std::uint64_t start_unit = 16;  ///< bytes
/// Tiles are looked at from bases beyond this, so that what lies below a base has an address.
inline constexpr std::uint64_t tile_origin = std::uint64_t{1} << 20;

/// Bytes from the tile's base to each element before any function of bytes; that function; and how the tile is cut.
struct CutTile {
  Map const& map;
  std::vector<std::uint64_t> places;  ///< row running first, then k, then the rest
  std::uint64_t rows, depth, rest;    ///< elements of the whole tile
  unsigned element_bytes;
  Instructions cut;

  [[nodiscard]] std::size_t index(std::uint64_t row, std::uint64_t k, std::uint64_t more) const {
    return row + rows * (k + depth * more);
  }
  /// Index of the first element of an instruction.
  [[nodiscard]] std::size_t corner(std::uint64_t instruction) const {
    std::uint64_t const k = instruction % cut.along_k, row = instruction / cut.along_k % cut.along_rows;
    return index(row * cut.rows, k * cut.depth, instruction / cut.along_k / cut.along_rows);
  }
  /// The address of each element; empty where an element's bytes do not stay together.
  [[nodiscard]] std::vector<std::uint64_t> stored(std::uint64_t base) const;
};

/// Fault of a tile, at its text.
[[nodiscard]] InputError bad_tile(Map const& map, std::string message, std::string hint = {});

/// The tile of a map, cut as the question says, or as the tile allows where that does not say. Throws InputError at the tile's text. Checked by
/// tests/unit/analysis/descriptor_test.cpp.
[[nodiscard]] CutTile cut_tile(Map const& map, DescriptorQuestion const& question);

}  // namespace swizproof
