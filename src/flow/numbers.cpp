#include "numbers.hpp"

#include <swizproof/core/splitmix.hpp>

#include <algorithm>
#include <cmath>

namespace swizproof::flow_detail {

namespace {

constexpr double most_exact = 9007199254740992.0;  // 2^53

/// The number x of a pair (x, 0) of integers of 4 bits; NaN of another pair.
double first_of_pair(std::uint64_t bits, Format format) {
  if (bits >> 4 != 0) return std::nan("");
  return format == Format::s4x2 ? static_cast<double>(signed_of(bits, 4)) : static_cast<double>(bits);
}

/// Small numbers of the array's type, exact in it; of 8 and 16 bits each one that it has, in every second set.
double small_number(FlowArray const& array, std::uint64_t element, std::uint64_t set) {
  std::uint64_t state = set * 0x9E3779B97F4A7C15U + element;
  for (char const c : array.name) state = state * 131 + static_cast<unsigned char>(c);
  std::uint64_t const x = splitmix64(state) >> 8;
  char const type = array.type[0];
  if (array.type == "e8m0") return std::ldexp(1.0, static_cast<int>(x % 9) - 4);
  if (Format const format = format_of(array.type); is_pair(format)) {  // of a pair, (x, 0)
    constexpr double all[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    if (format == Format::e2m1x2) return (x % 16 < 8 ? 1 : -1) * all[x % 8];
    return first_of_pair(x % 16, format);
  }
  if (type != 'i' && type != 'u') return (static_cast<double>(x % 33) - 16) / 2 * (set % 3 == 2 ? 8 : 1);
  std::uint64_t const range =
      set % 2 == 0 ? 200 : std::uint64_t{1} << std::min<std::uint64_t>(array.bits, 32);
  auto const number = static_cast<std::int64_t>(x % range), below = static_cast<std::int64_t>(range >> 1);
  return static_cast<double>(type == 'i' ? number - below : number);
}

std::optional<std::uint64_t> bits_of(double value, NameNode const& node) {
  if (node.format == Format::integer) {
    if (std::fabs(value) >= most_exact || value != std::floor(value)) return std::nullopt;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  if (is_pair(node.format) && node.format != Format::e2m1x2)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) & 0xf;
  std::uint64_t bits = 0;
  if (!bits_of_value(value, node.format, bits)) return std::nullopt;
  return bits;
}

/// Integers are compared as the bits that the array holds.
bool different(FlowArray const& array, double found, double expected) {
  Format const format = format_of(array.type);
  bool const pairs = format == Format::s4x2 || format == Format::u4x2;
  if (format != Format::integer && !pairs) return !(found == expected);
  unsigned const up = 64 - (pairs ? 4U : std::min<unsigned>(array.bits, 64));
  auto const held = [&](double x) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) << up; };
  return held(found) != held(expected);
}

}  // namespace

std::optional<double> Numbers::value(std::vector<FlowTerm> const& terms) {
  double sum = 0;
  for (FlowTerm const& term : terms) {
    double product = term.coefficient;
    for (std::uint32_t const f : term.factors) {
      std::optional<double> const x = f == 0 ? 1 : factor(f);
      if (!x) return std::nullopt;
      product *= *x;
    }
    sum += product;
  }
  return sum;
}

std::optional<double> Numbers::factor(std::uint32_t number) {
  if (ExtremeSets::Extreme const* const set = names_.sets().with(number); set != nullptr) {
    std::optional<double> out;
    for (auto const& member : set->members) {
      auto const x = value(member);
      if (!x) return std::nullopt;
      out = !out ? *x : set->smallest ? std::min(*out, *x) : std::max(*out, *x);
    }
    return out;
  }
  looked_ = 0;
  if (Name const bits = names_.bits_of(number); bits != 0) return of(bits, 0);
  auto const [array, index] = names_.place_of(number);
  return data_(*array, index);
}

std::optional<double> Numbers::of(Name n, unsigned depth) {
  constexpr unsigned deepest = 1000, most = 1U << 16;
  if (depth > deepest || ++looked_ > most) return std::nullopt;
  NameNode const& node = names_[n];
  switch (node.kind) {
    case NameKind::element: {
      auto const [array, index] = names_.place_of(node.a);
      return data_(*array, index);
    }
    case NameKind::number:
      return names_.constant(node.a);
    case NameKind::converted:
    case NameKind::moved:
      return of(node.a, depth + 1);
    case NameKind::sum:
    case NameKind::product:
    case NameKind::extreme: {
      auto const a = of(node.a, depth + 1), b = of(node.b, depth + 1);
      if (!a || !b) return std::nullopt;
      if (node.kind == NameKind::extreme) return (node.c & 1) != 0 ? std::min(*a, *b) : std::max(*a, *b);
      return node.kind == NameKind::sum ? *a + *b : *a * *b;
    }
    case NameKind::accumulated:
      return of_matrices(node, depth);
    case NameKind::bits:
      return of_bits(node, depth);
    case NameKind::function:
      break;
  }
  return std::nullopt;
}

std::optional<double> Numbers::of_matrices(NameNode const& node, unsigned depth) {
  MatrixProduct const& p = names_.matrices(node.b);
  std::optional<double> sum = node.a == 0 ? 0 : of(node.a, depth + 1);
  for (unsigned k = 0; k < p.k && sum; ++k) {
    unsigned const row = node.c >> 16, column = node.c & 0xffff;
    auto const a = of(p.a[p.in_a(row, k)], depth + 1), b = of(p.b[p.in_b(k, column)], depth + 1);
    auto const x = p.block == 0 ? 1 : of(p.scale_a[p.in_scale_a(row, k)], depth + 1),
               y = p.block == 0 ? 1 : of(p.scale_b[p.in_scale_b(k, column)], depth + 1);
    if (!a || !b || !x || !y) return std::nullopt;
    *sum += *a * *b * *x * *y;
  }
  return sum;
}

std::optional<double> Numbers::of_bits(NameNode const& node, unsigned depth) {
  Word const& w = names_.bytes(node.b);
  std::uint64_t bits = w.number;
  for (unsigned i = 0; i < node.bytes; ++i) {
    if ((w.named >> i & 1) == 0) continue;
    Name const n = w.part[i] / 8;
    auto const value = of(n, depth + 1);
    auto const all = value ? bits_of(*value, names_[n]) : std::nullopt;
    if (!all) return std::nullopt;
    bits |= (*all >> 8 * (w.part[i] % 8) & 0xff) << 8 * i;
  }
  if (node.c == 1) bits ^= std::uint64_t{1} << (8 * node.bytes - 1);
  if (node.format == Format::s4x2 || node.format == Format::u4x2) return first_of_pair(bits, node.format);
  return value_of_bits(bits, node.format, node.bytes);
}

bool has_bits(Names const& names, FlowTerm const& term) {
  return std::any_of(term.factors.begin(), term.factors.end(), [&](std::uint32_t f) {
    return f != 0 && (names.bits_of(f) != 0 || names.sets().with(f) != nullptr);
  });
}

bool differs_on_numbers(Names const& names, FlowArray const& array, std::vector<FlowTerm> const& found,
                        std::vector<FlowTerm> const& expected, double tolerance) {
  constexpr std::uint64_t sets = 32;
  for (std::uint64_t set = 0; set < sets; ++set) {
    FlowData const data = [set](FlowArray const& a, std::uint64_t element) {
      return small_number(a, element, set);
    };
    Numbers numbers(names, data);
    auto const x = numbers.value(found), y = numbers.value(expected);
    if (x && y && std::isinf(*x) && std::fabs(*y) < most_exact) return true;
    if (!x || !y || !(std::fabs(*y) < most_exact) || std::fabs(*x) >= most_exact) continue;
    if (std::fabs(*x - *y) > tolerance * std::max(std::fabs(*x), std::fabs(*y)) && different(array, *x, *y))
      return true;
  }
  return false;
}

}  // namespace swizproof::flow_detail
