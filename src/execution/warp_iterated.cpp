// Registers at a loop's header, iteration by iteration.
#include <swizproof/execution/warp.hpp>

namespace swizproof::execution {

namespace {

constexpr std::size_t most_in_machine = 8, most_nodes = 300, most_iterations = 4096;

bool is_unary(Op op) { return op == Op::negation || op == Op::zero_extend || op == Op::truncate; }

/// The number that a term is, its variables given in `memo`.
std::uint64_t number(Terms const& terms, std::uint32_t id, std::map<std::uint32_t, std::uint64_t>& memo) {
  if (auto const found = memo.find(id); found != memo.end()) return found->second;
  Node const n = terms.nodes()[id];
  auto const of = [&](std::uint32_t x) { return number(terms, x, memo); };
  std::uint64_t const value = n.op == Op::constant || n.op == Op::truth ? n.value
                              : n.op == Op::ite                         ? (of(n.a) != 0 ? of(n.b) : of(n.c))
                              : is_unary(n.op)                          ? value_of(n, of(n.a))
                                                                        : value_of(n, of(n.a), of(n.b));
  return memo[id] = value;
}

}  // namespace

bool Warp::changes_in(Leaf const& leaf, std::int32_t loop) const {
  for (std::int32_t l = leaf.loop; l >= 0; l = flow_.loops[static_cast<std::size_t>(l)].parent)
    if (l == loop) return true;
  return false;
}

/// Takes a register into a machine, and appends those that its next value depends on; false if the machine is none.
bool Warp::add_to_machine(Machine& machine, Id id, std::vector<Id>& registers) {
  Phi const& phi = execution_.phis[static_cast<std::size_t>(execution_.phi_of[node(id).value])];
  auto const known = [this](Id x) -> std::optional<std::uint64_t> {
    Lanes const v = value(x, width(x));
    return v.pure() && v.uniform() ? std::optional(v.lane[0]) : std::nullopt;
  };
  auto const first = known(phi.init);
  if (!first || machine.states[0].size() >= most_in_machine) return false;
  machine.states[0][id] = *first;
  std::vector<Id> work{phi.back};
  std::map<Id, bool> seen;
  while (!work.empty()) {
    Id const at = work.back();
    work.pop_back();
    if (!seen.try_emplace(at, true).second) continue;
    if (seen.size() > most_nodes) return false;
    Node const n = node(at);
    if (n.op == Op::constant || n.op == Op::truth) continue;
    if (n.op != Op::variable) {
      work.push_back(n.a);
      if (!is_unary(n.op)) work.push_back(n.b);
      if (n.op == Op::ite) work.push_back(n.c);
      continue;
    }
    Leaf const& leaf = execution_.leaves[n.value];
    if (leaf.kind == Leaf::Kind::phi &&
        execution_.phis[static_cast<std::size_t>(execution_.phi_of[n.value])].loop == phi.loop) {
      registers.push_back(at);
      continue;
    }
    auto const constant = changes_in(leaf, phi.loop) ? std::nullopt : known(at);
    if (!constant) return false;
    machine.numbers[at] = *constant;
  }
  return true;
}

Warp::Machine Warp::machine_of(Id phi) {
  Machine machine;
  machine.states.emplace_back();
  std::vector<Id> registers{phi};
  while (!registers.empty()) {
    Id const id = registers.back();
    registers.pop_back();
    if (machine.states[0].count(id) == 0 && !add_to_machine(machine, id, registers)) return {};
  }
  return machine;
}

std::optional<std::uint64_t> Warp::iterated(Id phi, std::uint64_t iteration) {
  if (iteration > most_iterations) return std::nullopt;
  auto found = machines_.find(phi);
  if (found == machines_.end() || !holds(found->second)) {
    machines_[phi] = {{}, {}, now_};  // of a register whose first value depends on it: none
    keep(machines_, phi, [&] { return machine_of(phi); });
    found = machines_.find(phi);
  }
  Machine& machine = found->second.value;
  if (machine.states.empty()) return std::nullopt;
  while (machine.states.size() <= iteration) {
    std::map<Id, std::uint64_t> memo = machine.numbers, next;
    memo.insert(machine.states.back().begin(), machine.states.back().end());
    for (auto const& [id, now] : machine.states.back()) {
      ++steps_;
      Phi const& one = execution_.phis[static_cast<std::size_t>(execution_.phi_of[node(id).value])];
      next[id] = number(execution_.terms, one.back, memo);
    }
    machine.states.push_back(std::move(next));
  }
  return machine.states[iteration].at(phi);
}

}  // namespace swizproof::execution
