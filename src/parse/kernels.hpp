// Compiled kernels as command lines and obligations name them.
#pragma once

#include <swizproof/ptx/module.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace swizproof {

/// A kernel's name as C++ has it: `_Z4gemmPf` is `gemm(float*)`. A name of another language stays.
[[nodiscard]] std::string demangled(std::string const& name);

/// Reason why a kernel cannot be launched with blocks of this shape: its .reqntid, .maxntid or more than 1024 threads; empty if
/// it can.
[[nodiscard]] std::string why_no_block(ptx::Function const& kernel,
                                       std::array<std::uint32_t, 3> const& block);

}  // namespace swizproof
