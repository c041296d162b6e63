// thread_values(), on what CUTLASS's headers say.
#include <swizproof/access/fragment.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string mma(std::size_t i, Operand operand) {
  return to_string(thread_values(mma_shapes[i].fragment(operand, mma_shapes[i].bits == 64 ? 64 : 32)));
}
std::string matrices(unsigned count, bool transposed) {
  return to_string(thread_values(fragment_of({Operation::ldmatrix, 16, count, transposed}, 16)));
}

// [CUTLASS 4.7, include/cute/atom/mma_traits_sm80.hpp, mma_traits_sm90.hpp: ALayout, BLayout, CLayout as they stand there]
TEST(ThreadValues, AsCutesTraitsWriteThem) {
  EXPECT_EQ(mma(0, Operand::a), "((_4,_8),_1):((_8,_1),_0)");
  EXPECT_EQ(mma(0, Operand::d), "((_4,_8),_2):((_16,_1),_8)");
  EXPECT_EQ(mma(5, Operand::a), "((_4,_8),(_2,_2)):((_16,_1),(_8,_64))");
  EXPECT_EQ(mma(5, Operand::b), "((_4,_8),_2):((_8,_1),_32)");
  EXPECT_EQ(mma(7, Operand::a), "((_4,_8),(_2,_2,_2)):((_32,_1),(_16,_8,_128))");
  EXPECT_EQ(mma(7, Operand::b), "((_4,_8),(_2,_2)):((_16,_1),(_8,_64))");
  EXPECT_EQ(mma(7, Operand::d), "((_4,_8),(_2,_2)):((_32,_1),(_16,_8))");
  EXPECT_EQ(mma(10, Operand::a), "((_4,_8),(_4,_2,_2)):((_64,_1),(_16,_8,_256))");
  EXPECT_EQ(mma(10, Operand::b), "((_4,_8),(_4,_2)):((_32,_1),(_8,_128))");
  EXPECT_EQ(mma(13, Operand::a), "((_4,_8),(_8,_2,_2)):((_128,_1),(_16,_8,_512))");
}

// [CUTLASS 4.7, mma_traits_sm90_gmma.hpp: ALayout_64x8, ALayout_64x16, ALayout_64x32, CLayout_64xN]
TEST(ThreadValues, OfWarpgroups) {
  auto const a = [](std::size_t i) {
    return to_string(thread_values(wgmma_shapes[i].fragment(Operand::a, 8, 32)));
  };
  EXPECT_EQ(a(0), "((_4,_8,_4),(_2,_2)):((_64,_1,_16),(_8,_256))");
  EXPECT_EQ(a(1), "((_4,_8,_4),(_2,_2,_2)):((_128,_1,_16),(_64,_8,_512))");
  EXPECT_EQ(a(2), "((_4,_8,_4),(_4,_2,_2)):((_256,_1,_16),(_64,_8,_1024))");
  EXPECT_EQ(to_string(thread_values(wgmma_shapes[1].fragment(Operand::d, 96, 32))),
            "((_4,_8,_4),(_2,_2,_12)):((_128,_1,_16),(_64,_8,_512))");
}

// [CUTLASS 4.7, copy_traits_sm75.hpp: DstLayout of SM75_U32x{1,2,4}_LDSM_N and SM75_U16x{2,4,8}_LDSM_T]
TEST(ThreadValues, OfMatricesCountBits) {
  EXPECT_EQ(matrices(1, false), "(_32,_32):(_32,_1)");
  EXPECT_EQ(matrices(2, false), "(_32,(_32,_2)):(_32,(_1,_1024))");
  EXPECT_EQ(matrices(4, false), "(_32,(_32,_4)):(_32,(_1,_1024))");
  EXPECT_EQ(matrices(1, true), "((_4,_8),(_16,_2)):((_256,_16),(_1,_128))");
  EXPECT_EQ(matrices(4, true), "((_4,_8),(_16,_2,_4)):((_256,_16),(_1,_128,_1024))");
}

}  // namespace
}  // namespace swizproof
