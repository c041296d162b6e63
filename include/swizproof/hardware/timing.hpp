// H12: how long warp instructions take, in cycles of the multiprocessor's clock.
//
//   n instructions of w wavefronts each, issued back to back, take   overhead + n * t   cycles, where the overhead (latency of the
//   last access, barrier) is measured, and t is, in cycles an instruction,
//
//   loads, stores, ldmatrix, stmatrix    w - 1/8 <= t < w + 7/8           what disturbs a measurement only adds time
//   cp.async                             w - 1/8 <= t < max(w, 3) + 5/4   0.2 to 1.2 cycles more than its wavefronts, never below 3;
//   cp.async, w = 32                     w - 1/8 <= t < 34 + 1/4          all lanes collide so long that the L1 refills meanwhile
//
// [found by measurement] Campaign `wavefronts` on an H200, eight warps: of 1,896,128,512 patterns none takes another time; the farthest
// is 0.76 cycles above its wavefronts, of cp.async 2.23. Checked by tests/unit/hardware/timing_test.cpp and, with the record, by
// tests/unit/records/evidence_test.cpp.
#pragma once

#include <swizproof/hardware/instruction.hpp>

namespace swizproof {

/// Cycles that a cp.async takes at least, however few its wavefronts are.
inline constexpr int cp_async_least = 3;

/// Times of an instruction in eighths of a cycle: from `first` on, below `end`.
struct Eighths {
  int first;
  int end;
};

/// The times that `wavefronts` may take (H12). `eighths_of(Operation::cp_async, 1).end == 34`: below 4.25 cycles
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Eighths eighths_of(Operation operation, int wavefronts) {
  int const first = 8 * wavefronts - 1;
  if (operation != Operation::cp_async) return {first, first + 8};
  int const longest = wavefronts == static_cast<int>(warp_lanes) ? wavefronts + 1
                      : wavefronts > cp_async_least              ? wavefronts
                                                                 : cp_async_least;
  return {first, 8 * longest + 10};
}

/// True if `instructions` of them may take `cycles` behind the overhead, if each is `wavefronts`.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool may_take(Operation operation, std::int64_t cycles,
                                                            std::int64_t instructions, int wavefronts) {
  Eighths const time = eighths_of(operation, wavefronts);
  return 8 * cycles >= time.first * instructions && 8 * cycles < time.end * instructions;
}

/// Wavefronts each that as many cycles behind the overhead are called: rounded down, from an eighth below on.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::int64_t rounded_wavefronts(std::int64_t cycles,
                                                                              std::int64_t instructions) {
  return (8 * cycles + instructions) / (8 * instructions);
}

/// True if the time determines the number of wavefronts: below 3, that of a cp.async does not.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool time_tells(Operation operation, int wavefronts) {
  return operation != Operation::cp_async || wavefronts >= cp_async_least;
}

/// Most cycles of a determining time above its wavefronts: 0.875, of cp.async 2.25.
[[nodiscard]] constexpr double farthest_above(Operation operation) {
  constexpr int most = warp_lanes;
  return (eighths_of(operation, most).end - 8 * most) / 8.0;
}

static_assert(eighths_of(Operation::ld_shared, 4).first == 31 &&
              eighths_of(Operation::ld_shared, 4).end == 39);
static_assert(eighths_of(Operation::cp_async, 1).first == 7 && eighths_of(Operation::cp_async, 1).end == 34);
static_assert(rounded_wavefronts(3 * 768 - 96, 768) == 3 && rounded_wavefronts(3 * 768 - 97, 768) == 2);
static_assert(farthest_above(Operation::st_shared) == 0.875 && farthest_above(Operation::cp_async) == 2.25);

}  // namespace swizproof
