#include "analysis/repeats.hpp"

#include <swizproof/engine/motion.hpp>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

namespace swizproof {

namespace {

/// Every lane, base and value at once; the number of one variable grows by a period with each step.
class Moving {
 public:
  Moving(Placement const& placement, unsigned bank_bytes, std::uint64_t last_base)
      : placement_(placement),
        unit_(std::max<std::uint64_t>(placement.instruction().bytes, bank_bytes)),
        base_(Motion::between(0, static_cast<std::int64_t>(last_base))),
        lane_(Motion::between(0, std::int64_t{placement.instruction().lanes()} - 1)) {
    for (Variable const& v : placement.variables())
      values_.push_back(Motion::between(static_cast<std::int64_t>(v.first),
                                        static_cast<std::int64_t>(v.last()), 0, zeros_of(v)));
  }

  /// True if all values have bounds, and no vector can lie outside the tile.
  [[nodiscard]] bool stays_inside() const {
    constexpr std::uint64_t largest = std::uint64_t{1} << 62;
    for (Variable const& v : placement_.variables())
      if (v.first > largest || v.count - 1 > largest || v.step > largest / v.count) return false;
    LanePlace<Motion> const place = placement_.lane(std::span<Motion const>(values_), lane_);
    return placement_.inside(std::span<Motion const>(values_), place).value == true;
  }
  /// The repeat of a variable with this period, if it is one. Precondition: stays_inside().
  [[nodiscard]] std::optional<Repeat> with(std::size_t variable, std::uint64_t period) const {
    std::vector<Motion> moving = values_;
    std::uint64_t const step = period * placement_.variables()[variable].step;
    moving[variable] = Motion::between(moving[variable].least(), moving[variable].most(), step,
                                       zeros_of(placement_.variables()[variable]));
    std::span<Motion const> const values(moving);
    LanePlace<Motion> const place = placement_.lane(values, lane_);
    auto const distance = placement_.address(place, base_).step();
    if (!place.active.steady || !distance || *distance % unit_ != 0) return std::nullopt;
    unsigned const vector = 8 * placement_.instruction().bytes;
    unsigned const run = placement_.whole_vectors() ? vector : placement_.grain();
    std::optional<std::uint64_t> bits = place.element ? std::nullopt : std::optional<std::uint64_t>(0);
    for (unsigned bit = 0; bit < vector; bit += run) {
      if (placement_.bit_of_vector(values, place, bit, base_).step() != 8 * *distance) return std::nullopt;
      if (!place.element) continue;
      auto const here = placement_.place_of_vector(values, place, bit).step();
      if (!here || here != bits.value_or(*here)) return std::nullopt;
      bits = here;
    }
    return Repeat{period, *bits};
  }

 private:
  /// Low bits that are 0 in all values.
  [[nodiscard]] static unsigned zeros_of(Variable const& v) {
    return static_cast<unsigned>(std::countr_zero(v.first | (v.count > 1 ? v.step : 0)));
  }

  Placement const& placement_;
  std::uint64_t unit_;
  Motion base_, lane_;
  std::vector<Motion> values_{};
};

/// Periods below `count` worth trying: powers of two, and their products with odd parts of the tile's extents.
std::vector<std::uint64_t> periods_below(std::uint64_t count, Layout const* tile) {
  std::vector<std::uint64_t> odd{1};
  for (std::size_t m = 0; tile != nullptr && m < tile->rank(); ++m) {
    std::uint64_t extent = 1;
    for (std::int64_t const leaf : tile->shape.mode(m).leaves()) {
      extent *= static_cast<std::uint64_t>(leaf);
      odd.push_back(extent >> std::countr_zero(extent));
    }
  }
  std::vector<std::uint64_t> all;
  for (std::uint64_t const first : odd)
    for (std::uint64_t period = first; period < count; period *= 2) all.push_back(period);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

std::vector<std::uint64_t> AlikeCases::distances() const {
  std::vector<IntTuple> often, apart;
  for (std::size_t v = 0; v < times.size(); ++v) {
    often.emplace_back(static_cast<std::int64_t>(times[v]));
    apart.emplace_back(static_cast<std::int64_t>(repeats[v].bits));
  }
  return Layout{IntTuple(std::move(often)), IntTuple(std::move(apart))}.offsets();
}

std::uint64_t number_of_classes(std::span<Repeat const> repeats) {
  constexpr std::uint64_t most = std::uint64_t{1} << 63;
  std::uint64_t all = 1;
  for (Repeat const& r : repeats)
    if (__builtin_mul_overflow(all, r.period, &all) || all > most) return most;
  return all;
}

std::vector<Repeat> repeats_of(Placement const& placement, unsigned bank_bytes, std::uint64_t last_base) {
  std::vector<Repeat> all;
  for (Variable const& v : placement.variables()) all.push_back({v.count, 0});
  Moving const moving(placement, bank_bytes, last_base);
  if (!moving.stays_inside()) return all;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::uint64_t const period : periods_below(all[i].period, placement.map().domain()))
      if (auto const found = moving.with(i, period)) {
        all[i] = *found;
        break;
      }
  return all;
}

}  // namespace swizproof
