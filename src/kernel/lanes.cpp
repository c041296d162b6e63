#include "lanes.hpp"

#include "access_cost.hpp"
#include "launch.hpp"
#include "parameter_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof::kernel_detail {

using execution::ExecutedAccess;
using execution::Lanes;
using execution::Leaf;
using execution::Warp;
using program::Special;

namespace {

/// Lanes that give an address.
std::uint32_t giving(LanesInCase const& now) {
  std::uint32_t lanes = 0;
  for (unsigned l = 0; l < 32; ++l)
    if (takes_part(*now.memory.instruction, now.active, l)) lanes |= 1U << l;
  return lanes;
}

unsigned zeros_of_product(Warp& warp, Id atom, std::uint64_t factor) {
  return static_cast<unsigned>(std::countr_zero(factor)) + warp.trailing_zeros(atom);
}

/// True for a term of parts of the thread's number that differ by warp, and of nothing else.
bool is_of_warp(ExecutedKernel const& kernel, unsigned number, Id atom) {
  if (number != Warp::every) return false;
  std::vector<Id> const leaves = kernel.origins.leaves_of({atom});
  return std::all_of(leaves.begin(), leaves.end(), [&](Id id) {
    Leaf const& l = *kernel.origins.leaf_at(id);
    if (l.kind == Leaf::Kind::undefined) return !l.args.empty();  // a part of them
    auto const s = static_cast<Special>(l.extra);
    return l.kind == Leaf::Kind::special && s >= Special::warp_x && s <= Special::warp_z;
  });
}

}  // namespace

bool LanePatterns::is_alone(Id atom, Lanes const& address) const {
  std::vector<Id> const mine = kernel_.origins.leaves_of({atom});
  return std::all_of(address.terms.begin(), address.terms.end(), [&](auto const& term) {
    if (term.first == atom) return true;
    std::vector<Id> const other = kernel_.origins.leaves_of({term.first});
    return std::none_of(mine.begin(), mine.end(),
                        [&](Id id) { return std::find(other.begin(), other.end(), id) != other.end(); });
  });
}

bool LanePatterns::starts_array(Id term) const {
  auto const& nodes = kernel_.execution.terms.nodes();
  Node const& n = nodes[term];
  auto const constant = [&](Id at) { return nodes[at].op == Op::constant; };
  if (n.op == Op::bv_and && constant(n.a) != constant(n.b)) {
    std::uint64_t const mask = nodes[constant(n.a) ? n.a : n.b].value & 0xffffffff;
    return std::has_single_bit((~mask & 0xffffffff) + 1) && starts_array(constant(n.a) ? n.b : n.a);
  }
  if (n.op == Op::bv_add && constant(n.a) != constant(n.b)) return starts_array(constant(n.a) ? n.b : n.a);
  Leaf const* const l = kernel_.origins.leaf_at(term);
  return l != nullptr && l->kind == Leaf::Kind::symbol;
}

void LanePatterns::find_shared(LanesInCase const& now, KernelLanes& into) const {
  for (auto const& [atom, factor] : now.address.terms) {
    unsigned const zeros = zeros_of_product(now.warp, atom, factor);
    bool const start = factor == 1 && starts_array(atom);
    bool const any =
        (start || free_parameter(kernel_, atom, 0xffffffff) == atom) && is_alone(atom, now.address);
    into.free = zeros < into.zeros ? any : into.free || (zeros == into.zeros && any);
    into.zeros = std::min(into.zeros, zeros);
  }
}

std::string LanePatterns::add(LanesInCase const& now, std::set<KernelLanes>& to) {
  ExecutedAccess const& access = now.access;
  bool const counted = access.exact && !access.apart;
  KernelLanes out;
  out.may = giving(now);
  std::uint32_t const within =
      counted ? kernel_.iterations.surely_within(now.number, access.loop, now.assumptions) : 0;
  bool const matrices = now.memory.instruction->matrices != 0;
  out.must = matrices ? out.may : out.may & now.guard.yes & within;
  out.together = within == ~0U && now.guard.atom != 0 && !now.guard.stuck && out.must != out.may;
  std::uint32_t const surely = kernel_.iterations.surely(now.number, access.loop, now.assumptions);
  out.sure = !access.apart && (now.active & ~surely) == 0;
  find_shared(now, out);
  std::uint64_t const first = now.address.lane[static_cast<unsigned>(std::countr_zero(out.may))];
  std::uint64_t const shared = first & ~low_bits(out.zeros);
  for (unsigned l = 0; l < 32; ++l)
    if ((out.may >> l & 1) != 0) out.lane[l] = static_cast<std::uint32_t>(now.address.lane[l] - shared);
  if (count_ >= most) return fmt::format("the limit of {} lane patterns for one kernel", most);
  count_ += to.insert(out).second ? 1 : 0;
  return {};
}

std::optional<KernelPlace> LanePatterns::place_of(ExecutedAccess const& access) {
  std::vector<std::uint64_t> key{access.guard, static_cast<std::uint64_t>(access.loop)};
  std::uint64_t first = 0;
  for (unsigned w = 0; w < kernel_.warps.count(); ++w) {
    Lanes const v = kernel_.warps.plain(w).value(access.address, 32);
    if (!v.split()) return std::nullopt;
    if (w == 0) first = v.lane[0];
    key.push_back(v.terms.size());
    for (auto const& [atom, factor] : v.terms) key.insert(key.end(), {atom, factor});
    for (std::uint64_t const x : v.lane) key.push_back(x - first & 0xffffffff);
  }
  auto const [at, fresh] = groups_.try_emplace(std::move(key), static_cast<std::uint32_t>(groups_.size()));
  return KernelPlace{at->second, static_cast<std::uint32_t>(first)};
}

void add_to_layout(ExecutedKernel const& kernel, LanesInCase const& now, LaneLayout& layout) {
  unsigned zeros = 32;
  bool started = false;
  std::vector<std::uint64_t> moved{0};  // by the warp's number
  for (auto const& [atom, factor] : now.address.terms) {
    if (auto const numbers =
            is_of_warp(kernel, now.number, atom) ? now.warp.domain(atom, 32) : std::nullopt) {
      std::vector<std::uint64_t> sums;
      for (std::uint64_t const m : moved)
        for (std::uint64_t const n : *numbers) sums.push_back(m + factor * n);
      moved = std::move(sums);
      continue;
    }
    std::uint32_t root = ~0U;
    bool const start = !started && factor == 1 &&
                       kernel.origins.root_of(atom, root) == Origins::Root::shared && root == now.symbol;
    started = started || start;
    if (!start) zeros = std::min(zeros, zeros_of_product(now.warp, atom, factor));
  }
  std::uint32_t const lanes = giving(now);
  for (std::uint64_t const by : moved) {
    LaneAddresses bytes = now.address.lane;
    for (std::uint64_t& b : bytes) b += by;
    layout.add(bytes, lanes, zeros);
  }
}

}  // namespace swizproof::kernel_detail
