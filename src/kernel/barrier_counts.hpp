// How many barriers of the block a thread has passed.
#pragma once

#include "race_uniform.hpp"
#include "ways.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace swizproof::kernel_detail {

/// Barriers of all threads of a block on the ways from the entry. A thread that has passed as many as another one has passed the same ones,
/// and what the other one did before the last of them is over. Checked by KernelLocks.AWriteIsOverIfAllThreadsPassAsManyBarriers.
class BarrierCounts {
 public:
  BarrierCounts(program::Program const& program, program::Flow const& flow,
                execution::Execution const& execution);

  /// True if all ways from the entry to a place have as many; rounds of loops that all threads enter, and leave
  /// in the same one, count once.
  [[nodiscard]] bool same_on_all_ways(Place place) const { return before_[place.block].has_value(); }

 private:
  /// None of a block that is behind ways with different numbers.
  std::vector<std::optional<unsigned>> before_;
};

}  // namespace swizproof::kernel_detail
