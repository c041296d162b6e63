// Arithmetic of CuTe's integers: leaves of an IntTuple, each static (known to the compiler) or dynamic.
//
// Static with static is static, anything else is dynamic, except that a static 0 times anything and
// anything modulo a static 1 are a static 0. A coordinate stride keeps its basis under multiplication.
#pragma once

#include <swizproof/layout/algebra.hpp>

#include <algorithm>

namespace swizproof {

/// Says why the algebra has no such layout.
[[noreturn]] inline void refuse(std::string const& reason) { throw AlgebraError{reason}; }

[[nodiscard]] inline bool is_constant(IntTuple const& t, std::int64_t value) {
  return !t.is_tuple && t.is_static && t.basis.empty() && t.value == value;
}
/// Both static, of the same basis and equal.
[[nodiscard]] inline bool is_same_constant(IntTuple const& a, IntTuple const& b) {
  return a.is_static && b.is_static && a.basis == b.basis && a.value == b.value;
}

[[nodiscard]] inline IntTuple in_range(bool overflow, std::int64_t value, bool fixed) {
  if (overflow) refuse("a number of the result needs more than 63 bits");
  return {value, fixed};
}

[[nodiscard]] inline IntTuple operator*(IntTuple const& a, IntTuple const& b) {
  std::int64_t value = 0;
  bool const overflow = __builtin_mul_overflow(a.value, b.value, &value);
  bool const zero = (a.is_static && a.value == 0) || (b.is_static && b.value == 0);
  IntTuple product = in_range(overflow, value, (a.is_static && b.is_static) || zero);
  product.basis = a.basis.empty() ? b.basis : a.basis;
  return product;
}
[[nodiscard]] inline IntTuple operator/(IntTuple const& a, IntTuple const& b) {
  if (b.value == 0) refuse("a division by 0, which CuTe does not check");
  return {a.value / b.value, (a.is_static && b.is_static) || is_constant(a, 0)};
}
[[nodiscard]] inline IntTuple operator%(IntTuple const& a, IntTuple const& b) {
  if (b.value == 0) refuse("a division by 0, which CuTe does not check");
  bool const zero = is_constant(a, 0) || is_constant(b, 1) || is_constant(b, -1);
  return {a.value % b.value, (a.is_static && b.is_static) || zero};
}
[[nodiscard]] inline IntTuple operator-(IntTuple const& a, IntTuple const& b) {
  std::int64_t value = 0;
  bool const overflow = __builtin_sub_overflow(a.value, b.value, &value);
  return in_range(overflow, value, a.is_static && b.is_static);
}
/// The sum of integers, or of coordinates: `(1,_0) + (_0,2)`. Missing coordinates are static zeros.
[[nodiscard]] inline IntTuple operator+(IntTuple const& a, IntTuple const& b) {
  if (is_constant(a, 0) && b.is_tuple) return b;
  if (is_constant(b, 0) && a.is_tuple) return a;
  if (a.is_tuple != b.is_tuple) refuse("an offset and a coordinate cannot be added");
  if (!a.is_tuple) {
    std::int64_t value = 0;
    bool const overflow = __builtin_add_overflow(a.value, b.value, &value);
    return in_range(overflow, value, a.is_static && b.is_static);
  }
  std::vector<IntTuple> modes;
  for (std::size_t i = 0; i < std::max(a.rank(), b.rank()); ++i)
    modes.push_back((i < a.rank() ? a.modes[i] : IntTuple(0)) + (i < b.rank() ? b.modes[i] : IntTuple(0)));
  return IntTuple(std::move(modes));
}

[[nodiscard]] inline IntTuple abs(IntTuple a) {
  a.value = a.value < 0 ? -a.value : a.value;
  return a;
}
[[nodiscard]] inline IntTuple signum(IntTuple const& a) {
  return {(a.value > 0) - (a.value < 0), a.is_static};
}
[[nodiscard]] inline IntTuple min(IntTuple const& a, IntTuple const& b) {
  return {std::min(a.value, b.value), a.is_static && b.is_static};
}
/// ceil(a / b) of positive integers; of others what CuTe's (a + b - 1) / b is.
[[nodiscard]] inline IntTuple ceil_div(IntTuple const& a, IntTuple const& b) {
  return (a + (b - IntTuple(1))) / b;
}

/// The coordinate that a stride such as 5@1@0 stands for: `(_0,5)` in the first mode.
[[nodiscard]] inline IntTuple as_coordinates(IntTuple const& stride) {
  IntTuple value(stride.value, stride.is_static);
  for (auto mode = stride.basis.rbegin(); mode != stride.basis.rend(); ++mode) {
    std::vector<IntTuple> modes(static_cast<std::size_t>(*mode), IntTuple(0));
    modes.push_back(std::move(value));
    value = IntTuple(std::move(modes));
  }
  return value;
}
/// Every leaf plus 1.
[[nodiscard]] inline IntTuple plus_one(IntTuple t) {
  if (!t.is_tuple) return t + IntTuple(1);
  for (IntTuple& m : t.modes) m = plus_one(std::move(m));
  return t;
}

}  // namespace swizproof
