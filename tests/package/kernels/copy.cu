// Two kernels. Without its padding the first one reads columns with 32 wavefronts.
constexpr int pitch = 33;

__global__ void transpose(float const* in, float* out) {
  __shared__ float tile[ROWS][pitch];
  for (int i = threadIdx.y; i < ROWS; i += 8) tile[i][threadIdx.x] = in[i * 32 + threadIdx.x];
  __syncthreads();
  for (int i = threadIdx.y; i < ROWS; i += 8) out[i * 32 + threadIdx.x] = tile[threadIdx.x][i];
}

__global__ void reverse(float const* in, float* out) {
  __shared__ float line[256];
  int const i = threadIdx.y * 32 + threadIdx.x;
  line[i] = in[i];
  __syncthreads();
  out[i] = line[255 - i];
}

int main() {}
