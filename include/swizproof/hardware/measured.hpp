// Written by gpu/measured from gpu/evidence; do not edit.
#pragma once

namespace swizproof {

/// Evidence of H1 to H7 (bank.hpp) for compute capability 9.0: devices and days of the campaigns wavefronts and counters.
inline constexpr char measured_sm_90[] = "measured on an H200, 2026-11-21";
/// Patterns of those campaigns: none costs anything else than the model says.
inline constexpr unsigned long long patterns_sm_90 = 1896130619;

}  // namespace swizproof
