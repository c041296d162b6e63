// A TiledMMA: which element of the tile each value of each thread is, for atoms of any architecture.
//
//   atom        ThrID, and a layout (thread, value) -> element for each operand
//   threads     ThrLayoutVMNK: (thread of the atom, atom along m, n, k) -> thread
//   permutation PermutationMNK: for each mode `_`, an extent, or a layout by which it is reordered
//
// The functions are CuTe's, by the same names and digit for digit: divisions and compositions of layouts, nothing by atom.
// [CUTLASS 4.7, cute/atom/mma_atom.hpp] Checked by tests/cutlass/tiles.py and tests/reference/tiled_mma.py.
#pragma once

#include <swizproof/access/fragment.hpp>
#include <swizproof/layout/algebra.hpp>

#include <array>
#include <optional>

namespace swizproof {

/// An MMA_Atom: what CuTe's MMA_Traits say of an instruction.
struct MmaAtom {
  Layout threads{};  ///< ThrID: thread of the atom -> thread, `(_4,_2):(_1,_16)` of a quad pair
  std::array<std::int64_t, 3> extents{};  ///< M, N, K
  Layout a{}, b{}, c{};                   ///< (thread, value) -> m + M k, n + N k, m + M n
  [[nodiscard]] Layout const& thread_values(Operand operand) const {
    return operand == Operand::a ? a : operand == Operand::b ? b : c;
  }
};

/// The numbers of an operand's two modes among M, N and K: of B 1 and 2.
[[nodiscard]] constexpr std::array<std::size_t, 2> modes_of(Operand operand) {
  return {operand == Operand::b ? 1U : 0U, operand == Operand::d ? 1U : 2U};
}

/// A TiledMMA. Invariant: `threads` has four modes and takes each thread once; its first is as large as the atom.
struct TiledMma {
  MmaAtom atom{};
  Layout threads{};                    ///< ThrLayoutVMNK
  std::array<Tiler, 3> permutation{};  ///< PermutationMNK

  /// Atoms along M, N or K.
  [[nodiscard]] std::int64_t atoms(std::size_t mode) const { return threads.mode(mode + 1).size(); }
  /// CuTe's permutation_mnk: of `_`, the extent of the atoms side by side.
  [[nodiscard]] Tiler permuted(std::size_t mode) const;
  /// Extent of the tile along M, N or K: of a permutation with gaps, with the copies of it that fill them. Throws AlgebraError.
  [[nodiscard]] std::int64_t extent(std::size_t mode) const;
};

/// CuTe's make_tiled_mma: ThrLayoutVMNK is tiled_product(ThrID, atoms). Modes that `atoms` and `permutation` lack are 1 and `_`.
/// Throws AlgebraError.
[[nodiscard]] TiledMma make_tiled_mma(MmaAtom const& atom, Layout const& atoms,
                                      std::vector<Tiler> const& permutation);

/// CuTe's thrfrg_A, thrfrg_B, thrfrg_C: ((ThrV,(ThrI,ThrJ)),(FrgV,(RestI,RestJ,...))) of a tensor's layout (I,J,...).
[[nodiscard]] Layout thrfrg(TiledMma const& mma, Operand operand, Layout const& tensor);

/// CuTe's get_layoutA_TV, get_layoutB_TV, get_layoutC_TV: (thread, (FrgV,(RestI,RestJ))) -> i + I j of the whole tile, as
/// partition_A, partition_B and partition_C give it. With several atoms along K, CuTe's get_layoutC_TV leaves the tile: it counts the
/// atoms along K on as atoms along N.
[[nodiscard]] Layout thread_values(TiledMma const& mma, Operand operand);
/// The same of a tensor's layout (I,J), in its offsets. Throws AlgebraError.
[[nodiscard]] Layout thread_values(TiledMma const& mma, Operand operand, Layout const& tensor);

/// An operand of a TiledMMA.
struct TiledOperand {
  TiledMma mma{};
  Operand operand = Operand::d;
  bool addend = false;        ///< true for C, which is held as D is
  std::string instruction{};  ///< instruction of the atom, if it is known: `mma.m16n8k16.f16`
  std::string needs{};        ///< the first architecture that has it
  bool measured = true;       ///< a campaign measured that instruction; else documented
  unsigned element_bits = 0;  ///< size of an element in a register; 0 if neither atom nor user gives it
  std::vector<std::string> notes{};

  /// `a`, `b`, `c` or `d`, as it was named.
  [[nodiscard]] std::string letter() const { return addend ? "c" : swizproof::letter(operand); }
  /// Extents of the tile, I and J: of B n and k.
  [[nodiscard]] std::array<std::int64_t, 2> extents() const {
    return {mma.extent(modes_of(operand)[0]), mma.extent(modes_of(operand)[1])};
  }
};

}  // namespace swizproof
