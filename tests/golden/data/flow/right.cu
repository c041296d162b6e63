// Right kernels of one block, from which tests/program/flow_guilty makes wrong ones. Compiled with nvcc -ptx -lineinfo -arch=sm_90a.
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void reverse(float* y, float const* x) {
  __shared__ float s[128];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = s[127 - threadIdx.x];
}

extern "C" __global__ void stencil(float* y, float const* x) {
  __shared__ float s[66];
  unsigned const i = threadIdx.x;
  s[i + 1] = x[i + 1];
  if (i == 0) s[0] = x[0];
  if (i == 63) s[65] = x[65];
  __syncthreads();
  y[i] = 2.0f * s[i + 1] - s[i] - s[i + 2];
}

extern "C" __global__ void scan(float* y, float const* x) {
  __shared__ float s[64];
  unsigned const i = threadIdx.x;
  s[i] = x[i];
  __syncthreads();
  for (unsigned d = 1; d < 64; d *= 2) {
    float const v = i >= d ? s[i - d] : 0.0f;
    __syncthreads();
    s[i] += v;
    __syncthreads();
  }
  y[i] = s[i];
}

extern "C" __global__ void shuffles(float* y, float const* x) {
  unsigned const lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float v = x[threadIdx.x];
  for (unsigned d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0U, v, d);
  if (lane == 0) y[warp] = v;
}

extern "C" __global__ void two_levels(float* y, float const* x) {
  __shared__ float s[4];
  unsigned const lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float v = x[threadIdx.x] + x[threadIdx.x + 128];
  for (unsigned d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0U, v, d);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  if (warp == 0) {
    v = lane < 4 ? s[lane] : 0.0f;
    v += __shfl_down_sync(~0U, v, 2);
    v += __shfl_down_sync(~0U, v, 1);
    if (lane == 0) y[0] = v;
  }
}

extern "C" __global__ void matvec(float* y, float const* a, float const* x) {
  __shared__ float s[32];
  unsigned const i = threadIdx.x;
  s[i] = x[i];
  __syncthreads();
  float sum = 0;
#pragma unroll 4
  for (unsigned k = 0; k < 32; ++k) sum += a[i * 32 + k] * s[k];
  y[i] = sum;
}

extern "C" __global__ void matmul(float* c, float const* a, float const* b) {
  __shared__ float sa[8][9], sb[8][8];
  unsigned const i = threadIdx.y, j = threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < 16; k += 8) {
    sa[i][j] = a[i * 16 + k + j];
    sb[i][j] = b[(k + i) * 8 + j];
    __syncthreads();
    for (unsigned l = 0; l < 8; ++l) sum += sa[i][l] * sb[l][j];
    __syncthreads();
  }
  c[i * 8 + j] = sum;
}

extern "C" __global__ void rotate(float* y, float const* x, float const* c, float const* s) {
  unsigned const i = threadIdx.x;
  float2 const v = reinterpret_cast<float2 const*>(x)[i];
  reinterpret_cast<float2*>(y)[i] = make_float2(v.x * c[i] - v.y * s[i], v.x * s[i] + v.y * c[i]);
}

extern "C" __global__ void bytes_apart(uint8_t* y, uint32_t const* x) {
  unsigned const i = threadIdx.x;
  uint32_t const a = x[2 * i], b = x[2 * i + 1];
  reinterpret_cast<uint32_t*>(y)[i] = __byte_perm(a, b, 0x6420);
  reinterpret_cast<uint32_t*>(y)[i + 32] = __byte_perm(a, b, 0x7531);
}

extern "C" __global__ void halves(float* y, __nv_bfloat16 const* x, float const* scale) {
  unsigned const i = threadIdx.x;
  __nv_bfloat162 const v = reinterpret_cast<__nv_bfloat162 const*>(x)[i];
  y[i] = __bfloat162float(v.x) * scale[0];
  y[i + 32] = __bfloat162float(v.y) * scale[0];
}

extern "C" __global__ void pack(__half* y, float const* x) {
  unsigned const i = threadIdx.x;
  float4 const v = reinterpret_cast<float4 const*>(x)[i];
  __half2 const low = __floats2half2_rn(v.x, v.y), high = __floats2half2_rn(v.z, v.w);
  reinterpret_cast<__half2*>(y)[2 * i] = low;
  reinterpret_cast<__half2*>(y)[2 * i + 1] = high;
}

extern "C" __global__ void strided(float* y, float const* x, float a, int n) {
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) y[i] += a * x[i];
}

extern "C" __global__ void convolution(float* y, float const* x, float const* w) {
  __shared__ float s[10][10];
  unsigned const i = threadIdx.y, j = threadIdx.x;
  for (unsigned t = i * 8 + j; t < 100; t += 64) s[t / 10][t % 10] = x[t];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (unsigned p = 0; p < 3; ++p)
#pragma unroll
    for (unsigned q = 0; q < 3; ++q) sum += w[p * 3 + q] * s[i + p][j + q];
  y[i * 8 + j] = sum;
}

// Atomics and data that decide: arrays `keys`, `ids`, `rows`, `columns`, `flags` and `sizes` have numbers.

extern "C" __global__ void histogram(int* y, int const* keys) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[keys[threadIdx.x]], 1);
  atomicAdd(&s[keys[threadIdx.x + 64]], 1);
  __syncthreads();
  if (threadIdx.x < 16) y[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void weighted(float* y, int const* keys, float const* w) {
  __shared__ float s[8];
  if (threadIdx.x < 8) s[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&s[keys[threadIdx.x] & 7], w[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x < 8) y[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void gather(float* y, float const* x, int const* ids) {
  unsigned const i = threadIdx.x, j = threadIdx.y;
  y[j * 8 + i] = x[ids[j] * 8 + i];
}

extern "C" __global__ void scatter(float* y, float const* x, int const* ids) {
  unsigned const i = threadIdx.x, j = threadIdx.y;
  int const to = ids[j];
  if (to >= 0) y[to * 8 + i] = x[j * 8 + i];
}

extern "C" __global__ void sparse(float* y, float const* a, int const* columns, int const* rows,
                                  float const* x) {
  unsigned const row = threadIdx.x;
  float sum = 0;
  for (int k = rows[row]; k < rows[row + 1]; ++k) sum += a[k] * x[columns[k]];
  y[row] = sum;
}

extern "C" __global__ void dot(float* y, float const* a, float const* b) {
  float v = a[threadIdx.x] * b[threadIdx.x];
  for (unsigned d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0U, v, d);
  if ((threadIdx.x & 31) == 0) atomicAdd(y, v);
}

extern "C" __global__ void columns_added(float* y, float const* x) {
  __shared__ float s[32];
  unsigned const i = threadIdx.x, j = threadIdx.y;
  if (j == 0) s[i] = 0;
  __syncthreads();
  atomicAdd(&s[i], x[j * 32 + i]);
  __syncthreads();
  if (j == 0) y[i] = s[i];
}

extern "C" __global__ void segments(float* y, float const* x, int const* sizes) {
  __shared__ int start[5];
  if (threadIdx.x == 0) {
    start[0] = 0;
    for (int i = 0; i < 4; ++i) start[i + 1] = start[i] + sizes[i];
  }
  __syncthreads();
  unsigned const i = threadIdx.x;
  if (i < 4) {
    float sum = 0;
    for (int k = start[i]; k < start[i + 1]; ++k) sum += x[k];
    y[i] = sum;
  }
}
