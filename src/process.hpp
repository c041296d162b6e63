// Other programs, run with limits.
#pragma once

#include <string>
#include <vector>

namespace swizproof {

/// What came of a run.
struct ProcessResult {
  enum class End { exited, timed_out, killed, not_found } end = End::not_found;
  int code = 0;          ///< if it exited
  std::string output{};  ///< the first 64 KiB of its standard output and error
};

/// Runs `arguments[0]` from the PATH, for at most `seconds` and with at most `megabytes` of memory. Its
/// whole process group is killed when the time is over. Throws std::system_error if no process can be made.
[[nodiscard]] ProcessResult run_process(std::vector<std::string> const& arguments, double seconds,
                                        unsigned megabytes);

/// Whether the PATH has a program of this name.
[[nodiscard]] bool has_program(std::string const& name);

}  // namespace swizproof
