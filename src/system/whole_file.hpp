// Files that are read whole, within a limit, and written whole or not at all.
#pragma once

#include "system/temporary_file.hpp"

#include <swizproof/core/error.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace swizproof {

/// Message of read_file() for a name that its folder does not have.
inline constexpr std::string_view no_such_file = "no such file";

/// The text of a file of at most `mebibytes`. Throws InputError.
[[nodiscard]] inline std::string read_file(std::string const& name, std::size_t mebibytes = 256) {
  std::size_t const most = mebibytes << 20;
  struct stat status {};
  bool const there = stat(name.c_str(), &status) == 0;
  if (!there && errno == ENOENT) throw InputError::whole(std::string(no_such_file), name);
  if (there && S_ISDIR(status.st_mode))
    throw InputError::whole("this is a directory", name, "name the files in it");
  std::ifstream file(name, std::ios::binary);
  if (!file) throw InputError::whole("cannot read the file", name);
  std::string text;
  if (there && status.st_size > 0 && static_cast<std::uint64_t>(status.st_size) <= most)
    text.reserve(static_cast<std::size_t>(status.st_size));
  std::vector<char> part(std::size_t{1} << 16);
  while (file && text.size() <= most) {
    file.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() <= most) throw InputError::whole("cannot read the file", name);
  if (text.size() > most)
    throw InputError::whole("the file is larger than " + std::to_string(mebibytes) + " MiB", name);
  return text;
}

/// Writes a file whole or not at all: into a temporary file in its folder, which takes its name at the end in one step, so
/// that a reader, or a second writer, never sees a part. A symbolic link stays one, and what it points to is written. What is
/// no regular file (a device, a pipe, /dev/stdout) is opened and written to, never replaced. Checked by
/// tests/unit/system/whole_file_test.cpp.
class WholeFile {
 public:
  /// Opens at once, before hours of work depend on it. `what` is the noun of the message: "the page". Throws InputError
  /// where the file cannot be written.
  WholeFile(std::string path, std::string what)
      : path_(std::move(path)), what_(std::move(what)), target_(path_) {
    struct stat status {};
    for (int links = 0; !opened() && lstat(target_.c_str(), &status) == 0 && S_ISLNK(status.st_mode); ++links)
      fail_unless(links < 40 && follow());
    if (opened()) return;
    bool const there = stat(target_.c_str(), &status) == 0;
    if (there && !S_ISREG(status.st_mode)) {
      descriptor_ = open(target_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
      fail_unless(opened());
      return;
    }
    fail_unless(!there || access(target_.c_str(), W_OK) == 0);
    try {
      temporary_.emplace(folder_of(target_));
    } catch (std::system_error const& error) {
      errno = error.code().value();
      fail_unless(false);
    }
    if (!there) return;
    fail_unless(fchmod(temporary_->descriptor(), status.st_mode & 0777) == 0);
    [[maybe_unused]] int const owner_kept = fchown(temporary_->descriptor(), status.st_uid, status.st_gid);
  }
  WholeFile(WholeFile const&) = delete;
  WholeFile& operator=(WholeFile const&) = delete;
  ~WholeFile() {
    if (opened()) close(descriptor_);
  }

  /// Throws InputError; then the file is as it was, unless it is a pipe or a device.
  void write(std::string const& text) {
    std::fflush(stdout);  // which may be where this goes
    int const to = temporary_ ? temporary_->descriptor() : descriptor_;
    for (std::string_view rest = text; !rest.empty();) {
      ssize_t const written = ::write(to, rest.data(), rest.size());
      fail_unless(written > 0 || (written < 0 && errno == EINTR));
      rest.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
    }
    fail_unless(!temporary_ || temporary_->become(target_));
  }

 private:
  static std::string folder_of(std::string const& path) {
    std::size_t const slash = path.rfind('/');
    return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  }
  [[nodiscard]] bool opened() const { return descriptor_ >= 0; }
  /// Puts what a link points to in place of it. A descriptor of this process (/dev/stdout, /proc/self/fd/3) is shared
  /// instead, so that what is written twice does not lie upon itself. False, with errno, if neither can be done.
  [[nodiscard]] bool follow() {
    std::string const folder = folder_of(target_), name = target_.substr(target_.rfind('/') + 1);
    std::unique_ptr<char, void (*)(void*)> const real(realpath(folder.c_str(), nullptr), &std::free);
    if (real && std::string_view(real.get()) == "/proc/" + std::to_string(getpid()) + "/fd") {
      descriptor_ = fcntl(std::atoi(name.c_str()), F_DUPFD_CLOEXEC, 0);
      return opened();
    }
    std::array<char, 4096> text{};
    ssize_t const size = readlink(target_.c_str(), text.data(), text.size() - 1);
    if (size < 0) return false;
    target_ = text[0] == '/' ? std::string(text.data()) : folder + "/" + text.data();
    return true;
  }
  void fail_unless(bool good) const {
    if (good) return;
    std::string const why = std::strerror(errno);
    throw InputError::whole("cannot write " + what_ + ": " + why, path_);
  }

  std::string path_, what_, target_;
  int descriptor_ = -1;                       ///< descriptor of a target that is no regular file
  std::optional<TemporaryFile> temporary_{};  ///< temporary file of one that is
};

}  // namespace swizproof
