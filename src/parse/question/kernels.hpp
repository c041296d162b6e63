// Compiled kernels as command lines and obligations name them.
#pragma once

#include "parse/text/regular_expression.hpp"

#include <swizproof/hardware/architecture.hpp>
#include <swizproof/ptx/module.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// A kernel's name as C++ has it: `_Z4gemmPf` is `gemm(float*)`. A name of another language stays.
[[nodiscard]] std::string demangled(std::string const& name);

/// The name of a kernel, as people read it: without `(anonymous namespace)::`.
[[nodiscard]] std::string short_name(std::string name);

/// True if the pattern is in a kernel's name: as the file writes it, as C++ does, or as answers print it (short_name).
[[nodiscard]] bool names_kernel(Pattern const& pattern, std::string const& name);

/// Indices of the kernels (.entry) of a module whose names have the pattern.
[[nodiscard]] std::vector<std::size_t> kernels_named(Pattern const& pattern, ptx::Module const& module);

/// `is gemm(float*)`, `are gemm(float*); scale(float*)`: the names of kernels, at most five of them; `is no kernel`.
[[nodiscard]] std::string kernels_in_words(std::vector<std::string> const& names);

/// The architecture that PTX names in `.target`: `sm_80`, or `sm_100a, debug`.
struct PtxTarget {
  std::string name{};                 ///< `sm_100a`; empty: the file has no .target
  Architecture const* own = nullptr;  ///< null if it has no table
};
/// Checked by golden.kernel_architecture_of_the_code.
[[nodiscard]] PtxTarget ptx_target(ptx::Module const& module);

/// A note if PTX of this target is decided for another architecture, which was given or not; else empty. `choose`: how to give one.
[[nodiscard]] std::string target_note(PtxTarget const& target, Architecture const& decided_for, bool given,
                                      std::string const& choose);

/// Throws InputError if a text is no compiled code: a recorded trace, a binary, nothing at all, or neither PTX nor a dump of SASS.
/// `file` is its name in the message.
void must_be_code(std::string_view text, std::string const& file);

/// One to three numbers of at least `least`: `8,8`. The others are `least`. Throws InputError that begins with `option`.
[[nodiscard]] std::array<std::uint32_t, 3> parse_three(std::string const& text, std::string const& option,
                                                       std::uint32_t least);

/// Blocks of a grid: `128`, `8,8` or `8,8,2`. Throws InputError. Checked by golden.kernel_grid.
[[nodiscard]] std::array<std::uint32_t, 3> parse_grid(std::string const& text);

/// Throws InputError: a kernel needs the shape of its block, and nothing gives it.
[[noreturn]] void refuse_without_shape(std::string const& kernel);

}  // namespace swizproof
