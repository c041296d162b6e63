#include "cut_tile.hpp"

#include <swizproof/hardware/architecture.hpp>
#include <swizproof/layout/composed.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace swizproof {

namespace {

std::uint64_t extent_of(Layout const& layout, std::size_t mode) {
  return static_cast<std::uint64_t>(layout.shape.mode(mode).product());
}

/// How rows and k of a tile are cut, as the question says; or as the tile allows, where that does not say.
Instructions cut_of(CutTile const& tile, DescriptorQuestion const& question) {
  Instructions cut;
  std::uint64_t const depth = operand_k_bytes / tile.element_bytes;
  cut.depth = question.depth.value_or(depth);
  if (cut.depth != depth)
    throw bad_tile(tile.map,
                   fmt::format("one instruction has {} elements of {} bits along k, not {}", depth,
                               8 * tile.element_bytes, cut.depth),
                   "sparse instructions are not modelled");
  auto const reads = [&](Operand operand, std::uint64_t rows) {
    return reads_rows(question.reader, operand == Operand::a, question.integers, rows);
  };
  bool const a_fits = question.rows ? reads(Operand::a, *question.rows) : tile.rows % 64 == 0;
  cut.operand = question.operand.value_or(a_fits ? Operand::a : Operand::b);
  bool const is_a = cut.operand == Operand::a;
  std::string const has = is_a ? question.reader == OperandReader::wgmma ? "A has 64" : "A has 64 or 128"
                          : question.integers ? "B of integers has 8, 16, 24, or a multiple of 16 up to 256"
                                              : "B has a multiple of 8, up to 256";
  cut.rows = question.rows.value_or(0);
  if (question.rows && !reads(cut.operand, cut.rows))
    throw bad_tile(tile.map,
                   fmt::format("no instruction of {} reads {} rows of {}", name(question.reader), cut.rows,
                               is_a ? "A" : "B"),
                   has);
  for (std::uint64_t rows = 8; !question.rows && rows <= 256; rows += 8)
    if (tile.rows % rows == 0 && reads(cut.operand, rows)) cut.rows = rows;
  if (cut.rows == 0 || tile.rows % cut.rows != 0)
    throw bad_tile(tile.map,
                   fmt::format("{} rows are no whole number of instructions{}", tile.rows,
                               cut.rows != 0 ? fmt::format(" of {}", cut.rows) : ""),
                   has);
  if (tile.depth % cut.depth != 0)
    throw bad_tile(
        tile.map,
        fmt::format("{} elements along k are no whole number of instructions of {}", tile.depth, cut.depth),
        "an instruction reads 32 bytes along k; a LAYOUT is (rows, k), with M or N first");
  cut.along_rows = tile.rows / cut.rows;
  cut.along_k = tile.depth / cut.depth;
  cut.rest = tile.rest;
  return cut;
}

}  // namespace

InputError bad_tile(Map const& map, std::string message, std::string hint) {
  std::string const text = to_string(map);
  return {std::move(message), text, 0, text.size(), std::move(hint)};
}

std::vector<std::uint64_t> CutTile::stored(std::uint64_t base) const {
  std::vector<std::uint64_t> out;
  out.reserve(places.size());
  for (std::uint64_t const place : places) out.push_back(value(map.on_bytes, base + place));
  if (!splits_elements(map)) return out;  // which is sure of swizzles alone
  for (std::size_t i = 0; i < places.size(); ++i)
    for (unsigned byte = 1; byte < element_bytes; ++byte)
      if (value(map.on_bytes, base + places[i] + byte) != out[i] + byte) return {};
  return out;
}

CutTile cut_tile(Map const& map, DescriptorQuestion const& question) {
  Layout const* const layout = map.domain();
  if (layout == nullptr || layout->rank() < 2)
    throw bad_tile(map, "an operand is a tile of (rows, k)",
                   "such as (64,16):(16,1), or gmma:K_SW128<f16> (64,64)");
  if (!map.element_bits) throw bad_tile(map, "the element size is not known", element_hint);
  if (*map.element_bits != 8 && *map.element_bits != 16 && *map.element_bits != 32)
    throw bad_tile(
        map,
        fmt::format("{} reads elements of 8, 16 or 32 bits from shared memory, not of {}",
                    name(question.reader), *map.element_bits),
        *map.element_bits == 4
            ? "give the tile in bytes, --element u8: two elements of kind::mxf4 are one; of kind::f8f6f4 16 "
              "elements of 4 or 6 bits take 16 bytes, the last 8 or 4 of them padding"
            : "");
  CutTile tile{map, {}, extent_of(*layout, 0), extent_of(*layout, 1), 1, *map.element_bits / 8, {}};
  for (std::size_t m = 2; m < layout->rank(); ++m) tile.rest *= extent_of(*layout, m);
  tile.cut = cut_of(tile, question);
  if (static_cast<std::uint64_t>(layout->size()) > most_shared_bytes)
    throw bad_tile(map,
                   fmt::format("the tile has {} elements, more than the {} bytes of a block's shared memory",
                               layout->size(), most_shared_bytes));
  tile.places = offsets(map);
  for (std::uint64_t& place : tile.places) place *= tile.element_bytes;
  std::vector<std::uint64_t> const stored = tile.stored(tile_origin);
  if (stored.empty()) throw bad_tile(map, "the layout splits elements, and an instruction reads them whole");
  auto const [low, high] = std::minmax_element(stored.begin(), stored.end());
  if (*high - *low >= most_shared_bytes)
    throw bad_tile(map,
                   fmt::format("the tile reaches over {} bytes, more than the {} of a block's shared memory",
                               *high - *low + tile.element_bytes, most_shared_bytes),
                   "start, leading and stride byte offset have 14 bits of 16 bytes");
  return tile;
}

}  // namespace swizproof
