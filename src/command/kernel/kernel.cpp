// swizproof kernel: what does each shared-memory instruction of a compiled kernel cost at most?
#include "command/line/command.hpp"
#include "command/layout/emit.hpp"
#include "command/kernel/fat_binary.hpp"
#include "command/line/help.hpp"
#include "command/kernel/launch.hpp"
#include "command/kernel/target.hpp"
#include "command/profile/page_parts.hpp"

#include "system/whole_file.hpp"
#include "parse/question/kernels.hpp"
#include "parse/text/regular_expression.hpp"
#include "picture/picture.hpp"
#include "profile/source.hpp"
#include "report/fix.hpp"
#include "report/kernel.hpp"
#include "report/report.hpp"
#include "report/sarif.hpp"

#include <swizproof/kernel/kernel.hpp>
#include <swizproof/sass/lower.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
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
  std::string sarif, html, emit, format = "text";
  std::uint64_t shared_bytes = 0;
  unsigned at_most = 0;
  bool machine = false;
};

/// One kernel of one file, with one shape of block.
struct Result {
  std::string file{};
  std::string part{};  ///< of a binary: `gemm.cu, sm_90a`
  std::string name{};  ///< demangled
  KernelReport report{};
};

/// Results, and what the reader of SASS left out, each once.
struct Results {
  std::vector<Result> all{};
  std::vector<std::string> notes{};
};

struct Sums {
  std::size_t proved = 0, refuted = 0, data = 0, unknown = 0;
  std::size_t idle = 0;  ///< of the proved ones, those that no lane executes
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

// ----------------------------------------------------------------------------------------- JSON

/// The outermost line of source that the access was inlined for and that can be read, else its own.
SourceLine outermost_line(Sources& sources, KernelAccess const& a) {
  auto const at = std::find_if(a.inlined_at.rbegin(), a.inlined_at.rend(),
                               [&](SourceLine const& line) { return sources.file(line.file).read(); });
  return at == a.inlined_at.rend() ? SourceLine{a.file, a.line} : *at;
}

/// Text of the access's line of source, where it can be read.
std::optional<std::string> source_text(Sources& sources, SourceLine const& at) {
  return at.file.empty() ? std::nullopt : sources.file(at.file).line(at.line);
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

// ---------------------------------------------------------------------------------------- SARIF

enum Rule : std::size_t {
  conflict_rule,
  fault_rule,
  data_rule,
  unknown_rule,
  operand_rule,
  open_operand_rule
};

constexpr SarifRule kernel_rules[] = {
    {"shared-memory-bank-conflict", "The lanes of a warp need one bank of shared memory for different words.",
     "The message names the lanes. Pad the rows of the array, or swizzle it: swizproof find.", "error"},
    {"shared-memory-fault", "An access to shared memory is misaligned, or lies beyond its array.",
     "Align the array, or correct the index.", "error"},
    {"shared-memory-data-dependent", "What an access to shared memory costs depends on loaded data.",
     "The message has the bound for all data.", "note"},
    {"shared-memory-not-decided", "An access to shared memory was not decided.",
     "Give --param, --block or --shared-bytes if the reason names them.", "warning"},
    {"shared-memory-operand",
     "A descriptor of wgmma or tcgen05, or an address of a bulk copy, is wrong for a base of its array.",
     "Declare the array with __align__, or round its address up.", "error"},
    {"shared-memory-operand-not-decided", "A descriptor or an address of a bulk copy was not decided.",
     "The message has the reason.", "warning"}};

Rule rule_of(KernelAccess const& a) {
  if (a.verdict == KernelVerdict::data) return data_rule;
  if (a.verdict == KernelVerdict::unknown) return unknown_rule;
  return is_fault(a) ? fault_rule : conflict_rule;
}

/// Path of a source where it was found, else as the PTX has it.
std::string found_at(Sources& sources, std::string const& file) {
  SourceFile const& found = sources.file(file);
  return found.read() ? found.path : file;
}

std::vector<SarifFinding> findings_of(std::vector<Result> const& results, Architecture const& arch,
                                      Sources& sources) {
  std::vector<SarifFinding> findings;
  for (Result const& r : results) {
    for (FailingAccess const& f : failing_of(r.report, true)) {
      KernelAccess const& a = *f.access;
      std::string text = describe(f, arch, 0, Style("never", STDOUT_FILENO));
      text.pop_back();
      bool const own = a.inlined_at.empty() || sources.file(a.file).read();
      SourceLine const at = own ? SourceLine{a.file, a.line} : outermost_line(sources, a);
      bool const mapped = !at.file.empty();
      findings.push_back({std::move(text), mapped ? found_at(sources, at.file) : r.file,
                          mapped ? at.line : a.ptx_line, r.name, rule_of(a)});
    }
    for (FailingOperand const& f : failing_operands(r.report)) {
      KernelOperand const& o = *f.operand;
      std::string text = describe(f, 0);
      text.pop_back();
      bool const mapped = !o.file.empty();
      findings.push_back({std::move(text), mapped ? found_at(sources, o.file) : r.file,
                          mapped ? o.line : o.ptx_line, r.name,
                          o.verdict == KernelVerdict::refuted ? operand_rule : open_operand_rule});
    }
  }
  return findings;
}

// ----------------------------------------------------------------------------------------- HTML

/// Wavefronts, ideal and excess of an instruction, as numbers; nothing is known of one without a bound.
Json numbers_of(KernelAccess const& a) {
  bool const known = a.wavefronts && a.instruction;
  return {{"executed", 1},
          {"wavefronts", known ? *a.wavefronts : 0},
          {"ideal", known && a.executed ? a.ideal : 0},
          {"excess", known ? excess_over(a.ideal, *a.wavefronts) : 0}};
}

void add_numbers(Json& to, Json const& one) {
  for (auto const& [key, value] : one.items())
    to[key] = to.value(key, std::uint64_t{0}) + value.get<std::uint64_t>();
}

/// One instruction as a line of the page of `explain`.
Json page_line(KernelAccess const& a, Architecture const& arch, Sources& sources, std::size_t& pictures) {
  SourceLine const at = outermost_line(sources, a);
  std::string const where = a.inlined_at.empty() ? "" : fmt::format(" ({})", source_of(a));
  Json line{{"pc", a.ptx_line},
            {"sass", fmt::format("{}{}{}{}", name(a.verdict), a.reason.empty() ? "" : ": " + a.reason, where,
                                 a.worst && a.verdict == KernelVerdict::refuted ? bases_of(*a.worst) : "")},
            {"file", at.file.empty() ? Json() : Json(at.file)},
            {"line", at.line},
            {"op", a.op},
            {"reached", a.reached},
            {"not_kept", 0},
            {"worst", nullptr}};
  line.update(numbers_of(a));
  if (!a.wavefronts || !a.instruction) return line;
  line["worst"] = {{"wavefronts", *a.wavefronts},
                   {"ideal", a.ideal},
                   {"degree", Json::array()},
                   {"conflicts", Json::array()}};
  if (!a.worst || a.atomic || a.verdict == KernelVerdict::proved) return line;
  line["worst"] = to_json(worst_of(arch, *a.instruction, a.worst->lanes), a.worst->lanes);
  if (line["excess"] != 0 && pictures++ < most_pictures)
    line["picture"] = figure_of(arch, a.op, *a.instruction, a.worst->lanes);
  return line;
}

std::string page_of(std::vector<std::string> const& files, std::vector<Result> const& results,
                    Architecture const& arch, Sources& sources) {
  bool const ptx =
      std::any_of(results.begin(), results.end(), [](Result const& r) { return !r.report.sass; });
  bool const sass =
      std::any_of(results.begin(), results.end(), [](Result const& r) { return r.report.sass; });
  Json report{{"language", ptx && sass ? "PTX or SASS"
                           : sass      ? "SASS"
                                       : "PTX"},
              {"program", files},
              {"arch", arch.name},
              {"arch_text", certainty(arch)},
              {"dropped", 0},
              {"failures", Json::array()},
              {"kernels", Json::array()}};
  add_numbers(report, {{"executed", 0}, {"wavefronts", 0}, {"ideal", 0}, {"excess", 0}});
  std::size_t pictures = 0;
  for (Result const& r : results) {
    Json kernel{{"kernel", r.name},        {"block", r.report.block}, {"refused", r.report.refused},
                {"unseen", Json::array()}, {"lines", Json::array()},  {"fixes", Json::array()}};
    add_numbers(kernel, {{"executed", 0}, {"wavefronts", 0}, {"ideal", 0}, {"excess", 0}});
    std::vector<std::pair<std::string, unsigned>> lines;
    for (KernelAccess const& a : r.report.accesses) {
      kernel["lines"].push_back(page_line(a, arch, sources, pictures));
      add_numbers(kernel, numbers_of(a));
      if (SourceLine const at = outermost_line(sources, a); a.wavefronts && a.instruction)
        lines.emplace_back(at.file, at.line);
    }
    for (KernelFix const& f : r.report.fixes)
      for (Fix const& fix : f.fixes) {
        kernel["fixes"].push_back(to_json(fix));
        kernel["fixes"].back().update(Json{{"array", f.array}, {"start", f.start}, {"left_out", f.left_out}});
      }
    kernel["notes"] = Json::array();
    for (FailingOperand const& f : failing_operands(r.report)) kernel["notes"].push_back(f.text);
    kernel["listing"] = listing_of(sources, lines, [](SourceFile const& file) {
      return Json{{"file", file.name},
                  {"path", file.path.empty() ? Json() : Json(file.path)},
                  {"reason", file.reason.empty() ? Json() : Json(file.reason)},
                  {"doubt", nullptr}};
    });
    add_numbers(report, {{"executed", kernel["executed"]},
                         {"wavefronts", kernel["wavefronts"]},
                         {"ideal", kernel["ideal"]},
                         {"excess", kernel["excess"]}});
    report["kernels"].push_back(std::move(kernel));
  }
  return trace_page(report);
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
  SourceLine const at = outermost_line(sources, a);
  std::optional<std::string> const text = source_text(sources, at);
  if (!text) return {};
  std::size_t const first = std::min(text->find_first_not_of(" \t"), text->size());
  return fmt::format("      {} | {}\n", at.line, printable(text->substr(first)));
}

/// Instructions that a reader cannot tell apart: equal source, operation and verdict. Copies in an unrolled loop, for instance.
template <class One>
struct Row {
  One const* first = nullptr;
  std::size_t count = 0;
  std::set<std::string> reasons{};  ///< that differ in a line or in a lane alone
};

/// A reason without the line of PTX that it names.
std::string kind_of(std::string const& reason) {
  static RE2 const line("(PTX|SASS) line [0-9]+");
  std::string kind = reason;
  RE2::GlobalReplace(&kind, line, "line");
  return kind;
}

auto key_of(KernelAccess const& a) {
  return std::tuple(a.verdict, source_of(a), a.op, a.wavefronts, a.reached, a.seen, a.executed, a.ideal,
                    is_fault(a) ? "" : kind_of(a.reason), a.instruction.has_value(), a.aligned, a.in_bounds,
                    a.layout);
}
auto key_of(KernelOperand const& o) {
  return std::tuple(o.verdict, source_of(o), o.op, o.what, o.executed, o.reason, bits_of(o), o.needed,
                    o.guaranteed);
}

template <class One>
std::vector<Row<One>> rows_of(std::vector<One> const& accesses) {
  auto const key = [](One const& a) { return key_of(a); };
  std::vector<Row<One>> rows;
  std::map<decltype(key(accesses.front())), std::size_t> known;
  for (One const& a : accesses) {
    auto const [at, fresh] = known.try_emplace(key(a), rows.size());
    if (fresh) rows.push_back({&a});
    ++rows[at->second].count;
    rows[at->second].reasons.insert(a.reason);
  }
  return rows;
}

/// `2 more, which no lane executes: transpose.cu:31, transpose.cu:33`; empty if one executes each.
std::string unexecuted(KernelReport const& report) {
  std::vector<std::string> lines;
  std::size_t count = 0;
  auto const add = [&](auto const& all) {
    for (auto const& a : all) {
      if (a.executed) continue;
      ++count;
      if (std::string line = source_of(a); std::find(lines.begin(), lines.end(), line) == lines.end())
        lines.push_back(std::move(line));
    }
  };
  add(report.accesses), add(report.operands);
  if (count == 0) return {};
  constexpr std::size_t most = 3;
  std::string const more = lines.size() > most ? fmt::format(" and {} more lines", lines.size() - most) : "";
  lines.resize(std::min(lines.size(), most));
  return fmt::format("{} more, which no lane executes: {}{}", count, fmt::join(lines, ", "), more);
}

/// The rows that a lane executes, with --brief without those that are proved.
template <class One>
std::vector<Row<One>> shown_rows(std::vector<One> const& all, Style const& style) {
  std::vector<Row<One>> rows = rows_of(all);
  std::erase_if(rows, [](Row<One> const& row) { return !row.first->executed; });
  if (style.brief())
    std::erase_if(rows, [](Row<One> const& row) { return row.first->verdict == KernelVerdict::proved; });
  return rows;
}

/// The opcode without what it arrives at and how it caches: `cp.async.bulk.tensor.2d.shared::cluster.global.tile`.
std::string short_op(KernelOperand const& o) { return o.op.substr(0, o.op.find(".mbarrier::")); }

void print_operands(Common const& common, std::vector<Row<KernelOperand>> const& rows, Style const& style) {
  if (rows.empty()) return;
  std::size_t wide = 6, op = 2;
  for (Row<KernelOperand> const& row : rows)
    wide = std::max(wide, source_of(*row.first).size()), op = std::max(op, short_op(*row.first).size());
  fmt::print(common.streams.out, "  {}\n  {}\n", "descriptors and bulk copies",
             style.faint(fmt::format(
                 "{:<8}  {:<{}}  {:<{}}  {:<12}  {:>5}  {:<13}  {:>5}  {:>5}  {:>11}  {:>6}  {:>5}  {}", "",
                 "source", wide, "op", op, "operand", "count", "mode", "LBO", "SBO", "base offset", "needed",
                 "found", "start")));
  for (Row<KernelOperand> const& row : rows) {
    KernelOperand const& o = *row.first;
    auto const field = [&](std::uint32_t MatrixDescriptor::*of) {
      return o.descriptor ? std::to_string((*o.descriptor).*of) : "-";
    };
    fmt::print(common.streams.out,
               "  {}  {:<{}}  {:<{}}  {:<12}  {:>5}  {:<13}  {:>5}  {:>5}  {:>11}  {:>6}  {:>5}  {}{}\n",
               colored(o.verdict, style), source_of(o), wide, short_op(o), op, o.what, row.count,
               o.descriptor ? o.descriptor->operand_mode().name : "-",
               field(&MatrixDescriptor::leading_byte_offset), field(&MatrixDescriptor::stride_byte_offset),
               field(&MatrixDescriptor::base_offset), o.needed,
               o.guaranteed ? std::to_string(*o.guaranteed) : "-", o.start.empty() ? "-" : o.start,
               row.count == 1 || o.start.empty() ? "" : ", ..");
    if (!o.reason.empty()) fmt::print(common.streams.out, "      {}\n", printable(o.reason));
  }
}

/// The row of a source line and an operation whose lanes are shown: the first with the most wavefronts.
struct Shown {
  Row<KernelAccess> const* row = nullptr;
  std::size_t rows = 0;  ///< that have lanes

  [[nodiscard]] std::string others() const {
    if (rows < 2) return {};
    return fmt::format(
        "      and {} more row{} of this line and op, of at most as many wavefronts; --json has their "
        "lanes\n",
        rows - 1, rows == 2 ? "" : "s");
  }
};
using ShownLanes = std::map<std::pair<std::string, std::string>, Shown>;  ///< by source line and op

ShownLanes shown_lanes(std::vector<Row<KernelAccess>> const& rows, Architecture const& arch,
                       Style const& style) {
  ShownLanes shown;
  for (Row<KernelAccess> const& row : rows) {
    KernelAccess const& a = *row.first;
    Shown& of = shown[{source_of(a), a.op}];
    if (lanes_of(a, arch, 0, style).empty()) continue;
    ++of.rows;
    if (of.row == nullptr || *a.wavefronts > *of.row->first->wavefronts) of.row = &row;
  }
  return shown;
}

/// The rows of a kernel whose lanes were shown, by all but where the first lane is.
class LanesSoFar {
 public:
  /// `warp 0: lanes as far apart as those of gemm.cu:8`, as a line, where a row above has them; else empty.
  std::string same_as(KernelAccess const& a) {
    KernelWorst const& w = *a.worst;
    auto const first = std::find(w.lanes.active.begin(), w.lanes.active.end(), true);
    if (first == w.lanes.active.end()) return {};
    std::uint32_t const start = w.lanes.address[static_cast<std::size_t>(first - w.lanes.active.begin())];
    std::array<std::uint32_t, 32> from_start{};
    for (std::size_t l = 0; l < 32; ++l) from_start[l] = w.lanes.active[l] ? w.lanes.address[l] - start : ~0U;
    auto const [at, fresh] =
        above_.try_emplace(std::tuple(a.op, a.calls, w.warp, w.values, w.bases, from_start), source_of(a));
    return fresh ? "" : fmt::format("      warp {}: lanes as far apart as those of {}\n", w.warp, at->second);
  }

 private:
  using Values = std::vector<std::pair<std::string, std::uint64_t>>;
  std::map<std::tuple<std::string, std::vector<std::uint32_t>, unsigned, Values, Values,
                      std::array<std::uint32_t, 32>>,
           std::string>
      above_{};
};

void print_accesses(Common const& common, std::vector<Row<KernelAccess>> const& rows,
                    std::vector<KernelAccess> const& all, Architecture const& arch, Sources& sources,
                    Style const& style) {
  if (rows.empty()) return;
  std::string_view constexpr bytes = "bytes of the lanes";
  std::size_t wide = 6, op = 2, layout = 0;
  for (KernelAccess const& a : all)
    wide = std::max(wide, source_of(a).size()), op = std::max(op, a.op.size());
  for (Row<KernelAccess> const& row : rows)
    if (!row.first->layout.empty()) layout = std::max({layout, bytes.size(), row.first->layout.size()});
  fmt::print(common.streams.out, "  {}\n",
             style.faint(fmt::format("{:<8}  {:<{}}  {:<{}}  {:>5}  {:>10}  {:>5}  {:>6}  {:>7}  {:>6}{}", "",
                                     "source", wide, "op", op, "count", "wavefronts", "ideal", "excess",
                                     "aligned", "bounds", layout == 0 ? "" : fmt::format("  {}", bytes))));
  ShownLanes const lanes = shown_lanes(rows, arch, style);
  LanesSoFar so_far;
  for (Row<KernelAccess> const& row : rows) {
    KernelAccess const& a = *row.first;
    std::string const number = !a.wavefronts ? "-"
                               : a.seen != 0
                                   ? fmt::format("{}..{}", a.seen, *a.wavefronts)
                                   : fmt::format("{}{}", a.reached || !a.executed ? "" : "<=", *a.wavefronts);
    std::string const excess =
        a.wavefronts && a.instruction ? std::to_string(excess_over(a.ideal, *a.wavefronts)) : "-";
    auto const fact = [&](std::optional<bool> holds) {
      return !a.instruction || !a.executed ? "-" : !holds ? "?" : *holds ? "yes" : "no";
    };
    std::string const reason = row.reasons.size() == 1
                                   ? a.reason
                                   : fmt::format("{}; {} more like it", a.reason, row.reasons.size() - 1);
    std::string const named = layout == 0 ? "" : fmt::format("  {:<{}}", a.layout, layout);
    std::string line =
        fmt::format("{:<{}}  {:<{}}  {:>5}  {:>10}  {:>5}  {:>6}  {:>7}  {:>6}{}  {}", source_of(a), wide,
                    a.op, op, row.count, number, a.instruction ? std::to_string(a.ideal) : "-", excess,
                    fact(a.aligned), fact(a.in_bounds), named, reason);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print(common.streams.out, "  {}  {}\n", colored(a.verdict, style), line);
    if (a.function) fmt::print(common.streams.out, "{}", describe(*a.function, 6));
    Shown const& shown = lanes.at({source_of(a), a.op});
    if (shown.row != &row) continue;
    std::string const same = so_far.same_as(a);
    fmt::print(common.streams.out, "{}{}{}", line_of(sources, a),
               same.empty() ? lanes_of(a, arch, 6, style) : same, style.brief() ? "" : shown.others());
  }
}

/// Operands that the fixes of a kernel do not count, or why no fix is named for an access above its ideal; else empty.
std::string uncounted(KernelReport const& report) {
  if (!report.fixes.empty())
    return report.operands.empty()
               ? ""
               : "not counted in a fix: the descriptors and bulk copies below, which have to follow it";
  bool const conflicts = std::any_of(
      report.accesses.begin(), report.accesses.end(),
      [](KernelAccess const& a) { return has_conflict(a) && a.wavefronts && *a.wavefronts > a.ideal; });
  return conflicts ? "no fix: none that was searched saves a wavefront, or executions depend on data or on a "
                     "parameter (--param n=4 gives n a value)"
                   : "";
}

void print(Common const& common, Result const& r, Architecture const& arch, Sources& sources,
           Style const& style) {
  std::vector<Row<KernelAccess>> const rows = shown_rows(r.report.accesses, style);
  std::vector<Row<KernelOperand>> const operands = shown_rows(r.report.operands, style);
  if (style.brief() && rows.empty() && operands.empty() && r.report.refused.empty()) return;
  fmt::print(common.streams.out, "{}{}{}\n", style.strong(r.name),
             r.report.block.empty() ? "" : "  block " + r.report.block,
             r.part.empty() ? "" : fmt::format("  ({})", printable(r.part)));
  if (r.report.accesses.empty() && r.report.operands.empty()) {
    fmt::print(common.streams.out, "  no access to shared memory\n\n");
    return;
  }
  if (!r.report.refused.empty()) fmt::print(common.streams.out, "  not decided: {}\n", r.report.refused);
  if (std::string const assumed = assumed_in_words(r.report.assumed); !assumed.empty() && !style.brief())
    fmt::print(common.streams.out, "  {}\n", style.faint(assumed));
  print_accesses(common, rows, r.report.accesses, arch, sources, style);
  if (std::string const rest = unexecuted(r.report); !rest.empty() && !style.brief())
    fmt::print(common.streams.out, "  {}\n", style.faint(rest));
  for (KernelFix const& fix : r.report.fixes) fmt::print(common.streams.out, "{}", describe(fix, 2, style));
  if (std::string const why = uncounted(r.report); !why.empty())
    fmt::print(common.streams.out, "  {}\n", why);
  print_operands(common, operands, style);
  fmt::print(common.streams.out, "\n");
}

/// `not decided beside the cost: bounds of 4, alignment of 1`, as a line with the reasons below it, or nothing.
std::string open_faults(std::vector<Result> const& results) {
  std::size_t bounds = 0, aligned = 0;
  std::map<std::string, std::size_t> reasons;  // of the bounds
  for (Result const& r : results)
    for (KernelAccess const& a : r.report.accesses) {
      bool const decided = a.executed && a.instruction && a.verdict != KernelVerdict::unknown;
      bounds += decided && !a.in_bounds ? 1 : 0;
      if (decided && !a.in_bounds && !a.bounds_reason.empty()) ++reasons[a.bounds_reason];
      aligned += decided && !a.aligned ? 1 : 0;
    }
  std::string text;
  if (bounds != 0) text = fmt::format("bounds of {}", bounds);
  if (aligned != 0) text += fmt::format("{}alignment of {}", text.empty() ? "" : ", ", aligned);
  if (text.empty()) return text;
  text = fmt::format("not decided beside the cost (?): {}\n", text);
  for (auto const& [reason, count] : reasons)
    text += fmt::format("  bounds of {}: {}\n", count, printable(reason));
  return text;
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
    kernel_detail::run(common, *arguments, *options);
  });
}

}  // namespace swizproof::command
