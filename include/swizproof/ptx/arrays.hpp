// Addresses of a kernel's arrays in the shared memory of its block (H18, hardware/shared_arrays.hpp).
#pragma once

#include <swizproof/ptx/module.hpp>
#include <swizproof/program/program.hpp>

#include <string>

namespace swizproof::ptx {

/// Sets Variable::placed of the shared arrays that a kernel names, as H18 has them behind `first`. Returns why it does not: the kernel calls a
/// function that may have arrays of its own, or that names others than the kernel does. `program` is the kernel's, lowered, with calls
/// inlined or not. Checked by tests/unit/ptx/arrays_test.cpp and tests/reference/bases.py.
[[nodiscard]] std::string place_arrays(Module const& module, Function const& kernel, std::uint64_t first,
                                       Program& program);

}  // namespace swizproof::ptx
