#include <swizproof/access/tiled_mma.hpp>
#include <swizproof/hardware/fragment.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Layout plain(std::vector<IntTuple> shape, std::vector<IntTuple> stride) {
  return {IntTuple(std::move(shape)), IntTuple(std::move(stride))};
}

/// mma.m16n8k16 of f16.
MmaAtom m16n8k16() {
  MmaShape const& shape = mma_shapes[7];
  return {Layout{32, 1},
          {16, 8, 16},
          thread_values(shape.fragment(Operand::a, 32)),
          thread_values(shape.fragment(Operand::b, 32)),
          thread_values(shape.fragment(Operand::d, 32))};
}

TEST(TiledMma, ThreadsAreThoseOfTheAtomsSideBySide) {
  TiledMma const mma = make_tiled_mma(m16n8k16(), plain({2, 2, 1}, {1, 2, 0}),
                                      {Tiler{IntTuple(32)}, Tiler{IntTuple(32)}, Tiler{IntTuple(16)}});
  EXPECT_EQ(to_string(mma.threads), "(_32,_2,_2,_1):(_1,_32,_64,_0)");
  EXPECT_EQ(mma.extent(0), 32);
  EXPECT_EQ(mma.extent(1), 32);
  EXPECT_EQ(mma.extent(2), 16);
}

// The layouts are those of get_layoutA_TV() and its kin, CUTLASS 4.7.
TEST(TiledMma, LayoutsOfTheWholeTileAreThoseThatCuTePrints) {
  TiledMma const mma = make_tiled_mma(m16n8k16(), plain({2, 2, 1}, {1, 2, 0}),
                                      {Tiler{IntTuple(32)}, Tiler{IntTuple(32)}, Tiler{IntTuple(16)}});
  auto const equal = [&](Operand operand, Layout const& theirs) {
    Layout const ours = thread_values(mma, operand);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(ours.size()); ++i)
      EXPECT_EQ(ours(i).elements, theirs(i).elements) << i;
  };
  using T = std::vector<IntTuple>;
  equal(Operand::a, plain({IntTuple(T{4, 8, 2, 2}), IntTuple(T{2, 2, 2})},
                          {IntTuple(T{64, 1, 16, 0}), IntTuple(T{32, 8, 256})}));
  equal(Operand::b, plain({IntTuple(T{4, 8, 2, 2}), IntTuple(T{2, 2, 2})},
                          {IntTuple(T{64, 1, 0, 8}), IntTuple(T{32, 256, 16})}));
  equal(Operand::d, plain({IntTuple(T{4, 8, 2, 2}), IntTuple(T{2, 2, 2})},
                          {IntTuple(T{64, 1, 16, 256}), IntTuple(T{32, 8, 512})}));
}

TEST(TiledMma, APermutationWithGapsIsCopiedIntoThem) {
  TiledMma const mma = make_tiled_mma(m16n8k16(), plain({1, 2, 1}, {0, 1, 0}),
                                      {Tiler{}, Tiler{plain({8, 2}, {1, 16})}, Tiler{}});
  EXPECT_EQ(mma.extent(1), 32);
  EXPECT_EQ(mma.atoms(1), 2);
  EXPECT_EQ(thread_values(mma, Operand::b).mode(1).size(), 8);
}

TEST(TiledMma, AQuadPairLeavesThreadsForThreeMore) {
  MmaAtom const quads{
      plain({4, 2}, {1, 16}), {8, 8, 4}, plain({8, 4}, {1, 8}), plain({8, 4}, {1, 8}), plain({8, 8}, {1, 8})};
  EXPECT_EQ(to_string(make_tiled_mma(quads, plain({2, 2}, {1, 2}), {}).threads),
            "((_4,_2),_2,_2,_1):((_1,_16),_4,_8,_0)");
}

}  // namespace
}  // namespace swizproof
