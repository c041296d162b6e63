// Elements of matrices, and those of the 8 x 8 matrices of ldmatrix, stmatrix and movmatrix.
#pragma once

#include <swizproof/core/word.hpp>

namespace swizproof {

/// Row and column of an element of a matrix.
template <class W>
struct MatrixElementOf {
  W row;
  W column;
  [[nodiscard]] friend SWIZPROOF_HOST_DEVICE constexpr auto operator==(MatrixElementOf const& a,
                                                                       MatrixElementOf const& b) {
    return a.row == b.row && a.column == b.column;
  }
};
using MatrixElement = MatrixElementOf<std::uint32_t>;

/// The element in the lower (half 0) or upper (half 1) 16 bits of a lane's register, the register that
/// ldmatrix loads matrix i into being register i. Row l/4, columns 2(l%4) and 2(l%4)+1; with .trans row
/// and column change places. Lane 5, half 1: row 1, column 3. [PTX ISA 9.1, 9.7.14.5.15]
/// Confirmed by experiment: campaign `ldmatrix`.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr MatrixElementOf<W> matrix_element_of(W const& lane,
                                                                                   W const& half,
                                                                                   bool transposed) {
  W const major = lane / 4, minor = lane % 4 * 2 + half;
  return transposed ? MatrixElementOf<W>{minor, major} : MatrixElementOf<W>{major, minor};
}
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr MatrixElement matrix_element(std::uint32_t lane,
                                                                           std::uint32_t half,
                                                                           bool transposed) {
  return matrix_element_of(lane, half, transposed);
}

static_assert(matrix_element(5, 1, false) == MatrixElement{1, 3});
static_assert(matrix_element(5, 1, true) == MatrixElement{3, 1});

}  // namespace swizproof
