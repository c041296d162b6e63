// H16: shared memory moves at most 128 bytes a cycle, for warps and wgmma together (sm_90).
//
//   wavefronts of the LSU + bytes that wgmma reads of its operands / 128  <=  cycles
//
// A wgmma m64nNk16 reads 32 N bytes of B, and 2,048 of A if A is in shared memory: m64n256k16 of two shared operands needs 80 of the 128
// cycles that it takes. With stores at the same time, from 64 columns on, the sum is 0.94 to 0.99 of the cycles: both share the bandwidth. With
// loads, with conflicts or without, it is 0.76 to 1.00. The addresses of an operand's bytes do not matter for wgmma: every mode and major, 8 starts,
// 2 LBO and 5 SBO take the same time, so an operand has no bank conflicts.
//
// With bulk copies the sum comes to 1.07, for an unknown reason. The copy engine gives way: while warps store or load without pause, a copy
// takes up to ten times as long, and the warps take at most a third longer.
// [Found by measurement on an H200: campaign `contention`, whose record tests/unit/records/evidence_test.cpp recomputes.]
#pragma once

#include <swizproof/core/word.hpp>

namespace swizproof {

/// Bytes that shared memory moves in a cycle (H16): a word of each of 32 banks.
inline constexpr unsigned bytes_a_cycle = 128;

/// Bytes of shared memory that a wgmma reads, m64 and 32 bytes deep (k16 of f16). `wgmma_bytes(256, true) == 10240`
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned wgmma_bytes(unsigned n, bool a_in_shared) {
  return 32 * n + (a_in_shared ? 32 * 64 : 0);
}
static_assert(wgmma_bytes(256, true) / bytes_a_cycle == 80);

}  // namespace swizproof
