#include "division.hpp"

namespace swizproof::execution {

namespace {

/// The operands of a node that commutes, in both orders.
std::pair<std::pair<Id, Id>, std::pair<Id, Id>> orders(Node const& n) { return {{n.a, n.b}, {n.b, n.a}}; }

}  // namespace

std::optional<Id> Division::of(Id choice) {
  Node const last = node(choice);  // t1 < d ? q1 : q1 + 1, or t1 < d ? t1 : t1 - d
  if (last.op != Op::ite || last.width != 32 || node(last.a).op != Op::ult) return std::nullopt;
  Id const t1 = node(last.a).a, d = node(last.a).b;
  Node const first = node(t1);
  if (first.op != Op::ite || node(first.a).op != Op::ult || node(first.a).b != d ||
      node(first.a).a != first.b || !is_less(first.b, first.c, d))
    return std::nullopt;
  std::optional<Rest> const r = rest(first.b, d);
  if (!r) return std::nullopt;
  if (last.b == t1 && is_less(t1, last.c, d)) return graph_.add(Op::bv_urem, 32, r->x, d);
  Node const q1 = node(last.b);
  if (q1.op != Op::ite || q1.a != first.a || q1.b != r->q || !is_next(r->q, q1.c) || !is_next(last.b, last.c))
    return std::nullopt;
  Id const quotient = graph_.add(Op::bv_udiv, 32, r->x, d);
  return graph_.add({Op::ite, 32, is_nothing(d), graph_.constant(32, 2), quotient});
}

std::optional<Division::Rest> Division::rest(Id t, Id d) const {
  Node const n = node(t);
  if (n.op != Op::bv_add) return std::nullopt;
  auto const [sum, swapped] = orders(n);
  for (auto const& [product, x] : {sum, swapped})
    if (Id const q = other_factor(product, d); q != 0 && is_estimate(q, x, d)) return Rest{x, q};
  return std::nullopt;
}

/// The word y of -y * d or y * -d; 0: another node.
Id Division::other_factor(Id product, Id d) const {
  Node const n = node(product);
  if (n.op != Op::bv_mul) return 0;
  auto const [factors, swapped] = orders(n);
  for (auto const& [x, y] : {factors, swapped}) {
    Node const m = node(x);
    if (m.op == Op::bv_sub && is_zero(m.a)) {
      if (y == d) return m.b;
      if (m.b == d) return y;
    }
  }
  return 0;
}

bool Division::is_estimate(Id q, Id x, Id d) const {
  auto const factors = high_product(q);
  if (!factors) return false;
  auto const [a, b] = *factors;
  return (is_word(a, x) && is_reciprocal(b, d)) || (is_word(b, x) && is_reciprocal(a, d));
}

/// The upper word of e * m + 2^32 e, extended to 64 bits, with m = -e * d.
bool Division::is_reciprocal(Id wide, Id d) const {
  if (node(wide).op != Op::zero_extend) return false;
  Node const r = node(node(wide).a);
  if (r.op != Op::truncate || r.width != 32) return false;
  Node const shifted = node(r.a);
  if (shifted.op != Op::bv_lshr || !graph_.is_constant(shifted.b) || node(shifted.b).value != 32)
    return false;
  Node const sum = node(shifted.a);
  if (sum.op != Op::bv_add) return false;
  auto const [one, other] = orders(sum);
  for (auto const& [product, up] : {one, other}) {
    Node const moved = node(up);
    if (node(product).op != Op::bv_mul || moved.op != Op::bv_shl || !graph_.is_constant(moved.b) ||
        node(moved.b).value != 32 || node(moved.a).op != Op::zero_extend)
      continue;
    Id const e = node(moved.a).a;
    auto const [factors, swapped] = orders(node(product));
    for (auto const& [x, m] : {factors, swapped}) {
      bool const newton = is_word(x, e) && node(m).op == Op::zero_extend && other_factor(node(m).a, d) == e;
      if (newton && is_first_estimate(e, d)) return true;
    }
  }
  return false;
}

bool Division::is_first_estimate(Id e, Id d) const {
  Id const biased = argument(e, "F2I.FTZ.U32.TRUNC.NTZ");
  if (biased == 0 || node(biased).op != Op::bv_add) return false;
  auto const [one, other] = orders(node(biased));
  for (auto const& [y, bias] : {one, other})
    if (graph_.is_constant(bias) && node(bias).value == 0xffffffe)
      return argument(argument(y, "MUFU.RCP"), "I2F.U32.RP", "I2F.RP") == d;
  return false;
}

Id Division::argument(Id id, std::string_view name, std::string_view or_name) const {
  Leaf const* const l = id == 0 ? nullptr : graph_.leaf_at(id);
  if (l == nullptr || l->kind != Leaf::Kind::opaque) return 0;
  std::string_view const is = program_.names[l->extra];
  return is == name || is == or_name ? l->args[0] : 0;
}

std::optional<std::pair<Id, Id>> Division::high_product(Id id) const {
  Node const n = node(id);
  if (n.op != Op::truncate || n.width != 32) return std::nullopt;
  Node const shifted = node(n.a);
  if (shifted.op != Op::bv_lshr || shifted.width != 64 || !graph_.is_constant(shifted.b) ||
      node(shifted.b).value != 32 || node(shifted.a).op != Op::bv_mul)
    return std::nullopt;
  return std::pair{node(shifted.a).a, node(shifted.a).b};
}

bool Division::is_next(Id x, Id more) const {
  Node const n = node(more);
  if (n.op != Op::bv_add) return false;
  auto const [one, other] = orders(n);
  for (auto const& [a, by] : {one, other})
    if (a == x && graph_.is_constant(by) && node(by).value == 1) return true;
  return false;
}

bool Division::is_less(Id t, Id less, Id d) const {
  Node const n = node(less);
  if (n.op == Op::bv_sub) return n.a == t && n.b == d;
  return n.op == Op::bv_add && ((n.a == t && is_minus(n.b, d)) || (n.b == t && is_minus(n.a, d)));
}

bool Division::is_minus(Id id, Id x) const {
  Node const n = node(id);
  return n.op == Op::bv_sub && is_zero(n.a) && n.b == x;
}

/// True for the word x, extended by zeros.
bool Division::is_word(Id wide, Id x) const {
  if (graph_.is_constant(wide) && graph_.is_constant(x)) return node(wide).value == node(x).value;
  Node const n = node(wide);
  if (n.op != Op::zero_extend) return false;
  return n.a == x || (node(x).op == Op::zero_extend && node(x).a == n.a);
}

/// d == 0; of |y| it is y == 0.
Id Division::is_nothing(Id d) {
  Node const n = node(d);
  if (n.op == Op::ite && is_minus(n.b, n.c)) d = n.c;
  if (n.op == Op::ite && is_minus(n.c, n.b)) d = n.b;
  return graph_.add(Op::eq, 0, d, graph_.constant(32, 0));
}

}  // namespace swizproof::execution
