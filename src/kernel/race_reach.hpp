// Warps of a block that may come to each part of a kernel.
#pragma once

#include "race_thread.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <vector>

namespace swizproof::kernel_detail {

/// Warps of the largest block that may come to each block of the program: each thread's number is put into the branches.
class WarpReach {
 public:
  WarpReach(program::Program const& program, program::Flow const& flow, execution::Execution const& execution,
            BlockShapes const& shapes);
  [[nodiscard]] WarpSet of_block(std::uint32_t block) const { return blocks_[block]; }
  /// Warps with a thread that may execute an access.
  [[nodiscard]] WarpSet of_access(std::uint32_t access) const { return accesses_[access]; }
  /// True if a branch is known to go the same way in all threads of these warps.
  [[nodiscard]] bool agree(std::uint32_t block, WarpSet warps) const;

 private:
  std::vector<WarpSet> blocks_, accesses_;
  std::vector<WarpSet> may_be_true_, may_be_false_;  ///< condition of a branch, by block
};

}  // namespace swizproof::kernel_detail
