// Architectures: how each serves a warp's instructions, and what that rests on.
#pragma once

#include <swizproof/hardware/instruction.hpp>
#include <swizproof/hardware/measured.hpp>

#include <array>
#include <string_view>

namespace swizproof {

/// How many lanes are served together (H3, H6), and how many if loads merge (H4); 0: they never do.
struct Phase {
  unsigned lanes = 0;
  unsigned merged_lanes = 0;
};

/// Phases by operation (in the order of Operation) and width: up to 4 bytes, 8, 16.
using PhaseTable = std::array<std::array<Phase, 3>, 5>;

/// Phases of compute capability 9.0.
inline constexpr PhaseTable sm_90_phases{{
    {{{32, 0}, {16, 32}, {8, 16}}},  // ld.shared
    {{{32, 0}, {16, 0}, {8, 0}}},    // st.shared
    {{{8, 0}, {8, 0}, {8, 0}}},      // ldmatrix
    {{{8, 0}, {8, 0}, {8, 0}}},      // stmatrix
    {{{32, 0}, {16, 0}, {8, 0}}},    // cp.async
}};

/// What a table of phases rests on: a device was measured, a manual says so, or nobody has looked.
enum class Support : std::uint8_t { measured, documented, assumed };

/// Its name in text and JSON (`"evidence"`).
[[nodiscard]] constexpr std::string_view name(Support support) {
  return support == Support::measured     ? "measured"
         : support == Support::documented ? "documented"
                                          : "assumed";
}

/// An architecture: its name on the command line, its phases, and what supports them.
struct Architecture {
  std::string_view name;
  PhaseTable const* phases;
  Support support;
  std::string_view evidence;  ///< in words
};

/// Known architectures, the one that everything is checked for by default first. Only sm_90 has been measured; the others are documented to have the same
/// banks, and their phases are assumed to be those of sm_90.
inline constexpr Architecture architectures[] = {
    {"sm_90", &sm_90_phases, Support::measured, measured_sm_90},
    {"sm_80", &sm_90_phases, Support::assumed, "assumed equal to sm_90, not measured"},
    {"sm_86", &sm_90_phases, Support::assumed, "assumed equal to sm_90, not measured"},
    {"sm_89", &sm_90_phases, Support::assumed, "assumed equal to sm_90, not measured"},
    {"sm_90a", &sm_90_phases, Support::measured, measured_sm_90},
    {"sm_100", &sm_90_phases, Support::assumed, "assumed equal to sm_90, not measured"},
    {"sm_120", &sm_90_phases, Support::assumed, "assumed equal to sm_90, not measured"},
};

inline constexpr Architecture const& sm_90 = architectures[0];

/// Bytes of shared memory that a block may have, compute capability 9.0 and 10.0. [CUDA C++ Programming Guide 13.1, 20.8.3, 20.9.3]
inline constexpr std::uint64_t most_shared_bytes = 227 * 1024;

/// How an architecture serves an instruction.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Phase phase(Architecture const& arch, Instruction i) {
  return (*arch.phases)[static_cast<std::size_t>(i.operation)][i.bytes <= 4 ? 0 : i.bytes == 8 ? 1 : 2];
}

/// What an access must cost at least for the bytes it moves: 1, 2, 4 wavefronts for up to 4, 8, 16
/// bytes a lane; N for ldmatrix and stmatrix xN. Merged loads (H4) may cost less.
[[nodiscard]] constexpr unsigned ideal_wavefronts(Architecture const& arch, Instruction i) {
  return i.lanes() / phase(arch, i).lanes;
}

}  // namespace swizproof
