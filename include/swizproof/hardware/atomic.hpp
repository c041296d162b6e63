// H14: what shared atomics and reductions of 32 bits on integers take (sm_90). No command uses it yet: an ACCESS names loads, stores
// and copies.
#pragma once

#include <swizproof/hardware/bank.hpp>

namespace swizproof {

/// What an atomic or reduction does, as far as its cost goes.
enum class Atomic : std::uint8_t { arithmetic, compare_and_swap };

/// Wavefronts of `red.shared` and `atom.shared` .add, .min, .inc, .exch of 32 bits: as many as lanes ask the bank that is asked
/// most. Lanes at one word count each, and so 32 lanes that add to one counter take 32, like 32 lanes at 32 words of a bank.
/// compare_and_swap takes twice as many. Whether a result is returned does not matter. [Measured on an H200, 2026-11-22: 304 patterns of each
/// of 7 forms, by the clock, gpu/evidence/atomics/h200.json; recomputed by Atomics.TakeTheLanesOfTheBankThatIsAskedMost.]
///
/// Not covered: an .add of the constant 1 whose result nobody uses. ptxas 13.0 makes ATOMS.POPC.INC.32 of it, which takes
/// lanes at one word together: of a histogram of random bytes Nsight Compute counts 3.15 wavefronts each, as many as there are
/// different words at the bank that is asked most (3.15 on average; lanes would be 3.53). [gpu/evidence/traces/histogram.csv]
///
/// Not covered, and no law of the banks: .add of f32 and of 64 bits are loops of compare-and-swap, whose time depends on who wins (14 to
/// 480 cycles); another block's memory goes through a network (a wavefront each 0.9 to 48 cycles).
[[nodiscard]] constexpr std::uint32_t atomic_wavefronts(WarpAccess<std::uint32_t> const& warp,
                                                        Atomic what = Atomic::arithmetic) {
  std::uint32_t const lanes = cost(sm_90, {Operation::cp_async, 4}, warp).wavefronts;  // H7 counts them so
  return what == Atomic::compare_and_swap ? 2 * lanes : lanes;
}

namespace detail {
constexpr WarpAccess<std::uint32_t> all_lanes_at_one_word() {
  WarpAccess<std::uint32_t> warp{};
  for (bool& active : warp.active) active = true;
  return warp;
}
}  // namespace detail
static_assert(atomic_wavefronts(detail::all_lanes_at_one_word()) == 32);
static_assert(atomic_wavefronts(detail::all_lanes_at_one_word(), Atomic::compare_and_swap) == 64);

}  // namespace swizproof
