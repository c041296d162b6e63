#include "command/kernel/cuda_source.hpp"

#include "system/process.hpp"
#include "system/temporary_file.hpp"
#include "system/whole_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

namespace swizproof::command {

namespace {

constexpr unsigned most_megabytes = 8192, most_seconds = 300;

/// nvcc, or nothing.
std::optional<std::string> nvcc() {
  if (has_program("nvcc")) return "nvcc";
  for (char const* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (char const* const home = std::getenv(variable); home != nullptr && *home != '\0')
      if (std::string path = std::string(home) + "/bin/nvcc"; has_program(path)) return path;
  if (std::string path = "/usr/local/cuda/bin/nvcc"; has_program(path)) return path;
  return std::nullopt;
}

/// Words of texts such as `-O3 -DN=4`.
std::vector<std::string> words_of(std::vector<std::string> const& texts) {
  std::vector<std::string> words;
  for (std::string const& text : texts) {
    std::istringstream in(text);
    for (std::string word; in >> word;) words.push_back(std::move(word));
  }
  return words;
}

/// `sm_90a` of sm_90: with the instructions of this architecture alone, such as wgmma.
std::string with_all_instructions(std::string const& arch) {
  bool const has_own = arch.starts_with("sm_") && arch.size() >= 5 && (arch.size() > 5 || arch[3] == '9');
  return has_own && std::isdigit(static_cast<unsigned char>(arch.back())) != 0 ? arch + "a" : arch;
}

bool names_arch(std::vector<std::string> const& words) {
  return std::any_of(words.begin(), words.end(), [](std::string const& w) {
    return w.starts_with("-arch") || w.starts_with("--gpu-arch") || w.starts_with("-gencode") ||
           w.starts_with("--generate-code") || w.starts_with("--cuda-gpu-arch") ||
           w.starts_with("--offload-arch");
  });
}

/// The command line, without the source and its output.
std::vector<std::string> command_line(std::string const& file, CompilerOptions const& options) {
  std::vector<std::string> const flags = words_of(options.flags);
  std::string const arch = with_all_instructions(options.arch);
  std::vector<std::string> words;
  if (auto const found = nvcc()) {
    words = {*found, "-ptx", "-lineinfo"};
    if (!names_arch(flags)) words.push_back("-arch=" + arch);
  } else if (has_program("clang++")) {
    words = {"clang++", "-x", "cuda", "--cuda-device-only", "-S", "-O3", "-gline-tables-only"};
    if (!names_arch(flags)) words.push_back("--cuda-gpu-arch=" + arch);
  } else {
    throw InputError::whole("CUDA source needs nvcc or clang++, and neither is there", file,
                            "add the toolkit's bin folder to PATH or set CUDA_HOME; or compile it elsewhere: "
                            "nvcc -ptx -lineinfo");
  }
  for (std::string const& folder : options.folders) words.push_back("-I" + folder);
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

/// Files of a list that -MD writes: `a.ptx : a.cu b.h \`.
std::vector<std::string> files_in(std::string const& list) {
  std::istringstream in(list.substr(std::min(list.find(':'), list.size() - 1) + 1));
  std::vector<std::string> files;
  for (std::string word; in >> word;)
    if (word != "\\") files.push_back(std::move(word));
  return files;
}

/// The first lines of a text.
std::string first_lines(std::string const& text, std::size_t count) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < count && end < text.size(); ++i)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  std::string out = text.substr(0, end);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out + (end < text.size() ? "\n..." : "");
}

}  // namespace

void add_compiler_to(CLI::App& sub, CompilerOptions& options) {
  sub.add_option("--nvcc-flags", options.flags,
                 "of a .cu file: words for the compiler, such as --nvcc-flags='-O3 -DN=4 -std=c++17'; may be "
                 "repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  sub.add_option("-I,--include", options.folders, "of a .cu file: a folder of headers; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  sub.add_option("--compile-seconds", options.seconds,
                 "of a .cu file: CPU seconds that the compiler may take")
      ->check(CLI::Range(1U, 100000U))
      ->default_str(std::to_string(most_seconds));
}

bool is_cuda_source(std::string const& file) { return std::filesystem::path(file).extension() == ".cu"; }

void refuse_source_by_name(std::string const& file) {
  std::filesystem::path const path(file);
  std::string kind = path.extension().string();
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if ((kind != ".cu" && kind != ".cuh") || is_cuda_source(file)) return;
  static_cast<void>(read_file(file));  // one that is not there has the message of every file
  std::string const source = std::filesystem::path(path).replace_extension(".cu").string();
  if (kind == ".cu")
    throw InputError::whole("the name of CUDA source ends in .cu", file,
                            fmt::format("mv {} {} && swizproof kernel {}", file, source, source));
  throw InputError::whole(
      "this is a header of CUDA source, which no compiler takes alone", file,
      fmt::format("give a .cu file that includes it: echo '#include \"{}\"' >{} && swizproof kernel {}; "
                  "templates need an explicit instantiation there",
                  path.filename().string(), source, source));
}

void refuse_without_source(CompilerOptions const& options, std::vector<std::string> const& files) {
  if (options.flags.empty() && options.folders.empty() && !options.seconds) return;
  if (std::none_of(files.begin(), files.end(), is_cuda_source))
    throw InputError::whole("no file is CUDA source, and these words are of its compiler",
                            !options.flags.empty() ? options.flags.front()
                            : !options.folders.empty()
                                ? "-I " + options.folders.front()
                                : fmt::format("--compile-seconds {}", *options.seconds),
                            "give a .cu file, or leave --nvcc-flags, -I and --compile-seconds out");
}

CompiledSource compiled(std::string const& file, CompilerOptions const& options) {
  static_cast<void>(read_file(file));  // one that is not there has the message of every file
  TemporaryFile const out(std::filesystem::temp_directory_path().string(), ".ptx");
  TemporaryFile const list(std::filesystem::temp_directory_path().string(), ".d");
  std::vector<std::string> words = command_line(file, options);
  std::string const command = fmt::format("{} {}", fmt::join(words, " "), file);
  if (options.lists_files) words.insert(words.end(), {"-MD", "-MF", list.path()});
  words.insert(words.end(), {file, "-o", out.path()});
  std::string const tool = std::filesystem::path(words[0]).filename();
  unsigned const seconds = options.seconds.value_or(most_seconds);
  ProcessResult const run = run_process(words, seconds, most_megabytes);
  if (run.end == ProcessResult::End::timed_out)
    throw CompilerLimit(fmt::format("{} took more than {} s; --compile-seconds N gives more", tool, seconds));
  std::string const said = run.output;
  bool const no_memory = said.find("bad_alloc") != said.npos || said.find("out of memory") != said.npos ||
                         said.find("Cannot allocate memory") != said.npos;
  if (run.end == ProcessResult::End::killed || (run.code != 0 && no_memory))
    throw CompilerLimit(
        fmt::format("{} was ended, or had not enough of {} MiB of memory", tool, most_megabytes));
  if (run.end != ProcessResult::End::exited || run.code != 0)
    throw InputError::whole(
        fmt::format("{} does not compile it", tool), file,
        said.empty() ? fmt::format("it ended with code {}", run.code) : first_lines(said, 20));
  CompiledSource source{read_file(out.path(), 1024), command, {file}};
  if (options.lists_files) source.read = files_in(read_file(list.path()));
  if (source.text.empty())
    throw InputError::whole(fmt::format("{} wrote no PTX", tool), file,
                            "leave -cubin, -E and other outputs out of --nvcc-flags");
  return source;
}

}  // namespace swizproof::command
