// C = A B^T in f16 with TMA and wgmma, one warpgroup a tile of 64 x 64. The results are staged in shared memory: once in plain
// rows of 256 bytes, once in padded ones.
#include "example.cuh"

#include <swizproof/hardware/wgmma.hpp>

#include <cuda.h>
#include <cuda_fp16.h>

using namespace swizproof;
using namespace swizproof::gpu;

namespace {

constexpr int size = 1024, tile = 64, depth = 64;
constexpr unsigned tile_bytes = tile * depth * sizeof(half);

__device__ unsigned shared_address(void const* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void load(unsigned to, CUtensorMap const& map, int k, int row, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], [%4];" ::"r"(to),
      "l"(&map), "r"(k), "r"(row), "r"(barrier)
      : "memory");
}

__device__ void wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{.reg .pred p;\nagain: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra again;}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}

__device__ void multiply(float (&d)[8], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, 0, 1;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p, 1, 1, 0, 0;}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "l"(a), "l"(b));
}

/// `Pitch` floats from row to row of the staged results.
template <int Pitch>
__global__ void __launch_bounds__(128)
    gemm(float* c, __grid_constant__ CUtensorMap const a, __grid_constant__ CUtensorMap const b) {
  extern __shared__ unsigned char memory[];
  unsigned const start = (shared_address(memory) + 1023) / 1024 * 1024, right = start + tile_bytes;
  __shared__ std::uint64_t arrived;
  unsigned const barrier = shared_address(&arrived);
  int const row = static_cast<int>(blockIdx.y) * tile, column = static_cast<int>(blockIdx.x) * tile;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float total[4][8] = {};
  for (int k = 0, turn = 0; k < size; k += depth, ++turn) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(2 * tile_bytes)
                   : "memory");
      load(start, a, k, row, barrier);
      load(right, b, k, column, barrier);
    }
    wait(barrier, static_cast<unsigned>(turn % 2));
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (unsigned step = 0; step < depth / 16; ++step)
      for (unsigned i = 0; i < 4; ++i)
        multiply(total[i], canonical_descriptor(start + 32 * step, Major::k, WgmmaMode::b128).bits(),
                 canonical_descriptor(right + 16 * 128 * i + 32 * step, Major::k, WgmmaMode::b128).bits());
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    __syncthreads();
  }
  auto* const staged = reinterpret_cast<float*>(memory + (start - shared_address(memory)));
  int const lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
  for (int i = 0; i < 4; ++i)
    for (int e = 0; e < 8; e += 2)
      *reinterpret_cast<float2*>(staged + (16 * warp + lane / 4 + e / 2 % 2 * 8) * Pitch + 16 * i +
                                 e / 4 * 8 + lane % 4 * 2) = make_float2(total[i][e], total[i][e + 1]);
  __syncthreads();
  for (int r = warp; r < tile; r += 4)
    *reinterpret_cast<float2*>(c + static_cast<std::size_t>(row + r) * size + column + 2 * lane) =
        *reinterpret_cast<float2 const*>(staged + r * Pitch + 2 * lane);
}

CUtensorMap map_of(half* matrix) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
      "cudaGetDriverEntryPointByVersion");
  CUtensorMap map{};
  cuuint64_t const extent[] = {size, size}, pitch[] = {size * sizeof(half)};
  cuuint32_t const box[] = {depth, tile}, one[] = {1, 1};
  if (reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
          &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, extent, pitch, box, one,
          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    throw Failure{"cuTensorMapEncodeTiled"};
  return map;
}

template <int Pitch>
int run(char const* name, Product const& product) {
  Buffer<half> left(product.a), right(product.b);
  Buffer<float> to(product.expected.size());
  constexpr int bytes = 1024 + std::max<int>(2 * tile_bytes, tile * Pitch * 4);
  double const time = microseconds([&] {
    gemm<Pitch><<<dim3(size / tile, size / tile), 128, bytes>>>(to.data(), map_of(left.data()),
                                                                map_of(right.data()));
  });
  check(cudaGetLastError(), name);
  return report(name, to.read() == product.expected, time);
}

}  // namespace

int main() {
  return run_example([] {
    Product const product(size);
    return run<64>("gemm wgmma, plain rows", product) + run<72>("gemm wgmma, padded rows", product);
  });
}
