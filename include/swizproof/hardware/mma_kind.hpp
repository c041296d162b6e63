// H10, continued: the kinds of mma on sm_120, their element types, and the fragments of their scale factors.
//
// mma with .kind::f8f6f4 or .kind::mxf8f6f4 has elements of 8, 6 and 4 bits in containers of 8: its fragments are those of
// m16n8k32 with 8 bits. mma with .block_scale multiplies A by scale_A (m x blocks of k) and B by scale_B (blocks of k x n). Its
// operand scale-a-data is one register of every lane, and the selector {byte-id, thread-id} names the bytes that are read:
//
//   scale_A (m, j)   lane 4 (m % 8) + 2 thread-id + m / 8,   byte  byte-id + j     thread-id 0 or 1
//   scale_B (j, n)   lane 4 n + thread-id,                   byte  byte-id + j     thread-id 0 to 3
//
// [PTX ISA 9.1, 9.7.14.3 (block scaling for mma.sync), tables 35 and 36; CUTLASS 4.7, include/cute/atom/mma_traits_sm120.hpp,
// SFALayout and SFBLayout, and fp4_shift_A for the place of 4 bits in a container.] ptxas 13.0 takes exactly the selectors of
// byte_ids() and these threads, but no ue8m0 with 4X. Documented, not measured.
#pragma once

#include <swizproof/hardware/fragment.hpp>

namespace swizproof {

/// A kind of mma.sync that sm_120 has.
struct MmaKind {
  std::string_view name;   ///< behind .kind::
  std::string_view shape;  ///< shape of every product of this kind
  std::string_view types;  ///< types of A and of B, which may differ
  unsigned container;      ///< bits of an element in a register
  std::string_view
      scales;        ///< `2X:ue8m0`: sizes of the scale vectors and their types; empty without .block_scale
  unsigned implied;  ///< scale vectors where .scale_vec is left out; 0: it may not be
};
inline constexpr MmaKind mma_kinds[] = {
    {"f8f6f4", "m16n8k32", "e4m3 e5m2 e3m2 e2m3 e2m1", 8, "", 0},
    {"mxf8f6f4", "m16n8k32", "e4m3 e5m2 e3m2 e2m3 e2m1", 8, "1X:ue8m0", 1},
    {"mxf4", "m16n8k64", "e2m1", 4, "2X:ue8m0", 2},
    {"mxf4nvf4", "m16n8k64", "e2m1", 4, "2X:ue8m0 4X:ue8m0 4X:ue4m3", 0},
};

/// The kind of that name; nullptr for others.
[[nodiscard]] constexpr MmaKind const* mma_kind(std::string_view name) {
  for (MmaKind const& kind : mma_kinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

/// Lanes that may hold one scale factor: 2 of A's, 4 of B's; the selector's thread-id chooses. Lanes that may hold an index of a sparse
/// product's metadata, and lanes of Tensor Memory that hold the same. 1 of every other fragment.
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr unsigned holders_of_each(Fragment const& f) {
  if (f.formula == FragmentFormula::scale_a) return 2;
  switch (f.formula) {
    case FragmentFormula::scale_b:
    case FragmentFormula::e_one:
    case FragmentFormula::copied_x4:
    case FragmentFormula::scales_in_tensor_memory:
      return 4;
    case FragmentFormula::e_pair:
    case FragmentFormula::e_pair_rows:
    case FragmentFormula::copied_02_13:
    case FragmentFormula::copied_01_23:
      return 2;
    default:
      break;
  }
  return 1;
}

/// The fragment of scale_A or scale_B under selector {0, thread-id}, `blocks` along k, as all lanes hold it whose register may be
/// read. Precondition: `operand` is scale_a or scale_b; blocks is 1, 2 or 4. Scale of A, 4 blocks, lane 5, value 3: row 9, block 3.
[[nodiscard]] constexpr Fragment scale_fragment(Operand operand, unsigned blocks) {
  if (operand == Operand::scale_a) return {FragmentFormula::scale_a, warp_lanes, blocks, 8, 16, blocks};
  return {FragmentFormula::scale_b, warp_lanes, blocks, 8, blocks, 8};
}

/// The fragment of a shape of tcgen05.cp: what lanes of Tensor Memory hold, in columns of 32 bits.
[[nodiscard]] constexpr Fragment copied_fragment(TensorMemoryCopy const& copy) {
  FragmentFormula const formula = copy.rows == 4                         ? FragmentFormula::copied_4
                                  : copy.rows == 128                     ? FragmentFormula::copied
                                  : copy.rows == 32                      ? FragmentFormula::copied_x4
                                  : copy.name == "64x128b.warpx2::02_13" ? FragmentFormula::copied_02_13
                                                                         : FragmentFormula::copied_01_23;
  return {formula, copy.lanes, copy.columns, 32, copy.rows, copy.columns};
}
/// Scale factors of `rows` rows of A, or columns of B, with `blocks` along k, in Tensor Memory.
[[nodiscard]] constexpr Fragment scales_in_memory(unsigned rows, unsigned blocks) {
  return {FragmentFormula::scales_in_tensor_memory, 128, rows / 32 * blocks, 8, rows, blocks};
}

/// First bytes that a selector may name with so many scale vectors: 0, 1, 2, 3; 0, 2; 0. `byte_ids(2) == "0 or 2"`
[[nodiscard]] constexpr std::string_view byte_ids(unsigned blocks) {
  return blocks == 1 ? "0 to 3" : blocks == 2 ? "0 or 2" : "0";
}

static_assert(element_of(scale_fragment(Operand::scale_a, 4), 5U, 3U) == MatrixElement{9, 3});
static_assert(element_of(scale_fragment(Operand::scale_b, 2), 21U, 1U) == MatrixElement{1, 5});
static_assert(element_of(scales_in_memory(128, 4), 37U, 9U) == MatrixElement{69, 1});
static_assert(mma_kind("mxf4nvf4")->container == 4 && mma_kind("f16") == nullptr);

}  // namespace swizproof
