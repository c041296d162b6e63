// C = A B of f32 without tensor cores. The tile of A is transposed on its way into shared memory, where its stores conflict: as everyone writes
// it first, with padded rows, and with one swizzle that is written in three ways, of different numbers of instructions.
#include "example.cuh"

#include <swizproof/core/swizzle.hpp>

using namespace swizproof::gpu;

namespace {

constexpr int side = 4096, tile = 128, depth = 8, threads = 256;

/// Offset of A's element (row, k) in the tile, in floats. The two k of a warp's store differ by 4, and 4 * 128 floats begin in one bank.
struct Plain {
  static constexpr int pitch = tile;
  static __device__ int at(int k, int row) { return k * pitch + row; }
};
struct Padded {
  static constexpr int pitch = tile + 4;  // 16 bytes more: loads of 16 bytes stay aligned
  static __device__ int at(int k, int row) { return k * pitch + row; }
};
/// As `swizproof kernel` prints it, Swizzle<1,4,5> of floats: the compiler cannot tell that the row has no bit 9.
struct Swizzled {
  static constexpr int pitch = tile;
  static __device__ int at(int k, int row) {
    constexpr swizproof::Swizzle swizzle{1, 4, 5};
    return static_cast<int>(swizzle(static_cast<unsigned>(k * pitch + row)));
  }
};
/// The same offsets. k is a constant of the unrolled loop, so two addresses serve all loads.
struct SwizzledRow {
  static constexpr int pitch = tile;
  static __device__ int at(int k, int row) { return k * pitch + (row ^ ((k & 4) << 2)); }
};

/// 128x128 elements of C by a block, 8x8 by a thread, which are two groups of four columns. `vectors`: a thread loads its rows of A as two
/// float4; else as eight floats, which the compiler merges if it can.
template <class Layout, bool vectors>
__global__ void __launch_bounds__(threads) sgemm(float* c, float const* a, float const* b) {
  alignas(16) __shared__ float of_a[depth * Layout::pitch];
  alignas(16) __shared__ float of_b[depth * tile];
  int const thread = static_cast<int>(threadIdx.x), row = thread / 16 * 8, column = thread % 16 * 4;
  a += static_cast<std::size_t>(blockIdx.y) * tile * side + thread / 2 * side + thread % 2 * 4;
  b += static_cast<std::size_t>(blockIdx.x) * tile + thread / 32 * side + thread % 32 * 4;
  float sum[8][8] = {};
  for (int step = 0; step < side; step += depth, a += depth, b += static_cast<std::size_t>(depth) * side) {
    float4 const four = *reinterpret_cast<float4 const*>(a);
    int const k = thread % 2 * 4;
    of_a[Layout::at(k + 0, thread / 2)] = four.x;
    of_a[Layout::at(k + 1, thread / 2)] = four.y;
    of_a[Layout::at(k + 2, thread / 2)] = four.z;
    of_a[Layout::at(k + 3, thread / 2)] = four.w;
    *reinterpret_cast<float4*>(of_b + thread * 4) = *reinterpret_cast<float4 const*>(b);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      alignas(16) float left[8];
      float right[8];
#pragma unroll
      for (int j = 0; j < 8; j += vectors ? 4 : 1)
        if constexpr (vectors)
          *reinterpret_cast<float4*>(left + j) =
              *reinterpret_cast<float4 const*>(of_a + Layout::at(i, row + j));
        else
          left[j] = of_a[Layout::at(i, row + j)];
#pragma unroll
      for (int j = 0; j < 8; ++j) right[j] = of_b[i * tile + column + j / 4 * 64 + j % 4];
#pragma unroll
      for (int j = 0; j < 64; ++j) sum[j / 8][j % 8] += left[j / 8] * right[j % 8];
    }
    __syncthreads();
  }
  c += (static_cast<std::size_t>(blockIdx.y) * tile + row) * side + blockIdx.x * tile + column;
#pragma unroll
  for (int j = 0; j < 64; ++j) c[j / 8 * side + j % 8 / 4 * 64 + j % 4] = sum[j / 8][j % 8];
}

/// Small whole numbers, so that sums are exact in any order.
std::vector<float> draw(std::uint32_t random) {
  std::vector<float> values(static_cast<std::size_t>(side) * side);
  for (float& value : values) {
    random = random * 1664525 + 1013904223;
    value = static_cast<float>(static_cast<int>(random >> 28) - 8);
  }
  return values;
}

/// Compares 4,096 elements of C, one in each row and in each column.
bool is_product(std::vector<float> const& c, std::vector<float> const& a, std::vector<float> const& b) {
  for (std::size_t r = 0; r < side; ++r) {
    std::size_t const column = (r * 1031 + 7) % side;
    float expected = 0;
    for (std::size_t k = 0; k < side; ++k) expected += a[r * side + k] * b[k * side + column];
    if (c[r * side + column] != expected) return false;
  }
  return true;
}

template <class Layout, bool vectors>
int run(char const* name) {
  std::vector<float> const left = draw(1), right = draw(2);
  Buffer<float> a(left), b(right), c(left.size());
  double const time = microseconds([&] {
    sgemm<Layout, vectors><<<dim3(side / tile, side / tile), threads>>>(c.data(), a.data(), b.data());
  });
  check(cudaGetLastError(), name);
  return report(name, is_product(c.read(), left, right), time);
}

}  // namespace

int main() {
  return run_example([] {
    return run<Plain, false>("sgemm, plain") + run<Padded, false>("sgemm, padded") +
           run<Swizzled, false>("sgemm, swizzled") + run<SwizzledRow, false>("sgemm, row swizzled") +
           run<Plain, true>("sgemm, float4, plain") + run<Padded, true>("sgemm, float4, padded") +
           run<Swizzled, true>("sgemm, float4, swizzled") +
           run<SwizzledRow, true>("sgemm, float4, row swizzled");
  });
}
