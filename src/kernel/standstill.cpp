#include "standstill.hpp"

#include <swizproof/engine/walk.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::kernel_detail {

using execution::Leaf;
using execution::Phi;

bool Standstill::may_keep(Id term) {
  steps_ = 0;
  return holds({{{term}}});
}

bool Standstill::holds(Case c) {
  constexpr unsigned most_steps = 3000;
  while (true) {
    if (++steps_ > most_steps) return true;
    // A register that changes is found first, then choices between its values.
    std::vector<Part>* const from = !c.work.empty() ? &c.work : !c.of_phis.empty() ? &c.of_phis : &c.choices;
    if (from->empty()) return true;
    bool const chooses = from != &c.work;
    auto const [id, phi] = from->back();
    from->pop_back();
    Node const n = node(id);
    if (id == phi || operand_count(n.op) + (n.op == Op::variable) == 0) continue;
    Id const added = phi != 0 && n.op == Op::bv_add ? choice_of(n) : 0;
    if ((n.op == Op::ite || added != 0) && !chooses) {
      (phi != 0 ? c.of_phis : c.choices).push_back({id, phi});
      continue;
    }
    if (added != 0) {  // nothing is added in one case
      Node const& choice = node(added);
      c.work.push_back({choice.a});
      Part const rest{added == n.a ? n.b : n.a, phi};
      for (bool const is : {false, true})
        if (is_zero(is ? choice.b : choice.c) && known(c, choice.a).value_or(is) == is &&
            holds_where(c, choice.a, is, rest))
          return true;
      return false;
    }
    if (n.op == Op::ite) {
      c.work.push_back({n.a});
      std::optional<bool> const is = known(c, n.a);
      if (!is && holds_where(c, n.a, true, {n.b, phi})) return true;
      if (!is) assume(c, n.a, false);
      c.work.push_back({is.value_or(false) ? n.b : n.c, phi});
      continue;
    }
    if (phi != 0 && has_few(n)) continue;
    if (phi != 0 && takes(id, phi)) return false;
    if (!c.seen.insert(id).second || (has_few(n) && !takes_load(id))) continue;
    if (n.op != Op::variable)
      for (Id const part : operands(n)) c.work.push_back({part});
    else if (!add_leaf(c, id))
      return false;
  }
}

bool Standstill::is_zero(Id id) const { return node(id).op == Op::constant && node(id).value == 0; }

Id Standstill::choice_of(Node const& sum) const {
  for (Id const id : {sum.a, sum.b})
    if (node(id).op == Op::ite && (is_zero(node(id).b) || is_zero(node(id).c))) return id;
  return 0;
}

bool Standstill::has_few(Node const& n) const {
  constexpr std::uint64_t few = 16;  // of the lanes of a warp
  if (n.op == Op::bv_urem) return node(n.b).op == Op::constant && node(n.b).value <= few;
  if (n.op != Op::bv_and) return false;
  Node const& mask = node(node(n.a).op == Op::constant ? n.a : n.b);
  return mask.op == Op::constant && std::uint64_t{1} << std::popcount(mask.value) <= few;
}

bool Standstill::takes_load(Id id) const {
  std::vector<Id> const leaves = kernel_.origins.leaves_of({id});
  return std::any_of(leaves.begin(), leaves.end(), [&](Id leaf) {
    Leaf const& l = *kernel_.execution.leaf_at(leaf);
    return kernel_.flow.encloses(loop_, l.loop) && l.kind != Leaf::Kind::phi && l.kind != Leaf::Kind::counter;
  });
}

bool Standstill::holds_where(Case c, Id condition, bool is, Part then) {
  assume(c, condition, is);
  c.work.push_back(then);
  return holds(std::move(c));
}

void Standstill::assume(Case& c, Id truth, bool is) const {
  Node const& n = node(truth);
  c.truths[truth] = is;
  if (n.op == Op::negation) assume(c, n.a, !is);
  if (n.op == (is ? Op::conjunction : Op::disjunction)) assume(c, n.a, is), assume(c, n.b, is);
}

std::optional<bool> Standstill::known(Case const& c, Id truth) const {
  Node const& n = node(truth);
  if (n.op == Op::truth) return n.value != 0;
  if (auto const found = c.truths.find(truth); found != c.truths.end()) return found->second;
  if (n.op == Op::negation) {
    auto const is = known(c, n.a);
    return is ? std::optional(!*is) : is;
  }
  if (n.op != Op::conjunction && n.op != Op::disjunction) return std::nullopt;
  bool const stops = n.op == Op::disjunction;  // by either part
  auto const a = known(c, n.a), b = known(c, n.b);
  if (a == stops || b == stops) return stops;
  return a && b ? a : std::nullopt;
}

std::vector<Id> Standstill::parts_of(Id id) const {
  Leaf const& l = *kernel_.execution.leaf_at(id);
  std::vector<Id> parts = l.args;
  if (Phi const* const phi = kernel_.execution.phi_at(id)) parts.insert(parts.end(), {phi->init, phi->back});
  if (l.kind == Leaf::Kind::exit) {
    auto const& exits = kernel_.execution.exits[static_cast<std::size_t>(l.left)];
    parts.insert(parts.end(), exits.begin(), exits.end());
  }
  return parts;
}

bool Standstill::add_leaf(Case& c, Id id) const {
  Leaf const& l = *kernel_.execution.leaf_at(id);
  if (!kernel_.flow.encloses(loop_, l.loop)) return true;
  Phi const* const phi = kernel_.execution.phi_at(id);
  if (phi != nullptr && phi->loop == loop_) {
    if (phi->kind != Phi::Kind::same && phi->kind != Phi::Kind::orbit) c.work.push_back({phi->back, id});
    return true;
  }
  for (Id const part : parts_of(id)) c.work.push_back({part});
  return l.kind != Leaf::Kind::counter || l.loop != loop_;
}

bool Standstill::takes(Id term, Id phi) const {
  Walk walk(term);
  while (auto const at = walk.next()) {
    if (*at == phi) return true;
    Node const& n = node(*at);
    if (has_few(n)) continue;
    for (Id const part : operands(n)) walk.add(part);
    if (n.op != Op::variable) continue;
    Phi const* const other = kernel_.execution.phi_at(*at);
    if (kernel_.flow.encloses(loop_, kernel_.execution.leaf_at(*at)->loop) &&
        (other == nullptr || other->loop != loop_))
      walk.add(parts_of(*at));
  }
  return false;
}

}  // namespace swizproof::kernel_detail
