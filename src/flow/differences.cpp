#include "differences.hpp"

#include "numbers.hpp"
#include "real_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace swizproof::flow_detail {

namespace {

using Terms = std::vector<FlowTerm>;
using Polynomial = std::map<Factors, std::uint64_t>;  ///< coefficients modulo 2^64

bool is_whole(double x) { return x == std::floor(x) && std::fabs(x) <= 0x1p63; }

/// x^n = sum of S(n, k) * x * (x - 1) * .. * (x - k + 1), for k = 0 to 4.
constexpr std::uint64_t stirling[5][5] = {
    {1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 1, 1, 0, 0}, {0, 1, 3, 1, 0}, {0, 1, 7, 6, 1}};
constexpr std::uint64_t factorial[5] = {1, 1, 2, 6, 24};

/// Adds a product, as a sum of products of x * (x - 1) * .., each factor x with all of its powers at once: from the factor `at` on. `taken` has x as
/// often as the degree in it.
void add_falling(Polynomial& out, Factors const& factors, std::size_t at, std::uint64_t coefficient,
                 Factors taken, std::size_t count) {
  while (at < most_factors && factors[at] == 0) ++at;
  if (at == most_factors) {
    std::sort(taken.begin(), taken.end());
    out[taken] += coefficient;
    return;
  }
  auto const power = static_cast<std::size_t>(std::count(factors.begin(), factors.end(), factors[at]));
  for (std::size_t k = 1; k <= power; ++k) {
    taken[count + k - 1] = factors[at];
    add_falling(out, factors, at + power, coefficient * stirling[power][k], taken, count + k);
  }
}

/// True if a polynomial is 0 modulo 2^bits for all numbers: each coefficient of x * (x - 1) * .. * (x - k + 1), times k!, is. These products are its
/// differences at 0, so that it is not 0 for some numbers from 0 to 4 otherwise.
bool is_null(Polynomial const& p, unsigned bits) {
  return std::all_of(p.begin(), p.end(), [&](auto const& one) {
    std::uint64_t times = one.second;
    for (std::size_t i = 0; i < most_factors;) {
      auto const power =
          static_cast<std::size_t>(std::count(one.first.begin(), one.first.end(), one.first[i]));
      if (one.first[i] != 0) times *= factorial[power];
      i += power;
    }
    return times << (64 - bits) == 0;
  });
}

double coefficient_in(Terms const& terms, FlowTerm const& like) {
  auto const at = std::lower_bound(terms.begin(), terms.end(), like, before);
  return at == terms.end() || at->factors != like.factors ? 0 : at->coefficient;
}

/// Units in the last place, of the coarsest format, that constants which are rounded may differ by: their own rounding and that of products.
double tolerance(unsigned fraction_bits) {
  constexpr unsigned short_fraction = 7;
  return std::ldexp(fraction_bits < short_fraction ? 1 : 4, -static_cast<int>(fraction_bits));
}

}  // namespace

bool same_number(FlowArray const& array, Terms const& found, Terms const& expected) {
  if (std::equal(found.begin(), found.end(), expected.begin(), expected.end(),
                 [](FlowTerm const& x, FlowTerm const& y) {
                   return x.factors == y.factors && x.coefficient == y.coefficient;
                 }))
    return true;
  Format const format = format_of(array.type);
  auto const is_number = [](Terms const& t) { return t.size() == 1 && t[0].factors == Factors{}; };
  if (format != Format::integer && is_number(found) && is_number(expected)) {
    auto const held = rounded_bits(found[0].coefficient, format, Rounding::nearest);
    return held && held == rounded_bits(expected[0].coefficient, format, Rounding::nearest);
  }
  if (format != Format::integer) return false;
  Polynomial p;
  for (auto const& [terms, sign] : {std::pair{&found, 1}, {&expected, -1}})
    for (FlowTerm const& t : *terms) {
      if (!is_whole(t.coefficient)) return false;
      auto const c = static_cast<std::uint64_t>(static_cast<std::int64_t>(t.coefficient));
      add_falling(p, t.factors, 0, sign > 0 ? c : 0 - c, {}, 0);
    }
  return is_null(p, array.bits);
}

std::string why_not_wrong(Names const& names, FlowArray const& array, Name n, FlowSum const& found,
                          Terms const& expected) {
  Format const format = format_of(array.type);
  unsigned const fraction = std::min(found.fraction_bits, fraction_bits_of(format));
  double const most = format == Format::integer ? 0 : tolerance(fraction);
  Terms all = found.terms;
  all.insert(all.end(), expected.begin(), expected.end());
  if (auto const open =
          std::find_if(all.begin(), all.end(), [&](FlowTerm const& t) { return has_bits(names, t); });
      open != all.end())
    return differs_on_numbers(names, array, found.terms, expected, most)
               ? std::string()
               : names.text(*open) + ", and no numbers that were tried are wrong";
  if (format == Format::integer) return {};
  FlowSum const sizes = names.expand(n, true);
  bool const exact =
      sizes.whole && std::all_of(sizes.terms.begin(), sizes.terms.end(), [&](FlowTerm const& t) {
        return t.coefficient <= std::ldexp(1, static_cast<int>(fraction) + 1);
      });
  FlowTerm one;
  for (FlowTerm const& t : all) {
    double const x = coefficient_in(found.terms, t), y = coefficient_in(expected, t);
    if (x == y) continue;
    double const size = std::max({std::fabs(x), std::fabs(y), coefficient_in(sizes.terms, t)});
    std::uint64_t bits = 0;
    // Without arithmetic the element holds x; y may be rounded.
    bool const known = found.real ? exact && is_whole(y) : bits_of_value(y, format, bits);
    if (known || std::fabs(x - y) > most * size) return {};
    one = t;
  }
  double const x = coefficient_in(found.terms, one), y = coefficient_in(expected, one);
  one.coefficient = x;
  std::string const text = names.text(one);
  one.coefficient = y;
  return fmt::format("{}, where {} is expected: rounding may be the difference", text, names.text(one));
}

}  // namespace swizproof::flow_detail
