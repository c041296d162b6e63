#include <swizproof/core/float_format.hpp>
#include <swizproof/program/floating.hpp>
#include <swizproof/program/opcode.hpp>

#include <swizproof/core/word.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace swizproof::program {

namespace {

using Result = std::optional<std::uint64_t>;
using Sources = std::array<std::uint64_t, 3>;

template <class F>
using Bits = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

template <class F>
F number(std::uint64_t bits, bool flush) {
  F const f = same_bits<F>(static_cast<Bits<F>>(bits));
  return flush && std::fpclassify(f) == FP_SUBNORMAL ? std::copysign(F{0}, f) : f;
}
template <class F>
Result bits_of(F f, bool flush) {
  if (std::isnan(f)) return std::nullopt;
  return same_bits<Bits<F>>(number<F>(same_bits<Bits<F>>(f), flush));
}

Result comparison(std::string_view how, double a, double b) {
  auto const holds = float_compares(how, a, b);
  return holds ? Result(*holds ? 1 : 0) : std::nullopt;
}

template <class F>
Result arithmetic(std::string_view op, Sources const& sources, bool flush) {
  F const a = number<F>(sources[0], flush), b = number<F>(sources[1], flush),
          c = number<F>(sources[2], flush);
  // 0 in min and max: which sign it has is not compared.
  bool const zeros = a == F{0} && b == F{0};
  if (op == "add") return bits_of(a + b, flush);
  if (op == "sub") return bits_of(a - b, flush);
  if (op == "mul") return bits_of(a * b, flush);
  if (op == "fma" || op == "mad") return bits_of(std::fma(a, b, c), flush);
  if (op == "div") return bits_of(a / b, flush);
  if (op == "rcp") return bits_of(F{1} / a, flush);
  if (op == "sqrt") return bits_of(std::sqrt(a), flush);
  if (op == "neg") return bits_of(-a, flush);
  if (op == "abs") return bits_of(std::fabs(a), flush);
  if (std::isnan(a) || std::isnan(b) || zeros) return std::nullopt;
  if (op == "min") return bits_of(a < b ? a : b, flush);
  if (op == "max") return bits_of(a > b ? a : b, flush);
  return std::nullopt;
}

/// True for a type of integers with a sign or without one, as `s32`.
bool is_integer(Type t) { return (t.kind == 's' || t.kind == 'u') && t.bits <= 64; }

template <class F>
Result from_integer(Type type, std::uint64_t value) {
  unsigned const unused = 64 - type.bits;
  value = value << unused;
  return bits_of(type.kind == 's' ? static_cast<F>(static_cast<std::int64_t>(value) >> unused)
                                  : static_cast<F>(value >> unused),
                 false);
}

/// NaN by a rounding that is not known.
template <class F>
F rounded(std::string_view rounding, F f) {
  return rounding == "rzi"   ? std::trunc(f)
         : rounding == "rmi" ? std::floor(f)
         : rounding == "rpi" ? std::ceil(f)
                             : std::numeric_limits<F>::quiet_NaN();
}

template <class F>
Result to_integer(Type type, std::string_view rounding, F f) {
  F const whole = rounded(rounding, f);
  F const end = std::ldexp(F{1}, static_cast<int>(type.bits) - ((type.kind == 's') ? 1 : 0));
  if (std::isnan(whole) || whole >= end || whole < ((type.kind == 's') ? -end : F{0})) return std::nullopt;
  // A wider register gets the sign too.
  return type.kind == 's' ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                          : static_cast<std::uint64_t>(whole);
}

Result converted(std::string_view rounding, std::string_view to, std::string_view from, std::uint64_t value,
                 bool flush) {
  Type const source = type_of(from), target = type_of(to);
  if (is_integer(source) && to == "f32" && rounding == "rn") return from_integer<float>(source, value);
  if (is_integer(source) && to == "f64" && rounding == "rn") return from_integer<double>(source, value);
  if (is_integer(target) && from == "f32") return to_integer(target, rounding, number<float>(value, flush));
  if (is_integer(target) && from == "f64") return to_integer(target, rounding, number<double>(value, flush));
  if (to == "f32" && from == "f32") return bits_of(rounded(rounding, number<float>(value, flush)), flush);
  if (to == "f64" && from == "f32" && rounding.empty())
    return bits_of(static_cast<double>(number<float>(value, flush)), false);
  if (to == "f32" && from == "f64" && rounding == "rn")
    return bits_of(static_cast<float>(number<double>(value, false)), flush);
  return std::nullopt;
}

/// The second number with the sign of the first.
Result with_sign(Sources const& sources, unsigned bits) {
  std::uint64_t const sign = std::uint64_t{1} << (bits - 1);
  return (sources[0] & sign) | (sources[1] & (sign - 1));
}

/// testp: true for numbers of a class.
template <class F>
Result tested(std::string_view how, F f) {
  int const kind = std::fpclassify(f);
  if (how == "finite") return std::isfinite(f) ? 1 : 0;
  if (how == "infinite") return std::isinf(f) ? 1 : 0;
  if (how == "number") return std::isnan(f) ? 0 : 1;
  if (how == "notanumber") return std::isnan(f) ? 1 : 0;
  if (how == "normal") return kind == FP_NORMAL || kind == FP_ZERO ? 1 : 0;
  if (how == "subnormal") return kind == FP_SUBNORMAL ? 1 : 0;
  return std::nullopt;
}

}  // namespace

Result float_result(std::string_view opcode, Sources const& sources) {
  Opcode const decoded(opcode);
  std::string_view const op = decoded.name;
  std::vector<std::string_view> parts = decoded.parts;
  bool const flush = std::erase(parts, "ftz") != 0;
  if (op == "cvt" && parts.size() == 4) return converted(parts[1], parts[2], parts[3], sources[0], flush);
  if (op == "cvt" && parts.size() == 3) return converted("", parts[1], parts[2], sources[0], flush);
  bool const single = parts.back() == "f32";
  if (!single && parts.back() != "f64") return std::nullopt;
  if (op == "copysign") return with_sign(sources, single ? 32 : 64);
  if (op == "testp")
    return single ? tested(parts[1], number<float>(sources[0], false))
                  : tested(parts[1], number<double>(sources[0], false));
  bool const combined = parts.size() == 4 && (parts[2] == "and" || parts[2] == "or" ||
                                              parts[2] == "xor");  // by an instruction of its own
  if (op == "setp" && (parts.size() == 3 || combined))
    return single
               ? comparison(parts[1], number<float>(sources[0], flush), number<float>(sources[1], flush))
               : comparison(parts[1], number<double>(sources[0], flush), number<double>(sources[1], flush));
  // To nearest even, where nothing is written; a product and a sum in one rounding, and the others, say it.
  bool const rounds = op == "fma" || op == "mad" || op == "div" || op == "sqrt" || op == "rcp";
  bool const nearest = parts.size() == 3 && parts[1] == "rn";
  if (!nearest && (rounds || parts.size() != 2)) return std::nullopt;
  return single ? arithmetic<float>(op, sources, flush) : arithmetic<double>(op, sources, flush);
}

std::optional<bool> float_compares(std::string_view how, double a, double b) {
  bool const unordered = std::isnan(a) || std::isnan(b);
  if (how == "num" || how == "nan") return unordered == (how == "nan");
  bool const or_unordered = how.size() == 3 && how.back() == 'u';
  if (how.size() != 2 && !or_unordered) return std::nullopt;
  if (unordered) return or_unordered;
  std::string_view const relation = how.substr(0, 2);
  if (relation == "eq") return a == b;
  if (relation == "ne") return a != b;
  if (relation == "lt") return a < b;
  if (relation == "le") return a <= b;
  if (relation == "gt") return a > b;
  if (relation == "ge") return a >= b;
  return std::nullopt;
}

std::optional<std::uint64_t> exact_conversion(std::string_view opcode, std::uint64_t value) {
  Opcode const op(opcode);
  Type const to = op.type_before();
  if (op.name != "cvt" || op.parts.size() != 4 || op.parts[1] != "rn" || !is_integer(op.type) ||
      to.kind != 'f' || op.parts[2].size() != 3)
    return std::nullopt;
  unsigned const unused = 64 - op.type.bits;
  bool const is_signed = op.type.kind == 's', negative = is_signed && (value << unused) >> 63 != 0;
  std::uint64_t const size = negative ? (0 - (value << unused)) >> unused : (value << unused) >> unused;
  auto const number = static_cast<double>(size);
  if (size != 0 && std::bit_width(size) - std::countr_zero(size) > 53) return std::nullopt;
  return float_bits(to.bits == 16   ? FloatFormat::f16
                    : to.bits == 32 ? FloatFormat::f32
                                    : FloatFormat::f64,
                    negative ? -number : number);
}

}  // namespace swizproof::program
