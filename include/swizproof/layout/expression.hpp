// Integer expressions that users write: `row = lane/8 + 4*i`, `fn(x) = x ^ ((x >> 3) & 0x70)`.
//
// C's operators and precedence, on unsigned words: arithmetic wraps at the word's width, `/` `%`
// `<` `>>` are unsigned, a comparison gives 1 or 0, a shift by the width or more gives 0. Divisors
// are constants other than 0, which the parser checks.
#pragma once

#include <swizproof/core/word.hpp>

#include <cassert>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace swizproof {

/// An expression over numbered variables, as a list of nodes: operands before operators.
class Expression {
 public:
  enum class Op : std::uint8_t {
    number,
    variable,
    minus,
    complement,
    logical_not,
    multiply,
    divide,
    remainder,
    add,
    subtract,
    shift_left,
    shift_right,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    bit_and,
    bit_xor,
    bit_or,
    logical_and,
    logical_or,
    conditional
  };
  struct Node {
    Op op;
    std::uint64_t value = 0;  ///< the number, or the variable's index
    std::size_t a = 0, b = 0, c = 0;
    friend bool operator==(Node const&, Node const&) = default;
  };

  /// Appends a node and returns its place.
  std::size_t add(Node node) {
    nodes_.push_back(node);
    return nodes_.size() - 1;
  }
  /// A variable by its number, to write expressions in C++: `Expression const lane = Expression::variable(0);`
  [[nodiscard]] static Expression variable(std::uint64_t number) {
    Expression e;
    e.add({Op::variable, number});
    return e;
  }
  Expression() = default;
  Expression(std::uint64_t number) { add({Op::number, number}); }  // NOLINT: `lane % 8` reads as it is meant

  /// `lane % 8 + 8 * (lane / 16)` as the parser reads the same text.
  friend Expression operator*(Expression const& a, Expression const& b) { return joined(Op::multiply, a, b); }
  friend Expression operator/(Expression const& a, Expression const& b) { return joined(Op::divide, a, b); }
  friend Expression operator%(Expression const& a, Expression const& b) {
    return joined(Op::remainder, a, b);
  }
  friend Expression operator+(Expression const& a, Expression const& b) { return joined(Op::add, a, b); }
  friend Expression operator^(Expression const& a, Expression const& b) { return joined(Op::bit_xor, a, b); }
  friend Expression operator&&(Expression const& a, Expression const& b) {
    return joined(Op::logical_and, a, b);
  }

  /// True if both are written alike, not if they have equal values.
  friend bool operator==(Expression const&, Expression const&) = default;
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] std::vector<Node> const& nodes() const { return nodes_; }

  /// The value under `variables`. `like_me` gives the kind and width of word.
  template <Word W>
  [[nodiscard]] W operator()(std::span<W const> variables, W const& like_me) const {
    if constexpr (std::is_integral_v<W>) {
      // The commonest expression is one variable, and there are millions of values.
      if (nodes_.size() == 1 && nodes_[0].op == Op::variable) return variables[nodes_[0].value];
      static thread_local std::vector<W> kept;
      return value_in(kept, variables, like_me);
    } else {
      std::vector<W> values;
      return value_in(values, variables, like_me);
    }
  }

 private:
  /// The value under `variables`, with `values` for those of the nodes.
  template <Word W>
  [[nodiscard]] W value_in(std::vector<W>& values, std::span<W const> variables, W const& like_me) const {
    values.clear();
    values.reserve(nodes_.size());
    W const zero = like(like_me, 0);
    for (Node const& n : nodes_) {
      // Operands that a node does not have are its own predecessors, harmless to look at.
      auto const at = [&](std::size_t i) -> W const& { return i < values.size() ? values[i] : zero; };
      values.push_back(value_of<W>(n, variables, at(n.a), at(n.b), at(n.c), zero));
    }
    return values.back();
  }
  /// The value of a node whose operands are a, b and c.
  template <Word W>
  [[nodiscard]] static W value_of(Node const& n, std::span<W const> variables, W const& a, W const& b,
                                  W const& c, W const& zero) {
    W const one = like(zero, 1);
    auto const number = [&](truth_of<W> truth) { return select(truth, one, zero); };
    switch (n.op) {
      case Op::number:
        return like(zero, n.value);
      case Op::variable:
        return variables[n.value];
      case Op::minus:
        return zero - a;
      case Op::complement:
        return zero - a - one;
      case Op::logical_not:
        return number(a == zero);
      case Op::multiply:
        return a * b;
      case Op::divide:
        return a / b;
      case Op::remainder:
        return a % b;
      case Op::add:
        return a + b;
      case Op::subtract:
        return a - b;
      case Op::shift_left:
        return shl(a, b);
      case Op::shift_right:
        return shr(a, b);
      case Op::less:
        return number(a < b);
      case Op::less_equal:
        return number(!(b < a));
      case Op::greater:
        return number(b < a);
      case Op::greater_equal:
        return number(!(a < b));
      case Op::equal:
        return number(a == b);
      case Op::not_equal:
        return number(!(a == b));
      case Op::bit_and:
        return a & b;
      case Op::bit_xor:
        return a ^ b;
      case Op::bit_or:
        return a | b;
      case Op::logical_and:
        return number(!(a == zero) && !(b == zero));
      case Op::logical_or:
        return number(!(a == zero) || !(b == zero));
      case Op::conditional:
        return select(a == zero, c, b);
    }
    assert(false);
    return zero;
  }
  static Expression joined(Op op, Expression a, Expression const& b) {
    std::size_t const left = a.nodes_.size() - 1, shift = a.nodes_.size();
    for (Node n : b.nodes_) {
      n.a += shift, n.b += shift, n.c += shift;
      a.nodes_.push_back(n);
    }
    a.add({op, 0, left, a.nodes_.size() - 1});
    return a;
  }

  std::vector<Node> nodes_;
};

/// src/layout/offsets.cpp compiles that of numbers, once and with more optimisation.
extern template std::uint32_t Expression::operator()(std::span<std::uint32_t const>,
                                                     std::uint32_t const&) const;
extern template std::uint64_t Expression::operator()(std::span<std::uint64_t const>,
                                                     std::uint64_t const&) const;

/// As C writes it, with the fewest parentheses; products without blanks: `lane%8 + 8*(lane/16)`. For expressions
/// of numbers, variables, `* / % + ^`. Checked by NamedAccesses.AreWhatTheirTextsSay.
[[nodiscard]] std::string to_string(Expression const& expression, std::span<std::string const> variables);

}  // namespace swizproof
