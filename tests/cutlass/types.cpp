// A kernel's own CuTe types, asserted free of conflicts. The script `types` in this folder compiles this file with each available
// compiler, and has the expected error of each BREAK. The program prints the obligations of the same types, which swizproof then proves.
#include <cute/atom/mma_atom.hpp>
#include <cute/tensor.hpp>
#include <swizproof/cute.hpp>

using namespace cute;
namespace sp = swizproof;

#ifndef BREAK
#define BREAK 0
#endif

// A 64x64 tile of half_t under the swizzle that a kernel might have, or without.
using Rows = Layout<Shape<_64, _64>, Stride<_64, _1>>;
using Smem = std::conditional_t<BREAK == 1, Rows, decltype(composition(Swizzle<3, 3, 3>{}, Rows{}))>;
using OnBytes = decltype(composition(Swizzle<3, 4, 3>{}, smem_ptr_flag_bits<16>{}, Rows{}));
// Swizzled below the vectors of 16 bytes: split. Padded by one element: vectors that begin between multiples of 16 bytes.
using Split = decltype(composition(Swizzle<3, 2, 3>{}, Rows{}));
using Padded = Layout<Shape<_64, _64>, Stride<Int<65>, _1>>;
// Two stages of it.
using Staged = decltype(tile_to_shape(Smem{}, Shape<_64, _64, _2>{}));
// The tile of A of CuTe's sgemm_sm80, three stages of it.
using Sgemm = decltype(tile_to_shape(
    composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, Shape<_8, _8>>, Stride<_8, Stride<_1, _64>>>{}),
    Shape<_128, _64, _3>{}));

using Mma = decltype(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2, _1>>{},
                                    Shape<_32, _32, _16>{}));
using LoadA = decltype(make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, Mma{}));
using Store = decltype(make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, half_t>{},
                                       Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{}));
using Vectors = decltype(make_tiled_copy(Copy_Atom<AutoVectorizingCopyWithAssumedAlignment<128>, half_t>{},
                                         Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{}));

static_assert(sp::conflict_free<sp::source_of<LoadA>, half_t, Smem>, "A");
static_assert(sp::conflict_free<sp::source_of<LoadA>, half_t, OnBytes>, "A, swizzled on byte addresses");
static_assert(sp::conflict_free<sp::source_of<LoadA>, half_t, Staged>, "two stages of A");
static_assert(sp::conflict_free<sp::source_of<LoadA>, half_t, Sgemm>, "three stages of sgemm_sm80's A");
static_assert(sp::conflict_free<sp::destination_of<Store>, half_t, Sgemm>, "the copy to them");
// Tiles and stages that differ by multiples of the period are evaluated once, so they cost a compiler nothing.
static_assert(sp::detail::instructions<sp::source_of<LoadA>, half_t, Sgemm>.count() == 4);
static_assert(sp::conflict_free<sp::destination_of<Store>, half_t, Smem>, "the copy to shared memory");
static_assert(sp::conflict_free<sp::source_of<Vectors, sp::ptx::ld_shared<16>>, half_t, Smem>,
              "named by hand");

#if BREAK == 2
static_assert(sp::conflict_free<sp::source_of<LoadA>, half_t, Split>);
#elif BREAK == 3
static_assert(sp::conflict_free<sp::source_of<LoadA>, half_t, Padded>);
#elif BREAK == 4
static_assert(sp::conflict_free<sp::source_of<Vectors>, half_t, Smem>);
#elif BREAK == 5
static_assert(sp::conflict_free<sp::source_of<LoadA>, float, OnBytes>);
#endif

// A lane map of one's own: a column of floats, at pitch 32 and at pitch 33.
struct Column {
  static constexpr unsigned instructions = 32;
  static constexpr bool along_row = true;
  static constexpr auto coordinate(int i, int lane) { return make_coord(lane, i); }
};
using Square = Layout<Shape<_32, _32>, Stride<_32, _1>>;
using Wider = Layout<Shape<_32, _32>, Stride<Int<33>, _1>>;
using ReadColumn = sp::lanes_of<Column, sp::ptx::ld_shared<4>>;
static_assert(sp::conflict_free<ReadColumn, float, Wider>);
static_assert(sp::at_most<32, ReadColumn, float, Square>);
static_assert(sp::report_of<ReadColumn, float, Square>.wavefronts == 32);
static_assert(sp::report_of<sp::source_of<LoadA>, half_t, Rows>.lanes == 8);
#if BREAK == 6
static_assert(sp::at_most<31, ReadColumn, float, Square>);
#endif

// Tilers with strides, as make_tiled_copy_C_atom gives: (_8:_1,_4:_2), and blocks of two warps by two.
using Scattered = decltype(make_tiled_copy_C_atom(Copy_Atom<UniversalCopy<uint32_t>, float>{},
                                                  make_tiled_mma(SM80_16x8x8_F32TF32TF32F32_TN{})));
using Rows36 = Layout<Shape<_16, _8>, Stride<Int<36>, _1>>;
static_assert(sp::report_of<sp::destination_of<Scattered>, float, Rows36>.wavefronts == 2);
using Blocks = decltype(make_tiled_copy_C_atom(Copy_Atom<SM90_U32x4_STSM_N, half_t>{}, Mma{}));
static_assert(
    sp::conflict_free<sp::destination_of<Blocks>, half_t, Layout<Shape<_32, _32>, Stride<_40, _1>>>);

// 48 threads: lanes 3 and 11 of the second warp collide, and no others.
template <int Threads, class Op, class Value, int Values = 1>
using Line = decltype(make_tiled_copy(Copy_Atom<Op, Value>{}, Layout<Shape<Int<Threads>, _1>>{},
                                      Layout<Shape<_1, Int<Values>>>{}));
using Word = UniversalCopy<uint32_t>;
using Steps =
    decltype(composition(Swizzle<1, 3, 4>{}, Int<0>{}, Layout<Shape<Int<48>, _1>, Stride<_3, _0>>{}));
static_assert(sp::report_of<sp::source_of<Line<48, Word, float>>, float, Steps>.wavefronts == 2);
static_assert(sp::report_of<sp::source_of<Line<48, Word, float>>, float, Steps>.instruction == 1);
// 64 elements in two tiles of 32 threads: the tiles' offsets carry into the lanes'.
using Tiles = decltype(composition(Swizzle<1, 3, 4>{}, Int<0>{}, Layout<Shape<_64, _1>, Stride<_3, _0>>{}));
static_assert(sp::report_of<sp::source_of<Line<32, Word, float>>, float, Tiles>.fault ==
              sp::CuteFault::carries);
// Stores to elements that share an address; loads of them are fine.
using Broadcast = Layout<Shape<_32, _2>, Stride<_1, _0>>;
static_assert(sp::report_of<sp::destination_of<Line<32, Word, float>>, float, Broadcast>.fault ==
              sp::CuteFault::shared);
static_assert(sp::conflict_free<sp::source_of<Line<32, Word, float>>, float, Broadcast>);
// The second byte of each element is moved away from the first, which stays where it is.
using Halved =
    ComposedLayout<Swizzle<1, 0, -3>, smem_ptr_flag_bits<16>, Layout<Shape<_32, _1>, Stride<_1, _0>>>;
static_assert(sp::report_of<sp::source_of<Line<32, UniversalCopy<uint16_t>, half_t>>, half_t, Halved>.fault ==
              sp::CuteFault::split);
#if BREAK == 7
static_assert(sp::conflict_free<sp::source_of<Line<32, Word, float>>, float, Steps>);
#elif BREAK == 8
using Twelve = Layout<Shape<_32, Int<12>>, Stride<_16, _1>>;
static_assert(
    sp::conflict_free<sp::source_of<Line<32, UniversalCopy<uint16_t>, half_t, 12>, sp::ptx::ld_shared<16>>,
                      half_t, Twelve>);
#elif BREAK == 9
using SplitLine =
    ComposedLayout<Swizzle<2, 0, 3>, smem_ptr_flag_bits<16>, Layout<Shape<_32, _1>, Stride<_1, _0>>>;
static_assert(sp::conflict_free<sp::source_of<Line<32, UniversalCopy<uint16_t>, half_t>>, half_t, SplitLine>);
#elif BREAK == 10
static_assert(sp::conflict_free<sp::source_of<Line<48, Word, float>>, half_t, Steps>);
#elif BREAK == 11
static_assert(
    sp::conflict_free<sp::source_of<Line<48, UniversalCopy<uint128_t>, half_t, 8>, sp::ptx::ldmatrix<4>>,
                      half_t, Layout<Shape<Int<48>, _8>, Stride<_8, _1>>>);
#endif
// Offsets under a swizzle: 160 has a bit of the rows, where CuTe's own partition is another function; a whole period does not. Rows of 24
// elements carry into each other.
template <int Elements>
using From =
    decltype(composition(Swizzle<1, 2, 3>{}, Int<Elements>{}, Layout<Shape<_32, _32>, Stride<_32, _1>>{}));
using Columns =
    decltype(make_tiled_copy(Copy_Atom<UniversalCopy<uint32_t>, float>{}, Layout<Shape<_8, _4>>{}));
static_assert(sp::report_of<sp::source_of<Columns>, float, From<160>>.fault == sp::CuteFault::carries);
static_assert(sp::report_of<sp::source_of<Columns>, float, From<0>>.fault == sp::CuteFault::none);
static_assert(sp::report_of<sp::source_of<Columns>, float, From<1024>>.fault == sp::CuteFault::none);
using Rows24 =
    decltype(composition(Swizzle<1, 2, 3>{}, Int<0>{}, Layout<Shape<_32, Int<24>>, Stride<Int<24>, _1>>{}));
static_assert(sp::report_of<sp::source_of<Columns>, float, Rows24>.fault == sp::CuteFault::carries);
#if BREAK == 14
static_assert(sp::at_most<32, sp::source_of<Columns>, float, From<160>>);
#endif
// A lane map that leaves the tile.
struct Beyond : Column {
  static constexpr auto coordinate(int i, int lane) { return make_coord(lane + 1, i); }
};
#if BREAK == 13
static_assert(sp::conflict_free<sp::destination_of<Line<32, Word, float>>, float, Broadcast>);
#elif BREAK == 12
static_assert(sp::conflict_free<sp::lanes_of<Beyond, sp::ptx::ld_shared<4>>, float, Wider>);
#endif

int main() {
  sp::print_obligation<sp::destination_of<Blocks>, half_t>("blocks",
                                                           make_layout(Shape<_32, _32>{}, Stride<_40, _1>{}));
  sp::print_obligation<sp::source_of<LoadA>, half_t>("A", Smem{});
  sp::print_obligation<sp::source_of<LoadA>, half_t>("A, on byte addresses", OnBytes{});
  sp::print_obligation<sp::destination_of<Store>, half_t>("the copy to shared memory", Smem{});
  sp::print_obligation<half_t>("by swizproof's words", Smem{}, "ldmatrix.x4", "ldmatrix.x4.trans");
  // Known when the program runs: a plain tile of 64 columns, and of 72.
  for (int const pitch : {64, 72}) {
    auto const found = sp::examine<sp::source_of<LoadA>, half_t>(
        make_layout(make_shape(_64{}, _64{}), make_stride(pitch, _1{})));
    std::printf("# pitch %d: %u wavefronts\n", pitch, found.wavefronts);
  }
  // A run-time layout that the tile does not divide is refused, since CuTe's composition makes another function of it.
  auto const refuses = [](auto const& layout) {
    return sp::examine<sp::source_of<LoadA>, half_t>(layout).fault == sp::CuteFault::remainder;
  };
  if (!refuses(make_layout(make_shape(48, _64{}), make_stride(64, _1{}))))
    std::printf("# a remainder is not refused\n");
}
