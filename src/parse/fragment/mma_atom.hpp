// MMA atoms by the names of CUTLASS and PTX: how CuTe's MMA_Traits hold their operands.
#pragma once

#include <swizproof/access/tiled_mma.hpp>

#include <array>
#include <string>
#include <string_view>

namespace swizproof {

/// An atom by its name.
struct NamedAtom {
  MmaAtom atom{};
  std::string instruction{};       ///< as PTX names it; empty of arithmetic that the compiler chooses
  std::string needs{};             ///< the first architecture that has it
  bool measured = false;           ///< a campaign measured the instruction
  std::array<unsigned, 3> bits{};  ///< of an element of A, B and C in a register; 0 in memory
};

/// `SM80_16x8x16_F32F16F16F32_TN`, `UniversalFMA<float>`, `SM70_8x8x4_F32F16F16F32_TN`, `SM90_64x64x16_F32F16F16_SS<..>`,
/// `SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 64, ..>`, `mma.m16n8k16.f16`. Throws InputError for unknown and for sparse ones.
/// [CUTLASS 4.7, include/cute/atom/mma_traits_sm*.hpp] Checked by tests/cutlass/tiles.py: every atom of the checkout.
[[nodiscard]] NamedAtom atom_by_name(std::string_view name);

/// True of PTX's and CuTe's names of sm_70's mma.m8n8k4 of f16, which is four products of a warp.
[[nodiscard]] bool is_of_quad_pairs(std::string_view name);

/// An operand of mma.m8n8k4 of f16 by its name, `mma.m8n8k4.f16:a`: the four products along M, of B along N.
[[nodiscard]] TiledOperand quad_pairs(std::string_view text);

}  // namespace swizproof
