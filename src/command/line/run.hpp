// The command line as one function.
#pragma once

#include <cstdio>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof::command {

/// Exit codes, the same for every command.
enum Exit : int { holds = 0, refuted = 1, bad_input = 2, undecided = 3, disagreement = 4 };

/// A whole command line, `argv[0]` included, as the program runs it: reads it, does it, prints to the file descriptors 1 and 2
/// by way of stdout and stderr, and returns the exit code. May be called again and again, not by two threads at a time.
[[nodiscard]] int run(int argc, char const* const* argv);

/// Description of the command line in JSON, from the options themselves: what src/python/questions.py makes functions of.
///
///     {"commands": [{"name": "eval", "about": "Offsets or ...",
///                    "arguments": [{"name": "LAYOUT", "kind": "LAYOUT", "about": "shape:stride ...",
///                                   "required": true, "several": false}],
///                    "options": [{"name": "--at", "kind": "INTEGERS", ...}, ...]}, ...],
///      "options": [{"name": "--timeout", "kind": "FLOAT", "default": "30", ...}, ...]}
[[nodiscard]] std::string commands();

/// Streams of a command: requests, documents, errors.
struct Streams {
  std::FILE* in = stdin;
  std::FILE* out = stdout;
  std::FILE* err = stderr;
};

/// Result of a command line.
struct Reply {
  int exit_code = holds;
  std::string document{};   ///< JSON; of --svg - and --html - the picture
  std::string complaint{};  ///< what the program says on standard error: messages with place and hint
};

/// The same command line with --json, in strings: `words` are what stands behind `swizproof`, `input` its standard input.
/// In-process entry point (Python, WebAssembly). May be called by several threads at a time. After a request to stop it
/// soon comes back, with an answer that is worth nothing. Checked by CommandLine.AnswersAreWhatIsPrinted and tests/python.
[[nodiscard]] Reply answer(std::vector<std::string> words, std::string_view input = {},
                           std::stop_token stop = {});

}  // namespace swizproof::command
