// Flags that order accesses of a block between two barriers, as a thread on numbers passes them.
//
// A release is a strong write behind a fence, or a write that releases; an acquire is a strong read in front of a fence, or a read that acquires. atom is
// a read and a write, red a write [PTX ISA 9.1, Memory Consistency Model: Operation Types, Release and Acquire Patterns]. What is in front of a release of one thread comes before what is behind an
// acquire of another one that observes it. Here each acquire may observe each release: whether it does depends on which thread was faster.
#pragma once

#include <swizproof/program/opcode.hpp>
#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace swizproof::kernel_detail {

class FlagOrders {
 public:
  /// Place of an access in its thread.
  struct At {
    std::uint32_t fences = 0;  ///< that its thread had executed
    bool behind = false;       ///< of an acquire of its own thread
  };
  /// An access of a thread; `phase`: barriers of the warp that it had passed.
  struct Access {
    std::uint32_t thread = 0, phase = 0;
    At at{};
    bool goes_on = false;  ///< the thread may do more in this interval than was executed
  };

  /// True for an instruction that may read a flag: ld with an order, atom.
  [[nodiscard]] static bool reads(program::Opcode const& op);

  explicit FlagOrders(ptx::Function const& function);

  /// False if the function has no acquire or no release.
  [[nodiscard]] bool any() const { return any_; }
  void begin(std::size_t threads);
  void begin_interval();
  /// A thread executes an instruction: to be called before its accesses, and after them.
  void before(std::uint32_t thread, std::uint32_t phase, program::Opcode const& op);
  void after(std::uint32_t thread, std::uint32_t phase, program::Opcode const& op);
  [[nodiscard]] At at(std::uint32_t thread) const {
    return {threads_[thread].fences, threads_[thread].acquired};
  }
  /// True if a flag may order accesses of two threads in one interval, which is over.
  [[nodiscard]] bool may_order(Access const& a, Access const& b) const;

 private:
  struct Thread {
    std::uint32_t fences = 0, released = 0;  ///< fences in front of its last release
    bool read = false, acquired = false;     ///< in this interval
  };
  /// The first acquire in the interval, and the last release, of any lane: barriers of the warp pass them on.
  struct Warp {
    std::uint32_t acquired = std::numeric_limits<std::uint32_t>::max(), released = 0;  ///< phases
  };
  [[nodiscard]] bool behind(Access const& a) const;
  [[nodiscard]] bool in_front(Access const& a) const;

  bool any_ = false;
  std::vector<Thread> threads_{};
  std::vector<Warp> warps_{};
};

}  // namespace swizproof::kernel_detail
