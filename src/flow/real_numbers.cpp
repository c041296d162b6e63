#include "real_numbers.hpp"

#include <swizproof/core/float_format.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>
#include <bit>
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

/// The rounding that an opcode names; nothing without one, or of another one.
std::optional<Rounding> rounding_of(Decoded const& d) {
  return d.has("rn")   ? std::optional(Rounding::nearest)
         : d.has("rz") ? std::optional(Rounding::zero)
         : d.has("rm") ? std::optional(Rounding::down)
         : d.has("rp") ? std::optional(Rounding::up)
                       : std::nullopt;
}

/// A number rounded once; without a rounding one that the format holds.
RealNumber number(double value, Format format, std::optional<Rounding> rounding) {
  RealNumber const exact = number(value, format);
  if (exact.bits || !exact.fixed || !rounding) return exact;
  return {rounded_bits(value, format, *rounding)};
}

/// The rest of a sum: a + b is the sum and this.
double rest_of_sum(double a, double b, double sum) {
  double const of_b = sum - a;
  return std::isinf(sum) ? 0 : (a - (sum - of_b)) + (b - of_b);
}

/// True if a product is exact; false of one that is too small to tell.
bool exact_product(double a, double b, double product) {
  constexpr double small = DBL_MIN * 0x1p54;
  if (std::isinf(product) || a == 0 || b == 0) return true;
  return std::fabs(product) >= small && std::fma(a, b, -product) == 0;
}

/// The number value + rest; `exact`: that is the result.
struct Exact {
  double value = 0, rest = 0;
  bool exact = true;
};

Exact result_of(std::string_view op, std::array<double, 3> const& v) {
  if (op == "neg") return {-v[0]};
  if (op == "add") return {v[0] + v[1], rest_of_sum(v[0], v[1], v[0] + v[1])};
  if (op == "sub") return {v[0] - v[1], rest_of_sum(v[0], -v[1], v[0] - v[1])};
  double const product = v[0] * v[1];
  bool const exact = exact_product(v[0], v[1], product);
  if (op == "mul") return {product, exact || std::isinf(product) ? 0 : std::fma(v[0], v[1], -product), exact};
  double const sum = std::fma(v[0], v[1], v[2]);
  return {sum, exact ? rest_of_sum(product, v[2], product + v[2]) : 0, exact && product + v[2] == sum};
}

/// A number whose rounding to fewer bits is that of value + rest: of its two neighbours the one with an odd last bit.
double odd_of(double value, double rest) {
  if (rest == 0 || (same_bits<std::uint64_t>(value) & 1) != 0) return value;
  return std::nextafter(value, rest > 0 ? HUGE_VAL : -HUGE_VAL);
}

/// A number within [0, 1]; a NaN is 0.
RealNumber saturated(double value, Format format, std::optional<Rounding> rounding) {
  if (value == 0 && std::signbit(value)) return not_fixed;
  return number(std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0), format, rounding);
}

RealNumber not_negative(double value, Format format, std::optional<Rounding> rounding) {
  if (std::isnan(value)) {
    auto const bits = canonical_nan(format);
    return bits ? RealNumber{bits} : not_fixed;
  }
  if (value == 0 && std::signbit(value)) return not_fixed;
  return number(std::max(value, 0.0), format, rounding);
}

double smallest_normal(Format format) {
  switch (format) {
    case Format::f16:
    case Format::e5m2:
      return 0x1p-14;
    case Format::e4m3:
      return 0x1p-6;
    case Format::f64:
      return DBL_MIN;
    default:
      return 0x1p-126;
  }
}

double largest_number(Format format) {
  constexpr double e4m3 = 448, e5m2 = 57344, f16 = 65504, bf16 = 0x1.fep127;
  return format == Format::e4m3   ? e4m3
         : format == Format::e5m2 ? e5m2
         : format == Format::f16  ? f16
         : format == Format::bf16 ? bf16
         : format == Format::f64  ? DBL_MAX
                                  : static_cast<double>(FLT_MAX);
}

/// Bits of infinity without a sign; nothing of a format that has none, or that is not rounded to infinity.
std::optional<std::uint64_t> bits_of_infinity(Format format) {
  switch (format) {
    case Format::f16:
      return 0x7c00;
    case Format::bf16:
      return 0x7f80;
    case Format::f32:
      return 0x7f800000;
    default:
      return std::nullopt;
  }
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

std::optional<std::uint64_t> rounded_bits(double value, Format format, Rounding rounding) {
  if (format == Format::integer || is_pair(format) || format == Format::e8m0 || std::isnan(value))
    return std::nullopt;
  std::uint64_t bits = 0;
  if (bits_of_value(value, format, bits)) return bits;
  auto const fraction = static_cast<int>(fraction_bits_of(format));
  double const normal = smallest_normal(format), size = std::fabs(value), most = largest_number(format);
  bool const negative = std::signbit(value);
  bool const away = rounding == Rounding::down ? negative : rounding == Rounding::up && !negative;
  double const unit = std::ldexp(1, std::ilogb(std::max(size, normal)) - fraction);
  double const scaled = std::isinf(size) ? size : size / unit, below = std::floor(scaled),
               rest = scaled - below;
  bool const up =
      rounding == Rounding::nearest ? rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0) : away;
  double const rounded = std::isinf(size) ? size : (below + (up ? 1 : 0)) * unit;
  if (rounded <= most)
    return bits_of_value(negative ? -rounded : rounded, format, bits) ? std::optional(bits) : std::nullopt;
  auto const infinity = bits_of_infinity(format);
  if (!infinity) return std::nullopt;
  if (!std::isinf(size) && rounding != Rounding::nearest && !away)
    return bits_of_value(negative ? -most : most, format, bits) ? std::optional(bits) : std::nullopt;
  return *infinity | (negative ? std::uint64_t{1} << (format == Format::f32 ? 31 : 15) : 0);
}

RealNumber arithmetic_number(Decoded const& d, Packed const& type, std::array<double, 3> const& values) {
  auto const [value, rest, exact] = result_of(d.name, values);
  bool const wide = type.format == Format::f64;
  // A product without a rounding may become a part of an fma. [PTX ISA 9.1, 9.7.3.6: mul]
  std::optional<Rounding> rounding =
      d.name == "mul" ? rounding_of(d) : std::optional(rounding_of(d).value_or(Rounding::nearest));
  if (wide && rounding != Rounding::nearest && (rest != 0 || !exact)) rounding.reset();
  double const one = wide ? value : odd_of(value, rest);
  if (d.has("relu")) return not_negative(one, type.format, rounding);
  if (d.has("sat")) return saturated(one, type.format, rounding);
  if (d.has("rm") && value == 0) return not_fixed;  // x - x is -0 there
  if (wide && (rest != 0 || !exact) && !rounding) return {};
  double const normal = smallest_normal(type.format);
  bool const below = d.has("ftz") && std::fabs(value) < normal * (1 - 0x1p-25);
  return number(below ? std::copysign(0.0, value) : one, type.format, rounding);
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
  std::optional<Rounding> const rounding = d.has("tf32") ? std::nullopt : rounding_of(d);
  if (d.has("relu")) return not_negative(value, to.format, rounding);
  if (d.has("sat")) return saturated(value, to.format, rounding);
  if (d.has("satfinite") && !std::isnan(value) && to.format != Format::e8m0)
    value = std::clamp(value, -largest_number(to.format), largest_number(to.format));
  RealNumber const out = number(value, to.format, rounding);
  // The layout of tf32 is of the implementation, and it has 10 bits of mantissa at least. [PTX ISA 9.1, 5.2.3]
  return d.has("tf32") && out.bits && (*out.bits & low_bits(13)) != 0 ? RealNumber{} : out;
}

double odd_integer(std::uint64_t number) {
  constexpr int exact = 53;
  int const more = static_cast<int>(std::bit_width(number)) - exact;
  if (more <= 0) return static_cast<double>(number);
  bool const rest = (number & low_bits(static_cast<unsigned>(more))) != 0;
  return std::ldexp(static_cast<double>((number >> more) | (rest ? 1 : 0)), more);
}

}  // namespace swizproof::flow_detail
