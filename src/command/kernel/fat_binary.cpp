#include "command/kernel/fat_binary.hpp"

#include "system/process.hpp"
#include "system/temporary_file.hpp"
#include "system/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

namespace swizproof::command {

namespace {

/// A file, and what messages and parts call it: of a wheel's member the wheel's path and the member's name.
struct Binary {
  std::string path{};
  std::string shown{};
  std::string member{};  ///< empty for a file of its own
};

/// The first bytes of a file; of a pipe, which can be read once, zeros.
std::array<char, 20> head_of(std::string const& path) {
  std::array<char, 20> head{};
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error))
    std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  return head;
}
bool starts_with(std::string const& path, std::string_view magic) {
  std::array<char, 20> const head = head_of(path);
  return std::string_view(head.data(), head.size()).starts_with(magic);
}
bool is_binary(std::string const& path) {
  return starts_with(path,
                     "\x7f"
                     "ELF") ||
         starts_with(path, "!<arch>\n");
}

/// True for a cubin: ELF for CUDA's machine.
bool is_cubin(std::string const& path) {
  std::array<char, 20> const head = head_of(path);
  return is_binary(path) && head[18] == '\xbe' && head[19] == 0;
}

/// True for a wheel, as every zip archive.
bool is_wheel(std::string const& path) { return starts_with(path, "PK\x03\x04"); }

/// A program that reads a kind of file.
struct Tool {
  std::string name{};
  std::string reads{};    ///< for a message: `machine code from a binary needs nvdisasm of the CUDA toolkit`
  std::string without{};  ///< likewise: the way without it
};

/// Runs a tool, its standard output going to the file `out`, within 300 s of CPU time and 8 GiB of memory. Throws InputError about
/// `shown` if there is no such tool, or if it takes longer.
ProcessResult run_tool(Tool const& tool, std::vector<std::string> const& arguments, std::string const& out,
                       std::string const& shown) {
  if (!has_program(tool.name))
    throw InputError::whole(fmt::format("reading {}, which is not in the PATH", tool.reads), shown,
                            tool.without);
  std::vector<std::string> words{"sh", "-c", "out=$1; shift; exec \"$@\" >\"$out\"", "sh", out, tool.name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ProcessResult run = run_process(words, 300, 8192);
  if (run.end == ProcessResult::End::timed_out)
    throw InputError::whole(fmt::format("{} took more than 300 s", tool.name), shown);
  return run;
}
[[noreturn]] void refuse_failure(Tool const& tool, ProcessResult const& run, std::string const& shown) {
  throw InputError::whole(
      fmt::format("{} failed: {}", tool.name, run.output.substr(0, run.output.find('\n'))), shown);
}
bool failed(ProcessResult const& run) { return run.end != ProcessResult::End::exited || run.code != 0; }

/// Output of a tool of the CUDA toolkit about a binary, as `cuobjdump -ptx`; empty if the binary has no code of a GPU. `instead` is what
/// a user can do without the tool.
std::string dump_of(Binary const& file, std::string const& name, std::string const& option,
                    std::string const& what, std::string const& instead) {
  Tool const tool{name, fmt::format("{} from a binary needs {} of the CUDA toolkit", what, name),
                  fmt::format("add the toolkit's bin folder to PATH, or {}", instead)};
  TemporaryFile const out(std::filesystem::temp_directory_path().string(), ".dump");
  ProcessResult const run =
      run_tool(tool, {option, std::filesystem::absolute(file.path).string()}, out.path(), file.shown);
  std::string text = read_file(out.path(), 1024);
  if (!failed(run)) return text;
  if ((run.output + text).find("does not contain device code") != std::string::npos) return {};
  refuse_failure(tool, run, file.shown);
}

/// Names of the files in a wheel that may hold code of a GPU, in the order of the archive.
std::vector<std::string> members_of(Tool const& unzip, std::string const& wheel) {
  TemporaryFile const out(std::filesystem::temp_directory_path().string(), ".list");
  ProcessResult const run =
      run_tool(unzip, {"-Z1", std::filesystem::absolute(wheel).string()}, out.path(), wheel);
  if (failed(run)) refuse_failure(unzip, run, wheel);
  std::vector<std::string> members;
  std::istringstream lines(read_file(out.path(), 64));
  for (std::string name; std::getline(lines, name);) {
    std::string const file = std::filesystem::path(name).filename().string();
    std::string const ending = std::filesystem::path(name).extension().string();
    bool const program = ending.empty() || ending == ".so" || file.find(".so.") != file.npos;
    if (program || ending == ".cubin" || ending == ".a" || ending == ".o" || ending == ".ptx" ||
        ending == ".sass")
      members.push_back(std::move(name));
  }
  return members;
}

/// A member's name as a pattern of unzip that no other name matches.
std::string quoted_pattern(std::string const& member) {
  std::string out;
  for (char const c : member)
    out += (std::string_view("*?[]\\").find(c) == std::string_view::npos ? "" : "\\") + std::string(1, c);
  return out;
}

/// The value of `key = value` in the head of a module; empty if it has none.
std::string value_of(std::string_view head, std::string_view key) {
  std::size_t const at = head.find(fmt::format("\n{} = ", key));
  if (at == head.npos) return {};
  std::string_view value = head.substr(at + key.size() + 4);
  value = value.substr(0, value.find('\n'));
  return std::string(value.substr(0, value.find_last_not_of(' ') + 1));
}

/// A module of a binary, or of a member of a wheel.
PtxText named(Binary const& file, std::string const& part, std::string text) {
  std::string const whole = file.member.empty() ? part : file.member + (part.empty() ? "" : ", " + part);
  return {fmt::format("{} ({})", file.shown, whole), whole, std::move(text)};
}

/// Modules of PTX in what `cuobjdump -ptx` prints. With `lines` they keep the lines that they have there.
std::vector<PtxText> modules_in(std::string const& dump, Binary const& file, bool lines) {
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
    auto const before =
        lines ? std::count(dump.begin(), dump.begin() + static_cast<std::ptrdiff_t>(text), '\n') : 0;
    modules.push_back(named(
        file, part, std::string(static_cast<std::size_t>(before), '\n') + dump.substr(text, end - text)));
  }
  return modules;
}

/// Modules of PTX in a binary; none, if it has machine code alone.
std::vector<PtxText> ptx_modules(Binary const& file) {
  return modules_in(dump_of(file, "cuobjdump", "-ptx", "PTX", "write the PTX with nvcc -ptx -lineinfo"), file,
                    false);
}

/// A file of text: PTX, or what cuobjdump printed of a binary.
std::vector<PtxText> text_modules(std::string const& file) {
  std::string text = read_file(file);
  auto modules = modules_in(text, {file, file}, true);
  if (modules.empty()) modules.push_back({file, "", std::move(text)});
  return modules;
}

/// Modules of SASS in a binary, as `cuobjdump -sass` prints them.
std::vector<PtxText> sass_modules(Binary const& file) {
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
    if (text.find("Function : ") != text.npos) modules.push_back(named(file, part, std::move(text)));
    at = next;
  }
  return modules;
}

/// The machine code of a cubin, as nvdisasm -g prints it.
std::string machine_code(Binary const& cubin) {
  return dump_of(cubin, "nvdisasm", "-g", "machine code",
                 "give a dump of it: nvdisasm -g FILE.cubin >FILE.sass");
}

/// Code of a GPU in a binary; none if it has none.
std::vector<PtxText> modules_of(Binary const& file, bool machine) {
  std::vector<PtxText> modules = machine ? std::vector<PtxText>{} : ptx_modules(file);
  return modules.empty() ? sass_modules(file) : modules;
}

/// Code of a GPU in the files of a wheel, each unpacked by unzip while it is read.
std::vector<PtxText> wheel_modules(std::string const& wheel, bool machine) {
  Tool const unzip{"unzip", "a wheel needs unzip",
                   "install it, or unpack the wheel: python3 -m zipfile -e FILE.whl FOLDER"};
  std::vector<PtxText> all;
  for (std::string const& member : members_of(unzip, wheel)) {
    TemporaryFile const out(std::filesystem::temp_directory_path().string(), ".member");
    ProcessResult const run = run_tool(
        unzip, {"-p", std::filesystem::absolute(wheel).string(), quoted_pattern(member)}, out.path(), wheel);
    if (failed(run)) refuse_failure(unzip, run, wheel);
    Binary const file{out.path(), wheel, member};
    std::vector<PtxText> modules;
    if (is_cubin(file.path))
      modules.push_back(named(file, "", machine_code(file)));
    else if (is_binary(file.path))
      modules = modules_of(file, machine);
    else if (member.ends_with(".ptx") || member.ends_with(".sass"))
      modules.push_back(named(file, "", read_file(file.path)));
    std::move(modules.begin(), modules.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<PtxText> code_of(std::string const& file, bool machine) {
  if (is_cubin(file)) return {{file, "cubin", machine_code({file, file})}};
  bool const wheel = is_wheel(file);
  if (!wheel && !is_binary(file)) return ptx_of(file);
  std::vector<PtxText> modules = wheel ? wheel_modules(file, machine) : modules_of({file, file}, machine);
  if (modules.empty()) throw InputError::whole("there is neither PTX nor machine code of a GPU in it", file);
  return modules;
}

std::vector<PtxText> ptx_of(std::string const& file) {
  if (is_cubin(file))
    throw InputError::whole("a cubin holds machine code and no PTX", file, "nvcc -ptx writes PTX");
  if (!is_binary(file)) return text_modules(file);
  std::vector<PtxText> modules = ptx_modules({file, file});
  if (modules.empty())
    throw InputError::whole("there is machine code in it and no PTX", file,
                            "keep the PTX: nvcc -gencode arch=compute_90a,code=compute_90a");
  return modules;
}

}  // namespace swizproof::command
