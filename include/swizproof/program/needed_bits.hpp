// Bits of registers that addresses, guards and branches may depend on.
#pragma once

#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <vector>

namespace swizproof::program {

/// For each register, the bits that an address, a guard or a branch may depend on; 0: it is not needed. Of a register that is only
/// read as `r & 255`, they are 255. Checked by
/// Kernel.BitsThatNothingReadsAreNotNeeded and tests/reference/kernel.py, whose executions take every step.
[[nodiscard]] std::vector<std::uint64_t> needed_bits(Program const& program, Flow const& flow);

}  // namespace swizproof::program
