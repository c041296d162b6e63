// What proving the catalogue and proving a file share: the options, the choice of claims, the threads.
#pragma once

#include "command/command.hpp"

#include "system/parallel.hpp"
#include "text/pattern.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace swizproof::command {

struct ProveOptions {
  std::vector<std::string> files;
  std::string only;
  std::string name;
  unsigned jobs = default_jobs(Limits{}.megabytes);
  std::string shard = "1/1";
  std::string claims_page;
  std::string junit;
  std::string certificates;
  bool list = false;
};

/// Proves the obligations in options.files. Throws InputError.
void prove_files(Common& common, ProveOptions const& options);

/// `i/n`: every n-th claim from the i-th on.
inline std::pair<std::size_t, std::size_t> parse_shard(std::string const& text) {
  std::size_t i = 0, n = 0;
  char slash = 0, extra = 0;
  std::istringstream in(text);
  if (!(in >> i >> slash >> n) || slash != '/' || in >> extra || i < 1 || i > n)
    throw InputError{"--shard takes i/n with 1 <= i <= n", text, 0, text.size(), {}};
  return {i, n};
}

/// The items that --only, --name and --shard choose. Throws InputError if there are none.
template <class Item>
std::vector<Item> select(std::vector<Item> items, ProveOptions const& options) {
  std::vector<Item> chosen;
  auto const [shard, shards] = parse_shard(options.shard);
  std::string const& only = options.name.empty() ? options.only : options.name;
  auto const refuse = [](std::string message, std::string const& text, std::string hint = {}) {
    throw InputError{std::move(message), text, 0, text.size(), std::move(hint)};
  };
  Pattern const pattern(options.only, "--only");
  std::size_t matching = 0;
  for (Item& item : items) {
    bool const match = (options.name.empty() || item.name == options.name) && pattern.found_in(item.name);
    if (match && matching++ % shards == shard - 1) chosen.push_back(std::move(item));
  }
  if (matching == 0)
    refuse("no claim has a name that matches", only, "'swizproof prove [FILE] --list' prints the names");
  if (chosen.empty())
    refuse("only " + std::to_string(matching) + " claims match: this shard is empty", options.shard);
  return chosen;
}

/// Decides items on several threads and hands the reports over in order.
template <class Item, class Report>
class Runner {
 public:
  Runner(std::vector<Item> const& items, unsigned jobs, Limits limits)
      : items_(items), reports_(items.size()), ready_(items.size(), false) {
    // More than one a core only take each other's time, and each has a limit of it.
    jobs = std::min(jobs, std::max(1U, std::thread::hardware_concurrency()));
    unsigned const count = static_cast<unsigned>(items.size());
    unsigned const spare = std::max(1U, jobs / std::max(count, 1U));  // threads that one item may use
    jobs = std::min(jobs, count);
    limits.threads = spare;
    threads_ = start_threads(jobs, [this, limits] { work(limits); });
    if (threads_.empty() && count != 0) throw std::bad_alloc();
  }
  Runner(Runner const&) = delete;
  Runner& operator=(Runner const&) = delete;
  ~Runner() { stop_ = true; }  // and the threads join
  /// Waits for report i, calling `tick` now and then with the number of items done.
  template <class Tick>
  Report const& wait(std::size_t i, Tick const& tick) {
    std::unique_lock lock(mutex_);
    while (!ready_[i] && !failure_) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      tick(done_);
    }
    if (failure_) std::rethrow_exception(failure_);
    return reports_[i];
  }

 private:
  void work(Limits const& limits) {
    for (std::size_t i = next_++; i < items_.size() && !stop_; i = next_++) {
      try {
        Report report = decide(items_[i], limits);
        std::scoped_lock const lock(mutex_);
        reports_[i] = std::move(report);
        ready_[i] = true;
        ++done_;
      } catch (...) {
        std::scoped_lock const lock(mutex_);
        failure_ = std::current_exception();
        stop_ = true;
      }
      changed_.notify_all();
    }
  }

  std::vector<Item> const& items_;
  std::vector<Report> reports_;
  std::vector<bool> ready_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stop_ = false;
  std::size_t done_ = 0;
  std::vector<std::jthread> threads_;  // last: joined before anything that they use goes
};

}  // namespace swizproof::command
