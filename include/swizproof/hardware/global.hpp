// H20: sectors and lines of global memory that a warp instruction touches.
//
//   sectors = aligned pieces of 32 bytes that hold a byte of an active lane, each counted once in the warp
//   lines   = the same of 128 bytes
//
// of ld, ld.nc and st of 1 to 16 bytes a lane, and of cp.async. An access of any width is one request. Lanes at one address share its sector, in
// loads and in stores, in any order. Of red and atom only bounds are known: from the sectors to the number of lanes, since lanes at one address
// are served one after another. Units: sectors and lines of one executed warp instruction. Counters: l1tex__t_sectors_* and
// l1tex__t_set_accesses_pipe_lsu_mem_global_op_* of Nsight Compute and CUPTI. [found by measurement] Campaign `global` on an H100. Checked by
// tests/unit/records/evidence_test.cpp.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <cstdint>

namespace swizproof {

inline constexpr unsigned sector_bytes = 32;        ///< H20
inline constexpr unsigned global_line_bytes = 128;  ///< H20

/// Aligned pieces of `piece` bytes that the active lanes touch, each of them `bytes` from its address on. 32 lanes of 4 bytes from byte
/// 16 on touch 5 sectors.
template <class W, if_number<W> = 0>
[[nodiscard]] constexpr unsigned touched_pieces(WarpAccess<W> const& access, unsigned bytes, unsigned piece) {
  unsigned touched = 0;
  W first[warp_lanes]{}, last[warp_lanes]{}, highest = 0;  // pieces of each lane, and of all so far
  for (unsigned i = 0; i < warp_lanes; ++i) {
    if (!access.active[i]) continue;
    first[i] = access.address[i] / piece, last[i] = (access.address[i] + bytes - 1) / piece;
    for (W at = first[i]; at <= last[i]; ++at) {
      bool repeated = false;
      if (touched != 0 && at <= highest)
        for (unsigned j = i; j-- > 0 && !repeated;)
          repeated = access.active[j] && first[j] <= at && at <= last[j];
      if (!repeated) ++touched, highest = at > highest ? at : highest;
    }
  }
  return touched;
}

/// Sectors that `lanes` lanes need at least if each reads or writes bytes of its own: those of consecutive addresses from a multiple of 32
/// on. `ideal_sectors(32, 4) == 4`
[[nodiscard]] constexpr unsigned ideal_sectors(unsigned lanes, unsigned bytes) {
  return (lanes * bytes + sector_bytes - 1) / sector_bytes;
}

namespace detail {
/// All lanes, `stride` bytes apart.
[[nodiscard]] constexpr WarpAccess<std::uint64_t> lanes_apart(std::uint64_t first, std::uint64_t stride) {
  WarpAccess<std::uint64_t> warp{};
  for (unsigned l = 0; l < warp_lanes; ++l) warp.address[l] = first + l * stride, warp.active[l] = true;
  return warp;
}
}  // namespace detail
static_assert(touched_pieces(detail::lanes_apart(0, 4), 4, sector_bytes) == ideal_sectors(32, 4));
static_assert(touched_pieces(detail::lanes_apart(16, 4), 4, sector_bytes) == 5);
static_assert(touched_pieces(detail::lanes_apart(0, 4096), 4, sector_bytes) == 32);
static_assert(touched_pieces(detail::lanes_apart(0, 16), 16, global_line_bytes) == 4);

}  // namespace swizproof
