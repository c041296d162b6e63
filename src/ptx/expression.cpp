#include "expression.hpp"

#include "characters.hpp"

#include <algorithm>
#include <array>

namespace swizproof::ptx {

namespace {

constexpr unsigned deepest_expression = 200;

/// A value with its type: .s64, or .u64.
struct Constant {
  std::uint64_t value = 0;
  bool is_signed = true;
};

struct Operator {
  std::string_view text;
  unsigned precedence;
};
// Those with two characters first.
constexpr std::array<Operator, 18> operators{{{"<<", 8},
                                              {">>", 8},
                                              {"<=", 7},
                                              {">=", 7},
                                              {"==", 6},
                                              {"!=", 6},
                                              {"&&", 2},
                                              {"||", 1},
                                              {"*", 10},
                                              {"/", 10},
                                              {"%", 10},
                                              {"+", 9},
                                              {"-", 9},
                                              {"<", 7},
                                              {">", 7},
                                              {"&", 5},
                                              {"^", 4},
                                              {"|", 3}}};

std::uint64_t negated(std::uint64_t x) { return 0 - x; }

/// A quotient of numbers that have a sign.
std::uint64_t quotient(std::uint64_t a, std::uint64_t b) {
  bool const minus_a = a >> 63 != 0, minus_b = b >> 63 != 0;
  std::uint64_t const out = (minus_a ? negated(a) : a) / (minus_b ? negated(b) : b);
  return minus_a != minus_b ? negated(out) : out;
}

/// A binary operation; nothing for a division by 0.
std::optional<Constant> applied(std::string_view op, Constant const& a, Constant const& b) {
  bool const both = a.is_signed && b.is_signed;
  std::uint64_t const sign = both ? std::uint64_t{1} << 63 : 0, x = a.value, y = b.value;
  auto const truth = [](bool t) { return Constant{t ? 1U : 0U, true}; };
  if (op == "*") return Constant{x * y, both};
  if (op == "+") return Constant{x + y, both};
  if (op == "-") return Constant{x - y, both};
  if (op == "/" || op == "%") {
    if (y == 0) return std::nullopt;
    if (op == "%") return Constant{x % y, false};
    return Constant{both ? quotient(x, y) : x / y, both};
  }
  // By the low six bits of the number, as ptxas does.
  if (op == "<<") return Constant{x << (y & 63), a.is_signed};
  if (op == ">>") {
    std::uint64_t const fill = a.is_signed && x >> 63 != 0 ? ~(~std::uint64_t{0} >> (y & 63)) : 0;
    return Constant{x >> (y & 63) | fill, a.is_signed};
  }
  if (op == "<") return truth((x ^ sign) < (y ^ sign));
  if (op == ">") return truth((x ^ sign) > (y ^ sign));
  if (op == "<=") return truth((x ^ sign) <= (y ^ sign));
  if (op == ">=") return truth((x ^ sign) >= (y ^ sign));
  if (op == "==") return truth(x == y);
  if (op == "!=") return truth(x != y);
  if (op == "&&") return truth(x != 0 && y != 0);
  if (op == "||") return truth(x != 0 || y != 0);
  return Constant{op == "&" ? x & y : op == "^" ? x ^ y : x | y, both};
}

class Expression {
 public:
  explicit Expression(std::string_view text) : rest_(text) {}

  std::optional<Constant> whole() {
    auto const value = choice();
    return rest().empty() ? value : std::nullopt;
  }

 private:
  std::string_view rest() { return rest_ = trimmed(rest_); }
  bool accept(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  /// `a ? b : c`.
  std::optional<Constant> choice() {
    auto const condition = binary(1);
    if (!condition || !accept("?")) return condition;
    auto const yes = choice();
    if (!yes || !accept(":")) return std::nullopt;
    auto const no = choice();
    if (!no) return std::nullopt;
    return condition->value != 0 ? yes : no;
  }

  std::optional<Constant> binary(unsigned least) {
    auto left = unary();
    while (left) {
      auto const op = std::find_if(operators.begin(), operators.end(),
                                   [&](Operator const& o) { return rest().starts_with(o.text); });
      if (op == operators.end() || op->precedence < least) return left;
      rest_.remove_prefix(op->text.size());
      auto const right = binary(op->precedence + 1);
      left = right ? applied(op->text, *left, *right) : std::nullopt;
    }
    return left;
  }

  std::optional<Constant> unary() {
    if (++depth_ > deepest_expression) return std::nullopt;
    if (accept("+")) return unary();
    if (accept("-")) return changed([](Constant c) { return Constant{negated(c.value), c.is_signed}; });
    if (accept("~")) return changed([](Constant c) { return Constant{~c.value, false}; });
    if (accept("!")) return changed([](Constant c) { return Constant{c.value == 0 ? 1U : 0U, true}; });
    if (accept("(")) {
      bool const to_signed = accept(".s64");
      if (to_signed || accept(".u64"))
        return accept(")") ? changed([&](Constant c) { return Constant{c.value, to_signed}; }) : std::nullopt;
      auto const within = choice();
      return accept(")") ? within : std::nullopt;
    }
    std::size_t length = 0;
    while (length < rest().size() && in_name(rest_[length]) && rest_[length] != '%') ++length;
    std::string_view const number = rest_.substr(0, length);
    rest_.remove_prefix(length);
    auto const value = integer(number);
    if (!value) return std::nullopt;
    return Constant{*value, *value >> 63 == 0 && !number.ends_with('U')};
  }
  template <typename F>
  std::optional<Constant> changed(F const& how) {
    auto const of = unary();
    return of ? std::optional<Constant>(how(*of)) : std::nullopt;
  }

  std::string_view rest_;
  unsigned depth_ = 0;  ///< operands so far
};

}  // namespace

std::optional<std::uint64_t> constant_of(std::string_view text) {
  auto const value = Expression(text).whole();
  return value ? std::optional(value->value) : std::nullopt;
}

}  // namespace swizproof::ptx
