// Verdicts on instruction descriptors of tcgen05.mma: the 32 bits that give shape, types and majors.
//
// The bits have to be the same in every execution; of block scales, those that select scale factors may depend on an address of Tensor Memory. A
// descriptor is refuted where it breaks a rule of the ISA, by itself, or with the descriptors of A and B in shared memory.
#pragma once

#include "executed_kernel.hpp"
#include "known_bits.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <cstddef>
#include <vector>

namespace swizproof::kernel_detail {

/// Decides operand `index`, an instruction descriptor. Checked by tests/unit/kernel/instructions_test.cpp and
/// tests/reference/kernel_instructions.py.
void decide_instruction(ExecutedKernel& kernel, std::size_t index, KnownBits& known, KernelOperand& out);

/// Compares the instruction descriptor `index`, if it was decoded, with the descriptors of its A and B: majors and modes, and whether their
/// matrices end in their arrays. Precondition: all operands were decided.
void compare_with_matrices(ExecutedKernel& kernel, std::size_t index, std::vector<KernelOperand>& all);

}  // namespace swizproof::kernel_detail
