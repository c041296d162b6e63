// The numbers that the cost of an access needs.
#pragma once

#include "access_search.hpp"
#include "executed_kernel.hpp"

#include "execution/inputs.hpp"

#include <vector>

namespace swizproof::kernel_detail {

/// Those of the numbers without which the warp is not known to take as many wavefronts, in the first iteration of the loops around the access:
/// with any other values of the rest it takes as many. All of them where that is not known. Checked by KernelWitness.OfEveryLaunchHasNoNumbers
/// and tests/reference/kernel_smallest.py.
[[nodiscard]] std::vector<execution::ReadNumber> needed_values(ExecutedKernel& kernel,
                                                               AccessSearch const& search, unsigned warp,
                                                               unsigned wavefronts,
                                                               std::vector<execution::ReadNumber> numbers);

/// True if the warp is not known to take as many wavefronts in a block of another number of threads, which are not given. Checked by
/// KernelWitness.OfEveryLaunchHasEveryBlock.
[[nodiscard]] bool needs_block(ExecutedKernel& kernel, AccessSearch const& search, unsigned warp,
                               unsigned wavefronts);

}  // namespace swizproof::kernel_detail
