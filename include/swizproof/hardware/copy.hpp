// H21: wavefronts of cp.async that reads through L1 (.ca; LDGSTS without .BYPASS), by the addresses that it reads and writes.
//
//   in each phase of H1       r = lanes in the fullest bank of L1 that it reads: byte modulo 128 of the global address, in words of 4 bytes
//                             w = lanes in the fullest bank of shared memory that it writes
//   r or w is 1               max(r, w) wavefronts
//   both are more             from max(r, w) to r + w - 1, and no more than lanes
//
// Lanes at one address count as lanes, in both (H7). So 32 lanes that read 4 bytes each, 128 apart, take 32 wavefronts with any destination;
// with 8, 16, .. apart 2, 4, .. . Which lanes a wavefront serves where both have conflicts is not known.
//
// H22: wavefronts of cp.async that bypasses L1 (.cg; LDGSTS with .BYPASS). Units of 16 bytes; a sector has 2, a line of global
// memory and a row of shared memory 4 sectors.
//
//   lanes that write one unit     count once: the lowest of them
//   a move                        what the lanes take from one sector to one sector: both halves, straight or swapped, or one half to one half
//   a wavefront has moves         from one line to one row, of one kind of halves, all with source and destination sector of equal parity or
//                                 all of other parity; no two from one sector, nor two to one sector
//
// If no two lanes read one unit, it takes as many wavefronts; else at least as many (6 of 510 patterns took up to 4 more), and at most one for each lane.
// So 512 bytes from a multiple of 128 to a multiple of 128 take 4; to 16, 32, 48 or 64 bytes behind one 12, 8, 16 or 8. XOR of the units of a
// row, the same for the whole row, costs nothing.
//
// Unit of both: wavefronts of one executed warp instruction. Counter: smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts
// of Nsight Compute and CUPTI. [found by measurement] Campaign `copies` on an H200. Checked by tests/unit/records/evidence_test.cpp.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

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
/// Halves of sectors: 16 bytes.
inline constexpr unsigned copy_unit = 16;

/// Sectors of a copy that bypasses L1, and the halves of them. A sector's number is that of its first byte / 32.
struct SectorMove {
  std::uint64_t source = 0, destination = 0;
  unsigned kind =
      0;  ///< halves: bit 0 of the source's, bit 1 of the destination's; 4 and 5 both, straight and swapped
  bool counted = false;  ///< false for a lane that moves nothing of its own

  /// A wavefront may have both but for their sectors.
  [[nodiscard]] constexpr bool goes_with(SectorMove const& o) const {
    constexpr unsigned sectors = 4;  // of a line, and of a row
    return counted && o.counted && source / sectors == o.source / sectors &&
           destination / sectors == o.destination / sectors && kind == o.kind &&
           ((source ^ destination) & 1) == ((o.source ^ o.destination) & 1);
  }
};

/// Moves of the lanes; of two lanes that move a whole sector, the lower one has it.
template <class F, class T>
[[nodiscard]] constexpr std::array<SectorMove, warp_lanes> moves_of(WarpAccess<F> const& from,
                                                                    WarpAccess<T> const& to) {
  std::array<SectorMove, warp_lanes> out{};
  for (unsigned l = 0; l < warp_lanes; ++l) {
    auto const s = static_cast<std::uint64_t>(from.address[l] / copy_unit),
               d = static_cast<std::uint64_t>(to.address[l] / copy_unit);
    SectorMove& move = out[l];
    move = {s / 2, d / 2, static_cast<unsigned>(s % 2 + d % 2 * 2), to.active[l]};
    for (unsigned k = 0; k < l; ++k)
      if (to.active[k] && to.address[k] / copy_unit == d) move.counted = false;
    for (unsigned k = 0; k < l && move.counted; ++k) {
      bool const whole = out[k].counted && out[k].source == move.source &&
                         out[k].destination == move.destination && (out[k].kind ^ move.kind) == 3;
      if (!whole) continue;
      out[k].kind = s % 2 == d % 2 ? 4 : 5;
      move.counted = false;
    }
  }
  return out;
}
}  // namespace detail

namespace detail {
/// Wavefronts of the moves.
[[nodiscard]] constexpr unsigned wavefronts_of(std::array<SectorMove, warp_lanes> const& moves) {
  std::array<unsigned, warp_lanes> turn{};  // moves before it from its sector, of those that go with it
  unsigned wavefronts = 0;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if (!moves[l].counted) continue;
    for (unsigned k = 0; k < l; ++k)
      turn[l] += moves[k].goes_with(moves[l]) && moves[k].source == moves[l].source ? 1 : 0;
    bool alone = true;
    for (unsigned k = 0; k < l; ++k) alone = alone && !(moves[k].goes_with(moves[l]) && turn[k] == turn[l]);
    wavefronts += alone ? 1 : 0;
  }
  return wavefronts;
}
}  // namespace detail

/// True if lanes read one unit of 16 bytes.
template <class W, if_number<W> = 0>
[[nodiscard]] constexpr bool reads_a_unit_twice(WarpAccess<W> const& from) {
  for (unsigned l = 0; l < warp_lanes; ++l)
    for (unsigned k = 0; k < l && from.active[l]; ++k)
      if (from.active[k] && from.address[k] / detail::copy_unit == from.address[l] / detail::copy_unit)
        return true;
  return false;
}

/// H22. `from`: addresses in global memory, `to`: in shared memory; multiples of 16, with the same active lanes.
template <class F, class T, if_number<F> = 0, if_number<T> = 0>
[[nodiscard]] constexpr CopyWavefronts bypass_copy_wavefronts(WarpAccess<F> const& from,
                                                              WarpAccess<T> const& to) {
  CopyWavefronts out;
  out.least = out.most = detail::wavefronts_of(detail::moves_of(from, to));
  if (!reads_a_unit_twice(from)) return out;
  out.most = 0;
  for (bool const active : from.active) out.most += active ? 1 : 0;
  return out;
}

namespace detail {
/// Lanes that touch each half of the sectors of a line.
using HalvesOfLine = std::array<std::array<unsigned, 2>, 4>;

/// Wavefronts of a line at least: `whole` of them move whole sectors.
[[nodiscard]] constexpr unsigned wavefronts_with(HalvesOfLine const& lanes, unsigned whole) {
  unsigned low = 0, high = 0;
  for (auto const& [a, b] : lanes) {
    unsigned const both = std::min(whole, std::min(a, b));
    low = std::max(low, a - both), high = std::max(high, b - both);
  }
  return whole + low + high;
}

/// Least wavefronts of the lines that lanes touch, each lane alone.
template <class W>
[[nodiscard]] constexpr unsigned least_of_lines(WarpAccess<W> const& lanes) {
  constexpr unsigned line = 8 * copy_unit;
  unsigned sum = 0;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    bool first = lanes.active[l];
    for (unsigned k = 0; k < l; ++k)
      first = first && !(lanes.active[k] && lanes.address[k] / line == lanes.address[l] / line);
    if (!first) continue;
    HalvesOfLine halves{};
    for (unsigned k = l; k < warp_lanes; ++k)
      if (lanes.active[k] && lanes.address[k] / line == lanes.address[l] / line)
        ++halves[lanes.address[k] / (2 * copy_unit) % 4][lanes.address[k] / copy_unit % 2];
    unsigned least = warp_lanes;
    for (unsigned whole = 0; whole < warp_lanes; ++whole)
      least = std::min(least, wavefronts_with(halves, whole));
    sum += least;
  }
  return sum;
}
}  // namespace detail

/// Least wavefronts of H22 over all destinations in which each lane writes a unit of its own. For each line of the source 1, if its sectors
/// are read whole or each of them has the same half read alone; else 2; more where lanes read one unit.
template <class W, if_number<W> = 0>
[[nodiscard]] constexpr unsigned least_bypass_wavefronts_from(WarpAccess<W> const& from) {
  return detail::least_of_lines(from);
}

/// Least wavefronts of H22 over all sources: the same for each row that is written; lanes that write one unit count once.
template <class W, if_number<W> = 0>
[[nodiscard]] constexpr unsigned least_bypass_wavefronts_to(WarpAccess<W> to) {
  for (unsigned l = 0; l < warp_lanes; ++l)
    for (unsigned k = 0; k < l && to.active[l]; ++k)
      if (to.active[k] && to.address[k] / detail::copy_unit == to.address[l] / detail::copy_unit)
        to.active[l] = false;
  return detail::least_of_lines(to);
}

namespace detail {
/// All lanes, consecutive units from byte `start` on.
[[nodiscard]] constexpr WarpAccess<std::uint32_t> units_from(std::uint32_t start) {
  WarpAccess<std::uint32_t> warp = every_lane(copy_unit);
  for (std::uint32_t& a : warp.address) a += start;
  return warp;
}
/// Rows of `units` lanes, `pitch` bytes apart; the units of row r are permuted by XOR with r % `swizzle`.
[[nodiscard]] constexpr WarpAccess<std::uint32_t> unit_rows(unsigned units, std::uint32_t pitch,
                                                            unsigned swizzle = 1) {
  WarpAccess<std::uint32_t> warp = every_lane(0);
  for (unsigned l = 0; l < warp_lanes; ++l)
    warp.address[l] = l / units * pitch + ((l % units) ^ (l / units % swizzle)) * copy_unit;
  return warp;
}
}  // namespace detail
static_assert(bypass_copy_wavefronts(detail::units_from(0), detail::units_from(0)).most == 4);
static_assert(bypass_copy_wavefronts(detail::units_from(16), detail::units_from(0)).most == 12);
static_assert(bypass_copy_wavefronts(detail::units_from(0), detail::units_from(32)).most == 8);
static_assert(bypass_copy_wavefronts(detail::units_from(48), detail::units_from(0)).most == 16);
static_assert(bypass_copy_wavefronts(detail::units_from(0), detail::units_from(64)).most == 8);
static_assert(bypass_copy_wavefronts(detail::units_from(16), detail::units_from(16)).most == 6);
static_assert(bypass_copy_wavefronts(detail::units_from(32), detail::units_from(32)).most == 5);
static_assert(bypass_copy_wavefronts(detail::unit_rows(4, 4096), detail::units_from(0)).most == 8);
static_assert(bypass_copy_wavefronts(detail::every_lane(4096), detail::units_from(0)).most == 32);
static_assert(bypass_copy_wavefronts(detail::unit_rows(8, 4096), detail::unit_rows(8, 128, 8)).most == 4);
static_assert(bypass_copy_wavefronts(detail::every_lane(0), detail::units_from(0)).least == 32);
static_assert(least_bypass_wavefronts_from(detail::units_from(16)) == 6);
static_assert(least_bypass_wavefronts_from(detail::units_from(32)) == 5);
static_assert(least_bypass_wavefronts_from(detail::unit_rows(4, 4096)) == 8);
static_assert(least_bypass_wavefronts_from(detail::every_lane(0)) == 32);
static_assert(least_bypass_wavefronts_to(detail::units_from(16)) == 6);
static_assert(least_bypass_wavefronts_to(detail::every_lane(0)) == 1);
static_assert(copy_wavefronts(sm_90, 4, detail::every_lane(4), detail::every_lane(4)).most == 1);
static_assert(copy_wavefronts(sm_90, 4, detail::every_lane(128), detail::every_lane(4)).least == 32);
static_assert(copy_wavefronts(sm_90, 4, detail::every_lane(8), detail::every_lane(8)).least == 2);
static_assert(copy_wavefronts(sm_90, 4, detail::every_lane(8), detail::every_lane(8)).most == 3);
static_assert(copy_wavefronts(sm_90, 16, detail::every_lane(16), detail::every_lane(16)).most == 4);

}  // namespace swizproof
