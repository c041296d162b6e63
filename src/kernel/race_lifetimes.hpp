// Lifetimes of mbarriers: from an mbarrier.init to the next one at the same address.
//
// An address is *used again* if it has several mbarrier.init, or one that a path leads back to. Positions are those of the text: a thread whose guard is false
// passes the position of an instruction, too. S is the sequence of barriers of the block and of positions of mbarrier.init and mbarrier.inval that a
// thread passes. Premises of an address that is used again, each of them checked:
//   1  All threads pass the same S, and no thread ends early. Thread 0 executes each mbarrier.init and mbarrier.inval whose position it passes.
//   2  On no path is another operation but mbarrier.inval between a barrier and the position of the next mbarrier.init. Operations between this position and
//      the next barrier are by thread 0 alone.
//   3  Each path from an mbarrier.init to the next one passes an mbarrier.inval.
// Premises of each address, with `paths` of the control flow up to the next position of an mbarrier.init:
//   4  No path from an mbarrier.inval has an operation of the mbarrier.
//   5  The paths from an mbarrier.init have one arrival at most. None leads from it, or from a copy, back to it. At most one thread executes each.
//   6  The copies on them bring at most the bytes that the arrival expects.
//   7  A pair of an mbarrier.init or an mbarrier.inval and another operation does not meet (races.cpp): those of copies, and of the arrival of a
//      commit, up to a wait that was true.
//
// Theorem. In each lifetime phase 0 alone may be complete, and a wait for it that was true is behind the arrival and all copies of its own lifetime.
// Proof. Thread 0 executes an mbarrier.init in the interval of S of its position (1), the same one for all threads. Operations in this interval are by thread
// 0, behind it (2); all others are in intervals before or behind. So each is in one lifetime, and follows its mbarrier.init on a path without another one: 5
// and 6 are about those of one lifetime. It has one arrival, by one thread, which expects the bytes of all copies. With no second arrival
// no other phase is complete. Behind mbarrier.inval, in the order of S or on a path of one interval, is no operation by 4.
//
// Order. Of a copy, paths are followed up to a wait, from thread to thread at barriers (race_intervals.hpp). A path that passes no position of mbarrier.init has
// its waits in the lifetime of the copy. Let a path pass one first, without a wait. Its part before the last barrier, and the part of thread 0 behind it, has no
// wait by 2 and comes to mbarrier.init, so that 7 is about the pair of both: thread 0 executed the copy, too. Its own path from the copy to mbarrier.init
// has a wait by 7, which was true: the copy is complete before mbarrier.init, which is before the waits of the next lifetime.
// A wait of another thread in the interval of a copy is of the same lifetime: with an mbarrier.init in it, 2 excludes the wait.
//
// A branch is one behind a wait of its own lifetime if its block has the wait, and no mbarrier.init of the address behind the wait. With a copy between the
// wait and the branch, the wait is not true: the bytes of the copy, or the arrival behind a read by tcgen05, are missing.
//
// tcgen05.commit is an arrival that is complete behind all that tcgen05 reads for its thread before it. Each path from such a read comes to one
// commit first, and to no mbarrier.init of its mbarrier before; one thread alone executes the reads and the commit.
#pragma once

#include "race_intervals.hpp"

#include <swizproof/program/control_flow.hpp>
#include <swizproof/program/program.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// Accesses at the address of one mbarrier.
struct MbarrierUse {
  std::set<std::uint32_t> inits{}, invals{}, waits{};
  std::map<std::uint32_t, std::uint64_t> arrivals{};  ///< with the bytes that they expect
  std::map<std::uint32_t, std::uint64_t> copies{};    ///< with the bytes that they bring
};

class Lifetimes {
 public:
  /// `barriers`: of the whole block.
  Lifetimes(program::Program const& program, program::Flow const& flow,
            std::vector<BarrierAt> const& barriers);

  struct Defect {
    std::string why{};
    std::uint32_t access = 0;
  };
  /// A premise of 2 to 6 that does not hold, or thread 0 of 1. Threads that execute an access are not counted here. Checked by KernelLifetimes.*.
  /// `one`: true if at most one thread executes any of these accesses.
  using OneThread = std::function<bool(std::vector<std::uint32_t> const&)>;
  [[nodiscard]] std::optional<Defect> defect(MbarrierUse const& use, OneThread const& one) const;
  /// True if a second mbarrier.init may be executed at the address.
  [[nodiscard]] bool is_used_again(MbarrierUse const& use) const;
  /// Positions of mbarrier.init and mbarrier.inval, as if they were barriers.
  [[nodiscard]] std::vector<BarrierAt> events(MbarrierUse const& use) const;
  /// Accesses that a path from this one comes to, up to one of `stops`, which are among them.
  [[nodiscard]] std::set<std::uint32_t> behind(std::uint32_t access,
                                               std::set<std::uint32_t> const& stops) const;

 private:
  struct Place {
    std::uint32_t block = 0, step = 0;
  };
  [[nodiscard]] std::set<std::uint32_t> walk(std::uint32_t access, std::set<std::uint32_t> const& stops,
                                             bool to_barrier) const;
  [[nodiscard]] std::optional<Defect> defect_again(MbarrierUse const& use,
                                                   std::set<std::uint32_t> const& once,
                                                   OneThread const& one) const;
  [[nodiscard]] bool is_of_thread_0(std::uint32_t access) const;
  [[nodiscard]] std::optional<std::uint64_t> of_thread_0(program::Source const& source, unsigned depth) const;
  [[nodiscard]] std::string const& op(std::uint32_t access) const { return program_.accesses[access].op; }

  program::Program const& program_;
  std::vector<std::vector<Place>> places_{};            ///< by access
  std::vector<std::vector<std::uint32_t>> barriers_{};  ///< by block: steps, in order
  std::vector<std::vector<std::uint32_t>> accesses_{};  ///< by block: steps that are accesses
  std::vector<std::int64_t> writer_{};                  ///< by register: its one step; -1: none, -2: several
};

}  // namespace swizproof::kernel_detail
