// A line of the source of compiled code.
#pragma once

#include <cstdint>
#include <string>

namespace swizproof {

/// A line of the source.
struct SourceLine {
  std::string file{};
  std::uint32_t line = 0;
};

}  // namespace swizproof
