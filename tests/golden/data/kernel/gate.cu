// Two builds of one file for gates: the second with -DNEW. The comments have the loads' wavefronts above the ideal, before and after.
//   nvcc -ptx -lineinfo -arch=sm_90 gate.cu -o gate_old.ptx; nvcc -ptx -lineinfo -arch=sm_90 -DNEW gate.cu -o gate_new.ptx
// clang-format off
#ifdef NEW
#define BUILD(before, after) after
#else
#define BUILD(before, after) before
#endif
#define KERNEL(name) extern "C" __global__ void name(float* x, int const* data)
__shared__ __align__(16) float s[4096];

KERNEL(kept) { s[threadIdx.x] = *x; __syncthreads();
  x[threadIdx.x] = s[2 * threadIdx.x]; }  // 1, 1
KERNEL(more) { s[threadIdx.x] = *x; __syncthreads();
  x[threadIdx.x] = s[2 * threadIdx.x] BUILD(, * s[2 * threadIdx.x + 901] * s[2 * threadIdx.x + 1803]); }  // 1, 3
KERNEL(longer) { s[threadIdx.x] = *x; __syncthreads(); float sum = 0;
#pragma unroll 1
  for (int i = 0; i < BUILD(4, 16); ++i)
    sum += s[2 * threadIdx.x + i];  // 16 of a block, 64
  x[threadIdx.x] = sum; }
KERNEL(split) { s[threadIdx.x] = *x; __syncthreads();
  reinterpret_cast<float4*>(x)[threadIdx.x] =  // 4, 28: one vector, four scalars of as many wavefronts
    BUILD(reinterpret_cast<float4*>(s)[2 * threadIdx.x], make_float4(s[8 * threadIdx.x], s[8 * threadIdx.x + 9], s[8 * threadIdx.x + 18], s[8 * threadIdx.x + 27])); }
KERNEL(gather) { s[threadIdx.x] = *x; __syncthreads();
  x[threadIdx.x] = s[BUILD(threadIdx.x, data[threadIdx.x] & 127)]; }  // 0, at most 31
KERNEL(shifted) { s[threadIdx.x] = *x; __syncthreads();
  x[threadIdx.x] = s[BUILD(2 * threadIdx.x, (threadIdx.x * 32 + data[0]) & 4095)]; }  // 1, 31
KERNEL(BUILD(first, second)) { s[threadIdx.x] = *x; __syncthreads();
  x[threadIdx.x] = s[2 * threadIdx.x]; }  // 1, 1
