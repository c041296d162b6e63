// Compiled kernels as command lines and obligations name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// A kernel's name as C++ has it: `_Z4gemmPf` is `gemm(float*)`. A name of another language stays.
[[nodiscard]] std::string demangled(std::string const& name);

/// `is gemm(float*)`, `are gemm(float*); scale(float*)`: the names of kernels, at most five of them; `is no kernel`.
[[nodiscard]] std::string kernels_in_words(std::vector<std::string> const& names);

/// Throws InputError if a text is no compiled code: a recorded trace, a binary, nothing at all, or neither PTX nor a dump of SASS.
/// `file` is its name in the message.
void must_be_code(std::string_view text, std::string const& file);

/// Throws InputError: a kernel needs the shape of its block, and nothing gives it.
[[noreturn]] void refuse_without_shape(std::string const& kernel);

}  // namespace swizproof
