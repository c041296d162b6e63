// The cost of cp.async through L1 by its source: lanes that read one bank of L1 take turns (H21).
#pragma once

#include "executed_kernel.hpp"

#include <cstddef>
#include <string_view>

namespace swizproof::kernel_detail {

/// True of cp.async.ca, and of LDGSTS without .BYPASS.
[[nodiscard]] bool copies_through_l1(std::string_view op);

/// Takes the source of a copy through L1, access `index`, which the access before it is: a bound on its wavefronts. What was proved of its
/// write becomes unknown where the source may take more than is allowed. Where its lanes are not known modulo 128 bytes, `any_source` is set.
/// Checked by CopySource.TakesAWavefrontForEachLaneOfABankOfL1.
void take_source(ExecutedKernel& kernel, std::size_t index, KernelAccess& out);

}  // namespace swizproof::kernel_detail
