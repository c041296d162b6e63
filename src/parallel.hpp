// A loop on several threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace swizproof {

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
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t < jobs; ++t) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace swizproof
