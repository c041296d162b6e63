// The command line as one function.
#pragma once

namespace swizproof::command {

/// Exit codes, the same for every command.
enum Exit : int { holds = 0, refuted = 1, bad_input = 2, undecided = 3, disagreement = 4 };

/// A whole command line, `argv[0]` included, as the program runs it: reads it, does it, prints to the file descriptors 1 and 2
/// by way of stdout and stderr, and returns the exit code. May be called again and again, not by two threads at a time.
[[nodiscard]] int run(int argc, char const* const* argv);

}  // namespace swizproof::command
