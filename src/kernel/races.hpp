// Races of a compiled kernel, over all its launches.
#pragma once

#include <swizproof/kernel/kernel.hpp>

namespace swizproof::kernel_detail {

/// Decides the races of an entry or a function of PTX. Checked by KernelRaces.* in tests/unit/kernel/races_test.cpp and
/// tests/reference/races.py.
[[nodiscard]] KernelRaces decide_races(ptx::Module const& module, ptx::Function const& function,
                                       KernelOptions const& options);

}  // namespace swizproof::kernel_detail
