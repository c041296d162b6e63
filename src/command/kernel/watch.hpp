// Files that are watched.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {

/// Times of change of files. Checked by tests/program/cuda_source.
class WatchedFiles {
 public:
  explicit WatchedFiles(std::vector<std::string> const& files);

  /// Waits until a file has another time, and returns its name. Never returns without a change.
  [[nodiscard]] std::string wait_for_change();

 private:
  std::map<std::string, std::filesystem::file_time_type> times_{};
};

}  // namespace swizproof::command::kernel_detail
