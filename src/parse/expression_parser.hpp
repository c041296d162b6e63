// C integer expressions: precedence climbing over C's binary operators.
#pragma once

#include "scanner.hpp"

#include <array>
#include <optional>

namespace swizproof {

/// Precedence climbing over C's binary operators.
class ExpressionParser {
 public:
  ExpressionParser(Scanner& in, std::span<std::string const> variables) : in_(in), variables_(variables) {}

  [[nodiscard]] Expression parse() {
    conditional();
    return std::move(expression_);
  }

 private:
  using Op = Expression::Op;
  struct Binary {
    std::string_view token;
    Op op;
    int precedence;
  };
  // Longer tokens first, so that "<<" is not read as "<".
  static constexpr std::array<Binary, 18> operators{{
      {"<<", Op::shift_left, 8},
      {">>", Op::shift_right, 8},
      {"<=", Op::less_equal, 7},
      {">=", Op::greater_equal, 7},
      {"==", Op::equal, 6},
      {"!=", Op::not_equal, 6},
      {"&&", Op::logical_and, 2},
      {"||", Op::logical_or, 1},
      {"*", Op::multiply, 10},
      {"/", Op::divide, 10},
      {"%", Op::remainder, 10},
      {"+", Op::add, 9},
      {"-", Op::subtract, 9},
      {"<", Op::less, 7},
      {">", Op::greater, 7},
      {"&", Op::bit_and, 5},
      {"^", Op::bit_xor, 4},
      {"|", Op::bit_or, 3},
  }};

  std::size_t add(Op op, std::size_t a = 0, std::size_t b = 0, std::size_t c = 0) {
    return add({op, 0, a, b, c});
  }
  std::size_t add(Expression::Node const& node) {
    if (expression_.nodes().size() >= most_operations)
      in_.fail_here("the expression has more than 1000 operations");
    return expression_.add(node);
  }
  std::size_t conditional() {
    Nesting const nesting(in_, depth_);
    std::size_t const condition = binary(1);
    if (!in_.take("?")) return condition;
    std::size_t const yes = conditional();
    in_.expect(":", "of the conditional");
    return add(Op::conditional, condition, yes, conditional());
  }
  std::size_t binary(int least) {
    std::size_t left = unary();
    while (true) {
      auto const* found = std::find_if(operators.begin(), operators.end(),
                                       [&](Binary const& o) { return in_.looking_at(o.token); });
      if (found == operators.end() || found->precedence < least) return left;
      std::size_t const at = in_.at();
      (void)in_.take(found->token);
      std::size_t const operand = in_.at();
      std::size_t const right = binary(found->precedence + 1);
      if (found->op == Op::divide || found->op == Op::remainder) check_divisor(at, operand, right);
      left = add(found->op, left, right);
    }
  }
  /// Divisors must be constants, and not 0 even in words of 32 bits: a division by zero would have to
  /// be guessed.
  void check_divisor(std::size_t at, std::size_t operand, std::size_t node) {
    std::optional<std::uint64_t> const value = constant_at(node);
    if (!value) in_.fail("the divisor must be a number", operand, in_.at() - operand);
    if (*value == 0) in_.fail("division by zero", at);
    if (*value > 0xffffffffULL) in_.fail("the divisor needs more than 32 bits", operand, in_.at() - operand);
  }
  /// The value of a node that is a number or simple arithmetic of numbers.
  std::optional<std::uint64_t> constant_at(std::size_t node) const {
    Expression::Node const& n = expression_.nodes()[node];
    if (n.op == Op::number) return n.value;
    bool const simple =
        n.op == Op::multiply || n.op == Op::add || n.op == Op::subtract || n.op == Op::shift_left;
    if (!simple) return std::nullopt;
    auto const a = constant_at(n.a), b = constant_at(n.b);
    if (!a || !b) return std::nullopt;
    switch (n.op) {
      case Op::multiply:
        return *a * *b;
      case Op::add:
        return *a + *b;
      case Op::subtract:
        return *a - *b;
      default:
        return shl(*a, *b);
    }
  }
  std::size_t unary() {
    Nesting const nesting(in_, depth_);
    if (in_.take("-")) return add(Op::minus, unary());
    if (in_.take("+")) return unary();
    if (in_.take("~")) return add(Op::complement, unary());
    if (in_.looking_at("!") && !in_.looking_at("!=") && in_.take("!")) return add(Op::logical_not, unary());
    if (in_.take("(")) {
      std::size_t const inner = conditional();
      in_.expect(")", "to close the parenthesis");
      return inner;
    }
    if (is_digit(in_.peek())) return add(Expression::Node{Op::number, in_.take_literal()});
    std::size_t const at = in_.at();
    std::string_view const name = in_.take_name();
    if ((name == "Sw" || name == "S" || name == "Swizzle") && in_.looking_at("<")) return swizzle(at);
    if (name.empty()) in_.fail_here("expected a number, a variable or '('");
    auto const known = std::find(variables_.begin(), variables_.end(), name);
    if (known == variables_.end()) {
      std::string names;
      for (std::string const& v : variables_) names += (names.empty() ? "" : ", ") + v;
      in_.fail("unknown variable '" + std::string(name) + "'", at, name.size(), "known here: " + names);
    }
    return add(Expression::Node{Op::variable, static_cast<std::uint64_t>(known - variables_.begin())});
  }

  /// `Sw<3,4,3>(EXPR)`: the swizzle as a function, in C's operators.
  std::size_t swizzle(std::size_t from) {
    in_.back_to(std::min(in_.find('>') + 1, in_.text_size()));
    std::size_t const end = in_.at();
    Swizzle const s = parse_swizzle(in_.trimmed(from, end));
    in_.expect("(", "and the argument of the swizzle");
    std::size_t const x = conditional();
    in_.expect(")", "to close the argument");
    auto const number = [&](std::uint64_t n) { return add(Expression::Node{Op::number, n}); };
    std::size_t const source = add(Op::bit_and, x, number(s.source_mask()));
    std::size_t const moved =
        add(s.shift >= 0 ? Op::shift_right : Op::shift_left, source, number(s.distance()));
    return add(Op::bit_xor, x, moved);
  }

  Scanner& in_;
  std::span<std::string const> variables_;
  Expression expression_;
  int depth_ = 0;
};

}  // namespace swizproof
