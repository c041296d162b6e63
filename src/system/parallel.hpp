// A loop on several threads, and how many there should be.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <mutex>
#include <sys/resource.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace swizproof {

/// The memory that this process may have, in MiB: the machine's, its control group's or its own limit of address space,
/// whichever is least.
[[nodiscard]] inline std::uint64_t memory_megabytes() {
  auto least = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
               static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  for (char const* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t limit = 0;
    if (std::ifstream(path) >> limit) least = std::min(least, limit);  // or the word "max"
  }
  rlimit own{};
  if (getrlimit(RLIMIT_AS, &own) == 0) least = std::min<std::uint64_t>(least, own.rlim_cur);
  return least >> 20;
}

/// How many things to do at a time that need up to `megabytes` each: one a core, as long as the memory lasts. At least 1.
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

}  // namespace swizproof
