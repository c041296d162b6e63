#include "flags.hpp"

namespace swizproof::flow_detail {

void Flags::fence(unsigned thread, Clocks& clocks) {
  for (Clocks::Moments const& moments : acquired_[thread]) clocks.take(moments, thread);
  acquired_[thread].clear();
  fenced_[thread] = clocks.arrive(thread);
}

void Flags::give(std::uint64_t address, unsigned bytes, unsigned thread, bool release, Clocks& clocks) {
  Store store = stores_[address];
  forget(address, bytes);  // flags of other sizes, too
  if (store.thread != thread) store = {thread, {}, {}};
  if (release) store.released = clocks.arrive(thread);
  // The later of the two has seen all that the other has.
  auto const& fence = fenced_[thread];
  bool const fence_is_later = fence && (!store.released || fence->own > store.released->own);
  store.gives = fence_is_later ? fence : store.released;
  stores_[address] = store;
}

void Flags::take(std::uint64_t address, unsigned thread, bool acquire, Clocks& clocks) {
  auto const at = stores_.find(address);
  if (at == stores_.end() || !at->second.gives) return;
  if (acquire)
    clocks.take(clocks.merged({*at->second.gives}), thread);
  else
    acquired_[thread].push_back(clocks.merged({*at->second.gives}));
}

void Flags::forget(std::uint64_t address, unsigned bytes) {
  constexpr std::uint64_t widest = 8;
  auto at = stores_.lower_bound(address < widest ? 0 : address - widest + 1);
  while (at != stores_.end() && at->first < address + bytes) at = stores_.erase(at);
}

}  // namespace swizproof::flow_detail
