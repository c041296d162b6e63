// Cases that are decided as one, compared with a loop over all of them.
#include "analysis/repeats.hpp"

#include "generators/any_tile.hpp"

#include <swizproof/analysis/check.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

namespace swizproof {
namespace {

using W = std::uint64_t;
using Values = std::span<W const>;

/// An index of `n`, or nearly one, from the lane and a variable that takes `count` values.
std::string any_index(std::string const& v, std::uint32_t n, std::uint32_t& count) {
  std::uint32_t const lanes = *rc::gen::element(1U, 2U, 4U, 8U, 32U), a = *evenly(0U, 5U),
                      b = *evenly(0U, 9U);
  int const form = *evenly(0, 8);
  if (form <= 2) {  // side by side, mostly inside
    if (*evenly(0, 12) != 0) count = std::clamp(count, 1U, std::max(n / lanes, 1U));
    return fmt::format("lane%{0} + {0}*{1}", std::min(lanes, n), v);
  }
  if (form == 3) return fmt::format("({} - {}) % {}", 4 * n * count, v, n);
  if (form == 4) return fmt::format("(lane/{} ^ {}) % {}", lanes, v, n);
  if (form == 5 && n >= count) return fmt::format("{} - {}", n - 1, v);
  return fmt::format("(lane*{} + {}*{} + {}) % {}", a, v, b, *evenly(0U, 7U), n);
}

/// A tile, and an access with two variables: a text that any_case() does not write.
struct RepeatedCase {
  TileCase tile{};
  std::string access{};

  [[nodiscard]] Placement placement() const {
    return {parse_mapping(tile.layout(), {tile.bits}), parse_access(access)};
  }
};

rc::Gen<RepeatedCase> any_repeated_case() {
  return rc::gen::exec([] {
    RepeatedCase k{*any_case(), {}};
    if (*evenly(0, 8) == 0) k.tile.swizzle.base = *evenly(0, k.tile.swizzle.base + 1);  // it splits vectors
    std::uint32_t i = *evenly(1U, 40U), j = *rc::gen::element(1U, 1U, 2U, 3U, 8U);
    std::string const row = any_index("i", k.tile.rows, i);
    std::string const column =
        any_index(*rc::gen::element<std::string>("i", "j"), k.tile.columns / k.tile.vector, j);
    std::string active = *rc::gen::element<std::string>("", "", "", "", " if lane < 20", " if i % 3 == 1",
                                                        " if (lane + i) % 4 != 0", " if lane % 2 == 0");
    if (k.tile.instruction.matrices != 0) active.clear();  // they take none
    k.access = fmt::format("{}: row = {}, col = {}*({}) for i in 0..{} for j in 0..{}{}",
                           to_string(k.tile.instruction), row, k.tile.vector, column, i - 1, j - 1, active);
    return k;
  });
}

/// A case, by its place in the order of cases; and what a loop over all of them says.
struct PlainLoop {
  struct Case {
    std::vector<W> values;
    W base;
    unsigned lane = 0;
  };
  unsigned worst = 0;
  std::optional<Case> first_worst{}, first_misfit{};
  std::map<W, std::uint64_t> total{};  ///< of each base
  std::set<W> reached{};               ///< grains of the tile
  bool accessed = false;

  PlainLoop(Placement const& placement, W base_step, W bases) {
    Instruction const& instruction = placement.instruction();
    for_each_assignment(placement, [&](Values values) {
      for (W base = 0; base < bases * base_step; base += base_step) {
        for (unsigned l = 0; l < warp_lanes && !first_misfit; ++l)
          if (misfits(placement, values, l, base)) first_misfit = {{values.begin(), values.end()}, base, l};
        unsigned const n = cost(sm_90, instruction, placement.warp(values, base)).wavefronts;
        total[base] += n;
        if (n > worst) worst = n, first_worst = {{values.begin(), values.end()}, base};
      }
      for (unsigned l = 0; l < warp_lanes && !first_misfit; ++l) {
        auto const place = placement.lane(values, W{l});
        accessed = accessed || place.active;
        for (unsigned bit = 0; place.active && bit < 8 * instruction.bytes; bit += placement.grain())
          reached.insert(placement.place_of_vector(values, place, bit));
      }
    });
  }
  static bool misfits(Placement const& placement, Values values, unsigned l, W base) {
    auto const place = placement.lane(values, W{l});
    Instruction const& instruction = placement.instruction();
    if (!place.active) return instruction.matrices != 0 && l < instruction.lanes();
    W const address = placement.address(place, base);
    if (!placement.inside(values, place) || address % instruction.bytes != 0) return true;
    for (unsigned bit = 0; bit < 8 * instruction.bytes; bit += placement.grain())
      if (placement.bit_of_vector(values, place, bit, base) != 8 * address + bit) return true;
    return false;
  }
};

std::vector<std::pair<std::string, W>> named(Placement const& placement, std::vector<W> const& values) {
  std::vector<std::pair<std::string, W>> all;
  for (std::size_t v = 0; v < values.size(); ++v)
    if (placement.variables()[v].count > 1) all.emplace_back(placement.variables()[v].name, values[v]);
  return all;
}

RC_GTEST_PROP(Repeats, VerdictsAreThoseOfAllCases, ()) {
  RepeatedCase const k = *any_repeated_case();
  RC_LOG() << k.tile.layout() << "  " << k.access;
  Placement const placement = k.placement();
  W const bases = k.tile.on_bytes ? *rc::gen::element<W>(1, 2, 4) : 1;
  CheckOptions options;
  options.align = std::max<W>(k.tile.swizzle.period() / bases, 16);
  PlainLoop const loop(placement, *options.align, bases);
  RC_PRE(loop.accessed);
  AccessVerdict const v = check(placement, options);
  std::uint64_t classes = 0;
  for_each_class(placement, repeats_of(placement, 4, 1 << 24), [&](AlikeCases const&) { ++classes; });
  classify(k.tile);
  RC_CLASSIFY(classes < placement.assignments(), "cases that are one");
  RC_CLASSIFY(loop.first_misfit.has_value(), "does not fit");
  RC_ASSERT(v.base_step == *options.align);
  if (loop.first_misfit) {
    auto const* const misfit = std::get_if<Misfit>(&v.found);
    RC_ASSERT(misfit != nullptr);
    RC_ASSERT(misfit->lane == loop.first_misfit->lane);
    RC_ASSERT(misfit->origin.base == loop.first_misfit->base);
    RC_ASSERT(misfit->origin.variables == named(placement, loop.first_misfit->values));
    return;
  }
  RC_ASSERT(v.cost() != nullptr);
  RC_ASSERT(v.cost()->wavefronts == loop.worst);
  RC_ASSERT(v.cost()->origin.base == loop.first_worst->base);
  RC_ASSERT(v.cost()->origin.variables == named(placement, loop.first_worst->values));
  std::uint64_t most = 0;
  for (auto const& [base, total] : loop.total) most = std::max(most, total);
  RC_ASSERT(v.cost()->total == most);
  std::set<W> places;
  for (W const offset : placement.map().domain()->offsets()) places.insert(offset);
  Coverage const expected{(loop.reached.size() * placement.grain() + 7) / 8,
                          (places.size() * k.tile.bits + 7) / 8};
  RC_ASSERT(v.cost()->coverage == expected);
}

/// By how much each lane that takes part moves from one case to another, if all move by the same; nothing if they do not.
std::optional<W> move(Placement const& placement, Values from, Values to, W base) {
  auto const a = placement.warp(from, base), b = placement.warp(to, base);
  std::optional<W> by;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if (a.active[l] != b.active[l]) return std::nullopt;
    W const here = b.address[l] - a.address[l];
    if (a.active[l] && by.value_or(here) != here) return std::nullopt;
    if (a.active[l]) by = here;
  }
  return by.value_or(0);
}

RC_GTEST_PROP(Repeats, CasesAPeriodApartAreAlike, ()) {
  RepeatedCase const k = *any_repeated_case();
  RC_LOG() << k.tile.layout() << "  " << k.access;
  Placement const placement = k.placement();
  unsigned const unit = std::max(4U, placement.instruction().bytes);
  W const base = *evenly(W{0}, W{64}) * unit;
  std::vector<Repeat> const repeats = repeats_of(placement, 4, 1 << 24);
  std::uint64_t cases = 0;
  for_each_class(placement, repeats, [&](AlikeCases const& alike) {
    std::vector<W> values(alike.values.begin(), alike.values.end());
    std::size_t n = 0;
    std::vector<W> const distances = alike.distances();
    RC_ASSERT(distances.size() == alike.count());
    for (W j = 0; j < alike.times[1]; ++j)
      for (W i = 0; i < alike.times[0]; ++i, ++n, ++cases) {
        values = {alike.values[0] + i * repeats[0].period, alike.values[1] + j * repeats[1].period};
        auto const by = move(placement, alike.values, values, base);
        RC_ASSERT(by.has_value() && *by % unit == 0);
        for (unsigned l = 0; l < placement.instruction().lanes(); ++l) {
          auto const first = placement.lane(alike.values, W{l}), here = placement.lane(Values(values), W{l});
          if (!first.active) continue;
          RC_ASSERT(alike.count() == 1 || placement.inside(Values(values), here));
          for (unsigned bit = 0; bit < 8 * placement.instruction().bytes; bit += placement.grain())
            RC_ASSERT(placement.place_of_vector(Values(values), here, bit) ==
                      placement.place_of_vector(alike.values, first, bit) + distances[n]);
        }
      }
  });
  RC_CLASSIFY(repeats[0].period < placement.variables()[0].count, "rows that are one");
  RC_CLASSIFY(repeats[1].period < placement.variables()[1].count, "columns that are one");
  RC_ASSERT(cases == placement.assignments());
}

/// The periods of the variables.
std::vector<std::uint64_t> periods(std::string const& layout, std::string const& access, unsigned bits = 16) {
  std::vector<std::uint64_t> all;
  for (Repeat const& r :
       repeats_of(Placement(parse_mapping(layout, {bits}), parse_access(access)), 4, 1 << 24))
    all.push_back(r.period);
  return all;
}

TEST(Repeats, OfTilesOfKernels) {
  using P = std::vector<std::uint64_t>;
  std::string const tile = "Sw<3,4,3> o smem_ptr[16b](unset) o (512,64):(64,1)";
  EXPECT_EQ(periods(tile, "ld.shared.b128: row = lane/8 + 4*i, col = 8*(lane%8) for i in 0..127"), (P{2}));
  EXPECT_EQ(periods(tile, "ldmatrix.x4"), (P{8, 7}))
      << "rows repeat by 8; the seven starts of 32 bytes in a row do not";
  EXPECT_EQ(periods(tile, "copy.row128"), (P{8, 1}));
  EXPECT_EQ(periods(tile, "ldmatrix.x4 step row 16, byte 32"), (P{1, 4})) << "16 rows are two periods";
  EXPECT_EQ(periods(tile, "copy.row128 step row 4"), (P{2, 1}));
  EXPECT_EQ(periods(tile, "ldmatrix.x4: tv ((_16,_2),(_8,_1)):((_1,_128),(_16,_0)) tile (16,16)"),
            (P{1, 1, 1, 4}));
  EXPECT_EQ(periods("(64,34):(34,1)", "ld.shared.b32: row = lane, col = i for i in 0..33", 32), (P{1}));
  EXPECT_EQ(periods("((3,20),32):((32,100),1)", "ld.shared.b32: row = i, col = lane for i in 0..59", 32),
            (P{3}))
      << "three rows are a leaf";
  EXPECT_EQ(periods("(64,64):(-64,1)", "ld.shared.b32: row = i, col = lane for i in 0..63", 32), (P{1}))
      << "downwards";
}

TEST(Repeats, MoveWholeBanksAndAllOfAVector) {
  using P = std::vector<std::uint64_t>;
  EXPECT_EQ(periods("(8,64):(64,1)", "ld.shared.b16: row = lane%8, col = lane/8 + i for i in 0..59"), (P{2}))
      << "one element is half a bank";
  EXPECT_EQ(periods("(8,64):(64,1)", "ld.shared.b64: row = lane%8, col = 4*i for i in 0..15"), (P{1}));
  EXPECT_EQ(
      periods("Sw<1,0,-3> o _0 o (32,64):(64,1)", "ld.shared.b32: row = lane, col = 2*i for i in 0..31"),
      (P{8}))
      << "the second element moves evenly by 16 alone";
}

TEST(Repeats, AreThoseOfEveryBase) {
  Placement const placement(
      parse_mapping("Sw<3,4,4> o smem_ptr[16b](unset) o (1,128):(128,1)", {16}),
      parse_access("ld.shared.b32: row = 0, col = 8*i + 2*(lane%4) + 72*(lane/4%2) for i in 0..6"));
  CheckOptions options;
  options.align = 16;
  AccessVerdict const v = check(placement, options);
  ASSERT_NE(v.cost(), nullptr);
  EXPECT_EQ(v.cost()->total, 11U) << "from base 128 on every second case crosses the 256 bytes of a line";
}

TEST(Repeats, KnowNothingWhereALaneMayLieOutside) {
  EXPECT_EQ(periods("(64,32):(32,1)", "ld.shared.b32: row = i, col = lane for i in 0..64", 32),
            (std::vector<std::uint64_t>{65}));
  EXPECT_EQ(periods("(64,32):(32,1)", "ld.shared.b32: row = i, col = lane for i in 0..63", 32),
            (std::vector<std::uint64_t>{1}));
}

}  // namespace
}  // namespace swizproof
