// CPU time: what a time limit counts, so that a busy machine changes no verdict.
#pragma once

#include <chrono>
#include <ctime>
#if !defined(__EMSCRIPTEN__)
#include <pthread.h>
#endif

namespace swizproof {

/// The CPU seconds of one thread, which any thread may read while it lives. Time in which the thread waits, or is stopped, does not
/// count. Where a system has no such clock: seconds on its wall. Checked by CpuTime.ASleeperUsesNone.
class ThreadClock {
 public:
  /// Clock of the calling thread.
  ThreadClock() : start_(0) {
#if !defined(__EMSCRIPTEN__)
    has_clock_ = pthread_getcpuclockid(pthread_self(), &clock_) == 0;
#endif
    start_ = now();
  }
  /// CPU seconds since its construction.
  [[nodiscard]] double seconds() const { return now() - start_; }

 private:
  [[nodiscard]] double now() const {
    timespec time{};
    if (has_clock_ && clock_gettime(clock_, &time) == 0)
      return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  clockid_t clock_{};
  bool has_clock_ = false;
  double start_;
};

}  // namespace swizproof
