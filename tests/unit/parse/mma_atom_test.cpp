// Atoms by name and TiledMMAs as C++ makes them.
#include "parse/fragment/mma_atom.hpp"
#include "parse/fragment/tiled_mma.hpp"

#include <swizproof/hardware/quad_pairs.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <array>
#include <span>

namespace swizproof {
namespace {

TiledOperand tile_of(std::string const& text) { return std::get<TiledOperand>(parse_operand(text)); }
std::uint64_t element(Layout const& held, std::uint64_t thread, std::uint64_t value) {
  std::array<std::uint64_t, 2> const at{thread, value};
  return held(std::span<std::uint64_t const>(at)).elements;
}

// PTX's formulas and CuTe's layouts are two statements of one thing.
TEST(MmaAtom, QuadPairsAreTheFormulas) {
  for (bool const a_row : {true, false})
    for (bool const b_col : {true, false})
      for (bool const f32 : {true, false})
        for (char const letter : {'a', 'b', 'd'}) {
          std::string const d = f32 ? "f32" : "f16";
          std::string const name = std::string("mma.m8n8k4.") + (a_row ? "row." : "col.") +
                                   (b_col ? "col." : "row.") + d + ".f16.f16." + d + ":" + letter;
          TiledOperand const tile = tile_of(name);
          Layout const held = thread_values(tile.mma, tile.operand);
          for (std::uint32_t lane = 0; lane < 32; ++lane)
            for (std::uint32_t i = 0; i < QuadPairs{}.values(tile.operand); ++i) {
              MatrixElement const e = quad_pair_element({a_row, b_col, f32}, tile.operand, lane, i);
              std::uint64_t const number =
                  letter == 'b' ? e.column + std::uint64_t{32} * e.row : e.row + std::uint64_t{32} * e.column;
              ASSERT_EQ(element(held, lane, i), number) << name << " lane " << lane << " value " << i;
            }
        }
}

TEST(MmaAtom, NamesOfCutlass) {
  NamedAtom const quads = atom_by_name("SM70_8x8x4_F16F16F16F16_NN");
  EXPECT_EQ(quads.instruction, "mma.m8n8k4.col.col.f16.f16.f16.f16");
  EXPECT_EQ(to_string(quads.atom.a), "((_4,_2),_4):((_8,_4),_1)");
  EXPECT_EQ(to_string(quads.atom.b), "(_8,_4):(_1,_8)");
  NamedAtom const shared =
      atom_by_name("SM90::GMMA::MMA_64x64x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>");
  EXPECT_EQ(to_string(shared.atom.b), "(_128,(_64,_16)):(_0,(_1,_64))");
  EXPECT_EQ(shared.bits[0], 0U) << "A lies in shared memory";
  NamedAtom const pair = atom_by_name(
      "SM100_MMA_F16BF16_2x1SM_SS<half_t, half_t, float, 256, 64, UMMA::Major::K, UMMA::Major::K>");
  EXPECT_EQ(to_string(pair.atom.c), "(_2,(_128,_64)):(_128,(_1,_256))");
  EXPECT_EQ(pair.atom.extents, (std::array<std::int64_t, 3>{256, 64, 16}));
  NamedAtom const sparse =
      atom_by_name("SM120::SPARSE::SM120_SPARSE_16x8x64_TN<float_e4m3_t, float_e5m2_t, float>");
  EXPECT_EQ(to_string(sparse.atom.a), "((_4,_8),(_8,_2,_2)):((_128,_1),(_16,_8,_512))");
  EXPECT_EQ(to_string(sparse.atom.b), "((_4,_8),(_4,_4)):((_32,_1),(_8,_128))");
  EXPECT_EQ(atom_by_name("UniversalFMA<double,half_t,float>").bits, (std::array<unsigned, 3>{16, 32, 64}));
  EXPECT_THROW((void)atom_by_name("SM80_16x8x17_F32F16F16F32_TN"), InputError);
}

TEST(WrittenTile, IsTheTileThatCuteMakes) {
  TiledOperand const tile = tile_of(
      "using TiledMma = TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>, Layout<Shape<_2,_2,_1>>, "
      "Tile<_32,Layout<Shape<_8,_2,_2>,Stride<_1,_16,_8>>,_16>>; :b");
  EXPECT_EQ(to_string(tile.mma.threads), "(_32,_2,_2,_1):(_1,_32,_64,_0)");
  EXPECT_EQ(tile.extents(), (std::array<std::int64_t, 2>{32, 16}));
  EXPECT_EQ(tile.element_bits, 16U);
  EXPECT_EQ(element(thread_values(tile.mma, tile.operand), 64, 0), 16U)
      << "the second warp along n begins at n 16";
  EXPECT_FALSE(looks_like_named_tile("partition_A(make_tiled_mma(X{}), 5, (4,4))"));
  for (char const* const wrong :
       {"make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{}, Tile<_24,_32,_16>{}):a",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{})", "make_tiled_mma():a",
        "make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>,Stride<_0,_1,_0>>{}):a",
        "TiledMMA<MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>:a",
        "decltype(make_tiled_mma(UniversalFMA<float>{}):c"})
    EXPECT_THROW((void)parse_operand(wrong), InputError) << wrong;
}

}  // namespace
}  // namespace swizproof
