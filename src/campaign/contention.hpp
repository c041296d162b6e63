// Cases of campaign `contention`: warps that load and store while a neighbour works by itself, wgmma or the copy engine.
#pragma once

#include "campaign/contention_model.hpp"
#include "campaign/pattern.hpp"

#include <swizproof/hardware/wgmma.hpp>

#include <vector>

namespace swizproof::gpu {

/// Unit that moves bytes of shared memory while the warps do.
struct Neighbour {
  enum class Kind : std::uint8_t { none, wgmma, copy_in, copy_out };
  char const* name;
  Kind kind;
  unsigned n;        ///< N of wgmma m64nNk16, f16
  bool a_in_shared;  ///< operand A of wgmma is in shared memory
  unsigned bytes;    ///< bytes of shared memory that one operation moves
};
/// Bytes of a bulk copy.
inline constexpr unsigned copied_bytes = 8192;
inline constexpr Neighbour neighbours[] = {
    {"none", Neighbour::Kind::none, 0, false, 0},
    {"m64n8k16, A in shared memory", Neighbour::Kind::wgmma, 8, true, wgmma_bytes(8, true)},
    {"m64n8k16, A in registers", Neighbour::Kind::wgmma, 8, false, wgmma_bytes(8, false)},
    {"m64n64k16, A in shared memory", Neighbour::Kind::wgmma, 64, true, wgmma_bytes(64, true)},
    {"m64n64k16, A in registers", Neighbour::Kind::wgmma, 64, false, wgmma_bytes(64, false)},
    {"m64n128k16, A in shared memory", Neighbour::Kind::wgmma, 128, true, wgmma_bytes(128, true)},
    {"m64n128k16, A in registers", Neighbour::Kind::wgmma, 128, false, wgmma_bytes(128, false)},
    {"m64n256k16, A in shared memory", Neighbour::Kind::wgmma, 256, true, wgmma_bytes(256, true)},
    {"m64n256k16, A in registers", Neighbour::Kind::wgmma, 256, false, wgmma_bytes(256, false)},
    {"cp.async.bulk to shared memory", Neighbour::Kind::copy_in, 0, false, copied_bytes},
    {"cp.async.bulk from shared memory", Neighbour::Kind::copy_out, 0, false, copied_bytes},
};

/// Instruction that the warps issue; its lanes have one of these addresses.
struct Issued {
  char const* name;
  Instruction instruction;
  unsigned lanes_a_row;  ///< number of consecutive units in each row of 128 bytes
  bool saturates;        ///< the sum equals the cycles while wgmma of 64 columns and more runs (H16)
};
inline constexpr Issued issued_beside[] = {
    {"nothing", {Operation::ld_shared, 4}, 32, false},
    {"ld.shared.b32, 1 wavefront", {Operation::ld_shared, 4}, 32, false},
    {"ld.shared.b32, 2 wavefronts", {Operation::ld_shared, 4}, 16, false},
    {"ld.shared.b32, 8 wavefronts", {Operation::ld_shared, 4}, 4, false},
    {"ld.shared.b32, 32 wavefronts", {Operation::ld_shared, 4}, 1, false},
    {"ld.shared.b128, 4 wavefronts", {Operation::ld_shared, 16}, 8, false},
    {"st.shared.b32, 1 wavefront", {Operation::st_shared, 4}, 32, true},
    {"st.shared.b32, 8 wavefronts", {Operation::st_shared, 4}, 4, true},
    {"st.shared.b128, 4 wavefronts", {Operation::st_shared, 16}, 8, true},
    {"ldmatrix.x4, 4 wavefronts", {Operation::ldmatrix, 16, 4, false}, 8, false},
};

/// The byte of a lane, from the tile's start.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t byte_beside(Issued const& issued, unsigned lane) {
  return lane / issued.lanes_a_row * 128 + lane % issued.lanes_a_row * issued.instruction.bytes;
}
[[nodiscard]] inline unsigned wavefronts_beside(Issued const& issued) {
  WarpAccess<std::uint32_t> warp{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    warp.address[lane] = byte_beside(issued, lane), warp.active[lane] = true;
  return cost(sm_90, issued.instruction, warp).wavefronts;
}
/// Warps that issue, and how often each does.
inline constexpr unsigned warps_beside = 8, times_beside = 16000;

/// A pair: unit number `neighbour * issued + instruction`, without the pair of no neighbour and no instruction.
struct Contention {
  std::size_t neighbour;
  std::size_t issued;
};
/// The first units of campaign `contention`: 109 pairs.
[[nodiscard]] inline std::vector<Contention> contentions() {
  std::vector<Contention> all;
  for (std::size_t n = 0; n < std::size(neighbours); ++n)
    for (std::size_t i = 0; i < std::size(issued_beside); ++i)
      if (n + i != 0) all.push_back({n, i});
  return all;
}

/// An operand layout: m64n64k16 of two operands through descriptors that differ in their start alone.
struct OperandLayout {
  Major major;
  WgmmaDescriptor descriptor;  ///< start relative to the operand's 4 KiB boundary
};
/// The others: 640 layouts.
[[nodiscard]] inline std::vector<OperandLayout> operand_layouts() {
  std::vector<OperandLayout> all;
  for (Major const major : {Major::k, Major::mn})
    for (WgmmaMode const mode : {WgmmaMode::none, WgmmaMode::b32, WgmmaMode::b64, WgmmaMode::b128})
      for (unsigned start = 0; start < 128; start += 16)
        for (unsigned const lbo : {128U, 1024U})
          for (unsigned const sbo : {128U, 256U, 512U, 1024U, 2048U})
            all.push_back({major, {start, lbo, sbo, mode, 0}});
  return all;
}
/// Operations of a layout, and those between two waits.
inline constexpr unsigned wgmmas_of_layout = 4800, wgmmas_of_batch = 48;

/// Share of shared memory's bytes (H16): what the warps and the neighbour move, by what 128 bytes a cycle would be. Precondition:
/// what is issued, or the neighbour, is not "nothing".
[[nodiscard]] inline double share_of(Neighbour const& neighbour, Issued const& issued, std::uint64_t cycles,
                                     std::uint64_t neighbour_cycles, std::uint64_t operations) {
  double share = 0;
  if (cycles != 0)
    share += static_cast<double>(wavefronts_beside(issued)) * times_beside * warps_beside /
             static_cast<double>(cycles);
  if (neighbour_cycles != 0)
    share += static_cast<double>(operations) * neighbour.bytes / bytes_a_cycle /
             static_cast<double>(neighbour_cycles);
  return share;
}
/// Bound of H16: at most the whole, measured to a hundredth; of copies to a tenth; where it saturates, or nothing else works, nine
/// tenths at least, and three quarters where warps and a neighbour work.
inline constexpr double most_share = 1.01, most_share_of_copies = 1.1, least_saturated = 0.9,
                        least_share = 0.75;
[[nodiscard]] inline bool contention_agrees(Neighbour const& neighbour, Issued const& issued,
                                            std::uint64_t cycles, std::uint64_t neighbour_cycles,
                                            std::uint64_t operations) {
  double const share = share_of(neighbour, issued, cycles, neighbour_cycles, operations);
  bool const multiplies = neighbour.kind == Neighbour::Kind::wgmma,
             alone = neighbour.kind == Neighbour::Kind::none,
             saturated = alone || (multiplies && neighbour.n >= 64 && issued.saturates);
  double const least = saturated ? least_saturated : cycles != 0 ? least_share : 0;
  return share <= (alone || multiplies ? most_share : most_share_of_copies) && share >= least;
}
/// True if the neighbour's operations are what it can have counted: whole batches of wgmma, and without warps all that it was to do;
/// its time with warps is theirs, to three of its turns, since it looks at the clock between them.
[[nodiscard]] inline bool counted_whole_turns(Neighbour const& neighbour, std::uint64_t cycles,
                                              std::uint64_t neighbour_cycles, std::uint64_t operations) {
  if (neighbour.kind == Neighbour::Kind::none) return neighbour_cycles == 0 && operations == 0;
  bool const multiplies = neighbour.kind == Neighbour::Kind::wgmma;
  std::uint64_t const batch = multiplies ? wgmmas_of_batch : 1;
  if (operations == 0 || operations % batch != 0) return false;
  if (cycles == 0) return operations == (multiplies ? wgmmas_of_layout : wgmmas_of_layout - 1);
  std::uint64_t const apart =
      cycles > neighbour_cycles ? cycles - neighbour_cycles : neighbour_cycles - cycles;
  return apart * operations <= 3 * batch * neighbour_cycles;
}
/// True if wgmma took as long for a layout as for the fastest: to a hundredth.
[[nodiscard]] constexpr bool same_time(std::uint64_t cycles, std::uint64_t least) {
  return cycles >= least && 100 * (cycles - least) <= least;
}

}  // namespace swizproof::gpu
