// The sum of each block's 1024 values in shared memory: with strides that grow, which collide, and with halves, which do not.
#include "example.cuh"

using namespace swizproof::gpu;

namespace {

constexpr int count = 1024, blocks = 4096;

/// Thread t adds the value that stands `step` behind 2 * step * t.
__global__ void interleaved(float* sums, float const* values) {
  __shared__ float partial[count];
  int const t = static_cast<int>(threadIdx.x);
  for (int i = t; i < count; i += count / 2) partial[i] = values[static_cast<int>(blockIdx.x) * count + i];
  for (int step = 1; step < count; step *= 2) {
    __syncthreads();
    if (int const at = 2 * step * t; at < count) partial[at] += partial[at + step];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

/// Thread t adds the value of the upper half.
__global__ void halves(float* sums, float const* values) {
  __shared__ float partial[count];
  int const t = static_cast<int>(threadIdx.x);
  for (int i = t; i < count; i += count / 2) partial[i] = values[static_cast<int>(blockIdx.x) * count + i];
  for (int half = count / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

int run(char const* name, void (*kernel)(float*, float const*)) {
  std::vector<float> values(static_cast<std::size_t>(count) * blocks);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 17);
  Buffer<float> from(values), to(blocks);
  double const time = microseconds([&] { kernel<<<blocks, count / 2>>>(to.data(), from.data()); });
  check(cudaGetLastError(), name);
  std::vector<float> const result = to.read();
  bool right = true;
  for (std::size_t b = 0; b < blocks; ++b) {
    float sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += values[b * count + i];
    right = right && sum == result[b];
  }
  return report(name, right, time);
}

}  // namespace

int main() {
  return run_example(
      [] { return run("reduction, interleaved", interleaved) + run("reduction, halves", halves); });
}
