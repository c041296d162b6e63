// H16: shared memory moves at most 128 bytes a cycle, for everybody together (sm_90).
//
//   wavefronts of the LSU + bytes that wgmma reads of its operands / 128 + bytes that the copy engine moves / 128  <=  cycles
//
// A wgmma m64nNk16 reads 32 N bytes of B, and 2,048 of A if A is in shared memory: m64n256k16 of two shared operands asks for 80 of the 128
// cycles that it takes. Beside stores and conflicts of loads the sum comes to the cycles, so that each wavefront too many is taken from the
// tensor cores, or by them; loads without conflicts reach less. Where the bytes of an operand lie costs wgmma nothing: every mode, major, start,
// LBO and SBO takes the same time, so an operand has no bank conflicts.
//
// The copy engine gives way: beside warps that store or load without pause a bulk copy takes up to ten times as long, while they lose at most
// a third; its bytes are not all paid for, the sum comes to 1.07.
// [Found by measurement on an H200: campaign `contention`, whose record tests/evidence/evidence_test.cpp recomputes.]
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
