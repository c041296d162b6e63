// Threads of a block that execute accesses of --races: how many, and whether all pass the same positions.
#pragma once

#include "race_access.hpp"
#include "race_intervals.hpp"
#include "race_pair.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

class BlockThreads {
 public:
  /// `fresh`: a question about two threads that has not begun, of these shapes.
  BlockThreads(program::Program const& program, program::Flow const& flow,
               execution::Execution const& execution, std::vector<SharedAccess> const& accesses,
               BlockShapes& shapes, Barriers const& barriers, std::function<RacePair()> fresh)
      : program_(program),
        flow_(flow),
        execution_(execution),
        accesses_(accesses),
        shapes_(shapes),
        barriers_(barriers),
        fresh_(std::move(fresh)) {}

  /// True if at most one thread of a block may execute any of these accesses. Checked by KernelLifetimes.OneArrivalEndsALifetime.
  [[nodiscard]] bool at_most_one(std::vector<std::uint32_t> const& accesses);
  /// True if all threads pass the same of these positions and barriers of the block, and none ends early. Checked by
  /// KernelLifetimes.AllThreadsPassTheSameLifetimes.
  [[nodiscard]] bool pass_the_same(std::vector<BarrierAt> positions) const;
  /// True if one thread alone may make both accesses, and not the same one as a copy of its own. Checked by KernelRings.OneWarpAllocatesColumns.
  [[nodiscard]] bool one_makes_both(Visit const& a, Visit const& b, RacePair::Warps warps);

  /// True if this holds where elect.sync elects lane 0, which is assumed from then on. Checked by KernelLifetimes.ALeaderMayBeThread0.
  [[nodiscard]] bool holds_for_lane_0(std::function<bool()> const& holds);
  [[nodiscard]] bool assumes_lane_0() const { return assumes_lane_0_; }
  /// Forgets an assumption that no answer needs.
  void assume_nothing() { assumes_lane_0_ = false; }

 private:
  program::Program const& program_;
  program::Flow const& flow_;
  execution::Execution const& execution_;
  std::vector<SharedAccess> const& accesses_;
  BlockShapes& shapes_;
  Barriers const& barriers_;
  std::function<RacePair()> fresh_;
  bool assumes_lane_0_ = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> of_one_{};  ///< pairs of guards of one thread
};

}  // namespace swizproof::kernel_detail
