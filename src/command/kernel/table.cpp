#include "command/kernel/results.hpp"

#include "parse/question/kernels.hpp"
#include "report/fix.hpp"
#include "report/pipe.hpp"
#include "report/races.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace swizproof::command::kernel_detail {

namespace {

std::string colored(KernelVerdict v, Style const& style) {
  std::string const text = fmt::format("{:<7}", name(v));
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
  std::set<std::string> reasons{};  ///< reasons that differ only in a line or in a lane
  std::vector<One const*> all{};
};

/// A reason without the lines of PTX or SASS that it names.
std::string kind_of(std::string const& reason) {
  std::string kind = reason;
  for (std::string_view const line : {"PTX line ", "SASS line "})
    for (std::size_t at = kind.find(line); at != kind.npos; at = kind.find(line, at + 1)) {
      std::size_t const end = kind.find_first_not_of("0123456789", at + line.size());
      kind.replace(at, std::min(end, kind.size()) - at, "line");
    }
  return kind;
}

auto key_of(KernelAccess const& a) {
  return std::tuple(a.verdict, source_of(a), a.op, a.wavefronts, a.reached, a.seen, a.executed, a.ideal,
                    is_fault(a) ? "" : kind_of(a.reason), a.instruction.has_value(), a.aligned, a.in_bounds,
                    a.layout, a.loop_depth, a.open_loops);
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
    if (fresh) rows.push_back({&a, 0, {}, {}});
    ++rows[at->second].count;
    rows[at->second].all.push_back(&a);
    rows[at->second].reasons.insert(a.reason);
  }
  return rows;
}

/// `2 more are dead code for this block: transpose.cu:31, transpose.cu:33`; empty if a lane executes each.
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
  add(report.accesses), add(report.operands), add(report.global);
  if (count == 0) return {};
  constexpr std::size_t most = 3;
  std::string const more = lines.size() > most ? fmt::format(" and {} more lines", lines.size() - most) : "";
  lines.resize(std::min(lines.size(), most));
  return fmt::format("{} more {} dead code for this block: {}{}", count, count == 1 ? "is" : "are",
                     fmt::join(lines, ", "), more);
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
                 "{:<7}  {:<{}}  {:<{}}  {:<12}  {:>5}  {:<13}  {:>5}  {:>5}  {:>11}  {:>6}  {:>5}  {}", "",
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
               field(&MatrixDescriptor::base_offset), o.needed == 0 ? "-" : std::to_string(o.needed),
               o.guaranteed ? std::to_string(*o.guaranteed) : "-",
               o.instruction     ? text_of(*o.instruction)
               : o.start.empty() ? "-"
                                 : o.start,
               row.count == 1 || o.start.empty() ? "" : ", ..");
    if (!o.reason.empty()) fmt::print(common.streams.out, "      {}\n", printable(o.reason));
  }
}

/// The row of a source line and an operation whose lanes are shown: the first with the most wavefronts.
struct Shown {
  Row<KernelAccess> const* row = nullptr;
  std::size_t rows = 0;  ///< number of rows with lanes

  [[nodiscard]] std::string others() const {
    if (rows < 2) return {};
    return fmt::format(
        "      and {} more row{} of this line and op, of at most as many wavefronts; --json has their "
        "lanes\n",
        rows - 1, rows == 2 ? "" : "s");
  }
};
using ShownLanes = std::map<std::pair<std::string, std::string>, Shown>;  ///< lanes by source line and op

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

/// True if a fact of an access that is decided is not.
bool is_open(KernelAccess const& a, std::optional<bool> fact) {
  return a.executed && a.instruction && a.verdict != KernelVerdict::unknown && !fact;
}

/// Wavefronts above the ideal ones of all instructions of a row.
struct Losses {
  std::optional<std::uint64_t> executions = 0;  ///< executions of a block, if all of them are known
  std::uint64_t lost =
      0;  ///< wavefronts of a block above the ideal; an estimate if its executions are not known
  unsigned open_loops = 0;

  explicit Losses(Row<KernelAccess> const& row) : open_loops(row.first->open_loops) {
    for (KernelAccess const* const a : row.all) {
      executions = executions && a->executions ? std::optional(*executions + *a->executions) : std::nullopt;
      lost += wavefronts_lost(*a, a->executions.value_or(a->about_executions));
    }
    if (lost == 0) open_loops = 0;
  }
  /// `992`, or `31 each` where the executions are not known.
  [[nodiscard]] std::string text(KernelAccess const& one) const {
    if (!one.wavefronts || !one.instruction) return "-";
    return executions || lost == 0 ? std::to_string(lost) : fmt::format("{} each", wavefronts_lost(one, 1));
  }
};

/// Faults come first, then what loses most: a loop of an unknown number of iterations has more of them than any other. Rows that lose nothing
/// keep their order.
void sort_by_losses(std::vector<Row<KernelAccess>>& rows) {
  auto const key = [](Row<KernelAccess> const& row) {
    Losses const l(row);
    return std::tuple(is_fault(*row.first), l.open_loops, l.lost);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](auto const& a, auto const& b) { return key(a) > key(b); });
}

/// The opcode without what it says of the warp and of rows: `ldmatrix.x4.shared.b16`.
std::string short_op(KernelAccess const& a) {
  std::string op;
  for (std::size_t at = 0, end = 0; at < a.op.size(); at = end) {
    end = std::min(a.op.find('.', at + 1), a.op.size());
    std::string_view const part = std::string_view(a.op).substr(at, end - at);
    if (part != ".sync" && part != ".aligned" && part != ".m8n8") op += part;
  }
  constexpr std::string_view own_block = "::cta";
  if (std::size_t const at = op.find(own_block); at != op.npos) op.erase(at, own_block.size());
  return op;
}

/// `ld.shared.f32 x4` for four instructions.
std::string op_of(Row<KernelAccess> const& row) {
  return short_op(*row.first) + (row.count == 1 ? "" : fmt::format(" x{}", row.count));
}

/// The numbers of the rows of a kernel, in columns.
class Numbers {
 public:
  explicit Numbers(std::vector<Row<KernelAccess>> const& rows) {
    for (Row<KernelAccess> const& row : rows) {
      KernelAccess const& a = *row.first;
      Losses const losses(row);
      std::string const number =
          !a.wavefronts ? "-"
          : a.seen != 0 ? fmt::format("{}, <={}", a.seen, *a.wavefronts)
                        : fmt::format("{}{}", a.reached || !a.executed ? "" : "<=", *a.wavefronts);
      lines_.push_back({std::to_string(a.loop_depth),
                        losses.executions ? std::to_string(*losses.executions) : "-", number,
                        a.instruction ? std::to_string(a.ideal) : "-", losses.text(a)});
    }
    for (std::size_t c : {loop, runs, lost})
      same_[c] = lines_.size() > 1 && std::all_of(lines_.begin(), lines_.end(),
                                                  [&](auto const& l) { return l[c] == lines_[0][c]; });
  }
  [[nodiscard]] std::string head() const { return line_of(names); }
  [[nodiscard]] std::string line(std::size_t row) const { return line_of(lines_[row]); }
  /// `of each line: loop 1, runs 32`, the columns that are left out; empty if none is.
  [[nodiscard]] std::string left_out() const {
    std::vector<std::string> parts;
    for (std::size_t c = 0; c < names.size(); ++c)
      if (same_[c] && lines_[0][c] != "-") parts.push_back(names[c] + " " + lines_[0][c]);
    return parts.empty() ? "" : fmt::format("of each line: {}", fmt::join(parts, ", "));
  }

 private:
  using Line = std::array<std::string, 5>;
  enum Column : std::size_t { loop, runs, wavefronts, ideal, lost };
  inline static Line const names{"loop", "runs", "wavefronts", "ideal", "lost"};

  [[nodiscard]] std::string line_of(Line const& texts) const {
    constexpr std::array<std::size_t, 5> widths{4, 5, 10, 5, 6};
    std::string text;
    for (std::size_t c = 0; c < texts.size(); ++c)
      if (!same_[c]) text += fmt::format("{}{:>{}}", text.empty() ? "" : " ", texts[c], widths[c]);
    return text;
  }

  std::vector<Line> lines_{};
  std::array<bool, 5> same_{};  ///< columns of one value
};

/// True if the row says `bounds ?`.
bool has_open_bounds(Row<KernelAccess> const& row) {
  return is_open(*row.first, row.first->in_bounds) && !is_of_dynamic_size(*row.first);
}

/// `bounds ? of a.cu:3, a.cu:7`: the lines of the rows, where several have open bounds.
std::string open_bounds_of(std::vector<Row<KernelAccess>> const& rows) {
  std::vector<std::string> lines;
  for (Row<KernelAccess> const& row : rows)
    if (std::string const line = source_of(*row.first); has_open_bounds(row))
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  return lines.size() < 2 ? "" : fmt::format("bounds ? of {}", fmt::join(lines, ", "));
}

/// Notes behind the numbers of a row: reason, `bounds ?`, the bytes of the lanes.
std::string notes_of(Row<KernelAccess> const& row, bool names_bounds) {
  KernelAccess const& a = *row.first;
  std::vector<std::string> notes;
  if (!a.reason.empty()) notes.push_back(a.reason);
  if (row.reasons.size() > 1) notes.push_back(fmt::format("{} more like it", row.reasons.size() - 1));
  if (is_open(a, a.aligned)) notes.emplace_back("aligned ?");
  if (names_bounds && has_open_bounds(row)) notes.emplace_back("bounds ?");
  if (!a.layout.empty()) notes.push_back("bytes " + a.layout);
  return printable(fmt::format("{}", fmt::join(notes, "; ")));
}

void print_accesses(Common const& common, std::vector<Row<KernelAccess>> const& rows,
                    Architecture const& arch, Sources& sources, Style const& style) {
  if (rows.empty()) return;
  constexpr std::size_t width = 80;
  Numbers const numbers(rows);
  std::size_t wide = 6, op = 2;
  for (Row<KernelAccess> const& row : rows)
    wide = std::max(wide, source_of(*row.first).size()), op = std::max(op, op_of(row).size());
  fmt::print(
      common.streams.out, "  {}\n",
      style.faint(fmt::format("{:<7}  {:<{}}  {:<{}}  {}", "", "source", wide, "op", op, numbers.head())));
  ShownLanes const lanes = shown_lanes(rows, arch, style);
  std::string const bounds = open_bounds_of(rows);
  LanesSoFar so_far;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Row<KernelAccess> const& row = rows[i];
    KernelAccess const& a = *row.first;
    std::string const line =
        fmt::format("{:<{}}  {:<{}}  {}", source_of(a), wide, op_of(row), op, numbers.line(i));
    std::string const notes = notes_of(row, bounds.empty());
    bool const one_line = notes.empty() || 11 + line.size() + 2 + notes.size() <= width ||
                          (a.verdict == KernelVerdict::proved && a.reason.empty());
    fmt::print(common.streams.out, "  {}  {}{}{}\n", colored(a.verdict, style), line,
               notes.empty() ? ""
               : one_line    ? "  "
                             : "\n      ",
               notes);
    if (a.function) fmt::print(common.streams.out, "{}", describe(*a.function, 6));
    Shown const& shown = lanes.at({source_of(a), a.op});
    if (shown.row != &row) continue;
    std::string const same = so_far.same_as(a);
    fmt::print(common.streams.out, "{}{}{}", line_of(sources, a),
               same.empty() ? lanes_of(a, arch, 6, style) : same, style.brief() ? "" : shown.others());
  }
  for (std::string const& once : {numbers.left_out(), bounds})
    if (!once.empty()) fmt::print(common.streams.out, "  {}\n", style.faint(once));
}

/// Accesses to global memory: a table of their own.
void print_global(Common const& common, std::vector<GlobalRow> rows, Style const& style) {
  if (style.brief())
    std::erase_if(rows, [](GlobalRow const& row) { return row.first->verdict == KernelVerdict::proved; });
  if (rows.empty()) return;
  std::size_t wide = 6, op = 2;
  for (GlobalRow const& row : rows)
    wide = std::max(wide, row.source.size()), op = std::max(op, row.op.size());
  fmt::print(common.streams.out, "  global memory\n  {}\n",
             style.faint(fmt::format("{:<7}  {:<{}}  {:<{}}  {:>7} {:>5} {:>5}", "", "source", wide, "op", op,
                                     "sectors", "ideal", "lines")));
  for (GlobalRow const& row : rows)
    fmt::print(common.streams.out, "  {}  {:<{}}  {:<{}}  {:>7} {:>5} {:>5}{}{}\n",
               colored(row.first->verdict, style), row.source, wide, row.op, op, row.sectors, row.ideal,
               row.lines, row.words.empty() ? "" : "  ", row.words);
}

/// Arrays without a fix, and that operands are not counted in one; as lines.
std::string without_fix(KernelReport const& report) {
  std::string text;
  for (KernelUnfixed const& u : report.unfixed)
    text += fmt::format("  no fix of array {}: {}\n", printable(u.array), printable(u.reason));
  if (!report.fixes.empty() && !report.operands.empty())
    text += "  not counted in a fix: the descriptors and bulk copies below, which have to follow it\n";
  return text;
}

}  // namespace

std::vector<GlobalRow> global_rows(KernelReport const& report) {
  std::vector<GlobalRow> rows;
  std::map<
      std::tuple<KernelVerdict, std::string, std::string, std::string, std::string, std::string, std::string>,
      std::size_t>
      known;
  for (KernelAccess const& a : report.global) {
    if (!a.executed) continue;
    KernelSectors const& s = *a.sectors;
    std::string const lines = s.lines == 0               ? "-"
                              : s.least_lines == s.lines ? std::to_string(s.lines)
                                                         : fmt::format("{}..{}", s.least_lines, s.lines);
    GlobalRow row{&a,
                  1,
                  source_of(a),
                  short_op(a),
                  sectors_of(a),
                  a.instruction ? std::to_string(a.ideal) : "-",
                  lines,
                  printable(sectors_in_words(a))};
    auto const [at, fresh] = known.try_emplace(
        std::tuple(a.verdict, row.source, row.op, row.sectors, row.ideal, row.lines, row.words), rows.size());
    if (fresh)
      rows.push_back(std::move(row));
    else
      ++rows[at->second].count;
  }
  for (GlobalRow& row : rows)
    if (row.count > 1) row.op += fmt::format(" x{}", row.count);
  return rows;
}

void print(Common const& common, Result const& r, Architecture const& arch, Sources& sources,
           Style const& style) {
  std::vector<Row<KernelAccess>> rows = shown_rows(r.report.accesses, style);
  sort_by_losses(rows);
  std::vector<Row<KernelOperand>> const operands = shown_rows(r.report.operands, style);
  auto const shown = [](KernelAccess const& a) { return a.verdict != KernelVerdict::proved; };
  bool const global = std::any_of(r.report.global.begin(), r.report.global.end(), shown);
  if (style.brief() && !global && !r.report.races && rows.empty() && operands.empty() &&
      r.report.refused.empty())
    return;
  fmt::print(common.streams.out, "{}{}{}\n", style.strong(short_name(r.name)),
             (r.report.block.empty() ? "" : "  block " + r.report.block) +
                 (r.report.grid.empty() ? "" : ", grid " + r.report.grid),
             r.part.empty() ? "" : fmt::format("  ({})", printable(r.part)));
  if (r.report.accesses.empty() && r.report.operands.empty() && r.report.global.empty() &&
      r.report.tensor_maps.empty()) {
    fmt::print(common.streams.out, "  no access to shared memory\n\n");
    return;
  }
  if (!r.report.refused.empty()) fmt::print(common.streams.out, "  not decided: {}\n", r.report.refused);
  if (std::string const assumed = assumed_in_words(r.report.assumed); !assumed.empty() && !style.brief())
    fmt::print(common.streams.out, "  {}\n", style.faint(assumed));
  if (!r.report.assumed_bases.empty())
    fmt::print(common.streams.out, "  assumed: {}\n", r.report.assumed_bases);
  if (r.report.races) fmt::print(common.streams.out, "{}", describe(*r.report.races, 2));
  print_accesses(common, rows, arch, sources, style);
  if (std::string const rest = unexecuted(r.report); !rest.empty() && !style.brief())
    fmt::print(common.streams.out, "  {}\n", style.faint(rest));
  fmt::print(common.streams.out, "{}{}", describe(pipe_time(r.report), 2), describe(r.report.vectors, 2));
  for (KernelFix const& fix : r.report.fixes) fmt::print(common.streams.out, "{}", describe(fix, 2, style));
  fmt::print(common.streams.out, "{}", without_fix(r.report));
  print_operands(common, operands, style);
  print_global(common, global_rows(r.report), style);
  for (std::string const& assumed : r.report.rests_on)
    fmt::print(common.streams.out, "  assumed: {}\n", assumed);
  fmt::print(common.streams.out, "\n");
}

std::string left_out(Results const& results) {
  std::string kernels, files;
  for (Result const& r : results.all)
    if (r.no_shape)
      kernels += fmt::format("  {}{}\n", printable(short_name(r.name)),
                             r.part.empty() ? "" : fmt::format("  ({})", printable(r.part)));
  for (UnreadFile const& f : results.not_read)
    files += fmt::format("  {}: {}\n", printable(f.file), printable(f.reason));
  if (!kernels.empty())
    kernels =
        "not decided without the shape of their block: give --block X,Y, or --block NAME=X,Y for those\n"
        "whose name the regular expression NAME finds\n" +
        kernels + "\n";
  return kernels + (files.empty() ? "" : "not read\n" + files + "\n");
}

void OpenFacts::add(KernelReport const& report) {
  for (KernelAccess const& a : report.accesses) {
    alignment += is_open(a, a.aligned) ? 1 : 0;
    if (!is_open(a, a.in_bounds)) continue;
    ++bounds;
    if (!a.bounds_reason.empty())
      ++reasons[is_of_dynamic_size(a) ? "in dynamic shared memory, whose size --shared-bytes N gives"
                                      : a.bounds_reason];
  }
}

std::string OpenFacts::text() const {
  std::string text = bounds == 0 ? "" : fmt::format("bounds of {} undecided", bounds);
  if (alignment == 0) return text;
  return text + fmt::format("{}alignment of {} undecided", text.empty() ? "" : ", ", alignment);
}

std::vector<std::string> OpenFacts::lines() const {
  std::vector<std::string> lines;
  for (auto const& [reason, count] : reasons)
    lines.push_back(fmt::format("bounds of {}: {}", count, printable(reason)));
  return lines;
}

}  // namespace swizproof::command::kernel_detail
