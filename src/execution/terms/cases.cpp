#include "cases.hpp"

namespace swizproof::execution {

Id Cases::pick(Id condition, Id yes, Id no) {
  if (yes == no || condition == 1) return yes;
  if (condition == 0) return no;
  yes = in_case(yes, condition, true), no = in_case(no, condition, false);
  if (yes == no) return yes;
  // A register that was not written may hold anything, so also the other value.
  if (graph_.is_undefined(no)) return yes;
  if (graph_.is_undefined(yes)) return no;
  unsigned const w = graph_.width(yes);
  if (w == 0) return graph_.either(graph_.both(condition, yes), graph_.both(graph_.negate(condition), no));
  if (node(condition).op == Op::negation)
    return graph_.add({Op::ite, static_cast<std::uint8_t>(w), node(condition).a, no, yes});
  return graph_.add({Op::ite, static_cast<std::uint8_t>(w), condition, yes, no});
}

Id Cases::where(Id truth, Id term) {
  Known known;
  return know(truth, true, known) ? under(term, known, 0) : term;
}

/// A value where the truth that chooses it is known: registers that two guarded instructions write.
Id Cases::in_case(Id value, Id condition, bool is) {
  bool const variable = node(value).op == Op::variable;
  if (graph_.is_constant(value) || (variable && !graph_.is(value, Leaf::Kind::load))) return value;
  Known known;
  known.most_terms = 40;
  return know(condition, is, known) ? under(value, known, 0) : value;
}

/// Takes a truth for known, and what follows from it; false if that is nothing.
bool Cases::know(Id truth, bool is, Known& known) {
  if (truth < 2 || known.truths.size() > 400) return false;
  known.truths[truth] = is;
  Node const n = node(truth);
  if (n.op == Op::negation) know(n.a, !is, known);
  if ((n.op == Op::conjunction && is) || (n.op == Op::disjunction && !is))
    know(n.a, is, known), know(n.b, is, known);
  return true;
}

std::optional<bool> Cases::known_truth(Id id, Known const& known, unsigned depth) const {
  if (id < 2) return id == 1;
  if (auto const found = known.truths.find(id); found != known.truths.end()) return found->second;
  Node const& n = node(id);
  if (depth > 8) return std::nullopt;
  if (n.op == Op::negation) {
    auto const a = known_truth(n.a, known, depth + 1);
    return a ? std::optional(!*a) : std::nullopt;
  }
  if (n.op != Op::conjunction && n.op != Op::disjunction) return std::nullopt;
  auto const a = known_truth(n.a, known, depth + 1), b = known_truth(n.b, known, depth + 1);
  bool const decides = n.op == Op::disjunction;
  if ((a && *a == decides) || (b && *b == decides)) return decides;
  return a && b ? std::optional(!decides) : std::nullopt;
}

/// A term where truths are known: without the choices that they make.
Id Cases::under(Id id, Known& known, unsigned depth) {
  Node const n = node(id);
  if (Phi const* const phi = graph_.phi_at(id); phi != nullptr && phi->kind == Phi::Kind::same) {
    Id const init = phi->init, held = under(init, known, depth + 1);
    return held == init ? id : held;
  }
  if (n.op == Op::variable) return load_under(id, known, depth);
  if (graph_.is_constant(id) || depth > 300) return id;
  if (n.width == 0)
    if (std::optional<bool> const is = known_truth(id, known)) return *is ? 1 : 0;
  if (auto const found = known.terms.find(id); found != known.terms.end()) return found->second;
  if (known.terms.size() > known.most_terms) return id;
  known.terms[id] = id;
  Id const out =
      n.op == Op::ite ? choice_under(n, id, known, depth + 1) : operation_under(n, id, known, depth + 1);
  return known.terms[id] = out;
}

Id Cases::choice_under(Node const& n, Id id, Known& known, unsigned depth) {
  if (std::optional<bool> const is = known_truth(n.a, known)) return under(*is ? n.b : n.c, known, depth);
  Id const a = under(n.a, known, depth), b = under(n.b, known, depth), c = under(n.c, known, depth);
  if (a == n.a && b == n.b && c == n.c) return id;
  if (b == c || a < 2) return a == 0 ? c : b;
  return graph_.add({Op::ite, n.width, a, b, c});
}

Id Cases::operation_under(Node const& n, Id id, Known& known, unsigned depth) {
  Node m = n;
  m.a = under(n.a, known, depth);
  if (operand_count(n.op) > 1) m.b = under(n.b, known, depth);
  if (m.a == n.a && m.b == n.b) return id;
  switch (n.op) {
    case Op::negation:
      return graph_.negate(m.a);
    case Op::conjunction:
      return graph_.both(m.a, m.b);
    case Op::disjunction:
      return graph_.either(m.a, m.b);
    case Op::bv_add:
      return arithmetic_.sum(n.width, m.a, m.b);
    default:
      return graph_.add(m);
  }
}

/// A load from memory where truths are known of its address: another leaf, of the same load.
Id Cases::load_under(Id id, Known& known, unsigned depth) {
  if (!graph_.is(id, Leaf::Kind::load) || depth > 300) return id;
  if (auto const found = known.terms.find(id); found != known.terms.end()) return found->second;
  if (known.terms.size() > known.most_terms) return id;
  known.terms[id] = id;
  Leaf of = *graph_.leaf_at(id);
  Id const address = under(of.args[0], known, depth + 1);
  if (address == of.args[0]) return id;
  of.args = {address};
  auto const [at, fresh] = loads_.try_emplace({id, address}, 0);
  if (fresh) at->second = graph_.add_leaf(of, graph_.width(id));
  return known.terms[id] = at->second;
}

}  // namespace swizproof::execution
