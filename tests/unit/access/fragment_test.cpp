// thread_values(), on what CUTLASS's headers say.
#include <swizproof/access/fragment.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>

namespace swizproof {
namespace {

std::string mma(std::size_t i, Operand operand) {
  return to_string(thread_values(mma_shapes[i].fragment(operand, mma_shapes[i].bits == 64 ? 64 : 32)));
}
std::string matrices(unsigned count, bool transposed) {
  return to_string(thread_values(fragment_of({Operation::ldmatrix, 16, count, transposed}, 16)));
}

// [CUTLASS 4.7, include/cute/atom/mma_traits_sm80.hpp, mma_traits_sm90.hpp: ALayout, BLayout, CLayout, copied]
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

void expect_formulas(Fragment const& f) {
  Layout const layout = thread_values(f);
  for (std::uint32_t thread = 0; thread < f.threads; ++thread)
    for (std::uint32_t i = 0; i < counted_values(f); ++i) {
      std::array<std::uint32_t, 2> const place{thread, i};
      ASSERT_EQ(layout(std::span<std::uint32_t const>(place)).elements, cute_index(f, thread, i))
          << to_string(layout) << " thread " << thread << " value " << i;
    }
}

// [CUTLASS 4.7, mma_traits_sm90_gmma_sparse.hpp: ELayout_64x{16,32,64}, in indices; mma_traits_sm120_sparse.hpp]
TEST(ThreadValues, OfSparseProductsAreTheFormulas) {
  EXPECT_EQ(to_string(thread_values(sparse_wgmma_shapes[1].fragment(Operand::e, 8, 32))),
            "((_2,_2,_8,_4),(_8,_2)):((_512,_0,_1,_16),(_64,_8))");
  EXPECT_EQ(to_string(thread_values(sparse_wgmma_shapes[2].fragment(Operand::e, 8, 32))),
            "((_2,_2,_8,_4),_16):((_8,_1024,_1,_16),_64)");
  for (SparseShape const& shape : sparse_shapes)
    for (Operand const operand : {Operand::a, Operand::b, Operand::d, Operand::e})
      expect_formulas(shape.fragment(operand, 8, 32));
  for (SparseShape const& shape : sparse_wgmma_shapes)
    for (Operand const operand : {Operand::a, Operand::d, Operand::e})
      expect_formulas(shape.fragment(operand, 24, 32));
}

TEST(ThreadValues, OfTensorMemoryAndSingleBitsAreTheFormulas) {
  for (TensorMemoryCopy const& copy : tensor_memory_copies) expect_formulas(copied_fragment(copy));
  for (unsigned const rows : {32U, 64U, 128U, 256U})
    for (unsigned const blocks : {1U, 2U, 4U}) expect_formulas(scales_in_memory(rows, blocks));
  for (MmaShape const& shape : mma_shapes)
    for (Operand const operand : {Operand::a, Operand::b, Operand::d})
      if (shape.bits == 1) expect_formulas(shape.fragment(operand, 32));
}

}  // namespace
}  // namespace swizproof
