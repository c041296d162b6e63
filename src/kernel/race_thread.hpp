// Numbers of terms in one thread of a block.
#pragma once

#include "race_pair.hpp"

#include <swizproof/execution/terms.hpp>

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace swizproof::kernel_detail {

/// Threads of the largest block of these shapes.
[[nodiscard]] std::uint32_t threads_of(BlockShapes const& shapes);

/// Puts a thread's number into terms. Checked by KernelRings.AnMbarrierCountsItsThreads.
class ThreadNumbers {
 public:
  using Number = std::optional<std::uint64_t>;  ///< nothing: it may be any
  static constexpr std::uint64_t no_lane = 32;  ///< a leader that is no lane

  /// `leader`: the lane that elect.sync elects in its warp; nothing if it is not known.
  ThreadNumbers(program::Program const& program, execution::Execution const& execution,
                BlockShapes const& shapes, std::uint32_t thread, Number leader)
      : program_(program), execution_(execution), shapes_(shapes), thread_(thread), leader_(leader) {}

  [[nodiscard]] Number of(std::uint32_t id);

 private:
  [[nodiscard]] Number compute(std::uint32_t id);
  [[nodiscard]] Number leaf(execution::Leaf const& l, unsigned width);
  [[nodiscard]] Number first_lane(execution::Leaf const& l);

  program::Program const& program_;
  execution::Execution const& execution_;
  BlockShapes const& shapes_;
  std::uint32_t thread_;
  Number leader_;
  std::unordered_map<std::uint32_t, Number> memo_{};
};

}  // namespace swizproof::kernel_detail
