// swizproof kernel: what does each shared-memory instruction of a compiled kernel cost at most?
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/kernel/decision.hpp"
#include "command/line/help.hpp"
#include "command/kernel/entries.hpp"
#include "command/kernel/launch.hpp"
#include "command/kernel/since.hpp"
#include "command/kernel/target.hpp"
#include "command/kernel/lock.hpp"
#include "command/kernel/results.hpp"
#include "command/kernel/watch.hpp"
#include "command/profile/page_parts.hpp"

#include "parse/question/kernels.hpp"
#include "system/whole_file.hpp"
#include "report/report.hpp"

#include <swizproof/engine/solver.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
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

Sums sums_of(Results const& of) {
  Sums sums;
  auto const count = [&](KernelVerdict v, bool executed) {
    sums.idle += executed ? 0 : 1;
    ++(v == KernelVerdict::proved    ? sums.proved
       : v == KernelVerdict::refuted ? sums.refuted
       : v == KernelVerdict::data    ? sums.data
                                     : sums.unknown);
  };
  for (Result const& r : of.all) {
    sums.open.add(r.report);
    for (KernelAccess const& a : r.report.accesses) {
      count(a.verdict, a.executed);
      bool const above = a.wavefronts && a.executed;
      sums.allowed += above && a.verdict == KernelVerdict::proved && excess_of(a) != 0 ? 1 : 0;
      sums.over +=
          above && of.limited && a.verdict == KernelVerdict::data && *a.wavefronts > a.allowed ? 1 : 0;
    }
    for (KernelOperand const& o : r.report.operands) count(o.verdict, o.executed);
    for (KernelAccess const& a : r.report.global) count(a.verdict, a.executed);
    if (!r.report.races) continue;
    RaceVerdict const races = r.report.races->verdict;
    ++(races == RaceVerdict::proved    ? sums.race_free
       : races == RaceVerdict::refuted ? sums.races
                                       : sums.races_open);
  }
  return sums;
}

Json to_json(Results const& of, Architecture const& arch, Sources& sources) {
  std::vector<Result> const& results = of.all;
  Sums const sums = sums_of(of);
  Json out{{"verdict", sums.any_refuted()                           ? "refuted"
                       : sums.any_unknown() || !of.not_read.empty() ? "unknown"
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
    for (std::size_t i = 0; i < r.report.global.size(); ++i)
      if (auto text = source_text(sources, {r.report.global[i].file, r.report.global[i].line}))
        kernel["global_accesses"][i]["source"] = std::move(*text);
    out["kernels"].push_back(std::move(kernel));
  }
  if (!of.notes.empty()) out["notes"] = of.notes;
  for (UnreadFile const& f : of.not_read) out["not_read"].push_back({{"file", f.file}, {"reason", f.reason}});
  out["proved"] = sums.proved;
  out["refuted"] = sums.refuted;
  out["data_dependent"] = sums.data;
  out["unknown"] = sums.unknown;
  out["bounds_undecided"] = sums.open.bounds;
  out["alignment_undecided"] = sums.open.alignment;
  return out;
}

/// The same arguments for the file of --since.
KernelArguments earlier(KernelArguments arguments) {
  arguments.files = {arguments.since};
  return arguments;
}

/// The comparison, and the verdict on it.
void add_comparison(Comparison const& c, std::string const& since, int exit_code, Json& document) {
  document["verdict"] = name(exit_code == holds     ? KernelVerdict::proved
                             : exit_code == refuted ? KernelVerdict::refuted
                                                    : KernelVerdict::unknown);
  document["since"] = comparison_json(c, since);
}

/// Names of the kernels whose accesses are all proved, and what that rests on.
std::string proved_kernels(std::vector<Result> const& results) {
  constexpr std::size_t most = 4;
  std::vector<std::string> names;
  std::size_t more = 0;
  std::set<std::string> assumed, forms;
  for (Result const& r : results) {
    auto const proved = [](auto const& all) {
      return std::all_of(all.begin(), all.end(),
                         [](auto const& a) { return a.verdict == KernelVerdict::proved; });
    };
    std::size_t const all = r.report.accesses.size() + r.report.global.size();
    if (all == 0 || !proved(r.report.accesses) || !proved(r.report.global) || !proved(r.report.operands) ||
        !r.report.refused.empty())
      continue;
    assumed.insert(r.report.rests_on.begin(), r.report.rests_on.end());
    forms.insert(r.report.assumed.begin(), r.report.assumed.end());
    if (!r.report.assumed_bases.empty()) assumed.insert(r.report.assumed_bases);
    if (names.size() == most)
      ++more;
    else
      names.push_back(fmt::format("{} ({} access{})", short_name(r.name), all, all == 1 ? "" : "es"));
  }
  if (names.empty()) return {};
  std::string out = fmt::format("every access is proved of {}{}\n", fmt::join(names, ", "),
                                more == 0 ? "" : fmt::format(" and {} more", more));
  if (!forms.empty()) out += fmt::format("  {}\n", assumed_in_words({forms.begin(), forms.end()}));
  for (std::string const& one : assumed) out += fmt::format("  assumed: {}\n", one);
  return out;
}

/// `kernels: 2 race free, 1 with races, 0 undecided`, as a line; empty without --races.
std::string races_in_words(Sums const& sums) {
  if (sums.race_free + sums.races + sums.races_open == 0) return {};
  return fmt::format("kernels: {} race free, {} with races, {} undecided\n", sums.race_free, sums.races,
                     sums.races_open);
}

/// `; bounds of 4 undecided`, or nothing.
std::string open_in_words(Sums const& sums) {
  std::string const text = sums.open.text();
  return text.empty() ? text : "; " + text;
}

/// How many accesses have each verdict, of what, and what the model of the architecture rests on.
void print_sums(Common& common, std::vector<Result> const& results, Sums const& sums,
                Architecture const& arch, Style const& style) {
  std::vector<std::string> proved;
  if (sums.idle != 0) proved.push_back(fmt::format("{} dead code", sums.idle));
  if (sums.allowed != 0) proved.push_back(fmt::format("{} above the ideal, as allowed", sums.allowed));
  bool const sass = results.front().report.sass;
  fmt::print(common.streams.out,
             "{} in all: {} proved{}, {} refuted, {} depend on data{}, {} unknown{};\n"
             "of the {}, over all warps, blocks, iterations and parameters\n",
             sums.proved + sums.refuted + sums.data + sums.unknown, sums.proved,
             proved.empty() ? "" : fmt::format(" ({})", fmt::join(proved, ", ")), sums.refuted, sums.data,
             sums.over == 0 ? "" : fmt::format(" ({} above --at-most)", sums.over), sums.unknown,
             open_in_words(sums), sass ? "SASS" : "PTX");
  for (std::string const& line : sums.open.lines()) fmt::print(common.streams.out, "  {}\n", line);
  if (style.brief()) fmt::print(common.streams.out, "{}", proved_kernels(results));
  fmt::print(common.streams.out, "{}{}", races_in_words(sums), certainty_footer(arch, style));
  if (!style.brief())
    fmt::print(
        common.streams.out, "{}\n",
        style.faint(fmt::format(
            "engines: symbolic execution, enumeration modulo the banks, {}\n"
            "assumed: {}docs/kernels.md has {}",
            solver_name(), sass ? "" : "ptxas keeps these accesses (--sass decides its code);\n         ",
            sass ? "the list" : "the others")));
}

/// Decides again whenever a file changes, and prints what became worse and better, until a signal ends the program.
[[noreturn]] void keep_watching(Common& common, KernelArguments const& arguments,
                                KernelOptions const& options, Results before) {
  std::vector<std::string> files = arguments.files;
  files.insert(files.end(), before.sources.begin(), before.sources.end());
  WatchedFiles watched(files);
  for (;;) {
    fmt::print(common.streams.out, "watching; Ctrl-C ends\n");
    std::fflush(common.streams.out);
    std::string const changed = watched.wait_for_change();
    try {
      Results now = decide_files(common, arguments, options, {});
      fmt::print(common.streams.out, "\n{}",
                 describe(compared(now.all, before), "before " + changed + " changed"));
      now.limited = before.limited;
      Sums const sums = sums_of(now);
      fmt::print(common.streams.out, "now {} proved, {} refuted, {} depend on data, {} unknown{}\n{}",
                 sums.proved, sums.refuted, sums.data, sums.unknown, open_in_words(sums),
                 races_in_words(sums));
      before = std::move(now);
    } catch (InputError const& error) {  // half a line that is typed
      fmt::print(common.streams.out, "\n{}\n", swizproof::describe(error, style_of(common)));
    } catch (CompilerLimit const& limit) {
      fmt::print(common.streams.out, "\nundecided: {}\n", limit.what());
    }
  }
}

/// Refuses outputs that exclude one another.
void refuse_mixed(Common const& common, KernelArguments const& arguments, KernelOptions const& options) {
  if (arguments.watch && (common.json || arguments.format != "text" || !arguments.emit.empty() ||
                          !arguments.sarif.empty() || !arguments.html.empty() || !arguments.since.empty()))
    throw InputError::whole("--watch prints text alone", "--watch",
                            "leave out --json, --format, --emit, --sarif, --html and --since");
  refuse_without_source(arguments.compiler, arguments.files);
  if (options.pointers != 0 && !std::has_single_bit(options.pointers))
    throw InputError::whole("an alignment is a power of two", fmt::format("--pointers {}", options.pointers));
  if (!arguments.emit.empty() && !arguments.since.empty())
    throw InputError::whole("--emit prints obligations, and --since a comparison", "--emit " + arguments.emit,
                            "leave --since out");
  refuse_two_forms(common, arguments.sarif, arguments.html);
  refuse_format(common, arguments.format, arguments.sarif, arguments.html);
  if (arguments.format == "markdown" && arguments.since.empty())
    throw InputError::whole("--format markdown is the table of a comparison", "--format markdown",
                            "name the earlier build: --since FILE");
  if (!arguments.emit.empty() &&
      (arguments.format != "text" || arguments.sarif == "-" || arguments.html == "-"))
    throw InputError::whole("standard output takes one form", "--emit " + arguments.emit,
                            "leave the other form out, or write it to a file");
}

/// The files of --sarif and --html, which are opened before the work begins.
class Reports {
 public:
  explicit Reports(KernelArguments const& arguments) : arguments_(arguments) {
    if (!arguments.sarif.empty() && arguments.sarif != "-") sarif_.emplace(arguments.sarif, "the SARIF file");
    if (!arguments.html.empty() && arguments.html != "-") html_.emplace(arguments.html, "the page");
  }

  void write(Common& common, std::vector<Result> const& results, std::vector<SarifFinding> const& findings,
             Sources& sources) {
    Architecture const& arch = parse_architecture(common.arch);
    auto const write_to = [&](std::optional<WholeFile>& file, std::string const& text) {
      file ? file->write(text) : fmt::print(common.streams.out, "{}", text);
    };
    if (!arguments_.sarif.empty())
      write_to(sarif_,
               json_text(sarif(SWIZPROOF_VERSION, kernel_rules, in_checkout(findings), certainty(arch)), 2) +
                   "\n");
    if (!arguments_.html.empty()) write_to(html_, page_of(arguments_.files, results, arch, sources));
  }

 private:
  KernelArguments const& arguments_;
  std::optional<WholeFile> sarif_{}, html_{};
};

void run(Common& common, KernelArguments const& arguments, KernelOptions const& options) {
  refuse_mixed(common, arguments, options);
  Reports reports(arguments);
  Sources sources(arguments.source);
  bool const text = !common.json && arguments.emit.empty() && arguments.sarif != "-" &&
                    arguments.html != "-" && arguments.format == "text" && arguments.since.empty();
  Style const style = style_of(common);
  std::size_t notes = 0;  // that are printed
  auto const print_notes = [&](std::vector<std::string> const& all) {
    for (; notes < all.size(); ++notes) fmt::print(common.streams.out, "note: {}\n", all[notes]);
  };
  OnResult const print_one = [&](Result const& r, Architecture const& arch,
                                 std::vector<std::string> const& all) {
    print_notes(all);
    print(common, r, arch, sources, style);
    std::fflush(common.streams.out);
  };
  Results decided = decide_files(common, arguments, options, text ? print_one : OnResult());
  decided.limited = options.at_most.has_value();
  std::vector<Result> const& results = decided.all;
  Sums const sums = sums_of(decided);
  common.exit_code = sums.any_refuted()                                ? refuted
                     : sums.any_unknown() || !decided.not_read.empty() ? undecided
                                                                       : holds;
  std::optional<Comparison> since;
  if (!arguments.since.empty()) {
    since = compared(results, decide_files(common, earlier(arguments), options, {}));
    bool const all_read = decided.not_read.empty() && since->not_read.empty() && since->undecided.empty();
    common.exit_code = !since->worse.empty() ? refuted : all_read ? holds : undecided;
  }
  Architecture const& arch = parse_architecture(common.arch);
  std::vector<SarifFinding> const findings = findings_of(results, arch, sources, since ? &*since : nullptr);
  reports.write(common, results, findings, sources);
  if (!arguments.emit.empty()) {
    std::vector<std::string> notes = decided.notes;
    if (arguments.emit == "lock") {
      std::vector<std::string> const open = not_covered(results);
      if (open.empty() && decided.not_read.empty()) common.exit_code = holds;  // as of the entries
      add_notes(notes, open);
    }
    return print_obligation(common, to_json(decided, arch, sources),
                            entries_of(common, arguments, options, results, sources), notes);
  }
  if (common.json) {
    Json document = to_json(decided, arch, sources);
    if (since) add_comparison(*since, arguments.since, common.exit_code, document);
    return print_json(common, document);
  }
  if (arguments.sarif == "-" || arguments.html == "-") return;
  if (arguments.format == "gcc")
    return fmt::print(common.streams.out, "{}", gcc_lines(kernel_rules, findings));
  if (arguments.format == "markdown")
    return fmt::print(common.streams.out, "{}", in_markdown(*since, arguments.since, decided));
  print_notes(decided.notes);
  fmt::print(common.streams.out, "{}", left_out(decided));
  if (since) return fmt::print(common.streams.out, "{}", describe(*since, arguments.since));
  print_sums(common, results, sums, arch, style);
  if (arguments.watch) keep_watching(common, arguments, options, decided);
}

/// Files that the answer is written to.
void add_reports_to(CLI::App& sub, KernelArguments& arguments) {
  add_output_to(sub, "--sarif", arguments.sarif,
                "write what is not proved to this file (or -) as SARIF 2.1.0, for code hosts and editors");
  add_output_to(
      sub, "--html", arguments.html,
      "write a page to this file (or -): kernels, their lines of source with the wavefronts of each, and a "
      "picture\nof each worst warp");
}

/// Options that ask more than the cost.
void add_questions_to(CLI::App& sub, KernelArguments& arguments, KernelOptions& options) {
  auto* const races = sub.add_flag(
      "--races", options.races,
      "also: do two threads of a block access one byte of shared memory, one of them writing it, with no\n"
      "barrier between, in any launch? Exit code 1 if so. --block and --param narrow the launches");
  sub.add_option(
         "--since", arguments.since,
         "compare with an earlier build (any form of FILE): lists the lines that cost more or less.\n"
         "Exit code 1 if a line "
         "is worse or a new one has a conflict, also in a new or renamed kernel, 3 if one may be and is not\n"
         "decided, else 0, also with older conflicts (notes in --sarif). Lines are matched by kernel, block, "
         "line\n"
         "and instruction, and compared by the wavefronts that a block loses, above --at-most if it is "
         "given; "
         "with\n--races also the races of both builds")
      ->type_name("FILE");
  auto* const global = sub.add_flag("--global", options.global,
                                    "also: how many 32-byte sectors and 128-byte lines of global memory does "
                                    "each load and store of a warp\n"
                                    "touch, at least and at most?");
  sub.add_option(
         "--excess-sectors", options.excess_sectors,
         "with --global: sectors that are allowed above those that the bytes of the lanes need. 1 is what\n"
         "consecutive addresses from any address on take")
      ->needs(global)
      ->check(CLI::Range(0, 32))
      ->capture_default_str();
  sub.add_option(
         "--pointers", options.pointers,
         "bytes, a power of two, that divide each pointer that is a parameter; 256 for what cudaMalloc "
         "returns. "
         "Listed\n"
         "as an assumption. Without it any aligned address, and .ptr .align; 128 for what cp.async.cg reads")
      ->check(CLI::Range(1, 1 << 20));
  sub.add_flag("--same-values", options.same_values, "with --races: accept two writes of the same value")
      ->needs(races);
  sub.add_option_function<std::string>(
         "--proxy", [&options](std::string const& text) { options.proxies = text != "off"; },
         "with --races: whether a write needs a fence.proxy.async before wgmma reads it or a bulk copy "
         "overwrites\n"
         "it, as flow has it: write (default), as the PTX ISA requires, or off")
      ->needs(races)
      ->check(CLI::IsMember({"write", "off"}));
}

/// Adds the facts of a launch; returns --shared-bytes.
CLI::Option* add_launch_to(CLI::App& sub, KernelArguments& arguments) {
  sub.add_option("--block", arguments.blocks,
                 "threads of a block: X, X,Y or X,Y,Z; may be repeated. Needed if the kernel reads\ntid.y "
                 "or tid.z and its code has no .reqntid. NAME=X,Y: only for kernels\nwhose name "
                 "matches this regular expression, instead of the other shapes")
      ->type_name("INTEGERS")
      ->allow_extra_args(false);
  sub.add_option("--grid", arguments.grid,
                 "blocks of the grid: X, X,Y or X,Y,Z; else the answer is that of every grid")
      ->type_name("INTEGERS");
  sub.add_option(
         "--param", arguments.params,
         "a parameter's value: NAME=VALUE, or '#0=VALUE' for the first. An integer that fits the\n"
         "parameter, signed or unsigned: -2147483648 to 4294967295 for 32 bits; for a float, its bit pattern")
      ->allow_extra_args(false);
  auto* const bytes = sub.add_option("--shared-bytes", arguments.shared_bytes,
                                     "bytes of dynamic shared memory, for the verdict in_bounds")
                          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20));
  sub.add_option("--base", arguments.base,
                 "addresses of shared arrays: device, as measured on a device (H18), which is listed as an "
                 "assumption "
                 "if\na verdict depends on it; ptx, all that PTX permits")
      ->check(CLI::IsMember({"device", "ptx"}))
      ->capture_default_str();
  return bytes;
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
         "CUDA source (.cu), which nvcc compiles; PTX, as nvcc -ptx -lineinfo writes it; a folder: every "
         ".ptx in it; SASS, as nvdisasm -g or "
         "cuobjdump\n-sass print it; or a library, program, object, archive, cubin or wheel, which these "
         "tools of "
         "the "
         "CUDA toolkit read:\nits PTX, and its machine code if it has none")
      ->required();
  sub->add_flag("--sass", arguments->machine,
                "check the machine code of a binary, not its PTX; in a folder, the .cubin and .sass "
                "files");
  sub->add_option(
      "--kernel", arguments->kernel,
      "only kernels whose name matches this regular expression; in PTX, the code of others is not "
      "parsed");
  auto* const bytes = kernel_detail::add_launch_to(*sub, *arguments);
  kernel_detail::add_questions_to(*sub, *arguments, *options);
  auto* const most = sub->add_option("--at-most", arguments->at_most,
                                     "wavefronts that each access may take (default: the ideal)");
  sub->add_option(
         "--source", arguments->source,
         "a folder with the sources: a path in the PTX is searched here first, by its longest suffix that "
         "exists,\nthen as it is; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  add_compiler_to(*sub, arguments->compiler);
  sub->add_flag("--watch", arguments->watch,
                "decide again whenever a file changes, or one that a .cu file includes, and print which "
                "lines became worse and better")
      ->disable_flag_override();
  sub->add_option(
         "--emit", arguments->emit,
         "toml: print the question as an obligation for 'swizproof prove'; lock: the same, which allows "
         "each\n"
         "line the wavefronts that it takes now, so that 'swizproof prove' fails for what becomes worse")
      ->check(CLI::IsMember({"toml", "lock"}));
  add_format_to(*sub, arguments->format, true);
  kernel_detail::add_reports_to(*sub, *arguments);
  add_brief_to(*sub, common);
  sub->callback([&common, arguments, options, bytes, most] {
    if (bytes->count() != 0) options->shared_bytes = arguments->shared_bytes;
    if (most->count() != 0) options->at_most = arguments->at_most;
    arguments->compiler.lists_files = arguments->watch;
    options->any_base = arguments->base == "ptx";
    kernel_detail::run(common, *arguments, *options);
  });
}

}  // namespace swizproof::command
