// H10: which element of an 8x8 matrix of 16-bit values each lane holds: ldmatrix, stmatrix, and mma's fragments.
#pragma once

#include <swizproof/core/word.hpp>

namespace swizproof {

/// Row and column of an element of an 8x8 matrix.
struct MatrixElement {
  std::uint32_t row;
  std::uint32_t column;
  [[nodiscard]] friend constexpr bool operator==(MatrixElement a, MatrixElement b) {
    return a.row == b.row && a.column == b.column;
  }
};

/// The element in the lower (half 0) or upper (half 1) 16 bits of a lane's register, the register that
/// ldmatrix loads matrix i into being register i. Row l/4, columns 2(l%4) and 2(l%4)+1; with .trans row
/// and column change places. Lane 5, half 1: row 1, column 3. [PTX ISA 9.1, 9.7.14.5.15]
/// Confirmed by experiment: campaign `ldmatrix`.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr MatrixElement matrix_element(std::uint32_t lane,
                                                                           std::uint32_t half,
                                                                           bool transposed) {
  std::uint32_t const major = lane / 4, minor = 2 * (lane % 4) + half;
  return transposed ? MatrixElement{minor, major} : MatrixElement{major, minor};
}

static_assert(matrix_element(5, 1, false) == MatrixElement{1, 3});
static_assert(matrix_element(5, 1, true) == MatrixElement{3, 1});

}  // namespace swizproof
