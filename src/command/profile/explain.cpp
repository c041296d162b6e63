// swizproof explain TRACE: what does each line of a traced kernel cost, which lanes conflict, and how to fix it?
#include "command/line/command.hpp"
#include "command/line/help.hpp"
#include "command/profile/page_parts.hpp"
#include "command/profile/pipes.hpp"

#include "profile/fixes.hpp"
#include "profile/metrics.hpp"
#include "profile/nsight.hpp"
#include "system/source.hpp"
#include "profile/trace.hpp"
#include "picture/picture.hpp"
#include "system/whole_file.hpp"
#include "report/fix.hpp"
#include "report/pipe.hpp"
#include "parse/text/regular_expression.hpp"
#include "report/report.hpp"
#include "report/sarif.hpp"

#include <swizproof/hardware/collision.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

namespace swizproof::command {

namespace {

using Json = nlohmann::ordered_json;

struct ExplainArguments {
  std::string trace;
  std::string arch;  ///< empty: the trace's
  std::string kernel;
  std::vector<std::string> source;
  std::string sarif, html, ncu;
};

// ----------------------------------------------------------------------------------- the result

/// Sums of instructions that a cost model is about.
struct Sums {
  std::uint64_t executed = 0, wavefronts = 0, ideal = 0, excess = 0;

  void add(Sums const& other) {
    executed += other.executed;
    wavefronts += other.wavefronts;
    ideal += other.ideal;
    excess += other.excess;
  }
};

/// One instruction, and what it costs.
struct Line {
  TracedInstruction traced{};
  Sums sums{};
  std::optional<Worst> worst{};         ///< nothing where there is no cost model
  std::optional<std::string> source{};  ///< the text of its line of source, where it can be read
};

struct Kernel {
  std::vector<Line> lines{};  ///< by excess, the largest first; at least one
  Sums sums{};
  KernelFixes fixes{};            ///< if it was chosen
  std::optional<PipeUse> pipe{};  ///< by the profiler
  bool not_profiled = false;      ///< a profile was given, and has none of this kernel
  std::vector<std::string>
      unseen{};  ///< opcodes that it has and that were not traced: their executions are unknown

  [[nodiscard]] TracedInstruction const& any() const { return lines[0].traced; }
};

struct ExplainResult {
  Trace trace{};                  ///< without its instructions, which are the lines
  std::vector<Kernel> kernels{};  ///< that were chosen; by excess, the largest first
  std::size_t all_kernels = 0;    ///< of the trace
  Sums sums{};                    ///< of the kernels that were chosen
  std::uint64_t excess_of_all = 0;
  std::vector<SourceFile const*> files{};  ///< that the kernels' lines name, in the order of the lines
  std::shared_ptr<Sources> sources{};      ///< whose the files are

  /// True if any instruction's line of source is known.
  [[nodiscard]] bool sourced() const {
    return std::any_of(kernels.begin(), kernels.end(), [](Kernel const& kernel) {
      return std::any_of(kernel.lines.begin(), kernel.lines.end(),
                         [](Line const& line) { return !line.traced.file.empty(); });
    });
  }
  /// True if a traced instruction has a cost model, and no execution of it was lost.
  [[nodiscard]] bool known() const {
    return sums.executed != 0 && trace.dropped == 0 && trace.failures.empty();
  }
  [[nodiscard]] int exit_code() const { return sums.excess != 0 ? refuted : known() ? holds : undecided; }
  [[nodiscard]] std::string_view verdict() const {
    return sums.excess != 0 ? "refuted" : known() ? "proved" : "unknown";
  }
};

Line line_of(Architecture const& arch, TracedInstruction traced) {
  Line line{std::move(traced), {}, {}, {}};
  TracedInstruction const& i = line.traced;
  if (!i.instruction) return line;
  line.sums = {i.executed, i.wavefronts, i.ideal(arch), i.excess(arch)};
  line.worst = worst_of(arch, *i.instruction, *i.worst);
  return line;
}

/// True if a line of the trace goes on with the kernel of the one before it. Two kernels may have one name.
bool goes_on(TracedInstruction const& before, TracedInstruction const& i) {
  return before.kernel == i.kernel && before.launches == i.launches && before.grid == i.grid &&
         before.block == i.block && before.pc < i.pc;
}

/// Fixes of the kernel.
KernelFixes fixes_of(Architecture const& arch, Kernel const& kernel) {
  std::vector<TracedInstruction const*> traced;
  for (Line const& line : kernel.lines) traced.push_back(&line.traced);
  return swizproof::fixes_of(traced, arch);
}

constexpr auto by_excess = [](auto const& a, auto const& b) { return a.sums.excess > b.sums.excess; };

/// All kernels of a trace, in its order.
std::vector<Kernel> kernels_of(Architecture const& arch, std::vector<TracedInstruction> instructions) {
  std::vector<Kernel> kernels;
  for (TracedInstruction& i : instructions) {
    if (kernels.empty() || !goes_on(kernels.back().lines.back().traced, i)) kernels.emplace_back();
    kernels.back().lines.push_back(line_of(arch, std::move(i)));
    kernels.back().sums.add(kernels.back().lines.back().sums);
  }
  for (Kernel& kernel : kernels) std::stable_sort(kernel.lines.begin(), kernel.lines.end(), by_excess);
  return kernels;
}

/// Looks up the source of every line.
void read_sources(ExplainResult& result) {
  for (Kernel& kernel : result.kernels)
    for (Line& line : kernel.lines) {
      if (line.traced.file.empty()) continue;
      SourceFile const& file = result.sources->file(line.traced.file);
      line.source = file.line(line.traced.source_line);
      if (std::find(result.files.begin(), result.files.end(), &file) == result.files.end())
        result.files.push_back(&file);
    }
}

/// The table that the trace was counted by, or the requested one of the same cost model: one learned from the card, for example.
Architecture const& architecture_of(Trace const& trace, std::string const& wanted) {
  if (wanted.empty()) return *trace.arch;
  Architecture const& arch = parse_architecture(wanted);
  if (!same_law(arch, *trace.arch))
    throw InputError::whole(
        fmt::format("the wavefronts of this trace were counted by the table of {}, this one has others",
                    trace.arch->name),
        wanted, "leave --arch out; 'swizproof predict' counts addresses by any table");
  return arch;
}

ExplainResult compute(ExplainArguments const& options) {
  Pattern const chosen(options.kernel, "--kernel");
  std::vector<PipeUse> const pipes = pipes_of(options.ncu);
  ExplainResult result;
  result.trace = read_trace(options.trace, read_file(options.trace));
  result.trace.arch = &architecture_of(result.trace, options.arch);
  result.sources = std::make_shared<Sources>(options.source);
  for (Kernel& kernel : kernels_of(*result.trace.arch, std::move(result.trace.instructions))) {
    ++result.all_kernels;
    result.excess_of_all += kernel.sums.excess;
    if (!chosen.found_in(kernel.any().kernel)) continue;
    result.sums.add(kernel.sums);
    kernel.fixes = fixes_of(*result.trace.arch, kernel);
    kernel.pipe = pipe_of(pipes, kernel.any().kernel);
    kernel.not_profiled = !pipes.empty() && !kernel.pipe;
    if (auto const unseen = result.trace.unseen.find(kernel.any().kernel);
        unseen != result.trace.unseen.end())
      kernel.unseen = unseen->second;
    result.kernels.push_back(std::move(kernel));
  }
  if (result.kernels.empty() && result.all_kernels != 0)
    throw InputError::whole("no kernel of the trace has a name that matches", options.kernel,
                            "without --kernel all are shown");
  std::stable_sort(result.kernels.begin(), result.kernels.end(), by_excess);
  read_sources(result);
  return result;
}

// ----------------------------------------------------------------------------------------- JSON

void add_sums(Json& out, Sums const& sums) {
  out["executed"] = sums.executed;
  out["wavefronts"] = sums.wavefronts;
  out["ideal"] = sums.ideal;
  out["excess"] = sums.excess;
}

Json text_or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }

Json to_json(Line const& line) {
  TracedInstruction const& i = line.traced;
  Json out{{"pc", i.pc}, {"sass", text_or_null(i.sass)}, {"file", text_or_null(i.file)}};
  out["line"] = i.file.empty() ? Json() : Json(i.source_line);
  out["source"] = line.source ? Json(*line.source) : Json();
  out["op"] = i.op;
  if (line.worst) {
    add_sums(out, line.sums);
    out["not_kept"] = i.not_kept;
    out["worst"] = to_json(*line.worst, *i.worst);
  } else {
    out["executed"] = i.executed;
    for (char const* key : {"wavefronts", "ideal", "excess", "not_kept", "worst"}) out[key] = nullptr;
  }
  return out;
}

Json to_json(Kernel const& kernel) {
  TracedInstruction const& any = kernel.any();
  Json out{{"kernel", any.kernel}, {"launches", any.launches}, {"grid", any.grid}, {"block", any.block}};
  add_sums(out, kernel.sums);
  if (kernel.pipe) out["pipe"] = pipe_json(*kernel.pipe);
  out["unseen"] = kernel.unseen;
  out["lines"] = Json::array();
  for (Line const& line : kernel.lines) out["lines"].push_back(to_json(line));
  out["fixes"] = Json::array();
  for (Fix const& fix : kernel.fixes.fixes) out["fixes"].push_back(swizproof::to_json(fix));
  return out;
}

/// The last line of a file that the kernels name.
unsigned last_line_of(ExplainResult const& result, SourceFile const& file) {
  unsigned last = 0;
  for (Kernel const& kernel : result.kernels)
    for (Line const& line : kernel.lines)
      if (line.traced.file == file.name) last = std::max(last, line.traced.source_line);
  return last;
}

/// Doubts about a file whose lines are shown; empty if there are none.
std::string doubt_of(ExplainResult const& result, SourceFile const& file) {
  if (!file.read()) return {};
  unsigned const last = last_line_of(result, file);
  if (last > file.starts.size())
    return fmt::format("it has {} line{}, and the trace names line {}: it has changed since",
                       file.starts.size(), file.starts.size() == 1 ? "" : "s", last);
  return {};
}

Json to_json(ExplainResult const& result, SourceFile const& file) {
  return {{"file", file.name},
          {"path", text_or_null(file.path)},
          {"reason", text_or_null(file.reason)},
          {"doubt", text_or_null(doubt_of(result, file))}};
}

Json to_json(ExplainResult const& result) {
  Trace const& trace = result.trace;
  Json out{{"verdict", result.verdict()},
           {"arch", trace.arch->name},
           {"evidence", name(trace.arch->support)},
           {"certainty", certainty(*trace.arch)},
           {"device", trace.device},
           {"recorded", trace.recorded},
           {"program", trace.program}};
  add_sums(out, result.sums);
  out["dropped"] = trace.dropped;
  out["failures"] = trace.failures;
  out["sources"] = Json::array();
  for (SourceFile const* file : result.files) out["sources"].push_back(to_json(result, *file));
  out["kernels"] = Json::array();
  for (Kernel const& kernel : result.kernels) out["kernels"].push_back(to_json(kernel));
  return out;
}

// ----------------------------------------------------------------------------------------- HTML

/// The files of a kernel, the most expensive first, with what a page shows of them; nothing where none of them can be read.
Json listing_of(ExplainResult const& result, Kernel const& kernel) {
  std::vector<std::pair<std::string, unsigned>> lines;
  for (Line const& line : kernel.lines)
    if (line.worst) lines.emplace_back(line.traced.file, line.traced.source_line);
  return swizproof::command::listing_of(*result.sources, lines,
                                        [&](SourceFile const& file) { return to_json(result, file); });
}

std::string page_of(ExplainResult const& result) {
  Architecture const& arch = *result.trace.arch;
  Json report = to_json(result);
  report["arch_text"] = certainty(arch);
  std::size_t pictures = 0;
  for (std::size_t k = 0; k < result.kernels.size(); ++k) {
    report["kernels"][k]["listing"] = listing_of(result, result.kernels[k]);
    for (std::size_t i = 0; i < result.kernels[k].lines.size(); ++i) {
      Line const& line = result.kernels[k].lines[i];
      if (line.sums.excess != 0 && pictures++ < most_pictures)
        report["kernels"][k]["lines"][i]["picture"] =
            figure_of(arch,
                      line.traced.sass.empty() ? line.traced.op
                                               : fmt::format("{}: {}", line.traced.op, line.traced.sass),
                      *line.traced.instruction, *line.traced.worst);
    }
  }
  return trace_page(report);
}

// ---------------------------------------------------------------------------------------- SARIF

constexpr SarifRule conflict_rule{"shared-memory-bank-conflict",
                                  "Lanes of a warp ask one bank of shared memory for different words, which "
                                  "are served one after the other.",
                                  "Swizzle or pad the tile, or let the lanes ask for other elements: "
                                  "swizproof find searches for the best swizzle."};

/// The file where it lies in the checkout, if it was found; else as the trace has it.
std::string file_for_hosts(ExplainResult const& result, std::string const& name) {
  if (name.empty()) return name;
  SourceFile const& file = result.sources->file(name);
  return file.read() ? path_in_checkout(file.path) : name;
}

SarifFinding finding_of(ExplainResult const& result, Line const& line) {
  TracedInstruction const& i = line.traced;
  Sums const& sums = line.sums;
  std::string text = fmt::format("{} at {:#x}{}: {} executed, {} wavefronts, ideal {}, excess {}.", i.op,
                                 i.pc, i.sass.empty() ? "" : " (" + i.sass + ")", sums.executed,
                                 sums.wavefronts, sums.ideal, sums.excess);
  std::string joint = fmt::format(" The worst execution takes {}: ", line.worst->cost.wavefronts);
  for (Collision const& conflict : line.worst->conflicts) {
    std::vector<unsigned> lanes;
    for (CollidingLane const& at : conflict.lanes) lanes.push_back(at.lane);
    text +=
        fmt::format("{}phase {}, bank {}, lanes {}", joint, conflict.phase, conflict.bank, runs_of(lanes));
    joint = "; ";
  }
  return {text + ".", file_for_hosts(result, i.file), i.source_line, i.kernel};
}

std::string sarif_of(ExplainResult const& result) {
  std::vector<SarifFinding> findings;
  for (Kernel const& kernel : result.kernels)
    for (Line const& line : kernel.lines)
      if (line.sums.excess != 0) findings.push_back(finding_of(result, line));
  return json_text(
             sarif(SWIZPROOF_VERSION, std::span(&conflict_rule, 1), findings, certainty(*result.trace.arch)),
             2) +
         "\n";
}

// ----------------------------------------------------------------------------------------- text

constexpr std::size_t longest_name = 100;   ///< of a kernel
constexpr std::size_t longest_source = 22;  ///< of file:line
constexpr std::size_t longest_text = 110;   ///< of a line of source

/// `text` with at most `most` characters: "..." stands for its middle.
std::string shortened(std::string const& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t const head = (most - 3) / 2, tail = most - 3 - head;
  return text.substr(0, head) + "..." + text.substr(text.size() - tail);
}

std::string counted(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

/// `8192 executed, 262144 wavefronts, ideal 8192, excess 253952`
std::string describe(Sums const& sums, Style const& style) {
  std::string const excess = fmt::format("excess {}", sums.excess);
  return fmt::format("{} executed, {}, ideal {}, {}", sums.executed, counted(sums.wavefronts, "wavefront"),
                     sums.ideal, sums.excess != 0 ? style.bad(excess) : style.good(excess));
}

/// The folders of a source are left out; --json has them.
std::string source_of(TracedInstruction const& i) {
  if (i.file.empty()) return "-";
  return shortened(fmt::format("{}:{}", i.file.substr(i.file.rfind('/') + 1), i.source_line), longest_source);
}

std::string share_of(std::uint64_t excess, std::uint64_t all) {
  if (excess == 0) return "-";
  double const percent = 100 * static_cast<double>(excess) / static_cast<double>(all);
  return percent < 0.05 ? "<0.1%" : fmt::format("{:.1f}%", percent);
}

/// Columns as wide as their widest text, two spaces apart: some lean to the right, the last has any width.
class Table {
 public:
  explicit Table(std::vector<std::pair<std::string, char>> columns) : columns_(std::move(columns)) {
    for (auto const& [head, lean] : columns_) rows_.resize(1), rows_[0].push_back(head);
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// The rows, the one of names first.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (auto const& row : rows_) {
      std::string line;
      for (std::size_t c = 0; c < row.size(); ++c) {
        std::size_t const wide = c + 1 < row.size() ? width(c) : 0;
        line += columns_[c].second == '>' ? fmt::format("  {:>{}}", row[c], wide)
                                          : fmt::format("  {:<{}}", row[c], wide);
      }
      out.push_back(std::move(line));
    }
    return out;
  }

 private:
  [[nodiscard]] std::size_t width(std::size_t column) const {
    std::size_t most = 0;
    for (auto const& row : rows_) most = std::max(most, row[column].size());
    return most;
  }
  std::vector<std::pair<std::string, char>> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Instructions of one line of source with one operation; one of a line that is not known.
struct SourceRow {
  Line const* worst = nullptr;  ///< that loses most
  Sums sums{};
  std::size_t count = 0;
};

/// By excess, the largest first.
std::vector<SourceRow> rows_of(Kernel const& kernel) {
  std::vector<SourceRow> rows;
  for (Line const& line : kernel.lines) {
    if (!line.worst) continue;
    TracedInstruction const& i = line.traced;
    auto const same = [&](SourceRow const& row) {
      TracedInstruction const& other = row.worst->traced;
      return !i.file.empty() && other.file == i.file && other.source_line == i.source_line &&
             other.op == i.op;
    };
    auto at = std::find_if(rows.begin(), rows.end(), same);
    if (at == rows.end()) at = rows.insert(at, {&line, {}, 0});
    at->sums.add(line.sums);
    ++at->count;
  }
  std::stable_sort(rows.begin(), rows.end(), by_excess);
  return rows;
}

void print_lines(std::vector<SourceRow> const& rows, std::uint64_t all_excess, Style const& style) {
  Table table({{"pc", '<'},
               {"op", '<'},
               {"count", '>'},
               {"executed", '>'},
               {"wavefronts", '>'},
               {"ideal", '>'},
               {"excess", '>'},
               {"share", '>'},
               {"source", '<'},
               {"SASS", '<'}});
  std::vector<bool> bad;
  for (SourceRow const& row : rows) {
    Sums const& sums = row.sums;
    if (style.brief() && sums.excess == 0) continue;
    TracedInstruction const& i = row.worst->traced;
    table.add({fmt::format("{:#06x}", i.pc), i.op, std::to_string(row.count), std::to_string(sums.executed),
               std::to_string(sums.wavefronts), std::to_string(sums.ideal), std::to_string(sums.excess),
               share_of(sums.excess, all_excess), source_of(i), i.sass.empty() ? "-" : i.sass});
    bad.push_back(sums.excess != 0);
  }
  if (bad.empty()) return;
  std::vector<std::string> const lines = table.lines();
  fmt::print("{}{}\n", style.gap(), style.faint(lines[0]));
  for (std::size_t i = 0; i < bad.size(); ++i)
    fmt::print("{}\n", bad[i] ? style.bad(lines[i + 1]) : lines[i + 1]);
}

/// Text of a file for a terminal: without the blanks around it, and without what would move the cursor.
std::string shown_source(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = c == '\t' ? ' ' : '?';
  std::size_t const from = text.find_first_not_of(' '), to = text.find_last_not_of(' ');
  return from == text.npos ? "" : shortened(text.substr(from, to + 1 - from), longest_text);
}

void print_worst(Line const& line, bool with_source, Style const& style) {
  TracedInstruction const& i = line.traced;
  Worst const& worst = *line.worst;
  unsigned const wavefronts = worst.cost.wavefronts;
  fmt::print(
      "{}  {:#06x}  {}: {} {}, ideal {}, {}\n", style.gap(), i.pc, i.sass.empty() ? i.op : i.sass,
      i.executed == 1 ? "its execution takes" : fmt::format("the worst of {} executions takes", i.executed),
      counted(wavefronts, "wavefront"), worst.ideal,
      style.bad(fmt::format("excess {}", excess_over(worst.ideal, wavefronts))));
  if (with_source && line.source)
    fmt::print("          {:>5} | {}\n", i.source_line, shown_source(*line.source));
  std::span<Collision const> shown = worst.conflicts;
  if (style.brief())
    shown = {std::max_element(
                 shown.begin(), shown.end(),
                 [](Collision const& a, Collision const& b) { return a.lanes.size() < b.lanes.size(); }),
             1};
  for (Collision const& conflict : shown) fmt::print("{}", describe(conflict, 10, style));
}

/// `not modelled: 128 executions of atom.shared.b32, 64 of wgmma`
void print_lawless(Kernel const& kernel, Style const& style) {
  std::vector<std::pair<std::string, std::uint64_t>> sums;
  for (Line const& line : kernel.lines) {
    if (line.worst) continue;
    auto at =
        std::find_if(sums.begin(), sums.end(), [&](auto const& sum) { return sum.first == line.traced.op; });
    if (at == sums.end()) at = sums.insert(at, {line.traced.op, 0});
    at->second += line.traced.executed;
  }
  std::string text;
  for (auto const& [op, executed] : sums)
    text += text.empty() ? fmt::format("not modelled: {} of {}", counted(executed, "execution"), op)
                         : fmt::format(", {} of {}", executed, op);
  if (!text.empty()) fmt::print("{}  {}\n", style.gap(), style.doubtful(text));
}

/// Fixes of the kernel's regions, and the accesses that need them too but were not traced.
void print_fixes(Kernel const& kernel, Style const& style) {
  KernelFixes const& fixes = kernel.fixes;
  for (Fix const& fix : fixes.fixes) {
    fmt::print("{}", style.gap());
    std::string const text = swizproof::describe(fix, style);
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      fmt::print("  {}\n", text.substr(at, end - at));
    }
  }
  if (fixes.fixes.empty()) return;
  std::string unseen;
  if (fixes.not_kept != 0)
    unseen += fmt::format(", {} whose addresses were not recorded", counted(fixes.not_kept, "execution"));
  for (std::string const& op : fixes.no_law) unseen += ", " + op;
  for (std::string const& op : kernel.unseen) unseen += ", " + op;
  fmt::print("  apply the fix to every access to these bytes{}{}\n",
             unseen.empty() ? "" : "; not looked at: ", unseen.empty() ? "" : unseen.substr(2));
}

void print_text(Kernel const& kernel, std::uint64_t all_excess, Style const& style) {
  TracedInstruction const& any = kernel.any();
  fmt::print("\n{}\n", style.strong(shortened(any.kernel, longest_name)));
  if (!style.brief())
    fmt::print("  {}, grid {}, block {}\n",
               any.launches == 1 ? "1 launch" : fmt::format("{} launches", any.launches),
               fmt::join(any.grid, " x "), fmt::join(any.block, " x "));
  if (kernel.sums.executed != 0) fmt::print("  {}\n", describe(kernel.sums, style));
  if (std::uint64_t const lost = kernel.sums.excess; lost != 0)
    fmt::print("{}  {}\n", style.gap(),
               in_words(kernel.pipe, kernel.not_profiled, lost, kernel.sums.wavefronts));
  std::vector<SourceRow> const rows = rows_of(kernel);
  print_lines(rows, all_excess, style);
  Line const* before = nullptr;  // two of one line of source: its text stands once
  for (SourceRow const& row : rows) {
    Line const& line = *row.worst;
    if (line.sums.excess == 0) continue;
    TracedInstruction const& i = line.traced;
    print_worst(
        line,
        before == nullptr || before->traced.file != i.file || before->traced.source_line != i.source_line,
        style);
    if (row.count > 1 && !style.brief())
      fmt::print("          and {} of this line and op; --json has each\n",
                 counted(row.count - 1, "more instruction"));
    before = &line;
    if (style.brief()) break;  // the most expensive one
  }
  for (Line const& line : kernel.lines)
    if (line.worst && line.traced.not_kept != 0)
      fmt::print("{}  {:#06x}  {} of {} executions: counted, but their addresses were not recorded\n",
                 style.gap(), line.traced.pc, line.traced.not_kept, line.traced.executed);
  print_lawless(kernel, style);
  if (!kernel.unseen.empty())
    fmt::print("{}  not traced: {}, which the sanitizer does not report\n", style.gap(),
               fmt::join(kernel.unseen, ", "));
  print_fixes(kernel, style);
}

/// Doubts about the sources whose lines are shown, and how to show those that were not found.
void print_sources(ExplainResult const& result, Style const& style) {
  auto const shown = [&](SourceFile const& file) {  // or its lines are not shown
    return std::any_of(result.kernels.begin(), result.kernels.end(), [&](Kernel const& kernel) {
      return std::any_of(kernel.lines.begin(), kernel.lines.end(), [&](Line const& line) {
        return line.sums.excess != 0 && line.traced.file == file.name;
      });
    });
  };
  for (SourceFile const* file : result.files)
    if (std::string const doubt = doubt_of(result, *file); !doubt.empty() && shown(*file))
      fmt::print("\n{}\n", style.doubtful(file->path + ": " + doubt));
  bool const found = std::any_of(result.files.begin(), result.files.end(),
                                 [](SourceFile const* file) { return file->read(); });
  if (result.sums.excess != 0 && result.sourced() && !found)
    fmt::print("\nthe lines of source cannot be read here: --source DIR says where they are\n");
}

void print_text(ExplainResult const& result, Style const& style) {
  Trace const& trace = result.trace;
  if (!style.brief())
    fmt::print("{}  {}\n  {} on {} ({})\n", style.strong(trace.name), trace.recorded,
               shortened(fmt::format("{}", fmt::join(trace.program, " ")), longest_name), trace.device,
               trace.arch->name);
  fmt::print("  {}{}: {}\n",
             result.kernels.size() < result.all_kernels ? fmt::format("{} of ", result.kernels.size()) : "",
             counted(result.all_kernels, "kernel"), describe(result.sums, style));
  for (Kernel const& kernel : result.kernels) print_text(kernel, result.excess_of_all, style);
  if (result.sums.excess != 0 && !result.sourced())
    fmt::print("\nno lines of source: compile the program with nvcc -lineinfo\n");
  print_sources(result, style);
  if (!trace.digest)
    fmt::print("\n{}\n",
               style.doubtful("the trace has no digest: changed or duplicated lines cannot be detected"));
  if (result.sums.executed == 0) fmt::print("\n{}\n", style.doubtful("no modelled access was traced"));
  if (trace.dropped != 0)
    fmt::print("\n{}\n",
               style.doubtful(fmt::format(
                   "dropped: {} of instructions beyond the tracer's table or outside of a kernel (no further "
                   "information)",
                   counted(trace.dropped, "execution"))));
  for (std::string const& failure : trace.failures)
    fmt::print("\n{}\n",
               style.doubtful("the sanitizer failed during the trace, so kernels may be missing; failures: " +
                              failure));
  fmt::print("{}", certainty_footer(*trace.arch, style));
}

void run(Common& common, ExplainArguments const& options) {
  refuse_two_forms(common, options.sarif, options.html);
  ExplainResult const result = compute(options);
  common.exit_code = result.exit_code();
  if (!options.sarif.empty()) write_output(common, options.sarif, "the SARIF file", sarif_of(result), true);
  if (!options.html.empty()) write_output(common, options.html, "the page", page_of(result), true);
  if (common.json)
    print_json(common, to_json(result));
  else if (options.sarif != "-" && options.html != "-")
    print_text(result, style_of(common));
}

}  // namespace

void add_explain(CLI::App& app, Common& common) {
  CLI::App* const sub = add_command(
      app, "explain", "What does each line of a traced kernel cost, which lanes conflict, and how to fix it?",
      {"swizproof explain transpose.trace --kernel Naive",
       "which lines of this kernel cost too much? (the file: share/swizproof/examples)"});
  auto const options = std::make_shared<ExplainArguments>();
  sub->add_option(
         "TRACE", options->trace,
         "what swizproof-trace wrote; costs are computed again, by the model of the traced device's\n"
         "architecture, or by a learned table of the same cost model (--arch FILE)")
      ->type_name("FILE")
      ->required();
  sub->add_option("--kernel", options->kernel, "kernels whose name matches this regular expression");
  sub->add_option(
         "--source", options->source,
         "a folder with the sources: each path in the trace is searched here first, by its longest matching "
         "suffix,\n"
         "then as it is; may be repeated")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  sub->add_option(
         "--ncu", options->ncu,
         fmt::format("a CSV of Nsight Compute with {}\nand {}: the share of each kernel's cycles that "
                     "conflicts take",
                     pipe_metrics.front().wavefronts, pipe_metrics.front().cycles))
      ->type_name("FILE");
  add_output_to(
      *sub, "--sarif", options->sarif,
      "write the lines with an excess to this file (or -) as SARIF 2.1.0, for code hosts and editors");
  add_output_to(
      *sub, "--html", options->html,
      "write a page to this file (or -): kernels, their lines of source with what each costs, and a\n"
      "picture of each worst execution");
  add_brief_to(*sub, common);
  sub->footer(
      "Exit codes: 0 no excess, 1 some, 2 bad input, 3 no excess was seen, but executions were dropped or "
      "the "
      "tracer failed.");
  sub->callback([&app, &common, options] {
    if (app.count("--arch") != 0) options->arch = common.arch;
    run(common, *options);
  });
}

}  // namespace swizproof::command
