// C's integer arithmetic in an Expression, whose words have no sign.
//
// Each value has a type and bounds. The usual conversions choose the type of an operation; the bounds choose its nodes:
//
//   unsigned     a result that may leave 32 bits is taken modulo 2^32
//   signed       a value that may be negative is divided, compared and shifted as C does: -7 / 4 is -1, -7 % 4 is -3
//   refused      what C leaves undefined: a signed result that may overflow, a shift by the width or more
//
// A value below 0 is its two's complement of 64 bits. The model tests/reference/declarations.py and a C++ compiler check the results.
#pragma once

#include "parse/expression/c_type.hpp"

#include <swizproof/layout/expression.hpp>

#include <string_view>
#include <vector>

namespace swizproof {

__extension__ using WideInteger = __int128;

/// Type of a value, and the least and the most that it may be.
struct CBounds {
  IntegerType type{};
  WideInteger least = 0, most = 0;

  [[nodiscard]] bool is_constant() const { return least == most; }
};

/// A value of C: an expression, its type and its bounds.
struct CValue {
  Expression value{};
  CBounds bounds{};
};

/// Appends C's operations to an expression. Each function returns the place of the result and throws InputError without a
/// position for what C leaves undefined.
class CArithmetic {
 public:
  explicit CArithmetic(Expression& to) : to_(to) {}

  [[nodiscard]] CBounds const& bounds(std::size_t at) const { return bounds_[at]; }
  /// A literal as it is spelled: its base and suffix choose the type. `0xffffffff` is unsigned.
  std::size_t literal(std::uint64_t value, std::string_view spelled);
  /// A value that was read before.
  std::size_t copy(CValue const& value);
  /// The operation on operands at these places; those that it does not have are 0.
  std::size_t apply(Expression::Op op, std::size_t a, std::size_t b = 0, std::size_t c = 0);
  /// The value as another type.
  std::size_t convert(std::size_t a, IntegerType to);
  /// For an expression that begins anew.
  void clear() { bounds_.clear(); }

 private:
  using Op = Expression::Op;
  std::size_t node(Expression::Node const& n, CBounds const& bounds);
  std::size_t number(std::uint64_t value) { return node({Op::number, value}, {}); }
  std::size_t promote(std::size_t a);
  IntegerType common(std::size_t& a, std::size_t& b);
  std::size_t wrapped(std::size_t a, CBounds exact);
  std::size_t below_zero(std::size_t a);
  std::size_t unary(Op op, std::size_t a);
  std::size_t arithmetic(Op op, std::size_t a, std::size_t b);
  std::size_t quotient(Op op, std::size_t a, std::size_t b);
  std::size_t shift(Op op, std::size_t a, std::size_t b);
  std::size_t comparison(Op op, std::size_t a, std::size_t b);
  std::size_t bits(Op op, std::size_t a, std::size_t b);

  Expression& to_;
  std::vector<CBounds> bounds_{};  ///< of each node
};

/// A number of type int, or of 64 bits where it does not fit.
[[nodiscard]] CValue c_number(std::int64_t n);
/// The operation on two values.
[[nodiscard]] CValue c_apply(Expression::Op op, CValue const& a, CValue const& b);
/// The value as another type.
[[nodiscard]] CValue c_convert(CValue const& a, IntegerType to);

}  // namespace swizproof
