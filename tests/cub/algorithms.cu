// Algorithms of the toolkit's Thrust on a device: transform, gather and reduce.
#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>

struct Axpy {
  float a;
  __host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};

void run(float* y, float const* x, int const* map, int n) {
  thrust::transform(thrust::device, x, x + n, y, y, Axpy{2});
  thrust::gather(thrust::device, map, map + n, x, y);
  y[0] = thrust::reduce(thrust::device, x, x + n);
}
