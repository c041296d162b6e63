// An access placed on a tile: what it quantifies over, and the place of every lane.
//
//   access + layout  --(values of the variables)-->  lane: coordinate, offset, byte, address
//
// A named pattern gets variables for its origin, a thread-value layout for warp, instruction and
// tile; the `for` variables of the text are there as they stand. All lanes' addresses come from one
// template, lane(), which every engine runs on its own kind of word.
#pragma once

#include <swizproof/access.hpp>
#include <swizproof/mapping.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// A variable of a placed access: first, first + step, ..., `count` values.
struct Place {
  std::string name{};
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::uint64_t count = 1;
  friend bool operator==(Place const&, Place const&) = default;

  /// The value at position i < count.
  template <Word W>
  [[nodiscard]] W value(W i) const {
    return like(i, first) + i * like(i, step);
  }
};

/// What one lane asks for.
template <class W>
struct LanePlace {
  truth_of<W> active;           ///< takes part, and gives an address that the hardware uses
  std::vector<W> coordinate{};  ///< an index for each mode of the tile; empty for raw addresses
  W offset;                     ///< of the layout alone, before any swizzle, in elements
  W swizzled;                   ///< after the swizzles that act on elements, in elements
  W byte;                       ///< relative to the base, before the swizzles that act on bytes
};

/// An access on a tile.
class Placement {
 public:
  /// Throws InputError where the access cannot lie on the tile: no shape, no element size, a footprint
  /// or a thread-value tile that does not fit, coordinates of another rank.
  Placement(Mapping map, Access access);

  [[nodiscard]] Mapping const& map() const { return map_; }
  [[nodiscard]] Access const& access() const { return access_; }
  [[nodiscard]] Instruction const& instruction() const { return access_.instruction; }
  /// What a verdict quantifies over, beside the base address.
  [[nodiscard]] std::vector<Place> const& variables() const { return variables_; }
  /// Assignments of all variables, or 2^63 if there are more.
  [[nodiscard]] std::uint64_t assignments() const;

  /// What lane `l` asks for under `values`, one for each variable. `w` gives the kind of word.
  template <Word W>
  [[nodiscard]] LanePlace<W> lane(std::span<W const> values, unsigned l, W const& w) const;
  /// True if the lane's coordinates lie in the tile.
  template <Word W>
  [[nodiscard]] truth_of<W> inside(LanePlace<W> const& place, W const& w) const;
  /// The byte address of a place whose tile starts at `base`.
  template <Word W>
  [[nodiscard]] W address(LanePlace<W> const& place, W const& base) const {
    return detail::apply(map_.on_bytes, W(base + place.byte));
  }
  /// All lanes' addresses under `values`, from a tile that starts at byte `base`.
  template <Word W>
  [[nodiscard]] WarpAccess<W> warp(std::span<W const> values, W const& base) const {
    WarpAccess<W> all;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      LanePlace<W> const place = lane(values, l, base);
      all.address[l] = address(place, base);
      all.active[l] = place.active;
    }
    return all;
  }
  /// Thread values: the offset of element j of the vector that lane `l` takes, before any swizzle.
  template <Word W>
  [[nodiscard]] W offset_of_value(std::span<W const> values, unsigned l, std::uint64_t j) const;
  /// The byte address of byte j of a lane's vector, if the tile starts at `base`.
  template <Word W>
  [[nodiscard]] W byte_of_vector(LanePlace<W> const& place, unsigned j, W const& base) const;
  /// Elements that one lane of the instruction takes or gives: 8 for 16 bytes of f16.
  [[nodiscard]] std::uint64_t vector_elements() const;
  /// The mode of the tile along which the bytes of a named pattern's row run.
  [[nodiscard]] std::size_t row_mode() const { return 1 - byte_mode_; }

 private:
  void place_pattern(RowAndByte const& pattern);
  void place_thread_values(ThreadValues const& values);
  [[noreturn]] void refuse(std::string message, std::string hint = {}) const;

  /// The coordinate that lane `l` asks for, and the bits beyond the start of that element.
  template <Word W>
  [[nodiscard]] std::pair<std::vector<W>, W> coordinate(std::span<W const> values, unsigned l, W const& w,
                                                        std::uint64_t j = 0) const;
  template <Word W>
  [[nodiscard]] W offset_at(std::vector<W> const& at) const {
    Layout const& tile = *map_.domain();
    return (at.size() == 1 ? tile(at[0]) : tile(std::span<W const>(at))).elements;
  }

  Mapping map_;
  Access access_;
  std::vector<Place> variables_{};
  std::vector<Stage> outer_{};  // the element stages after the layout
  std::size_t byte_mode_ = 1;   // patterns: the contiguous mode
  std::size_t tile_modes_ = 0;  // thread values: modes of the tile
};

/// Calls visit(values) for every assignment of the variables, the last one fastest.
template <class Visit>
void for_each_assignment(Placement const& placement, Visit const& visit) {
  auto const& variables = placement.variables();
  std::vector<std::uint64_t> index(variables.size(), 0), values(variables.size());
  while (true) {
    for (std::size_t i = 0; i < index.size(); ++i) values[i] = variables[i].value(index[i]);
    visit(std::span<std::uint64_t const>(values));
    std::size_t i = index.size();
    while (i > 0 && ++index[i - 1] == variables[i - 1].count) index[--i] = 0;
    if (i == 0) return;
  }
}

template <Word W>
std::pair<std::vector<W>, W> Placement::coordinate(std::span<W const> values, unsigned l, W const& w,
                                                   std::uint64_t j) const {
  W const lane = like(w, l), zero = like(w, 0);
  std::vector<W> at;
  if (auto const* pattern = std::get_if<RowAndByte>(&access_.where)) {
    std::span<W const> const only_lane(&lane, 1);
    W const row = values[0] + pattern->row(only_lane, w);
    W const bits = shl(W(values[1] + pattern->byte(only_lane, w)), 3);
    W const element = like(w, *map_.element_bits);
    at.assign(map_.domain()->rank(), zero);
    at[byte_mode_] = bits / element;
    if (at.size() > 1) at[row_mode()] = row;
    for (std::size_t m = 2; m < at.size(); ++m) at[m] = values[m];
    return {std::move(at), W(bits % element)};
  }
  if (auto const* tiles = std::get_if<ThreadValues>(&access_.where)) {
    W const thread = values[0] * like(w, warp_lanes) + lane;
    W const which[] = {thread, W(values[1] * like(w, vector_elements()) + like(w, j))};
    W index = tiles->tv(std::span<W const>(which)).elements;
    at = std::vector<W>(values.begin() + 2, values.end());
    for (std::size_t m = 0; m < tile_modes_; ++m) {
      W const extent = like(w, static_cast<std::uint64_t>(tiles->tile.mode(m).product()));
      at[m] = at[m] * extent + (m + 1 < tile_modes_ ? W(index % extent) : index);
      index = index / extent;
    }
    return {std::move(at), zero};
  }
  std::vector<W> variables{lane};
  variables.insert(variables.end(), values.begin(), values.end());
  if (auto const* coord = std::get_if<Coordinate>(&access_.where))
    for (Expression const& e : coord->modes) at.push_back(e(std::span<W const>(variables), w));
  return {std::move(at), zero};
}

template <Word W>
LanePlace<W> Placement::lane(std::span<W const> values, unsigned l, W const& w) const {
  std::vector<W> variables{like(w, l)};
  variables.insert(variables.end(), values.begin(), values.end());
  truth_of<W> active = l < access_.instruction.lanes();
  if (access_.active) active = active && !((*access_.active)(std::span<W const>(variables), w) == like(w, 0));
  if (auto const* tiles = std::get_if<ThreadValues>(&access_.where)) {
    W const threads = like(w, static_cast<std::uint64_t>(tiles->tv.shape.mode(0).product()));
    if (tiles->tv.shape.mode(0).product() % warp_lanes != 0)
      active = active && (values[0] * like(w, warp_lanes) + variables[0]) < threads;
  }
  if (auto const* raw = std::get_if<RawAddress>(&access_.where)) {
    W const byte = raw->bytes(std::span<W const>(variables), w);
    return {active, {}, byte, byte, byte};
  }
  auto [at, bits_beyond] = coordinate(values, l, w);
  W const offset = offset_at(at);
  W const swizzled = detail::apply(outer_, offset);
  unsigned const bits = *map_.element_bits;
  W const byte = bits % 8 == 0 ? W(swizzled * like(w, bits / 8) + shr(bits_beyond, 3))
                               : shr(W(swizzled * like(w, bits) + bits_beyond), 3);
  return {active, std::move(at), offset, swizzled, byte};
}

template <Word W>
W Placement::offset_of_value(std::span<W const> values, unsigned l, std::uint64_t j) const {
  return offset_at(coordinate(values, l, values[0], j).first);
}

template <Word W>
W Placement::byte_of_vector(LanePlace<W> const& place, unsigned j, W const& base) const {
  unsigned const bits = map_.element_bits.value_or(8);
  if (place.coordinate.empty() || bits < 8)
    return detail::apply(map_.on_bytes, W(base + place.byte + like(base, j)));
  unsigned const bytes = bits / 8;
  // Bytes of the first element may lie before the place: a half of a 4-byte element, say.
  W const first = place.byte - place.swizzled * like(base, bytes);
  W const from = first + like(base, j);
  W const element = detail::apply(outer_, W(place.offset + from / like(base, bytes)));
  return detail::apply(map_.on_bytes, W(base + element * like(base, bytes) + from % like(base, bytes)));
}

template <Word W>
truth_of<W> Placement::inside(LanePlace<W> const& place, W const& w) const {
  truth_of<W> all = true;
  if (place.coordinate.empty()) return all;
  Layout const& tile = *map_.domain();
  bool const plain = place.coordinate.size() == 1;
  for (std::size_t m = 0; m < place.coordinate.size(); ++m) {
    std::int64_t const extent = plain ? tile.size() : tile.shape.mode(m).product();
    all = all && place.coordinate[m] < like(w, static_cast<std::uint64_t>(extent));
  }
  return all;
}

}  // namespace swizproof
