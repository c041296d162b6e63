// Allowances of a compiled kernel, each compared with all accesses of its line together.
#pragma once

#include <swizproof/kernel/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace swizproof {

/// Accesses of a kernel that one allowance is for. Sums are of wavefronts above the ideal, or of sectors, in the worst case of each instruction.
struct AllowedLine {
  LineAllowance allowance{};
  std::optional<std::size_t>
      worst{};  ///< index of the one with the most wavefronts in KernelReport::accesses, or of sectors in ::global
  unsigned instructions = 0;  ///< number above the ideal
  unsigned wavefronts = 0;    ///< of the worst
  std::uint64_t excess = 0;   ///< of one execution of each instruction
  std::optional<std::uint64_t> lost =
      0;  ///< by all executions of a block; nothing: their number is not known
  /// proved: the sum is at most that of the allowance, or the allowance has none; refuted: it is above it; unknown: it is a bound that no
  /// executions are known to reach, or runs_open().
  KernelVerdict verdict = KernelVerdict::proved;

  /// True if the allowance has the number of a block, and that of the code is known: it is compared, else `excess`.
  [[nodiscard]] bool is_per_block() const { return allowance.lost && lost; }
  /// True if the allowance has the number of a block, and how often a block executes what loses wavefronts is not known.
  [[nodiscard]] bool runs_open() const { return allowance.lost && !lost; }
  /// True if no access needs as much as is allowed.
  [[nodiscard]] bool is_larger_than_needed() const;
};

/// The sums of the lines of `allow`, in its order. `file`: of the PTX, for lines of its own. Checked by Allowance.SumsTheInstructionsOfALine.
[[nodiscard]] std::vector<AllowedLine> allowed_lines(std::vector<LineAllowance> const& allow,
                                                     KernelReport const& report, std::string const& file);

}  // namespace swizproof
