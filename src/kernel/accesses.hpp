// Verdicts on all accesses of a kernel.
#pragma once

#include "arrays.hpp"
#include "executed_kernel.hpp"

#include <vector>

namespace swizproof::kernel_detail {

/// Decides every access, in their order. Those that a fix could move are added to `arrays`.
[[nodiscard]] std::vector<KernelAccess> decide_accesses(ExecutedKernel& kernel, Arrays& arrays);

}  // namespace swizproof::kernel_detail
