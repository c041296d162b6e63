// [[kernel]] entries for what `swizproof kernel` was asked.
#pragma once

#include "command/kernel/decision.hpp"

#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// One entry for each file with a kernel; of a lock, for each shape of the block; with shapes by name, for the kernels of each shape.
/// Without a lock, accesses that depend on data are allowed, as the command allows them. Throws InputError. Checked by tests/golden/kernel_lock.txt.
[[nodiscard]] std::string entries_of(Common const& common, KernelArguments const& arguments,
                                     KernelOptions const& options, std::vector<Result> const& results,
                                     Sources& sources);

}  // namespace swizproof::command::kernel_detail
