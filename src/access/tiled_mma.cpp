// The algebra of a TiledMMA.
#include <swizproof/access/tiled_mma.hpp>
#include <swizproof/access/tiler.hpp>

namespace swizproof {

namespace {

Tiler modes(std::vector<Tiler> of) { return {std::move(of)}; }
Tiler modes(Layout first, Layout second) {
  return modes({Tiler{std::move(first)}, Tiler{std::move(second)}});
}

/// Replaces mode 0 by `first` o mode 0; `_` stays.
Layout compose_first(Layout const& l, Tiler first) {
  return composition(l, modes({std::move(first), Tiler{Underscore{}}}));
}

}  // namespace

Tiler TiledMma::permuted(std::size_t mode) const {
  if (!std::holds_alternative<Underscore>(permutation[mode].value)) return permutation[mode];
  return {IntTuple(atom.extents[mode] * atoms(mode))};
}

std::int64_t TiledMma::extent(std::size_t mode) const { return whole_mode(permuted(mode)).extent(); }

TiledMma make_tiled_mma(MmaAtom const& atom, Layout const& atoms, std::vector<Tiler> const& permutation) {
  if (atoms.rank() > 3 || permutation.size() > 3) throw AlgebraError{"a TiledMMA has the modes M, N and K"};
  TiledMma mma{atom, tiled_product(atom.threads, Tiler{append(atoms, 3, Layout{1, 0})}), {}};
  std::copy(permutation.begin(), permutation.end(), mma.permutation.begin());
  return mma;
}

Layout thrfrg(TiledMma const& mma, Operand operand, Layout const& tensor) {
  auto const [i, j] = modes_of(operand);
  Layout const permuted = logical_divide(tensor, modes({mma.permuted(i), mma.permuted(j)}));
  Layout const by_atom = zipped_divide(permuted, modes(make_layout(IntTuple(mma.atom.extents[i])),
                                                       make_layout(IntTuple(mma.atom.extents[j]))));
  Layout const by_value = compose_first(by_atom, Tiler{mma.atom.thread_values(operand)});
  return zipped_divide(by_value, modes({Tiler{Underscore{}}, modes(make_layout(IntTuple(mma.atoms(i))),
                                                                   make_layout(IntTuple(mma.atoms(j))))}));
}

Layout thread_values(TiledMma const& mma, Operand operand) {
  auto const [i, j] = modes_of(operand);
  return thread_values(mma, operand,
                       make_layout(IntTuple(std::vector<IntTuple>{mma.extent(i), mma.extent(j)})));
}

Layout thread_values(TiledMma const& mma, Operand operand, Layout const& tensor) {
  auto const [i, j] = modes_of(operand);
  Layout by_thread = thrfrg(mma, operand, tensor);
  Layout const to_atom = composition(
      Layout{IntTuple(std::vector<IntTuple>{mma.threads.size(), 1}), IntTuple(std::vector<IntTuple>{1, 0})},
      right_inverse(make_layout({mma.threads, complement(mma.threads)})));
  // (ThrI,ThrJ) -> (ThrM,ThrN,ThrK): atoms along the mode that the operand lacks hold the same.
  Layout atoms{IntTuple(std::vector<IntTuple>{mma.atoms(0), mma.atoms(1), mma.atoms(2)}),
               IntTuple(std::vector<IntTuple>{0, 0, 0})};
  atoms.stride.modes[i] = 1;
  atoms.stride.modes[j] = mma.atoms(i);
  by_thread = compose_first(by_thread, modes({Tiler{Underscore{}}, Tiler{atoms}}));
  return compose_first(by_thread, Tiler{to_atom});
}

}  // namespace swizproof
