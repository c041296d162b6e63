// Launches of compiled kernels as options name them: --block and --param.
#pragma once

#include <swizproof/kernel/kernel.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace swizproof::command {

/// Shape of a block: `128`, `32,8` or `16,16,2`. Throws InputError.
[[nodiscard]] std::array<std::uint32_t, 3> parse_block(std::string const& text);

/// A parameter's name and value: `n=1024`, `n=-1`, `param_2=0x10`. Throws InputError.
[[nodiscard]] std::pair<std::string, ParameterValue> parse_param(std::string const& text);

}  // namespace swizproof::command
