// C integer expressions: precedence climbing over C's binary operators. `let y = x >> 3;` before one names a part of it.
//
// parse() reads words without a sign; parse_c() the same text in C's types (c_arithmetic.hpp), with casts. Where a variable's range
// is known, its text is read by parse_c(): a difference may be negative, and C's `%`, `/`, `>>` and `<` of such a number depend on its type.
#pragma once

#include "parse/expression/c_arithmetic.hpp"
#include "parse/text/scanner.hpp"

#include <array>
#include <optional>

namespace swizproof {

/// A name that stands for an expression over the same variables: what `let y = x >> 3;` defines, or `threadIdx.x`.
struct NamedExpression {
  std::string name{};
  Expression value{};
  CBounds bounds{};  ///< bounds of the value, for parse_c()
};

/// A variable of type int, or of 64 bits where its values from `least` to `most` do not fit, for parse_c().
[[nodiscard]] inline NamedExpression typed_variable(std::string name, std::uint64_t number, WideInteger least,
                                                    WideInteger most) {
  return {std::move(name),
          Expression::variable(number),
          {{most < (WideInteger{1} << 31) ? 32U : 64U, true}, least, most}};
}

/// A variable of 64 bits without a sign that may be any number, an address or an offset.
[[nodiscard]] inline NamedExpression any_number(std::string name, std::uint64_t number) {
  return {std::move(name), Expression::variable(number), {{64, false}, 0, ~std::uint64_t{0}}};
}

/// Precedence climbing over C's binary operators.
class ExpressionParser {
 public:
  /// `named` are further known names; the variables come first.
  ExpressionParser(Scanner& in, std::span<std::string const> variables,
                   std::span<NamedExpression const> named = {})
      : in_(in), variables_(variables), named_(named.begin(), named.end()) {}

  /// For a text that parse_c() reads once more when the bounds of its variables are known: casts are passed.
  ExpressionParser& before_types() {
    types_follow_ = true;
    return *this;
  }

  /// `let y = x >> 3; x ^ (y & 7)`; in a block, which braces surround, also `return x ^ (y & 7);`
  [[nodiscard]] Expression parse(bool block = false) {
    (void)parts_and_value(block);
    return std::move(expression_);
  }

  /// The same in C's types. Its names are those of `named`, whose bounds are known. Precondition: there are no variables.
  [[nodiscard]] CValue parse_c(bool block = false) {
    c_.emplace(expression_);
    std::size_t const result = parts_and_value(block);
    CBounds const bounds = c_->bounds(result);
    c_.reset();
    return {std::exchange(expression_, {}), bounds};
  }

  /// take_let() in C's types, as parse_c().
  [[nodiscard]] std::optional<NamedExpression> take_c_let() {
    c_.emplace(expression_);
    std::optional<NamedExpression> part = take_let();
    c_.reset();
    return part;
  }

  /// `let y = x >> 3;`, if it comes next. It ends with a semicolon, `in` or the line.
  [[nodiscard]] std::optional<NamedExpression> take_let() {
    std::size_t const from = in_.at();
    if (in_.peek_name() != "let" || is_known("let")) return std::nullopt;
    (void)in_.take_name();
    std::size_t const at = in_.at();
    NamedExpression part{std::string(in_.take_name()), {}};
    if (part.name.empty() || is_digit(part.name[0]))
      in_.fail_here("expected a name after let", "let y = x >> 3; x ^ (y & 7)");
    if (is_known(part.name)) in_.fail("there are two of this name", at, part.name.size());
    if (named_.size() >= most_parts) in_.fail("more than 100 names", from, 3);
    in_.expect("=", "after the name");
    std::size_t const result = conditional();
    if (c_) part.bounds = c_->bounds(result), c_->clear();
    part.value = std::exchange(expression_, {});
    if (in_.take(";") || in_.at_new_line()) return part;
    if (in_.peek_name() == "in") {
      (void)in_.take_name();
      return part;
    }
    in_.fail_here("expected ';' after the value of " + part.name, "let y = x >> 3; x ^ (y & 7)");
  }

  using Op = Expression::Op;
  struct Binary {
    std::string_view token;
    Op op;
    int precedence;  ///< precedence: higher binds tighter
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

 private:
  std::size_t parts_and_value(bool block) {
    while (std::optional<NamedExpression> part = take_let()) named_.push_back(std::move(*part));
    if (block && !is_known("return")) (void)in_.take_word("return");
    std::size_t const result = conditional();
    if (block) (void)in_.take(";");
    return result;
  }
  std::size_t add(Op op, std::size_t a = 0, std::size_t b = 0, std::size_t c = 0) {
    if (!c_) return add({op, 0, a, b, c});
    return in_c([&] { return c_->apply(op, a, b, c); });
  }
  /// An operation of C, whose refusal is of the text before this place.
  template <class Apply>
  std::size_t in_c(Apply const& apply) {
    try {
      return apply();
    } catch (InputError const& error) {  // it has no position
      in_.fail(error.message, start_, in_.at_end_of_token() - start_, error.hint);
    }
  }
  std::size_t add(Expression::Node const& node) {
    if (expression_.nodes().size() >= most_operations)
      in_.fail_here("the expression has more than 1000 operations");
    return expression_.add(node);
  }
  std::size_t conditional() {
    Nesting const nesting(in_, depth_);
    if (depth_ == 1) start_ = in_.at();
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
    if (c_) return check_divisor_in_c(at, operand);
    auto const& nodes = expression_.nodes();
    bool const varies = std::any_of(nodes.begin() + static_cast<std::ptrdiff_t>(first), nodes.end(),
                                    [](auto const& n) { return n.op == Op::variable; });
    if (varies) in_.fail("the divisor must be a constant", operand, in_.at() - operand);
    std::uint64_t const value = value_with_zeros<std::uint64_t>();
    if (value == 0) in_.fail("division by zero", at);
    if (value != value_with_zeros<std::uint32_t>())
      in_.fail("the divisor needs more than 32 bits", operand, in_.at() - operand);
  }
  void check_divisor_in_c(std::size_t at, std::size_t operand) {
    CBounds const divisor = c_->bounds(expression_.nodes().size() - 1);
    if (!divisor.is_constant()) in_.fail("the divisor must be a constant", operand, in_.at() - operand);
    if (divisor.least == 0) in_.fail("division by zero", at);
    if (divisor.least < 0) in_.fail("the divisor is negative", operand, in_.at() - operand);
  }
  /// The value of the expression that was read last. Precondition: it holds no variable.
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
  /// The operand of a sign, which is one level of nesting; parentheses are counted by conditional().
  std::size_t signed_operand() {
    Nesting const nesting(in_, depth_);
    return unary();
  }
  std::size_t primary() {
    if (c_ || types_follow_)
      if (std::optional<IntegerType> const type = take_cast()) return c_ ? cast(*type) : signed_operand();
    if (in_.take("(")) {
      std::size_t const inner = conditional();
      in_.expect(")", "to close the parenthesis");
      return inner;
    }
    std::size_t const at = in_.at();
    if (is_digit(in_.peek())) {
      std::uint64_t const value = in_.take_literal();
      if (!c_) return add(Expression::Node{Op::number, value});
      return in_c([&] { return c_->literal(value, in_.text(at, in_.at_end_of_token())); });
    }
    std::string_view const name = take_dotted_name();
    if (name.empty()) in_.fail_here("expected a number, a variable or '('");
    auto const known = std::find(variables_.begin(), variables_.end(), name);
    if (known != variables_.end())
      return add(Expression::Node{Op::variable, static_cast<std::uint64_t>(known - variables_.begin())});
    auto const part =
        std::find_if(named_.begin(), named_.end(), [&](NamedExpression const& n) { return n.name == name; });
    if (part != named_.end())
      return c_ ? in_c([&] { return c_->copy({part->value, part->bounds}); }) : copy(part->value);
    if ((name == "Sw" || name == "S" || name == "Swizzle") && in_.looking_at("<")) return swizzle(at);
    std::string names;
    for (std::string const& v : variables_) names += (names.empty() ? "" : ", ") + v;
    for (NamedExpression const& n : named_) names += (names.empty() ? "" : ", ") + n.name;
    in_.fail("unknown variable '" + std::string(name) + "'", at, name.size(),
             "known here: " + names + for_loop(std::string(name)));
  }

  /// Advice how an access gets a variable of this name.
  [[nodiscard]] std::string for_loop(std::string name) const {
    bool const of_access = c_ || (!variables_.empty() && variables_.front() == "lane");
    if (!of_access) return {};
    std::string other;  // a `for` has no names with dots
    if (std::size_t const dot = name.find('.'); dot != name.npos)
      other = "; write another name for " + name, name = name.substr(0, 1);
    return other + "; a loop's: 'for " + name + " in 0..31' behind the access";
  }

  /// `(int)`, `int(`, `static_cast<int>(`: the type, before the operand of a cast. The parenthesis of the last two is not passed.
  std::optional<IntegerType> take_cast() {
    std::size_t const from = in_.at();
    bool const in_parentheses = in_.take("("), named = !in_parentheses && in_.take_word("static_cast");
    if (named) in_.expect("<", "and the type of the cast");
    if (!named && is_known(in_.peek_name())) return in_.back_to(from), std::nullopt;
    std::optional<CType> const type = take_c_type(in_);
    bool const casts =
        type && (in_parentheses ? in_.take(")") : (!named || in_.take(">")) && in_.looking_at("("));
    if (named && !casts) in_.fail_here("expected a type of integers, and '>('", "static_cast<int>(x)");
    if (!casts) return in_.back_to(from), std::nullopt;
    if (!type->integer)
      in_.fail("'" + type->name + "' is no type of integers", from, in_.at_end_of_token() - from);
    return type->integer;
  }
  std::size_t cast(IntegerType type) {
    std::size_t const operand = signed_operand();
    return in_c([&] { return c_->convert(operand, type); });
  }

  /// `row`, `threadIdx.x`, and with the % of a PTX register `%laneid`, whose name is without it.
  std::string_view take_dotted_name() {
    if (in_.looking_at("%")) {
      std::size_t const from = in_.at();
      (void)in_.take("%");
      if (!in_.at_letter()) {
        in_.back_to(from);
        return {};
      }
    }
    std::size_t const from = in_.at();
    std::size_t const length = in_.take_name().size();
    std::string_view const behind = in_.rest();
    if (length == 0 || behind.size() < 2 || behind[0] != '.' || !is_name(behind[1]) || is_digit(behind[1]))
      return in_.text(from, from + length);
    (void)in_.take(".");
    (void)in_.take_name();
    return in_.text(from, in_.at_end_of_token());
  }

  [[nodiscard]] bool is_known(std::string_view name) const {
    return std::find(variables_.begin(), variables_.end(), name) != variables_.end() ||
           std::any_of(named_.begin(), named_.end(),
                       [&](NamedExpression const& n) { return n.name == name; });
  }

  /// The nodes of a named part once more, as if it stood here in parentheses.
  std::size_t copy(Expression const& part) {
    std::size_t const shift = expression_.nodes().size();
    std::size_t last = 0;
    for (Expression::Node n : part.nodes()) {
      n.a += shift, n.b += shift, n.c += shift;
      last = add(n);
    }
    return last;
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
    auto const number = [&](std::uint64_t n) {
      return c_ ? c_->literal(n, n > 0x7fffffff ? "0x" : "0") : add(Expression::Node{Op::number, n});
    };
    std::size_t const source = add(Op::bit_and, x, number(s.source_mask()));
    std::size_t const moved =
        add(s.shift >= 0 ? Op::shift_right : Op::shift_left, source, number(s.distance()));
    return add(Op::bit_xor, x, moved);
  }

  static constexpr std::size_t most_parts = 100;

  Scanner& in_;
  std::span<std::string const> variables_;
  std::vector<NamedExpression> named_;
  Expression expression_;
  std::optional<CArithmetic> c_{};  ///< inside parse_c()
  bool types_follow_ = false;       ///< see before_types()
  std::size_t start_ = 0;           ///< start of the outermost expression
  int depth_ = 0;
};

}  // namespace swizproof
