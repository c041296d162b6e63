// Intervals between the barriers of a block, from the control flow: which accesses may be in one.
//
// Soundness. All threads of a block pass the same sequence of barriers if each branch on which the sequence depends goes the same way
// in all of them (race_uniform.hpp checks that). Then two accesses are in one interval only if both are reached from one barrier, or
// from the entry, without another barrier between, with the loops around that barrier in the same iteration. A barrier that is not
// one of the whole block is left out: without it more accesses are in one interval, and never fewer.
#pragma once

#include <swizproof/program/control_flow.hpp>
#include <swizproof/ptx/module.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace swizproof::kernel_detail {

/// A barrier before a step of a block.
struct BarrierAt {
  std::uint32_t block = 0, step = 0, line = 0;
};

/// Barriers of a kernel.
struct Barriers {
  std::vector<BarrierAt> of_block{};
  std::vector<BarrierAt> of_warp{};  ///< all lanes of a warp
  std::string broken{};              ///< why none of them is known to hold the whole block; empty: each does
  std::string other{};  ///< other synchronisation, which orders more than these barriers do; empty: none
};

/// `lowered`: of the function, as ptx::lower() gives it; `program`: the same with one entry to each loop. `threads`: of a block, 0 if not known.
[[nodiscard]] Barriers barriers_of(ptx::Function const& function, program::Program const& lowered,
                                   program::Program const& program, std::uint64_t threads);

/// Iteration of a loop around an access, compared with that of the barrier that begins the interval.
enum class Turn : std::uint8_t {
  any,
  same,   ///< of the barrier
  next,   ///< the one behind it
  first,  ///< of a loop that is entered in the interval
  second
};

/// An access in an interval.
struct Visit {
  std::uint32_t access = 0;
  std::vector<Turn> turns{};                               ///< of the loops around it, the innermost first
  friend bool operator<(Visit const& a, Visit const& b) {  // emscripten's lists have no <=>
    return std::tie(a.access, a.turns) < std::tie(b.access, b.turns);
  }
};

/// For the entry and each barrier: the accesses that follow before the next barrier. `closed`: blocks in which every barrier lies, by loop.
[[nodiscard]] std::vector<std::vector<Visit>> intervals_of(program::Program const& program,
                                                           program::Flow const& flow,
                                                           std::vector<BarrierAt> const& barriers);

/// For each loop, true if a barrier lies in it.
[[nodiscard]] std::vector<bool> loops_with(program::Flow const& flow, std::vector<BarrierAt> const& barriers);

/// Branches that decide which barriers a thread passes, or in which iteration of a loop with a barrier it is: the blocks that they end. Left
/// out are branches that lead to the end of the thread alone, on one side, without a barrier or an access to shared memory: `leaves`.
struct Deciding {
  std::vector<std::uint32_t> blocks{};
  std::vector<std::uint32_t> leaves{};
};
[[nodiscard]] Deciding deciding_branches(program::Program const& program, program::Flow const& flow,
                                         std::vector<BarrierAt> const& barriers);

}  // namespace swizproof::kernel_detail
