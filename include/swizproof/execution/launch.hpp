// The launch that a kernel's values are those of.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace swizproof::execution {

/// Shape of a block, and what was given on the command line.
struct Launch {
  std::array<std::uint32_t, 3> block{1, 1, 1};
  bool any_multiple = false;  ///< block.x stands for every multiple of 32 up to it: %ntid.x is not known
  std::map<std::string, std::uint64_t> params{};  ///< values of parameters, by name
};

}  // namespace swizproof::execution
