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

/// Output of `cuobjdump -ptx`.
std::string dump_of(std::string const& file) {
  if (!has_program("cuobjdump"))
    throw InputError::whole(
        "reading PTX from a binary needs cuobjdump of the CUDA toolkit, which is not in the PATH", file,
        "add the toolkit's bin folder to PATH, or write the PTX with nvcc -ptx -lineinfo");
  TemporaryFile const out(std::filesystem::temp_directory_path().string(), ".ptx");
  ProcessResult const run = run_process({"sh", "-c", "exec cuobjdump -ptx \"$1\" >\"$2\"", "sh",
                                         std::filesystem::absolute(file).string(), out.path()},
                                        300, 8192);
  if (run.end == ProcessResult::End::timed_out)
    throw InputError::whole("cuobjdump took more than 300 s", file);
  std::string text = read_file(out.path(), 1024);
  if (run.end != ProcessResult::End::exited || run.code != 0)
    throw InputError::whole(fmt::format("cuobjdump failed: {}", run.output.substr(0, run.output.find('\n'))),
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

}  // namespace

std::vector<PtxText> ptx_of(std::string const& file) {
  if (std::filesystem::path(file).extension() == ".cu")
    throw InputError::whole("this is CUDA source, not PTX", file,
                            "compile it: nvcc -ptx -lineinfo -arch=sm_90a");
  if (!is_binary(file)) return {{file, "", read_file(file)}};
  std::string const dump = dump_of(file);
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
  if (modules.empty())
    throw InputError::whole("there is machine code in it and no PTX", file,
                            "keep the PTX: nvcc -gencode arch=compute_90a,code=compute_90a");
  return modules;
}

}  // namespace swizproof::command
