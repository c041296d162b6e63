#include "loops.hpp"

#include "evaluation.hpp"

#include <swizproof/engine/walk.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace swizproof::execution {

void LaneLoops::forget() {
  std::erase_if(leaves_, [](auto const& one) { return one.second != Leaves::apart; });
  std::erase_if(backs_, [](auto const& one) { return one.second; });
}

LaneLoops::Leaves LaneLoops::leaves(std::int32_t loop) {
  if (!in_.assumed.nothing()) return in_.clean().loops.leaves(loop);
  auto const [at, fresh] = leaves_.try_emplace(loop, Leaves::unknown);
  if (!fresh) return at->second;
  Leaves all = Leaves::together;
  for (Id const e : in_.execution.exits[static_cast<std::size_t>(loop)]) {
    LaneTruths const t = in_.truths.value(e);
    if (t.shared()) continue;
    all = std::min(all, !t.stuck && is_lost(e) ? Leaves::unknown : Leaves::apart);
  }
  // Values of the meantime rest on `unknown`.
  if (all == Leaves::apart) in_.forget();
  leaves_[loop] = all;
  return all;
}

bool LaneLoops::is_lost(Id id) {
  Node const n = in_.execution.node(id);
  if (n.op == Op::negation) return is_lost(n.a);
  LaneTruths const t = in_.truths.value(id);
  if (t.stuck) return false;
  if (t.rest() == 0 || t.atom != 0) return (t.yes == 0 || t.no == 0);
  if (n.op == Op::conjunction || n.op == Op::disjunction) return is_lost(n.a) && is_lost(n.b);
  // Else a comparison with a lane's number, of this truth or of a value in it.
  Node const why = in_.execution.node(t.why);
  if (why.op != Op::variable) return false;
  Leaf const& leaf = *in_.execution.leaf_at(t.why);
  return leaf.kind != Leaf::Kind::exit || leaves(leaf.left) != Leaves::apart;
}

bool LaneLoops::goes_back_together(std::int32_t loop) {
  if (!in_.assumed.nothing()) return in_.clean().loops.goes_back_together(loop);
  auto const& backs = in_.execution.backs[static_cast<std::size_t>(loop)];
  if (backs.empty()) return true;
  // By induction over the iterations: all lanes are together so far.
  auto const [at, fresh] = backs_.try_emplace(loop, true);
  if (!fresh) return at->second;
  bool const all =
      std::all_of(backs.begin(), backs.end(), [this](Id back) { return in_.truths.value(back).shared(); });
  if (!all) in_.forget();
  return backs_[loop] = all;
}

bool LaneLoops::has_common_iteration(std::int32_t loop) {
  for (std::int32_t const l : in_.flow.around(loop))
    if (!goes_back_together(l)) return false;
  return true;
}

namespace {

/// Steps in all inductions of a warp and of a kernel, beyond which registers at headers are not decided.
constexpr std::uint64_t most_induction_steps = 500'000, most_of_kernel = 4'000'000;

}  // namespace

void Inductions::forget() {
  std::erase_if(known_,
                [](auto const& one) { return one.second.state == Induction::State::holds_if_open_do; });
}

Lanes Inductions::value(Id id, Phi const& phi, unsigned bits) {
  // Steps that are multiples of 2^bits leave the low bits alone, in each iteration.
  bool const steps = phi.kind == Phi::Kind::affine || phi.kind == Phi::Kind::drift;
  if (steps && (in_.facts.of(phi.step).zeros & low_bits(bits)) == low_bits(bits))
    return in_.words.value(phi.init, bits);
  if (phi.kind != Phi::Kind::same && !in_.loops.goes_back_together(phi.loop)) return varying(id);
  Id const counter = in_.execution.counters[static_cast<std::size_t>(phi.loop)];
  Lanes const k = counter != 0 ? in_.atoms.of(counter, 64) : Lanes{.state = Lanes::State::varying};
  if (k.pure() && k.lane[0] == 0) return in_.words.value(phi.init, bits);
  if (k.pure() && phi.kind != Phi::Kind::same && phi.kind != Phi::Kind::affine)
    if (auto const now = in_.machines.iterated(id, k.lane[0])) {
      Lanes v;
      v.lane.fill(*now & low_bits(bits));
      return v;
    }
  switch (phi.kind) {
    case Phi::Kind::same:
      return in_.words.value(phi.init, bits);
    case Phi::Kind::orbit:
      return in_.atoms.of(id, bits);
    case Phi::Kind::affine:
      return affine(phi, bits);
    case Phi::Kind::drift:
    case Phi::Kind::other:
      break;
  }
  return drifting(id, phi, bits);
}

/// init + counter * step.
Lanes Inductions::affine(Phi const& phi, unsigned bits) {
  Lanes const& init = in_.words.value(phi.init, bits);
  Lanes const& step = in_.words.value(phi.step, bits);
  if (init.state != Lanes::State::split) return init;
  if (!step.split()) return step;
  if (step.pure() && step.uniform() && step.lane[0] == 0) return init;
  Id const counter = in_.execution.counters[static_cast<std::size_t>(phi.loop)];
  Lanes const k = in_.atoms.of(counter, bits);
  if (step.uniform()) {
    Lanes out = in_.sums.sum(init, k, step.lane[0], bits);
    Terms& terms = in_.execution.terms;
    for (auto const& [x, f] : step.terms) {
      bool const known = k.pure();
      Id const moved = known ? x : (Term{&terms, counter} * resized(Term{&terms, x}, 64)).id;
      out = in_.sums.sum(out, in_.atoms.of(moved, bits), known ? f * k.lane[0] : f, bits);
    }
    return out;
  }
  if (k.pure()) return in_.sums.sum(init, in_.sums.scaled(step, k.lane[0], bits), 1, bits);
  return in_.atoms.missing_value(k, "the step of a loop differs in the lanes");
}

/// A register that has no closed form: its first value plus something that all lanes share, if an induction shows that.
Lanes Inductions::drifting(Id id, Phi const& phi, unsigned bits) {
  auto const index = static_cast<std::size_t>(in_.execution.phi_of[in_.execution.node(id).value]);
  unsigned const width = in_.execution.node(id).width;
  Induction found = decide(index, width);
  // The low ones of 16 bits that are extended by their sign.
  if (found.state == Induction::State::fails && bits <= 16 && width > 16) found = decide(index, 16);
  if (found.state == Induction::State::fails) {
    Id const counter = in_.execution.counters[static_cast<std::size_t>(phi.loop)];
    Lanes const k = counter != 0 ? in_.atoms.of(counter, 64) : varying(id);
    return k.split() && in_.machines.iterated(id, 0)
               ? in_.atoms.missing_value(k, "a value that changes in a loop")
               : varying(id);
  }
  Lanes const& init = in_.words.value(phi.init, bits);
  // A number of few bits, like that of a stage: the same in all lanes, as its first value is.
  unsigned const zeros = std::min(in_.sums.zeros_of(init, bits), in_.facts.trailing_zeros(found.added));
  bool const known = !init.pure() || init.lane[0] == 0;
  if (init.uniform() && known && in_.facts.has_few_bits(id) && in_.facts.trailing_zeros(id) >= zeros)
    return in_.atoms.of(id, bits);
  return in_.sums.sum(init, in_.atoms.of(found.added, bits), 1, bits);
}

/// The sum beyond its first value that a phi has after an iteration, `added` being that before it. A drift adds its step: the lanes may start
/// from different values.
Lanes Inductions::movement(Phi const& phi, Id added, unsigned w) {
  if (phi.kind == Phi::Kind::drift)  // its first value may wait for a condition
    if (Lanes const step = in_.words.value(phi.step, w); step.split())
      return in_.sums.sum(in_.atoms.of(added, w), step, 1, w);
  Lanes const init = in_.words.value(phi.init, w);
  if (!init.split()) return init;
  return in_.sums.sum(in_.words.value(phi.back, w), init, ~std::uint64_t{0}, w);
}

/// True if a phi is its first value plus something that all lanes share, a multiple of 2^zeros. By induction over the
/// iterations: if it is so, and the phis that are being decided are, then its next value is so too.
Inductions::Induction Inductions::decide(std::size_t index, unsigned w) {
  using State = Induction::State;
  if (!in_.assumed.nothing()) return in_.clean().inductions.decide(index, w);
  std::pair const key{index, w};
  if (auto const found = known_.find(key); found != known_.end()) return found->second;
  bool const outermost = std::none_of(known_.begin(), known_.end(),
                                      [](auto const& one) { return one.second.state == State::open; });
  // Loops within loops may try each other's registers again and again: what is left of them after that varies.
  if (outermost) start_ = in_.steps;
  std::uint64_t const now = in_.steps - start_;
  if (steps_ + now > most_induction_steps || in_.execution.induction_steps + now > most_of_kernel)
    return known_[key] = {State::fails, 0};
  Id const added = added_of(in_.execution.phis[index], key);
  if (outermost) {
    steps_ += in_.steps - start_;
    in_.execution.induction_steps += in_.steps - start_;
  }
  if (added == 0) {
    in_.forget();
    return known_[key] = {State::fails, 0};
  }
  if (!outermost) return known_[key] = {State::holds_if_open_do, added};
  for (auto& [i, one] : known_)
    if (one.state == State::holds_if_open_do) one.state = State::holds;
  return known_[key] = {State::holds, added};
}

/// A variable for the difference of a phi to its first value, with the trailing zeros that an induction shows; 0 if it shows no such one.
Id Inductions::added_of(Phi const& phi, std::pair<std::size_t, unsigned> key) {
  unsigned const w = key.second;
  unsigned zeros = std::min(w, 12U);
  for (unsigned attempt = 0; attempt < 4; ++attempt) {
    Id const added = in_.atoms.fresh(w, zeros, phi.node);
    known_[key] = {Induction::State::open, added};
    Lanes const moved = movement(phi, added, w);
    if (!moved.uniform()) return 0;
    unsigned const found = zeros_of(moved, w);
    if (found >= zeros) return added;
    zeros = attempt == 2 ? 0 : std::min(zeros - 1, found);
    in_.forget();
  }
  return 0;
}

/// Trailing zeros of a sum with its number, the same in all lanes.
unsigned Inductions::zeros_of(Lanes const& moved, unsigned w) {
  return std::min(in_.sums.zeros_of(moved, w),
                  moved.lane[0] == 0 ? w : static_cast<unsigned>(std::countr_zero(moved.lane[0])));
}

namespace {

constexpr std::size_t most_in_machine = 8, most_nodes = 300, most_iterations = 4096;

}  // namespace

/// A number that is known, the same in all lanes.
std::optional<std::uint64_t> Machines::constant(Id id) {
  Lanes const v = in_.words.value(id, in_.execution.node(id).width);
  return v.pure() && v.uniform() ? std::optional(v.lane[0]) : std::nullopt;
}

/// Takes a register into a machine, and appends those that its next value depends on; false if the machine is none.
bool Machines::add(Machine& machine, Id id, std::vector<Id>& registers) {
  Phi const& phi = *in_.execution.phi_at(id);
  auto const first = constant(phi.init);
  if (!first || machine.states[0].size() >= most_in_machine) return false;
  machine.states[0][id] = *first;
  Walk walk(phi.back, most_nodes);
  while (auto const at = walk.next()) {
    walk.add(operands(in_.execution.node(*at)));
    Leaf const* const leaf = in_.execution.leaf_at(*at);
    if (leaf == nullptr) continue;
    if (Phi const* const other = in_.execution.phi_at(*at); other != nullptr && other->loop == phi.loop) {
      registers.push_back(*at);
      continue;
    }
    auto const number = in_.flow.encloses(phi.loop, leaf->loop) ? std::nullopt : constant(*at);
    if (!number) return false;
    machine.numbers[*at] = *number;
  }
  return !walk.over();
}

Machines::Machine Machines::machine_of(Id phi) {
  Machine machine;
  machine.states.emplace_back();
  std::vector<Id> registers{phi};
  while (!registers.empty()) {
    Id const id = registers.back();
    registers.pop_back();
    if (machine.states[0].count(id) == 0 && !add(machine, id, registers)) return {};
  }
  return machine;
}

std::optional<std::uint64_t> Machines::iterated(Id phi, std::uint64_t iteration) {
  if (iteration > most_iterations) return std::nullopt;
  Machine* found = in_.assumed.find(kept_, phi);
  if (found == nullptr) {
    in_.assumed.put(kept_, phi, Machine{});  // of a register whose first value depends on it: none
    found = &in_.assumed.keep(kept_, phi, [&] { return machine_of(phi); });
  }
  Machine& machine = *found;
  if (machine.states.empty()) return std::nullopt;
  while (machine.states.size() <= iteration) {
    Numbers known = machine.numbers, next;
    known.insert(machine.states.back().begin(), machine.states.back().end());
    for (auto const& [id, now] : machine.states.back()) {
      in_.count_step();
      next[id] = number_of(in_.execution.terms, in_.execution.phi_at(id)->back, known);
    }
    machine.states.push_back(std::move(next));
  }
  return machine.states[iteration].at(phi);
}

}  // namespace swizproof::execution
