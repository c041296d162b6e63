// Memory of a block with the names in it, and who wrote and read each byte.
//
// A race is two accesses to a byte by different threads, one of them a write, that happens-before (order.hpp) does not order (PTX ISA, Memory
// Consistency Model, Data-races). Each write is remembered until a later write is ordered behind it, also one that wrote the same value. Two
// writes of one value without order are a kind of their own, `same-value race`: the byte is the same in each order. Lanes of one
// instruction that write one value are no race. Strong accesses (acquire, release, relaxed, volatile, atomics) of one byte race with weak ones
// alone; of two without order the order decides, unless they are atomics of one kind.
#pragma once

#include "faults.hpp"
#include "names.hpp"
#include "order.hpp"
#include "units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace swizproof::flow_detail {

/// Groups of cp.async of each thread.
class AsyncGroups {
 public:
  explicit AsyncGroups(unsigned threads) : threads_(threads) {}
  /// The group that a copy issued now belongs to.
  [[nodiscard]] std::uint32_t open(unsigned thread) const { return threads_[thread].open; }
  void commit(unsigned thread) { threads_[thread].ends.push_back(++threads_[thread].open); }
  /// The copies that are issued arrive at an mbarrier; `moment`: of the unit that arrives for the thread.
  void arrive(unsigned thread, std::uint32_t moment) {
    threads_[thread].arrived.resize(++threads_[thread].open, moment);
  }
  /// Waits until at most `pending` of the committed groups are not complete; all: also what is not committed.
  void wait(unsigned thread, std::uint32_t pending, bool all, std::uint32_t now);
  /// The moment at which a thread has waited for a group; 0: it has not.
  [[nodiscard]] std::uint32_t done(unsigned thread, std::uint32_t group) const {
    auto const& when = threads_[thread].done;
    return group < when.size() ? when[group] : 0;
  }
  /// The moment of its unit at which a group has arrived at an mbarrier; 0: it has not.
  [[nodiscard]] std::uint32_t arrived(unsigned thread, std::uint32_t group) const {
    auto const& when = threads_[thread].arrived;
    return group < when.size() ? when[group] : 0;
  }

 private:
  struct Thread {
    std::uint32_t open = 0;  ///< also one more behind each arrival: numbers are not those of commits
    std::vector<std::uint32_t> ends{};  ///< of each commit, the number behind it
    std::vector<std::uint32_t> done{}, arrived{};
  };
  std::vector<Thread> threads_;
};

/// Thread and instruction of an access.
struct Toucher {
  unsigned thread = 0;
  std::uint32_t line = 0;   ///< index of the instruction
  std::uint32_t group = 0;  ///< of cp.async: 1 + the group
  unsigned as = ~0U;        ///< a unit that does it for the thread, by the number of its clock
  std::uint32_t execution = 0;
  bool strong = false;
  std::uint32_t atomic = 0;  ///< kind of an atomic: two of one kind have one result in each order; 0 is none
  bool narrow = false;       ///< its scope is .cta: strong to threads of its block alone
  bool in_cluster = false;   ///< its scope is .cta or .cluster
  /// Lane that holds the bytes of a row of ldmatrix or stmatrix, where `thread` gives the address.
  unsigned holder = ~0U;
  [[nodiscard]] unsigned held_by() const { return holder == ~0U ? thread : holder; }
  [[nodiscard]] unsigned doer() const { return as == ~0U ? thread : as; }
};

/// One byte.
struct Cell {
  /// An access that was made, and when.
  struct Access {
    std::uint32_t clock = 0, line = 0, execution = 0;
    std::uint32_t group = 0;  ///< of cp.async: 1 + the group
    std::uint16_t doer = 0, holder = 0;
    std::uint32_t clock_of_holder = 0;  ///< where `holder` is another thread than `doer`
    bool strong = false, narrow = false;
    bool possible = false;  ///< a read that the PTX ISA leaves open
    std::uint32_t atomic = 0;
  };
  /// Accesses that `writer` is ordered behind, and a further write of its value has to be: writes of another value, writes of this one, reads.
  struct Past {
    std::vector<Access> writers{}, equal{}, readers{};
  };
  std::uint32_t part = 0;
  std::uint8_t number = 0;
  bool written = false;
  bool read_before = false;                    ///< before anything was written
  bool weak_read = false, weak_write = false;  ///< by accesses that are not strong to other clusters
  bool mbarrier = false;                       ///< a byte of an mbarrier
  /// Read as data that the kernel only reads.
  enum class Constant : std::uint8_t { no, nc, ldu };
  Constant constant = Constant::no;
  Access writer{};
  std::vector<Access> readers{};
  std::vector<Access> others{};  ///< writers of the same value that are not ordered before the last one
  std::unique_ptr<Past> past{};
};

/// Bytes of one state space.
class Bytes {
 public:
  /// `place` names a byte in messages; `same_values`: two writes of one value without order are accepted.
  Bytes(std::function<std::string(std::uint64_t)> place, Names const& names, Clocks& clocks,
        AsyncGroups& groups, Faults& faults, Units units, bool same_values)
      : place_(std::move(place)),
        names_(names),
        clocks_(clocks),
        groups_(groups),
        faults_(faults),
        units_(units),
        same_values_(same_values) {}

  /// The cell, if it was written.
  [[nodiscard]] Cell const* find(std::uint64_t address) const;
  /// The cell, if it was accessed.
  [[nodiscard]] Cell const* known(std::uint64_t address) const {
    auto const page = pages_.find(address / page_bytes);
    return page == pages_.end() ? nullptr : &page->second[address % page_bytes];
  }
  /// Reads a byte: nothing if no thread has written it, which is a fault.
  Cell const* read(std::uint64_t address, Toucher const& by);
  /// Reads a byte of an array that nothing has written: a later write by another thread is a race.
  void read_first(std::uint64_t address, Toucher const& by) {
    Cell& c = cell(address);
    c.read_before = true;
    note_read(c, by);
  }
  /// A byte that may be read: the PTX ISA does not say who of several reads it. Where the order of a write and this read is open, the answer is
  /// unknown.
  void may_read(std::uint64_t address, Toucher const& by);
  /// A byte that ld.global.nc or ldu reads: nothing may write it.
  void read_constant(std::uint64_t address, Toucher const& by, Cell::Constant how);
  void write(std::uint64_t address, Toucher const& by, std::uint32_t part, std::uint8_t number);
  /// The cell that an atomic changes: nothing if no thread has written it, which is a fault. write() follows, and finds races.
  Cell const* update(std::uint64_t address, Toucher const& by);
  /// Bytes become those of an mbarrier (mbarrier.init), or memory again (mbarrier.inval): both write them.
  void write_mbarrier(std::uint64_t address, Toucher const& by, bool live);
  /// Calls fn(address, cell) for all that was written, or read before it was.
  template <class Fn>
  void each(Fn const& fn) const {
    for (auto const& [page, cells] : pages_)
      for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i].written || cells[i].read_before) fn(page * page_bytes + i, cells[i]);
  }
  static constexpr std::uint64_t page_bytes = 256;
  [[nodiscard]] std::string place(std::uint64_t address) const { return place_(address); }
  /// An access as a fault has it.
  [[nodiscard]] static FlowTouch touch(Cell::Access const& a) { return {a.line, a.execution, a.doer}; }
  [[nodiscard]] static FlowTouch touch(Toucher const& by) { return {by.line, by.execution, by.doer()}; }

 private:
  Cell& cell(std::uint64_t address);
  /// Remembers an access; of a thread its last one, and the last one of its cp.async.
  static void note(std::vector<Cell::Access>& accesses, Cell::Access const& last);
  [[nodiscard]] Cell::Access access(Toucher const& by) const;
  void note_read(Cell& c, Toucher const& by) {
    c.weak_read = c.weak_read || by.in_cluster || !by.strong;
    note(c.readers, access(by));
  }
  /// Accesses of a row of a matrix: by the lane that gives the address, and by the one that holds the bytes.
  [[nodiscard]] bool given_ordered(Cell::Access const& first, Toucher const& by) const;
  [[nodiscard]] bool held_ordered(Cell::Access const& first, Toucher const& by) const;
  [[nodiscard]] bool ordered(Cell::Access const& first, Toucher const& by) const {
    return given_ordered(first, by) &&
           ((first.holder == first.doer && by.holder == ~0U) || held_ordered(first, by));
  }
  [[nodiscard]] bool before(Cell::Access const& first, std::uint64_t address, Toucher const& by);
  [[nodiscard]] bool copied(Cell::Access const& copy, unsigned thread) const;
  /// True if both are strong, and the scope of each has the thread of the other. [PTX ISA, Memory Consistency Model: morally strong operations]
  [[nodiscard]] bool both_strong(Cell::Access const& first, Toucher const& by) const {
    return first.strong && by.strong &&
           ((!first.narrow && !by.narrow) || units_.rank_of(first.doer) == units_.rank_of(by.doer()));
  }
  /// True of two atomics of one kind, each strong to the other: their result is one in each order.
  [[nodiscard]] bool exclude_each_other(Cell::Access const& first, Toucher const& by) const {
    return first.atomic != 0 && first.atomic == by.atomic && first.group == 0 && both_strong(first, by);
  }
  [[nodiscard]] bool two_warps(Cell::Access const& first, Toucher const& by) const;
  void check_writer(Cell::Access const& w, std::uint64_t address, Toucher const& by, char const* verb,
                    bool same);
  void race_with_copy(Cell::Access const& copy, std::uint64_t address, Toucher const& by, char const* verb,
                      bool reads);
  void check_reader(Cell::Access const& r, std::uint64_t address, Toucher const& by);
  /// Makes the accesses before a write its past. A write of the same value keeps the past of the one before.
  void replace(Cell& c, std::uint64_t address, Toucher const& by, bool same);
  void race(FlowFaultKind kind, Cell::Access const& first, Toucher const& by, std::uint64_t address,
            char const* verb, char const* verb_of_first);
  void uninitialised(std::uint64_t address, Toucher const& by);
  void refuse_mbarrier(std::uint64_t address, Toucher const& by, char const* verb) const;

  [[nodiscard]] bool same_value(Cell const& c, Toucher const& by, std::uint32_t part,
                                std::uint8_t number) const;

  std::function<std::string(std::uint64_t)> place_;
  Names const& names_;
  Clocks& clocks_;
  AsyncGroups& groups_;
  Faults& faults_;
  Units units_;
  bool same_values_;
  std::unordered_map<std::uint64_t, std::vector<Cell>> pages_;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  std::vector<Cell>* last_ = nullptr;
};

}  // namespace swizproof::flow_detail
