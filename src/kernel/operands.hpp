// Verdicts on descriptors of wgmma and tcgen05 and on addresses of bulk copies: fields, alignment, and the array's base.
//
//   descriptor = constant bits | (address >> 4)       address = array + expression, over warps, iterations and parameters
//
// The base of an array is any multiple of its .align: PTX guarantees no more. What depends on the base is tried for all residues
// of the base modulo 1024 bytes, the period of the widest swizzle. Assumed: an operand's address lies in shared memory,
// below 2^18 bytes.
#pragma once

#include "executed_kernel.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// Decides every operand, in the order of the PTX. Checked by tests/unit/kernel/operands_test.cpp and
/// tests/reference/kernel_operands.py.
[[nodiscard]] std::vector<KernelOperand> decide_operands(ExecutedKernel& kernel);

/// The operands alone, each with the reason why it is not decided.
[[nodiscard]] std::vector<KernelOperand> list_operands(ptx::Module const& module,
                                                       program::Program const& program,
                                                       std::string const& reason);

}  // namespace swizproof::kernel_detail
