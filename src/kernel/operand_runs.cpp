#include "operand_runs.hpp"

#include "execution/replay.hpp"

#include <algorithm>

namespace swizproof::kernel_detail {

using execution::Assumption;
using execution::Replay;
using execution::Warp;

Warp& OperandRuns::under(OperandCase const& one) {
  std::vector<Assumption> assumptions = one.assumptions;
  if (one.base) assumptions.push_back({base_, false, base_bits, *one.base});
  return assumptions.empty() ? kernel_.warps.plain(one.warp) : kernel_.warps.under(one.warp, assumptions);
}

bool OperandRuns::depends_on_base(Id id) {
  if (base_ == 0) return false;
  auto const [memo, fresh] = moved_by_base_.try_emplace(id, false);
  if (!fresh) return memo->second;
  std::vector<Id> const leaves = kernel_.origins.leaves_of({id});
  return memo->second = std::find(leaves.begin(), leaves.end(), base_) != leaves.end();
}

bool OperandRuns::exist(OperandCase const& one, std::uint32_t lanes,
                        std::vector<std::uint64_t> const& bases) {
  constexpr std::size_t most_bases = 8;
  if (executes(one, lanes)) return true;
  if (one.assumptions.empty() && replays(one, lanes)) return true;
  if (one.base || !depends_on_base(done_.guard)) return false;
  auto const last = bases.begin() + static_cast<std::ptrdiff_t>(std::min(bases.size(), most_bases));
  return std::any_of(bases.begin(), last, [&](std::uint64_t r) {
    return executes({one.warp, one.assumptions, r}, lanes);
  });
}

/// Nodes of the lanes that elect.sync elects, in the condition.
std::vector<Id> OperandRuns::leaders() const {
  std::vector<Id> all;
  for (Id const id : kernel_.origins.leaves_of({done_.guard}))
    if (elects(kernel_.program, *kernel_.origins.leaf_at(id))) all.push_back(id);
  return all;
}

/// If the shape of the block is not known, only its first warp surely exists.
bool OperandRuns::may_be_launched(unsigned warp) const {
  return done_.exact && (!kernel_.launch.any_multiple || warp == 0);
}

/// One of the lanes executes it in this case, whichever lane is elected.
bool OperandRuns::executes(OperandCase const& one, std::uint32_t lanes) {
  if (!may_be_launched(one.warp)) return false;
  std::uint32_t const sure = kernel_.iterations.surely(one.warp, done_.loop, one.assumptions) & lanes;
  Warp& warp = under(one);
  if ((warp.truth(done_.guard).yes & warp.present() & sure) != 0) return true;
  std::vector<Id> const elected = leaders();
  if (elected.empty()) return false;
  for (unsigned l = 0; l < 32; ++l) {
    if ((warp.present() >> l & 1) == 0) continue;
    OperandCase with = one;
    for (Id const id : elected) with.assumptions.push_back({id, false, 64, l});
    Warp& chosen = under(with);
    if ((chosen.truth(done_.guard).yes & chosen.present() & sure) == 0) return false;
  }
  return true;
}

/// Parameters and the first iteration of each loop with which one of the lanes executes it, whichever lane is elected.
bool OperandRuns::replays(OperandCase const& one, std::uint32_t lanes) {
  constexpr unsigned styles = 8;
  if (!may_be_launched(one.warp)) return false;
  Warp& warp = kernel_.warps.plain(one.warp);
  bool const elected = !leaders().empty();
  Replay::Trips const trips;
  execution::TermValues replayed;
  for (unsigned style = 0; style < styles; ++style) {
    bool all = true;
    std::vector<std::pair<std::string, std::uint64_t>> values;
    for (unsigned l = 0; l < (elected ? 32U : 1U) && all; ++l) {
      if ((warp.present() >> l & 1) == 0) continue;
      Replay run(kernel_.program, kernel_.flow, kernel_.execution, kernel_.launch, warp, done_.loop,
                 line_ * 1000003ULL + style, style, trips, replayed);
      if (one.base) run.place(symbol_, *one.base);
      if (elected) run.elect(l);
      auto const guard = run.value(done_.guard);
      bool on = false;
      for (unsigned lane = 0; lane < 32; ++lane)
        on = on || (guard[lane] != 0 && (warp.present() & lanes) >> lane & 1);
      all = on && run.certain();
      values = named(run.numbers());
    }
    if (!all) continue;
    values_ = std::move(values);
    return true;
  }
  return false;
}

}  // namespace swizproof::kernel_detail
