// The picture of `show` for a FRAGMENT.
#pragma once

#include "picture/held.hpp"
#include "picture/picture.hpp"

#include <optional>
#include <string>

namespace swizproof::command {

/// True if a text names an instruction's operand, or a TiledMMA's, `mma.m16n8k16.f16:b`, or is a TiledCopy.
[[nodiscard]] bool is_fragment(std::string const& text);

/// The thread and the register of each element of the part; without one of the first 64 rows and columns. Throws InputError.
[[nodiscard]] HeldMatrix held_matrix(std::string const& text, std::optional<unsigned> element_bits,
                                     Part const& part);

}  // namespace swizproof::command
