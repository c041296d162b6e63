// Compares a profiler's counts of a program's lines with the cost model's wavefronts of the very addresses that they accessed.
//
// The program is traced and profiled by the same arguments; a line of the one is a line of the other by kernel, pc and opcode (by kernel
// and pc where the program was not disassembled).
// Four things are known to differ, and are no mismatch:
//   - the profiler counts a warp as having executed an instruction that a predicate switches off in all its lanes;
//   - of a generic LD, ST or ATOM it counts every warp, the trace those with a shared address; [found by measurement]
//   - what it merges of loads of 8 and 16 bytes, and idle phases of stores (H11, hardware/counter.hpp);
//   - of cp.async the source page counts more than the write to shared memory; of one line of seven it counts none. [found by measurement]
// Executions that differ in any other way show that the two runs were not the same: a race, or data that are drawn anew. Then
// another number of wavefronts shows nothing, and is undecided.
//
// The source page has a table for each launch, once or twice word for word; which, it does not say. T tables of a kernel that was
// traced in L launches: each was printed r = T / L times if each distinct table is there r times, 2r times, .. What is equal in all
// tables of a kernel was counted in each launch, however often it was printed. A difference that a number of prints other than r
// explains is undecided; what no number of prints explains, as an altered copy, is undecided too.
#pragma once

#include "profile/nsight.hpp"
#include "profile/trace.hpp"

namespace swizproof {

/// A line that was traced and counted.
struct CountedLine {
  TracedInstruction const* traced = nullptr;
  std::uint64_t executed = 0, wavefronts = 0;  ///< counts of the profile
  std::uint64_t
      least = 0,
      most =
          0;  ///< wavefronts that the counter may show; `most` is the largest number where nothing is known
  /// `equal`: the model's number and as often; `predicated`: the model's number, and warps that a predicate switched off or whose
  /// generic pointers were not shared; `bounded`: within what H11 gives bounds of alone; `different`: a mismatch; `undecided`: `why`.
  enum class Outcome : std::uint8_t {
    equal,
    predicated,
    bounded,
    different,
    undecided
  } outcome = Outcome::equal;
  bool summed = true;      ///< `executed` and `wavefronts` are those of the traced launches
  std::string_view why{};  ///< it is undecided: of a fixed list
};

/// A trace compared with a profile.
struct CountedLines {
  std::vector<CountedLine> lines{};
  std::size_t other_launches =
      0;                   ///< lines with a cost model, of kernels that were not traced as often as profiled
  std::size_t no_law = 0;  ///< traced and counted lines without a cost model, such as atomics
  std::size_t not_counted = 0;      ///< traced lines with a cost model that the profile does not have
  std::size_t several = 0;          ///< traced lines that share their kernel and pc with another line
  std::size_t without_address = 0;  ///< lines of the profile without an address
  std::size_t not_traced = 0;       ///< counted lines that the trace does not have
  [[nodiscard]] std::size_t count(CountedLine::Outcome outcome) const;
};

/// Compares. `trace` must outlive the result. Lines with executions with addresses that were not recorded are bounded by their
/// distribution. Checked by tests/unit/profile/trace_vs_profile_test.cpp and with the records of gpu/evidence/traces.
[[nodiscard]] CountedLines compare_counted(Trace const& trace, Profile const& profile);

/// A kernel's name without its arguments and what demanglers write in their own ways: `void (anonymous namespace)::k<(int)4>(float
/// *)` is unnamed::k<4>, and so is k<4u>; k<true> is k<(bool)1>; k[abi:v1][abi:w2] is k[abi:v1,w2].
[[nodiscard]] std::string comparable_kernel_name(std::string const& name);

}  // namespace swizproof
