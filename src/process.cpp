#include "process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace swizproof {

namespace {

constexpr std::size_t most_output = std::size_t{64} << 10;
constexpr int not_found_code = 127;

/// In the child: limits, standard output and error to `out`, and the program. Only calls that are safe between fork and
/// exec in a program with threads.
[[noreturn]] void become(char* const* arguments, int out, unsigned megabytes) {
  setpgid(0, 0);
  rlimit const memory{rlim_t{megabytes} << 20, rlim_t{megabytes} << 20};
  setrlimit(RLIMIT_AS, &memory);
  rlimit const no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  int const nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  execvp(arguments[0], arguments);
  _exit(not_found_code);
}

}  // namespace

bool has_program(std::string const& name) {
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

ProcessResult run_process(std::vector<std::string> const& arguments, double seconds, unsigned megabytes) {
  using Clock = std::chrono::steady_clock;
  auto const fail = [](char const* what) { throw std::system_error(errno, std::generic_category(), what); };
  ProcessResult result;
  if (arguments.empty() || (arguments[0].find('/') == std::string::npos && !has_program(arguments[0])))
    return result;
  std::vector<char*> words;
  for (std::string const& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  pid_t const child = fork();
  if (child < 0) {
    close(ends[0]), close(ends[1]);
    fail("fork");
  }
  if (child == 0) become(words.data(), ends[1], megabytes);
  setpgid(child, child);
  close(ends[1]);
  auto const deadline = Clock::now() + std::chrono::duration<double>(seconds);
  std::array<char, 4096> part{};
  bool late = false;
  while (true) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{ends[0], POLLIN, 0};
    int const ready = left <= 0 ? 0 : poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 1000)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && left > 0) continue;
    late = ready <= 0;
    if (late) break;
    ssize_t const got = read(ends[0], part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (result.output.size() < most_output) result.output.append(part.data(), static_cast<std::size_t>(got));
  }
  if (late) kill(-child, SIGKILL);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late)
    result.end = ProcessResult::End::timed_out;
  else if (!WIFEXITED(status))
    result.end = ProcessResult::End::killed;
  else
    result.end =
        WEXITSTATUS(status) == not_found_code ? ProcessResult::End::not_found : ProcessResult::End::exited;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return result;
}

}  // namespace swizproof
