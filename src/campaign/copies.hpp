// Cases of campaign `copies`: cp.async through L1, where its lanes read and where they write.
#pragma once

#include "campaign/cases.hpp"
#include "campaign/global.hpp"

#include <swizproof/hardware/copy.hpp>

#include <array>
#include <string_view>

namespace swizproof::gpu {

/// Instructions of the campaign, cp.async.ca, by their bytes a lane.
inline constexpr std::array<std::pair<std::string_view, unsigned>, 3> copy_forms{
    {{"cp.async.ca.b32", 4}, {"cp.async.ca.b64", 8}, {"cp.async.ca.b128", 16}}};

/// Kinds of pattern that is written; those that are read have the kinds of campaign `global`.
inline constexpr std::array<std::string_view, 7> written_kinds{
    "consecutive", "uniform", "few", "xor_linear", "strided", "columns", "rotated"};
/// Patterns of each pair of kinds, for each form and part.
inline constexpr unsigned copy_patterns = 6;
/// Patterns of a form and part.
inline constexpr std::uint64_t copy_cases =
    std::uint64_t{global_kinds.size()} * written_kinds.size() * copy_patterns;

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

/// The bounds of H21.
[[nodiscard]] inline CopyWavefronts wavefronts_of(CopyPattern const& p, unsigned bytes) {
  Instruction const instruction{Operation::cp_async, bytes};
  return copy_wavefronts(sm_90, bytes, access(p.from, instruction), access(p.to, instruction));
}

/// Both patterns: four hexadecimal digits a lane that reads, then those of `hexadecimal`.
[[nodiscard]] inline std::string copy_text(CopyPattern const& p, unsigned bytes) {
  return global_text(p.from) + " " + hexadecimal(p.to, {Operation::cp_async, bytes});
}

}  // namespace swizproof::gpu
