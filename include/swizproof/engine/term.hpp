// Symbolic words: the third kind of word (see word.hpp), and the input language of the SMT engine.
//
// A `Term` is a node of a graph that records what a formula did to its variables; a `Formula` is a
// truth about terms. Running a template on terms builds the graph of exactly that template. Equal
// nodes are shared and constants are folded. No solver is known here: engine/smt.cpp translates graphs.
#pragma once

#include <swizproof/core/word.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace swizproof {

/// Operators of the graph, named as in SMT-LIB's theory of fixed-size bit vectors.
enum class Op : std::uint8_t {
  constant,
  variable,
  bv_xor,
  bv_and,
  bv_or,
  bv_add,
  bv_sub,
  bv_mul,
  bv_udiv,
  bv_urem,
  bv_shl,
  bv_lshr,
  ite,
  zero_extend,
  truncate,  ///< the low bits of a wider word
  eq,
  ult,
  truth,
  negation,
  conjunction,
  disjunction
};

/// One node. `width` is 0 for truths. `value` is the constant, the variable's number, or 0/1.
struct Node {
  Op op;
  std::uint8_t width;
  std::uint32_t a = 0, b = 0, c = 0;
  std::uint64_t value = 0;
  friend bool operator==(Node const&, Node const&) = default;
};

/// Number of operands among a, b, c: none of a leaf, one of a negation or a resized word, three of an ite, else two.
[[nodiscard]] constexpr unsigned operand_count(Op op) {
  switch (op) {
    case Op::constant:
    case Op::variable:
    case Op::truth:
      return 0;
    case Op::zero_extend:
    case Op::truncate:
    case Op::negation:
      return 1;
    case Op::ite:
      return 3;
    default:
      return 2;
  }
}

/// The operands of a node.
class Operands {
 public:
  explicit constexpr Operands(Node const& n) : ids_{n.a, n.b, n.c}, count_(operand_count(n.op)) {}
  [[nodiscard]] constexpr std::uint32_t const* begin() const { return ids_.data(); }
  [[nodiscard]] constexpr std::uint32_t const* end() const { return ids_.data() + count_; }

 private:
  std::array<std::uint32_t, 3> ids_;
  unsigned count_;
};
[[nodiscard]] constexpr Operands operands(Node const& n) { return Operands(n); }

/// The node with fn(id) in place of each operand, in their order.
template <class Fn>
[[nodiscard]] Node with_operands(Node n, Fn const& fn) {
  unsigned const count = operand_count(n.op);
  if (count > 0) n.a = fn(n.a);
  if (count > 1) n.b = fn(n.b);
  if (count > 2) n.c = fn(n.c);
  return n;
}

/// Value of an operation on numbers of `width` bits, as SMT-LIB has it: a division by 0 gives all ones, its remainder the dividend.
/// Truths are 0 and 1. Not of leaves. Checked by Smt.EveryOperatorIsThatOfNumbers and Term.FoldsConstants.
[[nodiscard]] inline std::uint64_t value_of(Node const& n, std::uint64_t a, std::uint64_t b = 0,
                                            std::uint64_t c = 0) {
  std::uint64_t const mask = low_bits(n.width);
  switch (n.op) {
    case Op::bv_xor:
      return a ^ b;
    case Op::bv_and:
    case Op::conjunction:
      return a & b;
    case Op::bv_or:
    case Op::disjunction:
      return a | b;
    case Op::bv_add:
      return (a + b) & mask;
    case Op::bv_sub:
      return (a - b) & mask;
    case Op::bv_mul:
      return (a * b) & mask;
    case Op::bv_udiv:
      return b == 0 ? mask : a / b;
    case Op::bv_urem:
      return b == 0 ? a : a % b;
    case Op::bv_shl:
      return b < n.width ? (a << b) & mask : 0;
    case Op::bv_lshr:
      return b < n.width ? a >> b : 0;
    case Op::truncate:
      return a & mask;
    case Op::zero_extend:
      return a;
    case Op::eq:
      return a == b;
    case Op::ult:
      return a < b;
    case Op::negation:
      return a == 0;
    case Op::ite:
      return a != 0 ? b : c;
    case Op::constant:
    case Op::truth:
    case Op::variable:
      break;
  }
  assert(false && "a leaf has no operands");
  return n.value;
}

class Terms;

/// A word whose value is not known yet. Copies are cheap; the `Terms` it came from must live on.
struct Term {
  Terms* terms = nullptr;
  std::uint32_t id = 0;
  [[nodiscard]] unsigned width() const;
};

/// A truth about terms. A plain bool converts to one.
struct Formula {
  Terms* terms = nullptr;  // null for a plain truth; nodes 0 and 1 of every graph are false and true
  std::uint32_t id = 0;
  Formula() = default;
  Formula(Terms* owner, std::uint32_t node) : terms(owner), id(node) {}
  Formula(bool truth) : id(truth ? 1 : 0) {}  // NOLINT: a plain truth is one of these
};

/// Owns the nodes of one question. Not shared between threads.
class Terms {
 public:
  Terms();
  /// The constant `value` of `width` bits (1..64).
  [[nodiscard]] Term constant(unsigned width, std::uint64_t value);
  /// A new unknown of `bits` bits, zero-extended to `width`.
  [[nodiscard]] Term variable(unsigned width, unsigned bits, std::string name);

  [[nodiscard]] std::vector<Node> const& nodes() const { return nodes_; }
  /// Names and widths of the variables, by number.
  struct Unknown {
    std::string name;
    unsigned bits;
  };
  [[nodiscard]] std::vector<Unknown> const& unknowns() const { return unknowns_; }
  /// Adds a node, or finds the equal one; folds constants and trivial identities.
  [[nodiscard]] std::uint32_t add(Node node);

 private:
  std::vector<Node> nodes_;
  std::vector<Unknown> unknowns_;
  /// The place of a node in `known_`, or the one that it would get.
  [[nodiscard]] std::size_t place_of(Node const& node) const;
  /// Returns the equal node in the graph; adds it if it is new.
  [[nodiscard]] std::uint32_t kept(Node const& node);
  void grow();
  std::vector<std::uint32_t>
      known_;  ///< nodes by their hash: a power of two of places, at most half of them taken; 0: none
};

[[nodiscard]] Term like(Term x, std::uint64_t value);
[[nodiscard]] Term operator^(Term a, Term b);
[[nodiscard]] Term operator&(Term a, Term b);
[[nodiscard]] Term operator|(Term a, Term b);
[[nodiscard]] Term operator+(Term a, Term b);
[[nodiscard]] Term operator-(Term a, Term b);
[[nodiscard]] Term operator*(Term a, Term b);
/// Unsigned quotient and remainder; by zero as SMT-LIB says (all ones, the dividend).
[[nodiscard]] Term operator/(Term a, Term b);
[[nodiscard]] Term operator%(Term a, Term b);
[[nodiscard]] Term shl(Term a, Term n);
[[nodiscard]] Term shr(Term a, Term n);
[[nodiscard]] Term shl(Term a, std::uint64_t n);
[[nodiscard]] Term shr(Term a, std::uint64_t n);
/// x as a word of `width` bits: zeros are added, or the high bits dropped.
[[nodiscard]] Term resized(Term x, unsigned width);
[[nodiscard]] Term select(Formula condition, Term yes, Term no);
[[nodiscard]] Formula operator==(Term a, Term b);
[[nodiscard]] Formula operator<(Term a, Term b);
[[nodiscard]] Formula operator&&(Formula a, Formula b);
[[nodiscard]] Formula operator||(Formula a, Formula b);
[[nodiscard]] Formula operator!(Formula a);
/// 1 or 0 as a term of 8 bits.
[[nodiscard]] Term tally(Term x, Formula truth);

static_assert(Word<Term>);

}  // namespace swizproof
