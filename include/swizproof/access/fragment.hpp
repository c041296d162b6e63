// Fragments by name, and as CuTe writes them: thread-value layouts, a second statement of what hardware/fragment.hpp says.
//
//   mma.m16n8k16.f16, A     ((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))     (thread, value) -> m + 16 k
//
// CuTe numbers an element of A as m + M k, of B as n + N k, of D as m + M n: column-major in (M,K), (N,K), (M,N). Its
// copy atoms count bits: ldmatrix's destination is (thread, bit of its registers) -> bit of the rows, which follow each
// other in the order of the lanes that give their addresses.
#pragma once

#include <swizproof/hardware/fragment.hpp>
#include <swizproof/layout/layout.hpp>

#include <optional>
#include <string>

namespace swizproof {

/// A fragment and what it is of.
struct NamedFragment {
  std::string instruction{};                       ///< `mma.m16n8k16.f16`, `ldmatrix.x4.trans`
  std::optional<Operand> operand{};                ///< of mma and wgmma
  std::optional<swizproof::Instruction> memory{};  ///< ldmatrix or stmatrix: one side of it is shared memory
  Fragment fragment{};
  std::string needs{};               ///< the first architecture that has the instruction
  bool addend = false;               ///< true for C, which is held as D is
  bool block_scaled = false;         ///< A and B have a scale for each block of k: mma of e2m1
  std::vector<std::string> notes{};  ///< what of a pasted text is not in the answer

  /// `a`, `b`, `c` or `d`, as it was named. Precondition: there is an operand.
  [[nodiscard]] char operand_letter() const;

  /// `mma.m16n8k16.f16:a`, `ldmatrix.x4`.
  [[nodiscard]] std::string name() const;
  /// Names of rows and columns: `m` and `k` of A, `k` and `n` of B, `m` and `n` of D, `row` and `column`.
  [[nodiscard]] std::string_view row_index() const;
  [[nodiscard]] std::string_view column_index() const;
};

/// The letter of an operand: `a`, `b`, `d`.
[[nodiscard]] char letter(Operand operand);

/// CuTe's thread-value layout of a fragment; in bits for ldmatrix and stmatrix, whose values are bits of the registers.
/// [CUTLASS 4.7, mma_traits_sm75/sm80/sm90/sm90_gmma.hpp, copy_traits_sm75/sm90.hpp] Proved to be element_of() by the
/// claims `fragment/...`; with a CUTLASS checkout the claim `fragment/cute::MMA_Traits` compares the headers.
[[nodiscard]] Layout thread_values(Fragment const& fragment);

/// True of the fragments whose thread-value layout counts bits.
[[nodiscard]] constexpr bool counts_bits(Fragment const& fragment) {
  return fragment.formula == FragmentFormula::matrices || fragment.formula == FragmentFormula::matrices_trans;
}

/// True of the fragments of B, whose elements CuTe numbers n + N k.
[[nodiscard]] constexpr bool is_b(Fragment const& fragment) {
  return fragment.formula >= FragmentFormula::b_k4 && fragment.formula <= FragmentFormula::b_k64_b4;
}

/// CuTe's number of the element that is value i of a thread, by PTX's formulas; of a bit of the registers where the
/// layout counts bits. Precondition: as element_of().
template <class W>
[[nodiscard]] constexpr W cute_index(Fragment const& f, W const& thread, W const& i) {
  if (counts_bits(f)) {
    MatrixElementOf<W> const e = element_of(f, thread, W(i / f.bits));
    return e.row * 128 + e.column * f.bits + i % f.bits;
  }
  MatrixElementOf<W> const e = element_of(f, thread, i);
  return is_b(f) ? W(e.column + e.row * f.columns) : W(e.row + e.column * f.rows);
}

/// Values of a thread as its thread-value layout counts them: elements, or bits.
[[nodiscard]] constexpr unsigned counted_values(Fragment const& f) {
  return counts_bits(f) ? f.values * f.bits : f.values;
}

}  // namespace swizproof
