// Executions of the accesses to an array, for which its fixes are searched.
#pragma once

#include "arrays.hpp"
#include "executed_kernel.hpp"

#include <vector>

namespace swizproof::kernel_detail {

/// Writes fixes and vectors of the arrays that have an access refuted for its cost.
void find_fixes(ExecutedKernel& kernel, Arrays& arrays, KernelReport& report);

}  // namespace swizproof::kernel_detail
