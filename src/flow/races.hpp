// Memory of a kernel with the names in it, and who wrote and read each byte: reads and writes that no barrier orders are found here.
#pragma once

#include "names.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace swizproof::flow_detail {

/// Mbarriers that bulk copies may complete on. Clocks behind those of the threads: one for each of them, one for each warp's wgmma, two for
/// each thread's bulk stores.
inline constexpr unsigned most_mbarriers = 64;

/// Clocks of threads: of each other thread, the last moment that a barrier orders before its own.
class Clocks {
 public:
  explicit Clocks(unsigned threads);
  [[nodiscard]] std::uint32_t now(unsigned thread) const { return own_[thread]; }
  /// True if moment `when` of thread `of` is before what `thread` does now.
  [[nodiscard]] bool ordered(unsigned of, std::uint32_t when, unsigned thread) const {
    return of == thread || (*seen_[thread])[of] >= when;
  }
  /// Orders all that `givers` have done before what `takers` do from now on.
  void join(std::vector<unsigned> const& givers, std::vector<unsigned> const& takers);
  using Moments = std::shared_ptr<std::vector<std::uint32_t> const>;
  /// All that is ordered before now, its own moment included.
  [[nodiscard]] Moments moments(std::vector<unsigned> const& threads) const;
  void take(Moments const& moments, unsigned thread);
  void tick(unsigned thread) { ++own_[thread]; }
  [[nodiscard]] std::size_t size() const { return own_.size(); }

 private:
  std::vector<std::uint32_t> own_;
  std::vector<Moments> seen_;
};

/// Groups of cp.async of each thread.
class AsyncGroups {
 public:
  explicit AsyncGroups(unsigned threads) : threads_(threads) {}
  /// The group that a copy issued now belongs to.
  [[nodiscard]] std::uint32_t open(unsigned thread) const { return threads_[thread].open; }
  void commit(unsigned thread) { ++threads_[thread].open; }
  /// Waits until at most `pending` of the committed groups are not complete; all: also what is not committed.
  void wait(unsigned thread, std::uint32_t pending, bool all, std::uint32_t now);
  /// The moment at which a thread has waited for a group; 0: it has not.
  [[nodiscard]] std::uint32_t done(unsigned thread, std::uint32_t group) const {
    auto const& when = threads_[thread].done;
    return group < when.size() ? when[group] : 0;
  }

 private:
  struct Thread {
    std::uint32_t open = 0;
    std::vector<std::uint32_t> done{};
  };
  std::vector<Thread> threads_;
};

/// Thread and instruction of an access.
struct Toucher {
  unsigned thread = 0;
  std::uint32_t line = 0;   ///< index of the instruction
  std::uint32_t group = 0;  ///< of cp.async: 1 + the group
  unsigned as = ~0U;        ///< a unit that does it for the thread, by the number of its clock
  [[nodiscard]] unsigned doer() const { return as == ~0U ? thread : as; }
};

/// Fences between ordinary accesses and those of wgmma and the TMA (fence.proxy.async).
class ProxyFences {
 public:
  explicit ProxyFences(unsigned threads) : fences_(threads) {}
  void fence(unsigned thread, Clocks& clocks);
  /// True if a fence is between what `of` did at `when` and an access of the async proxy that `thread` issues: by `of` or by `thread`.
  [[nodiscard]] bool between(unsigned of, std::uint32_t when, unsigned thread, Clocks const& clocks) const;
  /// True if one of any thread is. PTX does not say if that is enough.
  [[nodiscard]] bool by_another(unsigned of, std::uint32_t when, unsigned thread, Clocks const& clocks) const;

 private:
  struct Fence {
    std::uint32_t when;
    Clocks::Moments before;  ///< what is ordered before it
  };
  /// True if a fence of `by` is between.
  [[nodiscard]] bool by_one(unsigned by, unsigned of, std::uint32_t when, unsigned thread,
                            Clocks const& clocks) const;
  std::vector<std::vector<Fence>> fences_;  ///< of each thread
};

/// One byte.
struct Cell {
  std::uint32_t part = 0;
  std::uint32_t clock = 0;
  std::uint32_t line = 0;
  std::uint32_t group = 0;
  std::uint16_t thread = 0;
  std::uint8_t number = 0;
  bool written = false;
  bool read_before = false;  ///< before anything was written
  struct Reader {
    std::uint16_t thread;
    std::uint32_t clock, line;
  };
  std::vector<Reader> readers{};
};

/// Two instructions of two threads that no barrier orders, or another fault of an access.
struct FlowConflict {
  std::string text{};
  std::vector<std::uint32_t> lines{};
};

/// Bytes of one state space.
class Bytes {
 public:
  /// `place` names a byte in messages.
  Bytes(std::function<std::string(std::uint64_t)> place, Clocks& clocks, AsyncGroups& groups,
        unsigned threads)
      : place_(std::move(place)), clocks_(clocks), groups_(groups), threads_(threads) {}

  /// The cell, if it was written.
  [[nodiscard]] Cell const* find(std::uint64_t address) const;
  /// Reads a byte that was written. Throws FlowConflict.
  Cell const& read(std::uint64_t address, Toucher const& by);
  /// Reads a byte that nothing has written: a later write by another thread is a race.
  void read_first(std::uint64_t address, Toucher const& by) {
    Cell& c = cell(address);
    c.read_before = true;
    note(c, by);
  }
  void write(std::uint64_t address, Toucher const& by, std::uint32_t part, std::uint8_t number);
  /// Calls fn(address, cell) for all that was written, or read before it was.
  template <class Fn>
  void each(Fn const& fn) const {
    for (auto const& [page, cells] : pages_)
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i].written || cells[i].read_before) fn(page * page_bytes + i, cells[i]);
  }
  static constexpr std::uint64_t page_bytes = 256;
  /// `thread 3`; what copies or multiplies for threads has a number behind theirs.
  [[nodiscard]] std::string who(unsigned doer) const;

 private:
  Cell& cell(std::uint64_t address);
  /// The first clock of bulk stores.
  [[nodiscard]] unsigned first_store() const { return threads_ + most_mbarriers + (threads_ + 31) / 32; }
  /// `barrier`, or the wait that orders the accesses of a unit before others.
  [[nodiscard]] char const* order_of(unsigned doer) const;
  void note(Cell& c, Toucher const& by);
  void check_write(Cell const& c, std::uint64_t address, Toucher const& by, char const* verb) const;

  std::function<std::string(std::uint64_t)> place_;
  Clocks& clocks_;
  AsyncGroups& groups_;
  unsigned threads_;
  std::unordered_map<std::uint64_t, std::vector<Cell>> pages_;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  std::vector<Cell>* last_ = nullptr;
};

}  // namespace swizproof::flow_detail
