// The module behind the page: the command line as two functions of words. Everything else of the page is drawn around its
// JSON and its text, so that there is one answer and not two.
#include "command/line/run.hpp"

#include <swizproof/hardware/architecture.hpp>

#include <emscripten/bind.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace swizproof::page {

namespace {

using Words = emscripten::val;  ///< an array of strings

std::vector<std::string> strings_of(Words const& words) {
  return emscripten::vecFromJSArray<std::string>(words);
}

command::Reply answer(Words const& words) { return command::answer(strings_of(words)); }

/// Prints for people, to the standard output and error that worker.js collects.
int run(Words const& words) {
  std::vector<std::string> const strings = strings_of(words);
  std::vector<char const*> argv{"swizproof"};
  for (std::string const& word : strings) argv.push_back(word.c_str());
  return command::run(static_cast<int>(argv.size()), argv.data());
}

/// The working folder, which has the files that the page was given. Files that a command writes could not be read: `--svg FILE` is refused as
/// in a folder that is read-only.
constexpr char const* given = "/given";
constexpr mode_t read_only = S_IRUSR | S_IXUSR;
[[maybe_unused]] bool const in_given =
    mkdir(given, read_only) == 0 && chdir(given) == 0 && chmod("/", read_only) == 0;
/// The text is put into the page as it is, and emscripten takes it for that of a terminal.
[[maybe_unused]] bool const plain = setenv("NO_COLOR", "1", 1) == 0;

/// Takes a file that a command line can name. False if its name cannot be one.
bool take_file(std::string const& name, std::string const& bytes) {
  chmod(given, S_IRWXU);
  std::ofstream file(name, std::ios::binary);
  bool const written =
      static_cast<bool>(file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush());
  chmod(given, read_only);
  return written;
}

std::string version() { return SWIZPROOF_VERSION; }

/// The names that --arch takes.
Words architecture_names() {
  Words names = Words::array();
  for (Architecture const& arch : architectures) names.call<void>("push", std::string(arch.name));
  return names;
}

}  // namespace

}  // namespace swizproof::page

EMSCRIPTEN_BINDINGS(swizproof) {
  using swizproof::command::Reply;
  emscripten::value_object<Reply>("Reply")
      .field("exit_code", &Reply::exit_code)
      .field("document", &Reply::document)
      .field("complaint", &Reply::complaint);
  emscripten::function("answer", swizproof::page::answer);
  emscripten::function("run", swizproof::page::run);
  emscripten::function("take_file", swizproof::page::take_file);
  emscripten::function("version", swizproof::page::version);
  emscripten::function("architectures", swizproof::page::architecture_names);
}
