// All paths of one thread through a kernel, in any launch: each branch goes both ways unless constants decide it. The thread is any lane of a given warp, if
// the threads of a block have numbers, else any thread.
//
// Followed are the registers on which addresses and sizes of accesses to shared memory depend, and the conditions of branches around mbarriers. States
// of a block are told apart by those of its registers that decide mbarriers and are constants, and by what the thread did with mbarriers;
// all else is joined. A truth that is not known is split where it is computed, so that branches on it agree; steps that are one function of
// the thread and the launch have one truth, and so has elect.sync of all lanes [PTX ISA 9.1, elect.sync: the same leader each time].
#pragma once

#include "path_value.hpp"
#include "race_access.hpp"
#include "race_intervals.hpp"
#include "race_thread.hpp"

#include <swizproof/core/splitmix.hpp>
#include <swizproof/program/control_flow.hpp>

#include <bit>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// Counts of one thread at one mbarrier.
struct MbarrierCounts {
  std::int64_t passed = 0, arrived = 0;
  std::int64_t left = 0;    ///< bytes that its arrivals expect, less those of its copies up to the last one
  std::int64_t before = 0;  ///< bytes of copies for its next arrival
  /// Copies of its last arrival's number and of the next one's: access and first byte.
  std::set<std::pair<std::uint32_t, std::uint64_t>> copies{}, next_copies{};
  bool initialised = false;
  friend bool operator==(MbarrierCounts const&, MbarrierCounts const&) = default;
};

/// Reads by wgmma or a copy by cp.async that may not be complete; `holds` and `fills`: rings, a bit each.
struct PathPending {
  std::uint32_t access = 0, commits = 0;
  std::uint64_t holds = 0, fills = 0;
};

/// Counts of a thread on a path.
struct PathHistory {
  std::map<std::uint32_t, MbarrierCounts> of{};  ///< by mbarrier
  std::vector<PathPending> pending{};
  std::int32_t last = -1;  ///< mbarrier of the last wait that was true; not in the key of a state
};

/// Follows the accesses, waits and groups of each path.
class PathObserver {
 public:
  virtual ~PathObserver() = default;
  /// An access that the thread executes. `size`: of a bulk copy or what an operation of an mbarrier is given.
  virtual void access(PathHistory& history, std::uint32_t access, PathValue const& address,
                      PathValue const& size) = 0;
  /// The wait of this access was true.
  virtual void waited(PathHistory& history, std::uint32_t access, PathValue const& address,
                      PathValue const& parity) = 0;
  virtual void order(PathHistory& history, CopyOrder const& order) = 0;
  /// False: the path is followed no further.
  [[nodiscard]] virtual bool goes_on(PathHistory const& history) const = 0;
};

class ThreadPaths {
 public:
  ThreadPaths(program::Program const& program, program::Flow const& flow,
              execution::Execution const& execution, BlockShapes const& shapes,
              std::vector<SharedAccess> const& accesses, std::vector<CopyOrder> const& orders);
  /// Follows all paths of all threads; false if there are too many states. Checked by KernelRings.*.
  [[nodiscard]] bool follow(PathObserver& observer);

 private:
  enum class Use : std::uint8_t {
    steers,
    counts,
    other
  };  ///< branches alone depend on it; it grows in a loop
  struct State {
    std::uint32_t block = 0, step = 0;
    std::size_t order = 0;  ///< next commit or wait of the block
    std::vector<PathValue> values{};
    PathHistory history{};
    std::map<std::uint32_t, bool> truths{};  ///< those that were split, by their number
    std::int32_t wait = -1;                  ///< access of a wait whose result comes next
    PathValue address{}, parity{};
  };
  using Key = std::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(Key const& key) const {
      std::uint64_t out = 0;
      for (std::uint64_t const word : key) out = std::rotl(out ^ word, 29) * splitmix64_step;
      return splitmix64(out);
    }
  };
  struct Known {
    std::vector<PathValue> values{};
    unsigned visits = 0;
  };

  void slice();
  void add_sources(std::vector<std::uint32_t> work, std::vector<bool>& into) const;
  [[nodiscard]] std::vector<bool> near_mbarriers() const;
  [[nodiscard]] std::vector<bool> of_constants() const;
  void find_live();
  void find_live_truths();
  void split(State& state, std::size_t at, bool truth, std::int32_t number);
  [[nodiscard]] bool run(PathObserver& observer);
  [[nodiscard]] bool enter(State state);
  [[nodiscard]] Key key_of(State const& state) const;
  [[nodiscard]] bool demote();
  void go(State state, PathObserver& observer);
  void leave(State& state);
  bool step(State& state, PathObserver& observer);
  bool access(State& state, std::uint32_t access, PathObserver& observer);
  bool fork(State& state, std::int32_t reg);
  [[nodiscard]] PathValue value(State const& state, program::Source const& source) const;
  [[nodiscard]] PathValue computed(State const& state, program::Step const& step) const;
  [[nodiscard]] PathValue special(program::Special which) const;
  [[nodiscard]] PathValue shuffled(State const& state, program::Step const& step) const;
  [[nodiscard]] bool follow_warp(PathObserver& observer);
  [[nodiscard]] bool is_wait(std::uint32_t access) const;

  program::Program const& program_;
  program::Flow const& flow_;
  std::vector<SharedAccess> const& accesses_;
  execution::Execution const& execution_;
  BlockShapes const& shapes_;
  std::uint32_t most_;                   ///< threads of a block
  std::optional<std::uint32_t> warp_{};  ///< of the thread; nothing: any
  std::map<std::uint32_t, std::vector<std::uint32_t>>
      shuffled_{};                                ///< values that a shuffle gives, by step: nodes
  std::vector<std::vector<CopyOrder>> orders_{};  ///< by block, in the order of the text
  std::vector<std::int32_t> index_{};             ///< of each register in `values`; -1: not followed
  std::vector<std::uint32_t> told_{};  ///< low bits in the key of a state, by index; 64: the number
  std::set<std::pair<std::uint32_t, std::size_t>>
      changes_{};                          ///< headers of loops that write a register, with its index
  std::vector<Use> use_{};                 ///< by index
  std::vector<bool> splits_{};             ///< by index: a truth that is split
  std::vector<std::vector<bool>> live_{};  ///< by block and index
  std::vector<std::int32_t> truth_of_{};   ///< by step: number of a truth that several steps have, or -1
  std::vector<std::set<std::uint32_t>>
      live_truths_{};  ///< by block: those that a step behind its beginning has
  std::vector<std::set<std::uint64_t>> seen_values_{};  ///< constants of each register, by index
  unsigned runs_ = 0;                                   ///< that ended with too many states
  std::unordered_map<Key, Known, Hash> states_{};
  std::deque<State> work_{};    ///< at the beginning of a block
  std::vector<State> forks_{};  ///< within a block
};

}  // namespace swizproof::kernel_detail
