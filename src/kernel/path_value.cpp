#include "path_value.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace swizproof::kernel_detail {

using program::Action;
using program::Step;

namespace {

using Wide = unsigned __int128;
using Bounds = std::pair<std::uint64_t, std::uint64_t>;

/// Words between two sums or differences, if none of them or all of them are reduced by the same.
std::optional<Bounds> reduced(__int128 least, __int128 most, unsigned width) {
  if (least >> width != most >> width) return std::nullopt;
  return Bounds{static_cast<std::uint64_t>(least) & low_bits(width),
                static_cast<std::uint64_t>(most) & low_bits(width)};
}

/// All ones up to the highest bit of a number.
std::uint64_t filled(std::uint64_t x) { return x == 0 ? 0 : ~std::uint64_t{0} >> std::countl_zero(x); }

/// Words that differ from those of one only in the bits that another one may have.
Bounds changed(PathValue const& a, PathValue const& b) {
  auto const around = [](PathValue const& x, PathValue const& by) {
    std::uint64_t const low = filled(by.most);
    return Bounds{x.least & ~low, x.most | low};
  };
  Bounds const x = around(a, b), y = around(b, a);
  return x.second - x.first <= y.second - y.first ? x : y;
}

std::optional<Bounds> masked(PathValue const& a, PathValue const& b) {
  for (auto const& [x, mask] : {std::pair(a, b), std::pair(b, a)}) {
    // A mask that keeps all bits but the low ones of a word as wide as x keeps the order.
    std::uint64_t const dropped = ~mask.least & filled(x.most);
    bool const keeps_high = (dropped & (dropped + 1)) == 0;
    // A mask of low bits keeps the order of words with the same high bits.
    bool const keeps_low = (mask.least & (mask.least + 1)) == 0 && ((x.least ^ x.most) & ~mask.least) == 0;
    if (mask.constant() && (keeps_high || keeps_low))
      return Bounds{x.least & mask.least, x.most & mask.least};
  }
  return Bounds{0, std::min(a.most, b.most)};
}

std::optional<Bounds> shifted(Step const& s, PathValue const& a, PathValue const& b) {
  if (!b.constant()) return s.action == Action::lshr ? std::optional(Bounds{0, a.most}) : std::nullopt;
  if (b.least >= s.width) return Bounds{0, 0};
  if (s.action == Action::lshr) return Bounds{a.least >> b.least, a.most >> b.least};
  if ((Wide{a.most} << b.least) > low_bits(s.width)) return std::nullopt;
  return Bounds{a.least << b.least, a.most << b.least};
}

std::optional<Bounds> divided(Step const& s, PathValue const& a, PathValue const& b) {
  if (!b.constant() || b.least == 0) return std::nullopt;
  if (s.action == Action::udiv) return Bounds{a.least / b.least, a.most / b.least};
  if (a.least / b.least == a.most / b.least) return Bounds{a.least % b.least, a.most % b.least};
  return Bounds{0, b.least - 1};
}

std::optional<Bounds> compared(Step const& s, PathValue const& a, PathValue const& b) {
  if (s.action == Action::below) {
    if (a.most < b.least) return Bounds{1, 1};
    if (a.least >= b.most) return Bounds{0, 0};
    return Bounds{0, 1};
  }
  std::uint64_t const common = low_bits(std::min(a.known, b.known));
  bool const apart = a.most < b.least || b.most < a.least || ((a.bits ^ b.bits) & common) != 0;
  if (apart) return Bounds{0, 0};
  return Bounds{0, 1};
}

std::optional<Bounds> interval_of(Step const& s, PathValue const& a, PathValue const& b) {
  switch (s.action) {
    case Action::copy:
    case Action::zext:
    case Action::trunc:
      return a.most <= low_bits(s.width) ? std::optional(Bounds{a.least, a.most}) : std::nullopt;
    case Action::add:
      return reduced(__int128{a.least} + b.least, __int128{a.most} + b.most, s.width);
    case Action::sub:
      return reduced(__int128{a.least} - b.most, __int128{a.most} - b.least, s.width);
    case Action::mul:
      if (Wide{a.most} * b.most > low_bits(s.width)) return std::nullopt;
      return Bounds{a.least * b.least, a.most * b.most};
    case Action::bit_and:
      return masked(a, b);
    case Action::bit_or:
    case Action::bit_xor:
      return changed(a, b);
    case Action::shl:
    case Action::lshr:
      return shifted(s, a, b);
    case Action::udiv:
    case Action::urem:
      return divided(s, a, b);
    case Action::equal:
    case Action::below:
      return compared(s, a, b);
    case Action::both:
      return Bounds{a.least & b.least, a.most & b.most};
    case Action::either:
      return Bounds{a.least | b.least, a.most | b.most};
    default:
      return std::nullopt;
  }
}

/// Low bits of a result that low bits of its sources decide.
std::uint32_t known_of(Step const& s, PathValue const& a, PathValue const& b) {
  switch (s.action) {
    case Action::copy:
    case Action::zext:
    case Action::trunc:
      return a.known;
    case Action::add:
    case Action::sub:
    case Action::mul:
    case Action::bit_and:
    case Action::bit_or:
    case Action::bit_xor:
      return std::min(a.known, b.known);
    case Action::shl:
      return b.constant() ? a.known : 0;
    case Action::lshr:
      return b.constant() && b.least < a.known ? a.known - static_cast<std::uint32_t>(b.least) : 0;
    case Action::urem:
      return b.constant() && std::has_single_bit(b.least) ? a.known : 0;
    default:
      return 0;
  }
}

}  // namespace

PathValue joined(PathValue const& a, PathValue const& b) {
  PathValue out{std::min(a.least, b.least), std::max(a.most, b.most), a.bits, 0};
  std::uint64_t const differ = a.bits ^ b.bits;
  out.known = std::min({a.known, b.known, static_cast<std::uint32_t>(std::countr_zero(differ))});
  out.bits &= low_bits(out.known);
  return out;
}

PathValue result_on_path(Step const& s, PathValue const& first, PathValue const& second, PathValue const& c) {
  auto const exact = [](PathValue const& v) { return v.constant() ? path_number(v.least) : v; };
  PathValue const a = exact(first), b = exact(second);
  bool const third = s.action == Action::choose;
  if (third && a.constant()) {
    PathValue const& chosen = (a.least & 1) != 0 ? b : c;
    return chosen.most <= low_bits(s.width) ? chosen : any_word(s.width);
  }
  if (third)
    return b.most <= low_bits(s.width) && c.most <= low_bits(s.width) ? joined(b, c) : any_word(s.width);
  if (a.constant() && (b.constant() || s.action == Action::negate))
    return path_number(program::result_of(s, a.least, b.least, 0));
  std::optional<Bounds> const interval = interval_of(s, a, b);
  PathValue out = any_word(s.width);
  if (interval) out.least = interval->first, out.most = interval->second;
  out.known = std::min(known_of(s, a, b), static_cast<std::uint32_t>(s.width));
  // A mask decides what it does not keep.
  if (s.action == Action::bit_and)
    for (auto const& [x, mask] : {std::pair(a, b), std::pair(b, a)})
      if (mask.constant() && mask.least <= low_bits(x.known)) return path_number(x.bits & mask.least);
  if (out.known != 0) out.bits = program::result_of(s, a.bits, b.bits, 0) & low_bits(out.known);
  if (out.constant()) return path_number(out.least);
  return out;
}

}  // namespace swizproof::kernel_detail
