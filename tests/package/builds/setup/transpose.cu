// Without the padding the columns are read with 32 wavefronts.
__global__ void transpose(float const* in, float* out) {
  __shared__ float tile[32][33];
  for (int i = threadIdx.y; i < 32; i += 8) tile[i][threadIdx.x] = in[i * 32 + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8) out[i * 32 + threadIdx.x] = tile[threadIdx.x][i];
}
