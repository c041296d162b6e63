// launch.sass: nvcc -cubin -arch=sm_90 launch.cu, then nvdisasm launch.cubin, without -c. Kernels whose launch follows from the cubin.
struct Shape {
  int rows, columns, pitch;
};

extern "C" __global__ void __block_size__((32, 4, 1))
    fixed_block(float* out, short stride, char shift, Shape shape) {
  __shared__ float tile[512];
  tile[threadIdx.x * stride + threadIdx.y * 32] = static_cast<float>(shift + shape.columns);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.y * 32 + threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(128) launch_bounds(float* out, int n) {
  __shared__ float tile[128];
  extern __shared__ float rest[];
  tile[threadIdx.x] = rest[threadIdx.x * 2] = static_cast<float>(n);
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1] + rest[threadIdx.x];
}
