// A histogram of bytes: one in shared memory a block, with atomic increments.
#include "example.cuh"

using namespace swizproof::gpu;

namespace {

constexpr int bins = 256, threads = 256, blocks = 512, each = 64;

__global__ void histogram(unsigned* counts, unsigned char const* values) {
  __shared__ unsigned mine[bins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < each; ++i)
    atomicAdd(
        &mine[values[(static_cast<int>(blockIdx.x) * each + i) * threads + static_cast<int>(threadIdx.x)]],
        1U);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

}  // namespace

int main() {
  return run_example([] {
    std::vector<unsigned char> values(static_cast<std::size_t>(threads) * blocks * each);
    std::uint32_t random = 1;
    for (auto& value : values)
      value = static_cast<unsigned char>((random = random * 1664525 + 1013904223) >> 24);
    std::vector<unsigned> expected(bins);
    for (auto const value : values) ++expected[value];
    Buffer<unsigned char> from(values);
    Buffer<unsigned> to(bins);
    double const time = microseconds([&] {
      to.clear();
      histogram<<<blocks, threads>>>(to.data(), from.data());
    });
    check(cudaGetLastError(), "histogram");
    return report("histogram", to.read() == expected, time);
  });
}
