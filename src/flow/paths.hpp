// Paths of a warp: parts of its lanes that have branched, and where they come together.
//
// The ISA joins no paths at a certain place. Threads of a warp that execute the same barrier are together there, whichever way each has come.
// [PTX ISA, barrier: .aligned]
#pragma once

#include "kernel.hpp"

#include <cstdint>
#include <vector>

namespace swizproof::flow_detail {

/// A part of a warp's lanes, and where it is. `join`: the block at which it meets the others, -1 where it does not.
struct Path {
  std::uint32_t mask = 0;
  std::int32_t block = 0;
  std::uint32_t at = 0;  ///< instruction of the block's range
  std::int32_t join = -1;
  bool parked = false;  ///< at an instruction that other paths may come to

  [[nodiscard]] friend bool operator==(Path const&, Path const&) = default;
};

/// True for instructions that all lanes of a warp, or those of a mask, execute together.
[[nodiscard]] bool is_of_whole_warp(Decoded const& decoded);

/// True for those of the lanes of a mask, which is the last operand.
[[nodiscard]] bool has_lane_mask(Decoded const& decoded);

/// Joins the last path with those that have come to the same instruction. True if another path, now the last, runs first: it may come there,
/// too. Checked by NamedBarriers.AreExecutedByPathsTogether.
[[nodiscard]] bool gather(std::vector<Path>& paths, std::uint32_t live);

/// Lets other lanes of a warp go on where the last path waits: lanes on two sides of a branch make progress independently [CUDA C++ Programming
/// Guide, Independent Thread Scheduling]. The path that waits no longer meets the others where they join. False if no other path may go on.
[[nodiscard]] bool let_others_go_on(std::vector<Path>& paths, std::uint32_t live);

}  // namespace swizproof::flow_detail
