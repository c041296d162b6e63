// Executions of the accesses to an array, for which its fixes are searched.
#pragma once

#include "arrays.hpp"
#include "executed_kernel.hpp"

#include <vector>

namespace swizproof::kernel_detail {

/// Fixes of the arrays that have an access refuted for its cost.
[[nodiscard]] std::vector<KernelFix> find_fixes(ExecutedKernel& kernel, Arrays& arrays);

}  // namespace swizproof::kernel_detail
