// Files that are read whole, within a limit, and written whole or not at all.
#pragma once

#include <swizproof/parse.hpp>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// The text of a file of at most `mebibytes`. Throws InputError.
[[nodiscard]] inline std::string read_file(std::string const& name, std::size_t mebibytes = 256) {
  std::size_t const most = mebibytes << 20;
  std::ifstream file(name, std::ios::binary);
  if (!file) throw InputError{"cannot read the file", name, 0, name.size(), {}};
  std::string text;
  std::vector<char> part(std::size_t{1} << 16);
  while (file && text.size() <= most) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() <= most)
    throw InputError{"cannot read the file", name, 0, name.size(), "is it a directory?"};
  if (text.size() > most)
    throw InputError{
        "the file is larger than " + std::to_string(mebibytes) + " MiB", name, 0, name.size(), {}};
  return text;
}

/// Opens PATH.new at once, before hours of work depend on it, and renames it to PATH when all is written. Throws
/// InputError where that cannot be done; then PATH is as it was.
class WholeFile {
 public:
  /// `what` is the noun of the message: "the page".
  WholeFile(std::string path, std::string what)
      : path_(std::move(path)),
        what_(std::move(what)),
        new_path_(path_ + ".new"),
        file_(new_path_, std::ios::binary) {
    if (!file_) fail();
  }
  WholeFile(WholeFile const&) = delete;
  WholeFile& operator=(WholeFile const&) = delete;
  ~WholeFile() { std::remove(new_path_.c_str()); }
  void write(std::string const& text) {
    file_ << text;
    file_.close();
    if (!file_ || std::rename(new_path_.c_str(), path_.c_str()) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const { throw InputError{"cannot write " + what_, path_, 0, path_.size(), {}}; }
  std::string path_, what_, new_path_;
  std::ofstream file_;
};

}  // namespace swizproof
