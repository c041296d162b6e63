// CUDA source, compiled to PTX.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace swizproof::command {

/// Words for the compiler of a .cu file.
struct CompilerOptions {
  std::string arch = "sm_90";          ///< name of the architecture
  std::vector<std::string> flags{};    ///< of --nvcc-flags, each text one or several words
  std::vector<std::string> folders{};  ///< of -I
  std::optional<unsigned> seconds{};   ///< of CPU time; `most_seconds` if not given
  bool lists_files = false;            ///< the files that the source includes are wanted
};

/// PTX of a source, the command line that wrote it, and the files that it was read from, if the options want them.
struct CompiledSource {
  std::string text{}, command{};
  std::vector<std::string> read{};
};

/// A compiler that was ended at its limit of time or memory: the file is not decided.
struct CompilerLimit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Adds --nvcc-flags, --include and --compile-seconds to a command.
void add_compiler_to(CLI::App& sub, CompilerOptions& options);

/// True for a file whose name ends in .cu.
[[nodiscard]] bool is_cuda_source(std::string const& file);

/// Throws InputError for a header of CUDA source, and for source under a name that compilers do not take as such: a.cuh, a.CU. Checked by
/// tests/program/cuda_source.
void refuse_source_by_name(std::string const& file);

/// Throws InputError for options of the compiler where no file is compiled. Checked by tests/program/cuda_source.
void refuse_without_source(CompilerOptions const& options, std::vector<std::string> const& files);

/// PTX of a .cu file, with the lines of the source. nvcc compiles it, of the PATH, of CUDA_HOME, CUDA_PATH or /usr/local/cuda, else clang++ of the
/// PATH, within the seconds of the options and 8 GiB. Throws InputError with what the compiler says, and if no compiler is found; CompilerLimit.
/// Checked by tests/program/cuda_source.
[[nodiscard]] CompiledSource compiled(std::string const& file, CompilerOptions const& options);

}  // namespace swizproof::command
