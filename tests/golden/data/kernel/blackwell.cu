// A product of tcgen05.mma: A and B under the 128-byte swizzle, four steps of 16 along k.
#include <cstdint>
__device__ uint32_t address(void const* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ uint64_t descriptor(uint32_t smem) { return 0x4000404000010000ull | ((smem & 0x3ffff) >> 4); }
__device__ void mma(uint32_t d, uint64_t a, uint64_t b, uint32_t kind, bool adds) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(
          d),
      "l"(a), "l"(b), "r"(kind), "r"(uint32_t(adds)));
}
template <int align>
__device__ void product(uint32_t tmem, uint32_t kind) {
  __shared__ __align__(align) uint16_t a[128 * 64], b[128 * 64];
  if (threadIdx.x == 0)
    for (int k = 0; k < 4; ++k)
      mma(tmem, descriptor(address(a) + 32 * k), descriptor(address(b) + 32 * k), kind, k > 0);
}
constexpr uint32_t kind = 0x8200490;  // 128 x 128 x 16, A and B of bf16, D of f32
__global__ void aligned(uint32_t tmem) { product<1024>(tmem, kind); }
__global__ void misaligned(uint32_t tmem) { product<128>(tmem, kind); }
