// PTX, lowered to the language of the executor (program/program.hpp).
#pragma once

#include <swizproof/ptx/module.hpp>
#include <swizproof/program/program.hpp>

namespace swizproof::ptx {

/// Lowers a function of a module. Never throws: what is not modelled makes its destinations unknown. `global`: accesses to global memory
/// are accesses of the program, too. `mbarriers`: mbarrier.init, arrive.expect_tx and waits with a parity are operands of it, whose
/// size is the count, the bytes or the parity.
[[nodiscard]] Program lower(Module const& module, Function const& function, bool global = false,
                            bool mbarriers = false);

}  // namespace swizproof::ptx
