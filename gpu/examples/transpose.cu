// A transposition through shared memory, three times: as everyone writes it first, with a padded row, and with a swizzle.
#include "example.cuh"

#include <swizproof/core/swizzle.hpp>

using namespace swizproof::gpu;

namespace {

constexpr int side = 4096, tile = 32, rows = 8;

/// Offset of element (row, column) of the tile, in floats.
struct Naive {
  static __device__ int at(int row, int column) { return tile * row + column; }
};
struct Padded {
  static __device__ int at(int row, int column) { return (tile + 1) * row + column; }
};
struct Swizzled {
  static __device__ int at(int row, int column) {
    constexpr swizproof::Swizzle swizzle{5, 0, 5};
    return static_cast<int>(swizzle(static_cast<unsigned>(tile * row + column)));
  }
};

template <class Layout>
__global__ void transpose(float* to, float const* from) {
  __shared__ float staged[tile * (tile + 1)];
  int const x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  int const column = static_cast<int>(blockIdx.x) * tile, row = static_cast<int>(blockIdx.y) * tile;
  for (int i = y; i < tile; i += rows) staged[Layout::at(i, x)] = from[(row + i) * side + column + x];
  __syncthreads();
  for (int i = y; i < tile; i += rows) to[(column + i) * side + row + x] = staged[Layout::at(x, i)];
}

template <class Layout>
int run(char const* name) {
  std::vector<float> values(side * side);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000003);
  Buffer<float> from(values), to(values.size());
  double const time = microseconds([&] {
    transpose<Layout><<<dim3(side / tile, side / tile), dim3(tile, rows)>>>(to.data(), from.data());
  });
  check(cudaGetLastError(), name);
  std::vector<float> const result = to.read();
  bool right = true;
  for (int r = 0; r < side; ++r)
    for (int c = 0; c < side; ++c)
      right = right && result[static_cast<std::size_t>(c) * side + r] ==
                           values[static_cast<std::size_t>(r) * side + c];
  return report(name, right, time);
}

}  // namespace

int main() {
  return run_example([] {
    return run<Naive>("transpose, naive") + run<Padded>("transpose, padded") +
           run<Swizzled>("transpose, swizzled");
  });
}
