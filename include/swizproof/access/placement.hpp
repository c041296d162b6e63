// An access placed on a tile: what it quantifies over, and the place of every lane.
//
//   access + layout  --(values of the variables)-->  lane: coordinate, offset, byte, address
//
// A pattern of rows and bytes, and coordinates without variables, are moved to every position at which they fit in the tile:
// rows in steps of one, the contiguous mode in steps of the instruction's bytes. A position is named by the least row and byte (or
// index of each mode) of the lanes. A thread-value layout gets variables for warp, instruction and tile; the `for` variables of the
// text stay as they are. All lanes' addresses come from one template, lane(), which every engine runs on its own kind of word.
#pragma once

#include <swizproof/access/access.hpp>
#include <swizproof/layout/map.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// The element of the tile at which a lane's vector starts.
template <class W>
struct ElementPlace {
  std::vector<W> coordinate{};  ///< an index for each mode of the tile, or a single plain one
  W beyond;                     ///< bits of the element that lie before the vector
  W offset;                     ///< offset by the layout, before any swizzle, in elements
  W swizzled;                   ///< after the swizzles that act on elements, in elements
};

/// Access of one lane.
template <class W>
struct LanePlace {
  truth_of<W> active;                        ///< takes part, and gives an address that the hardware uses
  W lane;                                    ///< its number
  W byte;                                    ///< relative to the base, before the swizzles that act on bytes
  std::optional<ElementPlace<W>> element{};  ///< nothing for raw addresses, which know no tile
};

/// An access on a tile.
class Placement {
 public:
  /// Throws InputError where the access cannot be asked of the tile: no shape, no element size, coordinates of
  /// another rank, a thread-value tile that does not divide it, less than a warp for ldmatrix. What the tile's
  /// layout makes impossible is for check() to say.
  Placement(Map map, Access access);

  [[nodiscard]] Map const& map() const { return map_; }
  [[nodiscard]] Access const& access() const { return access_; }
  [[nodiscard]] Instruction const& instruction() const { return access_.instruction; }
  /// Variables of a verdict, other than the base address.
  [[nodiscard]] std::vector<Variable> const& variables() const { return variables_; }
  /// Assignments of all variables, or 2^63 if there are more.
  [[nodiscard]] std::uint64_t assignments() const;
  /// The clause that leaves the positions which are multiples of the footprint, "step row 16, byte 32"; empty if these are all,
  /// or if the text gives the positions. Checked by Placement.NamesTheStepOfItsFootprint.
  [[nodiscard]] std::string footprint_clause() const;
  /// The same access at these positions alone. Precondition: footprint_clause() is not empty.
  [[nodiscard]] Placement at_footprints() const;
  /// The position that the text gives, of an access by coordinates that is moved; of a pattern none.
  [[nodiscard]] std::vector<PositionsAlong> as_written() const;
  /// True if the access is moved to every position at which it fits.
  [[nodiscard]] bool is_everywhere() const { return !axes_.empty() && access_.positions.empty(); }

  /// Access of a lane under `values`, one for each variable.
  template <Word W>
  [[nodiscard]] LanePlace<W> lane(std::span<W const> values, W const& lane) const;
  /// True if the coordinate that the lane accesses lies in the tile.
  template <Word W>
  [[nodiscard]] truth_of<W> starts_inside(LanePlace<W> const& place) const {
    return place.element ? holds(place.element->coordinate) : truth_of<W>(true);
  }
  /// True if every element of the lane's vector lies in the tile.
  template <Word W>
  [[nodiscard]] truth_of<W> inside(std::span<W const> values, LanePlace<W> const& place) const;
  /// The byte address of a place whose tile starts at `base`.
  template <Word W>
  [[nodiscard]] W address(LanePlace<W> const& place, W const& base) const {
    return value(map_.on_bytes, W(base + place.byte));
  }
  /// All lanes' addresses under `values`, from a tile that starts at byte `base`.
  template <Word W>
  [[nodiscard]] WarpAccess<W> warp(std::span<W const> values, W const& base) const {
    WarpAccess<W> all;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      LanePlace<W> const place = lane(values, like(base, l));
      all.address[l] = address(place, base);
      all.active[l] = place.active;
    }
    return all;
  }
  /// The bit address at which the layout keeps bit `bit` of the lane's vector, element by element. The
  /// instruction reads and writes bit 8 * address + `bit`: where the two differ, the vector is split.
  template <Word W>
  [[nodiscard]] W bit_of_vector(std::span<W const> values, LanePlace<W> const& place, unsigned bit,
                                W const& base) const;
  /// Position of that bit in the innermost layout, from the tile's origin: before any swizzle, in bits.
  template <Word W>
  [[nodiscard]] W place_of_vector(std::span<W const> values, LanePlace<W> const& place, unsigned bit) const;
  /// True if no vector inside the tile that starts at a multiple of its bytes can be split: its elements lie
  /// side by side in the layout, and the swizzles move vectors as a whole.
  [[nodiscard]] bool whole_vectors() const { return whole_vectors_; }
  /// Steps of bit_of_vector() that find every split, in bits: 8, less for elements below a byte.
  [[nodiscard]] unsigned grain() const;
  /// Elements that one lane of the instruction takes or gives: 8 for 16 bytes of f16.
  [[nodiscard]] std::uint64_t vector_elements() const;
  /// The mode of the tile along which the bytes of a named pattern's row run.
  [[nodiscard]] std::size_t row_mode() const { return 1 - byte_mode_; }

  /// True if a map and an access that are written alike lie on each other.
  friend bool operator==(Placement const& a, Placement const& b) {
    return a.map_ == b.map_ && a.access_ == b.access_;
  }

 private:
  /// Lanes along an axis: from the least to the most that they reach, of so many; the access moves in steps of `unit`.
  struct Axis {
    std::string name{};
    std::uint64_t least = 0, most = 0, extent = 1, unit = 1;
    /// The least power of two that holds all lanes, or the unit if that is more.
    [[nodiscard]] std::uint64_t footprint() const;
  };

  void place_pattern(RowAndByte const& pattern);
  void place_coordinates(std::vector<Expression> const& modes);
  /// Calls visit(lane) for each lane that takes part. Precondition: the access has no variables.
  template <class Visit>
  void for_each_active(Visit const& visit) const;
  /// Adds a variable for each axis.
  void move_along(std::vector<Axis> axes);
  [[nodiscard]] Variable positions_along(Axis const& axis) const;
  void place_thread_values(ThreadValues const& values);
  /// Refuses values of other bits than the elements, and vectors that a thread's values do not fill.
  void refuse_other_values(ThreadValues const& values) const;
  /// Refuses swizzled layouts whose slices in CuTe, and so its partition, may be another function (Swizzle::adds_without_carry).
  void refuse_carries(ThreadValues const& values) const;
  [[nodiscard]] bool never_split() const;
  [[noreturn]] void refuse(std::string message, std::string hint = {}) const;

  /// The coordinate that a lane accesses, and the bits beyond the start of that element.
  template <Word W>
  [[nodiscard]] std::pair<std::vector<W>, W> coordinate(std::span<W const> values, W const& lane,
                                                        std::uint64_t j = 0) const;
  /// The coordinate of a plain index: its first mode is the fastest.
  template <Word W>
  [[nodiscard]] std::vector<W> modes_of(W index) const;
  /// The coordinate `q` elements along the vector. Not for thread values: coordinate() computes their vectors.
  template <Word W>
  [[nodiscard]] std::vector<W> along(std::vector<W> at, W const& q) const;
  /// The offset of the element that holds bit `bit` of the vector, and which of its bits that is.
  template <Word W>
  [[nodiscard]] std::pair<W, W> element_of_vector(std::span<W const> values, LanePlace<W> const& place,
                                                  unsigned bit) const;
  template <Word W>
  [[nodiscard]] truth_of<W> holds(std::vector<W> const& at) const;
  template <Word W>
  [[nodiscard]] W offset_at(std::vector<W> const& at) const {
    Layout const& tile = *map_.domain();
    return (at.size() == 1 ? tile(at[0]) : tile(std::span<W const>(at))).elements;
  }

  Map map_;
  Access access_;
  std::vector<Variable> variables_{};
  std::vector<Stage> outer_{};  // the element stages after the layout
  std::size_t byte_mode_ = 1;   // the contiguous mode, along which vectors run
  std::size_t tile_modes_ = 0;  // thread values: modes of the tile
  std::vector<Axis> axes_{};    // of the first variables, along which the access is moved
  bool whole_vectors_ = false;
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
std::pair<std::vector<W>, W> Placement::coordinate(std::span<W const> values, W const& lane,
                                                   std::uint64_t j) const {
  W const zero = like(lane, 0);
  std::vector<W> at;
  auto const moved = [&](std::size_t axis) {
    return axes_[axis].least == 0 ? values[axis] : W(values[axis] - axes_[axis].least);
  };
  if (auto const* pattern = std::get_if<RowAndByte>(&access_.where)) {
    auto const [row, byte] = pattern->place(lane, moved(0), moved(1));
    W const bits = shl(byte, 3);
    unsigned const element = *map_.element_bits;
    at.assign(map_.domain()->rank(), zero);
    at[byte_mode_] = bits / element;
    if (at.size() > 1) at[row_mode()] = row;
    for (std::size_t m = 2; m < at.size(); ++m) at[m] = values[m];
    return {std::move(at), W(bits % element)};
  }
  if (auto const* tiles = std::get_if<ThreadValues>(&access_.where)) {
    W const thread = values[0] * warp_lanes + lane;
    W const which[] = {thread, W(values[1] * vector_elements() + j)};
    W index = tiles->tv(std::span<W const>(which)).elements;
    at = std::vector<W>(values.begin() + 2, values.end());
    for (std::size_t m = 0; m < tile_modes_; ++m) {
      auto const extent = static_cast<std::uint64_t>(tiles->tile.mode(m).product());
      at[m] = W(at[m] * extent) + (m + 1 < tile_modes_ ? W(index % extent) : index);
      index = W(index / extent);
    }
    return {std::move(at), zero};
  }
  std::vector<W> variables{lane};
  variables.insert(variables.end(), values.begin(), values.end());
  if (auto const* coord = std::get_if<Coordinate>(&access_.where))
    for (Expression const& e : coord->modes) at.push_back(e(std::span<W const>(variables), lane));
  if (at.size() < axes_.size()) at = modes_of(at[0]);
  for (std::size_t m = 0; m < axes_.size(); ++m) at[m] = at[m] + moved(m);
  return {std::move(at), zero};
}

template <Word W>
LanePlace<W> Placement::lane(std::span<W const> values, W const& lane) const {
  std::vector<W> variables{lane};
  variables.insert(variables.end(), values.begin(), values.end());
  truth_of<W> active = lane < access_.instruction.lanes();
  if (access_.active) active = active && !((*access_.active)(std::span<W const>(variables), lane) == 0);
  if (auto const* tiles = std::get_if<ThreadValues>(&access_.where)) {
    auto const threads = static_cast<std::uint64_t>(tiles->tv.shape.mode(0).product());
    if (tiles->tv.shape.mode(0).product() % warp_lanes != 0)
      active = active && (values[0] * warp_lanes + variables[0]) < threads;
  }
  if (auto const* raw = std::get_if<RawAddress>(&access_.where)) {
    W const byte = raw->bytes(std::span<W const>(variables), lane);
    return {active, lane, byte, std::nullopt};
  }
  auto [at, beyond] = coordinate(values, lane);
  W const offset = offset_at(at);
  W const swizzled = value(outer_, offset);
  unsigned const bits = *map_.element_bits;
  W const byte =
      bits % 8 == 0 ? W(swizzled * (bits / 8) + shr(beyond, 3)) : asr(W(swizzled * bits + beyond), 3);
  return {active, lane, byte, ElementPlace<W>{std::move(at), beyond, offset, swizzled}};
}

template <Word W>
std::vector<W> Placement::modes_of(W index) const {
  Layout const& tile = *map_.domain();
  std::vector<W> at;
  for (std::size_t m = 0; m < tile.rank(); ++m) {
    auto const extent = static_cast<std::uint64_t>(tile.shape.mode(m).product());
    at.push_back(m + 1 < tile.rank() ? W(index % extent) : index);
    index = W(index / extent);
  }
  return at;
}

template <Word W>
std::vector<W> Placement::along(std::vector<W> at, W const& q) const {
  if (at.size() == 1 && map_.domain()->rank() > 1) at = modes_of(at[0]);
  at[byte_mode_] = at[byte_mode_] + q;
  return at;
}

template <Word W>
std::pair<W, W> Placement::element_of_vector(std::span<W const> values, LanePlace<W> const& place,
                                             unsigned bit) const {
  unsigned const bits = *map_.element_bits;
  if (std::holds_alternative<ThreadValues>(access_.where))
    return {offset_at(coordinate(values, place.lane, bit / bits).first), like(place.lane, bit % bits)};
  W const from = place.element->beyond + bit;
  return {offset_at(along(place.element->coordinate, W(from / bits))), W(from % bits)};
}

template <Word W>
W Placement::place_of_vector(std::span<W const> values, LanePlace<W> const& place, unsigned bit) const {
  auto const [offset, rest] = element_of_vector(values, place, bit);
  return offset * *map_.element_bits + rest;
}

template <Word W>
W Placement::bit_of_vector(std::span<W const> values, LanePlace<W> const& place, unsigned bit,
                           W const& base) const {
  W const start = shl(base, 3);
  if (!place.element) return swizzle_bit_address(map_, W(start + shl(place.byte, 3) + bit));
  auto const [offset, rest] = element_of_vector(values, place, bit);
  return swizzle_bit_address(map_, W(start + value(outer_, offset) * *map_.element_bits + rest));
}

template <Word W>
truth_of<W> Placement::holds(std::vector<W> const& at) const {
  truth_of<W> all = true;
  Layout const& tile = *map_.domain();
  bool const plain = at.size() == 1;
  for (std::size_t m = 0; m < at.size(); ++m) {
    std::int64_t const extent = plain ? tile.size() : tile.shape.mode(m).product();
    all = all && at[m] < static_cast<std::uint64_t>(extent);
  }
  return all;
}

template <Word W>
truth_of<W> Placement::inside(std::span<W const> values, LanePlace<W> const& place) const {
  if (!place.element) return true;
  truth_of<W> const first = starts_inside(place);
  unsigned const last = 8 * access_.instruction.bytes - 1;
  if (std::holds_alternative<ThreadValues>(access_.where))
    return first && holds(coordinate(values, place.lane, last / *map_.element_bits).first);
  W const q = (place.element->beyond + last) / *map_.element_bits;
  return first && holds(along(place.element->coordinate, q));
}

}  // namespace swizproof
