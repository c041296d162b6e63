// Races of two builds compared.
#pragma once

#include "command/kernel/results.hpp"

#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// `races: 1 worse, 0 better (kernels)` and a line for each kernel whose answer changed, the first race below it; empty without --races. Worse is
/// undecided than race free, a race than undecided, and more races than fewer. Checked by RaceChanges.* and tests/program/cuda_source.
[[nodiscard]] std::string race_changes(std::vector<Result> const& now, std::vector<Result> const& before);

}  // namespace swizproof::command::kernel_detail
