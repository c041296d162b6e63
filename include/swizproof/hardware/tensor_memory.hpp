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
//
// tcgen05.cp copies the rows of a matrix in shared memory, which its descriptor names, to lanes, 32 bits to a column:
//
//   .128x256b, .128x128b           row r to lane r
//   .4x256b                        row r to lane 32 r
//   .64x128b .warpx2::02_13        row r to lanes r and r + 64
//   .64x128b .warpx2::01_23        row r to lanes r + 32 (r/32) and 32 more
//   .32x128b .warpx4               row r to lanes r, r + 32, r + 64, r + 96
//
// Scale factors of tcgen05.mma with .block_scale, 8 bits each: scale (m, j) is byte j of column m/32 in lanes m % 32 + 32 w of every warp w; of B n
// in place of m. With .scale_vec::1X and ::2X the instruction descriptor's SF_ID names the first of the column's bytes.
//
// [PTX ISA 9.1, 9.7.16.2.3 (data movement shapes), 9.7.16.8 (tcgen05.cp), 9.7.16.10.7 (block scaling, figures); CUTLASS 4.7,
// copy_traits_sm100.hpp, SM100_UTCCP_..., and mma_traits_sm100_frag.hpp, tmem_sf_frg] The lanes of .4x256b are CUTLASS's. Documented, not measured.
#pragma once

#include <swizproof/hardware/matrix_element.hpp>

#include <string_view>

namespace swizproof {

/// Shapes of tcgen05.ld and tcgen05.st.
enum class TensorMemoryShape : std::uint8_t { s32x32b, s16x64b, s16x128b, s16x256b, s16x32bx2 };

/// A shape with .num = .x1: registers of a thread, lanes and columns of 32 bits, and the largest .num.
struct TensorMemoryForm {
  std::string_view name;  ///< name in PTX
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

/// A shape of tcgen05.cp: rows in shared memory, columns of 32 bits, lanes of Tensor Memory that get them.
struct TensorMemoryCopy {
  std::string_view name;  ///< `32x128b.warpx4`, as PTX writes it
  std::string_view atom;  ///< CuTe's, behind SM100_UTCCP_
  unsigned rows, columns, lanes;
};
inline constexpr TensorMemoryCopy tensor_memory_copies[] = {
    {"128x256b", "128dp256bit", 128, 8, 128},
    {"128x128b", "128dp128bit", 128, 4, 128},
    {"4x256b", "4dp256bit", 4, 8, 4},
    {"64x128b.warpx2::02_13", "2x64dp128bitlw0213", 64, 4, 128},
    {"64x128b.warpx2::01_23", "2x64dp128bitlw0123", 64, 4, 128},
    {"32x128b.warpx4", "4x32dp128bit", 32, 4, 128},
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
