// Numbers of the clocks of a cluster: the threads of its blocks, and the units that copy or multiply for them.
#pragma once

#include <fmt/format.h>

#include <string>

namespace swizproof::flow_detail {

/// Mbarriers of a block that bulk copies may complete on.
inline constexpr unsigned most_mbarriers = 64;

/// Clocks in their order: threads; bulk copies, one clock for each mbarrier; wgmma, one for each warp; bulk stores, two for each thread: what
/// they read, and what they write; arrivals of cp.async at mbarriers, one for each thread; tcgen05.mma, one for each thread; tcgen05.ld and
/// tcgen05.st, one for each warp.
struct Units {
  unsigned threads = 0;  ///< of all blocks; in a cluster of several, each block has whole warps
  unsigned blocks = 1;
  [[nodiscard]] unsigned threads_of_block() const { return threads / blocks; }
  [[nodiscard]] unsigned warps() const { return (threads + 31) / 32; }
  [[nodiscard]] unsigned copy(unsigned slot) const { return threads + slot; }
  [[nodiscard]] unsigned wgmma(unsigned warp) const { return copy(most_mbarriers * blocks) + warp; }
  [[nodiscard]] unsigned store_reads(unsigned thread) const { return wgmma(warps()) + thread; }
  [[nodiscard]] unsigned store_writes(unsigned thread) const { return store_reads(threads) + thread; }
  [[nodiscard]] unsigned copies(unsigned thread) const { return store_writes(threads) + thread; }
  [[nodiscard]] unsigned tensor_mma(unsigned thread) const { return copies(threads) + thread; }
  [[nodiscard]] unsigned tensor_loads(unsigned warp) const { return tensor_mma(threads) + warp; }
  [[nodiscard]] unsigned tensor_stores(unsigned warp) const { return tensor_loads(warps()) + warp; }
  /// Clocks of a kernel with these kinds of units.
  [[nodiscard]] unsigned count(bool asynchronous, bool stores, bool arrives, bool tensor) const {
    return tensor         ? tensor_stores(warps())
           : arrives      ? copies(threads)
           : stores       ? store_writes(threads)
           : asynchronous ? store_reads(0)
                          : threads;
  }
  /// True if it accesses memory by the generic proxy: a thread, and not a unit.
  [[nodiscard]] bool generic(unsigned doer) const { return doer < threads; }
  /// The thread that a unit works for; of a bulk copy, the first one of the block with its mbarrier.
  [[nodiscard]] unsigned thread_of(unsigned doer) const {
    if (doer < threads) return doer;
    if (doer < wgmma(0)) return (doer - threads) / most_mbarriers * threads_of_block();
    if (doer < store_reads(0)) return (doer - wgmma(0)) * 32;
    if (doer >= tensor_stores(0)) return (doer - tensor_stores(0)) * 32;
    if (doer >= tensor_loads(0)) return (doer - tensor_loads(0)) * 32;
    return (doer - store_reads(0)) % threads;
  }
  /// %cluster_ctarank of the block that a thread or a unit belongs to.
  [[nodiscard]] unsigned rank_of(unsigned doer) const { return thread_of(doer) / threads_of_block(); }
  /// ` of rank 1`, where a cluster has several blocks.
  [[nodiscard]] std::string of_rank(unsigned rank) const {
    return blocks == 1 ? std::string() : fmt::format(" of rank {}", rank);
  }
  /// `thread 3`, `thread 3 of rank 1`.
  [[nodiscard]] std::string thread(unsigned t) const {
    return fmt::format("thread {}{}", t % threads_of_block(), of_rank(t / threads_of_block()));
  }
  /// `warp 2`, `warp 2 of rank 1`.
  [[nodiscard]] std::string warp(unsigned w) const {
    return fmt::format("warp {}{}", w % (warps() / blocks), of_rank(w / (warps() / blocks)));
  }
  /// `thread 3`, `the TMA`.
  [[nodiscard]] std::string who(unsigned doer) const {
    if (doer < threads) return thread(doer);
    if (doer < wgmma(0))
      return "the TMA" + (blocks == 1 ? "" : " for the mbarriers" + of_rank(rank_of(doer)));
    if (doer < store_reads(0)) return "wgmma of " + warp(doer - wgmma(0));
    if (doer >= tensor_stores(0)) return "tcgen05.st of " + warp(doer - tensor_stores(0));
    if (doer >= tensor_loads(0)) return "tcgen05.ld of " + warp(doer - tensor_loads(0));
    if (doer >= tensor_mma(0)) return "tcgen05 of " + thread(doer - tensor_mma(0));
    if (doer >= copies(0)) return "cp.async of " + thread(doer - copies(0));
    return "the bulk store of " + thread((doer - store_reads(0)) % threads);
  }
  /// `barrier`, or the wait that orders the accesses of a unit before others.
  [[nodiscard]] char const* order_of(unsigned doer) const {
    return doer < store_reads(0)   ? "barrier"
           : doer >= tensor_mma(0) ? "tcgen05.commit and wait at its mbarrier"
                                   : "wait for its bulk group";
  }
};

}  // namespace swizproof::flow_detail
