#include "command/kernel/decision.hpp"

#include "command/kernel/fat_binary.hpp"
#include "command/kernel/launch.hpp"
#include "command/kernel/source_launch.hpp"
#include "command/kernel/target.hpp"

#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"
#include "system/whole_file.hpp"

#include <swizproof/parse/parse.hpp>
#include <swizproof/sass/lower.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

/// A hint for a folder without PTX: files in it that can be read.
std::string what_else_is_in(std::string const& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::string source, machine;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       at != end && !error; at.increment(error)) {
    std::string const path = at->path().string(), kind = at->path().extension().string();
    if (is_cuda_source(path) && (source.empty() || path < source)) source = path;
    if (kind == ".cubin" || kind == ".sass") machine = path;
  }
  if (!source.empty())
    return fmt::format("it has CUDA source, which is compiled if you name the file: swizproof kernel {}",
                       source);
  if (!machine.empty()) return fmt::format("it has machine code: swizproof kernel {} --sass", folder);
  return fs::is_empty(folder, error)
             ? "it is empty; nvcc -ptx -lineinfo -o FOLDER/FILE.ptx FILE.cu writes one"
             : "nvcc -ptx -lineinfo writes one; --sass reads .cubin and .sass files";
}

/// Every .ptx below a folder, with --sass every .cubin and .sass, or the file itself.
std::vector<std::string> files_of(std::vector<std::string> const& names, bool machine) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (std::string const& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator at(name, fs::directory_options::skip_permission_denied, error), end;
         at != end && !error; at.increment(error))
      if (std::string const kind = at->path().extension().string();
          (machine ? kind == ".cubin" || kind == ".sass" : kind == ".ptx") && at->is_regular_file(error))
        found.push_back(at->path().string());
    if (found.empty() && machine)
      throw InputError::whole("the folder has no .cubin and no .sass file", name,
                              "without --sass its .ptx files are read");
    if (found.empty()) throw InputError::whole("the folder has no .ptx file", name, what_else_is_in(name));
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

/// Reads the values of --param, and returns the parameters.
std::vector<std::string> read_params(KernelArguments const& arguments, KernelOptions& options) {
  std::vector<std::string> names;
  for (std::string const& p : arguments.params) {
    auto const [at, fresh] = options.params.insert(parse_param(p));
    if (!fresh) throw InputError::whole("this parameter has a value already", p);
    names.push_back(at->first);
  }
  return names;
}

bool needs_block(sass::Module const&, sass::Lowered const& kernel, KernelOptions const& options) {
  return swizproof::needs_block(kernel, options);
}

/// Throws for a file that has no kernel.
[[noreturn]] void refuse_without_kernel(std::string const& file) {
  if (!is_cuda_source(file)) throw InputError::whole("there is no kernel (.entry) in it", file);
  std::vector<SourceTemplate> const templates = templates_in(read_file(file));
  if (templates.empty())
    throw InputError::whole("it compiles to no kernel", file,
                            "no function in it is __global__: give the file that defines the kernel");
  std::vector<std::string> names;
  for (SourceTemplate const& t : templates) names.push_back(fmt::format("{} (line {})", t.name, t.line));
  auto const shown = std::find_if(templates.begin(), templates.end(),
                                  [](SourceTemplate const& t) { return !t.instantiation.empty(); });
  throw InputError::whole(
      fmt::format("it compiles to no kernel: {} {} template{}, and nothing instantiates {}",
                  fmt::join(names, ", "), names.size() == 1 ? "is a" : "are", names.size() == 1 ? "" : "s",
                  names.size() == 1 ? "it" : "them"),
      file,
      shown == templates.end() ? "launch it in the file, or add an explicit instantiation"
                               : "launch it in the file, or add a line such as: " + shown->instantiation);
}

class Decision {
 public:
  Decision(Common& common, KernelArguments const& arguments, KernelOptions options, OnResult const& on_result)
      : arguments_(arguments),
        options_(std::move(options)),
        on_result_(on_result),
        chosen_(arguments.kernel, "--kernel"),
        unused_(read_params(arguments, options_)),
        blocks_(arguments.blocks),
        targets_(common, options_, out_.notes) {
    options_.fixes = true;
    if (!arguments.grid.empty()) options_.grid = parse_grid(arguments.grid);
  }

  Results run() {
    std::vector<std::string> const files = files_of(arguments_.files, arguments_.machine);
    for (std::string const& file : files) {
      try {
        refuse_source_by_name(file);
        if (is_cuda_source(file))
          decide_source(file);
        else
          for (PtxText& part : code_of(file, arguments_.machine)) decide(part);
      } catch (InputError const& error) {
        if (files.size() == 1 || is_of_an_option_) throw;
        out_.not_read.push_back({file, error.message});
      }
    }
    if (names_.empty() && !out_.not_read.empty())
      throw InputError::whole(out_.not_read.front().reason, out_.not_read.front().file);
    must_have_found();
    targets_.note_several();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_chosen(ptx::Function const& f) const { return names_kernel(chosen_, f.name); }

  /// Decides what a source compiles to, with the blocks of its launches.
  void decide_source(std::string const& file) {
    if (arguments_.machine)
      throw InputError::whole("--sass reads machine code, and this is CUDA source", file,
                              "nvcc -cubin -lineinfo -arch=sm_90a writes it");
    CompilerOptions options = arguments_.compiler;
    options.arch = options_.arch->name;
    CompiledSource source = compiled(file, options);
    add_notes(out_.notes, {"compiled: " + source.command});
    out_.sources.insert(out_.sources.end(), source.read.begin(), source.read.end());
    launches_ = launches_in(read_file(file), options.flags);
    PtxText part{file, "", std::move(source.text)};
    decide(part);
    launches_.clear();
  }

  /// Shapes of a kernel: those that were given, else those of its launches in the source, which are noted as assumptions.
  std::vector<std::optional<LaunchBlocks::Shape>> shapes_of(ptx::Function const& head,
                                                            std::string const& file,
                                                            std::string const& name) {
    auto shapes = blocks_.of(head.name, name);
    if (shapes.front() || head.reqntid[0] != 0) return shapes;
    std::vector<std::optional<LaunchBlocks::Shape>> found;
    for (SourceLaunch const& launch : launches_) {
      if (!launch.is_of(name)) continue;
      std::string const at =
          fmt::format("{}:{}", std::filesystem::path(file).filename().string(), launch.line);
      if (!launch.is_constant()) {
        add_notes(out_.notes,
                  {fmt::format(
                      "{}: not read: the block of a launch of {} is no constant, {}; --block {}=X,Y gives it",
                      at, launch.kernel, launch.text, launch.kernel)});
        continue;
      }
      add_notes(out_.notes, {fmt::format("assumed: {} has blocks of {}, as {} launches it", launch.kernel,
                                         fmt::join(launch.block, ","), at)});
      if (std::find(found.begin(), found.end(), launch.block) == found.end())
        found.emplace_back(launch.block);
    }
    return found.empty() ? shapes : found;
  }

  void decide(PtxText& part) {
    must_be_code(part.text, part.name);
    if (arguments_.machine && !sass::is_sass(part.text))
      throw InputError::whole("this is PTX, and --sass decides machine code", part.name,
                              "leave --sass out, or give the library, the cubin or what nvdisasm -g prints");
    if (sass::is_sass(part.text)) {
      sass::Module const module = sass::read_module(std::move(part.text), part.name);
      targets_.take_sass(module.arch);
      add_notes(out_.notes, module.notes);
      for (sass::Function const& f : module.functions) {
        if (!f.entry) continue;
        sass::Lowered const kernel = sass::lower(module, f, options_.global);
        decide_one(part, kernel.head, module, kernel, demangled(f.name));
      }
      return;
    }
    ptx::Module const module = ptx::read_module(std::move(part.text), part.name,
                                                [this](ptx::Function const& f) { return is_chosen(f); });
    targets_.take_ptx(module);
    for (ptx::Function const& f : module.functions)
      if (f.entry) decide_one(part, f, module, f, demangled(f.name));
  }

  /// Decides a kernel with each shape of its block, if it is chosen.
  template <class Module, class Kernel>
  void decide_one(PtxText const& part, ptx::Function const& head, Module const& module, Kernel const& kernel,
                  std::string const& name) {
    names_.push_back(name);
    if (head.skipped || !is_chosen(head)) return;
    std::erase_if(unused_, [&](std::string const& p) { return parameter_of(head, p).has_value(); });
    must_fit(head, name);
    for (auto const& block : shapes_of(head, part.name, name)) {
      options_.block = block;
      Result one{part.name, part.part, name, decide_kernel(module, kernel, options_)};
      one.no_shape =
          (!one.report.accesses.empty() || !one.report.operands.empty() || !one.report.global.empty()) &&
          needs_block(module, kernel, options_);
      out_.all.push_back(std::move(one));
      if (on_result_ && !out_.all.back().no_shape) on_result_(out_.all.back(), targets_.now(), out_.notes);
    }
  }

  /// Throws where a parameter that was given is none of the kernel's kind.
  void must_fit(ptx::Function const& f, std::string const& name) {
    std::string const why = why_no_parameter(f, options_.params);
    if (why.empty()) return;
    is_of_an_option_ = true;
    throw InputError::whole(fmt::format("kernel {}: {}", name, why),
                            fmt::format("{}", fmt::join(arguments_.params, " ")));
  }

  /// Throws where no kernel was decided, or none has what was given.
  void must_have_found() const {
    if (out_.all.empty() && !names_.empty())
      throw InputError::whole("no kernel has a name that matches", arguments_.kernel,
                              fmt::format("there {}; case matters", kernels_in_words(names_)));
    if (!unused_.empty() && !out_.all.empty())
      throw InputError::whole("no kernel has this parameter", unused_[0],
                              "the first parameter is 0: --param 0=1024");
    if (names_.empty()) refuse_without_kernel(arguments_.files[0]);
    blocks_.must_be_used();
    if (out_.all.size() == 1 && out_.all[0].no_shape) refuse_without_shape(out_.all[0].name);
  }

  KernelArguments const& arguments_;
  KernelOptions options_;
  OnResult const& on_result_;
  Pattern const chosen_;
  std::vector<std::string> unused_;  ///< parameters that were given, and no kernel has
  LaunchBlocks blocks_;
  Results out_{};
  TargetArchitectures targets_;
  std::vector<SourceLaunch> launches_{};  ///< of the source that is decided
  std::vector<std::string> names_{};      ///< of all kernels
  bool is_of_an_option_ = false;          ///< what is wrong is no file
};

}  // namespace

Results decide_files(Common& common, KernelArguments const& arguments, KernelOptions options,
                     OnResult const& on_result) {
  options.arch = &parse_architecture(common.arch);
  return Decision(common, arguments, std::move(options), on_result).run();
}

}  // namespace swizproof::command::kernel_detail
