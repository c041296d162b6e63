// H10, continued: mma.m8n8k4 of f16, which is four products of a warp: of quad pair q, lanes 4q .. 4q + 3 and 4q + 16 .. 4q + 19.
//
// [PTX ISA 9.1, 9.7.14.5.1] Confirmed by experiment: campaign `registers`.
#pragma once

#include <swizproof/hardware/fragment.hpp>

namespace swizproof {

/// How its operands are stored, and the type of its results.
struct QuadPairs {
  bool a_row = true, b_col = true;  ///< PTX's .row.col
  bool f32 = true;                  ///< results and addends; else f16
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned values(Operand operand) const {
    return operand == Operand::a || operand == Operand::b ? 4 : 8;
  }
};

/// The element that is value i of a lane: of A and D row 8 q + m, of B column 8 q + n. `QuadPairs{}`, D, lane 20, value 1: row 12, column 1.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr MatrixElementOf<W> quad_pair_element(QuadPairs const& of,
                                                                                   Operand operand,
                                                                                   W const& lane,
                                                                                   W const& i) {
  W const product = lane % 16 / 4 * 8, upper = lane / 16 * 4, in_quad = lane % 4;
  if (operand == Operand::a) {
    if (of.a_row) return {product + upper + in_quad, i};
    return {product + upper + i, in_quad};
  }
  if (operand == Operand::b) {
    if (of.b_col) return {i, product + upper + in_quad};
    return {in_quad, product + upper + i};
  }
  if (!of.f32) return {product + upper + in_quad, i};
  return {product + upper + (lane & 1) + (i & 2), (i & 4) + (lane & 2) + (i & 1)};
}

static_assert(quad_pair_element(QuadPairs{}, Operand::d, 20U, 1U) == MatrixElement{12, 1});
static_assert(quad_pair_element(QuadPairs{false, false}, Operand::b, 20U, 3U) == MatrixElement{0, 15});

}  // namespace swizproof
