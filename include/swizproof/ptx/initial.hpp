// Initial values of variables in constant and global memory.
#pragma once

#include <swizproof/program/variable.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace swizproof::ptx {

/// All bytes of a variable that the text of a module initialises: `.const .u32 n = 5;`, `.const .b8 w[8] = {0, 0, 128, 63};`, zeros where no number is given.
/// Nothing without an initialiser, with addresses in it, or with rows in braces that lack numbers. Checked by Variables.HaveTheirInitialBytes.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> initial_bytes(std::string_view text,
                                                                     program::Variable const& variable);

}  // namespace swizproof::ptx
