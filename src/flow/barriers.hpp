// Named barriers of a block, and the barrier of a cluster.
//
// A generation of a barrier is complete at the moment at which its count of threads has arrived; the next arrival belongs to the next one (PTX
// ISA, barrier{.cta}). A launch is well synchronised if each generation has the same participants in every order of the warps. Checked on the
// order that is executed, and sufficient for all (Weft, PLDI 2015):
//   (a) each arrival of generation g happens before each arrival of generation g + 1;
//   (b) a warp arrives once in a generation, and exactly the count arrives.
// Arrivals that no warp waits for may be left at the end of the block: by (a) they are behind each generation that is complete, in every order.
// If (a) or (b) fails, question.cpp executes other orders until one has a fault; the answer is undecided if none has one.
#pragma once

#include "faults.hpp"
#include "order.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace swizproof::flow_detail {

/// One warp at a barrier: its threads that arrive, the first of them first.
struct BarrierArrival {
  unsigned warp = 0;
  std::vector<unsigned> threads{};
  FlowTouch touch{};
  std::uint32_t count = 0;  ///< of threads that it gives; 0: all of the block
  bool waits = true;        ///< bar.sync, not bar.arrive
  bool reduces = false;     ///< bar.red
};

/// Barriers 0 to 15 of a block.
class NamedBarriers {
 public:
  static constexpr std::uint64_t most = 16;  ///< PTX ISA: barriers 0 to 15
  NamedBarriers(unsigned threads, Faults& faults) : faults_(faults), block_warps_((threads + 31) / 32) {}

  /// A warp arrives. `live`: warps that have not ended. Returns the warps that a complete generation releases. Throws FlowConflict for a count
  /// that is not valid.
  [[nodiscard]] std::vector<unsigned> arrive(std::uint64_t id, BarrierArrival const& arrival, unsigned live,
                                             Clocks& clocks);
  /// A warp has ended: a barrier without a count waits for the others alone. Returns the warps that each barrier releases.
  [[nodiscard]] std::vector<std::vector<unsigned>> end_of_warp(unsigned live, Clocks& clocks);

 private:
  struct Participant {
    unsigned warp = 0;
    Clocks::Arrival arrival{};
    FlowTouch touch{};
  };
  struct Barrier {
    std::vector<Participant> now{}, before{};  ///< of this generation, and of the one before
    std::vector<Clocks::Arrival> arrivals{};
    std::vector<unsigned> waiting{};
    std::map<unsigned, std::vector<unsigned>> threads_of{};
    unsigned warps = 0;  ///< that have arrived
    std::uint32_t count = 0;
    bool any = false, reduces = false;
  };
  [[nodiscard]] std::vector<unsigned> complete(Barrier& b, unsigned live, Clocks& clocks) const;
  void check_order(std::uint64_t id, Barrier const& b, BarrierArrival const& arrival,
                   Clocks const& clocks) const;

  Faults& faults_;
  unsigned block_warps_;
  std::map<std::uint64_t, Barrier> barriers_{};
};

/// barrier.cluster: all threads of the blocks of a cluster that have not ended arrive. [PTX ISA, barrier.cluster]
class ClusterBarrier {
 public:
  explicit ClusterBarrier(unsigned threads) : phase_of_(threads) {}
  /// A thread arrives; false if it has not waited since it did. `released`: of a relaxed arrival, what a fence before it releases.
  [[nodiscard]] bool arrive(unsigned thread, bool relaxed, std::optional<Clocks::Arrival> const& released,
                            Clocks& clocks);
  /// 1 + the phase that a thread has arrived at; 0: it has not.
  [[nodiscard]] std::uint64_t phase_of(unsigned thread) const { return phase_of_[thread]; }
  [[nodiscard]] bool complete(unsigned thread) const { return phase_of_[thread] <= phase_; }
  void depart(unsigned thread, Clocks& clocks);
  /// A thread ends: in each order the phase that it has not arrived at is complete behind its end, which releases no memory. Checked by
  /// Clusters.HaveBlocksThatBeginAndEnd.
  void end(unsigned thread, Clocks& clocks);
  /// Completes the phase once all `live` threads have arrived; `is_live(thread)`.
  template <class Fn>
  void end_phase(unsigned live, Fn const& is_live, Clocks const& clocks) {
    unsigned here = 0;
    for (unsigned const t : threads_) here += is_live(t) ? 1 : 0;
    if (threads_.empty() || here < live) return;
    complete_ = clocks.merged(arrivals_);
    threads_.clear(), arrivals_ = std::exchange(ends_, {});
    ++phase_;
  }

 private:
  std::vector<unsigned> threads_{};
  std::vector<Clocks::Arrival> arrivals_{},
      ends_{};  ///< of the next phase: of threads that have arrived and end
  std::vector<std::uint64_t> phase_of_;
  std::uint64_t phase_ = 0;
  Clocks::Moments complete_{};
};

}  // namespace swizproof::flow_detail
