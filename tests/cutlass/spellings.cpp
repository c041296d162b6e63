// CuTe's prints of layouts as its users write them in C++. A JSON line each, the words and what print() makes of them:
//
//   {"spelled": "Layout<Shape<_8,_64>,Stride<_64,_1>>{}", "printed": "(_8,_64):(_64,_1)"}
//
// Built where SWIZPROOF_CUTLASS_DIR names a checkout.
#include <cute/tensor.hpp>

#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>

#include <cstdio>

using namespace cute;

/// Variadic, because templates have commas.
#define SAY(...)                                                        \
  do {                                                                  \
    std::printf("{\"spelled\": \"%s\", \"printed\": \"", #__VA_ARGS__); \
    print(__VA_ARGS__);                                                 \
    std::printf("\"}\n");                                               \
  } while (false)

// clang-format off
int main() {
  SAY(Layout<Shape<_8,_64>,Stride<_64,_1>>{});
  SAY(cute::Layout<cute::Shape<cute::_8, cute::Int<64>>, cute::Stride<cute::Int<64>, cute::_1>>{});
  SAY(Layout<Shape<_8,_64>>{});
  SAY(Layout<Shape<Shape<_8,_2>,C<16>>,Stride<Stride<_16,_128>,_1>>{});
  SAY(Layout<_64,_1>{});
  SAY(Layout<Shape<_64>>{});
  SAY(Layout<Shape<Shape<_4,_2>,_8>>{});
  SAY(Layout<Shape<integral_constant<int,8>,_4>, Stride<_1,Int<-8>>>{});
  SAY(make_layout(make_shape(Int<8>{}, Int<64>{}), LayoutRight{}));
  SAY(make_layout(make_shape(_8{}, make_shape(_4{}, _16{})), make_stride(_64{}, make_stride(_16{}, _1{}))));
  SAY(make_layout(Shape<_8,_64>{}, GenRowMajor{}));
  SAY(make_layout(Shape<_8,_64>{}, GenColMajor{}));
  SAY(make_layout(make_layout(Int<8>{}, Int<64>{}), make_layout(Int<64>{})));
  SAY(make_ordered_layout(make_shape(Int<8>{},Int<64>{}), Step<_1,_0>{}));
  SAY(logical_divide(Layout<Shape<_8,_64>,Stride<_64,_1>>{}, make_tile(Layout<_4,_2>{}, Int<8>{})));
  SAY(Swizzle<3,3,3>{});
  SAY(composition(Swizzle<3,3,3>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{}));
  SAY(composition(Swizzle<3,3,3>{}, Int<0>{}, Layout<Shape<_8,_64>,Stride<_64,_1>>{}));
  SAY(ComposedLayout<Swizzle<3,3,3>, Int<64>, Layout<Shape<_8,_64>,Stride<_64,_1>>>{});
  SAY(ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<Shape<_8,_64>,Stride<_64,_1>>>{});
  SAY(ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag, Layout<Shape<_8,_1024>,Stride<_1024,_1>>>{});
  SAY(Layout<Shape<_4,_8>,Stride<E<0>,E<1>>>{});
  SAY(Layout<Shape<_4,_8>,Stride<E<0,1>,E<1>>>{});
  SAY(GMMA::Layout_K_SW128_Atom<half_t>{});
  SAY(GMMA::Layout_MN_INTER_Atom<cutlass::bfloat16_t>{});
  SAY(cute::SM90::GMMA::Layout_K_SW64_Atom<float>{});
  SAY(cute::GMMA::Layout_MN_SW32_Atom<cutlass::float_e4m3_t>{});
  SAY(UMMA::Layout_K_SW128_Atom<half_t>{});
  SAY(cute::UMMA::Layout_MN_SW128_32B_Atom<tfloat32_t>{});
  SAY(GMMA::Layout_SW128_Atom<half_t, GMMA::Major::K>{});
  SAY(GMMA::Layout_SW64_Atom<int8_t, GMMA::Major::MN>{});
  SAY(GMMA::Layout_K_SW128_Atom_Bits{});
  SAY(upcast<16>(GMMA::Layout_K_SW128_Atom_Bits{}));
  SAY(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128,_64>{}));
  SAY(tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_256,_64>{}, Step<_2,_1>{}));
  SAY(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128,_64>{}, Step<_2,_1>{}));
  SAY(decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<cutlass::half_t>{}, make_shape(Int<128>{}, Int<64>{}, Int<4>{}))){});
  SAY(coalesce(Layout<Shape<_8,_64>>{}, Step<_1,_1>{}));
  SAY(zipped_divide(Layout<Shape<_8,_64>>{}, Shape<_4,_8>{}));
  SAY(blocked_product(Layout<Shape<_2,_2>>{}, Layout<Shape<_3,_4>,Stride<_4,_1>>{}));
  SAY(make_layout(Shape<_8,_64>{}));
  SAY(tile_to_shape(GMMA::Layout_K_SW64_Atom<tfloat32_t>{}, make_shape(Int<64>{}, Int<32>{}, Int<3>{})));
  SAY(composition(Swizzle<2,3,3>{}, make_layout(Shape<_8,_32>{}, LayoutRight{})));
  SAY(raked_product(Layout<Shape<_2,_2>>{}, Layout<Shape<_3,_4>>{}));
  SAY(as_position_independent_swizzle_layout(GMMA::Layout_K_SW128_Atom<half_t>{}));
}
// clang-format on
