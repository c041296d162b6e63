// What the examples share: checked calls, memory, and the time of a kernel.
#pragma once

#include "device.hpp"

#include <algorithm>
#include <cstdio>

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
