// H14: what shared atomics and reductions on integers take (sm_90). The command `kernel` uses it; an ACCESS names loads, stores and copies.
#pragma once

#include <swizproof/hardware/bank.hpp>

namespace swizproof {

/// Kinds of atomics and reductions that differ in cost.
enum class Atomic : std::uint8_t {
  arithmetic,
  counting,  ///< an addition of the constant 1 whose result is not used: SASS ATOMS.POPC.INC
  compare_and_swap
};

/// Wavefronts of a shared atomic that is one instruction: of 32 bits (`bytes` 4) .add, .min, .max, .inc, .and, .xor, .exch and .cas, of 64
/// bits (8) .exch and .cas; .dec and .or of 32 bits are taken to be alike. Precondition: `bytes` is 4 or 8, of `counting` 4.
///
/// The number is the most lanes at one bank. Lanes at one word count each, so 32 lanes that add to one counter take 32, like 32
/// lanes at 32 words of a bank. 64 bits are served by half-warps: their numbers add up, an idle half costs nothing, and the
/// minimum is two. compare_and_swap takes twice as many. Whether a result is returned does not matter.
///
/// But `atomicAdd(&counter, 1)` with an unused result is counting: lanes at one word are merged, and it costs as much as a
/// store. 32 lanes that count at one word take 1; if the compiler does not know the number that they add, they take 32. If the result is
/// used, the most accessed bank costs a sixteenth of a cycle for each lane more than it has words: 32 at one word take 2.94.
/// [Measured on an H200 by the clock: campaign `atomics`, whose record tests/unit/records/evidence_test.cpp recomputes.]
///
/// Not covered, and no cost model of the banks: what the multiprocessor does not have is a loop of compare-and-swap, whose time depends on
/// who wins (12 to 704 cycles): .add of f32, f16x2 and f64, .add, .min and .or of 64 bits; .max, .and and .xor of 64 bits and .cas of 16 are
/// taken to be alike.
[[nodiscard]] constexpr std::uint32_t atomic_wavefronts(WarpAccess<std::uint32_t> const& warp,
                                                        unsigned bytes = 4,
                                                        Atomic what = Atomic::arithmetic) {
  if (what == Atomic::counting) return cost(sm_90, {Operation::st_shared, bytes}, warp).wavefronts;
  // H7 counts lanes so, in the phases of a store.
  Cost<std::uint32_t> const lanes = cost(sm_90, {Operation::cp_async, bytes}, warp);
  std::uint32_t sum = 0;
  for (unsigned p = 0; p < lanes.phases.count; ++p) sum += lanes.degree[p];
  if (sum < bytes / 4) sum = bytes / 4;
  return what == Atomic::compare_and_swap ? 2 * sum : sum;
}

namespace detail {
constexpr WarpAccess<std::uint32_t> all_lanes_at_one_word() {
  WarpAccess<std::uint32_t> warp{};
  for (bool& active : warp.active) active = true;
  return warp;
}
}  // namespace detail
#if !defined(__SANITIZE_ADDRESS__)  // with sanitizers g++ takes no address of a table for a constant
static_assert(atomic_wavefronts(detail::all_lanes_at_one_word()) == 32);
static_assert(atomic_wavefronts(detail::all_lanes_at_one_word(), 4, Atomic::counting) == 1);
static_assert(atomic_wavefronts(detail::all_lanes_at_one_word(), 4, Atomic::compare_and_swap) == 64);
static_assert(atomic_wavefronts(detail::all_lanes_at_one_word(), 8) == 32);
#endif

}  // namespace swizproof
