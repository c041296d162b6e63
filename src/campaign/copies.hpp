// Cases of campaign `copies`: cp.async, where its lanes read and where they write.
#pragma once

#include "campaign/cases.hpp"
#include "campaign/global.hpp"

#include <swizproof/hardware/copy.hpp>

#include <array>
#include <string_view>

namespace swizproof::gpu {

/// An instruction of the campaign, its bytes a lane, and true if it bypasses L1.
struct CopyForm {
  std::string_view name;
  unsigned bytes;
  bool bypasses;
};
inline constexpr std::array<CopyForm, 4> copy_forms{{{"cp.async.ca.b32", 4, false},
                                                     {"cp.async.ca.b64", 8, false},
                                                     {"cp.async.ca.b128", 16, false},
                                                     {"cp.async.cg.b128", 16, true}}};

/// Kinds of pattern that is written; those that are read have the kinds of campaign `global`.
inline constexpr std::array<std::string_view, 7> written_kinds{
    "consecutive", "uniform", "few", "xor_linear", "strided", "columns", "rotated"};
/// Patterns of each pair of kinds, for each form and part.
inline constexpr unsigned copy_patterns = 6;
/// Patterns that every form has, in a part.
inline constexpr std::uint64_t copy_cases =
    std::uint64_t{global_kinds.size()} * written_kinds.size() * copy_patterns;
/// Kinds of the other patterns of cp.async.cg, as many patterns of each: rows of lanes, and a few lanes in 3 lines and rows.
inline constexpr std::array<std::string_view, 6> tile_kinds{
    "rows to rows", "rows to swizzled", "rows to columns", "columns to rows", "rows to near", "small"};
inline constexpr unsigned tile_patterns = 48;
/// Patterns of a form and part.
[[nodiscard]] constexpr std::uint64_t cases_of(CopyForm const& form) {
  return copy_cases + (form.bypasses ? std::uint64_t{tile_kinds.size()} * tile_patterns : 0);
}
/// Patterns of all forms in a part.
[[nodiscard]] constexpr std::uint64_t all_copy_cases() {
  std::uint64_t sum = 0;
  for (CopyForm const& form : copy_forms) sum += cases_of(form);
  return sum;
}

/// Units of a copy's bytes that its lanes read, and those that they write.
struct CopyPattern {
  std::string kind{};
  Pattern from{}, to{};
};

/// Draws case `i` of a form. Two thirds have all lanes active.
[[nodiscard]] inline CopyPattern draw_copy(std::uint64_t seed, std::uint64_t i, Part part, unsigned bytes) {
  constexpr std::array<Kind, 7> drawn{Kind::uniform, Kind::uniform, Kind::few,    Kind::xor_linear,
                                      Kind::strided, Kind::columns, Kind::uniform};
  std::uint64_t const number = 1 + i * part.count + part.index;
  auto const read = static_cast<unsigned>(i / copy_patterns / written_kinds.size());
  auto const written = static_cast<unsigned>(i / copy_patterns % written_kinds.size());
  CopyPattern out{std::string(global_kinds[read]) + " to " + std::string(written_kinds[written]),
                  draw_global(seed, number, static_cast<GlobalKind>(read), bytes),
                  draw(seed + 1, number, drawn[written], {Operation::cp_async, bytes})};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if (written_kinds[written] == "consecutive") out.to.unit[lane] = static_cast<std::uint16_t>(lane);
    if (written_kinds[written] == "rotated")
      out.to.unit[lane] = static_cast<std::uint16_t>((lane * 5 + number) % warp_lanes);
  }
  if (i % copy_patterns % 3 != 0) out.from.active = 0xffffffff;
  out.to.active = out.from.active;
  return out;
}

/// Rows of 2 to 32 units, each unit a lane's: at a pitch, from a shift on, swizzled by XOR, or lane after lane down the columns.
struct UnitRows {
  unsigned width, pitch, shift, swizzle = 0, every = 1;
  bool columns = false;

  [[nodiscard]] constexpr unsigned unit(unsigned lane) const {
    unsigned const rows = warp_lanes / width;
    unsigned const row = columns ? lane % rows : lane / width, column = columns ? lane / rows : lane % width;
    return shift + row * pitch + (column ^ (row / every % (swizzle + 1)));
  }
};

/// Draws rows: a pitch of the width, of a power of two up to 64, or of up to 300 units.
[[nodiscard]] inline UnitRows draw_rows(std::uint64_t r, unsigned width, bool any_pitch) {
  UnitRows out{width, width, 0};
  if (r % 4 == 1) out.pitch = 1U << (r >> 8) % 7;
  if (r % 4 == 2) out.pitch = static_cast<unsigned>(r >> 16) % (any_pitch ? 300U : 12U);
  if (r % 4 == 3) out.pitch = width + (r >> 8) % 3;
  if (r >> 32 & 1) out.shift = static_cast<unsigned>(r >> 33) % 9;
  return out;
}

/// Draws pattern `i` of the kinds of `tile_kinds`.
[[nodiscard]] inline CopyPattern draw_tile(std::uint64_t seed, std::uint64_t i, Part part) {
  constexpr std::array<unsigned, 5> widths{8, 4, 2, 16, 32};
  auto const kind = static_cast<unsigned>(i / tile_patterns);
  std::uint64_t const number = 1 + i * part.count + part.index;
  auto const draw = [&](std::uint32_t n) { return random(seed + 2, number, n); };
  std::uint64_t const head = draw(32);
  unsigned const width = widths[head % widths.size()],
                 other = head >> 8 & 3 ? width : widths[(head >> 10) % widths.size()];
  UnitRows from = draw_rows(draw(33), width, true), to = draw_rows(draw(36), other, false);
  from.columns = kind == 3, to.columns = kind == 2;
  if (kind == 1) to.swizzle = other - 1, to.every = 1U << (head >> 16) % 3;
  unsigned const line = static_cast<unsigned>(draw(37) % 1024) * 8;
  CopyPattern out{std::string(tile_kinds[kind]), {}, {}};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    unsigned read = from.unit(lane), write = to.unit(lane);
    if (kind >= 4) write = static_cast<unsigned>(draw(64 + lane) % 48);
    if (kind == 5) read = static_cast<unsigned>(draw(128 + lane) % 24), write %= 24;
    out.from.unit[lane] = static_cast<std::uint16_t>(line + read);
    out.to.unit[lane] = static_cast<std::uint16_t>(write % (page_bytes / 16));
  }
  bool const small = kind == 5, prefix = i % 6 == 0;
  if (i % 3 != 0 && !small)
    out.from.active = 0xffffffff;
  else if (prefix && !small)
    out.from.active = ~0U >> (head >> 24) % warp_lanes;
  else
    out.from.active = random_lanes(seed + 2, number, small ? 0 : 3, draw(38));
  out.to.active = out.from.active;
  return out;
}

/// Draws case `i` of a form.
[[nodiscard]] inline CopyPattern draw_copy(std::uint64_t seed, std::uint64_t i, Part part,
                                           CopyForm const& form) {
  return i < copy_cases ? draw_copy(seed, i, part, form.bytes) : draw_tile(seed, i - copy_cases, part);
}

/// The bounds of H21 or H22.
[[nodiscard]] inline CopyWavefronts wavefronts_of(CopyPattern const& p, CopyForm const& form) {
  Instruction const instruction{Operation::cp_async, form.bytes};
  auto const from = access(p.from, instruction), to = access(p.to, instruction);
  if (!form.bypasses) return copy_wavefronts(sm_90, form.bytes, from, to);
  return bypass_copy_wavefronts(from, to);
}

/// Both patterns: four hexadecimal digits a lane that reads, then those of `hexadecimal`.
[[nodiscard]] inline std::string copy_text(CopyPattern const& p, unsigned bytes) {
  return global_text(p.from) + " " + hexadecimal(p.to, {Operation::cp_async, bytes});
}

}  // namespace swizproof::gpu
