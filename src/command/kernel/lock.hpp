// Allowances for what kernels cost today.
#pragma once

#include "command/kernel/results.hpp"

#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// The value of `allow` in a [[kernel]] entry of this file: for each source line and kernel with an access above `allowed` its most wavefronts. Empty without such an access.
[[nodiscard]] std::string allowances_of(std::vector<Result> const& results, std::string const& file);

/// Lines that no allowance covers: faults, accesses without a bound, operands.
[[nodiscard]] std::vector<std::string> not_covered(std::vector<Result> const& results);

}  // namespace swizproof::command::kernel_detail
