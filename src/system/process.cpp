#include "system/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace swizproof {

namespace {

constexpr std::size_t most_output = std::size_t{64} << 10;

/// In the child: limits, standard output and error to `out`, and the program; `failure` takes the errno of an exec that
/// failed, and closes without a word when it succeeds. Only calls that are safe between fork and exec in a program with
/// threads.
[[noreturn]] void become(char* const* arguments, int out, int failure, unsigned megabytes, rlim_t seconds) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // who asked is gone
  rlimit const memory{rlim_t{megabytes} << 20, rlim_t{megabytes} << 20};
  setrlimit(RLIMIT_AS, &memory);
  rlimit const cpu{seconds, seconds + 1};  // of this program, and of each that it starts
  setrlimit(RLIMIT_CPU, &cpu);
  rlimit const no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  int const nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execvp(arguments[0], arguments);
  int const why = errno;
  ssize_t const told = write(failure, &why, sizeof why);
  _exit(told == sizeof why ? 0 : 1);
}

/// A pipe whose ends no program inherits, and which are closed with it.
struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  Pipe(Pipe const&) = delete;
  Pipe& operator=(Pipe const&) = delete;
  ~Pipe() {
    for (int& end : ends) close_end(end);
  }
  static void close_end(int& end) {
    if (end >= 0) close(std::exchange(end, -1));
  }
  std::array<int, 2> ends{-1, -1};
};

/// The time that a child has left: CPU seconds by its own clock. A child whose clock has not moved for ten minutes waits for what
/// never comes, and has none left.
class TimeLeft {
 public:
  TimeLeft(pid_t child, double seconds) : seconds_(seconds) {
    has_clock_ = clock_getcpuclockid(child, &clock_) == 0;
  }

  /// How long to wait before the next look, in milliseconds: at most a second; 0 if no time is left.
  [[nodiscard]] int milliseconds() {
    timespec used{};
    double const now = has_clock_ && clock_gettime(clock_, &used) == 0
                           ? static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec)
                           : used_;
    if (now > used_) moved_ = Wall::now();
    used_ = std::max(used_, now);
    double const left = seconds_ - used_;
    if (left <= 0 || Wall::now() - moved_ > longest_wait) return 0;
    return static_cast<int>(std::ceil(std::min(left, 1.0) * 1000));
  }

 private:
  using Wall = std::chrono::steady_clock;
  static constexpr std::chrono::minutes longest_wait{10};

  clockid_t clock_{};
  bool has_clock_ = false;
  double seconds_, used_ = 0;
  Wall::time_point moved_ = Wall::now();
};

/// The whole seconds of the system's own limit, which is a net: it ends programs that the child starts, too.
rlim_t whole_seconds(double seconds) {
  constexpr double most = 1e9;
  return static_cast<rlim_t>(std::ceil(std::clamp(seconds, 0.0, most))) + 1;
}

/// Set if the child could not become the program: its errno, or 0.
int exec_failure(Pipe& pipe) {
  Pipe::close_end(pipe.ends[1]);
  int why = 0;
  ssize_t got = 0;
  do got = read(pipe.ends[0], &why, sizeof why);
  while (got < 0 && errno == EINTR);
  return got == sizeof why ? why : 0;
}

}  // namespace

bool has_program(std::string const& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

ProcessResult run_process(std::vector<std::string> const& arguments, double seconds, unsigned megabytes) {
  ProcessResult result;
  if (arguments.empty()) return result;
  std::vector<char*> words;
  for (std::string const& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  Pipe output, failure;
  pid_t const child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) become(words.data(), output.ends[1], failure.ends[1], megabytes, whole_seconds(seconds));
  setpgid(child, child);
  Pipe::close_end(output.ends[1]);
  int const why = exec_failure(failure);
  TimeLeft time(child, seconds);
  std::array<char, 4096> part{};
  bool late = false;
  while (true) {
    int const left = time.milliseconds();
    pollfd waiting{output.ends[0], POLLIN, 0};
    int const ready = left == 0 ? 0 : poll(&waiting, 1, left);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && left > 0) continue;
    late = ready <= 0;
    if (late) break;
    ssize_t const got = read(output.ends[0], part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (result.output.size() < most_output) result.output.append(part.data(), static_cast<std::size_t>(got));
  }
  if (late) kill(-child, SIGKILL);
  Pipe::close_end(output.ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (why != 0) {
    result.end = why == ENOENT && !has_program(arguments[0]) ? ProcessResult::End::not_found
                                                             : ProcessResult::End::not_started;
    result.output = std::generic_category().message(why);
    return result;
  }
  if (late || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
    result.end = ProcessResult::End::timed_out;
  else
    result.end = WIFEXITED(status) ? ProcessResult::End::exited : ProcessResult::End::killed;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return result;
}

}  // namespace swizproof
