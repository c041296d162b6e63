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

bool ProxyFences::between(unsigned of, std::uint32_t when, unsigned thread, Clocks const& clocks) {
  look_from(thread, clocks);
  return before_[of] >= when;
}

}  // namespace swizproof::flow_detail
