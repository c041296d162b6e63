// The tiles of a kernel, as its own source has them: what this program prints, ctest proves.
#include <cute/tensor.hpp>
#include <swizproof/cute.hpp>

using namespace cute;

using Plain = Layout<Shape<_128, _64>, Stride<_64, _1>>;
#ifdef PLAIN
using Smem = Plain;
#else
using Smem = decltype(composition(Swizzle<3, 3, 3>{}, Plain{}));
#endif

using GlobalToShared =
    decltype(make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEALWAYS<uint128_t>, half_t>{},
                             Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{}));
using Mma = decltype(make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{}));
using SharedToRegisters = decltype(make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, Mma{}));

int main() {
  swizproof::print_obligation<swizproof::destination_of<GlobalToShared>, half_t>("A is written", Smem{});
  swizproof::print_obligation<swizproof::source_of<SharedToRegisters>, half_t>("A is read", Smem{});
}
