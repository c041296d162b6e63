#include "analysis/padding.hpp"
#include "analysis/shapes.hpp"

#include <swizproof/analysis/fix.hpp>
#include <swizproof/core/every_swizzle.hpp>

#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

namespace swizproof {

namespace {

constexpr std::uint64_t most_patterns = std::uint64_t{1} << 16;
constexpr std::uint64_t least_pitch = 32;
constexpr std::size_t most_pitches = 8;

/// Calls visit(address) for each active lane.
template <class Visit>
void for_each_address(WeightedAccess const& a, Visit const& visit) {
  for (unsigned l = 0; l < a.instruction.lanes(); ++l)
    if (a.access.active[l]) visit(std::uint64_t{a.access.address[l]});
}

/// The bytes from the first to the last that an access touches; none where no lane takes part.
std::optional<ByteRange> range_of(WeightedAccess const& a) {
  std::optional<ByteRange> range;
  for_each_address(a, [&](std::uint64_t address) {
    std::uint64_t const end = address + a.instruction.bytes;
    range = range ? ByteRange{std::min(range->begin, address), std::max(range->end, end)}
                  : ByteRange{address, end};
  });
  return range;
}

/// Memory that one fix is about.
struct Region {
  std::vector<ByteRange> ranges{};
  std::vector<ByteRange>
      rooms{};  ///< targets of a swizzle: each range with the rest of its lines that is free
  std::vector<WeightedAccess const*> accesses{};
  bool bad = false;         ///< some access is more expensive than its ideal
  unsigned widest = 1;      ///< bytes that stay together
  unsigned narrowest = 16;  ///< bytes
  unsigned element = 16;    ///< bytes
};

/// Numbers that are joined to sets.
class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t of(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t i, std::size_t j) { parent_[of(std::max(i, j))] = of(std::min(i, j)); }

 private:
  std::vector<std::size_t> parent_;
};

void add(Region& region, WeightedAccess const& a, Architecture const& arch) {
  Instruction const& i = a.instruction;
  region.accesses.push_back(&a);
  region.bad |= cost(arch, i, a.access).wavefronts > ideal_wavefronts(arch, i);
  region.widest = std::max(region.widest, i.bytes);
  region.narrowest = std::min(region.narrowest, i.bytes);
  region.element = std::min(region.element, i.matrices != 0 ? 2 : i.bytes);
}

/// Adds a range behind those that the region has; `room` is where it may lead.
void add(Region& region, ByteRange range, ByteRange room) {
  if (!region.ranges.empty() && region.ranges.back().end == range.begin)
    region.ranges.back().end = range.end, region.rooms.back().end = room.end;
  else
    region.ranges.push_back(range), region.rooms.push_back(room);
}

/// All regions, by their first byte.
std::vector<Region> regions_of(std::span<WeightedAccess const> accesses, Architecture const& arch) {
  std::vector<std::pair<ByteRange, WeightedAccess const*>> asked;
  for (WeightedAccess const& a : accesses)
    if (auto const range = range_of(a); range && a.executed != 0) asked.emplace_back(*range, &a);
  std::stable_sort(asked.begin(), asked.end(),
                   [](auto const& a, auto const& b) { return a.first.begin < b.first.begin; });
  std::vector<ByteRange> ranges;  // unions of overlapping ranges
  std::vector<std::size_t> range_of_asked;
  for (auto const& [range, access] : asked) {
    if (ranges.empty() || range.begin >= ranges.back().end) ranges.push_back(range);
    ranges.back().end = std::max(ranges.back().end, range.end);
    range_of_asked.push_back(ranges.size() - 1);
  }
  std::uint64_t const line_bytes = arch.banks.row();
  Sets sets(ranges.size());
  std::map<std::uint64_t, std::size_t> first_of_pc;
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (auto const& pc = asked[i].second->pc)
      sets.join(first_of_pc.try_emplace(*pc, range_of_asked[i]).first->second, range_of_asked[i]);
  std::map<std::size_t, Region> regions;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    std::uint64_t const from = ranges[i].begin / line_bytes * line_bytes;
    std::uint64_t const to = (ranges[i].end + line_bytes - 1) / line_bytes * line_bytes;
    add(regions[sets.of(i)], ranges[i],
        {i == 0 ? from : std::max(from, ranges[i - 1].end),
         i + 1 == ranges.size() ? to : std::min(to, ranges[i + 1].begin)});
  }
  for (std::size_t i = 0; i < asked.size(); ++i)
    add(regions[sets.of(range_of_asked[i])], *asked[i].second, arch);
  std::vector<Region> out;
  for (auto& [set, region] : regions) out.push_back(std::move(region));
  return out;
}

/// The shapes of a region's accesses, those that ran most first; `linear`: for linear maps alone.
std::vector<WarpShapes> shapes_of(Region const& region, bool linear) {
  std::vector<WarpShapes> all;
  std::vector<std::map<WarpShape, std::uint64_t>> distinct;
  for (WeightedAccess const* a : region.accesses) {
    auto at = std::find_if(all.begin(), all.end(),
                           [&](WarpShapes const& s) { return s.instruction == a->instruction; });
    if (at == all.end()) {
      distinct.emplace_back();
      at = all.insert(all.end(), WarpShapes{a->instruction, 1, 1, {}, 0, 0});
    }
    WarpShape shape;
    std::uint64_t first = 0;
    for (unsigned l = 0; l < a->instruction.lanes(); ++l) {
      if (!a->access.active[l]) continue;
      std::uint64_t const bits = std::uint64_t{a->access.address[l]} * 8;
      if (shape.active == 0 && linear) first = bits;
      shape.active |= std::uint32_t{1} << l;
      shape.bits[l] = bits ^ first;
    }
    distinct[static_cast<std::size_t>(at - all.begin())][shape] += a->executed;
    at->cases += a->executed;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto& shapes = all[i].distinct;
    shapes.assign(distinct[i].begin(), distinct[i].end());
    std::stable_sort(shapes.begin(), shapes.end(),
                     [](auto const& a, auto const& b) { return a.second > b.second; });
  }
  return all;
}

/// Wavefronts under a map of byte addresses, or nothing if they are more than `most`.
template <class F>
std::optional<std::uint64_t> total_of(Architecture const& arch, std::vector<WarpShapes> const& all,
                                      F const& f, std::uint64_t most) {
  auto const bill = bill_of(
      arch, all, [&](std::uint64_t bits) { return f(bits >> 3) << 3; },
      [&](std::uint64_t total, unsigned) { return total > most; });
  return bill ? std::optional(bill->total) : std::nullopt;
}

/// The first of the ranges that holds a byte, or null.
ByteRange const* holder(std::vector<ByteRange> const& ranges, std::uint64_t byte) {
  auto const at = std::upper_bound(ranges.begin(), ranges.end(), byte,
                                   [](std::uint64_t b, ByteRange const& r) { return b < r.end; });
  return at != ranges.end() && at->begin <= byte ? &*at : nullptr;
}

// ------------------------------------------------------------------------------------------ swizzles

/// Every swizzle that may fix a region, in the order of preference among equals.
std::vector<Swizzle> swizzles_for(Region const& region, bool of_descriptors) {
  auto const bits = static_cast<unsigned>(std::bit_width(region.ranges.back().end - 1));
  int const whole = std::countr_zero(region.widest);
  std::vector<Swizzle> all;
  auto const is_mode = [](Swizzle const& s) { return s.bits <= 3 && s.base == 4 && s.shift == 3; };
  for (Swizzle const& s : every_swizzle())
    if (s.bits > 0 && s.base >= whole && (!of_descriptors || is_mode(s)) &&
        static_cast<unsigned>(s.base + s.bits) + s.distance() <= bits)
      all.push_back(s);
  auto const rank = [](Swizzle const& s) {
    return std::tuple(s.bits, s.base != 4 || s.shift != 3, s.shift < 0, s.period(), s.distance(), s.base);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](Swizzle const& a, Swizzle const& b) { return rank(a) < rank(b); });
  return all;
}

/// Memory of the accesses, in units of the narrowest one: the addresses of these.
std::vector<std::uint64_t> units_of(Region const& region) {
  std::vector<std::uint64_t> units;
  for (WeightedAccess const* a : region.accesses)
    for_each_address(*a, [&](std::uint64_t address) {
      for (unsigned at = 0; at < a->instruction.bytes; at += region.narrowest) units.push_back(address + at);
    });
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

std::optional<SwizzleFix> best_swizzle(Region const& region, Architecture const& arch, Fix const& fix,
                                       std::vector<WarpShapes> const& exact,
                                       std::vector<WarpShapes> const& all,
                                       std::vector<Swizzle> const& swizzles) {
  std::vector<std::uint64_t> const units = units_of(region);
  // Units move as a whole and stay apart from each other, so each needs a place for its first byte.
  auto const stays = [&](auto const& f) {
    return std::all_of(units.begin(), units.end(), [&](std::uint64_t unit) {
      ByteRange const* const room = holder(region.rooms, f(unit));
      return room != nullptr && f(unit) + region.narrowest <= room->end;
    });
  };
  std::optional<SwizzleFix> best;
  auto const note_reach = [&](auto const& f) {
    for (std::uint64_t const unit : units) {
      std::uint64_t const to = f(unit), end = to + region.narrowest;
      ByteRange const& range =
          region.ranges[static_cast<std::size_t>(holder(region.rooms, to) - region.rooms.data())];
      if (end > range.end) best->behind = std::max(best->behind, end - range.end);
      if (to < range.begin) best->ahead = std::max(best->ahead, range.begin - to);
    }
  };
  for (Swizzle const& s : swizzles) {
    // Whole words that move by whole lines stay in their banks. Parts of a word may join another word there.
    if (s.target_mask() % arch.banks.row() == 0 && s.source_mask() % arch.banks.bytes == 0) continue;
    std::uint64_t const least = best ? best->after : fix.before;
    auto const total = total_of(arch, all, s.formula(), least - 1);
    if (total && stays(s.formula())) best = SwizzleFix{s, {}, *total};
  }
  if (!best) return best;
  note_reach(best->swizzle.formula());
  best->on_elements = recast(best->swizzle, std::countr_zero(fix.element_bytes));
  for (std::uint64_t aligned = 1; aligned <= arch.banks.row() && best->offset_starts.empty(); aligned *= 2) {
    bool const whole = std::all_of(region.ranges.begin(), region.ranges.end(), [&](ByteRange const& r) {
      return r.begin / aligned * aligned % region.widest == 0;
    });
    auto const from_start = [&](std::uint64_t address) {
      ByteRange const* const range = holder(region.ranges, address);
      if (range == nullptr) return address;
      std::uint64_t const start = range->begin / aligned * aligned;
      return start + best->swizzle(address - start);
    };
    if (!whole || !total_of(arch, exact, from_start, best->after) || !stays(from_start)) continue;
    for (ByteRange const& r : region.ranges) best->offset_starts.push_back(r.begin / aligned * aligned);
    note_reach(from_start);
  }
  return best;
}

// ------------------------------------------------------------------------------------------- padding

/// Pitches that the lanes of expensive accesses show: how far lanes l and l ^ 2^i lie apart, the most frequent first, of these the
/// least.
std::vector<std::uint64_t> pitches_of(Region const& region, Architecture const& arch) {
  std::map<std::uint64_t, std::uint64_t> times;
  for (WeightedAccess const* a : region.accesses) {
    Instruction const& i = a->instruction;
    if (cost(arch, i, a->access).wavefronts <= ideal_wavefronts(arch, i)) continue;
    for (unsigned l = 0; l < i.lanes(); ++l)
      for (unsigned bit = 1; bit < i.lanes(); bit *= 2) {
        unsigned const other = l | bit;
        if (other == l || !a->access.active[l] || !a->access.active[other]) continue;
        std::uint64_t const x = a->access.address[l], y = a->access.address[other];
        std::uint64_t const apart = std::max(x, y) - std::min(x, y);
        if (apart < least_pitch || apart % region.widest != 0) continue;
        times[apart] += a->executed;
      }
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> order(times.begin(), times.end());
  std::stable_sort(order.begin(), order.end(),
                   [](auto const& a, auto const& b) { return a.second > b.second; });
  if (order.size() > most_pitches) order.resize(most_pitches);
  std::vector<std::uint64_t> pitches;
  for (auto const& [apart, count] : order) pitches.push_back(apart);
  return pitches;
}

Fix fix_of(Region const& region, Architecture const& arch, DescriptorUse use) {
  constexpr std::uint64_t core_matrix = 128;  // bytes that a descriptor takes as one
  Fix fix;
  fix.of_descriptors = use != DescriptorUse::none, fix.of_copies = use == DescriptorUse::copied;
  fix.region = region.ranges;
  fix.element_bytes = region.element;
  std::vector<WarpShapes> const exact = shapes_of(region, false);
  for (WeightedAccess const* a : region.accesses)  // lanes of one word may take fewer than the ideal
    fix.ideal += a->executed * std::min<std::uint64_t>(cost(arch, a->instruction, a->access).wavefronts,
                                                       ideal_wavefronts(arch, a->instruction));
  fix.before = *total_of(arch, exact, std::identity{}, ~std::uint64_t{0});
  if (use < DescriptorUse::copied) {
    PaddingSearch paddings =
        find_padding_of({region.ranges, region.accesses, pitches_of(region, arch), region.widest}, arch);
    bool const splits =
        use == DescriptorUse::plain && paddings.best && paddings.best->pitch % core_matrix != 0;
    if (!splits) fix.padding = std::move(paddings.best), fix.paddings = std::move(paddings.family);
  }
  std::vector<WarpShapes> const linear = shapes_of(region, true);
  for (WarpShapes const& shapes : linear) fix.patterns += shapes.distinct.size();
  fix.too_many = fix.patterns > most_patterns;
  if (fix.too_many) return fix;
  fix.widest_bits = std::countr_zero(region.widest);
  fix.address_bits = std::bit_width(region.ranges.back().end - 1);
  std::vector<Swizzle> const swizzles = swizzles_for(region, fix.of_descriptors);
  fix.searched = swizzles.size();
  fix.swizzle = best_swizzle(region, arch, fix, exact, linear, swizzles);
  return fix;
}

}  // namespace

std::vector<Fix> fixes_of(std::span<WeightedAccess const> accesses, Architecture const& arch, unsigned whole,
                          DescriptorUse use) {
  std::vector<Fix> fixes;
  for (Region& region : regions_of(accesses, arch)) {
    region.widest = std::max(region.widest, whole);
    if (region.bad) fixes.push_back(fix_of(region, arch, use));
  }
  std::stable_sort(fixes.begin(), fixes.end(),
                   [](Fix const& a, Fix const& b) { return a.before - a.after() > b.before - b.after(); });
  return fixes;
}

}  // namespace swizproof
