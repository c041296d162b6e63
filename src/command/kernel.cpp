// swizproof kernel: what does each shared-memory instruction of a compiled kernel cost at most?
#include "command/command.hpp"
#include "command/help.hpp"

#include "system/whole_file.hpp"
#include "parse/kernels.hpp"
#include "parse/pattern.hpp"
#include "profile/source.hpp"
#include "report/kernel.hpp"
#include "report/report.hpp"
#include "report/sarif.hpp"

#include <swizproof/analysis/kernel.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <tuple>
#include <unistd.h>

namespace swizproof::command {

namespace kernel_detail {
namespace {

using Json = nlohmann::ordered_json;

struct KernelArguments {
  std::vector<std::string> files;
  std::string kernel;
  std::vector<std::string> blocks, params, source;
  std::string sarif;
  std::uint64_t shared_bytes = 0;
  unsigned at_most = 0;
};

/// One kernel of one file, with one shape of block.
struct Result {
  std::string file{};
  std::string name{};  ///< demangled
  KernelReport report{};
};

struct Sums {
  std::size_t proved = 0, refuted = 0, data = 0, unknown = 0;
};

/// `128`, `32,8` or `16,16,2`.
std::array<std::uint32_t, 3> parse_block(std::string const& text) {
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::size_t at = 0;
  for (unsigned i = 0;; ++i) {
    char const* const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data() + at, end, block[std::min(i, 2U)]);
    if (i > 2 || error != std::errc{} || block[i] == 0 || block[i] > 1024)
      throw InputError{"--block takes one to three numbers of threads", text, at, 1,
                       "for instance --block 128 or --block 32,8"};
    at = static_cast<std::size_t>(stop - text.data());
    if (at == text.size()) break;
    if (text[at++] != ',')
      throw InputError{"--block takes one to three numbers of threads", text, at - 1, 1,
                       "for instance --block 32,8"};
  }
  if (std::string const why = why_no_block({}, block); !why.empty()) throw InputError::whole(why, text);
  return block;
}

/// `n=1024`, `n=-1`, `param_2=0x10`.
std::pair<std::string, ParameterValue> parse_param(std::string const& text) {
  std::size_t const equal = text.find('=');
  if (equal != text.npos && equal != 0) {
    std::string_view digits = std::string_view(text).substr(equal + 1);
    bool const minus = digits.starts_with('-');
    if (minus) digits.remove_prefix(1);
    bool const hex = digits.starts_with("0x");
    if (hex) digits.remove_prefix(2);
    std::uint64_t n = 0;
    auto const [stop, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), n, hex ? 16 : 10);
    if (error == std::errc{} && stop == digits.data() + digits.size())
      return {text.substr(0, equal), {minus ? 0 - n : n, minus && n != 0}};
  }
  throw InputError::whole("--param takes NAME=VALUE", text, "the first parameter is #0: --param '#0=1024'");
}

/// Every .ptx below a folder, or the file itself.
std::vector<std::string> files_of(std::vector<std::string> const& names, bool& folder) {
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
      if (at->path().extension() == ".ptx" && at->is_regular_file(error))
        found.push_back(at->path().string());
    if (found.empty())
      throw InputError::whole("the folder has no .ptx file", name, "nvcc -ptx -lineinfo writes one");
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::vector<Result> compute(Common const& common, KernelArguments const& arguments, KernelOptions options) {
  Pattern const chosen(arguments.kernel, "--kernel");
  options.arch = &parse_architecture(common.arch);
  std::vector<std::string> unused;  // parameters that no kernel has
  for (std::string const& p : arguments.params) {
    auto const [at, fresh] = options.params.insert(parse_param(p));
    if (!fresh) throw InputError::whole("this parameter has a value already", p);
    unused.push_back(at->first);
  }
  std::vector<std::optional<std::array<std::uint32_t, 3>>> blocks;
  for (std::string const& b : arguments.blocks)
    if (auto const block = parse_block(b); std::find(blocks.begin(), blocks.end(), block) == blocks.end())
      blocks.emplace_back(block);
  if (blocks.empty()) blocks.emplace_back();
  bool folder = false;
  std::vector<Result> results;
  std::size_t kernels = 0;
  for (std::string const& file : files_of(arguments.files, folder)) {
    ptx::Module const module = ptx::read_module(read_file(file), file);
    for (ptx::Function const& f : module.functions) {
      if (!f.entry) continue;
      ++kernels;
      std::string const name = demangled(f.name);
      if (!chosen.found_in(f.name) && !chosen.found_in(name)) continue;
      std::erase_if(unused, [&](std::string const& p) { return parameter_of(f, p).has_value(); });
      if (std::string const why = why_no_parameter(f, options.params); !why.empty())
        throw InputError::whole(fmt::format("kernel {}: {}", name, why),
                                fmt::format("{}", fmt::join(arguments.params, " ")));
      for (auto const& block : blocks) {
        options.block = block;
        Result one{file, name, decide_kernel(module, f, options)};
        if (!folder && !one.report.accesses.empty() && needs_block(module, f, options))
          throw InputError::whole(
              "the shape of the kernel's block is not known: it reads tid.y, tid.z, ntid.y or ntid.z", name,
              "give --block X,Y,Z");
        results.push_back(std::move(one));
      }
    }
  }
  if (results.empty() && kernels != 0)
    throw InputError::whole("no kernel has a name that matches", arguments.kernel,
                            "without --kernel all are read");
  if (!unused.empty() && !results.empty())
    throw InputError::whole("no kernel has this parameter", unused[0],
                            "the first parameter is #0: --param '#0=1024'");
  if (kernels == 0) throw InputError::whole("there is no kernel (.entry) in it", arguments.files[0]);
  return results;
}

Sums sums_of(std::vector<Result> const& results) {
  Sums sums;
  for (Result const& r : results)
    for (KernelAccess const& a : r.report.accesses)
      ++(a.verdict == KernelVerdict::proved    ? sums.proved
         : a.verdict == KernelVerdict::refuted ? sums.refuted
         : a.verdict == KernelVerdict::data    ? sums.data
                                               : sums.unknown);
  return sums;
}

// ----------------------------------------------------------------------------------------- JSON

/// Text of the access's line of source, where it can be read.
std::optional<std::string> source_text(Sources& sources, KernelAccess const& a) {
  return a.file.empty() ? std::nullopt : sources.file(a.file).line(a.line);
}

Json to_json(std::vector<Result> const& results, Architecture const& arch, Sources& sources) {
  Sums const sums = sums_of(results);
  Json out{{"verdict", sums.refuted != 0   ? "refuted"
                       : sums.unknown != 0 ? "unknown"
                                           : "proved"},
           {"arch", arch.name},
           {"kernels", Json::array()}};
  for (Result const& r : results) {
    Json kernel = swizproof::to_json(r.report, r.name, r.file);
    for (std::size_t i = 0; i < r.report.accesses.size(); ++i)
      if (auto text = source_text(sources, r.report.accesses[i]))
        kernel["accesses"][i]["source"] = std::move(*text);
    out["kernels"].push_back(std::move(kernel));
  }
  out["proved"] = sums.proved;
  out["refuted"] = sums.refuted;
  out["data_dependent"] = sums.data;
  out["unknown"] = sums.unknown;
  return out;
}

// ---------------------------------------------------------------------------------------- SARIF

enum Rule : std::size_t { conflict_rule, fault_rule, data_rule, unknown_rule };

constexpr SarifRule kernel_rules[] = {
    {"shared-memory-bank-conflict", "The lanes of a warp need one bank of shared memory for different words.",
     "The message names the lanes. Pad the rows of the array, or swizzle it: swizproof find.", "error"},
    {"shared-memory-fault", "An access to shared memory is misaligned, or lies beyond its array.",
     "Align the array, or correct the index.", "error"},
    {"shared-memory-data-dependent", "What an access to shared memory costs depends on loaded data.",
     "The message has the bound for all data.", "note"},
    {"shared-memory-not-decided", "An access to shared memory was not decided.",
     "Give --param, --block or --shared-bytes if the reason names them.", "warning"}};

Rule rule_of(KernelAccess const& a) {
  if (a.verdict == KernelVerdict::data) return data_rule;
  if (a.verdict == KernelVerdict::unknown) return unknown_rule;
  return a.aligned == false || a.in_bounds == false ? fault_rule : conflict_rule;
}

/// Path of a source where it was found, else as the PTX has it.
std::string found_at(Sources& sources, std::string const& file) {
  SourceFile const& found = sources.file(file);
  return path_in_checkout(found.read() ? found.path : file);
}

std::string sarif_of(std::vector<Result> const& results, Architecture const& arch, Sources& sources) {
  std::vector<SarifFinding> findings;
  for (Result const& r : results)
    for (FailingAccess const& f : failing_of(r.report, true)) {
      KernelAccess const& a = *f.access;
      std::string text = describe(f, arch, 0, Style("never", STDOUT_FILENO));
      text.pop_back();
      bool const mapped = !a.file.empty();
      findings.push_back({std::move(text), mapped ? found_at(sources, a.file) : path_in_checkout(r.file),
                          mapped ? a.line : a.ptx_line, r.name, rule_of(a)});
    }
  return json_text(sarif(SWIZPROOF_VERSION, kernel_rules, findings, certainty(arch)), 2) + "\n";
}

// ----------------------------------------------------------------------------------------- text

std::string colored(KernelVerdict v, Style const& style) {
  std::string const text = fmt::format("{:<8}", name(v));
  return v == KernelVerdict::proved    ? style.good(text)
         : v == KernelVerdict::refuted ? style.bad(text)
                                       : style.doubtful(text);
}

/// `      31 | staged[i] = 0;`, where the source can be read.
std::string line_of(Sources& sources, KernelAccess const& a) {
  std::optional<std::string> const text = source_text(sources, a);
  if (!text) return {};
  std::size_t const first = std::min(text->find_first_not_of(" \t"), text->size());
  return fmt::format("      {} | {}\n", a.line, printable(text->substr(first)));
}

/// Instructions that a reader cannot tell apart: equal source, operation and verdict. Copies in an unrolled loop, for instance.
struct Row {
  KernelAccess const* first = nullptr;
  std::size_t count = 0;
};

std::vector<Row> rows_of(std::vector<KernelAccess> const& accesses) {
  auto const key = [](KernelAccess const& a) {
    return std::tuple(a.verdict, source_of(a), a.op, a.wavefronts, a.reached, a.executed, a.ideal, a.reason,
                      a.instruction.has_value(), a.aligned, a.in_bounds);
  };
  std::vector<Row> rows;
  std::map<decltype(key(accesses.front())), std::size_t> known;
  for (KernelAccess const& a : accesses) {
    auto const [at, fresh] = known.try_emplace(key(a), rows.size());
    if (fresh) rows.push_back({&a, 0});
    ++rows[at->second].count;
  }
  return rows;
}

void print(Common const& common, Result const& r, Architecture const& arch, Sources& sources,
           Style const& style) {
  std::vector<Row> rows = rows_of(r.report.accesses);
  if (style.brief())
    std::erase_if(rows, [](Row const& row) { return row.first->verdict == KernelVerdict::proved; });
  if (style.brief() && rows.empty() && r.report.refused.empty()) return;
  fmt::print(common.streams.out, "{}{}\n", style.strong(r.name),
             r.report.block.empty() ? "" : "  block " + r.report.block);
  if (r.report.accesses.empty()) {
    fmt::print(common.streams.out, "  no access to shared memory\n\n");
    return;
  }
  if (!r.report.refused.empty()) fmt::print(common.streams.out, "  not decided: {}\n", r.report.refused);
  std::size_t wide = 6, op = 2;
  for (KernelAccess const& a : r.report.accesses)
    wide = std::max(wide, source_of(a).size()), op = std::max(op, a.op.size());
  fmt::print(common.streams.out, "  {}\n",
             style.faint(fmt::format("{:<8}  {:<{}}  {:<{}}  {:>5}  {:>10}  {:>5}  {:>6}  {:>7}  {:>6}", "",
                                     "source", wide, "op", op, "count", "wavefronts", "ideal", "excess",
                                     "aligned", "bounds")));
  for (Row const& row : rows) {
    KernelAccess const& a = *row.first;
    std::string const number =
        a.wavefronts ? fmt::format("{}{}", a.reached || !a.executed ? "" : "<=", *a.wavefronts) : "-";
    std::string const excess =
        a.wavefronts && a.instruction ? std::to_string(excess_over(a.ideal, *a.wavefronts)) : "-";
    auto const fact = [&](std::optional<bool> holds) {
      return !a.instruction || !a.executed ? "-" : !holds ? "?" : *holds ? "yes" : "no";
    };
    fmt::print(common.streams.out, "  {}  {:<{}}  {:<{}}  {:>5}  {:>10}  {:>5}  {:>6}  {:>7}  {:>6}{}\n",
               colored(a.verdict, style), source_of(a), wide, a.op, op, row.count, number,
               a.instruction ? std::to_string(a.ideal) : "-", excess, fact(a.aligned), fact(a.in_bounds),
               a.reason.empty() ? "" : "  " + a.reason);
    if (std::string const lanes = lanes_of(a, arch, 6, style); !lanes.empty())
      fmt::print(common.streams.out, "{}{}", line_of(sources, a), lanes);
  }
  fmt::print(common.streams.out, "\n");
}

void run(Common& common, KernelArguments const& arguments, KernelOptions const& options) {
  if (common.json && arguments.sarif == "-")
    throw InputError{"standard output takes one form", "--json", 0, 6, "write the SARIF file to a file"};
  if (arguments.sarif == "-") refuse_brief(common, "--sarif -");
  Sources sources(arguments.source);
  std::vector<Result> const results = compute(common, arguments, options);
  Sums const sums = sums_of(results);
  common.exit_code = sums.refuted != 0 ? refuted : sums.unknown != 0 ? undecided : holds;
  Architecture const& arch = parse_architecture(common.arch);
  if (!arguments.sarif.empty())
    write_output(common, arguments.sarif, "the SARIF file", sarif_of(results, arch, sources), true);
  if (common.json) return print_json(common, to_json(results, arch, sources));
  if (arguments.sarif == "-") return;
  Style const style = style_of(common);
  for (Result const& r : results) print(common, r, arch, sources, style);
  fmt::print(common.streams.out,
             "{} proved, {} refuted, {} depend on data, {} unknown; of the PTX, over all warps, blocks, "
             "iterations and parameters\n{}",
             sums.proved, sums.refuted, sums.data, sums.unknown, certainty_footer(arch, style));
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
  sub->add_option("FILE", arguments->files,
                  "PTX, as nvcc -ptx -lineinfo writes it, or a folder: every .ptx in it")
      ->required();
  sub->add_option("--kernel", arguments->kernel,
                  "only kernels with a name that this regular expression finds");
  sub->add_option("--block", arguments->blocks,
                  "threads of a block: X, X,Y or X,Y,Z; may be repeated. Needed if the kernel reads\ntid.y "
                  "or tid.z and its PTX has no .reqntid")
      ->allow_extra_args(false);
  sub->add_option("--param", arguments->params,
                  "a parameter's value: NAME=VALUE, or '#0=VALUE' for the first. An integer that fits the\n"
                  "parameter, signed or unsigned: -2147483648 to 4294967295 for 32 bits; of a float its bits")
      ->allow_extra_args(false);
  auto* const bytes = sub->add_option("--shared-bytes", arguments->shared_bytes,
                                      "bytes of dynamic shared memory, for the verdict in_bounds")
                          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
  auto* const most = sub->add_option("--at-most", arguments->at_most,
                                     "wavefronts that each access may take; else the ideal number");
  sub->add_option("--source", arguments->source,
                  "a folder to look for the sources in, for the longest tail of each path of the PTX that is "
                  "there,\nbefore the path itself; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  add_output_to(*sub, "--sarif", arguments->sarif,
                "write what is not proved to this file (or -) as SARIF 2.1.0, for code hosts and editors");
  add_brief_to(*sub, common);
  sub->callback([&common, arguments, options, bytes, most] {
    if (bytes->count() != 0) options->shared_bytes = arguments->shared_bytes;
    if (most->count() != 0) options->at_most = arguments->at_most;
    kernel_detail::run(common, *arguments, *options);
  });
}

}  // namespace swizproof::command
