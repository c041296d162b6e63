#include <swizproof/find.hpp>
#include <swizproof/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace swizproof {

namespace {

constexpr std::uint64_t most_maps = std::uint64_t{1} << 24;
constexpr unsigned line_bits = 7;  ///< log2 of the bytes that fill all banks once

/// The lanes of one case: bit positions in the tile, XORed with the first active lane's.
struct Pattern {
  std::uint32_t active = 0;
  std::array<std::uint64_t, warp_lanes> bits{};
  friend auto operator<=>(Pattern const&, Pattern const&) = default;
};

/// What an access asks for, in all its cases.
struct Patterns {
  Instruction instruction{};
  unsigned ideal = 1;
  std::vector<Pattern> distinct{};
  std::uint64_t ever = 0;  ///< bits that some lane of some case has set
  std::uint64_t cases = 0;
};

Patterns patterns_of(SearchProblem const& problem, Access const& access) {
  Placement const placement(problem.tile, access);
  Patterns out{placement.instruction(),
               ideal_wavefronts(*problem.arch, access.instruction),
               {},
               0,
               placement.assignments()};
  if (out.cases > most_cases)
    throw InputError{fmt::format("the access has {} cases, more than 2^18 are not searched", out.cases),
                     access.name, 0, access.name.size(), "give its variables smaller ranges"};
  auto const fit = misfit_of(placement, {{}, {}, problem.arch, {}});
  if (auto const* misfit = std::get_if<Misfit>(&fit)) {
    std::string const& text = placement.access().name;
    throw InputError{"lane " + std::to_string(misfit->lane) + " " + misfit->why, text, 0, text.size(), {}};
  }
  std::set<Pattern> distinct;
  for_each_assignment(placement, [&](std::span<std::uint64_t const> values) {
    Pattern p;
    std::uint64_t first = 0;
    for (unsigned l = 0; l < warp_lanes; ++l) {
      LanePlace<std::uint64_t> const place = placement.lane(values, l, std::uint64_t{0});
      if (!place.active) continue;
      unsigned const element = *problem.tile.element_bits;
      std::uint64_t const at = element < 8 ? place.swizzled * element : place.byte * 8;
      if (p.active == 0) first = at;
      p.active |= std::uint32_t{1} << l;
      p.bits[l] = at ^ first;
      out.ever |= at;
    }
    distinct.insert(p);
  });
  out.distinct.assign(distinct.begin(), distinct.end());
  return out;
}

std::vector<Patterns> all_patterns(SearchProblem const& problem) {
  std::vector<Patterns> all;
  for (Access const& access : problem.accesses) all.push_back(patterns_of(problem, access));
  return all;
}

/// Excess of the worst patterns under a linear map of bit positions, summed over the accesses; stops
/// and says nothing once that is more than `enough`.
template <class F>
std::optional<unsigned> cost_of(SearchProblem const& problem, std::vector<Patterns> const& all, F const& f,
                                unsigned enough, std::vector<unsigned>& wavefronts) {
  unsigned excess = 0;
  wavefronts.clear();
  for (Patterns const& patterns : all) {
    unsigned worst = 0;
    for (Pattern const& p : patterns.distinct) {
      WarpAccess<std::uint64_t> warp;
      for (unsigned l = 0; l < warp_lanes; ++l) {
        warp.active[l] = (p.active >> l & 1) != 0;
        warp.address[l] = f(p.bits[l]) >> 3;
      }
      worst = std::max(worst, cost(*problem.arch, patterns.instruction, warp).wavefronts);
      if (worst > patterns.ideal && excess + worst - patterns.ideal > enough) return std::nullopt;
    }
    wavefronts.push_back(worst);
    excess += worst > patterns.ideal ? worst - patterns.ideal : 0;
  }
  return excess;
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

/// True if some access has a vector that the swizzle does not keep in one piece, in order.
bool tears(std::vector<Patterns> const& all, SwizzleFormula<unsigned> const& f) {
  if (f.bits == 0) return false;
  std::uint64_t const source = f.source_mask(std::uint64_t{});
  for (Patterns const& patterns : all) {
    std::uint64_t const within = std::uint64_t{8} * patterns.instruction.bytes - 1;
    std::uint64_t const moved = patterns.ever & source;
    if ((source & within) != 0 || ((f(moved) ^ moved) & within) != 0) return true;
  }
  return false;
}

/// Bytes that the tile reaches under a map of bit positions.
template <class F>
std::uint64_t memory_of(std::vector<std::uint64_t> const& offsets, unsigned element_bits, F const& f) {
  std::uint64_t last = 0;
  for (std::uint64_t const o : offsets) last = std::max(last, f(o * element_bits) + element_bits);
  return (last + 7) / 8;
}

std::vector<std::uint64_t> offsets_of(Mapping const& tile) {
  if (tile.domain()->size() > most_enumerated)
    throw InputError{"the tile has more than 2^22 elements", tile.text, 0, tile.text.size(), {}};
  std::vector<std::uint64_t> offsets;
  for (std::int64_t i = 0; i < tile.domain()->size(); ++i)
    offsets.push_back(offset(tile, static_cast<std::uint64_t>(i)).elements);
  return offsets;
}

}  // namespace

Mapping without_swizzle(Mapping const& map) {
  if (map.domain() == nullptr)
    throw InputError{"a search needs a tile with a shape", map.text, 0, map.text.size(),
                     "such as (128,64):(64,1); its swizzle, if it has one, is left out"};
  if (!map.element_bits)
    throw InputError{"the element size is not known", map.text, 0, map.text.size(),
                     "give --element, such as --element f16"};
  Mapping tile;
  tile.on_elements = {map.on_elements.back()};
  tile.element_bits = map.element_bits;
  tile.text = to_string(*map.domain());
  return tile;
}

Mapping swizzled(SearchProblem const& problem, Swizzle swizzle) {
  Mapping map = problem.tile;
  if (problem.on_bytes) {
    map.on_bytes = {swizzle};
    map.text = fmt::format("{} o smem_ptr[{}b](unset) o {}", to_string(swizzle), *map.element_bits,
                           problem.tile.text);
  } else {
    map.on_elements.insert(map.on_elements.begin(), {Stage(swizzle), Stage(Displacement{})});
    map.text = fmt::format("{} o _0 o {}", to_string(swizzle), problem.tile.text);
  }
  return map;
}

SwizzleSearch find_swizzle(SearchProblem const& problem) {
  std::vector<Patterns> const all = all_patterns(problem);
  SwizzleSearch out;
  for (Patterns const& p : all) out.patterns += p.distinct.size(), out.cases += p.cases;
  unsigned least = ~0U;
  std::vector<unsigned> wavefronts;
  for (int bits = 0; bits <= 16; ++bits)
    for (int base = 0; base <= 32; ++base)
      for (int shift = -32; shift <= 32; ++shift) {
        Swizzle const s{bits, base, shift};
        if (!s.valid()) continue;
        ++out.searched;
        SwizzleFormula<unsigned> const f = on_bits(problem, s);
        if (tears(all, f)) {
          ++out.unusable;
          continue;
        }
        auto const excess = cost_of(problem, all, f, least, wavefronts);
        if (!excess) continue;
        // Every spelling of the identity is one answer.
        if (bits == 0 && *excess == least && !out.best.empty() && out.best.front().swizzle.bits == 0)
          continue;
        if (*excess < least) out.best.clear();
        least = *excess;
        Swizzle const shown = bits == 0 ? swizzle_none : s;
        Candidate c{shown, problem.on_bytes ? shown : recast(shown, 3 - static_cast<int>(unit_bits(problem))),
                    *excess, wavefronts};
        c.tma = bits == 0 || (c.on_bytes && c.on_bytes->base == 4 && c.on_bytes->shift == 3 && bits <= 3);
        c.whole_vectors = bits == 0 || f.base >= line_bits;
        out.best.push_back(std::move(c));
      }
  std::vector<std::uint64_t> const offsets = offsets_of(problem.tile);
  std::uint64_t const plain = memory_of(offsets, *problem.tile.element_bits, std::identity{});
  for (Candidate& c : out.best) {
    SwizzleFormula<unsigned> const f = on_bits(problem, c.swizzle);
    // Whole periods are permuted within themselves.
    bool const whole = c.swizzle.bits == 0 || plain * 8 % f.period(std::uint64_t{}) == 0;
    c.memory = whole ? plain : memory_of(offsets, *problem.tile.element_bits, f);
  }
  std::stable_sort(out.best.begin(), out.best.end(), [](Candidate const& a, Candidate const& b) {
    auto const rank = [](Candidate const& c) {
      return std::tuple(!c.tma, !c.whole_vectors, c.swizzle.bits, c.memory, c.swizzle.shift < 0,
                        c.swizzle.period(), c.swizzle.distance(), c.swizzle.base);
    };
    return rank(a) < rank(b);
  });
  return out;
}

// ------------------------------------------------------------------------------------------- pitches

namespace {

/// Which mode of the tile is the rows' and which runs along them.
struct Rows {
  std::size_t row = 0;
  std::size_t along = 1;
};

Rows rows_of(Mapping const& tile) {
  Layout const& l = *tile.domain();
  auto const contiguous = [&](std::size_t m) {
    Layout const mode = l.mode(m);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(mode.size(), 1 << 16); ++i)
      if (mode(static_cast<std::uint64_t>(i)).elements != static_cast<std::uint64_t>(i)) return false;
    return true;
  };
  if (l.rank() == 2)
    for (std::size_t const along : {std::size_t{1}, std::size_t{0}}) {
      IntTuple const &rows = l.shape.mode(1 - along), &pitch = l.stride.mode(1 - along);
      if (!rows.is_tuple && contiguous(along) && pitch.value >= l.shape.mode(along).product())
        return {1 - along, along};
    }
  throw InputError{"padding needs a tile of contiguous rows at one pitch, such as (32,32):(32,1)",
                   tile.text,
                   0,
                   tile.text.size(),
                   {}};
}

}  // namespace

Mapping padded(SearchProblem const& problem, std::int64_t pitch) {
  Rows const rows = rows_of(problem.tile);
  Mapping map = problem.tile;
  Layout& l = std::get<Layout>(map.on_elements.back());
  l.stride.modes[rows.row] = IntTuple(pitch, l.stride.mode(rows.row).is_static);
  map.text = to_string(l);
  return map;
}

std::vector<Pitch> find_padding(SearchProblem const& problem) {
  Rows const rows = rows_of(problem.tile);
  Layout const& l = *problem.tile.domain();
  std::int64_t const own = l.stride.mode(rows.row).value;
  unsigned const bits = *problem.tile.element_bits;
  std::vector<Pitch> out;
  for (std::int64_t pitch = own; pitch <= own + 1024 / bits; ++pitch) {
    Pitch found{pitch, 0, 0, {}};
    Mapping const map = padded(problem, pitch);
    found.memory = static_cast<std::uint64_t>(map.domain()->cosize()) * bits / 8;
    try {
      for (Access const& access : problem.accesses) {
        auto const verdict = check_exhaustively(Placement(map, access), {{}, {}, problem.arch, {}});
        if (!verdict)
          throw InputError{"the access has more than 2^18 cases", access.name, 0, access.name.size(), {}};
        if (verdict->misfit)
          throw InputError{"lane " + std::to_string(verdict->misfit->lane) + " " + verdict->misfit->why,
                           access.name,
                           0,
                           access.name.size(),
                           {}};
        found.wavefronts.push_back(verdict->wavefronts);
        found.excess += verdict->excess();
      }
    } catch (InputError const&) {
      if (pitch == own) throw;  // not the pitch's fault
      continue;                 // this pitch misaligns a vector
    }
    out.push_back(std::move(found));
  }
  std::stable_sort(out.begin(), out.end(), [](Pitch const& a, Pitch const& b) {
    return std::tie(a.excess, a.memory) < std::tie(b.excess, b.memory);
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
    std::uint64_t const rest = reduce(v);
    if (rest == 0) return false;
    for (std::uint64_t& row : echelon_)
      if ((row >> top(rest) & 1) != 0) row ^= rest;
    echelon_.push_back(rest);
    basis_.push_back(v);
    return true;
  }
  [[nodiscard]] std::vector<std::uint64_t> const& basis() const { return basis_; }
  [[nodiscard]] std::uint64_t reduce(std::uint64_t v) const {
    for (std::uint64_t const row : echelon_)
      if ((v >> top(row) & 1) != 0) v ^= row;
    return v;
  }

 private:
  static unsigned top(std::uint64_t v) { return 63 - static_cast<unsigned>(std::countl_zero(v)); }
  std::vector<std::uint64_t> echelon_, basis_;
};

/// Coordinates in a basis: functional[i] of v is v's i-th coordinate. Precondition: `basis` spans
/// GF(2)^basis.size().
std::vector<std::uint64_t> dual_basis(std::vector<std::uint64_t> const& basis) {
  std::size_t const n = basis.size();
  // Rows (coordinate of the basis vector | unit vector), reduced to the identity on the left.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = {basis[i], std::uint64_t{1} << i};
  for (std::size_t bit = 0; bit < n; ++bit) {
    std::size_t pivot = bit;
    while ((rows[pivot].first >> bit & 1) == 0) ++pivot;
    std::swap(rows[bit], rows[pivot]);
    for (std::size_t i = 0; i < n; ++i)
      if (i != bit && (rows[i].first >> bit & 1) != 0) {
        rows[i].first ^= rows[bit].first;
        rows[i].second ^= rows[bit].second;
      }
  }
  // rows[bit].second says which basis vectors sum to the unit vector `bit`.
  std::vector<std::uint64_t> functionals(n, 0);
  for (std::size_t bit = 0; bit < n; ++bit)
    for (std::size_t i = 0; i < n; ++i) functionals[i] |= (rows[bit].second >> i & 1) << bit;
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

/// How many matrices for_each_echelon() visits.
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

/// `fn(x) = x ^ ((x >> 3) & 0x70)`: one term for each distance that bits travel.
std::string as_expression(std::vector<std::uint64_t> const& rows) {
  std::map<int, std::uint64_t> by_distance;
  for (int i = 0; i < static_cast<int>(rows.size()); ++i)
    for (int j = 0; j < static_cast<int>(rows.size()); ++j)
      if ((rows[static_cast<std::size_t>(i)] >> j & 1) != 0) by_distance[j - i] |= std::uint64_t{1} << i;
  std::uint64_t const low = (std::uint64_t{1} << rows.size()) - 1;
  std::uint64_t const moved = low & ~by_distance[0];
  std::string text = moved == 0 ? "fn(x) = x" : fmt::format("fn(x) = (x & ~{:#x})", moved);
  for (auto const& [distance, mask] : by_distance)
    if (distance != 0 && mask != 0)
      text += distance > 0 ? fmt::format(" ^ ((x >> {}) & {:#x})", distance, mask)
                           : fmt::format(" ^ ((x << {}) & {:#x})", -distance, mask);
  return text;
}

}  // namespace

XorSearch find_xor(SearchProblem const& problem) {
  std::vector<Patterns> const all = all_patterns(problem);
  unsigned kept = 2;  // bank words stay whole, and the widest vector
  for (Patterns const& p : all)
    kept = std::max(kept, static_cast<unsigned>(std::countr_zero(p.instruction.bytes)));
  std::vector<std::uint64_t> const offsets = offsets_of(problem.tile);
  std::uint64_t const memory = memory_of(offsets, *problem.tile.element_bits, std::identity{});
  XorSearch out;
  out.address_bits = std::max(line_bits, static_cast<unsigned>(std::bit_width(memory - 1)));
  Space differences;
  for (Patterns const& p : all)
    for (Pattern const& q : p.distinct)
      for (std::uint64_t const b : q.bits) differences.add(b >> (3 + kept));
  auto const dimension = static_cast<unsigned>(differences.basis().size());
  Space whole = differences;
  for (unsigned i = 0; i < out.address_bits - kept; ++i) whole.add(std::uint64_t{1} << i);
  std::vector<std::uint64_t> const coordinates = dual_basis(whole.basis());
  unsigned const slots = line_bits - kept;
  unsigned const rank = std::min(slots, dimension);
  if (echelon_count(rank, dimension) > static_cast<double>(most_maps))
    throw InputError{
        fmt::format("there are more than 2^24 linear maps of the {} bits in which lanes differ", dimension),
        problem.tile.text, 0, problem.tile.text.size(), "ask for fewer accesses or a smaller tile"};
  out.best.excess = ~0U;
  std::vector<unsigned> wavefronts;
  for_each_echelon(rank, dimension, [&](std::vector<std::uint64_t> const& echelon) {
    ++out.searched;
    if (out.best.excess == 0) return;
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
      std::uint64_t const low = bits & ((std::uint64_t{1} << (3 + kept)) - 1);
      return block << (3 + line_bits) | apply_rows(rows, block) << (3 + kept) | low;
    };
    unsigned const enough = out.best.excess == ~0U ? ~0U : out.best.excess - 1;
    auto const excess = cost_of(problem, all, f, enough, wavefronts);
    if (!excess) return;
    tidy(rows, out.address_bits - kept);
    out.best = {complete(rows, kept, out.address_bits), *excess, wavefronts, {}};
  });
  out.best.expression = as_expression(out.best.rows);
  return out;
}

}  // namespace swizproof
