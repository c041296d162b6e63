#include "iterations.hpp"

#include "executed_kernel.hpp"
#include "parameter_terms.hpp"

#include <algorithm>
#include <set>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::Execution;
using execution::LaneTruths;
using execution::Leaf;
using execution::Phi;
using execution::Warp;
using program::Block;

namespace {

constexpr std::uint64_t most_iterations = 256;

/// Goes through a term to its variables. `answer_of` gives the answer of a variable, or 0; it may add terms to go through to its
/// second argument. Returns 0 if no variable has an answer, or behind `most` terms.
template <typename F>
Id first_of_variables(Execution const& execution, Id term, std::size_t most, F answer_of) {
  std::vector<Id> work{term};
  std::set<Id> seen;
  while (!work.empty() && seen.size() < most) {
    Id const at = work.back();
    work.pop_back();
    if (!seen.insert(at).second) continue;
    Node const n = execution.terms.nodes()[at];
    if (n.op == Op::constant || n.op == Op::truth) continue;
    if (n.op != Op::variable) {
      for (Id const next : {n.a, n.b, n.c})
        if (next < at) work.push_back(next);
    } else if (Id const answer = answer_of(at, work); answer != 0) {
      return answer;
    }
  }
  return 0;
}

}  // namespace

bool Iterations::ends_within(std::int32_t loop) const {
  program::Flow const& flow = kernel_.flow;
  return std::any_of(flow.order.begin(), flow.order.end(), [&](std::uint32_t b) {
    Block const& block = kernel_.program.blocks[b];
    return flow.within(b, loop) && (block.taken < 0 || (block.condition >= 0 && block.next < 0));
  });
}

LanesByIteration const* Iterations::of(unsigned warp, Id counter) {
  Execution const& execution = kernel_.execution;
  auto const at = std::find(execution.counters.begin(), execution.counters.end(), counter);
  if (at == execution.counters.end()) return nullptr;
  auto const loop = static_cast<std::size_t>(at - execution.counters.begin());
  auto const [memo, fresh] = known_.try_emplace({warp, loop});
  bool const hopeless = warp != 0 && known_.count({0, loop}) != 0 && known_[{0, loop}].empty();
  if (!fresh || hopeless) return memo->second.empty() ? nullptr : &memo->second;
  std::unique_ptr<Warp> const counting = kernel_.warps.another(warp);
  LanesByIteration all, gone;
  std::uint32_t left = 0, stay = ends_within(static_cast<std::int32_t>(loop)) ? 0 : ~0U;
  for (std::uint64_t k = 0; k < most_iterations && left != ~0U && !kernel_.out_of_steps(); ++k) {
    all.push_back(stay), gone.push_back(left);
    counting->assume({{counter, false, 64, k}});
    for (Id const e : execution.exits[loop]) {
      LaneTruths const exit = counting->truth(e);
      left |= exit.yes, stay &= exit.no;
    }
  }
  if (left == ~0U) memo->second = std::move(all), left_[{warp, loop}] = std::move(gone);
  return memo->second.empty() ? nullptr : &memo->second;
}

std::uint32_t Iterations::left_before(unsigned warp, Id counter, std::uint64_t k) {
  if (k >= count(warp, counter)) return 0;
  auto const& counters = kernel_.execution.counters;
  auto const at = std::find(counters.begin(), counters.end(), counter);
  return left_.at({warp, static_cast<std::size_t>(at - counters.begin())})[k];
}

std::uint64_t Iterations::count(unsigned warp, Id counter) {
  LanesByIteration const* const all = of(warp, counter);
  return all == nullptr ? 0 : all->size();
}

std::map<std::int32_t, std::uint64_t> Iterations::around(unsigned warp, std::int32_t place) {
  std::map<std::int32_t, std::uint64_t> all;
  for (auto loop = place; loop >= 0; loop = kernel_.flow.loops[static_cast<std::size_t>(loop)].parent)
    if (auto const n = count(warp, kernel_.execution.counters[static_cast<std::size_t>(loop)]); n != 0)
      all[loop] = n;
  return all;
}

Iterations::InIteration Iterations::lanes_in(std::int32_t place, Id counter, LanesByIteration const& all,
                                             std::uint64_t k) const {
  if (k >= all.size()) return {0, 0};
  if (counts_around(counter, place)) return {~0U, all[k]};
  return k + 1 == all.size() ? InIteration{~0U, all[k]} : InIteration{~all[k + 1], 0};
}

Id Iterations::unextended(Id term) const {
  Node const n = kernel_.execution.node(term);
  return n.op == Op::truncate || n.op == Op::zero_extend ? unextended(n.a) : term;
}

bool Iterations::meets(std::vector<Assumption> const& assumptions, Id counter, std::uint64_t k) const {
  return std::all_of(assumptions.begin(), assumptions.end(), [&](Assumption const& a) {
    std::uint64_t const low = low_bits(std::min<unsigned>(a.bits, kernel_.execution.node(a.atom).width));
    return a.truth || unextended(a.atom) != counter || ((a.value ^ k) & low) == 0;
  });
}

std::uint32_t Iterations::surely(unsigned warp, std::int32_t place,
                                 std::vector<Assumption> const& assumptions) {
  std::set<Id> used;
  std::uint32_t lanes = ~0U;
  for (Assumption const& a : assumptions) {
    if (a.truth) return 0;
    execution::Leaf const* const leaf = kernel_.origins.leaf_at(a.atom);
    if (leaf != nullptr && leaf->kind == execution::Leaf::Kind::symbol &&
        kernel_.program.symbols[leaf->extra].placed == a.value)
      continue;  // what a device gives
    std::uint64_t const low = a.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << a.bits) - 1;
    Id const counter = unextended(a.atom);
    if (LanesByIteration const* const all = of(warp, counter)) {
      std::uint64_t k = 0;
      while (k < all->size() && !meets(assumptions, counter, k)) ++k;
      lanes &= lanes_in(place, counter, *all, k).surely;
    } else if (auto const parameter = free_parameter(kernel_, a.atom, low);
               !parameter || !used.insert(*parameter).second)
      return 0;
  }
  return lanes;
}

std::uint32_t Iterations::surely_within(unsigned warp, std::int32_t place,
                                        std::vector<Assumption> const& assumptions) {
  std::uint32_t lanes = ~0U;
  for (auto loop = place; loop >= 0; loop = kernel_.flow.loops[static_cast<std::size_t>(loop)].parent) {
    if (ends_within(loop)) return 0;
    if (kernel_.warps.plain(warp).exits_together(loop)) continue;
    Id const counter = kernel_.execution.counters[static_cast<std::size_t>(loop)];
    auto const assumed = std::find_if(assumptions.begin(), assumptions.end(),
                                      [&](Assumption const& a) { return a.atom == counter && a.bits >= 64; });
    LanesByIteration const* const all = of(warp, counter);
    if (all == nullptr) return 0;
    for (std::uint64_t k = 0; k < all->size(); ++k)
      if (assumed == assumptions.end() || assumed->value == k) lanes &= (*all)[k];
  }
  return lanes;
}

bool Iterations::counts_around(Id counter, std::int32_t place) const {
  for (auto loop = place; loop >= 0; loop = kernel_.flow.loops[static_cast<std::size_t>(loop)].parent)
    if (kernel_.execution.counters[static_cast<std::size_t>(loop)] == counter) return true;
  return false;
}

Id Iterations::counter_before(unsigned warp, Id term, std::int32_t place) {
  auto const [memo, fresh] = before_.try_emplace({warp, term, place});
  if (fresh)
    memo->second = first_of_variables(kernel_.execution, term, 1000, [&](Id at, std::vector<Id>&) -> Id {
      return !counts_around(at, place) && of(warp, at) != nullptr ? at : 0;
    });
  return memo->second;
}

Id Iterations::counter_around(unsigned warp, Id term, std::int32_t place) {
  auto const [memo, fresh] = around_.try_emplace({warp, term, place});
  if (fresh)
    memo->second = first_of_variables(kernel_.execution, term, 300, [&](Id at, std::vector<Id>&) -> Id {
      return counts_around(at, place) && of(warp, at) != nullptr ? at : 0;
    });
  return memo->second;
}

Id Iterations::counter_that_settles(unsigned warp, Warp& values, Id term) {
  Execution const& execution = kernel_.execution;
  return first_of_variables(execution, term, 300, [&](Id at, std::vector<Id>& work) -> Id {
    std::uint64_t const leaf = execution.terms.nodes()[at].value;
    Leaf const& l = execution.leaves[leaf];
    if (l.kind == Leaf::Kind::exit || l.kind == Leaf::Kind::undefined)
      work.insert(work.end(), l.args.begin(), l.args.end());
    if (l.kind != Leaf::Kind::phi) return 0;
    Phi const& phi = execution.phis[static_cast<std::size_t>(execution.phi_of[leaf])];
    Id const counter = execution.counters[static_cast<std::size_t>(phi.loop)];
    bool const settles = counter != 0 && phi.kind != Phi::Kind::affine && values.iterated(at, 0) &&
                         of(warp, counter) != nullptr;
    return settles ? counter : 0;
  });
}

}  // namespace swizproof::kernel_detail
