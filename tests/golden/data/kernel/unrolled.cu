// Two lines whose lanes lie as far apart, 4 bytes on.
__global__ void sums(float* out, float const* in) {
  __shared__ float tile[32][32];
  for (int j = 0; j < 32; ++j) tile[j][threadIdx.x] = in[j * 32 + threadIdx.x];
  __syncthreads();
  float sum = tile[threadIdx.x][0];
  sum += tile[threadIdx.x][1];
  out[threadIdx.x] = sum;
}
