// Mbarriers of the blocks of a cluster: counts, transactions, parities, and the 8 bytes of memory that each of them is.
//
// PTX ISA, mbarrier: a phase is complete once its pending arrivals and its transaction count are 0; then the next one begins. Well synchronised
// means that each operation belongs to the same phase in every order of the warps. Checked where it is executed, and sufficient for all orders:
//   (a) init happens before every other operation; inval, and what uses the 8 bytes before and behind, is ordered with all of them;
//   (b) each arrival, expect_tx and bulk copy of phase g happens behind the completion of phase g - 1: its arrivals, and the ends of its copies;
//   (c) each expect_tx of a phase, and each cp.async.mbarrier.arrive without .noinc, happens before a counted arrival of it, and all bytes are
//       expected: the phase cannot be complete without these bytes and copies. Neither the end of a copy nor an arrival that is not counted is one;
//   (d) a wait for phase g happens behind the completion of g - 1: the parity before it cannot let it pass;
//   (e) it happens before an arrival of g + 1: the parity behind it cannot hold it.
// "Happens" is execution here, `Clocks::executed`: relaxed operations count. Memory is ordered by the others alone.
#pragma once

#include "barriers.hpp"
#include "faults.hpp"
#include "order.hpp"
#include "units.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::flow_detail {

/// Kinds of arrivals at an mbarrier: a thread arrives at once, the others once they are complete.
enum class Completes : std::uint8_t { thread, bulk_copy, copies, commit };

/// An operation of one thread.
struct MbarrierOperation {
  unsigned thread = 0;
  FlowTouch touch{};
  bool relaxed = false;
  std::optional<Clocks::Arrival> released{};  ///< times that a fence before a relaxed operation releases
};

/// Mbarriers by address.
class Mbarriers {
 public:
  Mbarriers(Faults& faults, Units units) : faults_(faults), units_(units), slots_(units.blocks) {}
  /// Throws FlowConflict: a count that is not valid, an mbarrier that is in use. Returns its number in its block.
  unsigned init(std::uint64_t address, std::uint32_t count, MbarrierOperation const& op, Clocks& clocks);
  /// True if it is assumed that copies and commits have arrived whose work is complete.
  [[nodiscard]] bool inval(std::uint64_t address, MbarrierOperation const& op, Clocks& clocks);
  /// `count` arrivals, and `bytes` that are expected before. Returns the state.
  std::uint64_t arrive(std::uint64_t address, std::uint32_t count, std::uint32_t bytes,
                       MbarrierOperation const& op, Clocks& clocks);
  /// Copies by cp.async, or the work that a commit tracks, arrive once they are complete. `work`: a moment behind that. They arrive by the
  /// clock of the mbarrier: a wait there orders no arrival at another one. Counted: one of the arrivals that the phase waits for; else the
  /// phase waits for it in addition.
  void arrive_complete(std::uint64_t address, Completes kind, Clocks::Arrival const& work, bool counted,
                       MbarrierOperation const& op, Clocks& clocks);
  /// The clock by which copies and other work arrive at an mbarrier; of one that is not initialised, any.
  [[nodiscard]] unsigned clock_at(std::uint64_t address) const;
  void expect(std::uint64_t address, std::uint32_t bytes, MbarrierOperation const& op, Clocks& clocks);
  /// A bulk copy is issued that completes on it. Returns the number of the clock that copies.
  unsigned copy_begins(std::uint64_t address, MbarrierOperation const& op, Clocks& clocks);
  /// It has written its bytes. `unit`: the clock that copied.
  void copied(std::uint64_t address, std::uint64_t bytes, unsigned unit, Clocks& clocks);
  /// The block has ended: (c) of phases that all have arrived at and that are not complete.
  void end() const;
  /// True if the phase with a parity, or of a state, is complete. Throws FlowConflict for a state of another mbarrier.
  [[nodiscard]] bool passes(std::uint64_t address, bool parity, std::uint64_t phase,
                            MbarrierOperation const& op, Clocks const& clocks);
  /// A wait that passes returns. What a fence behind it acquires, if it is relaxed.
  std::optional<Clocks::Moments> depart(std::uint64_t address, MbarrierOperation const& op, Clocks& clocks);
  /// True if threads of another block have arrived at the phase that a wait passes.
  [[nodiscard]] bool of_other_blocks(std::uint64_t address) const;
  /// The thread that has initialised an mbarrier, and when.
  struct Origin {
    unsigned thread = 0;
    std::uint32_t clock = 0;
    FlowTouch touch{};
    std::uint32_t fence = 0;  ///< clock of the first fence.mbarrier_init behind it; 0: none
  };
  /// Executes fence.mbarrier_init for the mbarriers that this thread has initialised.
  void fence(unsigned thread, Clocks& clocks);
  /// True if fence.mbarrier_init is between the initialisation and what a thread does now: an arrival at the barrier of the cluster
  /// behind this fence releases it, also a relaxed one. Where mbarriers have relaxed operations, only what is ordered counts.
  [[nodiscard]] bool fenced(Origin const& origin, unsigned thread, Clocks const& clocks) const;
  [[nodiscard]] Origin const& origin(std::uint64_t address) const { return barriers_.at(address).origin; }
  /// Its 8 bytes are written.
  void set_origin(std::uint64_t address, std::uint32_t clock) { barriers_.at(address).origin.clock = clock; }

 private:
  struct Operation {
    unsigned thread = 0;
    std::uint32_t own = 0;
    FlowTouch touch{};
  };
  /// Operations, and where they are.
  struct Steps {
    std::vector<Clocks::Arrival> arrivals{};
    std::vector<FlowTouch> touches{};
    std::vector<Completes> kinds{};
    std::vector<bool>
        counted{};  ///< true for the arrivals without which the phase is not complete in any order
    void add(Clocks::Arrival arrival, FlowTouch const& touch, Completes kind = Completes::thread,
             bool count = true) {
      arrivals.push_back(std::move(arrival)), touches.push_back(touch), kinds.push_back(kind),
          counted.push_back(count);
    }
    /// True if one of the counted arrivals is behind an operation.
    [[nodiscard]] bool counted_behind(Operation const& op) const;
  };
  struct Mbarrier {
    bool live = false;
    std::uint32_t count = 0, pending = 0;
    std::uint64_t phase = 0;
    std::int64_t bytes = 0;       ///< bytes that copies have still to write in this phase
    std::uint64_t all_bytes = 0;  ///< expected in this phase: copies may be complete behind all of them
    unsigned slot = 0;
    Origin origin{};
    Steps now{};                            ///< arrivals and ends of copies of this phase
    FlowTouch issued{};                     ///< the last issue of a copy
    std::vector<Clocks::Arrival> issues{};  ///< issues of copies of this phase
    std::vector<Operation> expected{};      ///< operations of this phase
    std::vector<Operation> waits{};         ///< for the phase before, each moment of a thread once
    std::set<std::pair<unsigned, std::uint32_t>> waited{};  ///< these moments
    Steps before{}, before_that{};            ///< `now` of the phase before, and of the one before that
    Clocks::Vector known{}, known_of_wait{};  ///< times known to a thread that (b), or (d), holds for
    Clocks::Moments complete{};
    std::map<unsigned, Operation> last{};  ///< operation of each thread
    /// State that an arrival in this phase returns: the number of the phase, and in the upper bits that of the mbarrier.
    static constexpr unsigned phase_bits = 40;
    [[nodiscard]] std::uint64_t state() const { return std::uint64_t{slot} << phase_bits | phase; }
  };
  Mbarrier& used(std::uint64_t address, MbarrierOperation const& op, Clocks const& clocks);
  bool arrived(Steps const& steps, std::uint64_t address, MbarrierOperation const& op,
               Clocks const& clocks) const;
  void behind(Steps const& steps, Clocks::Vector& known, MbarrierOperation const& op, Clocks const& clocks,
              char const* what) const;
  [[nodiscard]] std::string who(FlowTouch const& touch) const { return units_.thread(touch.doer); }
  /// `the mbarrier at 0x408`, `.. at 0x408 of rank 1`.
  [[nodiscard]] std::string name(std::uint64_t address) const;
  void end_phase(Mbarrier& b, Clocks& clocks);
  void check_expected(Mbarrier const& b) const;
  void expect_bytes(Mbarrier& b, std::uint32_t bytes, MbarrierOperation const& op) const;
  void check_waits(Mbarrier const& b) const;

  Faults& faults_;
  Units units_;
  bool relaxed_ = false;
  std::map<std::uint64_t, Mbarrier> barriers_{};
  std::vector<unsigned> slots_;  ///< mbarriers of each rank
};

}  // namespace swizproof::flow_detail
