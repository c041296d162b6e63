// Allowances of lines, as `prove` writes them.
#pragma once

#include <swizproof/claim/allowance.hpp>

#include <string>

namespace swizproof::command {

/// `k.cu:5: 28 wavefronts above the ideal in sum of 4 instructions, 4 allowed`, or those that a block loses, of a line that is not proved.
[[nodiscard]] std::string failing(AllowedLine const& line);

/// `k.cu:5 may take 8 wavefronts and takes 1: ..`, of an allowance that is larger than needed, for one kernel and block; else empty.
[[nodiscard]] std::string note_of(AllowedLine const& line);

/// The user's reason, and the line that the allowance had before its text moved; empty without both. Checked by tests/golden/kernel_lock.txt.
[[nodiscard]] std::string why_allowed(AllowedLine const& line);

}  // namespace swizproof::command
