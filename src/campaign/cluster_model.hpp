// H15: what a warp's access to the shared memory of another block of its cluster takes (sm_90).
//
// Such an access goes through the network between multiprocessors, as if to global memory: what counts is not banks but how many pieces of
// memory the warp touches. With S distinct 32-byte sectors and P packets (below), in cycles of the multiprocessor's clock,
//
//   ld.shared::cluster    1.5 * S
//   st.shared::cluster    1.5 * P
//   st.async              at least 1.5 * S: lanes at one word are not brought together; up to 3.5 a lane, and 6 more
//
// and accesses of 16 bytes, and stores of 8, at least the wavefronts that they take at home. Of 4 and 8 bytes four of five times and more are
// within a tenth of a cycle of that, and none 3 above it; of 16 bytes, whose phases share less, loads take up to half as much again and 8 cycles, stores
// a quarter and 3. Through the window of the cluster the own block's memory is read by what is a plain load, up to 0.3
// cycles more.
// [Found by measurement on an H200: campaign `cluster`, with clusters of two; the bounds are those of remote_time().]
//
// Not covered, and no cost model found: accesses of 1 and 2 bytes; atomics and reductions of another block's memory (2 to 173 cycles).
#pragma once

#include <swizproof/hardware/bank.hpp>

namespace swizproof {

/// How another block's memory is reached.
enum class Remote : std::uint8_t { load, store, store_async };

/// Distinct sectors of 32 bytes that the active lanes touch. 32 lanes at consecutive words: 4.
[[nodiscard]] constexpr unsigned sectors(WarpAccess<std::uint32_t> const& warp) {
  unsigned distinct = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    bool fresh = warp.active[lane];
    for (unsigned before = 0; before < lane; ++before)
      fresh = fresh && !(warp.active[before] && warp.address[before] / 32 == warp.address[lane] / 32);
    distinct += fresh ? 1 : 0;
  }
  return distinct;
}

/// Packets that a store is sent in. A sector that is not wholly written takes one for each of its 16-byte halves that is touched, and so does
/// the only whole one of a line of 128 bytes; of two and more in a line each takes one. 32 lanes at consecutive words: 4; eight: 2.
/// Precondition: `bytes` is at most 16, and addresses are multiples of it.
[[nodiscard]] constexpr unsigned packets(WarpAccess<std::uint32_t> const& warp, unsigned bytes) {
  unsigned all = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::uint32_t const line = warp.address[lane] / 128;
    bool fresh = warp.active[lane];
    for (unsigned before = 0; before < lane; ++before)
      fresh = fresh && !(warp.active[before] && warp.address[before] / 128 == line);
    if (!fresh) continue;
    std::uint32_t written[4] = {};  // of each sector, a bit a byte
    for (unsigned other = 0; other < warp_lanes; ++other)
      if (warp.active[other] && warp.address[other] / 128 == line)
        written[warp.address[other] / 32 % 4] |= ((1U << bytes) - 1) << warp.address[other] % 32;
    unsigned whole = 0, halves = 0;
    for (std::uint32_t const sector : written) {
      if (sector == ~0U)
        ++whole;
      else
        halves += ((sector & 0xFFFF) != 0 ? 1 : 0) + (sector >> 16 != 0 ? 1 : 0);
    }
    all += halves + (whole == 1 ? 2 : whole);
  }
  return all;
}

/// Cycles that an access takes, in eighths: from `least` on, below `most`.
struct RemoteTime {
  std::uint32_t least;
  std::uint32_t most;
};

/// Bounds of campaign `cluster`. Precondition: some lane is active, `bytes` is 4, 8 or 16, and addresses are multiples of it. 32 lanes that load consecutive
/// words: 6 cycles, from 5 to 7.5.
[[nodiscard]] constexpr RemoteTime remote_time(Remote what, unsigned bytes,
                                               WarpAccess<std::uint32_t> const& warp) {
  bool const loads = what == Remote::load;
  Instruction const at_home{loads ? Operation::ld_shared : Operation::st_shared, bytes};
  bool const counts_at_home = bytes == 16 || (bytes == 8 && what == Remote::store);
  std::uint32_t const home = counts_at_home ? 8 * cost(sm_90, at_home, warp).wavefronts : 0;
  std::uint32_t const network = 12 * (what == Remote::store ? packets(warp, bytes) : sectors(warp));
  std::uint32_t const law = network > home ? network : home;
  std::uint32_t const more = bytes == 4 ? 12 : bytes == 8 ? 24 : loads ? law / 2 + 64 : law / 4 + 24;
  std::uint32_t lanes = 0;
  for (bool const active : warp.active) lanes += active ? 1 : 0;
  std::uint32_t const most = what == Remote::store_async ? 28 * lanes + 48 : 0;
  return {law - 8, most < law + more ? law + more : most};
}

namespace detail {
constexpr WarpAccess<std::uint32_t> consecutive_words(unsigned lanes) {
  WarpAccess<std::uint32_t> warp{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    warp.address[lane] = 4 * lane, warp.active[lane] = lane < lanes;
  return warp;
}
}  // namespace detail
static_assert(sectors(detail::consecutive_words(32)) == 4 && packets(detail::consecutive_words(32), 4) == 4);
static_assert(sectors(detail::consecutive_words(8)) == 1 && packets(detail::consecutive_words(8), 4) == 2);
static_assert(remote_time(Remote::load, 4, detail::consecutive_words(32)).least == 40);

}  // namespace swizproof
