#include "command/kernel/since.hpp"

#include "parse/question/kernels.hpp"
#include "report/report.hpp"

#include <swizproof/claim/line_cost.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

/// The accesses of one line with one name.
struct LineOfBuild {
  std::string source{}, op{};
  bool global = false;  ///< the cost is one of sectors
  std::vector<KernelAccess const*> of{};
  LineCost cost{};
  bool fault = false;
  bool limited = false;         ///< by --at-most
  std::string open{};           ///< reason of the first access that is not decided
  std::size_t undecided = 0;    ///< number of those
  std::size_t open_faults = 0;  ///< number of decided ones whose alignment or bounds are not
  bool matched = false;
};

void add(KernelAccess const& a, LineOfBuild& line) {
  line.of.push_back(&a);
  if (!a.executed) return;
  if (a.verdict == KernelVerdict::unknown && ++line.undecided == 1) line.open = a.reason;
  line.fault = line.fault || is_fault(a);
  line.limited = line.limited || a.allowed > a.ideal;
  bool const decided = a.instruction && a.verdict != KernelVerdict::unknown;
  line.open_faults += decided && (!a.aligned || (!a.in_bounds && !is_of_dynamic_size(a))) ? 1 : 0;
  line.cost.add(a);
}

/// `by_line`: those of one line together; else each instruction on its own, as the number of a line of PTX or SASS is that of no other build.
void add_lines(std::vector<KernelAccess> const& accesses, bool global, bool by_line,
               std::vector<LineOfBuild>& out) {
  for (KernelAccess const& a : accesses) {
    std::string source = a.file.empty() ? (a.sass ? "SASS" : "PTX") : source_of(a);
    auto at = std::find_if(out.begin(), out.end(), [&](LineOfBuild const& l) {
      return l.source == source && l.op == a.op && l.global == global;
    });
    if (at == out.end() || !by_line || a.file.empty())
      at = out.insert(out.end(), {std::move(source), a.op, global});
    add(a, *at);
  }
}

std::vector<LineOfBuild> lines_of(KernelReport const& report, bool by_line) {
  std::vector<LineOfBuild> out;
  add_lines(report.accesses, false, by_line, out);
  add_lines(report.global, true, by_line, out);
  return out;
}

/// Descriptors and bulk copies of one line with one name.
struct OperandsOfBuild {
  std::string source{}, op{}, what{};
  std::vector<KernelOperand const*> of{};
  std::size_t refuted = 0, unknown = 0;
  bool matched = false;
};

std::vector<OperandsOfBuild> operands_of(KernelReport const& report, bool by_line) {
  std::vector<OperandsOfBuild> out;
  for (KernelOperand const& o : report.operands) {
    std::string const source = o.file.empty() ? (o.sass ? "SASS" : "PTX") : source_of(o);
    auto at = std::find_if(out.begin(), out.end(), [&](OperandsOfBuild const& l) {
      return l.source == source && l.op == o.op && l.what == o.what;
    });
    if (at == out.end() || !by_line || o.file.empty()) at = out.insert(out.end(), {source, o.op, o.what});
    at->of.push_back(&o);
    at->refuted += o.verdict == KernelVerdict::refuted ? 1 : 0;
    at->unknown += o.verdict == KernelVerdict::unknown ? 1 : 0;
  }
  return out;
}

bool is_like(LineOfBuild const& a, LineOfBuild const& b) { return a.op == b.op && a.global == b.global; }
bool is_like(OperandsOfBuild const& a, OperandsOfBuild const& b) { return a.op == b.op && a.what == b.what; }

/// `2 refuted and 1 undecided, before 0 refuted (4 instructions)`
std::string change_in_words(OperandsOfBuild const& f, OperandsOfBuild const& o) {
  auto const words = [](OperandsOfBuild const& l) {
    return fmt::format("{} refuted{}", l.refuted,
                       l.unknown == 0 ? "" : fmt::format(" and {} undecided", l.unknown));
  };
  return fmt::format("{}, before {} ({} instruction{})", words(f), words(o), f.of.size(),
                     f.of.size() == 1 ? "" : "s");
}

/// The line of the old build, where it is another one.
template <class Line>
std::string moved_from(Line const& f, Line const& o) {
  bool const numbered = f.source.find(':') != std::string::npos && o.source.find(':') != std::string::npos;
  return numbered && f.source != o.source ? o.source : "";
}

/// True if the code has lines of its source: -lineinfo. Nothing where there is no code that would have them.
std::optional<bool> has_lines(KernelReport const& report) {
  std::optional<bool> found;
  auto const look = [&](auto const& all) {
    for (auto const& one : all) found = found.value_or(false) || !one.file.empty();
  };
  look(report.accesses), look(report.global), look(report.operands);
  return found;
}

/// `3 wavefronts above the ideal`, of one execution of each instruction.
std::string once_in_words(LineOfBuild const& l) {
  return in_words(l.cost.once(), fmt::format("{} above the {}", l.global ? "sectors" : "wavefronts",
                                             l.global || l.limited ? "allowed number" : "ideal"));
}

/// `9 wavefronts above the ideal, 3 before`, of an execution of each instruction; `48 wavefronts of a block lost, 12 before` where these do
/// not differ as those of a block do.
std::string change_in_words(LineOfBuild const& f, LineOfBuild const& o, CostChange change) {
  CostRange const &now = f.cost.once(), &before = o.cost.once();
  bool const once = change == CostChange::worse    ? before.most && now.least > *before.most
                    : change == CostChange::better ? now.most && (!before.most || *now.most < *before.most)
                                                   : now != before;
  std::string text =
      once ? fmt::format("{}, {} before", once_in_words(f), in_words(before))
           : fmt::format("{}, {} before",
                         f.cost.block_in_words(f.global    ? "sectors of a block above the allowed number"
                                               : f.limited ? "wavefronts of a block above the allowed number"
                                                           : "wavefronts of a block lost"),
                         o.cost.block_in_words(""));
  if (f.of.size() != 1 || o.of.size() != 1)
    text += fmt::format(" ({} instruction{}{})", f.of.size(), f.of.size() == 1 ? "" : "s",
                        f.of.size() == o.of.size() ? "" : fmt::format(", {} before", o.of.size()));
  return text;
}

/// `; not decided: REASON`, where an access is not, in one build or in both.
std::string undecided_in_words(LineOfBuild const& f, LineOfBuild const* o) {
  if (f.undecided != 0)
    return fmt::format("; not decided{}: {}", o != nullptr && o->undecided != 0 ? " in both builds" : "",
                       printable(f.open));
  return o != nullptr && o->undecided != 0 ? fmt::format("; not decided before: {}", printable(o->open)) : "";
}

/// `st.shared.u32 at k.cu:5 and ld.shared.u32 at k.cu:7`; without -lineinfo the instructions alone.
std::string accesses_of(Race const& r, bool by_line) {
  auto const one = [&](RaceAccess const& a) {
    return a.op + (by_line && !a.source.file.empty() ? " at " + source_of(a.source, a.inlined_at) : "");
  };
  return one(r.first) + " and " + one(r.second);
}

class Comparing {
 public:
  Comparison run(std::vector<Result> const& now, std::vector<Result> const& before) {
    std::vector<Result const*> old, fresh;
    for (Result const& r : before) old.push_back(&r);
    for (Result const& r : now) fresh.push_back(&r);
    // Two files may have kernels of one name.
    for (bool const of_one_file : {true, false})
      for (Result const*& r : fresh) {
        if (r == nullptr) continue;
        auto const at = std::find_if(old.begin(), old.end(), [&](Result const* o) {
          return o->name == r->name && o->report.block == r->report.block &&
                 (!of_one_file || (name_of(*o) == name_of(*r) && o->part == r->part));
        });
        if (at == old.end()) continue;
        kernel(*r, **at);
        old.erase(at), r = nullptr;
      }
    for (Result const* r : fresh)
      if (r != nullptr) only_new(*r);
    for (Result const* r : old) out_.only_old.push_back(r->name);
    return std::move(out_);
  }

 private:
  static std::string name_of(Result const& r) { return r.file.substr(r.file.rfind('/') + 1); }

  void kernel(Result const& now, Result const& before) {
    file_ = now.file, name_ = now.name, block_ = now.report.block;
    std::optional<bool> const lines = has_lines(now.report), old_lines = has_lines(before.report);
    bool const by_line = !lines || !old_lines || *lines == *old_lines;
    if (!by_line)
      out_.notes.push_back(
          fmt::format("only the {} build of {} has -lineinfo: instructions are matched by name and order",
                      *lines ? "new" : "old", short_name(now.name)));
    match(lines_of(now.report, by_line), lines_of(before.report, by_line));
    match(operands_of(now.report, by_line), operands_of(before.report, by_line));
    if (now.report.races)
      match_races(*now.report.races, before.report.races ? &*before.report.races : nullptr);
  }

  template <class Line>
  void match(std::vector<Line> fresh, std::vector<Line> old) {
    for (bool const by_number : {true, false})
      for (Line& f : fresh) {
        auto const at = std::find_if(old.begin(), old.end(), [&](Line const& o) {
          return !o.matched && is_like(o, f) && (!by_number || o.source == f.source);
        });
        if (f.matched || at == old.end()) continue;
        pair(f, *at);
        f.matched = at->matched = true;
      }
    for (Line const& f : fresh)
      if (!f.matched) add_line(f, &out_.added);
    for (Line const& o : old)
      if (!o.matched) out_.removed.push_back(compared_line(nullptr, &o));
  }

  [[nodiscard]] ComparedLine race_line(KernelRaces const& races, Race const* race, std::string why) const {
    ComparedLine line{file_, name_, block_};
    line.races = &races, line.race = race, line.why = std::move(why);
    line.source = "races";
    if (race == nullptr) return line;
    line.op = accesses_of(*race, true);
    line.source = std::string(swizproof::name_of(race->kind));
    return line;
  }

  /// Races that only the new build has are worse. The old ones are matched by kind, instructions and lines, the rest by kind and instructions.
  void match_races(KernelRaces const& now, KernelRaces const* before) {
    std::vector<Race const*> fresh, old;
    for (Race const& r : now.races) fresh.push_back(&r);
    if (before != nullptr)
      for (Race const& r : before->races) old.push_back(&r);
    for (bool const by_line : {true, false})
      for (Race const*& r : fresh) {
        auto const at = std::find_if(old.begin(), old.end(), [&](Race const* o) {
          return r != nullptr && o->kind == r->kind && accesses_of(*o, by_line) == accesses_of(*r, by_line);
        });
        if (at == old.end()) continue;
        ++out_.same;
        old.erase(at), r = nullptr;
      }
    bool const open = before != nullptr && before->verdict == RaceVerdict::unknown;
    for (Race const* const r : fresh)
      if (r != nullptr)
        (open ? out_.undecided : out_.worse)
            .push_back(race_line(now, r,
                                 before == nullptr ? "new"
                                 : open            ? "not found before, when races were not decided"
                                                   : "not there before"));
    if (now.verdict == RaceVerdict::unknown)
      out_.undecided.push_back(race_line(now, nullptr, "not decided: " + printable(now.reason)));
    if (now.verdict != RaceVerdict::proved) return;
    for (Race const* const r : old) out_.better.push_back(race_line(now, r, "no longer there"));
    if (open) out_.better.push_back(race_line(now, nullptr, "race free, which was not decided before"));
  }

  /// A kernel that the old build does not have under this name and block: each of its lines is new.
  void only_new(Result const& r) {
    out_.only_new.push_back(r.name);
    file_ = r.file, name_ = r.name, block_ = r.report.block;
    for (LineOfBuild const& f : lines_of(r.report, true)) add_line(f, nullptr);
    for (OperandsOfBuild const& f : operands_of(r.report, true)) add_line(f, nullptr);
    if (r.report.races) match_races(*r.report.races, nullptr);
  }

  [[nodiscard]] ComparedLine compared_line(LineOfBuild const* f, LineOfBuild const* o) const {
    ComparedLine line{file_, name_, block_, f != nullptr ? f->source : o->source};
    line.op = f != nullptr ? f->op : o->op;
    line.global = f != nullptr ? f->global : o->global;
    if (f != nullptr && o != nullptr) line.was_at = moved_from(*f, *o);
    auto const sums = [](LineOfBuild const& l) {
      auto const block = l.cost.block();
      return LineSums{l.of.size(), 0, 0, l.cost.once().most, block ? block->most : std::nullopt};
    };
    if (o != nullptr) line.before = sums(*o);
    if (f != nullptr) line.after = sums(*f), line.of = f->of;
    return line;
  }

  [[nodiscard]] ComparedLine compared_line(OperandsOfBuild const* f, OperandsOfBuild const* o) const {
    OperandsOfBuild const& one = f != nullptr ? *f : *o;
    ComparedLine line{file_, name_, block_, one.source};
    line.op = one.op, line.operand = one.what;
    if (f != nullptr && o != nullptr) line.was_at = moved_from(*f, *o);
    if (o != nullptr) line.before = {o->of.size(), o->refuted, o->unknown};
    if (f != nullptr) line.after = {f->of.size(), f->refuted, f->unknown}, line.operands = f->of;
    return line;
  }

  /// More are refuted than may have been before, or may be more.
  void pair(OperandsOfBuild const& f, OperandsOfBuild const& o) {
    ComparedLine line = compared_line(&f, &o);
    line.why = change_in_words(f, o);
    if (f.refuted > o.refuted + o.unknown)
      out_.worse.push_back(std::move(line));
    else if (f.unknown != 0 || f.refuted > o.refuted)
      out_.undecided.push_back(std::move(line));
    else if (f.refuted < o.refuted || o.unknown != 0)
      out_.better.push_back(std::move(line));
    else
      ++out_.same;
  }

  void add_line(OperandsOfBuild const& f, std::vector<ComparedLine>* harmless) {
    ComparedLine line = compared_line(&f, nullptr);
    if (f.refuted + f.unknown != 0) line.why = f.refuted != 0 ? "new, and refuted" : "new, and not decided";
    auto* const to = f.refuted != 0 ? &out_.worse : f.unknown != 0 ? &out_.undecided : harmless;
    if (to != nullptr) to->push_back(std::move(line));
  }

  void pair(LineOfBuild const& f, LineOfBuild const& o) {
    CostChange const change = f.cost.since(o.cost);
    ComparedLine line = compared_line(&f, &o);
    line.why = change_in_words(f, o, change) + undecided_in_words(f, &o);
    if (change == CostChange::undecided && f.undecided + o.undecided == 0 && f.cost.once() == o.cost.once() &&
        f.cost.block() == o.cost.block())
      line.why += "; the addresses are others";
    bool const fault = f.fault && !o.fault;
    if (fault)
      line.why =
          fmt::format("misaligned or out of bounds, which {}",
                      o.undecided + o.open_faults != 0 ? "was not decided before" : "it was not before");
    if (change == CostChange::worse || (fault && o.undecided + o.open_faults == 0))
      return out_.worse.push_back(std::move(line));
    if (fault || f.undecided != 0 || change == CostChange::undecided)
      return out_.undecided.push_back(std::move(line));
    if (f.open_faults != 0 && !f.fault && !o.fault && o.undecided + o.open_faults == 0) {
      line.why = "alignment or bounds are not decided, as they were before";
      return out_.undecided.push_back(std::move(line));
    }
    if (!f.fault && o.fault) line.why = "no longer misaligned or out of bounds";
    if (change == CostChange::same && f.fault == o.fault)
      ++out_.same;
    else
      out_.better.push_back(std::move(line));
  }

  /// `harmless`: list for a line without a conflict, or null.
  void add_line(LineOfBuild const& f, std::vector<ComparedLine>* harmless) {
    ComparedLine line = compared_line(&f, nullptr);
    bool const bad = f.fault || f.cost.once().least != 0;
    if (f.fault)
      line.why = "new, and misaligned or out of bounds";
    else if (f.undecided != 0 || f.cost.once().most != 0U)
      line.why = fmt::format("new, and {}{}", once_in_words(f), undecided_in_words(f, nullptr));
    auto* const to = bad ? &out_.worse : line.why.empty() ? harmless : &out_.undecided;
    if (to != nullptr) to->push_back(std::move(line));
  }

  Comparison out_{};
  std::string file_{}, name_{}, block_{};
};

nlohmann::ordered_json line_json(ComparedLine const& l) {
  using Json = nlohmann::ordered_json;
  auto const number = [](std::optional<std::uint64_t> n) { return n ? Json(*n) : Json(); };
  Json out{{"kernel", l.kernel}, {"block", l.block}, {"source", l.source}, {"op", l.op}};
  if (l.global) out["memory"] = "global";
  if (!l.was_at.empty()) out["was_at"] = l.was_at;
  if (l.races != nullptr) out["race"] = true;
  out["accesses"] = {{"before", l.before.accesses}, {"after", l.after.accesses}};
  if (!l.operand.empty()) {
    out["operand"] = l.operand;
    out["refuted"] = {{"before", l.before.refuted}, {"after", l.after.refuted}};
    out["unknown"] = {{"before", l.before.unknown}, {"after", l.after.unknown}};
  }
  out["excess"] = {{"before", number(l.before.excess)}, {"after", number(l.after.excess)}};
  out["lost"] = {{"before", number(l.before.lost)}, {"after", number(l.after.lost)}};
  if (!l.why.empty()) out["why"] = l.why;
  return out;
}

}  // namespace

ComparedLine const* Comparison::failing(KernelAccess const& access) const {
  for (auto const* const lines : {&worse, &undecided})
    for (ComparedLine const& l : *lines)
      if (std::find(l.of.begin(), l.of.end(), &access) != l.of.end()) return &l;
  return nullptr;
}

ComparedLine const* Comparison::failing(KernelOperand const& operand) const {
  for (auto const* const lines : {&worse, &undecided})
    for (ComparedLine const& l : *lines)
      if (std::find(l.operands.begin(), l.operands.end(), &operand) != l.operands.end()) return &l;
  return nullptr;
}

ComparedLine const* Comparison::failing(KernelRaces const& races, Race const* race) const {
  for (auto const* const lines : {&worse, &undecided})
    for (ComparedLine const& l : *lines)
      if (l.races == &races && l.race == race) return &l;
  return nullptr;
}

Comparison compared(std::vector<Result> const& now, Results const& before) {
  Comparison out = Comparing().run(now, before.all);
  out.not_read = before.not_read;
  return out;
}

nlohmann::ordered_json comparison_json(Comparison const& c, std::string const& since) {
  nlohmann::ordered_json out{{"file", since}, {"same", c.same}};
  auto const list = [&](char const* key, std::vector<ComparedLine> const& lines) {
    out[key] = nlohmann::ordered_json::array();
    for (ComparedLine const& l : lines) out[key].push_back(line_json(l));
  };
  list("worse", c.worse), list("better", c.better), list("added", c.added), list("removed", c.removed);
  list("undecided", c.undecided);
  for (UnreadFile const& f : c.not_read) out["not_read"].push_back({{"file", f.file}, {"reason", f.reason}});
  if (!c.notes.empty()) out["notes"] = c.notes;
  out["kernels_added"] = c.only_new, out["kernels_removed"] = c.only_old;
  return out;
}

namespace {

/// A cell of code: without what ends it, the code or the row.
std::string code_cell(std::string text) {
  std::replace(text.begin(), text.end(), '`', '\'');
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string out;
  for (char const c : text) out += (c == '|' ? "\\" : "") + std::string(1, c);
  return out.empty() ? "" : "`" + out + "`";
}

/// A cell of words.
std::string cell(std::string const& text) {
  std::string out;
  for (char const c : printable(text))
    out += (std::string_view("|<>*_`[]\\").find(c) == std::string_view::npos ? "" : "\\") + std::string(1, c);
  return out;
}

}  // namespace

std::string in_markdown(Comparison const& c, std::string const& since, Results const& now) {
  std::string out = fmt::format(
      "**{}**: {} worse, {} undecided, {} better, {} the same, {} added, {} removed (lines, compared with "
      "{})\n",
      !c.worse.empty()       ? "worse"
      : !c.undecided.empty() ? "not decided"
                             : "no line is worse",
      c.worse.size(), c.undecided.size(), c.better.size(), c.same, c.added.size(), c.removed.size(),
      code_cell(since));
  std::string rows;
  auto const list = [&](std::string_view what, std::vector<ComparedLine> const& lines) {
    for (ComparedLine const& l : lines)
      rows += fmt::format("| {} | {}{} | {} | {} | {} |\n", what, code_cell(l.source),
                          l.was_at.empty() ? "" : fmt::format(" (was {})", code_cell(l.was_at)),
                          code_cell(l.operand.empty() ? l.op : l.operand + " of " + l.op), cell(l.why),
                          code_cell(l.kernel));
  };
  list("worse", c.worse), list("undecided", c.undecided), list("better", c.better), list("added", c.added);
  list("removed", c.removed);
  if (!rows.empty())
    out += "\n| | line | instruction | change | kernel |\n| --- | --- | --- | --- | --- |\n" + rows;
  std::string rest;
  for (std::string const& note : c.notes) rest += fmt::format("- note: {}\n", cell(note));
  for (auto const* const files : {&now.not_read, &c.not_read})
    for (UnreadFile const& f : *files)
      rest += fmt::format("- not read: {}: {}\n", code_cell(f.file), cell(f.reason));
  for (std::string const& k : c.only_new)
    rest += fmt::format("- only in the new build, or renamed: {}\n", code_cell(k));
  for (std::string const& k : c.only_old)
    rest += fmt::format("- not compared, only in the old build: {}\n", code_cell(k));
  return rest.empty() ? out : out + "\n" + rest;
}

std::string describe(Comparison const& c, std::string const& since) {
  std::string out =
      fmt::format("compared with {}: {} worse, {} better, {} the same, {} added, {} removed{} (lines)\n",
                  since, c.worse.size(), c.better.size(), c.same, c.added.size(), c.removed.size(),
                  c.undecided.empty() ? "" : fmt::format(", {} undecided", c.undecided.size()));
  auto const list = [&](std::string_view what, std::vector<ComparedLine> const& lines) {
    for (ComparedLine const& l : lines)
      out += fmt::format("  {:<7}  {}{}  {}{}{}\n", what, l.source,
                         l.was_at.empty() ? "" : fmt::format(" (was {})", l.was_at),
                         l.operand.empty() ? l.op : l.operand + " of " + l.op,
                         l.why.empty() ? "" : (l.op.empty() ? "" : "  ") + l.why,
                         l.kernel.empty() ? "" : "  " + l.kernel);
  };
  list("worse", c.worse), list("unknown", c.undecided), list("better", c.better), list("added", c.added);
  list("removed", c.removed);
  for (std::string const& note : c.notes) out += fmt::format("  note: {}\n", printable(note));
  for (UnreadFile const& f : c.not_read)
    out += fmt::format("  not read: {}: {}\n", printable(f.file), printable(f.reason));
  for (std::string const& k : c.only_new) out += fmt::format("  only in the new build, or renamed: {}\n", k);
  for (std::string const& k : c.only_old)
    out += fmt::format("  not compared, only in the old build: {}\n", k);
  return out;
}

}  // namespace swizproof::command::kernel_detail
