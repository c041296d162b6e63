#include "loops.hpp"

#include <swizproof/engine/walk.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace swizproof::execution {

namespace {

/// Finds the registers at headers that hold copies of one value.
class Copies {
 public:
  Copies(Execution& out, Graph const& graph, Scopes& scopes) : out_(out), graph_(graph), scopes_(scopes) {}

  void close() {
    std::vector<std::vector<Behind>> values(out_.phis.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      Phi const& phi = out_.phis[i];
      bool const known = values_of(phi.init, values[i]) && values_of(phi.back, values[i]);
      holds_[phi.node] = known ? nothing_yet : several_values;
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < values.size(); ++i) {
        Id& own = holds_[out_.phis[i].node];
        if (own == several_values) continue;
        Id const all = held(i, values[i]);
        if (all != own) own = all, changed = true;
      }
    }
    for (Phi& phi : out_.phis)
      if (Id const all = holds_[phi.node]; all < several_values) phi.kind = Phi::Kind::same, phi.init = all;
  }

 private:
  /// A value behind loops that it was computed in.
  struct Behind {
    Id value = 0;
    Id exit = 0;                       ///< the value behind all of `left`; 0: it left none
    std::vector<std::int32_t> left{};  ///< the loops
    /// An order for sets; written out, for libc++ 14 has no operator<=> of vectors.
    bool operator<(Behind const& other) const {
      return std::tie(value, exit, left) < std::tie(other.value, other.exit, other.left);
    }
  };

  /// Values that a register at a header takes, over the choices of its term: appended to `into`; false if they are too many.
  bool values_of(Id id, std::vector<Behind>& into) const {
    std::vector<Behind> work{{.value = id}};
    std::set<Behind> seen;
    while (!work.empty()) {
      Behind const at = work.back();
      work.pop_back();
      if (!seen.insert(at).second) continue;
      if (seen.size() > 200) return false;
      Node const& n = node(at.value);
      if (n.op == Op::ite && n.width != 1) {
        for (Id const side : {n.b, n.c}) work.push_back({side, at.exit, at.left});
      } else if (graph_.is(at.value, Leaf::Kind::exit)) {
        Leaf const& l = *graph_.leaf_at(at.value);
        Behind inside{l.args[0], at.exit != 0 ? at.exit : at.value, at.left};
        inside.left.push_back(l.left);
        work.push_back(std::move(inside));
      } else {
        into.push_back(at);
      }
    }
    return true;
  }

  /// The one value that a register holds, as far as it is known of the others.
  Id held(std::size_t index, std::vector<Behind> const& values) {
    Phi const& phi = out_.phis[index];
    Id all = nothing_yet;
    for (auto const& [v, exit, left] : values) {
      auto const other = holds_.find(v);
      Id one = v;
      if (other == holds_.end())
        one = graph_.is_undefined(v) ? nothing_yet : v;
      else if (other->second != several_values)
        one = other->second;
      auto const changes = [&](std::int32_t loop) { return scopes_.changes_in(one, loop); };
      if (one != nothing_yet && std::any_of(left.begin(), left.end(), changes)) one = exit;
      if (one != nothing_yet && one != all) all = all == nothing_yet ? one : several_values;
    }
    bool const changes = all < several_values && (all == phi.node || scopes_.changes_in(all, phi.loop));
    return changes ? several_values : all;
  }

  [[nodiscard]] Node const& node(Id id) const { return graph_.node(id); }

  static constexpr Id nothing_yet = ~0U, several_values = ~1U;
  Execution& out_;
  Graph const& graph_;
  Scopes& scopes_;
  std::unordered_map<Id, Id> holds_{};  ///< by the node of a register at a header
};

}  // namespace

void close_copies(Execution& out, Graph const& graph, Scopes& scopes) { Copies(out, graph, scopes).close(); }

namespace {

/// Writes terms as linear sums.
class LinearSums {
 public:
  /// A sum: constants and coefficients of other nodes, modulo 2^width.
  struct Sum {
    std::map<Id, std::uint64_t> terms{};
    std::uint64_t constant = 0;
  };
  LinearSums(Graph& graph, Arithmetic& arithmetic, Cases& cases)
      : graph_(graph), arithmetic_(arithmetic), cases_(cases) {}

  /// Adds factor * term to a sum; false if it has too many terms.
  bool add(Id id, std::uint64_t factor, Sum& into, unsigned depth = 0) {
    if (depth > 200 || into.terms.size() > 64) return false;
    Node const n = graph_.node(id);
    auto const is = [&](Id x) { return graph_.node(x).op == Op::constant; };
    auto const value = [&](Id x) { return graph_.node(x).value; };
    if (n.op == Op::constant) return into.constant += factor * n.value, true;
    if (n.op == Op::bv_add) return add(n.a, factor, into, depth + 1) && add(n.b, factor, into, depth + 1);
    if (n.op == Op::bv_sub) return add(n.a, factor, into, depth + 1) && add(n.b, 0 - factor, into, depth + 1);
    if (n.op == Op::bv_mul && is(n.a)) return add(n.b, factor * value(n.a), into, depth + 1);
    if (n.op == Op::bv_mul && is(n.b)) return add(n.a, factor * value(n.b), into, depth + 1);
    if (n.op == Op::bv_shl && is(n.b))
      return add(n.a, value(n.b) < 64 ? factor << value(n.b) : 0, into, depth + 1);
    if (n.op == Op::ite && add_choice(n, factor, into, depth)) return true;
    into.terms[id] += factor;
    return true;
  }
  /// sum + factor * id.
  Id plus(unsigned width, Id sum, Id id, std::uint64_t factor) {
    return arithmetic_.sum(width, sum, graph_.add(Op::bv_mul, width, id, graph_.constant(width, factor)));
  }

 private:
  /// c ? x + a : x + b is x + (c ? a : b); false if the two have nothing in common.
  bool add_choice(Node const& n, std::uint64_t factor, Sum& into, unsigned depth) {
    Sum yes, no;
    if (depth > 20 || !add(n.b, 1, yes, depth + 1) || !add(n.c, 1, no, depth + 1)) return false;
    std::uint64_t const mask = low_bits(n.width);
    std::vector<Id> common;
    for (auto const& [id, k] : yes.terms)
      if (auto const other = no.terms.find(id);
          (k & mask) != 0 && other != no.terms.end() && ((other->second ^ k) & mask) == 0)
        common.push_back(id);
    if (common.empty()) return false;
    for (Id const id : common) {
      into.terms[id] += factor * yes.terms[id];
      yes.terms.erase(id), no.terms.erase(id);
    }
    Id const if_no = node_of(no, n.width), if_yes = node_of(yes, n.width);
    into.terms[cases_.pick(n.a, if_yes, if_no)] += factor;
    return true;
  }
  Id node_of(Sum const& sum, unsigned width) {
    Id out = graph_.constant(width, sum.constant);
    for (auto const& [id, factor] : sum.terms) out = plus(width, out, id, factor);
    return out;
  }

  Graph& graph_;
  Arithmetic& arithmetic_;
  Cases& cases_;
};

}  // namespace

void close_sum(Phi& phi, Graph& graph, Arithmetic& arithmetic, Cases& cases, Scopes& scopes) {
  if (phi.back == phi.node) {
    phi.kind = Phi::Kind::same;
    return;
  }
  unsigned const width = graph.width(phi.node);
  std::uint64_t const mask = low_bits(width);
  LinearSums sums(graph, arithmetic, cases);
  LinearSums::Sum difference;
  if (width < 8 || !sums.add(phi.back, 1, difference)) return;
  auto const self = difference.terms.find(phi.node);
  if (self == difference.terms.end() || (self->second & mask) != 1) return;
  difference.terms.erase(self);
  bool invariant = true;
  phi.step = graph.constant(width, difference.constant);
  for (auto const& [id, factor] : difference.terms) {
    if ((factor & mask) == 0) continue;
    invariant = invariant && !scopes.changes_in(id, phi.loop);
    phi.step = sums.plus(width, phi.step, id, factor);
  }
  phi.kind = invariant ? Phi::Kind::affine : Phi::Kind::drift;
}

namespace {

using State =
    std::unordered_map<std::uint32_t, std::uint64_t>;  ///< values of registers at headers, by their nodes

/// Appends the variables of a term; false if they are too many, or other than registers at headers.
bool add_registers(Execution const& out, std::uint32_t id, std::vector<std::uint32_t>& into) {
  Walk walk(id, 300);
  while (auto const at = walk.next()) {
    walk.add(operands(out.node(*at)));
    if (out.leaf_at(*at) == nullptr) continue;
    if (out.phi_at(*at) == nullptr) return false;
    into.push_back(*at);
  }
  return !walk.over();
}

/// The registers that those of `work` depend on, with their first values; false if they depend on more than constants.
bool find_machine(Execution const& out, std::int32_t loop, std::vector<std::uint32_t> work, State& state) {
  while (!work.empty()) {
    std::uint32_t const id = work.back();
    work.pop_back();
    if (state.count(id) != 0) continue;
    if (state.size() > 8) return false;
    Phi const& one = *out.phi_at(id);
    if (one.loop != loop || out.node(one.init).op != Op::constant) return false;
    state[id] = out.node(one.init).value;
    if (!add_registers(out, one.back, work)) return false;
  }
  return true;
}

}  // namespace

/// The machine runs until the loop ends, if that depends on its registers alone, or a state comes again.
void close_orbit(Phi& phi, Execution const& out, std::uint32_t again) {
  constexpr std::size_t most_steps = 4096;
  State state;
  if (!find_machine(out, phi.loop, {phi.node}, state)) return;
  State with_end = state;
  std::vector<std::uint32_t> tested;
  bool const ends = add_registers(out, again, tested) && find_machine(out, phi.loop, tested, with_end);
  if (ends) state = std::move(with_end);
  std::vector<std::uint64_t> values;
  std::set<std::map<std::uint32_t, std::uint64_t>> seen;
  for (std::size_t k = 0; k < most_steps; ++k) {
    bool over = !seen.emplace(state.begin(), state.end()).second;
    values.push_back(state[phi.node]);
    State memo = state, next;
    over = over || (ends && number_of(out.terms, again, memo) == 0);
    if (over) {
      std::sort(values.begin(), values.end());
      values.erase(std::unique(values.begin(), values.end()), values.end());
      phi.kind = Phi::Kind::orbit;
      phi.values = std::move(values);
      return;
    }
    for (auto const& [id, value] : state) next[id] = number_of(out.terms, out.phi_at(id)->back, memo);
    state = std::move(next);
  }
}

}  // namespace swizproof::execution
