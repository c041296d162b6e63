#include "command/kernel/results.hpp"
#include "command/profile/page_parts.hpp"

#include "parse/question/kernels.hpp"
#include "picture/picture.hpp"
#include "report/fix.hpp"
#include "report/races.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

using Json = nlohmann::ordered_json;

/// Wavefronts, ideal and excess of an instruction, as numbers; nothing is known of one without a bound.
Json numbers_of(KernelAccess const& a) {
  bool const known = a.wavefronts && a.instruction;
  return {{"executed", 1},
          {"wavefronts", known ? *a.wavefronts : 0},
          {"ideal", known && a.executed ? a.ideal : 0},
          {"excess", known ? excess_of(a) : 0}};
}

void add_numbers(Json& to, Json const& one) {
  for (auto const& [key, value] : one.items())
    to[key] = to.value(key, std::uint64_t{0}) + value.get<std::uint64_t>();
}

/// `; in 2 loops, 64 executions a block`, as far as it is known.
std::string frequency_of(KernelAccess const& a) {
  if (!a.executed || !a.wavefronts) return {};
  std::string text =
      a.loop_depth == 0 ? "" : fmt::format("; in {} loop{}", a.loop_depth, a.loop_depth == 1 ? "" : "s");
  if (a.executions)
    text += fmt::format("; {} execution{} a block", *a.executions, *a.executions == 1 ? "" : "s");
  return text;
}

/// Rows of the table of global memory, the refuted ones first.
Json global_json(KernelReport const& report, Sources& sources) {
  std::vector<GlobalRow> rows = global_rows(report);
  std::stable_partition(rows.begin(), rows.end(),
                        [](GlobalRow const& row) { return row.first->verdict != KernelVerdict::proved; });
  Json all = Json::array();
  for (GlobalRow const& row : rows) {
    auto const text = source_text(sources, outermost_line(sources, *row.first));
    all.push_back({{"verdict", name(row.first->verdict)},
                   {"source", row.source},
                   {"op", row.op},
                   {"sectors", row.sectors},
                   {"ideal", row.ideal},
                   {"lines", row.lines},
                   {"words", row.words},
                   {"text", text ? Json(*text) : Json()}});
  }
  return all;
}

/// Sectors above the allowed number, of an execution of each access to global memory that is refuted or depends on data.
std::uint64_t sectors_above(KernelReport const& report) {
  std::uint64_t sum = 0;
  for (KernelAccess const& a : report.global)
    if (a.executed && a.wavefronts) sum += excess_over(a.allowed, *a.wavefronts);
  return sum;
}

/// The lines below a kernel's tables: operands that fail, races, arrays without a fix, and what the answers rest on.
Json notes_of(KernelReport const& report) {
  Json notes = Json::array();
  for (FailingOperand const& f : failing_operands(report)) notes.push_back(f.text);
  if (report.races) notes.push_back(describe(*report.races, 0));
  OpenFacts open;
  open.add(report);
  if (std::string text = open.text(); !text.empty()) {
    for (std::string const& line : open.lines()) text += "; " + line;
    notes.push_back(std::move(text));
  }
  for (KernelUnfixed const& u : report.unfixed)
    notes.push_back(fmt::format("no fix of array {}: {}", u.array, u.reason));
  if (!report.vectors.empty()) notes.push_back(describe(report.vectors, 0));
  if (!report.assumed.empty()) notes.push_back(assumed_in_words(report.assumed));
  if (!report.assumed_bases.empty()) notes.push_back("assumed: " + report.assumed_bases);
  for (std::string const& assumed : report.rests_on) notes.push_back("assumed: " + assumed);
  return notes;
}

/// The only fix of a kernel's shared memory, if no access has a conflict after it.
Fix const* whole_fix(KernelReport const& report) {
  if (report.fixes.size() != 1 || !report.unfixed.empty()) return nullptr;
  KernelFix const& f = report.fixes[0];
  if (f.fixes.size() != 1 || !f.left_out.empty() || f.fixes[0].after() != f.fixes[0].ideal) return nullptr;
  return &f.fixes[0];
}

/// The lanes after the fix, but for what all lanes share, as those of `access` are; nothing if they would still collide.
std::optional<WarpAccess<std::uint32_t>> after(Fix const& fix, Architecture const& arch,
                                               Instruction const& instruction,
                                               WarpAccess<std::uint32_t> access) {
  bool const swizzles = fix.swizzle && fix.swizzle->after == fix.ideal;
  if (!swizzles && fix.padding->starts.size() != 1) return std::nullopt;
  for (std::uint32_t& address : access.address) {
    if (swizzles)
      address = fix.swizzle->swizzle(address);
    else if (address >= fix.padding->starts[0])
      address += static_cast<std::uint32_t>((address - fix.padding->starts[0]) / fix.padding->pitch *
                                            fix.padding->padding);
  }
  if (cost(arch, instruction, access).wavefronts > ideal_wavefronts(arch, instruction)) return std::nullopt;
  return access;
}

/// True if the page shows the lanes of an execution that conflict.
bool has_lanes(KernelAccess const& a) {
  return a.wavefronts && a.instruction && a.worst && !a.atomic && a.verdict != KernelVerdict::proved;
}

/// Accesses with a picture, the most expensive ones.
std::set<KernelAccess const*> pictured(std::vector<Result> const& results) {
  std::vector<std::pair<std::uint64_t, KernelAccess const*>> all;
  for (Result const& r : results)
    for (KernelAccess const& a : r.report.accesses)
      if (has_lanes(a) && excess_of(a) != 0) all.emplace_back(excess_of(a), &a);
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
  std::set<KernelAccess const*> chosen;
  for (std::size_t i = 0; i < std::min(all.size(), most_pictures); ++i) chosen.insert(all[i].second);
  return chosen;
}

/// One instruction as a line of the page of `explain`. `fix`: what the kernel's accesses can take.
Json page_line(KernelAccess const& a, Architecture const& arch, Sources& sources, bool has_picture,
               Fix const* fix) {
  SourceLine const at = outermost_line(sources, a);
  std::string const where = a.inlined_at.empty() ? "" : fmt::format(" ({})", source_of(a));
  Json line{{"pc", a.ptx_line},
            {"sass", fmt::format("{}{}{}{}{}", name(a.verdict), a.reason.empty() ? "" : ": " + a.reason,
                                 where, frequency_of(a),
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
  if (!has_lanes(a)) return line;
  line["worst"] = to_json(worst_of(arch, *a.instruction, a.worst->lanes), a.worst->lanes);
  if (!has_picture) return line;
  line["picture"] = figure_of(arch, a.op, *a.instruction, a.worst->lanes);
  if (auto const lanes = fix == nullptr ? std::nullopt : after(*fix, arch, *a.instruction, a.worst->lanes)) {
    line["after"] = figure_of(arch, a.op, *a.instruction, *lanes);
    line["after_what"] = fix->swizzle && fix->swizzle->after == fix->ideal ? "swizzle" : "padding";
  }
  return line;
}

}  // namespace

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
  std::set<KernelAccess const*> const pictures = pictured(results);
  for (Result const& r : results) {
    Json kernel{{"kernel", short_name(r.name)}, {"block", r.report.block}, {"refused", r.report.refused},
                {"unseen", Json::array()},      {"lines", Json::array()},  {"fixes", Json::array()}};
    add_numbers(kernel, {{"executed", 0}, {"wavefronts", 0}, {"ideal", 0}, {"excess", 0}});
    std::vector<std::pair<std::string, unsigned>> lines;
    for (KernelAccess const& a : r.report.accesses) {
      kernel["lines"].push_back(page_line(a, arch, sources, pictures.contains(&a), whole_fix(r.report)));
      add_numbers(kernel, numbers_of(a));
      if (SourceLine const at = outermost_line(sources, a); a.wavefronts && a.instruction)
        lines.emplace_back(at.file, at.line);
    }
    for (KernelFix const& f : r.report.fixes)
      for (Fix const& fix : f.fixes) {
        kernel["fixes"].push_back(to_json(fix));
        kernel["fixes"].back().update(Json{{"array", f.array}, {"start", f.start}, {"left_out", f.left_out}});
      }
    kernel["notes"] = notes_of(r.report);
    if (!r.report.global.empty())
      kernel["global"] = global_json(r.report, sources), kernel["sectors"] = sectors_above(r.report);
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

}  // namespace swizproof::command::kernel_detail
