// Ways through a program, step by step.
#pragma once

#include <swizproof/program/program.hpp>

#include <cstdint>
#include <vector>

namespace swizproof::kernel_detail {

/// A step of a block.
struct Place {
  std::uint32_t block = 0, step = 0;
};

/// Steps of a program to which ways lead. Checked by KernelLocks.*.
class Ways {
 public:
  enum class Until : std::uint8_t { end, block, aligned, meeting };

  /// `meets`: the events at which all lanes of a warp wait for each other.
  Ways(program::Program const& program, std::vector<bool> meets)
      : program_(program), meets_(std::move(meets)) {}

  /// Steps that are reached from these places, which are among them: to the end of the program, to a barrier of all threads of a block, to
  /// one that all lanes of a warp execute as one instruction (`.aligned` in PTX), or to where they meet; these are not among them.
  [[nodiscard]] std::vector<bool> from(std::vector<Place> const& places, Until until) const;
  [[nodiscard]] bool meets(std::uint32_t event) const { return meets_[event]; }

 private:
  [[nodiscard]] bool ends(std::uint32_t step, Until until) const;

  program::Program const& program_;
  std::vector<bool> meets_;
};

}  // namespace swizproof::kernel_detail
