// Strong accesses that order others: release and acquire of flags in memory (PTX ISA, Memory Consistency Model, Release and Acquire Patterns).
#pragma once

#include "order.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace swizproof::flow_detail {

/// Releases of strong stores by their address, and what threads acquire of them. Relaxed arrivals and waits of barriers are strong accesses, too.
/// `narrow`: the scope is .cta, which has the threads of the block alone. Checked by Flags.*.
class Flags {
 public:
  Flags(unsigned threads, unsigned threads_of_block)
      : fenced_(threads),
        acquired_(threads),
        decided_by_order_(threads),
        narrow_(threads),
        threads_of_block_(threads_of_block) {}
  /// Directions of a fence: fence.release and fence.acquire have one alone. [PTX ISA, Memory Consistency Model: Release and Acquire Patterns]
  struct Fence {
    bool releases = true, acquires = true, narrow = false;
  };
  /// fence and membar: where it releases, a strong store behind it does so; where it acquires, it orders what strong loads before it have read.
  /// True if an atomic before it has read what another thread has released, and the order decides if it has.
  bool fence(unsigned thread, Fence const& kind, Clocks& clocks);
  /// A strong store. It releases what is before it (`release`), before its thread's last fence, or before the last release of its thread
  /// to this address.
  void give(std::uint64_t address, unsigned bytes, unsigned thread, bool release, bool narrow,
            Clocks& clocks);
  /// A strong load acquires what the store that it reads has released: at once, or at the next fence.
  void take(std::uint64_t address, unsigned thread, bool acquire, bool narrow, Clocks& clocks);
  /// A relaxed atomic: it acquires as a strong load does, and gives what it has read and what is before its thread's last fence.
  void update(std::uint64_t address, unsigned bytes, unsigned thread, bool narrow, Clocks& clocks);
  /// Releases, for a relaxed arrival, what is before its thread's last fence.
  [[nodiscard]] std::optional<Clocks::Arrival> const& released(unsigned thread) const {
    return fenced_[thread];
  }
  /// A relaxed wait: the next fence acquires what the arrivals have released.
  void wait(unsigned thread, Clocks::Moments moments) {
    acquired_[thread].push_back({std::move(moments), false});
  }
  /// True if the last fence of a thread has the scope .cta: what releases it beyond the block is not followed.
  [[nodiscard]] bool narrow(unsigned thread) const { return narrow_[thread]; }
  /// True, once, if a release and an acquire of two blocks have met, and a scope of one of them is .cta.
  [[nodiscard]] bool excluded() { return std::exchange(excluded_, false); }
  /// Another write of these bytes: what reads them reads no flag.
  void forget(std::uint64_t address, unsigned bytes);

 private:
  struct Store {
    unsigned thread = 0;
    std::optional<Clocks::Arrival> released{};  ///< by a release to this address
    std::vector<Clocks::Arrival> gives{};
    bool narrow = false;
  };
  /// Releases that a strong load has read.
  struct Acquired {
    Clocks::Moments moments{};
    bool foreign = false;  ///< of another block
  };
  [[nodiscard]] bool foreign(unsigned a, unsigned b) const {
    return a / threads_of_block_ != b / threads_of_block_;
  }
  /// True if a store is one of another block; notes if a scope excludes it.
  [[nodiscard]] bool reads(Store const& store, unsigned thread, bool narrow);
  std::map<std::uint64_t, Store> stores_{};
  std::vector<std::optional<Clocks::Arrival>> fenced_;  ///< of each thread, its last fence that releases
  std::vector<std::vector<Acquired>> acquired_;  ///< what it has read, and a fence that acquires orders
  std::vector<bool> decided_by_order_;           ///< of each thread: by atomics that no barrier orders
  std::vector<bool> narrow_;  ///< of each thread: the scope of its last fence that releases
  unsigned threads_of_block_;
  bool excluded_ = false;
};

}  // namespace swizproof::flow_detail
