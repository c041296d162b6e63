#include "flags.hpp"

namespace swizproof::flow_detail {

bool Flags::fence(unsigned thread, Fence const& kind, Clocks& clocks) {
  bool decided = false;
  if (kind.acquires) {
    for (Acquired const& a : acquired_[thread]) {
      excluded_ = excluded_ || (kind.narrow && a.foreign);
      clocks.take(a.moments, thread);
    }
    acquired_[thread].clear();
    decided = decided_by_order_[thread];
    decided_by_order_[thread] = false;
  }
  if (kind.releases) narrow_[thread] = kind.narrow, fenced_[thread] = clocks.arrive(thread);
  return decided;
}

bool Flags::reads(Store const& store, unsigned thread, bool narrow) {
  bool const of_another = foreign(store.thread, thread);
  excluded_ = excluded_ || (of_another && (narrow || store.narrow));
  return of_another;
}

void Flags::give(std::uint64_t address, unsigned bytes, unsigned thread, bool release, bool narrow,
                 Clocks& clocks) {
  Store store = stores_[address];
  forget(address, bytes);  // flags of other sizes, too
  if (store.thread != thread) store = {thread, {}, {}};
  if (release) store.released = clocks.arrive(thread);
  // The later of the two has seen all that the other has.
  auto const& fence = fenced_[thread];
  bool const fence_is_later = fence && (!store.released || fence->own > store.released->own);
  store.gives.clear();
  store.narrow = narrow || (fence_is_later && narrow_[thread]);
  if (fence_is_later || store.released) store.gives.push_back(fence_is_later ? *fence : *store.released);
  stores_[address] = store;
}

void Flags::take(std::uint64_t address, unsigned thread, bool acquire, bool narrow, Clocks& clocks) {
  auto const at = stores_.find(address);
  if (at == stores_.end() || at->second.gives.empty()) return;
  bool const of_another = reads(at->second, thread, narrow);
  if (acquire)
    clocks.take(clocks.merged(at->second.gives), thread);
  else
    acquired_[thread].push_back({clocks.merged(at->second.gives), of_another});
}

void Flags::update(std::uint64_t address, unsigned bytes, unsigned thread, bool narrow, Clocks& clocks) {
  auto const at = stores_.find(address);
  Store store = at == stores_.end() ? Store{} : at->second;
  forget(address, bytes);
  bool const of_another = !store.gives.empty() && reads(store, thread, narrow);
  if (!store.gives.empty()) acquired_[thread].push_back({clocks.merged(store.gives), of_another});
  for (Clocks::Arrival const& a : store.gives)
    if (!clocks.ordered(a.thread, a.own, thread)) decided_by_order_[thread] = true;
  if (store.thread != thread) store.thread = thread, store.released.reset();
  if (auto const& fence = fenced_[thread]) {
    std::erase_if(store.gives, [&](Clocks::Arrival const& a) { return a.thread == thread; });
    store.gives.push_back(*fence);
    store.narrow = store.narrow || narrow || narrow_[thread];
  }
  if (!store.gives.empty()) stores_[address] = std::move(store);
}

void Flags::forget(std::uint64_t address, unsigned bytes) {
  constexpr std::uint64_t widest = 8;
  auto at = stores_.lower_bound(address < widest ? 0 : address - widest + 1);
  while (at != stores_.end() && at->first < address + bytes) at = stores_.erase(at);
}

}  // namespace swizproof::flow_detail
