#include "truths.hpp"

#include "evaluation.hpp"

#include <utility>

namespace swizproof::execution {

Node const& Truths::node(Id id) const { return in_.execution.node(id); }

LaneTruths Truths::value(Id id) {
  if (LaneTruths const* const found = in_.assumed.find(kept_, id)) return *found;
  if (in_.depth > Evaluation::deepest)
    return {0, 0, 0, in_.atoms.stuck({Request::Kind::none, 0, 0, "a condition is nested too deeply"}).why,
            true};
  if (in_.depth == 0) in_.words.drop_forgotten();
  in_.count_step();
  return in_.assumed.keep(kept_, id, [&] {
    ++in_.depth;
    LaneTruths const t = compute(id);
    --in_.depth;
    return t;
  });
}

LaneTruths Truths::compute(Id id) {
  Node const n = node(id);
  if (n.op == Op::truth) return atom(id);
  if (n.op == Op::eq || n.op == Op::ult) return relation(id);
  if (n.op != Op::negation) return of_two(n);
  LaneTruths t = value(n.a);
  std::swap(t.yes, t.no);
  if (t.atom != 0) t.atom = in_.execution.terms.add({Op::negation, 0, t.atom});
  return t;
}

/// A conjunction or disjunction. What one of the truths settles needs no other.
LaneTruths Truths::of_two(Node const& n) {
  bool const conjunction = n.op == Op::conjunction;
  LaneTruths const a = value(n.a), b = value(n.b);
  LaneTruths t;
  t.yes = conjunction ? a.yes & b.yes : a.yes | b.yes;
  t.no = conjunction ? a.no | b.no : a.no & b.no;
  std::uint32_t const rest = t.rest();
  if (rest == 0) return t;
  std::uint32_t const only_a = rest & a.rest() & ~b.rest(), only_b = rest & b.rest() & ~a.rest(),
                      both = rest & a.rest() & b.rest();
  bool const stuck_a = (only_a | both) != 0 && a.stuck, stuck_b = (only_b | both) != 0 && b.stuck;
  t.stuck = stuck_a || stuck_b;
  t.why = stuck_a ? a.why : stuck_b ? b.why : (only_a | both) != 0 && a.atom == 0 ? a.why : b.why;
  Id found = 0;
  bool mixed = false;
  auto const meet = [&](std::uint32_t lanes, Id atom) {
    if (lanes == 0) return;
    mixed = mixed || atom == 0 || (found != 0 && found != atom);
    found = atom;
  };
  meet(only_a, a.atom);
  meet(only_b, b.atom);
  if (both != 0)
    meet(both, a.atom != 0 && b.atom != 0
                   ? (a.atom == b.atom ? a.atom : in_.execution.terms.add({n.op, 0, a.atom, b.atom}))
                   : 0);
  if (mixed || found == 0) return t;
  LaneTruths const known = atom(found);  // it may be assumed as a whole
  t.atom = known.atom;
  t.yes |= known.yes & rest, t.no |= known.no & rest;
  return t;
}

/// A truth that all lanes share, or what is assumed of it.
LaneTruths Truths::atom(Id id) {
  LaneTruths t;
  if (node(id).op == Op::truth) {
    (node(id).value != 0 ? t.yes : t.no) = ~0U;
    return t;
  }
  bool negated = false;
  Id at = id;
  while (node(at).op == Op::negation) at = node(at).a, negated = !negated;
  if (std::optional<bool> const assumed = in_.assumed.truth_of(at)) {
    (*assumed != negated ? t.yes : t.no) = ~0U;
    return t;
  }
  t.atom = id;
  return t;
}

LaneTruths Truths::relation(Id id) {
  Node const n = node(id);
  unsigned const w = node(n.a).width;
  LaneTruths t;
  Lanes const &a = in_.words.value(n.a, w), &b = in_.words.value(n.b, w);
  if (!a.split() || !b.split()) {
    t.stuck = a.state == Lanes::State::stuck || b.state == Lanes::State::stuck;
    Lanes::State const worst = t.stuck ? Lanes::State::stuck : Lanes::State::varying;
    t.why = a.state == worst ? a.why : b.why;
    return t;
  }
  compare(n, a, b, t);
  if (t.rest() == 0) return t;
  if (a.uniform() && b.uniform()) {
    Node m = n;
    m.a = in_.atoms.node_of(a, w), m.b = in_.atoms.node_of(b, w);
    return atom(in_.execution.terms.add(m));
  }
  t.why = id;  // a number of the lane is compared with a value that is not known
  return t;
}

/// Lanes in which a comparison of two sums is settled by their numbers, bounds or low bits.
void Truths::compare(Node const& n, Lanes const& a, Lanes const& b, LaneTruths& t) {
  unsigned const w = node(n.a).width;
  auto const set = [&](unsigned lane, bool yes) { (yes ? t.yes : t.no) |= 1U << lane; };
  if (a.pure() && b.pure()) {
    for (unsigned l = 0; l < 32; ++l) set(l, n.op == Op::eq ? a.lane[l] == b.lane[l] : a.lane[l] < b.lane[l]);
    return;
  }
  Sums::Range const x = in_.sums.range(a, w), y = in_.sums.range(b, w);
  for (unsigned l = 0; l < 32; ++l) {
    if (x.most[l] < y.least[l])
      set(l, n.op == Op::ult);
    else if (n.op == Op::ult ? x.least[l] >= y.most[l] : x.least[l] > y.most[l])
      set(l, false);
  }
  if (n.op != Op::eq) return;
  Lanes const d = in_.sums.sum(a, b, ~std::uint64_t{0}, w);
  unsigned const zeros = in_.sums.zeros_of(d, w);
  for (unsigned l = 0; l < 32; ++l) {
    if (d.terms.empty())
      set(l, d.lane[l] == 0);
    else if ((d.lane[l] & low_bits(zeros)) != 0)
      set(l, false);
  }
}

}  // namespace swizproof::execution
