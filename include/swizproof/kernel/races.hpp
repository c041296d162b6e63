// Races for shared memory in a compiled kernel, over all its launches: two threads of a block, two accesses to one byte in one interval
// between barriers, one of them a write.
//
//   PTX  -->  barriers and the intervals between them (src/kernel/race_intervals.hpp)
//        -->  terms of two threads (race_pair.hpp), a question for each pair of accesses  -->  race free
//        -->  blocks on numbers (race_run.hpp)                                             -->  a race, with its launch
//
// "Race free" needs every pair of accesses to be decided. "Race" needs a launch whose block was executed on numbers, all threads of it,
// barrier by barrier. All else is undecided, with the reason.
#pragma once

#include <swizproof/program/source_line.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// Answer for one kernel.
enum class RaceVerdict : std::uint8_t { proved, refuted, unknown };

/// Kinds of races.
enum class RaceKind : std::uint8_t {
  lost_store,  ///< two threads write values that differ, or that differ for some data
  race,        ///< one reads, or it is not known whether the values that both write differ
  same_value   ///< two threads write values that are equal for all data
};
/// `lost store`, `race`, `same-value race`.
[[nodiscard]] std::string_view name_of(RaceKind kind);

/// An access of a race.
struct RaceAccess {
  std::string op{};
  std::uint32_t ptx_line = 0;
  SourceLine source{};
  std::vector<SourceLine> inlined_at{};  ///< lines that the compiler inlined it for, the kernel's own last
  bool write = false;
  std::array<std::uint32_t, 3> thread{};  ///< threadIdx
};

/// A number in memory that a race needs: a thread loads it.
struct RaceData {
  RaceAccess load{};
  std::string address{};  ///< `p+12`: bytes behind what a parameter points to, or from the start of an array
  std::uint64_t value = 0;
};

/// A race that an execution has.
struct Race {
  RaceKind kind = RaceKind::race;
  RaceAccess first{}, second{};
  std::uint64_t byte = 0;      ///< address in shared memory
  std::string array{};         ///< array with the byte; empty: none
  std::uint64_t offset = 0;    ///< offset of the byte in the array
  std::uint32_t interval = 0;  ///< barriers that both threads have passed
  std::array<std::uint32_t, 3> block{1, 1, 1}, block_index{};
  std::vector<std::pair<std::string, std::uint64_t>> params{};  ///< parameters that the execution read
  /// Loaded numbers that lead to it; empty: it happens in this launch for all data.
  std::vector<RaceData> data{};
  bool more_data = false;  ///< others lead to it too
};

/// Races of one kernel.
struct KernelRaces {
  RaceVerdict verdict = RaceVerdict::unknown;
  std::string reason{};                ///< reason of an unknown answer
  std::vector<std::uint32_t> lines{};  ///< lines of the PTX that the reason is about
  /// Line of the source of each, and those that the compiler inlined it for; empty without -lineinfo.
  std::vector<std::vector<SourceLine>> sources{};
  std::vector<Race>
      races{};  ///< one for each pair of instructions: first those for all data, of these lost stores first
  std::size_t accesses = 0,
              pairs = 0;  ///< accesses to shared memory; pairs that a solver or a disjoint array decided
  std::vector<std::string> assumed{};
};

}  // namespace swizproof
