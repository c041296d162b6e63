// All valid swizzles within 32 bits.
#pragma once

#include <swizproof/core/swizzle.hpp>

#include <vector>

namespace swizproof {

/// The 6,801 valid swizzles, both signs of shift and every spelling of the identity included, by bits, then base, then
/// shift. The first is Sw<0,0,-32>.
[[nodiscard]] inline std::vector<Swizzle> const& every_swizzle() {
  static std::vector<Swizzle> const all = [] {
    std::vector<Swizzle> list;
    for (int bits = 0; bits <= 16; ++bits)
      for (int base = 0; base <= 32; ++base)
        for (int shift = -32; shift <= 32; ++shift)
          if (Swizzle const s{bits, base, shift}; s.valid()) list.push_back(s);
    return list;
  }();
  return all;
}

}  // namespace swizproof
