// Cases of campaign `global`: warp instructions on global memory, and the addresses of their lanes.
#pragma once

#include "campaign/pattern.hpp"

#include <swizproof/hardware/global.hpp>

#include <array>
#include <string>
#include <string_view>

namespace swizproof::gpu {

/// A warp instruction of the campaign.
enum class GlobalOperation : std::uint8_t { ld, ld_nc, st, red, atom, cp_async };

/// Its name, its bytes a lane, and the name of its operation in the profiler's counters.
struct GlobalForm {
  std::string_view name;
  GlobalOperation operation;
  unsigned bytes;
  std::string_view counter;
};

inline constexpr std::array<GlobalForm, 22> global_forms{{
    {"ld.global.b8", GlobalOperation::ld, 1, "ld"},
    {"ld.global.b16", GlobalOperation::ld, 2, "ld"},
    {"ld.global.b32", GlobalOperation::ld, 4, "ld"},
    {"ld.global.b64", GlobalOperation::ld, 8, "ld"},
    {"ld.global.b128", GlobalOperation::ld, 16, "ld"},
    {"ld.global.nc.b8", GlobalOperation::ld_nc, 1, "ld"},
    {"ld.global.nc.b16", GlobalOperation::ld_nc, 2, "ld"},
    {"ld.global.nc.b32", GlobalOperation::ld_nc, 4, "ld"},
    {"ld.global.nc.b64", GlobalOperation::ld_nc, 8, "ld"},
    {"ld.global.nc.b128", GlobalOperation::ld_nc, 16, "ld"},
    {"st.global.b8", GlobalOperation::st, 1, "st"},
    {"st.global.b16", GlobalOperation::st, 2, "st"},
    {"st.global.b32", GlobalOperation::st, 4, "st"},
    {"st.global.b64", GlobalOperation::st, 8, "st"},
    {"st.global.b128", GlobalOperation::st, 16, "st"},
    {"red.global.b32", GlobalOperation::red, 4, "red"},
    {"red.global.b64", GlobalOperation::red, 8, "red"},
    {"atom.global.b32", GlobalOperation::atom, 4, "atom"},
    {"atom.global.b64", GlobalOperation::atom, 8, "atom"},
    {"cp.async.b32", GlobalOperation::cp_async, 4, "ldgsts"},
    {"cp.async.b64", GlobalOperation::cp_async, 8, "ldgsts"},
    {"cp.async.b128", GlobalOperation::cp_async, 16, "ldgsts"},
}};

/// Sectors and lines that the counters may show of a form, from the least to the most (H20).
struct GlobalCounts {
  unsigned sectors = 0, lines = 0;
  bool exact = true;  ///< else at least as many, and at most a lane each
  unsigned lanes = 0;

  [[nodiscard]] bool allow_sectors(std::uint64_t shown) const {
    return exact ? shown == sectors : shown >= sectors && shown <= lanes;
  }
  [[nodiscard]] bool allow_lines(std::uint64_t shown) const {
    return exact ? shown == lines : shown >= lines && shown <= lanes;
  }
};

/// Kind of pattern that a number draws.
enum class GlobalKind : std::uint8_t {
  contiguous,  ///< consecutive lanes, from any unit on
  strided,     ///< a stride of -64 to 64 units
  rows,        ///< a stride of up to 2,048 units
  permuted,    ///< consecutive units, lane l at that of lane l ^ a, or of lane a * l + b
  near,        ///< each lane anywhere in 2 KiB
  few,         ///< each lane at one of 1 to 8 addresses
  uniform,     ///< each lane anywhere
  paired       ///< lanes l and l^1 (or ^2, .. ^16) have one address
};
inline constexpr std::array<std::string_view, 8> global_kinds{"contiguous", "strided", "rows",    "permuted",
                                                              "near",       "few",     "uniform", "paired"};
/// Patterns of a kind, for each form and part.
inline constexpr unsigned global_patterns = 16;
/// Units of a pattern: as many of the instruction's bytes.
inline constexpr std::uint32_t global_units = 65536;

/// Draws pattern `number` of `kind`. A third has some lanes inactive; one is always active.
[[nodiscard]] inline Pattern draw_global(std::uint64_t seed, std::uint64_t number, GlobalKind kind,
                                         unsigned bytes) {
  std::uint64_t const head = random(seed, number, 32), more = random(seed, number, 33);
  auto const base = static_cast<std::uint32_t>(more) % global_units;
  auto const step = static_cast<std::uint32_t>(head >> 32);
  auto const few = static_cast<std::uint32_t>(head >> 8 & 7) + 1;
  auto const bit = std::uint32_t{1} << (head >> 16) % 5;
  Pattern p{};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    std::uint32_t source = kind == GlobalKind::paired ? lane & ~bit : lane;
    if (kind == GlobalKind::few) source = static_cast<std::uint32_t>(random(seed, number, lane) >> 40) % few;
    auto const r = static_cast<std::uint32_t>(random(seed, number, 64 + source));
    std::uint32_t unit = r;
    if (kind == GlobalKind::contiguous) unit = base + lane;
    if (kind == GlobalKind::strided) unit = base + lane * (step % 129 - 64);
    if (kind == GlobalKind::rows) unit = base + lane * (step % 2049);
    if (kind == GlobalKind::permuted)
      unit = base + (number % 2 == 0 ? lane ^ step % 32 : (lane * (step | 1) + few) % 32);
    if (kind == GlobalKind::near) unit = base + r % (2048 / bytes);
    p.unit[lane] = static_cast<std::uint16_t>(unit % global_units);
  }
  p.active = random_lanes(seed, number, head, more);
  return p;
}

/// Bytes of the lanes from the start of the allocation, a multiple of 256.
[[nodiscard]] inline WarpAccess<std::uint64_t> global_access(Pattern const& p, unsigned bytes) {
  WarpAccess<std::uint64_t> warp{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    warp.address[lane] = std::uint64_t{p.unit[lane]} * bytes;
    warp.active[lane] = (p.active >> lane & 1) != 0;
  }
  return warp;
}

/// Sectors and lines of a pattern.
[[nodiscard]] inline GlobalCounts counts_of(GlobalForm const& form, Pattern const& p) {
  auto const warp = global_access(p, form.bytes);
  bool const atomic = form.operation == GlobalOperation::red || form.operation == GlobalOperation::atom;
  GlobalCounts out{touched_pieces(warp, form.bytes, sector_bytes),
                   touched_pieces(warp, form.bytes, global_line_bytes), !atomic, 0};
  for (bool const active : warp.active) out.lanes += active ? 1 : 0;
  return out;
}

/// Units of the lanes, four hexadecimal digits each; dots for an inactive lane.
[[nodiscard]] inline std::string global_text(Pattern const& pattern) {
  std::string out;
  char text[8];
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    std::snprintf(text, sizeof text, "%04x", pattern.unit[lane]);
    out += (pattern.active >> lane & 1) != 0 ? text : "....";
  }
  return out;
}

}  // namespace swizproof::gpu
