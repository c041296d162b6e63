// Tensor Memory of a block: 128 lanes of 512 columns of 32 bits, who has allocated a column, and who wrote and read each cell.
//
// tcgen05.mma, .ld and .st are asynchronous, also for the thread that issues them [PTX ISA 9.1, 9.7.16.6]. Each is complete by a moment of a
// clock of its own (units.hpp). A second access of a cell, one of the two a write, is ordered behind the first
//   (a) if tcgen05.fence::after_thread_sync of its thread is behind the first's completion: tcgen05.commit and the wait at its mbarrier,
//       or tcgen05.wait::ld, ::st and what orders that thread [9.7.16.6.4.2, 9.7.16.6.4.4];
//   (b) if its own thread has waited for the first by tcgen05.wait::ld, ::st [9.7.16.8.5];
//   (c) if the memory model orders it behind the completion, by an acquire or a barrier and without a fence: "the standard memory consistency
//       model synchronization mechanisms also apply" [9.7.16.6.3]. The answer states this reading;
//   (d) if both are pipelined, and issued by one thread, or with tcgen05.fence::before_thread_sync and (a) or (c) between [9.7.16.6.2, .3]:
//       tcgen05.mma of one accumulator and shape; cp before mma; shift before mma and cp.4x256b; mma before shift;
//       The order is one of instructions: what is behind one that is behind the first is behind the first,
//       also where (a) has the one behind the first and (b) or (c) the second behind the one;
//   (e) if one thread issues a mma that reads and a cp that overwrites it: 9.7.16.6.2 does not list this pair, and kernels with block scales
//       depend on it. So two cp are ordered by a mma between. The answer states this reading.
// tcgen05.dealloc is synchronous: it needs completion alone.
//
// An instruction with .cta_group::2 accesses the Tensor Memory of both blocks of a pair [9.7.16.5]: it is an access of each of the two.
#pragma once

#include "faults.hpp"
#include "names.hpp"
#include "order.hpp"
#include "units.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

inline constexpr unsigned tensor_lanes = 128, tensor_columns = 512;

/// Asynchronous instructions of tcgen05. Completion of the first two is that of tcgen05.wait, of the others that of tcgen05.commit.
enum class TensorOperation : std::uint8_t { load, store, mma, copy, copy_4x256b, shift };

/// An asynchronous instruction that accesses Tensor Memory.
struct TensorAccess {
  std::vector<unsigned> threads{};  ///< that execute it: of ld and st a warp
  unsigned unit = 0;                ///< number of the clock by which it is complete
  FlowTouch touch{};
  TensorOperation operation = TensorOperation::load;
  std::uint64_t accumulator = 0;  ///< tcgen05.mma: address and shape of D
  std::uint32_t clock = 0;        ///< moment of the unit
  std::uint32_t issued = 0;       ///< moment of the first thread
  std::vector<Clocks::Vector>
      behind{};  ///< execution before the last tcgen05.fence::after_thread_sync of its threads, each once

  /// True if tcgen05.commit tracks it.
  [[nodiscard]] bool is_committed() const { return operation >= TensorOperation::mma; }
};

/// 32 bits: a number, or bytes of names.
struct TensorCell {
  std::array<std::uint32_t, 4> part{};
  std::uint32_t number = 0;
  std::uint8_t named = 0;
  std::uint32_t writer = 0;  ///< number of an access; 0: none
  std::vector<std::uint32_t> readers{};
};

/// tcgen05.fence of the threads of a cluster.
struct TensorFences {
  /// tcgen05.fence::before_thread_sync of a thread: its moment, and what is before it.
  struct Before {
    std::uint32_t own = 0;
    Clocks::Vector memory{};
  };
  explicit TensorFences(unsigned threads) : before(threads), after(threads) {}

  std::vector<std::vector<Before>> before;  ///< of each thread
  std::vector<Clocks::Vector>
      after;  ///< execution before the last tcgen05.fence::after_thread_sync of each thread
};

/// Tensor Memory of one block.
class TensorMemory {
 public:
  TensorMemory(Clocks& clocks, Faults& faults, Units units, TensorFences const& fences)
      : clocks_(clocks),
        faults_(faults),
        units_(units),
        fences_(fences),
        cells_(std::size_t{tensor_lanes} * tensor_columns),
        owner_(tensor_columns, 0) {}

  /// The lowest free columns, for a warp; nothing if there are none now. Throws FlowConflict: a count that is not valid.
  [[nodiscard]] std::optional<unsigned> allocate(std::uint64_t columns, unsigned thread, FlowTouch const& by);
  void deallocate(std::uint64_t address, std::uint64_t columns, unsigned thread, FlowTouch const& by);
  /// Fails if a thread that frees columns is not ordered behind their accesses: of its block, or of the other one of its pair.
  void need_unused(unsigned first, unsigned columns, unsigned thread, FlowTouch const& by);
  /// No alloc of the block may follow: each has to be ordered before it. [PTX ISA 9.1, 9.7.16.7.1]
  void relinquish(unsigned thread, FlowTouch const& by);
  /// The block has ended: all columns have to be free.
  void end();

  /// All that a unit of tcgen05.mma has begun, as a commit has it: the same for commits without an access between.
  [[nodiscard]] Clocks::Arrival const& committed(unsigned unit);
  /// Begins an access; the next reads and writes are of it.
  void begin(TensorAccess access);
  /// Fails if columns [first, first + count) are not allocated for what begins now.
  void need_columns(std::uint64_t first, std::uint64_t count);
  /// Reads a cell; what nothing has written is a fault, unless `any`, and 0 here.
  TensorCell const* read(unsigned lane, unsigned column, bool any = false);
  void write(unsigned lane, unsigned column, Word const& value);
  /// Instruction that wrote a cell.
  [[nodiscard]] std::uint32_t line_of(TensorCell const& cell) const {
    return accesses_[cell.writer].touch.line;
  }
  /// A register is read that tcgen05.ld of this instruction writes, without a wait between.
  void used_early(std::uint32_t line) { used_early_.insert(line); }
  /// Instructions that are ordered by (c), and loads whose registers are used without a wait.
  [[nodiscard]] std::set<std::uint32_t> const& by_acquire() const { return by_acquire_; }
  [[nodiscard]] std::set<std::uint32_t> const& used_early() const { return used_early_; }
  /// Instructions behind a relaxed arrival that no tcgen05.fence::before_thread_sync is before.
  [[nodiscard]] std::set<std::uint32_t> const& unannounced() const { return unannounced_; }
  /// tcgen05.cp that are ordered by (e).
  [[nodiscard]] std::set<std::uint32_t> const& overwriting() const { return overwriting_; }
  /// alloc and dealloc of another warp than the first alloc.
  [[nodiscard]] std::set<std::uint32_t> const& by_other_warps() const { return by_other_warps_; }

 private:
  struct Allocation {
    unsigned first = 0, columns = 0, thread = 0;
    std::uint32_t clock = 0;      ///< moment of the thread: of alloc, then of dealloc
    unsigned allocator = 0;       ///< thread of alloc
    std::uint32_t allocated = 0;  ///< its moment
    FlowTouch by{};
    std::optional<FlowTouch> freed{};
  };
  /// Relation of an access to an earlier one, from the worst on.
  enum class Relation : std::uint8_t { none, unfenced, unannounced, overwrites, acquired, ordered };
  /// Relation of an earlier access to all threads of the current one. `wrote` in the calls below: it has written the cell, and not read it.
  struct Judged {
    Relation worst = Relation::ordered, best = Relation::none;
    bool told = false;
    [[nodiscard]] bool accepted() const { return worst >= Relation::unannounced; }
  };

  [[nodiscard]] Relation seen(unsigned of, std::uint32_t when, unsigned thread) const;
  [[nodiscard]] bool announced(TensorAccess const& first, unsigned thread) const;
  [[nodiscard]] Relation in_order(std::uint32_t earlier, bool wrote) const;
  [[nodiscard]] Relation by_another(std::uint32_t earlier, unsigned thread) const;
  [[nodiscard]] Relation relation(std::uint32_t earlier, TensorAccess const& second, unsigned thread,
                                  bool wrote) const;
  [[nodiscard]] Judged& judged(std::uint32_t earlier, bool wrote);
  void check(std::uint32_t earlier, unsigned lane, unsigned column, char const* verb, bool wrote);
  void conflict(TensorAccess const& first, Relation relation, std::string const& text);
  [[nodiscard]] std::string name(TensorAccess const& a) const;

  Clocks& clocks_;
  Faults& faults_;
  Units units_;
  TensorFences const& fences_;
  std::vector<TensorCell> cells_;
  std::vector<std::uint32_t> owner_;  ///< of each column, the last allocation; 0: none
  std::vector<Allocation> allocations_{1};
  std::optional<FlowTouch> relinquished_{};
  std::vector<TensorAccess> accesses_{1};
  std::map<unsigned, Clocks::Arrival> committed_{};
  std::map<std::uint32_t, Judged>
      judged_{};  ///< earlier accesses that the current one was compared with: 2 n, + 1 if they wrote
  Judged* last_judged_ = nullptr;
  std::uint32_t last_key_ = 0;
  std::set<std::uint32_t> by_acquire_{}, used_early_{}, by_other_warps_{}, unannounced_{}, overwriting_{};
};

}  // namespace swizproof::flow_detail
