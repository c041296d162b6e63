// Fragments by name, and as CuTe writes them: thread-value layouts, which state the formulas of hardware/fragment.hpp a second time.
//
//   mma.m16n8k16.f16, A     ((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))     (thread, value) -> m + 16 k
//
// CuTe numbers an element of A as m + M k, of B as n + N k, of D as m + M n: column-major in (M,K), (N,K), (M,N). Its
// copy atoms count bits: ldmatrix's destination is (thread, bit of its registers) -> bit of the rows, which follow each
// other in the order of the lanes that give their addresses.
#pragma once

#include <swizproof/hardware/mma_kind.hpp>
#include <swizproof/hardware/sparse.hpp>
#include <swizproof/layout/layout.hpp>

#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// A fragment and what it is of.
struct NamedFragment {
  std::string instruction{};                       ///< `mma.m16n8k16.f16`, `ldmatrix.x4.trans`
  std::optional<Operand> operand{};                ///< operand of mma and wgmma
  std::optional<swizproof::Instruction> memory{};  ///< ldmatrix or stmatrix: one side of it is shared memory
  Fragment fragment{};
  std::string needs{};  ///< the first architecture that has the instruction
  bool addend = false;  ///< true for C, which is held as D is
  bool sparse = false;  ///< mma or wgmma with .sp: A's columns are its elements that are not zero
  bool of_cells =
      false;  ///< contents of lanes and columns of Tensor Memory: `lane` is a lane, a register a column
  bool measured = true;  ///< a campaign measured it; else documented
  std::vector<unsigned>
      scale_blocks{};  ///< elements along k that share a scale, for each size that is possible
  std::vector<std::string>
      notes{};  ///< parts of a pasted text that the answer leaves out, and other contents of the registers

  /// True of tcgen05.ld and tcgen05.st, whose other side is Tensor Memory.
  [[nodiscard]] bool tensor_memory() const { return is_tensor_memory(fragment.formula); }

  /// `a`, `b`, `c`, `d`, `sfa` or `sfb`, as it was named. Precondition: there is an operand.
  [[nodiscard]] std::string operand_letter() const;

  /// `mma.m16n8k16.f16:a`, `ldmatrix.x4`.
  [[nodiscard]] std::string name() const;
  /// Names of rows and columns: `m` and `k` of A, `k` and `n` of B, `m` and `n` of D, `block` in place of k for scales, `nonzero` for a sparse
  /// A, `index` for its metadata, else `row` and `column`.
  [[nodiscard]] std::string_view row_index() const;
  [[nodiscard]] std::string_view column_index() const;
};

/// The letter of an operand: `a`, `b`, `d`; of scale factors `sfa`, `sfb`.
[[nodiscard]] std::string letter(Operand operand);

/// CuTe's thread-value layout of a fragment; in bits for ldmatrix and stmatrix, whose values are bits of the registers.
/// [CUTLASS 4.7, mma_traits_sm75/sm80/sm90/sm90_gmma.hpp, copy_traits_sm75/sm90.hpp] Proved to be element_of() by the
/// claims `fragment/...`; with a CUTLASS checkout the claim `fragment/cute::MMA_Traits` compares the headers.
[[nodiscard]] Layout thread_values(Fragment const& fragment);

/// True of the fragments whose thread-value layout counts bits.
[[nodiscard]] constexpr bool counts_bits(Fragment const& fragment) {
  return fragment.formula >= FragmentFormula::matrices && fragment.formula < FragmentFormula::copied;
}

/// True of the fragments of B and its scales, whose elements CuTe numbers n + N k.
[[nodiscard]] constexpr bool is_b(Fragment const& fragment) {
  return fragment.formula >= FragmentFormula::b_k4 && fragment.formula <= FragmentFormula::scale_b;
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
