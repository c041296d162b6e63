#include "analysis/shapes.hpp"

#include <swizproof/core/every_swizzle.hpp>
#include <swizproof/core/gf2.hpp>
#include <swizproof/hardware/certainty.hpp>
#include <swizproof/layout/composed.hpp>
#include <swizproof/analysis/find.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>

namespace swizproof {

namespace {

constexpr std::uint64_t most_maps = std::uint64_t{1} << 24;

std::uint64_t weight_of(SearchProblem const& problem, std::size_t access) {
  return problem.weights.empty() ? 1 : problem.weights[access];
}

InputError too_many_cases(Access const& access) {
  return InputError::whole("the access has more than 2^18 cases, which are not searched", access.name,
                           "give its variables smaller ranges, or its positions larger steps: step row 8");
}

InputError refusal(Map const& tile, std::string message, std::string hint = {}) {
  std::string const text = text_of(tile);
  return {std::move(message), text, 0, text.size(), std::move(hint)};
}

/// Result of check() for the access on this layout, from the bases that it takes if it is not told.
AccessVerdict verdict_of(SearchProblem const& problem, Map const& map, Access const& access) {
  auto verdict = check_exhaustively(Placement(map, access), {{}, {}, problem.arch, {}});
  if (!verdict) throw too_many_cases(access);
  return *std::move(verdict);
}

/// The accesses that do not fit a layout.
std::vector<AccessVerdict> misfits_of(SearchProblem const& problem, Map const& map) {
  std::vector<AccessVerdict> misfits;
  for (Access const& access : problem.accesses)
    if (AccessVerdict verdict = verdict_of(problem, map, access); verdict.cost() == nullptr)
      misfits.push_back(std::move(verdict));
  return misfits;
}

/// Precondition: the access fits the tile.
WarpShapes patterns_of(SearchProblem const& problem, std::size_t index) {
  Placement const placement(problem.tile, problem.accesses[index]);
  require(*problem.arch, placement.instruction(), problem.accesses[index].name);
  unsigned const element = *problem.tile.element_bits;
  WarpShapes out{placement.instruction(),
                 ideal_wavefronts(*problem.arch, placement.instruction()),
                 weight_of(problem, index),
                 {},
                 0,
                 placement.assignments()};
  if (out.cases > most_cases) throw too_many_cases(problem.accesses[index]);
  std::map<WarpShape, std::uint64_t> distinct;
  for_each_assignment(placement, [&](std::span<std::uint64_t const> values) {
    WarpShape p;
    std::uint64_t first = 0;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      LanePlace<std::uint64_t> const place = placement.lane(values, std::uint64_t{l});
      if (!place.active) continue;
      std::uint64_t const at = element < 8 ? place.element->swizzled * element : place.byte * 8;
      if (p.active == 0) first = at;
      p.active |= std::uint32_t{1} << l;
      p.bits[l] = at ^ first;
      out.ever |= at;
    }
    ++distinct[p];
  });
  out.distinct.assign(distinct.begin(), distinct.end());
  return out;
}

std::vector<WarpShapes> all_patterns(SearchProblem const& problem) {
  std::vector<WarpShapes> all;
  for (std::size_t i = 0; i < problem.accesses.size(); ++i) all.push_back(patterns_of(problem, i));
  return all;
}

/// log2 of the bits of the unit that a swizzle of the problem moves.
unsigned unit_bits(SearchProblem const& problem) {
  return problem.on_bytes ? 3 : static_cast<unsigned>(std::countr_zero(*problem.tile.element_bits));
}

SwizzleFormula<unsigned> on_bits(SearchProblem const& problem, Swizzle s) {
  SwizzleFormula<unsigned> f = s.formula();
  f.base += unit_bits(problem);
  return f;
}

/// True if some access has a vector that the swizzle does not keep in one piece, in order. Precondition: without
/// the swizzle all vectors are whole and aligned.
bool splits(std::vector<WarpShapes> const& all, SwizzleFormula<unsigned> const& f) {
  if (f.bits == 0) return false;
  std::uint64_t const source = f.source_mask(std::uint64_t{});
  for (WarpShapes const& patterns : all) {
    std::uint64_t const within = std::uint64_t{8} * patterns.instruction.bytes - 1;
    std::uint64_t const moved = patterns.ever & source;
    if ((source & within) != 0 || ((f(moved) ^ moved) & within) != 0) return true;
  }
  return false;
}

/// The elements of a tile, by the bit address of their first bit from base 0.
struct Elements {
  unsigned bits = 8;  ///< size of an element
  std::vector<std::uint64_t> extents{};
  std::vector<std::uint64_t> from{};
  std::uint64_t ever = 0;  ///< bits that the address of some bit of the tile has set

  explicit Elements(Map const& tile) : bits(*tile.element_bits) {
    Layout const& l = *tile.domain();
    if (l.size() > most_enumerated) throw refusal(tile, "the tile has more than 2^22 elements");
    for (std::size_t m = 0; m < l.rank(); ++m)
      extents.push_back(static_cast<std::uint64_t>(l.shape.mode(m).product()));
    from = offsets(tile);
    ever = bits - 1;
    for (std::uint64_t& at : from) ever |= at *= bits;
  }
};

/// The bytes that a tile touches: the lowest, and the one behind the highest. Signed: strides may be negative.
struct Reach {
  std::int64_t first = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::uint64_t bytes() const { return static_cast<std::uint64_t>(end - first); }
  /// Bytes of an array that begins at the base: a displaced tile does not start there.
  [[nodiscard]] std::uint64_t array() const {
    return static_cast<std::uint64_t>(end - std::min<std::int64_t>(first, 0));
  }
};

/// Positions of all bits of all elements, under a map of bit addresses that keeps the bits of a byte together.
template <class F>
Reach reach_of(Elements const& tile, F const& f) {
  Reach reach{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (std::uint64_t const from : tile.from)
    for (unsigned bit = 0; bit < tile.bits; bit += 8) {
      std::int64_t const byte = static_cast<std::int64_t>(f(from + bit)) >> 3;
      reach = {std::min(reach.first, byte), std::max(reach.end, byte + 1)};
    }
  return reach;
}

/// Facts that are the same for all swizzles with the same effect on a tile.
struct Effect {
  TmaAnswer tma{};
  std::uint64_t memory = 0;
};

/// Effects of swizzles on a tile, each worked out once: what counts is which of the tile's bits move, and where.
class Effects {
 public:
  explicit Effects(SearchProblem const& problem)
      : problem_(problem), modes_(tma_modes_of(*problem.arch)), tile_(problem.tile) {
    for (Map const& recast : tma_recasts(problem.tile)) recasts_.emplace_back(recast);
    plain_ = reach_of(tile_, std::identity{});
    dense_ = plain_.bytes() * 8 == tile_.from.size() * tile_.bits;
  }

  Effect const& of(Swizzle s) {
    SwizzleFormula<unsigned> const f = on_bits(problem_, s);
    std::uint64_t const moved = s.bits == 0 ? 0 : tile_.ever & f.source_mask(std::uint64_t{});
    auto const [known, is_new] = known_.try_emplace({moved, moved == 0 ? 0 : s.shift});
    if (is_new) known->second = {tma(f, moved), memory(f)};
    return known->second;
  }

 private:
  /// Whole periods are permuted within themselves.
  [[nodiscard]] std::uint64_t memory(SwizzleFormula<unsigned> const& f) const {
    auto const period = static_cast<std::int64_t>(f.period(std::uint64_t{}) / 8);
    bool const same =
        f.bits == 0 || (dense_ && period != 0 && plain_.first % period == 0 && plain_.end % period == 0);
    return same ? plain_.array() : reach_of(tile_, f).array();
  }
  [[nodiscard]] TmaAnswer tma(Elements const& tile, SwizzleFormula<unsigned> const& f,
                              std::uint64_t moved) const {
    std::uint64_t const touched = moved | (f(moved) ^ moved);
    if (moved != 0 && (touched & (tile.bits - 1)) != 0)
      return {{}, "the swizzle splits elements, TMA keeps them whole", 0};
    std::vector<std::uint64_t> addresses;
    addresses.reserve(tile.from.size());
    for (std::uint64_t const from : tile.from)
      addresses.push_back(static_cast<std::uint64_t>(static_cast<std::int64_t>(f(from)) >> 3));
    return tma_boxes(tile.extents, tile.bits, addresses, modes_);
  }
  /// Copies of elements that TMA has, or of the first recast that is written. A swizzle of bits moves those of all of them alike.
  [[nodiscard]] TmaAnswer tma(SwizzleFormula<unsigned> const& f, std::uint64_t moved) const {
    if (recasts_.empty() || modes_.empty()) return tma(tile_, f, moved);
    std::optional<TmaAnswer> first;
    for (Elements const& tile : recasts_) {
      TmaAnswer answer = tma(tile, f, moved);
      answer.element_bits = tile.bits;
      if (!first || (!first->writes && answer.writes)) first = std::move(answer);
    }
    if (!first->writes) first->reason = reason_of_recast(tile_.bits, std::move(first->reason));
    return *std::move(first);
  }

  SearchProblem const& problem_;
  std::span<TmaMode const> modes_;
  Elements tile_;
  std::vector<Elements> recasts_{};  ///< results of tma_recasts()
  Reach plain_{};
  bool dense_ = false;
  std::map<std::pair<std::uint64_t, int>, Effect> known_{};
};

bool is_one_layout(Map const& tile) {
  return tile.on_elements.size() - (std::holds_alternative<Displacement>(tile.on_elements.front()) ? 1 : 0) ==
         1;
}

}  // namespace

std::string text_of(Map const& tile) {
  bool const displaced = tile.on_bytes.empty() && !tile.on_elements.empty() &&
                         std::holds_alternative<Displacement>(tile.on_elements.front());
  return (displaced ? to_string(swizzle_none) + " o " : "") + to_string(tile);
}

Map searched_tile(Map const& map) {
  if (map.domain() == nullptr)
    throw refusal(map, "a search needs a tile with a shape",
                  "such as (128,64):(64,1); its swizzle, if it has one, is left out");
  if (!map.element_bits) throw refusal(map, "the element size is not known", element_hint);
  return without_swizzle(map);
}

Map swizzled(SearchProblem const& problem, Swizzle swizzle) {
  Map map = problem.tile;
  auto& stages = map.on_elements;
  if (problem.on_bytes) {
    if (!is_one_layout(map))
      throw refusal(map, "a swizzle of bytes stands before one layout and its offset, not before several",
                    "give --unit elements");
    map.on_bytes = {swizzle};
  } else {
    if (!std::holds_alternative<Displacement>(stages.front())) stages.insert(stages.begin(), Displacement{});
    stages.insert(stages.begin(), swizzle);
  }
  return map;
}

std::uint64_t ideal_total(SearchProblem const& problem) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < problem.accesses.size(); ++i) {
    Placement const placement(problem.tile, problem.accesses[i]);
    total += placement.assignments() * ideal_wavefronts(*problem.arch, placement.instruction()) *
             weight_of(problem, i);
  }
  return total;
}

namespace {

/// Most useful first: free of conflicts, written by TMA in few boxes, of the least excess, ...
auto rank_of(Candidate const& c) {
  std::uint64_t const boxes = c.tma.writes ? c.tma.writes->boxes : ~std::uint64_t{0};
  return std::tuple(c.cost.excess != 0, boxes, c.cost.excess, !c.whole_vectors, c.swizzle.bits, c.memory,
                    c.swizzle.shift < 0, c.swizzle.period(), c.swizzle.distance(), c.swizzle.base);
}

}  // namespace

SwizzleSearch find_swizzle(SearchProblem const& problem) {
  (void)swizzled(problem, swizzle_none);  // throws where no swizzle of the unit can stand
  SwizzleSearch out;
  out.misfits = misfits_of(problem, problem.tile);
  if (!out.misfits.empty()) return out;
  std::vector<WarpShapes> const all = all_patterns(problem);
  for (WarpShapes const& p : all) out.patterns += p.distinct.size(), out.cases += p.cases;
  out.plain = *bill_of(*problem.arch, all, on_bits(problem, swizzle_none), [](auto, auto) { return false; });
  constexpr std::uint64_t none = ~std::uint64_t{0};
  std::uint64_t least_total = none;
  std::pair<unsigned, std::uint64_t> gentlest{~0U, none};
  for (Swizzle const& s : every_swizzle()) {
    ++out.searched;
    SwizzleFormula<unsigned> const f = on_bits(problem, s);
    if (splits(all, f)) {
      ++out.unusable;
      continue;
    }
    // Every spelling of the identity is one answer, the first that is met.
    if (s.bits == 0 && least_total != none) continue;
    auto bill = bill_of(*problem.arch, all, f, [&](std::uint64_t total, unsigned excess) {
      return total > least_total && std::pair(excess, total) > gentlest;
    });
    if (!bill) continue;
    Swizzle const shown = s.bits == 0 ? swizzle_none : s;
    auto const on_bytes = problem.on_bytes ? shown : recast(shown, 3 - static_cast<int>(unit_bits(problem)));
    Candidate const c{
        shown, on_bytes, *std::move(bill), {}, s.bits == 0 || f.base >= line_bits_of(*problem.arch), 0};
    if (std::pair const here{c.cost.excess, c.cost.total}; here < gentlest) gentlest = here, out.gentlest = c;
    if (c.cost.total < least_total) out.best.clear();
    if (c.cost.total > least_total) continue;
    least_total = c.cost.total;
    out.best.push_back(c);
  }
  Effects effects(problem);
  std::span<TmaMode const> const modes = tma_modes_of(*problem.arch);
  std::string names;  // of all but the first, "none"
  for (std::size_t i = 1; i < modes.size(); ++i)
    names += fmt::format("{}{}", i == 1 ? "" : i + 1 < modes.size() ? ", " : " and ", name(modes[i]));
  auto const complete = [&](Candidate& c) {
    Effect const& effect = effects.of(c.swizzle);
    c.tma = effect.tma;
    bool const of_tma =
        c.on_bytes && std::any_of(modes.begin(), modes.end(), [&](TmaMode mode) {
          return *c.on_bytes == swizzle_of(mode) || (c.swizzle.bits == 0 && mode == TmaMode::none);
        });
    if (!c.tma.writes && !of_tma && !modes.empty())
      c.tma.reason = fmt::format("none of the modes {} has this swizzle; {}", names, c.tma.reason);
    c.memory = effect.memory;
  };
  std::for_each(out.best.begin(), out.best.end(), complete);
  complete(out.gentlest);
  std::stable_sort(out.best.begin(), out.best.end(),
                   [](Candidate const& a, Candidate const& b) { return rank_of(a) < rank_of(b); });
  return out;
}

// ------------------------------------------------------------------------------------------- pitches

namespace {

/// Modes of the tile for the rows and along them.
struct Rows {
  std::size_t row = 0;
  std::size_t along = 1;
};

Rows rows_of(Map const& tile) {
  Layout const& l = *tile.domain();
  auto const contiguous = [&](std::size_t m) {
    Layout const mode = l.mode(m);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(mode.size(), 1 << 16); ++i)
      if (mode(static_cast<std::uint64_t>(i)).elements != static_cast<std::uint64_t>(i)) return false;
    return true;
  };
  if (is_one_layout(tile) && l.rank() == 2)
    for (std::size_t const along : {std::size_t{1}, std::size_t{0}}) {
      IntTuple const &rows = l.shape.mode(1 - along), &pitch = l.stride.mode(1 - along);
      if (!rows.is_tuple && contiguous(along) && pitch.value >= l.shape.mode(along).product())
        return {1 - along, along};
    }
  throw refusal(tile, "padding needs a tile of contiguous rows at one pitch, such as (32,32):(32,1)");
}

/// The bill by check(), case by case; nothing if an access does not fit.
std::optional<Bill> bill_by_check(SearchProblem const& problem, Map const& map) {
  Bill bill;
  for (std::size_t i = 0; i < problem.accesses.size(); ++i) {
    AccessVerdict const verdict = verdict_of(problem, map, problem.accesses[i]);
    if (verdict.cost() == nullptr) return std::nullopt;
    bill.wavefronts.push_back(verdict.cost()->wavefronts);
    bill.totals.push_back(verdict.cost()->total.value());
    bill.excess += verdict.excess();
    bill.total += bill.totals.back() * weight_of(problem, i);
  }
  return bill;
}

}  // namespace

Map padded(SearchProblem const& problem, std::int64_t pitch) {
  Rows const rows = rows_of(problem.tile);
  Map map = problem.tile;
  Layout& l = std::get<Layout>(map.on_elements.back());
  l.stride.modes[rows.row] = IntTuple(pitch, l.stride.mode(rows.row).is_static);
  return map;
}

PitchSearch find_padding(SearchProblem const& problem) {
  Rows const rows = rows_of(problem.tile);
  std::span<TmaMode const> const modes = tma_modes_of(*problem.arch);
  PitchSearch out;
  out.own = problem.tile.domain()->stride.mode(rows.row).value;
  out.misfits = misfits_of(problem, problem.tile);
  // Rows that are whole lines of banks further apart meet in the same banks, in as many words or more: they share none.
  std::int64_t const line = std::lcm(std::int64_t{8} * problem.arch->banks.row(), *problem.tile.element_bits);
  out.line_bytes = line / 8;
  out.first = problem.tile.domain()->shape.mode(rows.along).product();
  out.last = out.first + line / *problem.tile.element_bits - 1;
  auto const try_pitch = [&](std::int64_t pitch) {
    ++out.searched;
    Map const map = padded(problem, pitch);
    if (auto bill = bill_by_check(problem, map))
      out.fitting.push_back(
          {pitch, reach_of(Elements(map), std::identity{}).array(), *std::move(bill), tma_boxes(map, modes)});
  };
  for (std::int64_t pitch = out.first; pitch <= out.last; ++pitch) try_pitch(pitch);
  if (out.own > out.last) try_pitch(out.own);
  std::stable_sort(out.fitting.begin(), out.fitting.end(), [](Pitch const& a, Pitch const& b) {
    return std::tie(a.cost.total, a.memory, a.cost.excess) < std::tie(b.cost.total, b.memory, b.cost.excess);
  });
  return out;
}

// ----------------------------------------------------------------------------------------- XOR maps

namespace {

/// A subspace of GF(2)^64 by a basis in echelon form, and the vectors it was built from.
class Space {
 public:
  /// Adds a vector; false if it was in the space already.
  bool add(std::uint64_t v) {
    if (!echelon_.add(v)) return false;
    basis_.push_back(v);
    return true;
  }
  /// The vectors that were not in the space when they were added.
  [[nodiscard]] std::vector<std::uint64_t> const& basis() const { return basis_; }

 private:
  Echelon<std::uint64_t> echelon_{};
  std::vector<std::uint64_t> basis_{};
};

/// A vector, and the vectors of a basis whose sum it is.
struct Combination {
  std::uint64_t vector = 0, of = 0;
  Combination& operator^=(Combination const& other) {
    vector ^= other.vector, of ^= other.of;
    return *this;
  }
  [[nodiscard]] bool is_zero() const { return vector == 0; }
};
unsigned pivot(Combination const& c) { return swizproof::pivot(c.vector); }
bool has_bit(Combination const& c, unsigned bit) { return swizproof::has_bit(c.vector, bit); }

/// Coordinates in a basis: functional[i] of v is v's i-th coordinate. Precondition: `basis` spans
/// GF(2)^basis.size().
std::vector<std::uint64_t> dual_basis(std::vector<std::uint64_t> const& basis) {
  Echelon<Combination> all;
  for (std::size_t i = 0; i < basis.size(); ++i) all.add({basis[i], std::uint64_t{1} << i});
  // Each row is a unit vector now, and says which basis vectors sum to it.
  std::vector<std::uint64_t> functionals(basis.size(), 0);
  for (Combination const& row : all.rows())
    for (std::size_t i = 0; i < basis.size(); ++i) functionals[i] |= (row.of >> i & 1) << pivot(row);
  return functionals;
}

/// Calls visit(rows) for every subspace of maps: each full-rank s x u matrix in reduced echelon form.
template <class Visit>
void for_each_echelon(unsigned s, unsigned u, Visit const& visit) {
  for (std::uint64_t pivots = 0; pivots < std::uint64_t{1} << u; ++pivots) {
    if (static_cast<unsigned>(std::popcount(pivots)) != s) continue;
    std::vector<std::uint64_t> rows;
    std::vector<std::pair<unsigned, unsigned>> free;  // entries (row, column) that may be 0 or 1
    for (unsigned c = 0; c < u; ++c) {
      if ((pivots >> c & 1) == 0) continue;
      for (unsigned j = c + 1; j < u; ++j)
        if ((pivots >> j & 1) == 0) free.emplace_back(static_cast<unsigned>(rows.size()), j);
      rows.push_back(std::uint64_t{1} << c);
    }
    for (std::uint64_t some = 0; some < std::uint64_t{1} << free.size(); ++some) {
      std::vector<std::uint64_t> filled = rows;
      for (std::size_t i = 0; i < free.size(); ++i)
        filled[free[i].first] |= (some >> i & 1) << free[i].second;
      visit(filled);
    }
  }
}

/// Number of matrices that for_each_echelon() visits.
double echelon_count(unsigned s, unsigned u) {
  double count = 1;
  for (unsigned i = 0; i < s; ++i) count *= (std::exp2(u - i) - 1) / (std::exp2(s - i) - 1);
  return count;
}

std::uint64_t apply_rows(std::vector<std::uint64_t> const& rows, std::uint64_t x) {
  std::uint64_t y = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    y |= static_cast<std::uint64_t>(std::popcount(rows[i] & x) & 1) << i;
  return y;
}

/// Brings functionals to the form in which as many as possible start with their own unit vector: the
/// result reads `x ^ ...`. Which banks meet does not change.
void tidy(std::vector<std::uint64_t>& rows, unsigned columns) {
  std::vector<bool> done(rows.size(), false);
  for (unsigned c = 0; c < columns; ++c) {
    std::size_t pivot = 0;
    while (pivot < rows.size() && (done[pivot] || (rows[pivot] >> c & 1) == 0)) ++pivot;
    if (pivot == rows.size()) continue;
    if (c < rows.size() && !done[c]) std::swap(rows[c], rows[pivot]), pivot = c;
    done[pivot] = true;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i != pivot && (rows[i] >> c & 1) != 0) rows[i] ^= rows[pivot];
  }
}

/// A bijection of address bits: `kept` low bits stay, then come `slots`, then units that complete it.
std::vector<std::uint64_t> complete(std::vector<std::uint64_t> const& slots, unsigned kept, unsigned bits) {
  std::vector<std::uint64_t> rows(bits, 0);
  Space space;
  for (unsigned i = 0; i < kept; ++i) rows[i] = std::uint64_t{1} << i, space.add(rows[i]);
  for (std::size_t i = 0; i < slots.size(); ++i) rows[kept + i] = slots[i] << kept, space.add(rows[kept + i]);
  auto const first = static_cast<unsigned>(kept + slots.size());
  for (unsigned i = first; i < bits; ++i)
    if (space.add(std::uint64_t{1} << i)) rows[i] = std::uint64_t{1} << i;
  for (unsigned i = first, unit = 0; i < bits; ++i)
    for (; rows[i] == 0; ++unit)
      if (space.add(std::uint64_t{1} << unit)) rows[i] = std::uint64_t{1} << unit;
  return rows;
}

/// Advice how to search less than all linear maps.
std::string fewer_positions(SearchProblem const& problem) {
  for (Access const& access : problem.accesses)
    if (std::string const clause = Placement(problem.tile, access).footprint_clause(); !clause.empty())
      return "narrow the positions: --access '" + access.name + " " + clause + "'";
  return "ask for fewer accesses or a smaller tile";
}

std::uint64_t floor_of(SearchProblem const& problem, std::vector<WarpShapes> const& all) {
  std::uint64_t total = 0;
  for (WarpShapes const& p : all)
    for (auto const& [pattern, count] : p.distinct)
      total += least_of(*problem.arch, p.instruction,
                        cost_of(*problem.arch, p.instruction, pattern, std::identity{})) *
               count * p.weight;
  return total;
}

/// Bits on which the XOR maps of a problem act.
struct XorDomain {
  unsigned kept = 0;          ///< low bits that stay: bank words, and the widest vector
  unsigned address_bits = 7;  ///< number of permuted bits
  Space differences{};        ///< differences of the lanes' blocks of 2^kept bytes, within the address bits

  XorDomain(SearchProblem const& problem, std::vector<WarpShapes> const& all)
      : kept(static_cast<unsigned>(std::countr_zero(problem.arch->banks.bytes))) {
    for (WarpShapes const& p : all)
      kept = std::max(kept, static_cast<unsigned>(std::countr_zero(p.instruction.bytes)));
    Reach const reach = reach_of(Elements(problem.tile), std::identity{});
    // Addresses below the base have all higher bits set: a map of the low bits permutes their block as well.
    auto const furthest = static_cast<std::uint64_t>(std::max(reach.end - 1, -reach.first - 1));
    address_bits = std::max(line_bits_of(*problem.arch), static_cast<unsigned>(std::bit_width(furthest)));
    std::uint64_t const within = low_bits(address_bits - kept);
    for (WarpShapes const& p : all)
      for (auto const& [pattern, count] : p.distinct)
        for (std::uint64_t const b : pattern.bits) (void)differences.add(b >> (3 + kept) & within);
  }
};

}  // namespace

XorSearch find_xor(SearchProblem const& problem) {
  XorSearch out;
  out.misfits = misfits_of(problem, problem.tile);
  if (!out.misfits.empty()) return out;
  std::vector<WarpShapes> const all = all_patterns(problem);
  XorDomain const domain(problem, all);
  unsigned const kept = domain.kept;
  out.address_bits = domain.address_bits;
  auto const dimension = static_cast<unsigned>(domain.differences.basis().size());
  Space whole = domain.differences;
  for (unsigned i = 0; i < out.address_bits - kept; ++i) (void)whole.add(std::uint64_t{1} << i);
  std::vector<std::uint64_t> const coordinates = dual_basis(whole.basis());
  unsigned const line_bits = line_bits_of(*problem.arch), slots = line_bits - kept;
  unsigned const rank = std::min(slots, dimension);
  if (echelon_count(rank, dimension) > static_cast<double>(most_maps))
    throw refusal(
        problem.tile,
        fmt::format("there are more than 2^24 linear maps of the {} bits in which lanes differ", dimension),
        fewer_positions(problem));
  std::uint64_t const floor = floor_of(problem, all);
  std::pair best{~std::uint64_t{0}, ~0U};  // total, excess
  for_each_echelon(rank, dimension, [&](std::vector<std::uint64_t> const& echelon) {
    ++out.searched;
    if (best.first == floor) return;
    std::vector<std::uint64_t> rows(slots, 0);
    for (std::size_t i = 0; i < slots; ++i)
      if (i < echelon.size())
        for (std::size_t j = 0; j < dimension; ++j)
          rows[i] ^= (echelon[i] >> j & 1) != 0 ? coordinates[j] : 0;
      else  // lanes do not differ there
        rows[i] = coordinates[dimension + i - echelon.size()];
    // Different blocks stay different: their number rides above the banks.
    auto const f = [&](std::uint64_t bits) {
      std::uint64_t const block = bits >> (3 + kept);
      std::uint64_t const low = bits & low_bits(3 + kept);
      return block << (3 + line_bits) | apply_rows(rows, block) << (3 + kept) | low;
    };
    auto bill =
        bill_of(*problem.arch, all, f, [&](std::uint64_t total, unsigned) { return total > best.first; });
    if (!bill || std::pair(bill->total, bill->excess) >= best) return;
    best = {bill->total, bill->excess};
    tidy(rows, out.address_bits - kept);
    out.best = {complete(rows, kept, out.address_bits), *std::move(bill), {}, {}};
  });
  out.best.function = linear_map(out.best.rows);
  out.best.tma = tma_boxes(under(problem, out.best.function), tma_modes_of(*problem.arch));
  return out;
}

Map under(SearchProblem const& problem, LinearMap const& function) {
  Map map = problem.tile;
  map.on_bytes = {function};
  return map;
}

}  // namespace swizproof
