#include "real_numbers.hpp"

#include <swizproof/program/step.hpp>

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace swizproof::flow_detail {

namespace {

RealNumber const not_fixed{{}, false};

RealNumber number(double value, Format format) {
  std::uint64_t bits = 0;
  if (std::isnan(value)) return not_fixed;
  return bits_of_value(value, format, bits) ? RealNumber{bits} : RealNumber{};
}

bool rounds_otherwise(Decoded const& d) { return d.has("rz") || d.has("rm") || d.has("rp"); }

/// True if a sum is exact: what it lost is 0.
bool exact_sum(double a, double b, double sum) {
  double const of_b = sum - a;
  return std::isinf(sum) || ((a - (sum - of_b)) + (b - of_b)) == 0;
}

/// True if a product is exact; false of one that is too small to tell.
bool exact_product(double a, double b, double product) {
  constexpr double small = DBL_MIN * 0x1p54;
  if (std::isinf(product) || a == 0 || b == 0) return true;
  return std::fabs(product) >= small && std::fma(a, b, -product) == 0;
}

struct Exact {
  double value = 0;
  bool exact = true;
};

Exact result_of(std::string_view op, std::array<double, 3> const& v) {
  if (op == "neg") return {-v[0]};
  if (op == "add") return {v[0] + v[1], exact_sum(v[0], v[1], v[0] + v[1])};
  if (op == "sub") return {v[0] - v[1], exact_sum(v[0], -v[1], v[0] - v[1])};
  double const product = v[0] * v[1];
  bool const exact = exact_product(v[0], v[1], product);
  if (op == "mul") return {product, exact};
  double const sum = std::fma(v[0], v[1], v[2]);
  return {sum, exact && exact_sum(product, v[2], sum)};
}

/// A number within [0, 1]; a NaN is 0.
RealNumber saturated(double value, Format format) {
  if (value == 0 && std::signbit(value)) return not_fixed;
  return number(std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0), format);
}

RealNumber not_negative(double value, Format format) {
  if (std::isnan(value)) {
    auto const bits = canonical_nan(format);
    return bits ? RealNumber{bits} : not_fixed;
  }
  if (value == 0 && std::signbit(value)) return not_fixed;
  return number(std::max(value, 0.0), format);
}

double smallest_normal(Format format) {
  return format == Format::f16 ? 0x1p-14 : format == Format::f64 ? DBL_MIN : 0x1p-126;
}

/// The integral number that a rounding gives; nothing without one.
std::optional<double> integral(Decoded const& d, double value) {
  if (d.has("rni")) return std::nearbyint(value);
  if (d.has("rzi")) return std::trunc(value);
  if (d.has("rmi")) return std::floor(value);
  if (d.has("rpi")) return std::ceil(value);
  return std::nullopt;
}

/// The integer that a rounding gives, within its type. What a NaN becomes is left open.
RealNumber to_integer(Decoded const& d, Packed const& to, double value) {
  auto const whole = integral(d, value);
  if (!whole || std::isnan(*whole)) return not_fixed;
  bool const is_signed = to.sign == 's';
  double const end = std::ldexp(1.0, static_cast<int>(8 * to.bytes) - (is_signed ? 1 : 0));
  std::uint64_t const most = low_bits(8 * to.bytes - (is_signed ? 1 : 0));
  if (*whole >= end) return {most};
  if (*whole < (is_signed ? -end : 0.0)) return {is_signed ? most + 1 : 0};
  return {(is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(*whole))
                     : static_cast<std::uint64_t>(*whole)) &
          low_bits(8 * to.bytes)};
}

}  // namespace

std::optional<std::uint64_t> canonical_nan(Format format) {
  if (format == Format::f32) return 0x7fffffff;
  if (format == Format::f16 || format == Format::bf16) return 0x7fff;
  return std::nullopt;
}

Word flushed(Word w, Packed const& type) {
  if (type.format != Format::f16 && type.format != Format::f32) return w;
  for (unsigned part = 0; part < type.count; ++part) {
    unsigned const at = part * type.bytes;
    if ((w.named >> at & ((1U << type.bytes) - 1)) != 0) continue;
    std::uint64_t const mask = low_bits(8 * type.bytes), sign = (mask >> 1) + 1;
    double const value = value_of_bits(w.number >> 8 * at & mask, type.format, type.bytes);
    if (std::fabs(value) < smallest_normal(type.format)) w.number &= ~((mask & ~sign) << 8 * at);
  }
  return w;
}

bool has_nan(Word const& w, Packed const& type, unsigned at) {
  return type.format != Format::integer && (w.named >> at & ((1U << type.bytes) - 1)) == 0 &&
         std::isnan(value_of_bits(w.number >> 8 * at & low_bits(8 * type.bytes), type.format, type.bytes));
}

RealNumber arithmetic_number(Decoded const& d, Packed const& type, std::array<double, 3> const& values) {
  auto const [value, exact] = result_of(d.name, values);
  if (d.has("relu")) return not_negative(value, type.format);
  if (d.has("sat")) return saturated(value, type.format);
  if (d.has("rm") && value == 0) return not_fixed;  // x - x is -0 there
  if (rounds_otherwise(d) && !exact) return {};
  double const normal = smallest_normal(type.format);
  bool const below = d.has("ftz") && std::fabs(value) < normal * (1 - 0x1p-25);
  return number(below ? std::copysign(0.0, value) : value, type.format);
}

RealNumber extreme_number(Decoded const& d, Packed const& type, std::vector<double> const& values) {
  bool const smaller = d.name == "min", nan = d.has("NaN");
  auto const canonical = canonical_nan(type.format);
  std::optional<double> out;
  for (double x : values) {
    if (std::isnan(x) && nan && canonical) return {canonical};
    if (std::isnan(x)) continue;
    if (d.has("abs")) x = std::fabs(x);
    bool const less = !out || x < *out || (x == *out && std::signbit(x));
    if (!out || less == smaller) out = x;
  }
  return out ? number(*out, type.format) : not_fixed;
}

RealNumber converted_number(Decoded const& d, Packed const& to, double value) {
  if (to.format == Format::integer) return to_integer(d, to, value);
  if (auto const whole = integral(d, value)) value = *whole;
  if (d.has("relu")) return not_negative(value, to.format);
  if (d.has("sat")) return saturated(value, to.format);
  RealNumber const out = number(value, to.format);
  // The layout of tf32 is of the implementation, and it has 10 bits of mantissa at least. [PTX ISA 9.1, 5.2.3]
  return d.has("tf32") && out.bits && (*out.bits & low_bits(13)) != 0 ? RealNumber{} : out;
}

}  // namespace swizproof::flow_detail
