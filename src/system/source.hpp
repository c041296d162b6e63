// The sources that a trace names, as far as they can be read on this machine. A trace is often read on another machine than
// it was recorded on, and does not hold the files' contents: their present contents are shown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// One source file.
struct SourceFile {
  std::string name{};    ///< name in the trace
  std::string path{};    ///< path of the file that was read; empty if none was
  std::string reason{};  ///< reason if it was not read; else empty
  std::string text{};
  std::vector<std::uint32_t> starts{};  ///< byte at which each line begins

  [[nodiscard]] bool read() const { return !path.empty(); }
  /// The text of a line, from 1, without its end; "..." stands for what is beyond 400 bytes. Nothing where there is no such
  /// line.
  [[nodiscard]] std::optional<std::string> line(std::uint64_t number) const;
};

/// A line without the blanks around it.
[[nodiscard]] std::string trimmed(std::string const& line);

/// Finds and reads each file once. Checked by tests/unit/system/source_test.cpp.
class Sources {
 public:
  /// `folders` are looked through before the path itself is tried: in them for the longest tail of the path, so that
  /// /build/app/src/k.cu is app/src/k.cu of a folder if that is there, else src/k.cu, else k.cu.
  /// Throws InputError for what is no folder, and for more than 16.
  explicit Sources(std::vector<std::string> folders);

  /// Reads at most 16 MiB a file and 64 MiB of all; a regular file without zero bytes. A path that is not absolute is one from the
  /// working folder.
  SourceFile const& file(std::string const& name);

 private:
  std::vector<std::string> folders_;
  std::size_t bytes_ = 0;
  std::map<std::string, SourceFile> files_{};
};

}  // namespace swizproof
