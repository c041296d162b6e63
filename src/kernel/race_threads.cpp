#include "race_threads.hpp"

#include "race_crowd.hpp"
#include "race_divergence.hpp"
#include "race_question.hpp"
#include "race_uniform.hpp"

#include <algorithm>
#include <variant>

namespace swizproof::kernel_detail {

bool BlockThreads::at_most_one(std::vector<std::uint32_t> const& accesses) {
  std::vector<std::uint32_t> guards;
  for (std::uint32_t const a : accesses) guards.push_back(execution_.accesses[a].guard);
  auto const is_one = [&] { return crowd_of(program_, execution_, shapes_, guards) <= 1; };
  if (is_one() || holds_for_lane_0(is_one)) return true;
  if (accesses.size() != 1 || execution_.accesses[accesses[0]].loop >= 0) return false;
  std::vector<RaceUnknown> unknowns;
  return std::holds_alternative<Proved>(never(
      fresh_(), [&](RacePair& p) { return p.twice(accesses[0]); }, unknowns));
}

bool BlockThreads::pass_the_same(std::vector<BarrierAt> positions) const {
  if (!barriers_.broken.empty()) return false;
  positions.insert(positions.end(), barriers_.of_block.begin(), barriers_.of_block.end());
  UniformTerms uniform(program_, execution_);
  Divergence divergence(program_, flow_, execution_, accesses_, uniform, fresh_);
  return !divergence.line_of(positions, RacePair::Warps::any) && !divergence.some_end();
}

bool BlockThreads::one_makes_both(Visit const& a, Visit const& b, RacePair::Warps warps) {
  auto const of_mbarrier = [&](Visit const& v) {
    return program_.accesses[v.access].operand >= 0 && group_of(program_.accesses[v.access]) != Group::wgmma;
  };
  std::uint32_t const first = execution_.accesses[a.access].guard;
  std::uint32_t const second = execution_.accesses[b.access].guard;
  if (accesses_[a.access].givers == 1 && accesses_[b.access].givers == 1)  // tcgen05.alloc
    return of_one_warp(program_, execution_, shapes_, {first, second});
  if (!of_mbarrier(a) || !of_mbarrier(b)) return false;
  auto const [at, fresh] = of_one_.try_emplace({std::min(first, second), std::max(first, second)}, false);
  if (fresh) at->second = crowd_of(program_, execution_, shapes_, {first, second}) <= 1;
  bool const copies = group_of(program_.accesses[a.access]) != Group::none ||
                      group_of(program_.accesses[b.access]) != Group::none;
  return at->second && warps != RacePair::Warps::own && !copies;
}

bool BlockThreads::holds_for_lane_0(std::function<bool()> const& holds) {
  auto const elects_lane = [&](execution::Leaf const& l) {
    return l.kind == execution::Leaf::Kind::voted && execution::elects(program_, l);
  };
  if (std::none_of(execution_.leaves.begin(), execution_.leaves.end(), elects_lane)) return false;
  shapes_.lane_0_leads = true;
  bool const out = holds();
  shapes_.lane_0_leads = false;
  assumes_lane_0_ = assumes_lane_0_ || out;
  return out;
}

}  // namespace swizproof::kernel_detail
