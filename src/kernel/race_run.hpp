// One block on numbers, thread by thread from barrier to barrier: an order of its threads that a launch can have.
//
// A launch has zeros in memory, shared memory too, or rising or falling numbers of its words; the block loads again what it stores. Atomics on words of shared memory take
// effect in the order in which threads are run. A value that is not followed (most of floating point) is open: what is known of it is its term (race_values.hpp). A thread that branches on an open value, or leaves an array, goes no further; what
// the block did before is an execution all the same. Threads of a warp need no lockstep: each runs on its own. Instructions of the whole
// warp, shuffles and those of wgmma, are taken to order its threads; those on matrices wait for the warp, and order nothing. Two accesses that a flag may order (race_flags.hpp) are no race. A thread that reads flags again and again lets others go on.
#pragma once

#include "race_access.hpp"
#include "race_bytes.hpp"
#include "race_data.hpp"
#include "race_intervals.hpp"
#include "race_matrices.hpp"
#include "race_meetings.hpp"
#include "race_state.hpp"
#include "race_values.hpp"

#include <swizproof/kernel/races.hpp>
#include <swizproof/program/program.hpp>
#include <swizproof/ptx/module.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

class RaceRun {
 public:
  static constexpr std::uint64_t shared_window = 1 << 24;  ///< addresses below are shared memory

  RaceRun(ptx::Function const& function, program::Program const& lowered,
          std::vector<SharedAccess> const& accesses, std::uint64_t end);

  /// Races of a launch, one for each pair of instructions.
  using Found = MetRace;
  std::vector<Found> const& run(RaceLaunch const& launch);
  /// Parameters that it read, by symbol and offset.
  [[nodiscard]] std::set<std::pair<std::uint32_t, std::uint64_t>> const& read() const {
    return bytes_.read();
  }
  /// Loads of the launch, by the sets in what run() found.
  [[nodiscard]] LoadSets& sets() { return data_.sets; }
  /// True if every thread came to its end.
  [[nodiscard]] bool complete() const { return complete_; }
  /// True if a flag may order two accesses of a run that would be a race.
  [[nodiscard]] bool has_flags() const { return meetings_.any_by_flag; }

 private:
  using Value = RaceValue;
  using Event = RaceEvent;
  using Copy = RaceCopy;
  using Thread = RaceThread;
  void go(std::uint32_t number);
  bool steps(Thread& t, std::uint32_t number, std::uint32_t first, std::uint32_t last,
             ptx::Instruction const* of);
  bool branch(Thread& t);
  bool step(Thread& t, std::uint32_t number, program::Step const& s, ptx::Instruction const* of);
  bool access(Thread& t, std::uint32_t number, std::uint32_t index, ptx::Instruction const* of);
  Value load(Thread const& t, std::uint32_t number, program::Step const& s);
  [[nodiscard]] std::optional<RaceChange> change_of(Thread const& t, std::uint32_t number,
                                                    ptx::Instruction const& i);
  void make(Thread& t, ptx::Instruction const& i, RaceChange const& change);
  [[nodiscard]] std::optional<ShuffleOffer> offer_of(Thread const& t, ptx::Instruction const& i);
  bool exchange_all();
  bool execute_matrices();
  [[nodiscard]] std::vector<Value> stored_by(Thread const& t, ptx::Instruction const& i);
  [[nodiscard]] std::vector<Value> copied_by(Thread const& t, ptx::Instruction const& i, unsigned bytes);
  void store(Thread const& t, ptx::Instruction const& i, std::uint64_t at, LoadSets::Set where);
  void store_global(Thread const& t, ptx::Instruction const& i);
  void note(Event const& e, std::uint64_t byte);
  void end_interval();
  void note_copy(Thread& t, Event e, std::uint64_t byte, Group of);
  bool wgmma(Thread& t, std::uint32_t number, std::uint32_t index, Value const& descriptor);
  bool order_copies(Thread& t, ptx::Instruction const& i);
  void begin_interval();
  [[nodiscard]] bool pending(Event const& e) const;
  [[nodiscard]] Value value(Thread const& t, program::Source const& s) const;
  [[nodiscard]] Value value(Thread const& t, ptx::Operand const& o) const;
  bool release();
  [[nodiscard]] bool ordered(Event const& a, Event const& b) const;
  [[nodiscard]] Event event_of(Thread const& t, std::uint32_t number, std::uint32_t index,
                               LoadSets::Set data) const;

  ptx::Function const& function_;
  program::Program const& program_;
  std::vector<SharedAccess> const& accesses_;
  std::vector<std::vector<program::LoweredInstruction>> of_block_{};
  std::uint64_t end_;                ///< of shared memory
  std::set<std::uint32_t> traps_{};  ///< indices in the body
  RaceLaunch const* launch_ = nullptr;
  std::vector<Thread> threads_{};
  bool any_store_ = false;  ///< to an address that is not known
  DataDecisions data_;
  ValueTerms terms_;
  RaceBytes bytes_;
  MatrixValues matrices_;
  std::vector<bool> strong_{};  ///< loads, by name
  std::unordered_map<std::uint64_t, std::vector<Event>> seen_{};
  RaceMeetings meetings_;
  std::uint64_t left_ = 0;  ///< steps
  bool complete_ = false;
};

}  // namespace swizproof::kernel_detail
