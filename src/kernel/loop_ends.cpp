#include "loop_ends.hpp"

#include "execution/never.hpp"

#include <swizproof/engine/walk.hpp>

#include <algorithm>
#include <string>

namespace swizproof::kernel_detail {

using execution::Leaf;
using execution::Phi;

LoopEnds::LoopEnds(ExecutedKernel& kernel, std::int32_t loop, std::vector<Id> const& ends, bool without)
    : kernel_(kernel), loop_(loop), ends_(ends), without_(without) {
  for (Id const end : ends_) add(end, !without);
}

void LoopEnds::add(Id end, bool is) {
  Node const& n = node(end);
  if (n.op == Op::negation) return add(n.a, !is);
  if (n.op == (is ? Op::disjunction : Op::conjunction)) return add(n.a, is), add(n.b, is);
  literals_.insert({end, is});
}

bool LoopEnds::counts(std::size_t end) const { return part_of(ends_[end], !without_) != Part::found; }

LoopEnds::Part LoopEnds::part_of(Id end, bool is) const {
  Node const& n = node(end);
  if (n.op == Op::negation) return part_of(n.a, !is);
  if (n.op == Op::truth) return (n.value != 0) == is ? Part::given : Part::found;
  if (n.op == Op::conjunction || n.op == Op::disjunction) {
    Part const a = part_of(n.a, is), b = part_of(n.b, is);
    bool const both = n.op == (is ? Op::conjunction : Op::disjunction);
    return both && (a == Part::found || b == Part::found) ? Part::found : std::max(a, b);
  }
  if (literals_.contains({end, !is})) return Part::given;
  return comes_true(end, is) ? Part::counted : Part::found;
}

std::vector<Id> LoopEnds::leaves_of(std::vector<Id> ends) const {
  std::set<Id> all;
  while (!ends.empty()) {
    std::vector<Id> const leaves = kernel_.origins.leaves_of(std::move(ends));
    ends.clear();
    for (Id const leaf : leaves) {
      Leaf const& l = *kernel_.execution.leaf_at(leaf);
      if (!kernel_.flow.encloses(loop_, l.loop) || !all.insert(leaf).second) continue;
      if (is_load(l)) ends.insert(ends.end(), l.args.begin(), l.args.end());
    }
  }
  return {all.begin(), all.end()};
}

bool LoopEnds::is_found(Id leaf) const {
  Leaf const& l = *kernel_.execution.leaf_at(leaf);
  if (l.kind != Leaf::Kind::load) return l.kind == Leaf::Kind::varying;
  auto const space = static_cast<program::Space>(l.extra);
  std::string const& name = kernel_.program.names[l.offset];
  return space == program::Space::shared ||
         (space == program::Space::global && name.find(".nc") == name.npos);
}

// ------------------------------------------------------------------------------------- counters

bool LoopEnds::comes_true(Id end, bool is) const {
  Node const& n = node(end);
  auto const a = slope_of(n.a), b = slope_of(n.b);
  if (n.op == Op::eq && is && node(n.a).width > 1)
    return a && b && ((*a - *b) % 2 != 0);  // it takes all values
  if (n.op != Op::ult) return false;
  // A bound that is not known has any value: the slope of the other side alone counts.
  std::int64_t const grows = a.value_or(0) - b.value_or(0);
  return is ? a && b && grows < 0 && !is_least(n.b) && !is_most(n.a) : grows > 0;
}

bool LoopEnds::is_least(Id word) const { return node(word).op == Op::constant && node(word).value == 0; }
bool LoopEnds::is_most(Id word) const {
  return node(word).op == Op::constant && node(word).value == low_bits(node(word).width);
}

std::optional<std::int64_t> LoopEnds::slope_of(Id word) const {
  Node const& n = node(word);
  auto const constant = [&](Id id) -> std::optional<std::int64_t> {
    Node const& c = node(id);
    if (c.op != Op::constant || c.width == 0) return std::nullopt;
    unsigned const above = 64U - c.width;
    return static_cast<std::int64_t>(c.value << above) >> above;
  };
  auto const of_both = [&](auto const& combine) -> std::optional<std::int64_t> {
    auto const a = slope_of(n.a), b = slope_of(n.b);
    return a && b ? std::optional(combine(*a, *b)) : std::nullopt;
  };
  if (Phi const* const phi = kernel_.execution.phi_at(word); phi != nullptr && phi->loop == loop_)
    return phi->kind == Phi::Kind::affine ? constant(phi->step) : std::nullopt;
  switch (n.op) {
    case Op::bv_add:
      return of_both([](auto a, auto b) { return a + b; });
    case Op::bv_sub:
      return of_both([](auto a, auto b) { return a - b; });
    case Op::bv_xor:  // the sign of a comparison
      if (constant(n.b) && node(n.b).value == std::uint64_t{1} << (n.width - 1U)) return slope_of(n.a);
      if (constant(n.a) && node(n.a).value == std::uint64_t{1} << (n.width - 1U)) return slope_of(n.b);
      break;
    default:
      break;
  }
  std::vector<Id> const leaves = leaves_of({word});
  return leaves.empty() ? std::optional<std::int64_t>(0) : std::nullopt;
}

// ------------------------------------------------------------------------------------- distances

bool LoopEnds::narrows() const {
  constexpr std::size_t most_registers = 4;
  std::vector<Phi> registers;
  for (Id const leaf : leaves_of(ends_))
    if (Phi const* const phi = kernel_.execution.phi_at(leaf);
        phi != nullptr && phi->loop == loop_ && phi->kind != Phi::Kind::same)
      registers.push_back(*phi);
  if (registers.size() > most_registers) return false;
  bool const does = std::any_of(registers.begin(), registers.end(), [&](Phi const& high) {
    return narrows(high, nullptr) || std::any_of(registers.begin(), registers.end(), [&](Phi const& low) {
             return low.node != high.node && narrows(high, &low);
           });
  });
  if (does) kernel_.execution.assumes_ranges = true;
  return does;
}

bool LoopEnds::narrows(Phi const& high, Phi const* low) const {
  constexpr std::uint64_t most_steps = 2'000'000;
  swizproof::Terms& terms = kernel_.execution.terms;
  auto const word = [&](Id id) { return Term{&terms, id}; };
  auto const never = [&](Formula const& truth) {
    if (truth.id <= 1) return truth.id == 0;
    return execution::never_holds(kernel_.execution, kernel_.warps.plain(0), truth.id, {}, most_steps);
  };
  Term const now = word(high.node), next = word(high.back);
  if (now.width() < 8 || (low != nullptr && word(low->node).width() != now.width())) return false;
  Term const quarter = terms.constant(now.width(), std::uint64_t{1} << (now.width() - 2U));
  std::vector<Formula> fails{!(next < now)};
  Formula goes_on = now < quarter, begins = word(high.init) < quarter;
  if (low != nullptr) {
    Term const begin = word(low->node), next_begin = word(low->back);
    goes_on = goes_on && begin < quarter, begins = begins && word(low->init) < quarter;
    fails = {next < next_begin, next_begin < begin, now < next, !(next - next_begin < now - begin)};
  }
  for (Id const end : ends_) {
    Formula const leaves(&terms, end);
    goes_on = goes_on && (without_ ? leaves : !leaves);
  }
  return std::all_of(fails.begin(), fails.end(), [&](Formula const& f) { return never(goes_on && f); }) &&
         !never(goes_on) && !never(begins);
}

}  // namespace swizproof::kernel_detail
