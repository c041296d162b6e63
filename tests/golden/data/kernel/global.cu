// Accesses to global memory: nvcc -ptx -lineinfo -arch=sm_90a global.cu
__global__ void copy(float* to, float const* from, int n) {
  int const i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) to[i] = from[i];
}

__global__ void transpose(float* to, float const* from) {
  int const row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  to[column * 1024 + row] = from[row * 1024 + column];
}

__global__ void columns(float* to, float const* from, int pitch) {
  int const i = blockIdx.x * 128 + threadIdx.x;
  to[i] = from[i * pitch];
}

__global__ void vectors(float4* to, float4 const* from) {
  int const i = blockIdx.x * 128 + threadIdx.x;
  to[i] = from[i ^ 1];
}

__global__ void gather(float* to, float const* from, int const* index) {
  int const i = blockIdx.x * 128 + threadIdx.x;
  to[i] = from[index[i]];
}

__global__ void count(unsigned* to, unsigned char const* from) { atomicAdd(to + from[threadIdx.x], 1U); }
