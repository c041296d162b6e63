#include "command/kernel/results.hpp"

#include "report/fix.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace swizproof::command::kernel_detail {

namespace {

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
  return conflicts && report.vectors.empty()
             ? "no fix: none that was searched saves a wavefront, or executions depend on data or on a "
               "parameter (--param n=4 gives n a value)"
             : "";
}

}  // namespace

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
  if (!r.report.assumed_bases.empty())
    fmt::print(common.streams.out, "  assumed: {}\n", r.report.assumed_bases);
  print_accesses(common, rows, r.report.accesses, arch, sources, style);
  if (std::string const rest = unexecuted(r.report); !rest.empty() && !style.brief())
    fmt::print(common.streams.out, "  {}\n", style.faint(rest));
  fmt::print(common.streams.out, "{}", describe(r.report.vectors, 2));
  for (KernelFix const& fix : r.report.fixes) fmt::print(common.streams.out, "{}", describe(fix, 2, style));
  if (std::string const why = uncounted(r.report); !why.empty())
    fmt::print(common.streams.out, "  {}\n", why);
  print_operands(common, operands, style);
  fmt::print(common.streams.out, "\n");
}

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

}  // namespace swizproof::command::kernel_detail
