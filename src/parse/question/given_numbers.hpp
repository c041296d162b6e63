// Numbers of an array in a file: raw, .npy or JSON.
#pragma once

#include <swizproof/flow/flow.hpp>

#include <string>
#include <utility>

namespace swizproof {

/// File of `0=ids:i32[64]=FILE`; empty if the text has the numbers itself, or none are given.
[[nodiscard]] std::string file_of_param(std::string const& text);

/// A parameter as parse_flow_param() reads it, whose numbers may be in a file: numpy's .npy if it begins as one, JSON if it begins with `[`,
/// else the bytes themselves, little-endian. The file has as many elements as the array, of its type; a shape of several
/// extents is that of the array. Throws InputError. Checked by GivenNumbers.* and tests/reference/flow_numbers.py.
[[nodiscard]] std::pair<std::string, FlowParam> param_with_file(std::string const& text);

}  // namespace swizproof
