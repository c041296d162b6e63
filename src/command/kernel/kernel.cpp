// swizproof kernel: what does each shared-memory instruction of a compiled kernel cost at most?
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/kernel/fat_binary.hpp"
#include "command/line/help.hpp"
#include "command/kernel/launch.hpp"
#include "command/kernel/results.hpp"
#include "command/kernel/target.hpp"
#include "command/profile/page_parts.hpp"

#include "system/whole_file.hpp"
#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"
#include "report/report.hpp"

#include <swizproof/sass/lower.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

namespace swizproof::command {
namespace kernel_detail {

SourceLine outermost_line(Sources& sources, KernelAccess const& a) {
  auto const at = std::find_if(a.inlined_at.rbegin(), a.inlined_at.rend(),
                               [&](SourceLine const& line) { return sources.file(line.file).read(); });
  return at == a.inlined_at.rend() ? SourceLine{a.file, a.line} : *at;
}

std::optional<std::string> source_text(Sources& sources, SourceLine const& at) {
  return at.file.empty() ? std::nullopt : sources.file(at.file).line(at.line);
}

namespace {

using Json = nlohmann::ordered_json;

struct KernelArguments {
  std::vector<std::string> files;
  std::string kernel;
  std::vector<std::string> blocks, params, source;
  std::string sarif, html, emit, format = "text", base = "device";
  std::uint64_t shared_bytes = 0;
  unsigned at_most = 0;
  bool machine = false;
};

/// Every .ptx below a folder, with --sass every .cubin and .sass, or the file itself.
std::vector<std::string> files_of(std::vector<std::string> const& names, bool machine, bool& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (std::string const& name : names) {
    std::error_code error;
    if (!fs::is_directory(name, error)) {
      files.push_back(name);
      continue;
    }
    folder = true;
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator at(name, fs::directory_options::skip_permission_denied, error), end;
         at != end && !error; at.increment(error))
      if (std::string const kind = at->path().extension().string();
          (machine ? kind == ".cubin" || kind == ".sass" : kind == ".ptx") && at->is_regular_file(error))
        found.push_back(at->path().string());
    if (found.empty() && machine)
      throw InputError::whole("the folder has no .cubin and no .sass file", name,
                              "without --sass its .ptx files are read");
    if (found.empty())
      throw InputError::whole("the folder has no .ptx file", name,
                              "nvcc -ptx -lineinfo writes one; --sass reads .cubin and .sass files");
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

/// Shapes of --block, each once; without one, a single unknown shape.
std::vector<std::optional<std::array<std::uint32_t, 3>>> blocks_of(KernelArguments const& arguments) {
  std::vector<std::optional<std::array<std::uint32_t, 3>>> blocks;
  for (std::string const& b : arguments.blocks)
    if (auto const block = parse_block(b); std::find(blocks.begin(), blocks.end(), block) == blocks.end())
      blocks.emplace_back(block);
  if (blocks.empty()) blocks.emplace_back();
  return blocks;
}

bool needs_block(sass::Module const&, sass::Lowered const& kernel, KernelOptions const& options) {
  return swizproof::needs_block(kernel, options);
}

/// Throws where no kernel was decided, or none has a parameter that was given.
void must_have_found(std::vector<Result> const& results, std::vector<std::string> const& names,
                     std::vector<std::string> const& unused, KernelArguments const& arguments) {
  if (results.empty() && !names.empty())
    throw InputError::whole("no kernel has a name that matches", arguments.kernel,
                            fmt::format("there {}; case matters", kernels_in_words(names)));
  if (!unused.empty() && !results.empty())
    throw InputError::whole("no kernel has this parameter", unused[0],
                            "the first parameter is 0: --param 0=1024");
  if (names.empty()) throw InputError::whole("there is no kernel (.entry) in it", arguments.files[0]);
}

/// Throws where a parameter that was given is none of the kernel's kind.
void must_fit(ptx::Function const& f, std::string const& name, KernelOptions const& options,
              KernelArguments const& arguments) {
  if (std::string const why = why_no_parameter(f, options.params); !why.empty())
    throw InputError::whole(fmt::format("kernel {}: {}", name, why),
                            fmt::format("{}", fmt::join(arguments.params, " ")));
}

Results compute(Common& common, KernelArguments const& arguments, KernelOptions options) {
  Pattern const chosen(arguments.kernel, "--kernel");
  options.arch = &parse_architecture(common.arch);
  options.fixes = true;
  std::vector<std::string> unused = read_params(arguments, options);  // by all kernels
  auto const blocks = blocks_of(arguments);
  bool many = false;  // kernels of which one has no shape
  Results out;
  TargetArchitectures targets(common, options, out.notes);
  std::vector<Result>& results = out.all;
  std::vector<std::string> names;  // of all kernels
  auto const is_chosen = [&](ptx::Function const& f) {
    return chosen.found_in(f.name) || chosen.found_in(demangled(f.name));
  };
  auto const wanted = [&](ptx::Function const& f, std::string const& name) {
    names.push_back(name);
    if (f.skipped || !is_chosen(f)) return false;
    std::erase_if(unused, [&](std::string const& p) { return parameter_of(f, p).has_value(); });
    must_fit(f, name, options, arguments);
    return true;
  };
  auto const take = [&](PtxText const& part, std::string const& name, auto const& module,
                        auto const& kernel) {
    for (auto const& block : blocks) {
      options.block = block;
      Result one{part.name, part.part, name, decide_kernel(module, kernel, options)};
      bool const accesses = !one.report.accesses.empty() || !one.report.operands.empty();
      if (!many && accesses && needs_block(module, kernel, options)) refuse_without_shape(name);
      results.push_back(std::move(one));
    }
  };
  auto const decide_sass = [&](PtxText& part) {
    sass::Module const module = sass::read_module(std::move(part.text), part.name);
    targets.take_sass(module.arch);
    add_notes(out.notes, module.notes);
    many = many || !part.part.empty() || module.functions.size() > 1;
    for (sass::Function const& f : module.functions) {
      if (!f.entry) continue;
      std::string const name = demangled(f.name);
      sass::Lowered const kernel = sass::lower(module, f);
      if (wanted(kernel.head, name)) take(part, name, module, kernel);
    }
  };
  auto const decide = [&](PtxText& part) {
    must_be_code(part.text, part.name);
    if (sass::is_sass(part.text)) return decide_sass(part);
    ptx::Module const module = ptx::read_module(std::move(part.text), part.name, is_chosen);
    targets.take_ptx(module.target);
    many = many || !part.part.empty();
    for (ptx::Function const& f : module.functions) {
      if (!f.entry) continue;
      std::string const name = demangled(f.name);
      if (wanted(f, name)) take(part, name, module, f);
    }
  };
  for (std::string const& file : files_of(arguments.files, arguments.machine, many))
    for (PtxText& part : code_of(file, arguments.machine)) decide(part);
  must_have_found(results, names, unused, arguments);
  return out;
}

Sums sums_of(std::vector<Result> const& results) {
  Sums sums;
  auto const count = [&](KernelVerdict v, bool executed) {
    sums.idle += executed ? 0 : 1;
    ++(v == KernelVerdict::proved    ? sums.proved
       : v == KernelVerdict::refuted ? sums.refuted
       : v == KernelVerdict::data    ? sums.data
                                     : sums.unknown);
  };
  for (Result const& r : results) {
    for (KernelAccess const& a : r.report.accesses) count(a.verdict, a.executed);
    for (KernelOperand const& o : r.report.operands) count(o.verdict, o.executed);
  }
  return sums;
}

Json to_json(Results const& of, Architecture const& arch, Sources& sources) {
  std::vector<Result> const& results = of.all;
  Sums const sums = sums_of(results);
  Json out{{"verdict", sums.refuted != 0   ? "refuted"
                       : sums.unknown != 0 ? "unknown"
                                           : "proved"},
           {"arch", arch.name},
           {"kernels", Json::array()}};
  for (Result const& r : results) {
    Json kernel = swizproof::to_json(r.report, r.name, r.file);
    for (std::size_t i = 0; i < r.report.accesses.size(); ++i)
      if (auto text = source_text(sources, {r.report.accesses[i].file, r.report.accesses[i].line}))
        kernel["accesses"][i]["source"] = std::move(*text);
    for (std::size_t i = 0; i < r.report.operands.size(); ++i)
      if (auto text = source_text(sources, {r.report.operands[i].file, r.report.operands[i].line}))
        kernel["operands"][i]["source"] = std::move(*text);
    out["kernels"].push_back(std::move(kernel));
  }
  if (!of.notes.empty()) out["notes"] = of.notes;
  out["proved"] = sums.proved;
  out["refuted"] = sums.refuted;
  out["data_dependent"] = sums.data;
  out["unknown"] = sums.unknown;
  return out;
}

/// One [[kernel]] entry for each file that has a kernel. Accesses that depend on data are allowed, as the command allows them.
std::string obligations_of(Common const& common, KernelArguments const& arguments,
                           KernelOptions const& options, std::vector<Result> const& results) {
  std::vector<std::string> blocks;
  for (std::string const& block : arguments.blocks) {
    std::vector<std::string> extents;
    for (std::uint32_t const extent : parse_block(block)) extents.push_back(fmt::format("{}", extent));
    if (std::string list = toml_list(extents); std::find(blocks.begin(), blocks.end(), list) == blocks.end())
      blocks.push_back(std::move(list));
  }
  std::vector<std::pair<std::string, std::string>> params;
  for (std::string const& text : arguments.params) {
    auto const [key, value] = parse_param(text);
    params.emplace_back(toml_key(key), fmt::format("{}", static_cast<std::int64_t>(value.bits)));
  }
  std::vector<std::string> files;
  for (Result const& r : results) {
    if (!r.part.empty())
      throw InputError::whole("a [[kernel]] entry is of a file of PTX or SASS, and this is a binary", r.file,
                              "cuobjdump -xptx all writes its PTX, nvdisasm -g FILE.cubin its machine code");
    if (std::find(files.begin(), files.end(), r.file) == files.end()) files.push_back(r.file);
  }
  std::string text;
  for (std::string const& file : files) {
    TomlEntry entry("kernel");
    entry.add("ptx", file).add("name", arguments.kernel);
    if (!blocks.empty()) entry.add_value("block", blocks.size() == 1 ? blocks.front() : toml_list(blocks));
    if (!params.empty()) entry.add_value("param", toml_table(params));
    if (options.any_base) entry.add("bases", "ptx");
    entry.add("shared_bytes", options.shared_bytes).add("at_most", options.at_most).add("data", "allow");
    if (common.arch_is_given) entry.add("arch", common.arch);
    text += (text.empty() ? "" : "\n") + entry.text();
  }
  return text;
}

void run(Common& common, KernelArguments const& arguments, KernelOptions const& options) {
  refuse_two_forms(common, arguments.sarif, arguments.html);
  refuse_format(common, arguments.format, arguments.sarif, arguments.html);
  if (!arguments.emit.empty() &&
      (arguments.format != "text" || arguments.sarif == "-" || arguments.html == "-"))
    throw InputError::whole("standard output takes one form", "--emit " + arguments.emit,
                            "leave the other form out, or write it to a file");
  Sources sources(arguments.source);
  Results const decided = compute(common, arguments, options);
  std::vector<Result> const& results = decided.all;
  Sums const sums = sums_of(results);
  common.exit_code = sums.refuted != 0 ? refuted : sums.unknown != 0 ? undecided : holds;
  Architecture const& arch = parse_architecture(common.arch);
  std::vector<SarifFinding> const findings = findings_of(results, arch, sources);
  if (!arguments.sarif.empty())
    write_output(
        common, arguments.sarif, "the SARIF file",
        json_text(sarif(SWIZPROOF_VERSION, kernel_rules, in_checkout(findings), certainty(arch)), 2) + "\n",
        true);
  if (!arguments.html.empty())
    write_output(common, arguments.html, "the page", page_of(arguments.files, results, arch, sources), true);
  if (!arguments.emit.empty())
    return print_obligation(common, to_json(decided, arch, sources),
                            obligations_of(common, arguments, options, results), decided.notes);
  if (common.json) return print_json(common, to_json(decided, arch, sources));
  if (arguments.sarif == "-" || arguments.html == "-") return;
  if (arguments.format == "gcc")
    return fmt::print(common.streams.out, "{}", gcc_lines(kernel_rules, findings));
  Style const style = style_of(common);
  for (std::string const& note : decided.notes) fmt::print(common.streams.out, "note: {}\n", note);
  for (Result const& r : results) print(common, r, arch, sources, style);
  fmt::print(common.streams.out,
             "{} in all: {} proved{}, {} refuted, {} depend on data, {} unknown; of the {}, over all warps, "
             "blocks, "
             "iterations and parameters\n{}{}",
             sums.proved + sums.refuted + sums.data + sums.unknown, sums.proved,
             sums.idle == 0 ? "" : fmt::format(" ({} not executed)", sums.idle), sums.refuted, sums.data,
             sums.unknown, results.front().report.sass ? "SASS" : "PTX", open_faults(results),
             certainty_footer(arch, style));
}

}  // namespace
}  // namespace kernel_detail

void add_kernel(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "kernel", "What does each shared-memory instruction of a compiled kernel cost at most?",
      {"swizproof kernel transpose.ptx --block 32,8",
       "which accesses of these kernels have bank conflicts, in any warp and iteration?"});
  auto const arguments = std::make_shared<kernel_detail::KernelArguments>();
  auto const options = std::make_shared<KernelOptions>();
  sub->add_option(
         "FILE", arguments->files,
         "PTX, as nvcc -ptx -lineinfo writes it; a folder: every .ptx in it; SASS, as nvdisasm -g or "
         "cuobjdump\n-sass print it; or a library, program, object, archive, cubin or wheel, which these "
         "tools of "
         "the "
         "CUDA toolkit read:\nits PTX, and its machine code if it has none")
      ->required();
  sub->add_flag(
      "--sass", arguments->machine,
      "decide the machine code of a binary, not the PTX that it keeps; of a folder its .cubin and .sass "
      "files");
  sub->add_option(
      "--kernel", arguments->kernel,
      "only kernels with a name that this regular expression finds; of PTX the code of others is not "
      "read");
  sub->add_option("--block", arguments->blocks,
                  "threads of a block: X, X,Y or X,Y,Z; may be repeated. Needed if the kernel reads\ntid.y "
                  "or tid.z and its code has no .reqntid")
      ->type_name("INTEGERS")
      ->allow_extra_args(false);
  sub->add_option("--param", arguments->params,
                  "a parameter's value: NAME=VALUE, or '#0=VALUE' for the first. An integer that fits the\n"
                  "parameter, signed or unsigned: -2147483648 to 4294967295 for 32 bits; of a float its bits")
      ->allow_extra_args(false);
  auto* const bytes = sub->add_option("--shared-bytes", arguments->shared_bytes,
                                      "bytes of dynamic shared memory, for the verdict in_bounds")
                          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
  sub->add_option(
         "--base", arguments->base,
         "addresses of shared arrays: device, those that a device gives (H18) where an answer depends on "
         "them,\nwhich is listed as assumed; ptx, all that PTX permits")
      ->check(CLI::IsMember({"device", "ptx"}))
      ->capture_default_str();
  auto* const most = sub->add_option("--at-most", arguments->at_most,
                                     "wavefronts that each access may take; else the ideal number");
  sub->add_option("--source", arguments->source,
                  "a folder to look for the sources in, for the longest tail of each path of the PTX that is "
                  "there,\nbefore the path itself; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  add_emit_toml_to(*sub, arguments->emit);
  add_format_to(*sub, arguments->format);
  add_output_to(*sub, "--sarif", arguments->sarif,
                "write what is not proved to this file (or -) as SARIF 2.1.0, for code hosts and editors");
  add_output_to(
      *sub, "--html", arguments->html,
      "write a page to this file (or -): kernels, their lines of source with the wavefronts of each, and a "
      "picture\nof each worst warp");
  add_brief_to(*sub, common);
  sub->callback([&common, arguments, options, bytes, most] {
    if (bytes->count() != 0) options->shared_bytes = arguments->shared_bytes;
    if (most->count() != 0) options->at_most = arguments->at_most;
    options->any_base = arguments->base == "ptx";
    kernel_detail::run(common, *arguments, *options);
  });
}

}  // namespace swizproof::command
