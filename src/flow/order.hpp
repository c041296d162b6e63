// Happens-before of one block as vector clocks: what each thread is ordered behind.
//
//   program order of each thread, and edges of synchronisation: from an ARRIVAL (bar.sync, bar.arrive, mbarrier.arrive, a release)
//   to a DEPARTURE (bar.sync, a wait for the phase, an acquire)
//
// An edge starts at the arrival: what a thread does behind its arrival is not ordered before the others' departure. So clocks are taken
// when a thread arrives, not when the barrier completes (PTX ISA, Memory Consistency Model, Causality Order).
//
// Two relations are kept. `memory` orders accesses. `execution` also has the edges of relaxed operations, which order no memory
// (PTX ISA, mbarrier.arrive, `.sem`), but after which a phase is complete, and of elect.sync, which waits for its members. They are one object where a kernel has no relaxed operation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace swizproof::flow_detail {

/// Takes the larger of each two clocks.
void raise(std::vector<std::uint32_t>& to, std::vector<std::uint32_t> const& from);

/// Clocks of the threads of a block and of the units that copy or multiply for them.
class Clocks {
 public:
  using Vector = std::shared_ptr<std::vector<std::uint32_t> const>;
  /// Moments of all threads, as two relations have them.
  struct Moments {
    Vector memory{}, execution{};
  };
  /// A thread at one moment: what is ordered before it, and its own clock.
  struct Arrival {
    Moments seen{};  ///< memory: nothing where the operation is relaxed
    unsigned thread = 0;
    std::uint32_t own = 0;
    bool relaxed = false;
    /// True if moment `when` of thread `of` is executed before this.
    [[nodiscard]] bool behind(unsigned of, std::uint32_t when) const {
      return of == thread ? own >= when : (*seen.execution)[of] >= when;
    }
  };

  explicit Clocks(unsigned threads);
  [[nodiscard]] std::uint32_t now(unsigned thread) const { return own_[thread]; }
  /// True if moment `when` of thread `of` is ordered before what `thread` does now.
  [[nodiscard]] bool ordered(unsigned of, std::uint32_t when, unsigned thread) const {
    return of == thread || (*seen_[thread].memory)[of] >= when;
  }
  /// True if it is executed before, in each order of the warps: relaxed operations count, too.
  [[nodiscard]] bool executed(unsigned of, std::uint32_t when, unsigned thread) const {
    return of == thread || (*seen_[thread].execution)[of] >= when;
  }
  /// A thread arrives: what it has done is before, what it does from now on is not.
  [[nodiscard]] Arrival arrive(unsigned thread, bool relaxed = false);
  /// All that is ordered before a departure behind these arrivals.
  [[nodiscard]] Moments merged(std::vector<Arrival> const& arrivals) const;
  /// A departure: orders these moments before what a thread does from now on.
  void take(Moments const& moments, unsigned thread, bool relaxed = false);
  /// Members arrive and depart at once: a barrier of a part of a warp. Relaxed: it orders no memory.
  void meet(std::vector<unsigned> const& members, bool relaxed = false);
  /// A thread's own moments.
  [[nodiscard]] Moments const& seen(unsigned thread) const { return seen_[thread]; }
  void tick(unsigned thread) { ++own_[thread]; }
  /// A fence has ordered shared memory alone: what is ordered from here on may be so by it.
  void restrict_to_shared() { restricted_ = true; }
  [[nodiscard]] bool restricted_to_shared() const { return restricted_; }
  [[nodiscard]] std::size_t size() const { return own_.size(); }

 private:
  Vector joined(Vector const& a, Vector const& b);

  std::vector<std::uint32_t> own_;
  std::vector<Moments> seen_;
  bool restricted_ = false;
  Vector last_a_{}, last_b_{},
      last_joined_{};  ///< threads of a warp take the same moments one after the other
};

}  // namespace swizproof::flow_detail
