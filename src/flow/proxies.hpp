// Fences between the generic proxy, by which threads access memory, and the async proxy: bulk copies, the TMA, wgmma.
//
// PTX ISA, Memory Consistency Model, Proxies: accesses of one byte through two proxies are ordered if a proxy fence is on the way, in both directions:
//   generic write, then async read or write     fence.proxy.async between
//   generic read, then async write              fence.proxy.async between
//   async access, then generic access           its completion is one: the wait for the mbarrier's phase, or for the group
//   mbarrier.init, then async use               fence.mbarrier_init of the thread that initialised it, or fence.proxy.async
// "On the way" is: the access happens before the fence, and the fence before the other access. Any thread of the block may execute it.
#pragma once

#include "order.hpp"

#include <cstdint>
#include <vector>

namespace swizproof::flow_detail {

/// The proxy fences of one state space.
class ProxyFences {
 public:
  explicit ProxyFences(unsigned threads) : fences_(threads), released_(threads), acquired_(threads) {}
  void fence(unsigned thread, Clocks& clocks) { fences_[thread].push_back(clocks.arrive(thread)), ++count_; }
  /// fence.proxy.async::generic of one direction: a release, then an acquire that it is ordered before, are a fence between what is before
  /// the first and behind the second [PTX ISA 9.0, 9.7.13.4: membar, fence].
  void release(unsigned thread, Clocks& clocks) { released_[thread].push_back(clocks.arrive(thread)); }
  void acquire(unsigned thread, Clocks& clocks);
  /// True if only relaxed operations are between a release and what a thread does now.
  [[nodiscard]] bool released_relaxed(unsigned thread, Clocks const& clocks) const;
  /// True if nothing orders the thread behind others since its own release.
  [[nodiscard]] bool released_alone(unsigned thread, Clocks const& clocks) const {
    return !released_[thread].empty() && released_[thread].back().seen.memory == clocks.seen(thread).memory;
  }
  /// True if a fence is between what `of` did at `when` and what `thread` issues now.
  [[nodiscard]] bool between(unsigned of, std::uint32_t when, unsigned thread, Clocks const& clocks);

 private:
  void look_from(unsigned thread, Clocks const& clocks);

  /// An acquire: its moment, and what is before the releases that it follows.
  struct Acquired {
    std::uint32_t own = 0;
    std::vector<std::uint32_t> before{};
  };
  std::vector<std::vector<Clocks::Arrival>> fences_, released_;  ///< of each thread
  std::vector<std::vector<Acquired>> acquired_;
  std::size_t count_ = 0;
  // Accesses before a fence that is before the thread of the last question.
  std::vector<std::uint32_t> before_{};
  unsigned thread_ = ~0U;
  std::size_t known_ = 0;
  Clocks::Vector seen_{};
};

}  // namespace swizproof::flow_detail
