// Formats of floating-point numbers: the number that bits are, and the bits of a number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

namespace swizproof {

enum class FloatFormat : std::uint8_t { f16, bf16, f32, f64, e4m3, e5m2, e8m0, e2m1, e2m3, e3m2 };

/// Exponent and fraction, below a sign; `most` is the largest number that is taken for one of the format, infinity included.
struct FloatShape {
  int exponent_bits = 0, fraction_bits = 0;
  double most = HUGE_VAL;
  bool infinity = true;  ///< the largest exponent is the one of infinity and NaN
  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int bits() const { return 1 + exponent_bits + fraction_bits; }
};

[[nodiscard]] constexpr FloatShape shape_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::f16:
      return {5, 10, 65504};
    case FloatFormat::bf16:
      return {8, 7};
    case FloatFormat::f32:
      return {8, 23};
    case FloatFormat::f64:
      return {11, 52};
    case FloatFormat::e4m3:
      return {4, 3, 448, false};
    case FloatFormat::e8m0:  // the exponent alone
      return {8, 0};
    case FloatFormat::e2m1:
      return {2, 1, 6, false};
    case FloatFormat::e2m3:
      return {2, 3, 7.5, false};
    case FloatFormat::e3m2:
      return {3, 2, 28, false};
    case FloatFormat::e5m2:
      break;
  }
  return {5, 2, 57344};
}

/// The same bits as another type: std::bit_cast, which the library of emscripten 3.1 lacks.
template <class To, class From>
[[nodiscard]] To same_bits(From const& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to{};
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// The number that the low bits of a word are. `float_value(FloatFormat::f16, 0x3c00)` is 1. Checked by FloatFormat.EveryHalfAndByte.
[[nodiscard]] inline double float_value(FloatFormat format, std::uint64_t bits) {
  if (format == FloatFormat::f64) return same_bits<double>(bits);
  if (format == FloatFormat::e8m0)
    return (bits & 0xff) == 0xff ? std::nan("") : std::ldexp(1, static_cast<int>(bits & 0xff) - 127);
  FloatShape const shape = shape_of(format);
  std::uint64_t const one = std::uint64_t{1} << shape.fraction_bits;
  auto const fraction = static_cast<double>(bits & (one - 1));
  auto const field = static_cast<int>(bits >> shape.fraction_bits & ((1U << shape.exponent_bits) - 1));
  bool const negative = (bits >> (shape.bits() - 1) & 1) != 0;
  double size = std::ldexp(fraction + (field == 0 ? 0 : static_cast<double>(one)),
                           std::max(field, 1) - shape.bias() - shape.fraction_bits);
  // 5.2.3 of PTX ISA 9.1: e4m3 has no infinity and one NaN, e2m1, e2m3 and e3m2 have neither.
  bool const last = field == (1 << shape.exponent_bits) - 1;
  if (last && shape.infinity) size = fraction == 0 ? HUGE_VAL : std::nan("");
  if (format == FloatFormat::e4m3 && size > shape.most) size = std::nan("");
  return negative ? -size : size;
}

/// Bits of a number that the format has exactly, or to within `tolerance` units in its last place; else nothing, as of most NaN.
/// `float_bits(FloatFormat::bf16, 1.5)` is 0x3fc0. Checked by FloatFormat.EveryHalfAndByte.
[[nodiscard]] inline std::optional<std::uint64_t> float_bits(FloatFormat format, double value,
                                                             double tolerance = 0) {
  if (format == FloatFormat::f64) return same_bits<std::uint64_t>(value);
  if (format == FloatFormat::e8m0) {
    int exponent = 0;
    if (!(value > 0) || std::isinf(value) || std::frexp(value, &exponent) != 0.5 || exponent < -126 ||
        exponent > 128)
      return std::nullopt;
    return static_cast<std::uint64_t>(exponent + 126);
  }
  FloatShape const shape = shape_of(format);
  double const size = std::fabs(value);
  if (!(size <= shape.most)) return std::nullopt;
  std::uint64_t const sign = std::signbit(value) ? std::uint64_t{1} << (shape.bits() - 1) : 0;
  std::uint64_t const one = std::uint64_t{1} << shape.fraction_bits;
  if (std::isinf(size)) return sign | ((std::uint64_t{1} << shape.exponent_bits) - 1) << shape.fraction_bits;
  int const exponent = std::max(size == 0 ? 1 - shape.bias() : std::ilogb(size), 1 - shape.bias());
  if (std::isinf(shape.most) && exponent > shape.bias()) return std::nullopt;
  double const scaled = std::ldexp(size, shape.fraction_bits - exponent);  // below 2 * one
  double const whole = std::nearbyint(scaled);
  if (std::fabs(scaled - whole) > tolerance || whole >= static_cast<double>(2 * one)) return std::nullopt;
  auto const m = static_cast<std::uint64_t>(whole);
  if (m < one) return sign | m;
  return sign | ((static_cast<std::uint64_t>(exponent + shape.bias()) << shape.fraction_bits) + m - one);
}

}  // namespace swizproof
