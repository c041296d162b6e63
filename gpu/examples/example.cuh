// Shared parts of the examples: checked calls, memory, and the time of a kernel.
#pragma once

#include "device.hpp"

#include <cuda_fp16.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace swizproof::gpu {

/// Median of 21 timed launches, in microseconds, after three that are not counted. Once where the environment says so (a tracer).
template <class Launch>
double microseconds(Launch const& launch) {
  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  bool const once = std::getenv("EXAMPLE_ONCE") != nullptr;
  for (int i = 0; i < (once ? 1 : 24); ++i) {
    float milliseconds = 0;
    check(cudaEventRecord(begin), "cudaEventRecord");
    launch();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaEventSynchronize(end), "the kernel");
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    if (once || i >= 3) times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  return 1000.0 * times[times.size() / 2];
}

/// Two square matrices of f16 and A B^T in f32, of small whole numbers: sums are exact in any order.
struct Product {
  std::vector<half> a, b;
  std::vector<float> expected;

  explicit Product(std::size_t size) : a(size * size), b(size * size), expected(size * size) {
    std::vector<float> left(a.size()), right(b.size());
    std::uint32_t random = 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
      random = random * 1664525 + 1013904223;
      a[i] = __float2half(left[i] = static_cast<float>(static_cast<int>(random >> 28) - 8));
      b[i] = __float2half(right[i] = static_cast<float>(static_cast<int>(random >> 24 & 15) - 8));
    }
    for (std::size_t r = 0; r < size; ++r)
      for (std::size_t c = 0; c < size; ++c)
        for (std::size_t k = 0; k < size; ++k)
          expected[r * size + c] += left[r * size + k] * right[c * size + k];
  }
};

/// Says whether a result is right, and how long it took; the exit code.
inline int report(char const* name, bool right, double time) {
  std::printf("%-32s %s %10.1f us\n", name, right ? "right" : "WRONG", time);
  return right ? 0 : 1;
}

template <class Main>
int run_example(Main const& body) {
  try {
    return body();
  } catch (Failure const& failure) {
    std::fprintf(stderr, "%s\n", failure.message.c_str());
    return 77;
  }
}

}  // namespace swizproof::gpu
