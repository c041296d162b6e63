// One case of `tiles`: what print(TiledMMA) prints, and the element that CuTe gives each value of each thread.
#pragma once

#define CUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED
#include <cute/atom/mma_atom.hpp>
#include <cute/tensor.hpp>

#include <cstdio>
#include <initializer_list>

using namespace cute;

/// A line for each thread: i + I j of each of its values. `tv` has CuTe's own layout of the same, or is nothing.
template <int I, int J, class Partition, class ThreadValues>
void values(char operand, int threads, Partition const& partition, ThreadValues const& tv) {
  std::printf("operand %c %d %d\n", operand, I, J);
  auto const tile = make_tensor(counting_iterator<int>{0}, make_layout(make_shape(Int<I>{}, Int<J>{})));
  int other = 0;
  for (int thread = 0; thread < threads; ++thread) {
    auto const mine = partition(thread, tile);
    for (int v = 0; v < int(size(mine)); ++v) {
      int const element = int(mine(v));
      std::printf("%d ", element);
      if constexpr (!std::is_same_v<ThreadValues, int>)
        other += thread < int(size<0>(tv)) && int(tv(thread, v)) != element;
    }
    std::printf("\n");
  }
  std::printf("# other %d\n", other);
}

/// A layout of atoms, known when the program runs, with its threads and the extents of its tile.
struct Atoms {
  int m, n, k, along_m, along_n, along_k, threads, tile_m, tile_n, tile_k;
};

/// TiledMMAs of one atom and one permutation.
template <class Op, class Permutation>
void several(int number, std::initializer_list<Atoms> all) {
  for (Atoms const& x : all) {
    auto const mma = make_tiled_mma(
        Op{}, make_layout(make_shape(x.m, x.n, x.k), make_stride(x.along_m, x.along_n, x.along_k)),
        Permutation{});
    std::printf("# case %d\n", number);
    print(mma);
    std::printf("# values\n");
    auto const operand = [&](char name, int i, int j, auto const& partition) {
      std::printf("operand %c %d %d\n", name, i, j);
      auto const tile = make_tensor(counting_iterator<int>{0}, make_layout(make_shape(i, j)));
      for (int thread = 0; thread < x.threads; ++thread) {
        auto const mine = partition(mma.get_slice(thread), tile);
        for (int v = 0; v < int(size(mine)); ++v) std::printf("%d ", int(mine(v)));
        std::printf("\n");
      }
      std::printf("# other 0\n");
    };
    operand('a', x.tile_m, x.tile_k,
            [](auto const& thread, auto const& tile) { return thread.partition_A(tile); });
    operand('b', x.tile_n, x.tile_k,
            [](auto const& thread, auto const& tile) { return thread.partition_B(tile); });
    operand('c', x.tile_m, x.tile_n,
            [](auto const& thread, auto const& tile) { return thread.partition_C(tile); });
    std::printf("# end\n");
  }
}

/// `tiled`: CuTe's layouts of the whole tile are printed by CuTe, too; false for permutations with gaps, whose tile is larger.
template <bool tiled, int M, int N, int K, class Mma>
void run(int number, int threads, Mma const& mma) {
  std::printf("# case %d\n", number);
  print(mma);
  std::printf("# values\n");
  auto const tv = [&](auto layout) {
    if constexpr (tiled)
      return layout();
    else
      return 0;
  };
  values<M, K>(
      'a', threads, [&](int t, auto const& x) { return mma.get_slice(t).partition_A(x); },
      tv([&] { return mma.get_layoutA_TV(); }));
  values<N, K>(
      'b', threads, [&](int t, auto const& x) { return mma.get_slice(t).partition_B(x); },
      tv([&] { return mma.get_layoutB_TV(); }));
  values<M, N>(
      'c', threads, [&](int t, auto const& x) { return mma.get_slice(t).partition_C(x); },
      tv([&] { return mma.get_layoutC_TV(); }));
  std::printf("# end\n");
}

/// An MMA_Atom by itself: the values of its first, second and last thread.
template <class Op>
void atom(int number) {
  using Atom = MMA_Atom<Op>;
  std::printf("# atom %d\n", number);
  print(Atom{});
  std::printf("# values\n");
  auto const line = [](char operand, auto layout) {
    std::printf("operand %c\n", operand);
    for (int thread : {0, 1, int(size<0>(layout)) - 1}) {
      std::printf("%d:", int(typename Atom::ThrID{}(thread % int(size<0>(layout)))));
      for (int v = 0; v < int(size<1>(layout)); ++v)
        std::printf(" %d", int(layout(thread % int(size<0>(layout)), v)));
      std::printf("\n");
    }
  };
  line('a', typename Atom::LayoutA_TV{});
  line('b', typename Atom::LayoutB_TV{});
  line('c', typename Atom::LayoutC_TV{});
  std::printf("# end\n");
}

/// A TiledCopy and the operand of another TiledMMA: the first value of the first thread whose register, as CuTe retiles the fragment, has
/// another element of a tensor of I x J.
template <int I, int J, bool loads, class Copy, class Mma, class Partition>
void retiled(int number, int threads, char operand, Copy const& copy, Mma const& mma,
             Partition const& partition) {
  std::printf("# retile %d\n", number);
  print(mma);
  std::printf("# operand %c %s\n", operand, loads ? "load" : "store");
  print(copy);
  std::printf("# values\n");
  auto const tile = make_tensor(counting_iterator<int>{0}, make_layout(make_shape(Int<I>{}, Int<J>{})));
  for (int thread = 0; thread < threads; ++thread) {
    auto const mine = partition(thread, tile);
    auto const part = copy.get_slice(thread);
    auto const moved = [&] {
      if constexpr (loads)
        return part.partition_D(tile);
      else
        return part.partition_S(tile);
    }();
    auto const view = Copy::retile(make_layout(shape(mine)));
    static_assert(decltype(size(view))::value == decltype(size(moved))::value);
    for (int v = 0; v < int(size(moved)); ++v)
      if (int(moved(v)) != int(mine(int(view(v))))) {
        std::printf("first %d %d %d %d\n# end\n", thread, v, int(moved(v)), int(mine(int(view(v)))));
        return;
      }
  }
  std::printf("none\n# end\n");
}
