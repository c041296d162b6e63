// Files that go with their owner, and with the program when a signal ends it.
#pragma once

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace swizproof {

namespace detail {

/// A path that a signal must remove. Plain memory: a signal's handler may touch nothing else.
struct DoomedPath {
  enum State : int { free, taken, set };
  std::atomic<int> state = free;
  std::array<char, 4096> path{};
};
static_assert(std::atomic<int>::is_always_lock_free);
inline std::array<DoomedPath, 256> doomed_paths{};

inline void remove_unfinished() {
  for (DoomedPath const& doomed : doomed_paths)
    if (doomed.state == DoomedPath::set) unlink(doomed.path.data());
  for (DoomedPath const& doomed : doomed_paths)
    if (doomed.state == DoomedPath::set) rmdir(doomed.path.data());
}

/// Removes what is unfinished and ends the program by the same signal, as who started it expects.
inline void end_by(int signal) {
  remove_unfinished();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace detail

/// Guard of a path: as long as it lives, a signal that ends the program removes `path`: a file, or a folder that is empty once the other
/// doomed files are gone. Beyond 256 at a time they stay behind.
class Doomed {
 public:
  Doomed() = default;
  explicit Doomed(std::string const& path) {
    if (path.size() >= sizeof detail::DoomedPath::path) return;
    for (detail::DoomedPath& place : detail::doomed_paths) {
      int free = detail::DoomedPath::free;
      if (!place.state.compare_exchange_strong(free, detail::DoomedPath::taken)) continue;
      std::memcpy(place.path.data(), path.c_str(), path.size() + 1);
      place.state = detail::DoomedPath::set;
      place_ = &place;
      return;
    }
  }
  Doomed(Doomed const&) = delete;
  Doomed& operator=(Doomed const&) = delete;
  Doomed& operator=(Doomed&& other) noexcept {
    pardon();
    place_ = std::exchange(other.place_, nullptr);
    return *this;
  }
  ~Doomed() { pardon(); }

 private:
  void pardon() {
    if (place_ != nullptr) place_->state = detail::DoomedPath::free;
    place_ = nullptr;
  }
  detail::DoomedPath* place_ = nullptr;
};

/// Makes Ctrl-C, SIGTERM and SIGHUP end the program at once and leave no temporary file. One that was ignored when
/// the program began (nohup) stays so. Checked by tests/program/signals.
inline void end_at_once_by_signals() {
  for (int const signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action.sa_handler = detail::end_by;
    action.sa_flags = 0;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

/// A new, empty file in a folder, by a name that no other file has: `.swizproof-PID-N` and an ending. It is removed when
/// its owner goes, or a signal ends the program.
class TemporaryFile {
 public:
  /// Throws std::system_error if no file can be made. `ending` such as ".smt2" shows other programs the kind of the file.
  explicit TemporaryFile(std::string const& folder, std::string_view ending = {}) {
    static std::atomic<unsigned> next = 0;
    do {
      path_ = folder + "/.swizproof-" + std::to_string(getpid()) + "-" + std::to_string(next++);
      path_ += ending;
      doomed_ = Doomed(path_);  // before there is a file: no moment without
      descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), path_);
  }
  TemporaryFile(TemporaryFile const&) = delete;
  TemporaryFile& operator=(TemporaryFile const&) = delete;
  ~TemporaryFile() {
    close(descriptor_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  [[nodiscard]] std::string const& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// Gives the file the name `path` in one step, replacing a file of this name; then it is no longer temporary. False, with
  /// errno, if that fails.
  [[nodiscard]] bool become(std::string const& path) {
    if (rename(path_.c_str(), path.c_str()) != 0) return false;
    path_.clear();
    doomed_ = Doomed();
    return true;
  }

 private:
  std::string path_{};
  int descriptor_ = -1;
  Doomed doomed_{};
};

}  // namespace swizproof
