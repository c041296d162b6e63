#include "proxies.hpp"

#include <algorithm>

namespace swizproof::flow_detail {

namespace {

/// The last of a thread's arrivals, in its order, that is ordered before another thread; null without one.
template <class Arrival>
Arrival const* last_before(std::vector<Arrival> const& all, unsigned by, unsigned thread,
                           Clocks const& clocks) {
  auto const behind = std::partition_point(
      all.begin(), all.end(), [&](Arrival const& a) { return clocks.ordered(by, a.own, thread); });
  return behind == all.begin() ? nullptr : &*std::prev(behind);
}

}  // namespace

/// Last fence of each thread that is ordered before: it orders the most accesses.
void ProxyFences::look_from(unsigned thread, Clocks const& clocks) {
  Clocks::Vector const& seen = clocks.seen(thread).memory;
  if (thread == thread_ && count_ == known_ && seen == seen_) return;
  thread_ = thread, known_ = count_, seen_ = seen;
  before_.assign(clocks.size(), 0);
  std::vector<Clocks::Vector> done;
  for (unsigned by = 0; by < fences_.size(); ++by) {
    if (auto const* const later = last_before(acquired_[by], by, thread, clocks))
      raise(before_, later->before);
    auto const* const last = last_before(fences_[by], by, thread, clocks);
    if (last == nullptr) continue;
    before_[by] = std::max(before_[by], last->own);
    if (std::find(done.begin(), done.end(), last->seen.memory) != done.end()) continue;
    done.push_back(last->seen.memory);
    raise(before_, *last->seen.memory);
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
    auto const* const last = last_before(released_[by], by, thread, clocks);
    if (last == nullptr) continue;
    before[by] = std::max(before[by], last->own);
    raise(before, *last->seen.memory);
  }
  acquired_[thread].push_back({clocks.arrive(thread).own, std::move(before)});
  ++count_;
}

bool ProxyFences::between(unsigned of, std::uint32_t when, unsigned thread, Clocks const& clocks) {
  look_from(thread, clocks);
  return before_[of] >= when;
}

}  // namespace swizproof::flow_detail
