// Allowances for what kernels cost today.
#pragma once

#include "command/kernel/results.hpp"

#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// The value of `allow` in a [[kernel]] entry of this file and shape of the block (empty: those of the code): for each kernel and source line
/// with an access above `allowed`, or that depends on data, its most wavefronts, or sectors, and the sums over its instructions. Checked by
/// tests/golden/kernel_lock.txt.
[[nodiscard]] std::string allowances_of(std::vector<Result> const& results, std::string const& file,
                                        std::string const& block);

/// Lines that no allowance covers: faults, accesses without a bound, operands, races.
[[nodiscard]] std::vector<std::string> not_covered(std::vector<Result> const& results);

}  // namespace swizproof::command::kernel_detail
