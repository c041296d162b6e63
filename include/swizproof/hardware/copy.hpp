// H21: wavefronts of cp.async that reads through L1 (.ca; LDGSTS without .BYPASS), by the addresses that it reads and writes.
//
//   in each phase of H1       r = lanes in the fullest bank of L1 that it reads: byte modulo 128 of the global address, in words of 4 bytes
//                             w = lanes in the fullest bank of shared memory that it writes
//   r or w is 1               max(r, w) wavefronts
//   both are more             from max(r, w) to r + w - 1, and no more than lanes
//
// Lanes at one address count as lanes, in both (H7). So 32 lanes that read 4 bytes each, 128 apart, take 32 wavefronts with any destination;
// with 8, 16, .. apart 2, 4, .. . Which lanes a wavefront serves where both have conflicts is not known. cp.async.cg bypasses L1: the counter
// shows how its sectors arrive. Unit: wavefronts of one executed warp instruction. Counter: smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts
// of Nsight Compute and CUPTI. [found by measurement] Campaign `copies` on an H200. Checked by tests/unit/records/evidence_test.cpp.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <algorithm>

namespace swizproof {

/// Wavefronts of a copy, at least and at most.
struct CopyWavefronts {
  unsigned least = 0, most = 0;
};

/// H21. `from`: addresses in global memory, their bytes modulo 128 count; `to`: in shared memory; with the same active lanes. 32 lanes of
/// 4 bytes that read 256 bytes apart and write consecutive words: 32 and 32.
template <class W, if_number<W> = 0>
[[nodiscard]] constexpr CopyWavefronts copy_wavefronts(Architecture const& arch, unsigned bytes,
                                                       WarpAccess<W> const& from, WarpAccess<W> const& to) {
  Instruction const instruction{Operation::cp_async, bytes};
  auto const phases = detail::phases_of(arch, instruction);
  auto const reads = detail::serve(from, phases, instruction),
             writes = detail::serve(to, phases, instruction);
  CopyWavefronts out;
  for (unsigned g = 0; g < reads.phases.count; ++g) {
    unsigned const r = reads.degree[g], w = writes.degree[g];
    unsigned lanes = 0;
    for (unsigned l = g * warp_lanes / reads.phases.count; l < (g + 1) * warp_lanes / reads.phases.count; ++l)
      lanes += from.active[l] ? 1 : 0;
    if (lanes == 0) continue;
    out.least += std::max(r, w);
    out.most += std::min(lanes, r + w - 1);
  }
  return out;
}

namespace detail {
/// All lanes, `stride` bytes apart.
[[nodiscard]] constexpr WarpAccess<std::uint32_t> every_lane(std::uint32_t stride) {
  WarpAccess<std::uint32_t> warp{};
  for (unsigned l = 0; l < warp_lanes; ++l) warp.address[l] = l * stride, warp.active[l] = true;
  return warp;
}
}  // namespace detail
static_assert(copy_wavefronts(sm_90, 4, detail::every_lane(4), detail::every_lane(4)).most == 1);
static_assert(copy_wavefronts(sm_90, 4, detail::every_lane(128), detail::every_lane(4)).least == 32);
static_assert(copy_wavefronts(sm_90, 4, detail::every_lane(8), detail::every_lane(8)).least == 2);
static_assert(copy_wavefronts(sm_90, 4, detail::every_lane(8), detail::every_lane(8)).most == 3);
static_assert(copy_wavefronts(sm_90, 16, detail::every_lane(16), detail::every_lane(16)).most == 4);

}  // namespace swizproof
