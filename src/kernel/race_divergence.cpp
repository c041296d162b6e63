#include "race_divergence.hpp"

#include "race_question.hpp"

#include <algorithm>
#include <variant>

namespace swizproof::kernel_detail {

/// True if a thread may leave at the end of a block with an access behind its last barrier.
bool Divergence::access_before(std::uint32_t block, std::vector<BarrierAt> const& barriers) const {
  std::vector<bool> seen(program_.blocks.size(), false);
  std::vector<std::uint32_t> work{block};
  while (!work.empty()) {
    std::uint32_t const b = work.back();
    work.pop_back();
    if (seen[b]) continue;
    seen[b] = true;
    std::uint32_t from = program_.blocks[b].first;
    bool barrier = false;
    for (BarrierAt const& at : barriers)
      if (at.block == b) from = std::max(from, at.step), barrier = true;
    for (std::uint32_t s = from; s < program_.blocks[b].last; ++s)
      if (program_.steps[s].action == program::Action::access &&
          accesses_[program_.steps[s].extra].role != RaceRole::none)
        return true;
    if (!barrier) work.insert(work.end(), flow_.before[b].begin(), flow_.before[b].end());
  }
  return false;
}

/// True if a branch goes the same way in all threads, of these warps or of each of them.
bool Divergence::is_uniform(std::uint32_t block, std::vector<bool> const& closed, RacePair::Warps warps,
                            WarpSet among, WarpReach const* reach) {
  if (reach != nullptr && reach->agree(block, among)) return true;
  for (std::int32_t const l : flow_.around(flow_.loop[block]))
    if (!closed[static_cast<std::size_t>(l)]) return false;
  std::uint32_t const condition = execution_.conditions[block];
  if (uniform_(condition)) return true;
  std::vector<RaceUnknown> unknowns;
  RacePair pair = fresh_();
  pair.within(among);
  Outcome const answer = never(
      pair, [&](RacePair& p) { return p.differs(block, condition, warps); }, unknowns);
  return std::holds_alternative<Proved>(answer);
}

std::optional<std::uint32_t> Divergence::line_of(std::vector<BarrierAt> const& barriers,
                                                 RacePair::Warps warps, WarpSet among,
                                                 WarpReach const* reach) {
  Deciding const deciding = deciding_branches(program_, flow_, barriers);
  std::vector<bool> const closed = loops_with(flow_, barriers);
  for (std::uint32_t const b : deciding.blocks)
    if (!is_uniform(b, closed, warps, among, reach)) return program_.blocks[b].line;
  for (std::uint32_t const b : deciding.leaves)
    if (!is_uniform(b, closed, warps, among, reach)) {
      if (access_before(b, barriers)) return program_.blocks[b].line;
      some_end_ = true;
    }
  return std::nullopt;
}

}  // namespace swizproof::kernel_detail
