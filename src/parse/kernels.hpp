// Compiled kernels as command lines and obligations name them.
#pragma once

#include <string>

namespace swizproof {

/// A kernel's name as C++ has it: `_Z4gemmPf` is `gemm(float*)`. A name of another language stays.
[[nodiscard]] std::string demangled(std::string const& name);

}  // namespace swizproof
