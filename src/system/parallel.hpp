// A loop on several threads, results that come in order, and how many threads there should be.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace swizproof {

/// The memory that this process may have, in MiB: the least of the machine's, its control group's, and its limit of address
/// space less the mapped memory.
[[nodiscard]] inline std::uint64_t memory_megabytes() {
  auto least = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
               static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  for (char const* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t limit = 0;
    if (std::ifstream(path) >> limit) least = std::min(least, limit);  // or the word "max"
  }
  rlimit own{};
  if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    std::uint64_t const mapped = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
    least = std::min(least, own.rlim_cur - std::min<std::uint64_t>(own.rlim_cur, mapped));
  }
  return least >> 20;
}

/// Number of tasks to run at a time that need up to `megabytes` each: one a core, as long as the memory lasts. At least 1.
[[nodiscard]] inline unsigned default_jobs(unsigned megabytes) {
  std::uint64_t const fit = std::max<std::uint64_t>(memory_megabytes() / megabytes, 1);
  return static_cast<unsigned>(
      std::min<std::uint64_t>(std::max(1U, std::thread::hardware_concurrency()), fit));
}

/// `count` threads that run `work`; fewer, down to none, where the system gives no more.
template <class F>
[[nodiscard]] std::vector<std::jthread> start_threads(unsigned count, F const& work) {
  std::vector<std::jthread> threads;
  try {
    threads.reserve(count);
    for (unsigned t = 0; t < count; ++t) threads.emplace_back(work);
  } catch (std::system_error const&) {  // the calling thread, and those that there are, do it all
  }
  return threads;
}

/// Calls f(0), f(1), ... f(count - 1), begun in this order, `jobs` at a time. Throws what a call has thrown, once all
/// have ended; no further ones are begun then.
template <class F>
void in_parallel(std::size_t count, unsigned jobs, F const& f) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  auto const work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) f(i);
    } catch (...) {
      std::scoped_lock const lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  {
    std::size_t const helpers = std::min<std::size_t>(jobs, count);
    auto const threads = start_threads(helpers > 0 ? static_cast<unsigned>(helpers - 1) : 0, work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

/// f(0), f(1), ... f(count - 1), begun in this order, `jobs` at a time; the results are taken in order while later ones
/// are still worked on. When it goes, calls under way are waited for and no further ones are begun.
template <class Result>
class InOrder {
 public:
  /// Throws std::bad_alloc where the system gives no thread.
  template <class F>
  InOrder(std::size_t count, unsigned jobs, F f) : results_(count) {
    auto const helpers = static_cast<unsigned>(std::min<std::size_t>(jobs, count));
    threads_ = start_threads(helpers, [this, f] { work(f); });
    if (threads_.empty() && count != 0) throw std::bad_alloc();
  }
  InOrder(InOrder const&) = delete;
  InOrder& operator=(InOrder const&) = delete;
  ~InOrder() { stop_ = true; }  // and the threads join

  /// Waits for result i, calling `tick` now and then with the number of results that there are. Throws what a call
  /// has thrown.
  template <class Tick>
  Result const& wait(std::size_t i, Tick const& tick) {
    std::unique_lock lock(mutex_);
    while (!results_[i] && !failure_) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      tick(done_);
    }
    if (failure_) std::rethrow_exception(failure_);
    return *results_[i];
  }

 private:
  template <class F>
  void work(F const& f) {
    for (std::size_t i = next_++; i < results_.size() && !stop_; i = next_++) {
      try {
        Result result = f(i);
        std::scoped_lock const lock(mutex_);
        results_[i] = std::move(result);
        ++done_;
      } catch (...) {
        std::scoped_lock const lock(mutex_);
        failure_ = std::current_exception();
        stop_ = true;
      }
      changed_.notify_all();
    }
  }

  std::vector<std::optional<Result>> results_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::size_t done_ = 0;
  std::vector<std::jthread> threads_;  // last: joined before anything that they use goes
};

}  // namespace swizproof
