// Groups of warps that named barriers hold: bar.sync and barrier.sync with a number and a count of threads.
//
// Soundness. Barrier i with count n completes when n threads have arrived, and a thread that waits there does not arrive again [PTX ISA 9.1, bar and
// barrier]. Let all instructions on barrier i be such waits for n threads, and let at most n threads, in whole warps, come to any of them. Then each completion has
// each of these threads once; if there are fewer, it never completes, and no thread is behind it. So it holds these threads as bar.sync holds a block, and
// race_intervals.hpp is true of them, if the branches on which the sequence of their barriers depends go the same way in all of them. Barriers of
// more warps hold these, too.
#pragma once

#include "race_divergence.hpp"
#include "race_intervals.hpp"
#include "race_reach.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace swizproof::kernel_detail {

/// Warps, and the barriers that hold all of them.
struct WarpGroup {
  WarpSet warps = all_warps;
  std::vector<BarrierAt> barriers{};
};

/// The groups of a kernel, those of fewer warps first; the last one is the block. Checked by KernelRaces.ABarrierOfSomeWarpsHoldsThem and
/// tests/reference/races_groups.py.
class WarpGroups {
 public:
  /// `barriers`: those of the block hold all its threads, or there are none.
  WarpGroups(program::Program const& program, program::Flow const& flow,
             execution::Execution const& execution, BlockShapes const& shapes, Barriers const& barriers,
             Divergence& divergence);
  [[nodiscard]] std::vector<WarpGroup> const& all() const { return groups_; }
  /// The first group with all threads that may execute one of two accesses.
  [[nodiscard]] WarpGroup const& of(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] WarpReach const* reach() const { return reach_.get(); }
  /// True if each barrier of a part of the block is one of a group.
  [[nodiscard]] bool complete() const { return complete_; }

 private:
  std::unique_ptr<WarpReach> reach_{};  ///< null: no barrier is of a part of the block
  std::vector<WarpGroup> groups_{};
  bool complete_ = true;
};

}  // namespace swizproof::kernel_detail
