// shfl.sync among the lanes of a warp that run one after the other: each waits for those that its mask names.
#pragma once

#include "race_values.hpp"

#include <swizproof/program/program.hpp>

#include <cstdint>
#include <optional>
#include <span>

namespace swizproof::kernel_detail {

/// Value of a lane at a shfl.sync, and which lane it takes from.
struct ShuffleOffer {
  program::Shuffle mode = program::Shuffle::idx;
  std::uint32_t mask = 0;
  RaceValue value{}, by{}, bounds{};
};

struct ShuffleLane {
  std::optional<ShuffleOffer> offer{};  ///< nothing: it does not wait
  bool ended = false;
  std::optional<RaceValue> result{};
};

/// Gives each lane of a warp its result whose mask names only lanes that have ended or wait with the same mode and mask [PTX ISA 9.1, 9.7.9.6: shfl.sync].
/// A lane that its own mask does not name waits on. What comes from a lane that has ended or that the mask does not name is not known.
/// False if no lane has a result. Checked by KernelRaces.LanesOfAButterflyStoreOneValue.
bool exchange(std::span<ShuffleLane> lanes, LoadSets& sets, ValueTerms& terms);

}  // namespace swizproof::kernel_detail
