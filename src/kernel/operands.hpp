// Verdicts on descriptors of wgmma and tcgen05 and on addresses of bulk copies: fields, alignment, and the array's base.
//
//   descriptor = constant bits | (address >> 4)       address = array + expression, over warps, iterations and parameters
//
// The base of an array is any multiple of its .align: PTX guarantees no more. What depends on the base is tried for all residues
// of the base modulo 1024 bytes, the period of the widest swizzle. Assumed: an operand's address lies in shared memory,
// below 2^18 bytes.
#pragma once

#include "origins.hpp"
#include "warps.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// A kernel, executed, with what its accesses need, too.
struct OperandsKernel {
  ptx::Module const& module;
  program::Program const& program;
  program::Flow const& flow;
  execution::Execution& execution;
  execution::Launch const& launch;
  Origins& origins;
  Warps& warps;
  /// The number of iterations of a counter's loop in a warp; 0: not known.
  std::function<std::uint64_t(unsigned warp, Id counter)> iterations;
  /// Lanes of a warp that execute these values in one execution.
  std::function<std::uint32_t(unsigned warp, std::int32_t place, std::vector<execution::Assumption> const&)>
      surely;
  /// True if the limit of steps is reached. Takes the steps since the last call.
  std::function<bool(std::uint64_t steps)> over;
};

/// Decides every operand, in the order of the PTX. Checked by tests/unit/kernel/operands_test.cpp and
/// tests/reference/kernel_operands.py.
[[nodiscard]] std::vector<KernelOperand> decide_operands(OperandsKernel const& kernel);

/// The operands alone, each with the reason why it is not decided.
[[nodiscard]] std::vector<KernelOperand> list_operands(ptx::Module const& module,
                                                       program::Program const& program,
                                                       std::string const& reason);

}  // namespace swizproof::kernel_detail
