#include "parse/expression/c_arithmetic.hpp"

#include <bit>

namespace swizproof {

namespace {

constexpr IntegerType int_type{}, unsigned_64{64, false};

/// 2^n.
constexpr WideInteger power(unsigned n) { return WideInteger{1} << n; }
constexpr WideInteger least_of(IntegerType t) { return t.is_signed ? -power(t.bits - 1) : 0; }
constexpr WideInteger most_of(IntegerType t) { return power(t.is_signed ? t.bits - 1 : t.bits) - 1; }
bool fits(CBounds const& b, IntegerType t) { return b.least >= least_of(t) && b.most <= most_of(t); }
CBounds all_of(IntegerType t) { return {t, least_of(t), most_of(t)}; }

std::string name(IntegerType t) {
  return (t.is_signed ? "int" : "unsigned") +
         (t.bits == 32 ? std::string() : " of " + std::to_string(t.bits) + " bits");
}

/// The bits that numbers up to `most` have, as a number: 5 gives 7.
WideInteger filled(WideInteger most) {
  return power(static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(most)))) - 1;
}

[[noreturn]] void refuse(std::string message, std::string hint = {}) {
  throw InputError(std::move(message), {}, 0, 1, std::move(hint));
}

}  // namespace

std::size_t CArithmetic::node(Expression::Node const& n, CBounds const& bounds) {
  if (to_.nodes().size() >= most_operations) refuse("the expression has more than 1000 operations");
  bounds_.push_back(bounds);
  return to_.add(n);
}

std::size_t CArithmetic::literal(std::uint64_t value, std::string_view spelled) {
  bool const decimal = spelled[0] != '0' || spelled.size() == 1;
  bool const with_u = spelled.find_first_of("uU") != spelled.npos;
  bool const with_l = spelled.find_first_of("lL") != spelled.npos;
  for (IntegerType const type :
       {IntegerType{32, true}, IntegerType{32, false}, IntegerType{64, true}, IntegerType{64, false}}) {
    bool const allowed = (type.bits == 64 || !with_l) && (type.is_signed ? !with_u : with_u || !decimal);
    if (allowed && WideInteger{value} <= most_of(type))
      return node({Op::number, value}, {type, WideInteger{value}, WideInteger{value}});
  }
  refuse("this number fits no signed type of C", "write it with a u behind it");
}

std::size_t CArithmetic::copy(CValue const& value) {
  std::size_t const shift = to_.nodes().size();
  std::size_t last = 0;
  for (Expression::Node n : value.value.nodes()) {
    n.a += shift, n.b += shift, n.c += shift;
    last = node(n, value.bounds);
  }
  return last;
}

std::size_t CArithmetic::apply(Op op, std::size_t a, std::size_t b, std::size_t c) {
  switch (op) {
    case Op::minus:
    case Op::complement:
      return unary(op, promote(a));
    case Op::logical_not:
      return node({op, 0, a}, {int_type, 0, 1});
    case Op::logical_and:
    case Op::logical_or:
      return node({op, 0, a, b}, {int_type, 0, 1});
    case Op::multiply:
    case Op::add:
    case Op::subtract:
      return arithmetic(op, a, b);
    case Op::divide:
    case Op::remainder:
      return quotient(op, a, b);
    case Op::shift_left:
    case Op::shift_right:
      return shift(op, promote(a), promote(b));
    case Op::bit_and:
    case Op::bit_xor:
    case Op::bit_or:
      return bits(op, a, b);
    case Op::conditional: {
      IntegerType const type = common(b, c);
      return node({op, 0, a, b, c}, {type, std::min(bounds_[b].least, bounds_[c].least),
                                     std::max(bounds_[b].most, bounds_[c].most)});
    }
    default:
      return comparison(op, a, b);
  }
}

std::size_t CArithmetic::convert(std::size_t a, IntegerType to) {
  CBounds const from = bounds_[a];
  if (fits(from, to)) {
    bounds_[a].type = to;
    return a;
  }
  if (to == unsigned_64) {  // its words are these modulo 2^64 already
    bounds_[a] = from.is_constant() && from.least < 0
                     ? CBounds{to, from.least + power(64), from.least + power(64)}
                     : all_of(to);
    return a;
  }
  if (to.bits == 64) refuse("a value of type " + name(from.type) + " may not fit " + name(to));
  std::size_t const low = node({Op::bit_and, 0, a, number(static_cast<std::uint64_t>(power(to.bits) - 1))},
                               all_of({to.bits, false}));
  if (!to.is_signed) return low;
  // The sign is repeated: (x ^ 2^31) - 2^31.
  std::size_t const sign = number(std::uint64_t{1} << (to.bits - 1));
  std::size_t const flipped = node({Op::bit_xor, 0, low, sign}, {});
  return node({Op::subtract, 0, flipped, sign}, all_of(to));
}

/// Types below int become int.
std::size_t CArithmetic::promote(std::size_t a) {
  return bounds_[a].type.bits < 32 ? convert(a, int_type) : a;
}

/// The usual arithmetic conversions of both operands.
IntegerType CArithmetic::common(std::size_t& a, std::size_t& b) {
  a = promote(a), b = promote(b);
  IntegerType const x = bounds_[a].type, y = bounds_[b].type;
  IntegerType const type =
      x.bits != y.bits ? (x.bits > y.bits ? x : y) : IntegerType{x.bits, x.is_signed && y.is_signed};
  a = convert(a, type), b = convert(b, type);
  return type;
}

/// The result at `a`, which without C's limits lies within `exact`.
std::size_t CArithmetic::wrapped(std::size_t a, CBounds exact) {
  bounds_[a] = exact;
  if (fits(exact, exact.type)) return a;
  if (exact.type.is_signed)
    refuse("this may overflow " + name(exact.type) + ", which C leaves undefined",
           "limit an operand, as x % 64, or write it as unsigned");
  return convert(a, exact.type);
}

std::size_t CArithmetic::unary(Op op, std::size_t a) {
  CBounds const x = bounds_[a];
  WideInteger const less = op == Op::complement ? 1 : 0;
  return wrapped(node({op, 0, a}, {}), {x.type, -x.most - less, -x.least - less});
}

std::size_t CArithmetic::arithmetic(Op op, std::size_t a, std::size_t b) {
  IntegerType const type = common(a, b);
  CBounds const x = bounds_[a], y = bounds_[b];
  CBounds exact{type, x.least + y.least, x.most + y.most};
  if (op == Op::subtract) exact = {type, x.least - y.most, x.most - y.least};
  if (op == Op::multiply) {
    if (type == unsigned_64) return node({op, 0, a, b}, all_of(type));
    if (type.bits == 64 && (std::max(-x.least, x.most) > power(60) || std::max(-y.least, y.most) > power(60)))
      refuse("a product of 64 bits may overflow");
    WideInteger const corners[] = {x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most};
    exact = {type, *std::min_element(std::begin(corners), std::end(corners)),
             *std::max_element(std::begin(corners), std::end(corners))};
  }
  return wrapped(node({op, 0, a, b}, {}), exact);
}

/// 1 where the value at `a` is negative.
std::size_t CArithmetic::below_zero(std::size_t a) {
  std::size_t const zero = number(static_cast<std::uint64_t>(-bounds_[a].least));
  return node({Op::less, 0, node({Op::add, 0, a, zero}, {}), zero}, {int_type, 0, 1});
}

/// Toward zero; the remainder has the dividend's sign. Precondition: the divisor is a positive constant.
std::size_t CArithmetic::quotient(Op op, std::size_t a, std::size_t b) {
  IntegerType const type = common(a, b);
  CBounds const x = bounds_[a];
  WideInteger const d = bounds_[b].least;
  CBounds result{type, x.least / d, x.most / d};
  if (op == Op::remainder) {
    result.least = x.least < 0 ? std::max(x.least, 1 - d) : 0;
    result.most = x.most < 0 ? 0 : std::min(x.most, d - 1);
  }
  std::size_t const of_positive = node({op, 0, a, b}, result);
  if (x.least >= 0) return of_positive;
  std::size_t const size = node({Op::minus, 0, a}, {});
  std::size_t const of_negative = node({Op::minus, 0, node({op, 0, size, b}, {})}, {});
  return node({Op::conditional, 0, below_zero(a), of_negative, of_positive}, result);
}

std::size_t CArithmetic::shift(Op op, std::size_t a, std::size_t b) {
  CBounds const x = bounds_[a], n = bounds_[b];
  if (n.least < 0 || n.most >= x.type.bits)
    refuse("this may shift " + name(x.type) +
           " by a negative number or by its width, which C leaves undefined");
  auto const fewest = static_cast<unsigned>(n.least), furthest = static_cast<unsigned>(n.most);
  if (op == Op::shift_left) {
    if (x.type == unsigned_64) return node({op, 0, a, b}, all_of(x.type));
    if (x.type.bits == 64 && std::max(-x.least, x.most) > power(60))
      refuse("a shift of 64 bits may overflow");
    return wrapped(node({op, 0, a, b}, {}),
                   {x.type, std::min(x.least * power(fewest), x.least * power(furthest)),
                    std::max(x.most * power(fewest), x.most * power(furthest))});
  }
  CBounds const result{x.type, std::min(x.least >> fewest, x.least >> furthest),
                       std::max(x.most >> fewest, x.most >> furthest)};
  if (x.least >= 0) return node({op, 0, a, b}, result);
  if (!n.is_constant())
    refuse("a number that may be negative is shifted to the right by a number that varies");
  // floor(x / 2^n), of a number that is made positive by a multiple of 2^n.
  WideInteger const lines = -result.least;
  std::size_t const raised =
      node({Op::add, 0, a, number(static_cast<std::uint64_t>(lines * power(fewest)))}, {});
  std::size_t const moved = node({op, 0, raised, b}, {});
  return node({Op::subtract, 0, moved, number(static_cast<std::uint64_t>(lines))}, result);
}

std::size_t CArithmetic::comparison(Op op, std::size_t a, std::size_t b) {
  (void)common(a, b);
  WideInteger const least = std::min(bounds_[a].least, bounds_[b].least);
  if (least < 0) {
    std::size_t const zero = number(static_cast<std::uint64_t>(-least));
    a = node({Op::add, 0, a, zero}, {});
    b = node({Op::add, 0, b, zero}, {});
  }
  return node({op, 0, a, b}, {int_type, 0, 1});
}

std::size_t CArithmetic::bits(Op op, std::size_t a, std::size_t b) {
  IntegerType const type = common(a, b);
  CBounds const x = bounds_[a], y = bounds_[b];
  bool const negative = x.least < 0 || y.least < 0;
  WideInteger const most = filled(std::max({x.most, y.most, -x.least - 1, -y.least - 1}));
  CBounds result{type, negative ? -most - 1 : 0, most};
  if (op == Op::bit_and && x.least >= 0) result = {type, 0, y.least >= 0 ? std::min(x.most, y.most) : x.most};
  if (op == Op::bit_and && x.least < 0 && y.least >= 0) result = {type, 0, y.most};
  return node({op, 0, a, b}, result);
}

CValue c_number(std::int64_t n) {
  IntegerType const type{n >= least_of(int_type) && n <= most_of(int_type) ? 32U : 64U, true};
  return {Expression(static_cast<std::uint64_t>(n)), {type, n, n}};
}

CValue c_apply(Expression::Op op, CValue const& a, CValue const& b) {
  CValue out;
  CArithmetic c(out.value);
  std::size_t const left = c.copy(a), right = c.copy(b);
  out.bounds = c.bounds(c.apply(op, left, right));
  return out;
}

CValue c_convert(CValue const& a, IntegerType to) {
  CValue out;
  CArithmetic c(out.value);
  out.bounds = c.bounds(c.convert(c.copy(a), to));
  return out;
}

}  // namespace swizproof
