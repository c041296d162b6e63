#include <swizproof/layout/algebra.hpp>
#include <swizproof/layout/composed.hpp>
#include <swizproof/access/placement.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace swizproof {

namespace {

constexpr std::int64_t furthest = std::int64_t{1} << 32;  // bytes that shared-memory addresses reach

/// Which of the first `modes` modes has its neighbours side by side in memory: vectors run along it. The last of
/// them, but the first mode last; mode 1 if none has.
std::size_t contiguous_mode(Layout const& tile, std::size_t modes) {
  auto const contiguous = [&](std::size_t m) {
    Layout const mode = tile.mode(m);
    return mode.size() > 1 && mode(std::uint64_t{1}).elements == 1;
  };
  if (tile.rank() == 1) return 0;
  for (std::size_t m = 1; m < modes; ++m)
    if (contiguous(m)) return m;
  return contiguous(0) ? 0 : 1;
}

}  // namespace

Placement::Placement(Map map, Access access) : map_(std::move(map)), access_(std::move(access)) {
  Layout const* const tile = map_.domain();
  bool const raw = std::holds_alternative<RawAddress>(access_.where);
  if (raw) {
    if (tile != nullptr)
      refuse("an access by address does not use the layout", "give - as LAYOUT, or a bare swizzle of bytes");
    if (!map_.on_elements.empty()) refuse("addresses are bytes, this function acts on element offsets");
  } else {
    if (tile == nullptr)
      refuse("this access needs a tile with a shape; " + to_string(map_) + " has none",
             "such as Sw<3,4,3> o smem_ptr[16b](unset) o (128,64):(64,1)");
    if (!map_.element_bits)
      throw InputError::whole("the element size is not known", to_string(map_), element_hint);
    if (tile->cosize() > furthest / std::max<std::int64_t>(*map_.element_bits / 8, 1))
      throw InputError::whole("the layout reaches further than 2^32 bytes, the addresses of shared memory",
                              to_string(map_));
    outer_.assign(map_.on_elements.begin(), map_.on_elements.end() - 1);
    if (tile->rank() == 0) refuse("the layout has no modes");
    byte_mode_ = contiguous_mode(*tile, tile->rank());
  }
  if (auto const* pattern = std::get_if<RowAndByte>(&access_.where)) place_pattern(*pattern);
  if (auto const* values = std::get_if<ThreadValues>(&access_.where)) place_thread_values(*values);
  if (auto const* coord = std::get_if<Coordinate>(&access_.where)) {
    std::size_t const given = coord->modes.size();
    if (given != 1 && given != tile->rank())
      refuse("the access gives " + std::to_string(given) + " indices, the layout has " +
                 std::to_string(tile->rank()) + " modes",
             "coord = (...) takes one index a mode, or a single plain index");
    if (access_.variables.empty() && !access_.as_written) place_coordinates(coord->modes);
  }
  if (axes_.empty() && !access_.positions.empty())
    refuse("'at' and 'step' are for accesses that are moved through the tile", "leave them out");
  variables_.insert(variables_.end(), access_.variables.begin(), access_.variables.end());
  whole_vectors_ = never_split();
}

bool Placement::never_split() const {
  if (!keeps_blocks(map_.on_bytes, access_.instruction.bytes)) return false;
  if (std::holds_alternative<RawAddress>(access_.where)) return true;
  std::uint64_t const k = vector_elements();
  bool const exact = 8ULL * access_.instruction.bytes % *map_.element_bits == 0 ||
                     *map_.element_bits % (8ULL * access_.instruction.bytes) == 0;
  if (k == 1 && exact) return true;  // a part of an element
  if (!outer_.empty() && !(exact && keeps_blocks(outer_, k))) return false;
  Layout const run = coalesce(map_.domain()->mode(byte_mode_));
  return !std::holds_alternative<ThreadValues>(access_.where) && !run.shape.is_tuple && run.stride.value == 1;
}

unsigned Placement::grain() const {
  return static_cast<unsigned>(std::gcd(map_.element_bits.value_or(8), 8U));
}

void Placement::refuse(std::string message, std::string hint) const {
  throw InputError::whole(std::move(message), access_.name, std::move(hint));
}

std::uint64_t Placement::assignments() const {
  std::uint64_t all = 1;
  for (Variable const& v : variables_)
    if (__builtin_mul_overflow(all, v.count, &all) || all > (std::uint64_t{1} << 63))
      return std::uint64_t{1} << 63;
  return all;
}

std::uint64_t Placement::vector_elements() const {
  return std::max<std::uint64_t>(8ULL * access_.instruction.bytes / map_.element_bits.value_or(8), 1);
}

std::uint64_t Placement::Axis::footprint() const { return std::max(std::bit_ceil(most - least + 1), unit); }

template <class Visit>
void Placement::for_each_active(Visit const& visit) const {
  for (std::uint64_t lane = 0; lane < access_.instruction.lanes(); ++lane)
    if (std::span<std::uint64_t const> const variables(&lane, 1);
        !access_.active || (*access_.active)(variables, lane) != 0)
      visit(lane, variables);
}

Variable Placement::positions_along(Axis const& axis) const {
  std::uint64_t const span = axis.most - axis.least;
  // Lanes that leave the tile as the text has them stay there: that is for check() to say.
  if (axis.most >= axis.extent || axis.least > axis.most) return Variable::steps(axis.name, axis.least, 1, 1);
  std::uint64_t step = axis.unit;
  for (PositionsAlong const& positions : access_.positions) {
    if (positions.axis != axis.name) continue;
    std::uint64_t const value = positions.value;
    std::string const text = (positions.only ? "at " : "step ") + axis.name + " " + std::to_string(value);
    if (positions.only && value > axis.extent - 1 - span)
      refuse("'" + text + "' leaves the tile: the last " + axis.name + " is " +
             std::to_string(axis.extent - 1 - span));
    if (positions.only) return Variable::steps(axis.name, value, 1, 1);
    if (value % axis.unit != 0)
      refuse("'" + text + "' is no multiple of the " + std::to_string(axis.unit) + " that " +
             to_string(access_.instruction) + " needs");
    step = value;
  }
  std::uint64_t const first = axis.least % step;
  if (first > axis.extent - 1 - span) return Variable::steps(axis.name, axis.least, 1, 1);
  return Variable::steps(axis.name, first, step, (axis.extent - 1 - span - first) / step + 1);
}

void Placement::move_along(std::vector<Axis> axes) {
  for (PositionsAlong const& positions : access_.positions)
    if (std::none_of(axes.begin(), axes.end(), [&](Axis const& a) { return a.name == positions.axis; })) {
      std::string known;
      for (Axis const& axis : axes) known += (known.empty() ? "" : ", ") + axis.name;
      refuse("this access has no axis '" + positions.axis + "'", "its axes: " + known);
    }
  axes_ = std::move(axes);
  for (Axis const& axis : axes_) variables_.push_back(positions_along(axis));
}

std::string Placement::footprint_clause() const {
  if (!is_everywhere()) return {};
  std::string text;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (variables_[i].count > 1 && axes_[i].footprint() != variables_[i].step)
      text += (text.empty() ? "step " : ", ") + axes_[i].name + " " + std::to_string(axes_[i].footprint());
  return text;
}

Placement Placement::at_footprints() const {
  Access access = access_;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (variables_[i].count > 1) access.positions.push_back({axes_[i].name, axes_[i].footprint(), false});
  return {map_, std::move(access)};
}

std::vector<PositionsAlong> Placement::as_written() const {
  std::vector<PositionsAlong> out;
  if (std::holds_alternative<Coordinate>(access_.where) && is_everywhere())
    for (Axis const& axis : axes_) out.push_back({axis.name, axis.least, true});
  return out;
}

void Placement::place_pattern(RowAndByte const& pattern) {
  Layout const& tile = *map_.domain();
  // Rows are the lines that are contiguous in memory, whichever of the first two modes they run along.
  byte_mode_ = contiguous_mode(tile, std::min<std::size_t>(tile.rank(), 2));
  if (tile.rank() == 1 && pattern.rows > 1)
    refuse("the access touches " + std::to_string(pattern.rows) + " rows, the tile " + to_string(tile.shape) +
           " has one mode");
  auto const extent = [&](std::size_t m) { return static_cast<std::uint64_t>(tile.shape.mode(m).product()); };
  constexpr std::uint64_t none = ~std::uint64_t{0};
  Axis row{"row", none, 0, tile.rank() == 1 ? 1 : extent(row_mode()), 1};
  Axis byte{"byte", none, 0, extent(byte_mode_) * *map_.element_bits / 8, access_.instruction.bytes};
  for_each_active([&](std::uint64_t lane, std::span<std::uint64_t const> variables) {
    std::uint64_t const r = pattern.row(variables, lane), b = pattern.byte(variables, lane);
    row.least = std::min(row.least, r), row.most = std::max(row.most, r);
    byte.least = std::min(byte.least, b), byte.most = std::max(byte.most, b + access_.instruction.bytes - 1);
  });
  std::vector<Axis> axes{std::move(row), std::move(byte)};
  for (std::size_t m = 2; m < tile.rank(); ++m)
    axes.push_back({"mode " + std::to_string(m), 0, 0, extent(m), 1});
  move_along(std::move(axes));
}

void Placement::place_coordinates(std::vector<Expression> const& modes) {
  Layout const& tile = *map_.domain();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::vector<std::pair<std::int64_t, std::int64_t>> reached(tile.rank(), {most, -1 - most});
  std::uint64_t const bits = *map_.element_bits, vector = 8ULL * access_.instruction.bytes;
  for_each_active([&](std::uint64_t lane, std::span<std::uint64_t const> variables) {
    std::vector<std::uint64_t> at;
    for (Expression const& e : modes) at.push_back(e(variables, lane));
    if (at.size() < tile.rank()) at = modes_of(at[0]);
    for (std::size_t m = 0; m < at.size(); ++m) {
      auto const first = static_cast<std::int64_t>(at[m]);
      std::int64_t const more = m == byte_mode_ ? static_cast<std::int64_t>((vector - 1) / bits) : 0;
      reached[m].first = std::min(reached[m].first, first);
      reached[m].second = std::max(reached[m].second, std::min(first, most - more) + more);
    }
  });
  std::vector<Axis> axes;
  for (std::size_t m = 0; m < tile.rank(); ++m) {
    std::string const name = tile.rank() == 1   ? "index"
                             : tile.rank() == 2 ? (m == 0 ? "row" : "col")
                                                : "mode " + std::to_string(m);
    axes.push_back({name, static_cast<std::uint64_t>(reached[m].first),
                    static_cast<std::uint64_t>(reached[m].second),
                    static_cast<std::uint64_t>(tile.shape.mode(m).product()),
                    m == byte_mode_ ? std::lcm(bits, vector) / bits : 1});
  }
  move_along(std::move(axes));
}

void Placement::refuse_other_values(ThreadValues const& values) const {
  unsigned const bits = *map_.element_bits, vector = 8 * instruction().bytes;
  if (values.value_bits != 0 && values.value_bits != bits)
    refuse("the TiledCopy copies values of " + std::to_string(values.value_bits) +
               " bits (ValueType), the layout's elements have " + std::to_string(bits) + " bits",
           "paste the TiledCopy of these elements, or give the layout in elements of " +
               std::to_string(values.value_bits) + " bits");
  if (vector % bits != 0)
    refuse("the " + std::to_string(vector) + " bits of " + to_string(instruction()) +
           " are no whole number of elements of " + std::to_string(bits) + " bits");
  std::int64_t const all = values.partition != 0 ? values.partition : values.tv.shape.mode(1).product();
  if (static_cast<std::uint64_t>(all) % vector_elements() != 0)
    refuse("a thread has " + std::to_string(all) + " values, the instruction takes " +
           std::to_string(vector_elements()) + " at once");
}

void Placement::refuse_carries(ThreadValues const& values) const {
  std::uint64_t reached = 0;
  Swizzle const* swizzle = nullptr;
  for (Stage const& stage : outer_) {
    auto const* const one = std::get_if<Swizzle>(&stage);
    if (one != nullptr && one->bits != 0 && (swizzle == nullptr || one->period() > swizzle->period()))
      swizzle = one;
    if (auto const* offset = std::get_if<Displacement>(&stage))
      reached |= static_cast<std::uint64_t>(offset->elements);
  }
  if (swizzle == nullptr) return;
  std::vector<Tiler> tiles;
  for (std::size_t m = 0; m < tile_modes_; ++m) tiles.push_back({IntTuple(values.tile.mode(m).product())});
  Layout parts;
  try {
    Layout const divided = zipped_divide(*map_.domain(), {tiles});
    parts = make_layout({composition(divided.mode(0), values.tv), divided.mode(1)});
  } catch (AlgebraError const&) {
    return;  // CuTe has no such partition
  }
  parts.shape.for_each_leaf(parts.stride, [&](std::int64_t extent, std::int64_t stride) {
    constexpr std::int64_t most = 1 << 20;
    std::uint64_t bits = extent > most ? ~std::uint64_t{0} : 0;
    for (std::int64_t i = 0; i < std::min(extent, most); ++i) bits |= static_cast<std::uint64_t>(i * stride);
    if (!swizzle->adds_without_carry(reached, bits))
      refuse("CuTe's partition of this layout may be another function: offsets carry into the bits of " +
                 to_string(*swizzle) + ", and CuTe takes thread, value and tile through it one by one",
             "coord = (...) asks about the layout's own addresses");
    reached |= bits;
  });
}

void Placement::place_thread_values(ThreadValues const& values) {
  Layout const& tile = *map_.domain();
  tile_modes_ = values.tile.rank();
  if (tile_modes_ > tile.rank())
    refuse("the thread-value layout's tile has more modes than the layout " + to_string(tile.shape));
  auto const threads = static_cast<std::uint64_t>(values.tv.shape.mode(0).product());
  if (access_.instruction.matrices != 0 && threads % warp_lanes != 0)
    refuse("the thread-value layout has " + std::to_string(threads) + " threads, " +
           to_string(access_.instruction) + " is executed by whole warps of 32");
  refuse_other_values(values);
  auto const each = static_cast<std::uint64_t>(values.tv.shape.mode(1).product());
  variables_ = {Variable::steps("warp", 0, 1, (threads + warp_lanes - 1) / warp_lanes),
                Variable::steps("instruction", 0, 1, each / vector_elements())};
  for (std::size_t m = 0; m < tile.rank(); ++m) {
    std::int64_t const extent = tile.shape.mode(m).product();
    std::int64_t const part = m < tile_modes_ ? values.tile.mode(m).product() : 1;
    if (extent % part != 0)
      refuse("the tile " + to_string(values.tile) + " does not divide the layout's shape " +
             to_string(tile.shape));
    variables_.push_back(
        Variable::steps("tile " + std::to_string(m), 0, 1, static_cast<std::uint64_t>(extent / part)));
  }
  refuse_carries(values);
}

}  // namespace swizproof
