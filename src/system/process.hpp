// Other programs, run with limits.
#pragma once

#include <string>
#include <vector>

namespace swizproof {

/// How a run ended.
struct ProcessResult {
  /// not_found: there is no such program; not_started: there is, and the system does not run it.
  enum class End { exited, timed_out, killed, not_found, not_started } end = End::not_found;
  int code = 0;          ///< if it exited
  std::string output{};  ///< the first 64 KiB of its standard output and error; or why it was not started
};

/// Runs `arguments[0]` from the PATH, with at most `seconds` of CPU time and `megabytes` of memory. Time in which it waits or is
/// stopped does not count, so that a busy machine changes no result; after ten minutes without any work it is timed out. Its
/// whole process group is killed when the time is over, and the program itself when the calling thread ends. Throws
/// std::system_error if no process can be made. A program that exits with 127 was found: tests/program/recheck.
[[nodiscard]] ProcessResult run_process(std::vector<std::string> const& arguments, double seconds,
                                        unsigned megabytes);

/// True if there is a program of this name in the PATH, or, with a slash in it, of this path.
[[nodiscard]] bool has_program(std::string const& name);

}  // namespace swizproof
