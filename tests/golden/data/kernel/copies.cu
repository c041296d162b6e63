// Races: of a copy that a header of the toolkit issues, and of stores whose addresses are data.
//   nvcc -ptx -lineinfo -arch=sm_90 copies.cu -o copies.ptx
#include <cuda_pipeline.h>

__global__ void copies(float const* in, float* out) {
  __shared__ float tile[128];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void scatter(int const* in, float* out) {
  __shared__ float tile[128];
  tile[in[threadIdx.x] & 127] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}
