// State of a thread that is executed on numbers.
#pragma once

#include "race_data.hpp"
#include "race_intervals.hpp"
#include "race_meetings.hpp"
#include "race_shuffles.hpp"
#include "race_values.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace swizproof::kernel_detail {

/// One byte of a copy by cp.async, or one that wgmma reads.
struct RaceCopy {
  RaceEvent event{};
  std::uint64_t byte = 0;
  Group of = Group::copy;
  std::uint32_t group = 0;
  std::optional<std::uint32_t> done{};  ///< phase in which the thread has waited
};
/// A thread of a block that is executed on numbers.
struct RaceThread {
  std::vector<RaceValue> registers{};
  std::uint32_t block = 0, at = 0;  ///< instruction of the block
  bool passed = false;              ///< the barrier at which it was
  enum class State : std::uint8_t {
    runs,
    at_barrier,
    at_warp,
    at_shuffle,
    at_matrix,
    ended,
    stuck
  } state = State::runs;
  std::optional<ShuffleOffer> offer{};  ///< at a shuffle
  RaceValue taken{};                    ///< what it gets there
  std::vector<RaceValue> matrix{};  ///< what it gets of an instruction on matrices, or the row that it stores
  std::uint32_t waits = 0, phase = 0;
  std::array<std::uint32_t, 5> groups{};  ///< committed, by Group
  std::vector<RaceCopy> copies{};
  ByData where{};
};

/// An atomic's change of a word.
struct RaceChange {
  std::uint64_t at = 0;
  unsigned bytes = 0;
  RaceValue old{}, now{};
};

}  // namespace swizproof::kernel_detail
