// C integer expressions: precedence climbing over C's binary operators.
#pragma once

#include "text/scanner.hpp"

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
      refuse_increment();
      std::size_t const at = in_.at();
      (void)in_.take(found->token);
      std::size_t const operand = in_.at(), first = expression_.nodes().size();
      std::size_t const right = binary(found->precedence + 1);
      if (found->op == Op::divide || found->op == Op::remainder) check_divisor(at, operand, first);
      left = add(found->op, left, right);
    }
  }
  /// Divisors must be constants, and not 0 even in words of 32 bits: a division by zero would have to
  /// be guessed. The divisor's nodes are those from `first` on.
  void check_divisor(std::size_t at, std::size_t operand, std::size_t first) {
    auto const& nodes = expression_.nodes();
    bool const varies = std::any_of(nodes.begin() + static_cast<std::ptrdiff_t>(first), nodes.end(),
                                    [](auto const& n) { return n.op == Op::variable; });
    if (varies) in_.fail("the divisor must be a constant", operand, in_.at() - operand);
    std::uint64_t const value = value_with_zeros<std::uint64_t>();
    if (value == 0) in_.fail("division by zero", at);
    if (value != value_with_zeros<std::uint32_t>())
      in_.fail("the divisor needs more than 32 bits", operand, in_.at() - operand);
  }
  /// The value of what was read last, where it holds no variable.
  template <class W>
  W value_with_zeros() const {
    std::vector<W> const zeros(variables_.size(), 0);
    return expression_(std::span<W const>(zeros), W{0});
  }
  /// C reads ++ and -- as one operator each, which changes a variable.
  void refuse_increment() {
    if (in_.looking_at("++") || in_.looking_at("--"))
      in_.fail("++ and -- change a variable, which an expression here cannot", in_.at(), 2,
               "for two signs write - -1");
  }
  std::size_t unary() {
    refuse_increment();
    if (in_.take("-")) return add(Op::minus, signed_operand());
    if (in_.take("+")) return signed_operand();
    if (in_.take("~")) return add(Op::complement, signed_operand());
    if (in_.looking_at("!") && !in_.looking_at("!=") && in_.take("!"))
      return add(Op::logical_not, signed_operand());
    return primary();
  }
  /// Of a sign, which is one level of nesting; parentheses are counted by conditional().
  std::size_t signed_operand() {
    Nesting const nesting(in_, depth_);
    return unary();
  }
  std::size_t primary() {
    if (in_.take("(")) {
      std::size_t const inner = conditional();
      in_.expect(")", "to close the parenthesis");
      return inner;
    }
    if (is_digit(in_.peek())) return add(Expression::Node{Op::number, in_.take_literal()});
    std::size_t const at = in_.at();
    std::string_view const name = in_.take_name();
    if (name.empty()) in_.fail_here("expected a number, a variable or '('");
    auto const known = std::find(variables_.begin(), variables_.end(), name);
    if (known == variables_.end()) {
      if ((name == "Sw" || name == "S" || name == "Swizzle") && in_.looking_at("<")) return swizzle(at);
      std::string names;
      for (std::string const& v : variables_) names += (names.empty() ? "" : ", ") + v;
      in_.fail("unknown variable '" + std::string(name) + "'", at, name.size(), "known here: " + names);
    }
    return add(Expression::Node{Op::variable, static_cast<std::uint64_t>(known - variables_.begin())});
  }

  /// `Sw<3,4,3>(EXPR)`: the swizzle as a function, in C's operators.
  std::size_t swizzle(std::size_t from) {
    Swizzle s;
    in_.back_to(std::min(in_.find('>') + 1, in_.text_size()));
    try {
      s = parse_swizzle(in_.trimmed(from, in_.at()));
    } catch (InputError const& error) {  // its position is relative to the swizzle
      in_.fail(error.message, from + error.at, error.length, error.hint);
    }
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
