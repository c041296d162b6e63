#include <swizproof/core/gf2.hpp>
#include <swizproof/layout/bases.hpp>

#include <bit>
#include <cassert>
#include <set>

namespace swizproof {

namespace {

unsigned bits_of(std::int64_t extent) {
  return static_cast<unsigned>(std::bit_width(std::uint64_t(extent)) - 1);
}

/// One place for each bit of the coordinate, all of them apart, at which a layout keeps it: the highest bit of its offset, or
/// the lowest where two highest are the same, or any that is free. A bit that moves nothing lies at 0.
BitPlaces apart(BitPlaces const& places) {
  auto const chosen = [&](auto const& choose) -> std::optional<BitPlaces> {
    BitPlaces out;
    std::set<std::uint64_t> taken;
    for (std::uint64_t const place : places) {
      out.push_back(place == 0 ? 0 : choose(place));
      if (place != 0 && !taken.insert(out.back()).second) return std::nullopt;
    }
    return out;
  };
  if (auto const highest = chosen([](std::uint64_t p) { return std::bit_floor(p); })) return *highest;
  if (auto const lowest = chosen([](std::uint64_t p) { return p & (~p + 1); })) return *lowest;
  BitPlaces out;
  for (std::uint64_t next = 1; std::uint64_t const place : places) {
    out.push_back(place == 0 ? 0 : next);
    next <<= place == 0 ? 0 : 1;
  }
  return out;
}

/// The Swizzle that a linear map is: every bit stays, and some that follow each other are added `distance` below.
std::optional<Swizzle> swizzle_of(BitPlaces const& from, BitPlaces const& to) {
  int distance = 0;
  std::uint64_t targets = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::uint64_t const moved = from[i] ^ to[i];
    if (moved == 0) continue;
    if (!std::has_single_bit(moved)) return std::nullopt;
    int const step = std::countr_zero(from[i]) - std::countr_zero(moved);
    if (step == 0 || (distance != 0 && step != distance)) return std::nullopt;
    distance = step;
    targets |= moved;
  }
  if (targets == 0) return Swizzle{};
  int const low = std::countr_zero(targets), count = std::popcount(targets);
  if (targets >> low != low_bits(count)) return std::nullopt;
  Swizzle const s{count, distance > 0 ? low : low + distance, distance};
  return s.valid() ? std::optional(s) : std::nullopt;
}

}  // namespace

std::optional<BitPlaces> places(OffsetBases const& bases) {
  // Offset bits as columns: the coordinate's bits one behind the other, and in the upper half which offset bit it is.
  std::vector<unsigned> first{0};
  for (std::int64_t const extent : bases.shape) first.push_back(first.back() + bits_of(extent));
  unsigned const count = first.back();
  if (count > 31 || bases.coordinates.size() > 32) return std::nullopt;
  Echelon<std::uint64_t> echelon;
  for (std::size_t k = 0; k < bases.coordinates.size(); ++k) {
    std::uint64_t bit = 0;
    for (std::size_t m = 0; m < bases.shape.size(); ++m)
      bit |= static_cast<std::uint64_t>(bases.coordinates[k][m]) << first[m];
    if (bit == 0) continue;
    // Pivots are highest bits: the coordinate is kept there, and the offset bit below it.
    std::uint64_t const vector = bit << 32 | std::uint64_t{1} << k;
    if (echelon.reduce(vector) >> 32 == 0) return std::nullopt;
    echelon.add(vector);
  }
  if (echelon.rows().size() != count) return std::nullopt;
  BitPlaces out(count);
  for (std::uint64_t const row : echelon.rows()) {
    // Fully reduced and of full rank: one bit of the coordinate is left in each row.
    assert(std::has_single_bit(row >> 32));
    out[static_cast<std::size_t>(std::countr_zero(row >> 32))] = row & 0xffffffff;
  }
  return out;
}

Layout layout_of_bits(std::span<std::int64_t const> shape, BitPlaces const& places) {
  std::vector<IntTuple> extents, strides;
  std::size_t bit = 0;
  for (std::int64_t const extent : shape) {
    std::vector<IntTuple> mode_extents, mode_strides;
    std::int64_t next = -1;
    for (unsigned i = 0; i < bits_of(extent); ++i, ++bit) {
      auto const place = static_cast<std::int64_t>(places[bit]);
      if (place == next) {
        mode_extents.back().value *= 2;
      } else {
        mode_extents.emplace_back(2);
        mode_strides.emplace_back(place);
      }
      next = mode_extents.back().value * mode_strides.back().value;
    }
    if (mode_extents.empty()) mode_extents.emplace_back(1), mode_strides.emplace_back(0);
    bool const one = mode_extents.size() == 1;
    extents.push_back(one ? mode_extents[0] : IntTuple(std::move(mode_extents)));
    strides.push_back(one ? mode_strides[0] : IntTuple(std::move(mode_strides)));
  }
  assert(bit == places.size());
  return {IntTuple(std::move(extents)), IntTuple(std::move(strides))};
}

std::vector<Stage> stages_of_bits(std::span<std::int64_t const> shape, BitPlaces const& places) {
  BitPlaces const from = apart(places);
  Layout layout = layout_of_bits(shape, from);
  if (from == places) return {std::move(layout)};
  if (auto const swizzle = swizzle_of(from, places)) return {*swizzle, Displacement{}, std::move(layout)};
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < places.size(); ++i) all |= from[i] | places[i];
  std::vector<std::uint64_t> rows(static_cast<std::size_t>(std::bit_width(all)), 0);
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t row = 0; row < rows.size(); ++row)
      if ((places[i] >> row & 1) != 0) rows[row] |= from[i];
  return {linear_map(rows), std::move(layout)};
}

std::optional<std::vector<Stage>> linear_stages(std::span<std::int64_t const> shape,
                                                std::span<std::int64_t const> values) {
  if (values.empty() || values[0] != 0) return std::nullopt;
  BitPlaces places;
  std::size_t step = 1;
  for (std::int64_t const extent : shape) {
    if (!std::has_single_bit(static_cast<std::uint64_t>(extent))) return std::nullopt;
    for (std::size_t bit = 1; bit < static_cast<std::size_t>(extent); bit *= 2)
      places.push_back(static_cast<std::uint64_t>(values[bit * step]));
    step *= static_cast<std::size_t>(extent);
  }
  for (std::uint64_t const place : places)
    if (place >> 32 != 0) return std::nullopt;
  for (std::size_t index = 0; index < values.size(); ++index) {
    std::uint64_t sum = 0;
    for (std::size_t bit = 0; bit < places.size(); ++bit)
      if ((index >> bit & 1) != 0) sum ^= places[bit];
    if (static_cast<std::int64_t>(sum) != values[index]) return std::nullopt;
  }
  return stages_of_bits(shape, places);
}

Stage linear_stage(std::span<std::uint64_t const> images) {
  BitPlaces from;
  std::uint64_t all = 0;
  for (std::size_t bit = 0; bit < images.size(); ++bit) {
    from.push_back(std::uint64_t{1} << bit);
    all |= from[bit] | images[bit];
  }
  if (auto const swizzle = swizzle_of(from, BitPlaces(images.begin(), images.end()))) return *swizzle;
  std::vector<std::uint64_t> rows(static_cast<std::size_t>(std::bit_width(all)), 0);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t bit = 0; bit < images.size(); ++bit)
      if ((images[bit] >> row & 1) != 0) rows[row] |= from[bit];
    if (row >= images.size()) rows[row] |= std::uint64_t{1} << row;
  }
  return linear_map(rows);
}

}  // namespace swizproof
