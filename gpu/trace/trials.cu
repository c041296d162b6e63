// Programs that are hard to trace, one for each mode. The script `trials` in this folder runs them and has the expected results.
#include <cooperative_groups.h>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace cg = cooperative_groups;

constexpr int exit_code = 7;  ///< of every mode that ends by itself

/// A warp stores at words 0 to 31 and loads them in reverse order: two instructions a launch and warp, one wavefront each.
__global__ void reverse(int* out) {
  __shared__ int tile[32];
  int volatile* const words = tile;
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncwarp();
  out[threadIdx.x] = words[31 - threadIdx.x];
}

/// Writes where nothing is.
__global__ void fault(int* out) { out[std::size_t{1} << 40] = 1; }

__global__ void trap(int* out) {
  out[0] = 1;
  __trap();
}

/// Each block of a cluster of two stores to its own shared memory and loads the other's.
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
  __shared__ int tile[32];
  int volatile* const words = tile;
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  cg::this_cluster().sync();
  auto const own = static_cast<unsigned>(__cvta_generic_to_shared(tile + threadIdx.x));
  unsigned other = 0, value = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(own), "r"(blockIdx.x ^ 1));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(other));
  out[32 * blockIdx.x + threadIdx.x] = static_cast<int>(value);
  cg::this_cluster().sync();
}

/// Loads and stores through a pointer to shared memory that is generic to the compiler: words 0 to 31 at a stride.
template <class T>
__global__ void generic(T* out, int stride, bool shared) {
  __shared__ T tile[32 * 33];
  T volatile* const words = shared ? tile : out;
  words[static_cast<int>(threadIdx.x) * stride] = T{};
  __syncwarp();
  T const sum = words[(31 - static_cast<int>(threadIdx.x)) * stride];
  out[threadIdx.x] = sum;
}

/// Loads at addresses that never come twice: 20,000 patterns, more than a table can keep.
__global__ void wander(int* out) {
  __shared__ int tile[8192];
  int volatile* const words = tile;
  unsigned state = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 20000; ++i) {
    state = state * 1664525U + 1013904223U;
    sum += words[state >> 19];
  }
  out[threadIdx.x] = sum;
}

/// 16,384 loads by 8,192 instructions (nvcc 13.0), as many as the tracer has places.
__global__ void unroll(int* out) {
  __shared__ int tile[8192];
  int volatile* const words = tile;
  int sum = 0;
  auto const load = [&](int first) {
#pragma unroll
    for (int i = 0; i < 4096; ++i) sum ^= words[(threadIdx.x + 37 * i + first) % 8192];
  };
  load(1);
  load(2);
  load(3);
  load(4);
  out[threadIdx.x] = sum;
}

void check(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "trials: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(5);
}

int* memory() {
  int* out = nullptr;
  check(cudaMalloc(&out, 4096), "cudaMalloc");
  return out;
}

void finish() { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

void streams(int each) {
  std::vector<cudaStream_t> all(4);
  for (auto& stream : all) check(cudaStreamCreate(&stream), "cudaStreamCreate");
  for (auto& stream : all) {
    int* const out = memory();
    for (int i = 0; i < each; ++i) reverse<<<1, 32, 0, stream>>>(out);
  }
  finish();
  for (auto& stream : all) check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

void threads() {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) all.emplace_back([] { streams(25); });
  for (auto& one : all) one.join();
}

void graph() {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  cudaGraph_t captured;
  int* const out = memory();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  for (int i = 0; i < 3; ++i) reverse<<<1, 32, 0, stream>>>(out);
  check(cudaStreamEndCapture(stream, &captured), "cudaStreamEndCapture");
  cudaGraphExec_t executable;
  check(cudaGraphInstantiate(&executable, captured, 0), "cudaGraphInstantiate");
  for (int i = 0; i < 10; ++i) check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  finish();
}

/// Loads a module from `path`, launches its kernel `twice` three times, unloads it, and all that again.
void unload(char const* path) {
  std::ifstream in(path, std::ios::binary);
  std::string const image{std::istreambuf_iterator<char>(in), {}};
  int* out = memory();
  for (int round = 0; round < 2; ++round) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    if (cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS ||
        cuModuleGetFunction(&function, module, "twice") != CUDA_SUCCESS) {
      std::fprintf(stderr, "trials: %s cannot be loaded\n", path);
      std::exit(5);
    }
    void* arguments[] = {&out};
    for (int i = 0; i < 3; ++i) cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr);
    finish();
    cuModuleUnload(module);
  }
}

void on_every_device() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  for (int device = 0; device < count; ++device) {
    check(cudaSetDevice(device), "cudaSetDevice");
    int* const out = memory();
    for (int i = 0; i < 5; ++i) reverse<<<1, 32>>>(out);
  }
  for (int device = 0; device < count; ++device) {
    check(cudaSetDevice(device), "cudaSetDevice");
    finish();
  }
  std::printf("%d devices\n", count);
}

void plain() {
  reverse<<<1, 32>>>(memory());
  finish();
}

}  // namespace

int main(int argc, char** argv) {
  std::string const mode = argc > 1 ? argv[1] : "";
  std::puts("begin");
  std::fflush(stdout);
  pid_t child = -1;
  if (mode == "fork") child = fork();  // both use the GPU
  if (mode == "fault") fault<<<1, 32>>>(memory());
  if (mode == "trap") trap<<<1, 32>>>(memory());
  if (mode == "cluster") exchange<<<2, 32>>>(memory());
  if (mode == "generic" && argc == 2)
    for (int const stride : {1, 2, 4, 8, 32, 33}) generic<<<1, 32>>>(memory(), stride, true);
  if (mode == "generic" && argc > 2) {
    generic<<<1, 32>>>(memory(), std::atoi(argv[2]), true);
    generic<<<1, 32>>>(reinterpret_cast<unsigned long long*>(memory()), std::atoi(argv[2]), true);
  }
  if (mode == "global") generic<<<1, 32>>>(memory(), 1, false);
  if (mode == "wander") wander<<<1, 32>>>(memory());
  if (mode == "unroll") unroll<<<1, 32>>>(memory());
  if (mode == "streams") streams(25);
  if (mode == "threads") threads();
  if (mode == "graph") graph();
  if (mode == "unload") unload(argv[2]);
  if (mode == "devices") on_every_device();
  if (mode == "plain" || mode == "fork" || mode == "abort" || mode == "kill" || mode == "quick") plain();
  finish();
  if (mode == "abort") std::abort();
  if (mode == "kill") std::raise(SIGKILL);
  if (mode == "quick") _exit(exit_code);
  if (child > 0) waitpid(child, nullptr, 0);
  if (child != 0) std::puts("end");
  return exit_code;
}
