// swizproof-trace: runs a program unchanged and writes what its kernels asked of shared memory.
//
//   PROGRAM with libswizproof-trace.so preloaded -> PID.raw, PID-N.cubin -> nvdisasm -> FILE, a line for each instruction
//                                                                               `-> with --sass, the code of the traced kernels
#include "record.hpp"
#include "trace/demangled.hpp"
#include "campaign/digest.hpp"
#include "trace/table.hpp"

#include <swizproof/hardware/bank.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <regex.h>
#include <set>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace swizproof::trace {
namespace {

using gpu::Failure;
using gpu::quoted;
namespace fs = std::filesystem;

constexpr char usage[] =
    "swizproof-trace [--kernel REGEX] [--launches N] [--out FILE] [--sass FILE] [--no-children] -- PROGRAM "
    "[ARG...]\n"
    "  Runs PROGRAM unchanged and writes what each warp instruction of its kernels asked of shared memory, "
    "and at what cost.\n"
    "  --kernel REGEX   only kernels whose demangled name the POSIX extended expression finds\n"
    "  --launches N     only the first N launches of each kernel\n"
    "  --out FILE       swizproof.trace; a child process with kernels of its own writes FILE.PID\n"
    "  --sass FILE      write the machine code of the traced kernels, too: swizproof crosscheck TRACE FILE\n"
    "  --no-children    only PROGRAM itself\n"
    "  Read it with: swizproof explain FILE\n";

struct Options {
  std::string kernels, out = "swizproof.trace", sass;
  std::uint64_t launches = 0;
  bool children = true;
  std::vector<char*> program;
};

Options parse(int argc, char** argv) {
  Options options;
  int i = 1;
  auto const value = [&]() -> std::string {
    if (i + 1 >= argc) throw Failure{std::string(argv[i]) + " needs a value"};
    return argv[++i];
  };
  for (; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--") break;
    if (word == "--kernel") {
      options.kernels = value();
      regex_t compiled;
      if (int const error = regcomp(&compiled, options.kernels.c_str(), REG_EXTENDED | REG_NOSUB);
          error != 0) {
        char text[200];
        regerror(error, &compiled, text, sizeof text);
        throw Failure{"--kernel " + options.kernels + ": " + text};
      }
      regfree(&compiled);
    } else if (word == "--launches") {
      std::string const text = value();
      auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), options.launches);
      if (error != std::errc{} || end != text.data() + text.size() || options.launches == 0)
        throw Failure{"--launches " + text + ": a number from 1 on is expected"};
    } else if (word == "--out") {
      options.out = value();
    } else if (word == "--sass") {
      options.sass = value();
    } else if (word == "--no-children") {
      options.children = false;
    } else if (word == "--help" || word == "-h") {
      std::fputs(usage, stdout);
      std::exit(0);
    } else {
      throw Failure{"unknown option " + word + "; the program stands behind --"};
    }
  }
  for (++i; i < argc; ++i) options.program.push_back(argv[i]);
  if (options.program.empty())
    throw Failure{"no program; write swizproof-trace [OPTION...] -- PROGRAM [ARG...]"};
  options.program.push_back(nullptr);
  return options;
}

/// True if there is a GPU, without making a context: the driver's library and its count.
void require_gpu() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  auto const init =
      driver == nullptr ? nullptr : reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  if (init == nullptr || init(0) != 0) throw Failure{"there is no usable GPU here", 77};
}

std::string own_folder() { return fs::read_symlink("/proc/self/exe").parent_path().string(); }

std::string preload_library() {
  for (std::string const& path :
       {own_folder() + "/libswizproof-trace.so", own_folder() + "/../lib/libswizproof-trace.so"})
    if (fs::exists(path)) {
      if (path.find_first_of(" :") != path.npos)
        throw Failure{path + ": LD_PRELOAD takes no path with a blank or a colon", 77};
      // Now, so that a library of another version, which lacks a function, is known before the program runs.
      if (dlopen(path.c_str(), RTLD_NOW) == nullptr)
        throw Failure{std::string("no sanitizer library of this toolkit's version: ") + dlerror(), 77};
      return path;
    }
  throw Failure{"libswizproof-trace.so is not in the program's folder", 77};
}

/// A folder in TMPDIR that goes with its owner.
class Folder {
 public:
  Folder() : path(fs::temp_directory_path() / "swizproof-trace-XXXXXX") {
    if (mkdtemp(path.data()) == nullptr) throw Failure{path + ": cannot be made: " + std::strerror(errno)};
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string path;
};

pid_t child = 0;

/// Forwards a signal to the program, for which it was meant. A terminal sends its own to both.
void pass_on(int signal, siginfo_t* how, void*) {
  if (child > 0 && how->si_code <= 0) kill(child, signal);
}
void pass_on_all() {
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (int const signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT})
    sigaction(signal, &action, nullptr);
}

/// A program that has ended.
struct Ended {
  pid_t process;
  int status;  ///< as waitpid() says it
};

Ended run(Options const& options, std::string const& library, std::string const& folder) {
  child = fork();
  if (child < 0) throw Failure{std::string("cannot start a process: ") + std::strerror(errno)};
  if (child == 0) {
    char const* const before = std::getenv("LD_PRELOAD");
    setenv("LD_PRELOAD",
           before == nullptr || *before == 0 ? library.c_str() : (library + ":" + before).c_str(), 1);
    setenv("SWIZPROOF_TRACE_FOLDER", folder.c_str(), 1);
    if (!options.kernels.empty()) setenv("SWIZPROOF_TRACE_KERNELS", options.kernels.c_str(), 1);
    if (options.launches != 0)
      setenv("SWIZPROOF_TRACE_LAUNCHES", std::to_string(options.launches).c_str(), 1);
    if (!options.children) setenv("SWIZPROOF_TRACE_ONLY", std::to_string(getpid()).c_str(), 1);
    execvp(options.program[0], options.program.data());
    std::fprintf(stderr, "swizproof-trace: %s: %s\n", options.program[0], std::strerror(errno));
    std::_Exit(errno == ENOENT ? 127 : 126);
  }
  pass_on_all();
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Failure{std::string("cannot wait for the program: ") + std::strerror(errno)};
  for (int const signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP})
    std::signal(signal, SIG_DFL);  // now meant for the tracer
  return {std::exchange(child, 0), status};
}

// ------------------------------------------------------------------------------------ what the library wrote

struct Function {
  int module = 0;
  std::uint64_t launches = 0;
  std::array<unsigned, 6> extents{};
  std::string name;
};

struct Asked {
  std::uint64_t executed = 0;
  unsigned wavefronts = 0;
  std::uint32_t active = 0;
  std::array<std::uint32_t, warp_lanes> address{};
};

struct Instruction {
  int function = -1;
  std::uint64_t pc = 0, not_kept = 0;
  Code code{};
  Asked worst;
  std::array<std::uint64_t, most_wavefronts + 1> distribution{};
  std::vector<Asked> patterns;
};

struct Raw {
  std::string device, architecture;
  std::vector<std::string> failures;
  std::vector<Function> functions;
  std::vector<Instruction> instructions;
  std::uint64_t dropped = 0;
  bool lost = false;  ///< a table could not be read
};

std::istream& operator>>(std::istream& in, std::array<std::uint32_t, warp_lanes>& addresses) {
  for (auto& address : addresses) in >> address;
  return in;
}

/// Nothing if the file is not whole.
std::optional<Raw> read_raw(fs::path const& path) {
  Raw raw;
  std::ifstream in(path);
  for (std::string word; in >> word;) {
    if (word == "device" || word == "architecture") {
      in.get();
      std::getline(in, word == "device" ? raw.device : raw.architecture);
    } else if (word == "failure") {
      std::getline(in, raw.failures.emplace_back());
    } else if (word == "function") {
      Function function;
      int number = 0;
      in >> number >> function.module >> function.launches;
      for (unsigned& extent : function.extents) in >> extent;
      in.get();
      std::getline(in, function.name);
      raw.functions.push_back(std::move(function));
    } else if (word == "instruction") {
      Instruction& one = raw.instructions.emplace_back();
      unsigned kind = 0, bytes = 0, matrices = 0;
      in >> one.function >> one.pc >> kind >> bytes >> matrices >> one.not_kept >> one.worst.wavefronts >>
          one.worst.active >> one.worst.address;
      one.code = {static_cast<Kind>(kind), static_cast<std::uint8_t>(bytes),
                  static_cast<std::uint8_t>(matrices), 0};
      for (auto& times : one.distribution) in >> times;
    } else if (word == "pattern" && !raw.instructions.empty()) {
      Asked& pattern = raw.instructions.back().patterns.emplace_back();
      in >> pattern.executed >> pattern.wavefronts >> pattern.active >> pattern.address;
    } else if (word == "lost") {
      raw.lost = true;
    } else if (word == "dropped") {
      in >> raw.dropped;
    } else {
      return word == "end" ? std::optional(std::move(raw)) : std::nullopt;
    }
  }
  return std::nullopt;
}

// ------------------------------------------------------------------------------------ the disassembly

struct Line {
  std::string sass, file;
  unsigned line = 0;
};
using Listing = std::map<std::string, std::map<std::uint64_t, Line>>;  ///< by function and offset

/// A path in single quotes for the shell.
std::string shell_quoted(std::string const& text) {
  std::string out = "'";
  for (char const c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The sections of a dump that belong to functions, each once: their code, parameters and shared memory. The dump's first lines,
/// which name its architecture, stand before the first section.
class KeptSections {
 public:
  /// Takes the dump of one more module.
  void begin(std::set<std::string> const& wanted) {
    wanted_ = &wanted;
    part_.clear();
    taken_ = true;
  }
  /// Takes a line with its end.
  void line(std::string_view row) {
    constexpr std::string_view head = "//--------------------- ";
    if (row.substr(0, head.size()) == head) {
      end();
      std::string_view const name = row.substr(head.size(), row.find(' ', head.size()) - head.size());
      taken_ = false;
      for (std::string_view const kind : {".text.", ".nv.info.", ".nv.shared.", ".nv.constant0."})
        taken_ = taken_ || (name.substr(0, kind.size()) == kind &&
                            wanted_->contains(std::string(name.substr(kind.size()))));
    }
    if (taken_) part_ += row;
  }
  void end() {
    if (!part_.empty() && known_.insert(part_).second) text_ += part_;
    part_.clear();
  }
  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  std::set<std::string> const* wanted_ = nullptr;
  std::set<std::string> known_{};  ///< modules may have a kernel in common
  std::string part_{}, text_{};
  bool taken_ = false;
};

/// The lines of nvdisasm's output that are instructions and their source.
class ListingReader {
 public:
  explicit ListingReader(std::set<std::string> const& wanted) : wanted_(wanted) {}
  void line(std::string_view row) {
    while (!row.empty() && (row.back() == '\n' || row.back() == ' ')) row.remove_suffix(1);
    std::size_t const begin = row.find_first_not_of(" \t");
    if (begin == row.npos) return;
    row.remove_prefix(begin);
    if (row.substr(0, 8) == ".section") {
      function_.clear();
    } else if (row.substr(0, 6) == ".text." && row.back() == ':') {
      function_ = std::string(row.substr(6, row.size() - 7));
      file_.clear();
      number_ = 0;
    } else if (row.substr(0, 10) == "//## File ") {
      location(row);
    } else if (row.substr(0, 2) == "/*" && row.find("*/") != row.npos && !function_.empty()) {
      instruction(row);
    }
  }
  Listing listing{};

 private:
  /// The innermost of inlined functions comes first.
  void location(std::string_view row) {
    if (!behind_instruction_) return;
    behind_instruction_ = false;
    std::size_t const from = row.find('"'), to = row.find('"', from + 1), number = row.find("line ", to);
    if (to == row.npos || number == row.npos) return;
    file_ = std::string(row.substr(from + 1, to - from - 1));
    number_ = static_cast<unsigned>(std::strtoul(row.data() + number + 5, nullptr, 10));
  }
  void instruction(std::string_view row) {
    std::size_t const end = row.find("*/");
    char* stop = nullptr;
    std::uint64_t const offset = std::strtoull(row.data() + 2, &stop, 16);
    if (stop != row.data() + end) return;
    std::string_view sass = row.substr(end + 2);
    sass.remove_prefix(std::min(sass.find_first_not_of(" \t"), sass.size()));
    sass = sass.substr(0, sass.find(';'));
    while (!sass.empty() && sass.back() == ' ') sass.remove_suffix(1);
    if (sass.empty() || !wanted_.contains(function_)) return;
    listing[function_][offset] = {std::string(sass), file_, number_};
    behind_instruction_ = true;
  }
  std::set<std::string> const& wanted_;
  std::string function_{}, file_{};
  unsigned number_ = 0;
  bool behind_instruction_ = true;
};

/// Output of nvdisasm for functions of a module; empty where there is no nvdisasm. What crosscheck reads of it goes to `kept`.
Listing disassemble(fs::path const& cubin, std::set<std::string> const& wanted, KeptSections* kept) {
  std::string program = "nvdisasm";
  if (fs::exists(SWIZPROOF_NVDISASM)) program = SWIZPROOF_NVDISASM;
  std::string const command = shell_quoted(program) + (kept != nullptr ? " -g " : " -g -c ") +
                              shell_quoted(cubin.string()) + " 2>/dev/null";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const pipe(popen(command.c_str(), "r"), &pclose);
  ListingReader reader(wanted);
  if (pipe == nullptr) return {};
  if (kept != nullptr) kept->begin(wanted);
  char* text = nullptr;
  std::size_t room = 0;
  while (getline(&text, &room, pipe.get()) >= 0) {
    reader.line(text);
    if (kept != nullptr) kept->line(text);
  }
  std::free(text);
  if (kept != nullptr) kept->end();
  return std::move(reader.listing);
}

// ------------------------------------------------------------------------------------ the trace

std::optional<swizproof::Instruction> modelled(Code code, std::string const& sass) {
  if (code.kind > Kind::cp_async) return std::nullopt;
  swizproof::Instruction instruction{static_cast<Operation>(code.kind), code.bytes, code.matrices};
  instruction.transposed = code.matrices != 0 && sass.find(".MT88") != sass.npos;
  return instruction;
}

std::string op_of(Code code, std::string const& sass) {
  if (auto const instruction = modelled(code, sass)) return to_string(*instruction);
  switch (code.kind) {
    case Kind::atomic:
      return "atom.shared.b" + std::to_string(8 * code.bytes);
    case Kind::wgmma:
      return "wgmma";
    case Kind::bulk_to_shared:
      return "cp.async.bulk.shared.global";
    case Kind::bulk_to_global:
      return "cp.async.bulk.global.shared";
    case Kind::bulk_between_shared:
      return "cp.async.bulk.shared.shared";
    case Kind::bulk_reduction:
      return "cp.reduce.async.bulk";
    case Kind::remote:
      return "ld.st.shared::cluster";
    case Kind::remote_reduction:
      return "red.async";
    case Kind::bulk_store:
      return "st.bulk.shared";
    default:
      return "st.async";
  }
}

std::string addresses(Asked const& asked) {
  std::string out = "[";
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    out += (lane == 0 ? "" : ", ") +
           ((asked.active >> lane & 1) != 0 ? std::to_string(asked.address[lane]) : "null");
  return out + "]";
}

/// One line of the trace, without the source: sums from the patterns and from what was not kept.
std::string line_of(Instruction& one, Raw const& raw, Line const& source) {
  auto const instruction = modelled(one.code, source.sass);
  std::uint64_t executed = one.not_kept, wavefronts = 0;
  for (Asked const& pattern : one.patterns) {
    executed += pattern.executed;
    if (instruction) one.distribution[pattern.wavefronts] += pattern.executed;
  }
  std::sort(one.patterns.begin(), one.patterns.end(), [](Asked const& a, Asked const& b) {
    return a.wavefronts != b.wavefronts ? a.wavefronts > b.wavefronts : a.executed > b.executed;
  });
  Asked worst = one.worst;
  if (!one.patterns.empty() && one.patterns.front().wavefronts >= worst.wavefronts)
    worst = one.patterns.front();
  std::string distribution;
  for (std::size_t cost = 0; instruction && cost < one.distribution.size(); ++cost) {
    wavefronts += cost * one.distribution[cost];
    if (one.distribution[cost] == 0) continue;
    distribution += (distribution.empty() ? "\"" : ", \"") + std::to_string(cost) +
                    "\": " + std::to_string(one.distribution[cost]);
  }
  Function const& function = raw.functions[static_cast<std::size_t>(one.function)];
  std::ostringstream out;
  auto const extents = [&](std::size_t from) {
    auto const& e = function.extents;
    return "[" + std::to_string(e[from]) + ", " + std::to_string(e[from + 1]) + ", " +
           std::to_string(e[from + 2]) + "]";
  };
  out << "{\"kernel\": " << quoted(demangled(function.name)) << ", \"launches\": " << function.launches
      << ", \"grid\": " << extents(0) << ", \"block\": " << extents(3) << ", \"pc\": " << one.pc
      << ", \"sass\": " << (source.sass.empty() ? "null" : quoted(source.sass))
      << ", \"file\": " << (source.file.empty() ? "null" : quoted(source.file))
      << ", \"line\": " << (source.file.empty() ? "null" : std::to_string(source.line))
      << ", \"op\": " << quoted(op_of(one.code, source.sass)) << ", \"executed\": " << executed
      << ", \"wavefronts\": " << (instruction ? std::to_string(wavefronts) : "null") << ", \"ideal\": "
      << (instruction ? std::to_string(executed * ideal_wavefronts(sm_90, *instruction)) : "null")
      << ", \"distribution\": {" << distribution << "}, \"patterns\": [";
  for (std::size_t i = 0; i < one.patterns.size(); ++i)
    out << (i == 0 ? "" : ", ") << "{\"executed\": " << one.patterns[i].executed
        << ", \"wavefronts\": " << (instruction ? std::to_string(one.patterns[i].wavefronts) : "null")
        << ", \"address\": " << addresses(one.patterns[i]) << "}";
  // Instructions that are only counted have no patterns.
  out << "], \"not_kept\": " << one.not_kept << ", \"worst\": ";
  if (instruction && executed != 0)
    out << "{\"wavefronts\": " << worst.wavefronts << ", \"address\": " << addresses(worst) << "}";
  else
    out << "null";
  return out.str() + "}\n";
}

std::string driver_version() {
  std::ifstream in("/sys/module/nvidia/version");
  std::string text;
  std::getline(in, text);
  return text;
}

std::string head_of(Raw const& raw, Options const& options) {
  std::time_t const now = std::time(nullptr);
  char recorded[32];
  std::strftime(recorded, sizeof recorded, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  std::string program;
  for (char const* word : options.program)
    if (word != nullptr) program += (program.empty() ? "" : ", ") + quoted(word);
  return "{\"format\": \"swizproof trace 1\", \"device\": " + quoted(raw.device) +
         ", \"architecture\": " + quoted(raw.architecture) + ", \"driver\": " + quoted(driver_version()) +
         ", \"toolkit\": \"" SWIZPROOF_TOOLKIT "\", \"commit\": \"" SWIZPROOF_COMMIT "\", \"recorded\": " +
         quoted(recorded) + ", \"program\": [" + program + "]}\n";
}

/// True if an instruction works on shared memory and the sanitizer calls no patch before it: TMA's copies of tensors, and what the
/// tensor cores of sm_100 read. `@P0 UTMALDG.2D [UR8], [UR4]`. [CUDA 13.0; of UTMALDG seen on an H200: no patch of
/// SANITIZER_INSTRUCTION_BULK_COPY_* is called for it; the others by the same header]
bool goes_unseen(std::string_view opcode) {
  for (std::string_view const known :
       {"UTMALDG", "UTMASTG", "UTMAREDG", "UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA", "UTCCP"})
    if (opcode.substr(0, known.size()) == known) return true;
  return false;
}

/// `UTMALDG.2D` of `@P0 UTMALDG.2D [UR8], [UR4]`.
std::string opcode_of(std::string const& sass) {
  std::istringstream words(sass);
  std::string word;
  words >> word;
  if (!word.empty() && word[0] == '@') words >> word;
  return word;
}

/// By kernel what goes unseen in it.
std::map<std::string, std::set<std::string>> unseen_in(Raw const& raw, std::map<int, Listing>& listings) {
  std::map<std::string, std::set<std::string>> out;
  for (Function const& function : raw.functions)
    for (auto const& [pc, line] : listings[function.module][function.name])
      if (std::string const opcode = opcode_of(line.sass); goes_unseen(opcode))
        out[demangled(function.name)].insert(opcode);
  for (Instruction const& one : raw.instructions)
    if (one.function >= 0 && static_cast<std::size_t>(one.function) < raw.functions.size())
      if (Function const& function = raw.functions[static_cast<std::size_t>(one.function)];
          listings[function.module][function.name].empty())
        out[demangled(function.name)].insert("instructions that could not be disassembled");
  return out;
}

/// The end without its digest: how many lines stand above, and what of the program is not in them.
std::string end_of(Raw const& raw, std::map<int, Listing>& listings) {
  std::string unseen;
  for (auto const& [kernel, opcodes] : unseen_in(raw, listings)) {
    unseen += (unseen.empty() ? "" : ", ") + quoted(kernel) + ": [";
    for (std::string const& opcode : opcodes)
      unseen += (opcode == *opcodes.begin() ? "" : ", ") + quoted(opcode);
    unseen += "]";
  }
  std::string failures;
  for (std::string const& failure : raw.failures)
    failures += (failures.empty() ? "" : ", ") + quoted(failure.substr(failure.find_first_not_of(' ')));
  return "{\"lines\": " + std::to_string(raw.instructions.size() + 1) +
         ", \"dropped\": " + std::to_string(raw.dropped) + ", \"unseen\": {" + unseen + "}, \"failures\": [" +
         failures + "]";
}

/// A file that is written whole or not at all.
class WholeFile {
 public:
  explicit WholeFile(std::string name)
      : name_(std::move(name)),
        unfinished_(name_ + ".unfinished-" + std::to_string(getpid())),
        out_(unfinished_) {}
  void write(std::string const& text) { out_ << text; }
  void finish() {
    out_.close();
    std::error_code error;
    if (out_) fs::rename(unfinished_, name_, error);
    if (out_ && !error) return;
    std::string const why = error ? error.message() : std::strerror(errno);
    fs::remove(unfinished_, error);
    throw Failure{name_ + ": cannot be written: " + why};
  }

 private:
  std::string name_, unfinished_;
  std::ofstream out_;
};

/// Writes a trace. Returns how many instructions it has; the code of its kernels goes to `kept`, if there is one.
std::size_t write_trace(Raw& raw, Options const& options, std::string const& stem, std::string const& file,
                        KeptSections* kept) {
  std::map<int, Listing> listings;
  std::map<int, std::set<std::string>> wanted;  // by module
  for (Function const& function : raw.functions) wanted[function.module].insert(function.name);
  for (auto const& [module, functions] : wanted)
    listings[module] = disassemble(stem + "-" + std::to_string(module) + ".cubin", functions, kept);
  std::sort(raw.instructions.begin(), raw.instructions.end(),
            [&](Instruction const& a, Instruction const& b) {
              auto const name = [&](Instruction const& one) {
                return one.function < 0 ? std::string()
                                        : raw.functions[static_cast<std::size_t>(one.function)].name;
              };
              return std::tuple(name(a), a.function, a.pc) < std::tuple(name(b), b.function, b.pc);
            });
  WholeFile out(file);
  Digest digest;
  auto const write = [&](std::string const& text) {
    digest.add(text);
    out.write(text);
  };
  write(head_of(raw, options));
  for (Instruction& one : raw.instructions) {
    Line source;
    Function const& function = raw.functions[static_cast<std::size_t>(one.function)];
    auto const& lines = listings[function.module][function.name];
    if (auto const found = lines.find(one.pc); found != lines.end()) source = found->second;
    write(line_of(one, raw, source));
  }
  write(end_of(raw, listings));
  out.write(std::string(before_digest) + digest.text() + "\"}\n");
  out.finish();
  return raw.instructions.size();
}

/// A failure with how often it came.
void complain(std::string const& failure) {
  std::fprintf(stderr, "swizproof-trace: the sanitizer's library, so often:%s\n", failure.c_str());
}

/// The traces of the program and of its children: FILE and FILE.PID, or FILE alone if one process used a GPU.
void write_traces(Options const& options, std::string const& folder, pid_t program) {
  std::map<std::string, Raw> traces;  // by process
  int without = 0;
  for (auto const& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".raw") continue;
    std::string const pid = entry.path().stem();
    auto raw = read_raw(entry.path());
    if (raw && raw->lost) {
      std::fprintf(
          stderr,
          "swizproof-trace: process %s has no trace: what was counted could not be read from the GPU, "
          "as when a kernel has failed\n",
          pid.c_str());
      for (std::string const& failure : raw->failures) complain(failure);
      ++without;
    } else if (raw) {
      traces.emplace(pid, *std::move(raw));
    } else {
      std::fprintf(stderr, "swizproof-trace: process %s ended while its trace was written\n", pid.c_str());
      ++without;
    }
  }
  if (traces.empty() && without == 0)
    std::fputs("swizproof-trace: nothing was traced: no process used a GPU and ended by itself\n", stderr);
  std::map<std::string, std::string> code;  // by name of the file
  for (auto& [pid, raw] : traces) {
    for (std::string const& failure : raw.failures) complain(failure);
    std::string const behind = traces.size() == 1 || pid == std::to_string(program) ? "" : "." + pid;
    std::string const file = options.out + behind;
    KeptSections kept;
    std::size_t const count =
        write_trace(raw, options, folder + "/" + pid, file, options.sass.empty() ? nullptr : &kept);
    std::fprintf(stderr, "swizproof-trace: %s: %zu instructions of %zu kernels\n", file.c_str(), count,
                 raw.functions.size());
    if (!options.sass.empty() && !raw.functions.empty()) code[options.sass + behind] = kept.text();
  }
  for (auto const& [file, text] : code) {  // after the traces, so that none of them is lost
    if (text.empty())
      throw Failure{file + ": not written, for nvdisasm has disassembled none of the kernels"};
    WholeFile out(file);
    out.write(text);
    out.finish();
  }
}

/// Removes a file that is to be written, so its later contents are of this run. Fails at once if the file cannot be written, not
/// after an hour's run.
void clear(std::string const& file) {
  if (fs::exists(file) && !fs::is_regular_file(file))
    throw Failure{file + ": is no file that can be replaced"};
  std::string const probe = file + ".unfinished-" + std::to_string(getpid());
  if (!std::ofstream(probe)) throw Failure{file + ": cannot be written: " + std::strerror(errno)};
  fs::remove(probe);
  fs::remove(file);
}

int trace(int argc, char** argv) {
  Options const options = parse(argc, argv);
  require_gpu();
  std::string const library = preload_library();
  if (options.sass == options.out)
    throw Failure{options.out + ": the trace and the machine code need two files"};
  clear(options.out);
  if (!options.sass.empty()) clear(options.sass);
  Folder const folder;
  auto const [process, status] = run(options, library, folder.path);
  write_traces(options, folder.path, process);
  if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "swizproof-trace: the program was ended by signal %d\n", WTERMSIG(status));
    fs::remove_all(folder.path);
    std::signal(WTERMSIG(status), SIG_DFL);
    std::raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
  }
  return WEXITSTATUS(status);
}

}  // namespace
}  // namespace swizproof::trace

int main(int argc, char** argv) {
  try {
    return swizproof::trace::trace(argc, argv);
  } catch (swizproof::gpu::Failure const& failure) {
    std::fprintf(stderr, "swizproof-trace: %s\n", failure.message.c_str());
    return failure.exit_code;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "swizproof-trace: %s\n", error.what());
    return 2;
  }
}
