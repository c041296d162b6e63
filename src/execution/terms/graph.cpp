#include "graph.hpp"

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
