// A kernel in a module of its own, which `trials unload` loads and unloads.
extern "C" __global__ void twice(int* out) {
  __shared__ int tile[32];
  int volatile* const words = tile;
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  out[threadIdx.x] = words[threadIdx.x] + words[31 - threadIdx.x];
}
