// The launch that a kernel's values are those of.
#pragma once

#include <swizproof/program/program.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace swizproof::execution {

/// Shape of a block, and what was given on the command line.
struct Launch {
  std::array<std::uint32_t, 3> block{1, 1, 1};
  bool any_multiple = false;  ///< block.x stands for every multiple of 32 up to it: %ntid.x is not known
  std::optional<std::array<std::uint32_t, 3>> grid{};  ///< blocks; nothing: any number
  std::map<std::string, std::uint64_t> params{};       ///< values of parameters, by name

  /// Blocks of the dimension that %ctaid or %nctaid `s` is of, if they are given.
  [[nodiscard]] std::optional<std::uint32_t> blocks(program::Special s) const {
    using program::Special;
    if (!grid || s < Special::ctaid_x || s > Special::nctaid_z) return std::nullopt;
    return grid->at((static_cast<std::size_t>(s) - static_cast<std::size_t>(Special::ctaid_x)) % 3);
  }
};

}  // namespace swizproof::execution
