// Launches that are executed to find races: some of each style, and those that a solver names.
#pragma once

#include "race_pair.hpp"
#include "race_run.hpp"

#include <swizproof/engine/verdict.hpp>
#include <swizproof/program/program.hpp>
#include <swizproof/ptx/module.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::kernel_detail {

inline constexpr unsigned race_styles = 9;  ///< number of styles of parameters

class RaceLaunches {
 public:
  /// `params`: values that are given, by name. `descriptors`: wgmma needs whole warpgroups.
  RaceLaunches(program::Program const& program, ptx::Function const& function, BlockShapes const& shapes,
               std::map<std::string, std::uint64_t> const& params, bool descriptors);

  /// Shapes of blocks: the given one, or some.
  [[nodiscard]] std::vector<std::array<std::uint32_t, 3>> blocks() const;
  /// A launch whose parameters are all of a style. Checked by KernelRaces.ARaceInOtherParametersIsFound.
  [[nodiscard]] RaceLaunch of_style(std::array<std::uint32_t, 3> const& block, unsigned style) const;
  /// The launch of a case that the solver names.
  [[nodiscard]] RaceLaunch of_case(Refuted const& one, std::vector<RaceUnknown> const& unknowns) const;

 private:
  void give(program::Variable const& v, std::uint32_t symbol, RaceLaunch& out) const;

  program::Program const& program_;
  BlockShapes const& shapes_;
  std::map<std::string, std::uint64_t> const& params_;
  bool descriptors_;
  std::set<std::string_view> floats_{};  ///< parameters that are loaded as numbers of floating point
};

}  // namespace swizproof::kernel_detail
