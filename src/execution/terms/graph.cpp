#include "graph.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace swizproof::execution {

bool Graph::is_undefined(Id id) const {
  if (node(id).op == Op::eq && node(node(id).a).op == Op::variable) id = node(id).a;
  if (node(id).op == Op::eq && node(node(id).b).op == Op::variable) id = node(id).b;
  return is(id, Leaf::Kind::undefined);
}

Id Graph::leaf_value(Leaf leaf, unsigned bits) {
  Id const id = add_leaf(std::move(leaf), bits);
  return bits == 1 ? truth_of(id) : id;
}

Id Graph::word_of(Id truth) {
  return width(truth) == 0 ? add({Op::ite, 1, truth, constant(1, 1), constant(1, 0)}) : truth;
}

std::optional<Graph::Choice> Graph::choice(Id id, unsigned depth) const {
  constexpr unsigned deepest = 4;
  Node const n = node(id);
  if (n.op == Op::constant) return Choice{1, n.value, n.value};
  if (n.op == Op::ite && node(n.b).op == Op::constant && node(n.c).op == Op::constant)
    return Choice{n.a, node(n.b).value, node(n.c).value};
  if (n.width == 0 || n.op == Op::variable || n.op == Op::ite || depth == deepest) return std::nullopt;
  auto const a = choice(n.a, depth + 1), b = operand_count(n.op) == 1 ? a : choice(n.b, depth + 1);
  if (!a || !b || (a->truth != b->truth && a->truth != 1 && b->truth != 1)) return std::nullopt;
  return Choice{std::max(a->truth, b->truth), value_of(n, a->yes, b->yes), value_of(n, a->no, b->no)};
}

std::optional<Id> Graph::relation_of_choices(Op op, Id a, Id b) {
  auto const x = choice(a, 0), y = choice(b, 0);
  if (!x || !y || (x->truth != y->truth && x->truth != 1 && y->truth != 1)) return std::nullopt;
  Node const relation{op, 0};
  bool const yes = value_of(relation, x->yes, y->yes) != 0, no = value_of(relation, x->no, y->no) != 0;
  Id const truth = std::max(x->truth, y->truth);
  return yes == no ? (yes ? 1 : 0) : yes ? truth : negate(truth);
}

bool Graph::opposite(Id a, Id b) const {
  return (node(a).op == Op::negation && node(a).a == b) || (node(b).op == Op::negation && node(b).a == a) ||
         (a < 2 && b < 2 && a != b);
}

Id Graph::both(Id a, Id b) {
  if (a == b) return a;
  if (opposite(a, b)) return 0;
  return add({Op::conjunction, 0, a, b});
}

Id Graph::either(Id a, Id b) {
  if (a == b) return a;
  if (opposite(a, b)) return 1;
  // (p && q) || (p && !q) is p
  Node const x = node(a), y = node(b);
  if (x.op == Op::conjunction && y.op == Op::conjunction)
    for (auto const& [p, q, r, s] : {std::array<Id, 4>{x.a, x.b, y.a, y.b},
                                     {x.b, x.a, y.a, y.b},
                                     {x.a, x.b, y.b, y.a},
                                     {x.b, x.a, y.b, y.a}})
      if (p == r && opposite(q, s)) return p;
  return add({Op::disjunction, 0, a, b});
}

}  // namespace swizproof::execution
