// The generator splitmix64 (Steele, Lea and Flood, OOPSLA 2014), for the device too.
#pragma once

#include <swizproof/core/word.hpp>

#include <cstdint>

namespace swizproof {

/// Distance of two states of splitmix64: an odd number near 2^64 / golden ratio.
inline constexpr std::uint64_t splitmix64_step = 0x9E3779B97F4A7C15;

/// Number that splitmix64 gives in a state: one to one on 64 bits. `splitmix64(0) == 0xE220A8397B1DCDAF`.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t splitmix64(std::uint64_t state) {
  std::uint64_t z = state + splitmix64_step;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

static_assert(splitmix64(0) == 0xE220A8397B1DCDAF);

}  // namespace swizproof
