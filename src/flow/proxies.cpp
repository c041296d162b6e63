#include "proxies.hpp"

#include <algorithm>

namespace swizproof::flow_detail {

/// Last fence of each thread that is ordered before: it orders the most accesses.
void ProxyFences::look_from(unsigned thread, Clocks const& clocks) {
  Clocks::Vector const& seen = clocks.seen(thread).memory;
  if (thread == thread_ && count_ == known_ && seen == seen_) return;
  thread_ = thread, known_ = count_, seen_ = seen;
  before_.assign(clocks.size(), 0);
  std::vector<Clocks::Vector> done;
  for (unsigned by = 0; by < fences_.size(); ++by) {
    auto const& pairs = acquired_[by];
    auto const later = std::partition_point(
        pairs.begin(), pairs.end(), [&](Acquired const& a) { return clocks.ordered(by, a.own, thread); });
    if (later != pairs.begin())
      for (std::size_t u = 0; u < before_.size(); ++u)
        before_[u] = std::max(before_[u], std::prev(later)->before[u]);
    auto const& all = fences_[by];
    auto const behind = std::partition_point(
        all.begin(), all.end(), [&](Clocks::Arrival const& f) { return clocks.ordered(by, f.own, thread); });
    if (behind == all.begin()) continue;
    Clocks::Arrival const& last = *std::prev(behind);
    before_[by] = std::max(before_[by], last.own);
    if (std::find(done.begin(), done.end(), last.seen.memory) != done.end()) continue;
    done.push_back(last.seen.memory);
    for (std::size_t u = 0; u < before_.size(); ++u)
      before_[u] = std::max(before_[u], (*last.seen.memory)[u]);
  }
}

bool ProxyFences::released_relaxed(unsigned thread, Clocks const& clocks) const {
  for (unsigned by = 0; by < released_.size(); ++by)
    for (Clocks::Arrival const& r : released_[by])
      if (clocks.executed(by, r.own, thread) && !clocks.ordered(by, r.own, thread)) return true;
  return false;
}

void ProxyFences::acquire(unsigned thread, Clocks& clocks) {
  std::vector<std::uint32_t> before(clocks.size(), 0);
  for (unsigned by = 0; by < released_.size(); ++by) {
    auto const& all = released_[by];
    auto const behind = std::partition_point(
        all.begin(), all.end(), [&](Clocks::Arrival const& r) { return clocks.ordered(by, r.own, thread); });
    if (behind == all.begin()) continue;
    Clocks::Arrival const& last = *std::prev(behind);
    before[by] = std::max(before[by], last.own);
    for (std::size_t u = 0; u < before.size(); ++u) before[u] = std::max(before[u], (*last.seen.memory)[u]);
  }
  acquired_[thread].push_back({clocks.arrive(thread).own, std::move(before)});
  ++count_;
}

bool ProxyFences::between(unsigned of, std::uint32_t when, unsigned thread, Clocks const& clocks) {
  look_from(thread, clocks);
  return before_[of] >= when;
}

}  // namespace swizproof::flow_detail
