#include "race_groups.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

namespace swizproof::kernel_detail {

namespace {

constexpr std::uint64_t warp_threads = 32;

/// Groups whose named barriers count them, those of fewer warps first.
std::vector<WarpGroup> counted_groups(Barriers const& barriers, WarpReach const& reach) {
  std::map<WarpSet, std::vector<BarrierAt>> by_warps;
  for (auto const& [number, named] : barriers.named) {
    WarpSet warps = 0;
    for (BarrierAt const& at : named.at) warps |= reach.of_block(at.block);
    if (!named.count || static_cast<std::uint64_t>(std::popcount(warps)) * warp_threads > *named.count)
      continue;
    std::vector<BarrierAt>& all = by_warps[warps];
    all.insert(all.end(), named.at.begin(), named.at.end());
  }
  std::vector<WarpGroup> out;
  for (auto const& [warps, own] : by_warps) {
    WarpGroup group{warps, {}};
    for (auto const& [others, of_others] : by_warps)
      if ((warps & ~others) == 0)
        group.barriers.insert(group.barriers.end(), of_others.begin(), of_others.end());
    out.push_back(std::move(group));
  }
  std::stable_sort(out.begin(), out.end(), [](WarpGroup const& a, WarpGroup const& b) {
    return std::popcount(a.warps) < std::popcount(b.warps);
  });
  return out;
}

}  // namespace

WarpGroups::WarpGroups(program::Program const& program, program::Flow const& flow,
                       execution::Execution const& execution, BlockShapes const& shapes,
                       Barriers const& barriers, Divergence& divergence) {
  std::set<std::uint32_t> open;  // instructions
  for (auto const& [number, named] : barriers.named)
    for (BarrierAt const& at : named.at) open.insert(at.instruction);
  if (!open.empty() && barriers.broken.empty()) {
    reach_ = std::make_unique<WarpReach>(program, flow, execution, shapes);
    for (WarpGroup& group : counted_groups(barriers, *reach_)) {
      group.barriers.insert(group.barriers.end(), barriers.of_block.begin(), barriers.of_block.end());
      if (divergence.line_of(group.barriers, RacePair::Warps::any, group.warps, reach_.get())) continue;
      for (BarrierAt const& at : group.barriers) open.erase(at.instruction);
      groups_.push_back(std::move(group));
    }
  }
  complete_ = open.empty();
  groups_.push_back({all_warps, barriers.of_block});
}

WarpGroup const& WarpGroups::of(std::uint32_t a, std::uint32_t b) const {
  if (!reach_) return groups_.back();
  WarpSet const both = reach_->of_access(a) | reach_->of_access(b);
  return *std::find_if(groups_.begin(), groups_.end(),
                       [&](WarpGroup const& g) { return (both & ~g.warps) == 0; });
}

}  // namespace swizproof::kernel_detail
