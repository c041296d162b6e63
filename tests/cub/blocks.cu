// Block and warp algorithms of the toolkit's CUB, each used twice with one temporary storage: with a barrier between, and without one (`again`).
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

namespace {

constexpr int threads = 64;

template <bool Ordered>
__device__ void order() {
  if constexpr (Ordered) __syncthreads();
}

template <cub::BlockReduceAlgorithm Algorithm, bool Ordered>
__device__ void reduce(float* y, float const* x) {
  using Reduce = cub::BlockReduce<float, threads, Algorithm>;
  __shared__ typename Reduce::TempStorage storage;
  float const a = Reduce(storage).Sum(x[threadIdx.x]);
  order<Ordered>();
  float const b = Reduce(storage).Sum(x[threadIdx.x + threads]);
  if (threadIdx.x == 0) y[0] = a, y[1] = b;
}

template <bool Ordered>
__device__ void warp_reduce(float* y, float const* x) {
  using Reduce = cub::WarpReduce<float, 16>;
  __shared__ typename Reduce::TempStorage storage[threads / 16];
  float const a = Reduce(storage[threadIdx.x / 16]).Sum(x[threadIdx.x]);
  order<Ordered>();
  float const b = Reduce(storage[threadIdx.x / 16]).Sum(x[threadIdx.x + threads]);
  if (threadIdx.x % 16 == 0) y[threadIdx.x / 16] = a, y[threadIdx.x / 16 + threads / 16] = b;
}

/// A reduction over 12 lanes, no power of two: it exchanges by shared memory.
template <bool Ordered>
__device__ void warp_reduce_stored(float* y, float const* x) {
  using Reduce = cub::WarpReduce<float, 12>;
  __shared__ typename Reduce::TempStorage storage[threads / 32];
  unsigned const warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane >= 12) return;
  float const a = Reduce(storage[warp]).Sum(x[warp * 12 + lane]);
  if constexpr (Ordered) __syncwarp(0xfffU);
  float const b = Reduce(storage[warp]).Sum(x[warp * 12 + lane + 24]);
  if (lane == 0) y[warp] = a, y[warp + 2] = b;
}

template <cub::BlockScanAlgorithm Algorithm, bool Ordered>
__device__ void scan(float* y, float const* x) {
  using Scan = cub::BlockScan<float, threads, Algorithm>;
  __shared__ typename Scan::TempStorage storage;
  float a, b;
  Scan(storage).InclusiveSum(x[threadIdx.x], a);
  order<Ordered>();
  Scan(storage).ExclusiveSum(x[threadIdx.x + threads], b);
  y[threadIdx.x] = a, y[threadIdx.x + threads] = b;
}

template <bool Ordered>
__device__ void sort(float* y, unsigned const* keys, float const* x) {
  using Sort = cub::BlockRadixSort<unsigned, threads, 2, float>;
  __shared__ typename Sort::TempStorage storage;
  for (int part = 0; part < 2; ++part) {
    unsigned key[2];
    float value[2];
    for (int i = 0; i < 2; ++i)
      key[i] = keys[2 * threadIdx.x + i], value[i] = x[(part * threads + threadIdx.x) * 2 + i];
    if (part != 0) order<Ordered>();
    Sort(storage).Sort(key, value, 0, 7);
    for (int i = 0; i < 2; ++i) y[(part * threads + threadIdx.x) * 2 + i] = value[i];
  }
}

template <cub::BlockHistogramAlgorithm Algorithm, bool Ordered>
__device__ void histogram(int* y, unsigned char const* samples) {
  using Histogram = cub::BlockHistogram<unsigned char, threads, 2, 16, Algorithm>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ int bins[2][16];
  for (int part = 0; part < 2; ++part) {
    unsigned char sample[2] = {samples[2 * threadIdx.x], samples[2 * threadIdx.x + 1]};
    if (part != 0) order<Ordered>();
    Histogram(storage).Histogram(sample, bins[part]);
  }
  __syncthreads();
  if (threadIdx.x < 32) y[threadIdx.x] = bins[threadIdx.x / 16][threadIdx.x % 16];
}

template <bool Ordered>
__device__ void exchange(float* y, float const* x) {
  using Exchange = cub::BlockExchange<float, threads, 4>;
  __shared__ typename Exchange::TempStorage storage;
  for (int part = 0; part < 2; ++part) {
    float value[4];
    for (int i = 0; i < 4; ++i) value[i] = x[part * threads * 4 + threadIdx.x * 4 + i];
    if (part != 0) order<Ordered>();
    Exchange(storage).BlockedToStriped(value);
    for (int i = 0; i < 4; ++i) y[part * threads * 4 + threadIdx.x * 4 + i] = value[i];
  }
}

}  // namespace

extern "C" __global__ void reduce_raking(float* y, float const* x) {
  reduce<cub::BLOCK_REDUCE_RAKING, true>(y, x);
}
extern "C" __global__ void reduce_raking_again(float* y, float const* x) {
  reduce<cub::BLOCK_REDUCE_RAKING, false>(y, x);
}
extern "C" __global__ void reduce_raking_commutative(float* y, float const* x) {
  reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, true>(y, x);
}
extern "C" __global__ void reduce_raking_commutative_again(float* y, float const* x) {
  reduce<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, false>(y, x);
}
extern "C" __global__ void reduce_warps(float* y, float const* x) {
  reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS, true>(y, x);
}
extern "C" __global__ void reduce_warps_again(float* y, float const* x) {
  reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS, false>(y, x);
}
extern "C" __global__ void warp_reduce(float* y, float const* x) { warp_reduce<true>(y, x); }
extern "C" __global__ void warp_reduce_again(float* y, float const* x) { warp_reduce<false>(y, x); }
extern "C" __global__ void warp_reduce_stored(float* y, float const* x) { warp_reduce_stored<true>(y, x); }
extern "C" __global__ void warp_reduce_stored_again(float* y, float const* x) {
  warp_reduce_stored<false>(y, x);
}
extern "C" __global__ void scan_raking(float* y, float const* x) { scan<cub::BLOCK_SCAN_RAKING, true>(y, x); }
extern "C" __global__ void scan_raking_again(float* y, float const* x) {
  scan<cub::BLOCK_SCAN_RAKING, false>(y, x);
}
extern "C" __global__ void scan_memoize(float* y, float const* x) {
  scan<cub::BLOCK_SCAN_RAKING_MEMOIZE, true>(y, x);
}
extern "C" __global__ void scan_memoize_again(float* y, float const* x) {
  scan<cub::BLOCK_SCAN_RAKING_MEMOIZE, false>(y, x);
}
extern "C" __global__ void scan_warps(float* y, float const* x) {
  scan<cub::BLOCK_SCAN_WARP_SCANS, true>(y, x);
}
extern "C" __global__ void scan_warps_again(float* y, float const* x) {
  scan<cub::BLOCK_SCAN_WARP_SCANS, false>(y, x);
}
extern "C" __global__ void sort(float* y, unsigned const* keys, float const* x) { sort<true>(y, keys, x); }
extern "C" __global__ void sort_again(float* y, unsigned const* keys, float const* x) {
  sort<false>(y, keys, x);
}
extern "C" __global__ void histogram_atomic(int* y, unsigned char const* samples) {
  histogram<cub::BLOCK_HISTO_ATOMIC, true>(y, samples);
}
extern "C" __global__ void histogram_atomic_again(int* y, unsigned char const* samples) {
  histogram<cub::BLOCK_HISTO_ATOMIC, false>(y, samples);
}
extern "C" __global__ void histogram_sort(int* y, unsigned char const* samples) {
  histogram<cub::BLOCK_HISTO_SORT, true>(y, samples);
}
extern "C" __global__ void histogram_sort_again(int* y, unsigned char const* samples) {
  histogram<cub::BLOCK_HISTO_SORT, false>(y, samples);
}
extern "C" __global__ void exchange(float* y, float const* x) { exchange<true>(y, x); }
extern "C" __global__ void exchange_again(float* y, float const* x) { exchange<false>(y, x); }
