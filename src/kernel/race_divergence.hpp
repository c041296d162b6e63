// Branches by which threads may pass different barriers.
#pragma once

#include "race_access.hpp"
#include "race_intervals.hpp"
#include "race_pair.hpp"
#include "race_reach.hpp"
#include "race_uniform.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

class Divergence {
 public:
  /// `fresh`: a question about two threads that has not begun.
  Divergence(program::Program const& program, program::Flow const& flow,
             execution::Execution const& execution, std::vector<SharedAccess> const& accesses,
             UniformTerms& uniform, std::function<RacePair()> fresh)
      : program_(program),
        flow_(flow),
        execution_(execution),
        accesses_(accesses),
        uniform_(uniform),
        fresh_(std::move(fresh)) {}

  /// Line of the first branch that may let threads of these warps, or of each of them, pass different barriers; nothing if no branch may.
  /// `reach`: null if the threads are those of the whole block.
  [[nodiscard]] std::optional<std::uint32_t> line_of(std::vector<BarrierAt> const& barriers,
                                                     RacePair::Warps warps, WarpSet among = all_warps,
                                                     WarpReach const* reach = nullptr);
  /// True if a thread may end while others go on to a barrier, by a branch that was looked at.
  [[nodiscard]] bool some_end() const { return some_end_; }

 private:
  [[nodiscard]] bool access_before(std::uint32_t block, std::vector<BarrierAt> const& barriers) const;
  [[nodiscard]] bool is_uniform(std::uint32_t block, std::vector<bool> const& closed, RacePair::Warps warps,
                                WarpSet among, WarpReach const* reach);

  program::Program const& program_;
  program::Flow const& flow_;
  execution::Execution const& execution_;
  std::vector<SharedAccess> const& accesses_;
  UniformTerms& uniform_;
  std::function<RacePair()> fresh_;
  bool some_end_ = false;
};

}  // namespace swizproof::kernel_detail
