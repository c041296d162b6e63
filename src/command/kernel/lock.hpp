// Allowances for what kernels cost today.
#pragma once

#include "command/kernel/results.hpp"

#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// The value of `allow` in a [[kernel]] entry of these results: for each kernel and source line with an access above `allowed`, or that depends on
/// data, its most wavefronts, or sectors, the sums over its instructions, and the line's text if it can be read. Checked by tests/golden/kernel_lock.txt.
[[nodiscard]] std::string allowances_of(std::vector<Result const*> const& results, Sources& sources);

/// A regular expression that finds this text alone. Readable names stay when a file changes; mangled ones of anonymous namespaces do not.
[[nodiscard]] std::string exactly(std::string const& text);

/// Lines that no allowance covers: faults, accesses without a bound, operands, races.
[[nodiscard]] std::vector<std::string> not_covered(std::vector<Result> const& results);

}  // namespace swizproof::command::kernel_detail
