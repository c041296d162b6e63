// Rows of global memory an unknown pitch apart: nvcc -ptx -lineinfo -arch=sm_90a rows.cu
__global__ void rows(float* to, float const* from, int pitch, int wide) {
  int const row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (wide >= 4 || pitch >= 4) return;
  to[row * wide + column] = from[row * (pitch + 100) + column];
}

__global__ void repeated(float* to, float const* from, int pitch) {
  int const row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  to[row * pitch + column] = from[row * pitch * pitch + column];
}
