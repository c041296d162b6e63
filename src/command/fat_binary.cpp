#include "command/fat_binary.hpp"

#include "system/process.hpp"
#include "system/temporary_file.hpp"
#include "system/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace swizproof::command {

namespace {

bool is_binary(std::string const& file) {
  std::array<char, 8> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), head.size());
  std::string_view const text(head.data(), head.size());
  return text.starts_with(
             "\x7f"
             "ELF") ||
         text == "!<arch>\n";
}

/// True for a cubin: ELF for CUDA's machine.
bool is_cubin(std::string const& file) {
  std::array<char, 20> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), head.size());
  return is_binary(file) && head[18] == '\xbe' && head[19] == 0;
}

/// Output of a tool of the CUDA toolkit, as `cuobjdump -ptx`; `instead` is what a user can do without it.
std::string dump_of(std::string const& file, std::string const& tool, std::string const& options,
                    std::string const& what, std::string const& instead) {
  if (!has_program(tool))
    throw InputError::whole(
        fmt::format("reading {} from a binary needs {} of the CUDA toolkit, which is not in the PATH", what,
                    tool),
        file, fmt::format("add the toolkit's bin folder to PATH, or {}", instead));
  TemporaryFile const out(std::filesystem::temp_directory_path().string(), ".dump");
  ProcessResult const run = run_process({"sh", "-c", fmt::format("exec {} {} \"$1\" >\"$2\"", tool, options),
                                         "sh", std::filesystem::absolute(file).string(), out.path()},
                                        300, 8192);
  if (run.end == ProcessResult::End::timed_out)
    throw InputError::whole(fmt::format("{} took more than 300 s", tool), file);
  std::string text = read_file(out.path(), 1024);
  if (run.end != ProcessResult::End::exited || run.code != 0)
    throw InputError::whole(fmt::format("{} failed: {}", tool, run.output.substr(0, run.output.find('\n'))),
                            file);
  return text;
}

/// The value of `key = value` in the head of a module; empty if it has none.
std::string value_of(std::string_view head, std::string_view key) {
  std::size_t const at = head.find(fmt::format("\n{} = ", key));
  if (at == head.npos) return {};
  std::string_view value = head.substr(at + key.size() + 4);
  value = value.substr(0, value.find('\n'));
  return std::string(value.substr(0, value.find_last_not_of(' ') + 1));
}

/// Modules of PTX in a binary; none, if it has machine code alone.
std::vector<PtxText> ptx_modules(std::string const& file) {
  std::string const dump =
      dump_of(file, "cuobjdump", "-ptx", "PTX", "write the PTX with nvcc -ptx -lineinfo");
  constexpr std::string_view begin = "\nFatbin ptx code:\n================";
  std::vector<PtxText> modules;
  for (std::size_t at = dump.find(begin); at != dump.npos; at = dump.find(begin, at)) {
    at += begin.size();
    std::size_t const text = std::min(dump.find("\n\n", at), dump.size() - 1) + 1;
    std::size_t const end =
        std::min({dump.find("\nFatbin ", text), dump.find("\nmember ", text), dump.size()});
    std::string const head = dump.substr(at, text - at);
    std::string part = std::filesystem::path(value_of(head, "identifier")).filename();
    part += (part.empty() ? "" : ", ") + value_of(head, "arch");
    modules.push_back({fmt::format("{} ({})", file, part), part, dump.substr(text, end - text)});
  }
  return modules;
}

/// Modules of SASS in a binary, as `cuobjdump -sass` prints them.
std::vector<PtxText> sass_modules(std::string const& file) {
  std::string const dump = dump_of(file, "cuobjdump", "-sass", "machine code",
                                   "give a dump of it: cuobjdump -sass FILE >FILE.sass");
  constexpr std::string_view begin = "\tcode for ";
  std::vector<PtxText> modules;
  for (std::size_t at = dump.find(begin); at != dump.npos;) {
    std::size_t const next = dump.find(begin, at + 1);
    std::size_t const end =
        std::min({dump.find("\nFatbin ", at), dump.find("\nmember ", at), next, dump.size()});
    std::size_t const arch = at + begin.size();
    std::string const part =
        fmt::format("{}, {}", dump.substr(arch, dump.find_first_of("\r\n", arch) - arch), modules.size() + 1);
    std::string text = dump.substr(at, end - at);
    if (text.find("Function : ") != text.npos)
      modules.push_back({fmt::format("{} ({})", file, part), part, std::move(text)});
    at = next;
  }
  return modules;
}

}  // namespace

std::vector<PtxText> code_of(std::string const& file, bool machine) {
  if (is_cubin(file))
    return {{file, "cubin",
             dump_of(file, "nvdisasm", "-g", "machine code",
                     "give a dump of it: nvdisasm -g FILE.cubin >FILE.sass")}};
  if (!is_binary(file)) return ptx_of(file);
  std::vector<PtxText> modules = machine ? std::vector<PtxText>{} : ptx_modules(file);
  if (modules.empty()) modules = sass_modules(file);
  if (modules.empty()) throw InputError::whole("there is neither PTX nor machine code of a GPU in it", file);
  return modules;
}

std::vector<PtxText> ptx_of(std::string const& file) {
  if (std::filesystem::path(file).extension() == ".cu")
    throw InputError::whole("this is CUDA source, not PTX", file,
                            "compile it: nvcc -ptx -lineinfo -arch=sm_90a");
  if (is_cubin(file))
    throw InputError::whole("a cubin holds machine code and no PTX", file, "nvcc -ptx writes PTX");
  if (!is_binary(file)) return {{file, "", read_file(file)}};
  std::vector<PtxText> modules = ptx_modules(file);
  if (modules.empty())
    throw InputError::whole("there is machine code in it and no PTX", file,
                            "keep the PTX: nvcc -gencode arch=compute_90a,code=compute_90a");
  return modules;
}

}  // namespace swizproof::command
