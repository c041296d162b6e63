// Bounds of bulk copies: whether what they read or write in shared memory, and their mbarriers, lie in their arrays.
#pragma once

#include "executed_kernel.hpp"

#include <cstddef>

namespace swizproof::kernel_detail {

/// Decides KernelOperand::in_bounds of an address of a bulk copy whose size is known, or of a copy's mbarrier. Refutes an operand that
/// leaves its array in an execution. Checked by KernelOperand.BulkCopiesThatLeaveTheirArray.
void check_copy_bounds(ExecutedKernel& kernel, std::size_t index, KernelOperand& out);

}  // namespace swizproof::kernel_detail
