#include "command/kernel/watch.hpp"

#include <chrono>
#include <system_error>
#include <thread>

namespace swizproof::command::kernel_detail {

namespace {

/// The time of a file; that of no file if it is away, as an editor leaves it for a moment.
std::filesystem::file_time_type time_of(std::string const& file) {
  std::error_code error;
  auto const time = std::filesystem::last_write_time(file, error);
  return error ? std::filesystem::file_time_type::min() : time;
}

}  // namespace

WatchedFiles::WatchedFiles(std::vector<std::string> const& files) {
  for (std::string const& file : files) times_[file] = time_of(file);
}

std::string WatchedFiles::wait_for_change() {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    for (auto& [file, time] : times_)
      if (auto const now = time_of(file); now != time && now != std::filesystem::file_time_type::min()) {
        time = now;
        return file;
      }
  }
}

}  // namespace swizproof::command::kernel_detail
