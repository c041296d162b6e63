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
/// Checked by Flags.*.
class Flags {
 public:
  explicit Flags(unsigned threads) : fenced_(threads), acquired_(threads), decided_by_order_(threads) {}
  /// fence and membar: a strong store behind it releases, and it acquires what strong loads before it have read.
  /// True if an atomic before it has read what another thread has released, and the order decides if it has.
  bool fence(unsigned thread, Clocks& clocks);
  /// A strong store. It releases what is before it (`release`), before its thread's last fence, or before the last release of its thread
  /// to this address.
  void give(std::uint64_t address, unsigned bytes, unsigned thread, bool release, Clocks& clocks);
  /// A strong load acquires what the store that it reads has released: at once, or at the next fence.
  void take(std::uint64_t address, unsigned thread, bool acquire, Clocks& clocks);
  /// A relaxed atomic: it acquires as a strong load does, and gives what it has read and what is before its thread's last fence.
  void update(std::uint64_t address, unsigned bytes, unsigned thread, Clocks& clocks);
  /// Releases, for a relaxed arrival, what is before its thread's last fence.
  [[nodiscard]] std::optional<Clocks::Arrival> const& released(unsigned thread) const {
    return fenced_[thread];
  }
  /// A relaxed wait: the next fence acquires what the arrivals have released.
  void wait(unsigned thread, Clocks::Moments moments) { acquired_[thread].push_back(std::move(moments)); }
  /// Another write of these bytes: what reads them reads no flag.
  void forget(std::uint64_t address, unsigned bytes);

 private:
  struct Store {
    unsigned thread = 0;
    std::optional<Clocks::Arrival> released{};  ///< by a release to this address
    std::vector<Clocks::Arrival> gives{};
  };
  std::map<std::uint64_t, Store> stores_{};
  std::vector<std::optional<Clocks::Arrival>> fenced_;  ///< of each thread, its last fence
  std::vector<std::vector<Clocks::Moments>> acquired_;  ///< what it has read, and a fence orders
  std::vector<bool> decided_by_order_;                  ///< of each thread: by atomics that no barrier orders
};

}  // namespace swizproof::flow_detail
