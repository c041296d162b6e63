// Preloaded into the traced program: patches its kernels as modules are loaded, hands each launch the table of its context, and
// writes what the tables hold when the program ends. It takes no part in what the program prints or returns.
//
// Written are PID.raw, lines of text for swizproof-trace, and PID-N.cubin, the modules of traced kernels. A raw file
// that does not end in "end" is not whole.
#include "trace/demangled.hpp"
#include "trace/generic.hpp"
#include "trace/table.hpp"

#include <sanitizer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <regex.h>
#include <set>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

// The patches, compiled (gpu/CMakeLists.txt).
asm(".section .rodata\n.balign 16\nswizproof_patches:\n.incbin \"" SWIZPROOF_PATCHES
    "\"\n.byte 0\n.previous\n");
extern "C" char const swizproof_patches[] __attribute__((visibility("hidden")));

namespace swizproof::trace {
namespace {

/// A module that was loaded, with its code.
struct Module {
  std::string cubin;
  int file = -1;  ///< number of the file that it was written to
};

/// A kernel that was launched.
struct Function {
  std::string name;  ///< symbol of the linker
  std::shared_ptr<Module> module;
  bool wanted = false;
  std::uint64_t launches = 0;
  unsigned grid[3] = {}, block[3] = {};
};

struct Key {
  std::uint32_t active;
  std::array<std::uint32_t, warp_lanes> address;
  friend bool operator<(Key const& a, Key const& b) {
    return a.active != b.active ? a.active < b.active : a.address < b.address;
  }
};
struct Cost {
  std::uint32_t wavefronts = 0;
  std::uint64_t executed = 0;
};

/// Facts about an instruction, over all times that the table was read.
struct Instruction {
  Code code{};
  std::uint64_t executed = 0;  ///< without those of the patterns
  std::array<std::uint64_t, most_wavefronts + 1> distribution{};
  std::uint32_t worst = 0;
  Key worst_access{};
  std::map<Key, Cost> patterns;
};

struct Range {
  std::uint64_t size;
  std::shared_ptr<Function> function;
};

struct Context {
  Table* table = nullptr;
  Sanitizer_StreamHandle stream = nullptr;
  std::set<Sanitizer_StreamHandle> streams;  ///< that kernels were launched on
  std::map<CUmodule, std::shared_ptr<Module>> modules;
  std::map<std::uint64_t, Range> functions;  ///< by where they begin
};

class Tracer {
 public:
  Tracer(char const* folder, char const* kernels, char const* launches)
      : folder_(folder),
        owner_(getpid()),
        most_launches_(launches == nullptr ? ~0ULL : std::strtoull(launches, nullptr, 10)) {
    selects_ = kernels != nullptr && regcomp(&kernels_, kernels, REG_EXTENDED | REG_NOSUB) == 0;
  }

  void start() {
    Sanitizer_SubscriberHandle subscriber = nullptr;
    if (!works(sanitizerSubscribe(&subscriber, called_back, this), "sanitizerSubscribe")) return;
    for (auto const domain :
         {SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CB_DOMAIN_GRAPHS})
      works(sanitizerEnableDomain(1, subscriber, domain), "sanitizerEnableDomain");
  }

  /// Reads all tables and writes the files. Once.
  void finish() {
    if (getpid() != owner_ || finished_.exchange(true))
      return;  // a fork's copy of the mutex may be locked for ever
    std::scoped_lock const lock(mutex_);
    for (auto& [handle, context] : contexts_) drain(context);
    if (!device_.empty() || !failures_.empty()) write();  // else there is nothing to tell
  }

  /// In a child that was forked: it is traced if the parent has not begun to use a GPU, since only then can it use one.
  void forked() {
    if (!contexts_.empty()) return;
    new (&mutex_) std::recursive_mutex;
    owner_ = getpid();
  }

 private:
  static void SANITIZERAPI called_back(void* self, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
                                       void const* data) {
    static_cast<Tracer*>(self)->handle(domain, id, data);
  }

  template <class Data>
  static Data const& as(void const* data) {
    return *static_cast<Data const*>(data);
  }

  void handle_resource(Sanitizer_CallbackId id, void const* data) {
    if (id == SANITIZER_CBID_RESOURCE_CONTEXT_CREATION_FINISHED)
      began(as<Sanitizer_ResourceContextData>(data));
    if (id == SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
      ended(as<Sanitizer_ResourceContextData>(data));
    if (id == SANITIZER_CBID_RESOURCE_MODULE_LOADED) loaded(as<Sanitizer_ResourceModuleData>(data));
    if (id == SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
      unloaded(as<Sanitizer_ResourceModuleData>(data));
    if (id == SANITIZER_CBID_RESOURCE_STREAM_DESTROY_STARTING) {
      Sanitizer_StreamHandle const stream = as<Sanitizer_ResourceStreamData>(data).hStream;
      for (auto& [handle, context] : contexts_)
        if (context.streams.erase(stream) != 0)
          works(sanitizerStreamSynchronize(stream), "sanitizerStreamSynchronize");
    }
  }

  void handle(Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, void const* data) {
    if (getpid() != owner_) return;
    // The reader of the tables at the end waits for the driver, in which another thread may wait for this.
    std::unique_lock lock(mutex_, std::defer_lock);
    while (!lock.try_lock()) {
      if (finished_) return;
      std::this_thread::yield();
    }
    if (finished_) return;
    if (domain == SANITIZER_CB_DOMAIN_RESOURCE) handle_resource(id, data);
    if (domain == SANITIZER_CB_DOMAIN_LAUNCH && id == SANITIZER_CBID_LAUNCH_BEGIN)
      launched(as<Sanitizer_LaunchData>(data), true);
    if (domain == SANITIZER_CB_DOMAIN_GRAPHS && id == SANITIZER_CBID_GRAPHS_NODE_LAUNCH_BEGIN) {
      auto const& node = as<Sanitizer_GraphNodeLaunchData>(data);
      if (node.nodeType == CU_GRAPH_NODE_TYPE_KERNEL) launched(node.launchData, node.isGraphUpload == 0);
    }
  }

  void began(Sanitizer_ResourceContextData const& data) {
    if (device_.empty()) {
      std::atexit([] { finish_all(); });  // before the driver's own, which was registered earlier
      describe(data.device);
    }
    Context& context = contexts_[data.context];
    void* memory = nullptr;
    if (!works(sanitizerGetStreamHandle(data.context, nullptr, &context.stream),
               "sanitizerGetStreamHandle") ||
        !works(sanitizerAddPatches(swizproof_patches, data.context), "sanitizerAddPatches") ||
        !works(sanitizerAlloc(data.context, &memory, sizeof(Table)), "sanitizerAlloc")) {
      lost_ = true;
      return;
    }
    context.table = static_cast<Table*>(memory);
    clear(context, true);
  }

  /// The phases stay as they are: a kernel may be computing with them.
  void clear(Context& context, bool with_phases) {
    static PhaseTable phases = sm_90_phases;
    std::size_t const from = with_phases ? 0 : sizeof context.table->phases;
    works(sanitizerMemset(reinterpret_cast<char*>(context.table) + from, 0, sizeof(Table) - from,
                          context.stream),
          "sanitizerMemset");
    if (with_phases)
      works(sanitizerMemcpyHostToDeviceAsync(&context.table->phases, &phases, sizeof phases, context.stream),
            "sanitizerMemcpyHostToDeviceAsync");
    works(sanitizerStreamSynchronize(context.stream), "sanitizerStreamSynchronize");
  }

  void ended(Sanitizer_ResourceContextData const& data) {
    auto const found = contexts_.find(data.context);
    if (found == contexts_.end()) return;
    drain(found->second);
    contexts_.erase(found);  // its handle may come again
  }

  void loaded(Sanitizer_ResourceModuleData const& data) {
    auto const found = contexts_.find(data.context);
    if (found == contexts_.end() || found->second.table == nullptr) return;
    auto const module = std::make_shared<Module>();
    module->cubin.assign(data.pCubin, data.cubinSize);
    found->second.modules[data.module] = module;
    constexpr std::pair<Sanitizer_InstructionId, char const*> patches[] = {
        {SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, "swizproof_shared"},
        {SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS, "swizproof_matrix"},
        {SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "swizproof_async"},
        {SANITIZER_INSTRUCTION_WARPGROUP_MMA_ASYNC, "swizproof_wgmma"},
        {SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED, "swizproof_bulk_to_shared"},
        {SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_GLOBAL, "swizproof_bulk_to_global"},
        {SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_SHARED, "swizproof_bulk_between"},
        {SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL, "swizproof_bulk_reduction"},
        {SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_SHARED, "swizproof_reduction_between"},
        {SANITIZER_INSTRUCTION_REMOTE_SHARED_MEMORY_ACCESS, "swizproof_remote"},
        {SANITIZER_INSTRUCTION_ASYNC_STORE, "swizproof_remote_async"},
        {SANITIZER_INSTRUCTION_ASYNC_REDUCTION, "swizproof_remote_reduction"},
        {SANITIZER_INSTRUCTION_MEMSET_SHARED, "swizproof_memset"},
    };
    for (auto const& [instruction, function] : patches)
      works(sanitizerPatchInstructions(instruction, data.module, function), function);
    // A patch of every global access is expensive, so only modules with generic ones have it.
    if (has_generic_accesses(module->cubin))
      works(sanitizerPatchInstructions(SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, data.module,
                                       "swizproof_generic"),
            "swizproof_generic");
    works(sanitizerPatchModule(data.module), "sanitizerPatchModule");
  }

  /// Another module may be loaded where this one stood.
  void unloaded(Sanitizer_ResourceModuleData const& data) {
    auto const found = contexts_.find(data.context);
    if (found == contexts_.end()) return;
    Context& context = found->second;
    auto const module = context.modules.find(data.module);
    if (module == context.modules.end()) return;
    bool traced = false;
    for (auto const& [start, range] : context.functions)
      traced = traced || range.function->module == module->second;
    if (traced && context.table != nullptr) {
      drain(context);
      clear(context, false);
      std::erase_if(context.functions,
                    [&](auto const& entry) { return entry.second.function->module == module->second; });
    }
    context.modules.erase(module);
  }

  /// `runs`: it is a launch, not the upload of a graph.
  void launched(Sanitizer_LaunchData const& data, bool runs) {
    auto const found = contexts_.find(data.context);
    if (found == contexts_.end() || found->second.table == nullptr) return;
    Context& context = found->second;
    context.streams.insert(data.hStream);
    Function* const known = function_of(context, data);
    bool const traced = known != nullptr && known->wanted && known->launches < most_launches_;
    if (traced && runs && known->launches++ == 0) {
      Function& function = *known;
      unsigned const grid[] = {data.gridDim_x, data.gridDim_y, data.gridDim_z};
      unsigned const block[] = {data.blockDim_x, data.blockDim_y, data.blockDim_z};
      std::copy_n(grid, 3, function.grid);
      std::copy_n(block, 3, function.block);
    }
    works(sanitizerSetLaunchCallbackData(data.hLaunch, data.function, data.hStream,
                                         traced ? context.table : nullptr),
          "sanitizerSetLaunchCallbackData");
  }

  /// Null where the sanitizer does not know where the kernel stands.
  Function* function_of(Context& context, Sanitizer_LaunchData const& data) {
    std::uint64_t start = 0, size = 0;
    if (!works(sanitizerGetFunctionPcAndSize(data.module, data.functionName, &start, &size),
               "sanitizerGetFunctionPcAndSize"))
      return nullptr;
    std::shared_ptr<Function>& function = context.functions[start].function;
    if (function == nullptr) {
      function = std::make_shared<Function>();
      function->name = data.functionName;
      function->module = context.modules[data.module];
      function->wanted = wanted(function->name);
      context.functions[start].size = size;
    }
    return function.get();
  }

  [[nodiscard]] bool wanted(std::string const& name) const {
    return !selects_ || regexec(&kernels_, demangled(name).c_str(), 0, nullptr, 0) == 0;
  }

  /// Adds what a context's table holds to what is known.
  void drain(Context& context) {
    if (context.table == nullptr) return;
    auto const table = std::make_unique<Table>();
    bool whole = works(sanitizerStreamSynchronize(context.stream), "sanitizerStreamSynchronize");
    for (Sanitizer_StreamHandle const stream : context.streams)
      whole = works(sanitizerStreamSynchronize(stream), "sanitizerStreamSynchronize") && whole;
    if (!whole ||
        !works(sanitizerMemcpyDeviceToHost(table.get(), context.table, sizeof(Table), context.stream),
               "sanitizerMemcpyDeviceToHost")) {
      lost_ = true;
      return;
    }
    dropped_ += table->dropped;
    for (Counted const& counted : table->counted) {
      if (counted.pc == 0) continue;
      Instruction* const its = instruction(context, counted.pc);
      if (its == nullptr) {
        dropped_ += counted.executed;
        continue;
      }
      Instruction& known = *its;
      known.code = counted.code;
      known.executed += counted.executed;
      for (std::size_t i = 0; i < known.distribution.size(); ++i)
        known.distribution[i] += counted.distribution[i];
      if (counted.worst > known.worst) {
        known.worst = counted.worst;
        known.worst_access.active = counted.worst_active;
        std::copy_n(counted.worst_address, warp_lanes, known.worst_access.address.begin());
      }
    }
    for (Pattern const& pattern : table->patterns) {
      if (pattern.state != ready) continue;
      Key key{pattern.active, {}};
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        key.address[lane] = (pattern.active >> lane & 1) != 0 ? pattern.address[lane] : 0;
      Instruction* const its = instruction(context, pattern.pc);
      if (its == nullptr) {
        dropped_ += pattern.executed;
        continue;
      }
      Cost& cost = its->patterns[key];
      cost.wavefronts = pattern.wavefronts;
      cost.executed += pattern.executed;
    }
  }

  /// Null for a function that kernels call and that is outside of them: its kernel is unknown.
  Instruction* instruction(Context const& context, std::uint64_t pc) {
    auto const after = context.functions.upper_bound(pc);
    if (after == context.functions.begin()) return nullptr;
    auto const& [start, range] = *std::prev(after);
    return pc - start < range.size ? &instructions_[{range.function, pc - start}] : nullptr;
  }

  void describe(CUdevice device) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    if (driver == nullptr) return;
    auto const name = reinterpret_cast<CUresult (*)(char*, int, CUdevice)>(dlsym(driver, "cuDeviceGetName"));
    auto const attribute = reinterpret_cast<CUresult (*)(int*, CUdevice_attribute, CUdevice)>(
        dlsym(driver, "cuDeviceGetAttribute"));
    char text[256] = {};
    if (name != nullptr && name(text, sizeof text, device) == CUDA_SUCCESS) device_ = text;
    int major = 0, minor = 0;
    if (attribute != nullptr &&
        attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) == CUDA_SUCCESS &&
        attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) == CUDA_SUCCESS)
      architecture_ = "sm_" + std::to_string(10 * major + minor);
  }

  bool works(SanitizerResult result, char const* what) {
    if (result == SANITIZER_SUCCESS) return true;
    char const* text = nullptr;
    sanitizerGetResultString(result, &text);
    failures_[std::string(what) + ": " + (text == nullptr ? "error " + std::to_string(result) : text)]++;
    return false;
  }

  void write() {
    std::string const stem = folder_ + "/" + std::to_string(owner_), raw = stem + ".raw";
    std::FILE* const file = std::fopen(raw.c_str(), "w");
    if (file == nullptr) return say(raw);
    std::fprintf(file, "device %s\narchitecture %s\n", device_.c_str(), architecture_.c_str());
    for (auto const& [what, times] : failures_)
      std::fprintf(file, "failure %llu %s\n", static_cast<unsigned long long>(times), what.c_str());
    int files = 0;
    std::map<Function const*, int> number;
    std::erase_if(instructions_, [](auto const& entry) {
      return entry.second.executed == 0 && entry.second.patterns.empty();
    });
    for (auto const& [at, known] : instructions_) {
      Function const* const function = at.first.get();
      if (number.contains(function)) continue;
      int& module = function->module->file;
      if (module < 0) {
        module = files++;
        write_cubin(stem + "-" + std::to_string(module) + ".cubin", function->module->cubin);
      }
      int const next = static_cast<int>(number.size());
      number[function] = next;
      std::fprintf(file, "function %d %d %llu %u %u %u %u %u %u %s\n", next, module,
                   static_cast<unsigned long long>(function->launches), function->grid[0], function->grid[1],
                   function->grid[2], function->block[0], function->block[1], function->block[2],
                   function->name.c_str());
    }
    for (auto const& [at, known] : instructions_) {
      int const function = number[at.first.get()];
      std::fprintf(file, "instruction %d %llu %u %u %u %llu %u %u", function,
                   static_cast<unsigned long long>(at.second), static_cast<unsigned>(known.code.kind),
                   known.code.bytes, known.code.matrices, static_cast<unsigned long long>(known.executed),
                   known.worst, known.worst_access.active);
      for (auto const address : known.worst_access.address) std::fprintf(file, " %u", address);
      for (auto const times : known.distribution)
        std::fprintf(file, " %llu", static_cast<unsigned long long>(times));
      std::fputc('\n', file);
      for (auto const& [key, cost] : known.patterns) {
        std::fprintf(file, "pattern %llu %u %u", static_cast<unsigned long long>(cost.executed),
                     cost.wavefronts, key.active);
        for (auto const address : key.address) std::fprintf(file, " %u", address);
        std::fputc('\n', file);
      }
    }
    if (lost_) std::fputs("lost\n", file);
    std::fprintf(file, "dropped %llu\nend\n", static_cast<unsigned long long>(dropped_));
    bool const bad = std::ferror(file) != 0;
    if (std::fclose(file) != 0 || bad) {
      say(raw);
      unlink(raw.c_str());
    }
  }
  static void say(std::string const& path) {
    std::fprintf(stderr, "swizproof-trace: %s: %s\n", path.c_str(), std::strerror(errno));
  }

  /// Without it the trace has no SASS and no source lines.
  static void write_cubin(std::string const& path, std::string const& code) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    bool const written = file != nullptr && std::fwrite(code.data(), 1, code.size(), file) == code.size();
    if ((file != nullptr && std::fclose(file) != 0) || !written) say(path);
  }

  static void finish_all();

  std::string folder_;
  pid_t owner_;
  std::uint64_t most_launches_;
  regex_t kernels_{};
  bool selects_ = false, lost_ = false;
  std::atomic<bool> finished_ = false;
  std::recursive_mutex mutex_;  // a callback may come from a call that another callback makes
  std::map<CUcontext, Context> contexts_;
  std::map<std::pair<std::shared_ptr<Function>, std::uint64_t>, Instruction> instructions_;
  std::map<std::string, std::uint64_t> failures_;
  std::uint64_t dropped_ = 0;
  std::string device_, architecture_;
};

Tracer* tracer = nullptr;  // never destroyed: the program's own threads may outlive everything

void Tracer::finish_all() {
  if (tracer != nullptr) tracer->finish();
}

__attribute__((constructor)) void begin() {
  char const* const folder = std::getenv("SWIZPROOF_TRACE_FOLDER");
  char const* const only = std::getenv("SWIZPROOF_TRACE_ONLY");  // this process, and no child
  if (folder == nullptr || (only != nullptr && std::strtol(only, nullptr, 10) != getpid())) return;
  tracer =
      new Tracer(folder, std::getenv("SWIZPROOF_TRACE_KERNELS"), std::getenv("SWIZPROOF_TRACE_LAUNCHES"));
  if (only == nullptr) pthread_atfork(nullptr, nullptr, [] { tracer->forked(); });
  std::atexit([] { tracer->finish(); });  // for what failed before there was a context
  tracer->start();
}

}  // namespace
}  // namespace swizproof::trace

// Programs that end without atexit (workers of Python's multiprocessing) leave their trace as well. They wait for the GPU then.
extern "C" __attribute__((visibility("default"), noreturn)) void _exit(int code) {
  if (swizproof::trace::tracer != nullptr) swizproof::trace::tracer->finish();
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}
