// H10, continued: which element of Tensor Memory tcgen05.ld and tcgen05.st move to and from which register.
//
// Tensor Memory has lanes (rows) and columns of 32 bits. Of thread t of the warp, register r is the element at lane and column, counted
// from the address that the instruction takes:
//
//   .32x32b    t                     r
//   .16x64b    t/4 + 8 (t % 2)       2 r + t/2 % 2
//   .16x128b   t/4 + 8 (r % 2)       4 (r/2) + t % 4
//   .16x256b   t/4 + 8 (r/2 % 2)     8 (r/4) + 2 (t % 4) + r % 2
//   .16x32bx2  t % 16                r + n (t/16)      n registers; columns n to 2 n - 1 are those from immHalfSplitoff on
//
// [PTX ISA 9.1, 9.7.16.2.3.1 (matrix fragments, figures) and table 49 (.num); CUTLASS 4.7, include/cute/atom/copy_traits_sm100.hpp,
// DstLayout of SM100_TMEM_LOAD_...] Warp w of a warpgroup reaches lanes 32 w to 32 w + 31 alone. Documented, not measured.
#pragma once

#include <swizproof/hardware/matrix_element.hpp>

#include <string_view>

namespace swizproof {

/// Shapes of tcgen05.ld and tcgen05.st.
enum class TensorMemoryShape : std::uint8_t { s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2 };

/// A shape with .num = .x1: registers of a thread, lanes and columns of 32 bits, and the largest .num.
struct TensorMemoryForm {
  std::string_view name;  ///< as PTX writes it
  TensorMemoryShape shape;
  unsigned registers, lanes, columns, most;
};
inline constexpr TensorMemoryForm tensor_memory_forms[] = {
    {"32x32b", TensorMemoryShape::s32x32b, 1, 32, 1, 128},
    {"16x64b", TensorMemoryShape::s16x64b, 1, 16, 2, 128},
    {"16x128b", TensorMemoryShape::s16x128b, 2, 16, 4, 64},
    {"16x256b", TensorMemoryShape::s16x256b, 4, 16, 8, 32},
    {"16x32bx2", TensorMemoryShape::s16x32bx2, 1, 16, 2, 128},
};

/// Lane (row) and column of register r of a thread, of `columns` columns in all: the table above.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr MatrixElementOf<W> tensor_memory_element(
    TensorMemoryShape shape, unsigned columns, W const& t, W const& r) {
  switch (shape) {
    case TensorMemoryShape::s32x32b:
      return {t, r};
    case TensorMemoryShape::s16x64b:
      return {t / 4 + t % 2 * 8, r * 2 + t / 2 % 2};
    case TensorMemoryShape::s16x128b:
      return {t / 4 + r % 2 * 8, r / 2 * 4 + t % 4};
    case TensorMemoryShape::s16x256b:
      return {t / 4 + r / 2 % 2 * 8, r / 4 * 8 + t % 4 * 2 + r % 2};
    case TensorMemoryShape::s16x32bx2:
      break;
  }
  return {t % 16, r + t / 16 * (columns / 2)};
}

static_assert(tensor_memory_element(TensorMemoryShape::s16x256b, 16, 5U, 7U) == MatrixElement{9, 11});
static_assert(tensor_memory_element(TensorMemoryShape::s16x64b, 4, 7U, 1U) == MatrixElement{9, 3});

}  // namespace swizproof
