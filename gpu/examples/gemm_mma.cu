// C = A B^T in f16 with cp.async, ldmatrix and mma.sync: the tiles once in plain rows of 64 bytes, once swizzled.
#include "example.cuh"

#include <swizproof/core/swizzle.hpp>

#include <cuda_fp16.h>

using namespace swizproof::gpu;

namespace {

constexpr int size = 1024, tile = 128, depth = 32, warps = 4;
constexpr unsigned row_bytes = depth * sizeof(half), tile_bytes = tile * row_bytes;

/// Address of a 16-byte chunk of the tile, in bytes.
struct Plain {
  static __device__ unsigned at(unsigned row, unsigned chunk) { return row * row_bytes + 16 * chunk; }
};
struct Swizzled {
  static __device__ unsigned at(unsigned row, unsigned chunk) {
    constexpr swizproof::Swizzle swizzle{2, 4, 3};  // TMA's of 64 bytes
    return swizzle(row * row_bytes + 16 * chunk);
  }
};

template <class Layout>
__device__ void load(unsigned shared, half const* global, int from) {
  for (unsigned i = threadIdx.x; i < tile * row_bytes / 16; i += 32 * warps) {
    unsigned const row = i / 4, chunk = i % 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared + Layout::at(row, chunk)),
                 "l"(global + static_cast<std::size_t>(row) * size + from + 8 * chunk));
  }
}

__device__ void ldmatrix(unsigned (&d)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(address));
}

__device__ void mma(float (&d)[4], unsigned const (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <class Layout>
__global__ void __launch_bounds__(32 * warps) gemm(float* c, half const* a, half const* b) {
  __shared__ alignas(1024) unsigned char memory[2 * tile_bytes];
  auto const left = static_cast<unsigned>(__cvta_generic_to_shared(memory)), right = left + tile_bytes;
  unsigned const lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 2 * 64,
                 column = warp % 2 * 64;
  half const* const rows = a + static_cast<std::size_t>(blockIdx.y) * tile * size;
  half const* const columns = b + static_cast<std::size_t>(blockIdx.x) * tile * size;
  float total[4][8][4] = {};
  for (int k = 0; k < size; k += depth) {
    load<Layout>(left, rows, k);
    load<Layout>(right, columns, k);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (unsigned step = 0; step < depth / 16; ++step) {
      unsigned fa[4][4], fb[4][4];
      for (unsigned i = 0; i < 4; ++i) {
        ldmatrix(fa[i], left + Layout::at(row + 16 * i + lane % 16, 2 * step + lane / 16));
        ldmatrix(fb[i],
                 right + Layout::at(column + 16 * i + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
      }
      for (unsigned i = 0; i < 4; ++i)
        for (unsigned j = 0; j < 8; ++j)
          mma(total[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j < 8; ++j)
      for (unsigned e = 0; e < 4; ++e)
        c[(blockIdx.y * tile + row + 16 * i + lane / 4 + e / 2 * 8) * size + blockIdx.x * tile + column +
          8 * j + lane % 4 * 2 + e % 2] = total[i][j][e];
}

template <class Layout>
int run(char const* name, Product const& product) {
  Buffer<half> left(product.a), right(product.b);
  Buffer<float> to(product.expected.size());
  double const time = microseconds([&] {
    gemm<Layout><<<dim3(size / tile, size / tile), 32 * warps>>>(to.data(), left.data(), right.data());
  });
  check(cudaGetLastError(), name);
  return report(name, to.read() == product.expected, time);
}

}  // namespace

int main() {
  return run_example([] {
    Product const product(size);
    return run<Plain>("gemm mma.sync, plain", product) + run<Swizzled>("gemm mma.sync, swizzled", product);
  });
}
