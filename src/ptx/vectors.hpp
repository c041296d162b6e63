// Types and vectors of loads, stores and atomics, as the PTX ISA has them.
#pragma once

#include <swizproof/ptx/module.hpp>

#include <string>
#include <string_view>

namespace swizproof::ptx {

/// Error in the type or the vector of a load, a store or an atomic; empty if both are valid, and for other instructions. A lane accesses at
/// most 16 bytes; 32 of global memory, from sm_100 on. [PTX ISA 9.1: ld, st, atom, red] Checked by PtxReader.RefusesTypesThatPtxDoesNotHave.
[[nodiscard]] std::string error_of_type(Instruction const& i, std::string_view target);

}  // namespace swizproof::ptx
