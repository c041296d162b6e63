#include <swizproof/engine/term.hpp>

#include <cassert>
#include <utility>

namespace swizproof {

namespace {

bool commutes(Op op) {
  return op == Op::bv_xor || op == Op::bv_and || op == Op::bv_or || op == Op::bv_add || op == Op::bv_mul ||
         op == Op::eq || op == Op::conjunction || op == Op::disjunction;
}

Terms* owner(Formula a, Formula b) { return a.terms != nullptr ? a.terms : b.terms; }

Term binary(Op op, Term a, Term b) {
  assert(a.terms == b.terms && a.width() == b.width());
  return {a.terms, a.terms->add({op, static_cast<std::uint8_t>(a.width()), a.id, b.id})};
}

Formula relation(Op op, Term a, Term b) {
  assert(a.terms == b.terms && a.width() == b.width());
  return {a.terms, a.terms->add({op, 0, a.id, b.id})};
}

}  // namespace

unsigned Term::width() const { return terms->nodes()[id].width; }

namespace {

std::uint64_t hash_of(Node const& n) {
  std::uint64_t h = (std::uint64_t{n.a} << 32 | n.b) * 0x9E3779B97F4A7C15U;
  h ^= (n.value + (std::uint64_t{n.c} << 16 | static_cast<unsigned>(n.op) << 8 | n.width)) *
       0xC2B2AE3D27D4EB4FU;
  return h ^ h >> 32;
}

}  // namespace

Terms::Terms() : known_(64) {
  nodes_.push_back({Op::truth, 0, 0, 0, 0, 0});  // node 0 is false, node 1 is true
  nodes_.push_back({Op::truth, 0, 0, 0, 0, 1});
}

std::size_t Terms::place_of(Node const& node) const {
  std::size_t const mask = known_.size() - 1;
  std::size_t at = hash_of(node) & mask;
  while (known_[at] != 0 && !(nodes_[known_[at]] == node)) at = (at + 1) & mask;
  return at;
}

void Terms::grow() {
  known_.assign(known_.size() * 2, 0);
  for (std::uint32_t id = 2; id < nodes_.size(); ++id) known_[place_of(nodes_[id])] = id;
}

std::uint32_t Terms::kept(Node const& n) {
  std::size_t const place = place_of(n);
  if (known_[place] != 0) return known_[place];
  auto const id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back(n);
  known_[place] = id;
  if (nodes_.size() * 2 > known_.size()) grow();
  return id;
}

Term Terms::constant(unsigned width, std::uint64_t value) {
  return {this, add({Op::constant, static_cast<std::uint8_t>(width), 0, 0, 0, value & low_bits(width)})};
}

Term Terms::variable(unsigned width, unsigned bits, std::string name) {
  assert(bits >= 1 && bits <= width && width <= 64);
  unknowns_.push_back({std::move(name), bits});
  std::uint32_t const id =
      add({Op::variable, static_cast<std::uint8_t>(bits), 0, 0, 0, unknowns_.size() - 1});
  if (bits == width) return {this, id};
  return {this, add({Op::zero_extend, static_cast<std::uint8_t>(width), id})};
}

std::uint32_t Terms::add(Node n) {
  bool const is_binary = n.op >= Op::bv_xor && n.op <= Op::bv_lshr;
  bool const is_relation = n.op == Op::eq || n.op == Op::ult;
  bool const is_connective = n.op == Op::conjunction || n.op == Op::disjunction;
  if (is_binary || is_relation || is_connective) {
    if (commutes(n.op) && n.a > n.b) std::swap(n.a, n.b);
    Node const a = nodes_[n.a], b = nodes_[n.b];
    bool const a_known = a.op == Op::constant || a.op == Op::truth;
    bool const b_known = b.op == Op::constant || b.op == Op::truth;
    if (a_known && b_known) {
      std::uint64_t const value = value_of(n, a.value, b.value);
      if (!is_binary) return static_cast<std::uint32_t>(value);
      return constant(n.width, value).id;
    }
    if (n.op == Op::eq && n.a == n.b) return 1;
    bool const a_zero = a_known && a.value == 0, b_zero = b_known && b.value == 0;
    switch (n.op) {
      case Op::bv_xor:
      case Op::bv_or:
      case Op::bv_add:
        if (a_zero) return n.b;
        if (b_zero) return n.a;
        break;
      case Op::bv_and:
      case Op::bv_mul:
        if (a_zero) return n.a;
        if (b_zero) return n.b;
        break;
      case Op::bv_sub:
      case Op::bv_shl:
      case Op::bv_lshr:
        if (b_zero) return n.a;
        break;
      case Op::conjunction:
        if (a_known) return a.value == 0 ? 0 : n.b;
        if (b_known) return b.value == 0 ? 0 : n.a;
        break;
      case Op::disjunction:
        if (a_known) return a.value != 0 ? 1 : n.b;
        if (b_known) return b.value != 0 ? 1 : n.a;
        break;
      default:
        break;
    }
  } else if (n.op == Op::negation) {
    Node const a = nodes_[n.a];
    if (a.op == Op::truth) return a.value == 0 ? 1 : 0;
    if (a.op == Op::negation) return a.a;
  } else if (n.op == Op::ite) {
    if (nodes_[n.a].op == Op::truth) return nodes_[n.a].value != 0 ? n.b : n.c;
    if (n.b == n.c) return n.b;
  }
  if (n.op == Op::zero_extend || n.op == Op::truncate) {
    Node const a = nodes_[n.a];
    if (a.op == Op::constant) return constant(n.width, a.value).id;
    if (n.op == Op::truncate && a.op == Op::zero_extend && nodes_[a.a].width == n.width) return a.a;
  }
  return kept(n);
}

Term like(Term x, std::uint64_t value) { return x.terms->constant(x.width(), value); }
Term operator^(Term a, Term b) { return binary(Op::bv_xor, a, b); }
Term operator&(Term a, Term b) { return binary(Op::bv_and, a, b); }
Term operator|(Term a, Term b) { return binary(Op::bv_or, a, b); }
Term operator+(Term a, Term b) { return binary(Op::bv_add, a, b); }
Term operator-(Term a, Term b) { return binary(Op::bv_sub, a, b); }
Term operator*(Term a, Term b) { return binary(Op::bv_mul, a, b); }
Term operator/(Term a, Term b) { return binary(Op::bv_udiv, a, b); }
Term operator%(Term a, Term b) { return binary(Op::bv_urem, a, b); }
Term shl(Term a, Term n) { return binary(Op::bv_shl, a, n); }
Term shr(Term a, Term n) { return binary(Op::bv_lshr, a, n); }
Term shl(Term a, std::uint64_t n) { return n < a.width() ? shl(a, like(a, n)) : like(a, 0); }
Term shr(Term a, std::uint64_t n) { return n < a.width() ? shr(a, like(a, n)) : like(a, 0); }

Term resized(Term x, unsigned width) {
  unsigned const from = x.width();
  if (width == from) return x;
  Op const op = width > from ? Op::zero_extend : Op::truncate;
  return {x.terms, x.terms->add({op, static_cast<std::uint8_t>(width), x.id})};
}

Term select(Formula condition, Term yes, Term no) {
  Terms* const terms = yes.terms;
  return {terms, terms->add({Op::ite, static_cast<std::uint8_t>(yes.width()), condition.id, yes.id, no.id})};
}

Term tally(Term x, Formula truth) { return select(truth, x.terms->constant(8, 1), x.terms->constant(8, 0)); }

Formula operator==(Term a, Term b) { return relation(Op::eq, a, b); }
Formula operator<(Term a, Term b) { return relation(Op::ult, a, b); }

Formula operator&&(Formula a, Formula b) {
  Terms* const terms = owner(a, b);
  if (terms == nullptr) return a.id != 0 && b.id != 0;
  return {terms, terms->add({Op::conjunction, 0, a.id, b.id})};
}

Formula operator||(Formula a, Formula b) {
  Terms* const terms = owner(a, b);
  if (terms == nullptr) return a.id != 0 || b.id != 0;
  return {terms, terms->add({Op::disjunction, 0, a.id, b.id})};
}

Formula operator!(Formula a) {
  if (a.terms == nullptr) return a.id == 0;
  return {a.terms, a.terms->add({Op::negation, 0, a.id})};
}

}  // namespace swizproof
