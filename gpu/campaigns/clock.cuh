// The multiprocessor's clock, and how long the warps of a block took together.
#pragma once

#include <cstdint>

namespace swizproof::gpu {

__device__ inline std::uint32_t clock_now() {
  std::uint32_t t;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(t)::"memory");
  return t;
}

/// Cycles from the first warp's beginning to the last one's end. The clock may wrap between.
template <unsigned Warps>
__device__ std::uint32_t cycles_of(std::uint32_t const (&begin)[Warps], std::uint32_t const (&end)[Warps]) {
  std::uint32_t from = begin[0], to = end[0];
  for (unsigned w = 1; w < Warps; ++w) {
    from = static_cast<std::int32_t>(begin[w] - from) < 0 ? begin[w] : from;
    to = static_cast<std::int32_t>(end[w] - to) > 0 ? end[w] : to;
  }
  return to - from;
}

}  // namespace swizproof::gpu
