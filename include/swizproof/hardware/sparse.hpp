// H10, continued: mma.sp and wgmma with .sp, whose A has two zeros among four elements of a row, and their metadata.
//
// A row of A has k/2 elements that are not zero; registers hold them as those of the dense product of half the depth do. The operand E, one
// register of every lane, has an index for each:
//
//   types          not zero        an index                    elements j of a row are among
//   tf32           1 of 2          4 bits, 0b0100 or 0b1110    k 2j and 2j + 1
//   f16 bf16       2 of 4          2 bits                      k 4 (j/2) .. 4 (j/2) + 3
//   8 bits         2 of 4          2 bits                      k 4 (j/2) .. 4 (j/2) + 3
//   4 bits         2 pairs of 4    2 bits for a pair           pairs 4 (j/4) .. 4 (j/4) + 3 of k
//
// Which lanes hold the metadata that are read, the sparsity selector F says:
//
//   depth                          lanes of each four    bits 0 to 15      bits 16 to 31
//   tf32 k8, f16 k16               F, 0 to 3             row m, all k      row m + 8, all k
//   tf32 k16, f16 k32              2F + h                row m, half h     row m + 8, half h of k
//   8 bits k32, 4 bits k64         2F + h                row m + 8h, all k
//   8 bits k64, 4 bits k128        h + 2 half, F is 0    row m + 8h, a half of k
//
// [PTX ISA 9.1, 9.7.14.6.1 (storage) and .2 (fragments, figures of the metadata), 9.7.15.6.1; CUTLASS 4.7, ELayout of
// include/cute/atom/mma_traits_sm90_gmma_sparse.hpp and mma_traits_sm120_sparse.hpp] Confirmed by experiment: campaign `registers`.
#pragma once

#include <swizproof/hardware/fragment.hpp>

namespace swizproof {

/// A shape of mma.sp, or of wgmma with .sp where m is 64 and n any, for elements of so many bits.
struct SparseShape {
  std::string_view shape;  ///< shape in PTX's words; of wgmma `k32`
  unsigned m, n, k;
  unsigned bits;           ///< size of an element of A and B
  std::string_view types;  ///< types of A and B
  FragmentFormula a, e;    ///< formulas of the elements that are not zero, and of their metadata
  std::string_view needs;
  std::string_view selectors;  ///< values of the sparsity selector

  [[nodiscard]] constexpr unsigned threads() const { return m == 64 ? 128 : warp_lanes; }
  /// Elements of a row of A that are not zero.
  [[nodiscard]] constexpr unsigned kept() const { return k / 2; }
  /// Bits of an index, and indices of a row.
  [[nodiscard]] constexpr unsigned index_bits() const { return bits == 32 ? 4 : 2; }
  [[nodiscard]] constexpr unsigned indices() const { return bits == 4 ? k / 4 : k / 2; }
  /// The fragment of A, of B (k x n, of mma alone), of E (m x indices), or of D with elements of `d_bits` and `columns` columns.
  [[nodiscard]] constexpr Fragment fragment(Operand operand, unsigned columns, unsigned d_bits) const {
    switch (operand) {
      case Operand::a:
        return {a, threads(), m * kept() / threads(), bits, m, kept()};
      case Operand::b:
        return {b_of_run(32 / bits), threads(), n * k / warp_lanes, bits, k, n};
      case Operand::e:
        return {e, threads(), 32 / index_bits(), index_bits(), m, indices()};
      default:
        break;
    }
    return {m == 64 ? FragmentFormula::d_m64 : FragmentFormula::d_m16,
            threads(),
            m * columns / threads(),
            d_bits,
            m,
            columns};
  }
};

/// mma.sp of every type. [PTX ISA 9.1, 9.7.14.6.3]
inline constexpr std::array<SparseShape, 8> sparse_shapes{{
    {"m16n8k8", 16, 8, 8, 32, "tf32", FragmentFormula::a_k4, FragmentFormula::e_one, "sm_80", "0 to 3"},
    {"m16n8k16", 16, 8, 16, 32, "tf32", FragmentFormula::a_k8_b32, FragmentFormula::e_pair, "sm_80",
     "0 or 1"},
    {"m16n8k16", 16, 8, 16, 16, "f16 bf16", FragmentFormula::a_k8_b16, FragmentFormula::e_one, "sm_80",
     "0 to 3"},
    {"m16n8k32", 16, 8, 32, 16, "f16 bf16", FragmentFormula::a_k16_b16, FragmentFormula::e_pair, "sm_80",
     "0 or 1"},
    {"m16n8k32", 16, 8, 32, 8, "s8 u8", FragmentFormula::a_k16_b8, FragmentFormula::e_pair_rows, "sm_80",
     "0 or 1"},
    {"m16n8k64", 16, 8, 64, 8, "s8 u8 e4m3 e5m2", FragmentFormula::a_k32_b8, FragmentFormula::e_all, "sm_80",
     "0"},
    {"m16n8k64", 16, 8, 64, 4, "s4 u4", FragmentFormula::a_k32_b4, FragmentFormula::e_pair_rows, "sm_80",
     "0 or 1"},
    {"m16n8k128", 16, 8, 128, 4, "s4 u4 e2m1", FragmentFormula::a_k64_b4, FragmentFormula::e_all, "sm_80",
     "0"},
}};

/// wgmma.mma_async.sp: A from registers, E and D. [PTX ISA 9.1, 9.7.15.6.2]
inline constexpr std::array<SparseShape, 3> sparse_wgmma_shapes{{
    {"k16", 64, 8, 16, 32, "tf32", FragmentFormula::a_k8_b32, FragmentFormula::e_pair, "sm_90a", "0 or 1"},
    {"k32", 64, 8, 32, 16, "f16 bf16", FragmentFormula::a_k16_b16, FragmentFormula::e_pair, "sm_90a",
     "0 or 1"},
    {"k64", 64, 8, 64, 8, "e4m3 e5m2 s8 u8", FragmentFormula::a_k32_b8, FragmentFormula::e_all, "sm_90a",
     "0"},
}};

static_assert(element_of(sparse_shapes[3].fragment(Operand::e, 8, 32), 5U, 9U) == MatrixElement{9, 9});
static_assert(element_of(sparse_shapes[7].fragment(Operand::e, 8, 32), 7U, 3U) == MatrixElement{9, 19});
static_assert(element_of(sparse_shapes[5].fragment(Operand::b, 8, 32), 5U, 13U) == MatrixElement{53, 1});

}  // namespace swizproof
