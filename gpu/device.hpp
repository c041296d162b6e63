// A CUDA device and its memory, with every call checked and every wait bounded.
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace swizproof::gpu {

/// Why a run stops: one line, and the exit code (77: no usable GPU; 2: everything else).
struct Failure {
  std::string message;
  int exit_code = 2;
};

/// Throws Failure if a CUDA call failed.
inline void check(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  throw Failure{std::string(what) + ": " + cudaGetErrorString(status)};
}

/// Machine on which a record was made.
struct Device {
  int ordinal = 0;
  int processors = 0;
  std::string name;
  unsigned capability = 90;      ///< 90 for 9.0
  std::size_t shared_bytes = 0;  ///< that a block may have
  /// "sm_90"
  [[nodiscard]] std::string architecture() const { return "sm_" + std::to_string(capability); }
};

/// Memory on the current device, freed with its owner.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t size) : size_(size) {
    check(cudaMalloc(&data_, size * sizeof(T)), "cudaMalloc");
    clear();
  }
  explicit Buffer(std::vector<T> const& values) : Buffer(values.size()) { write(values); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() { cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void clear() { check(cudaMemset(data_, 0, size_ * sizeof(T)), "cudaMemset"); }
  void write(std::vector<T> const& values) {
    check(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(size_);
    check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A wait of the host gives up after this long: a kernel that hangs is a failure, not a hang.
inline constexpr double longest_wait = 300;

/// Waits until everything launched on the current device is done, and throws Failure if it failed or
/// takes longer than `longest_wait` seconds. Returns the seconds waited.
inline double finish(char const* what) {
  check(cudaGetLastError(), what);
  cudaEvent_t event{};
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), what);
  check(cudaEventRecord(event), what);
  auto const start = std::chrono::steady_clock::now();
  double waited = 0;
  cudaError_t status = cudaSuccess;
  while ((status = cudaEventQuery(event)) == cudaErrorNotReady) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (waited > longest_wait) throw Failure{std::string(what) + ": the device does not answer"};
  }
  check(status, what);
  check(cudaEventDestroy(event), what);
  return waited;
}

/// Kernels that use more than 48 KiB of shared memory must ask for it.
template <class Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
}

}  // namespace swizproof::gpu
