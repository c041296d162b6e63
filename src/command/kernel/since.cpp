#include "command/kernel/since.hpp"

#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

/// Wavefronts above the ideal, summed over instructions.
struct Excess {
  std::optional<std::uint64_t> most = 0;  ///< nothing: not known
  std::uint64_t decided = 0;              ///< those of accesses that are decided
  std::uint64_t least = 0;                ///< those of known executions

  void add(std::optional<std::uint64_t> wavefronts, bool is_decided, std::uint64_t known) {
    least += known;
    if (!wavefronts || !most)
      most.reset();
    else
      *most += *wavefronts;
    if (wavefronts && is_decided) decided += *wavefronts;
  }
};

/// The accesses of one line with one name.
struct LineOfBuild {
  std::string source{}, op{};
  bool global = false;  ///< the excess is one of sectors
  std::vector<KernelAccess const*> of{};
  Excess once{};   ///< each instruction once
  Excess block{};  ///< by all executions of a block
  bool fault = false;
  bool open = false;    ///< the excess is a bound that no execution is known to take
  bool bound = false;   ///< the same, or data decide it
  bool range = false;   ///< what an execution takes is between two numbers
  std::string shape{};  ///< addresses and bounds of the accesses, alike in two builds that do the same
  bool matched = false;
};

/// An address without the lines of the PTX, as in `load@28`, which move from build to build.
std::string without_numbers(std::string text) {
  for (std::size_t at = 0; (at = text.find('@', at)) != std::string::npos;)
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9';) text.erase(at, 1);
  return text;
}

/// Adds an access: its wavefronts above the ideal, or sectors above --excess-sectors, since what consecutive addresses take may start anywhere
/// in a sector.
void add(KernelAccess const& a, LineOfBuild& line) {
  line.of.push_back(&a);
  bool const decided = a.verdict != KernelVerdict::unknown;
  line.fault = line.fault || is_fault(a);
  line.open = line.open || !decided;
  line.bound = line.bound || !decided || a.verdict == KernelVerdict::data;
  if (!a.executed) return;
  std::optional<std::uint64_t> excess, lost;
  unsigned const floor = line.global ? a.allowed : a.ideal;
  if (a.wavefronts) excess = excess_over(floor, *a.wavefronts);
  if (excess == 0U)
    lost = 0;
  else if (excess && a.executions)
    lost = *excess * *a.executions;
  bool const range = excess != 0U && !a.reached && a.verdict != KernelVerdict::data;
  line.range = line.range || range;
  line.shape += fmt::format("{} {} {};", without_numbers(a.address), a.seen, a.wavefronts.value_or(0));
  std::uint64_t const known = range ? excess_over(floor, a.seen) : excess.value_or(0);
  line.once.add(excess, decided, known), line.block.add(lost, decided, known * a.executions.value_or(0));
}

void add_lines(std::vector<KernelAccess> const& accesses, bool global, std::vector<LineOfBuild>& out) {
  for (KernelAccess const& a : accesses) {
    std::string source = source_of(a);
    // Without -lineinfo a number of the PTX or SASS says nothing of another build.
    if (a.file.empty()) source = a.sass ? "SASS" : "PTX";
    auto at = std::find_if(out.begin(), out.end(), [&](LineOfBuild const& l) {
      return l.source == source && l.op == a.op && l.global == global;
    });
    if (at == out.end() || a.file.empty()) at = out.insert(out.end(), {std::move(source), a.op, global});
    add(a, *at);
  }
}

std::vector<LineOfBuild> lines_of(KernelReport const& report) {
  std::vector<LineOfBuild> out;
  add_lines(report.accesses, false, out);
  add_lines(report.global, true, out);
  return out;
}

/// Descriptors and bulk copies of one line with one name.
struct OperandsOfBuild {
  std::string source{}, op{}, what{};
  std::vector<KernelOperand const*> of{};
  std::size_t refuted = 0, unknown = 0;
  bool matched = false;
};

std::vector<OperandsOfBuild> operands_of(KernelReport const& report) {
  std::vector<OperandsOfBuild> out;
  for (KernelOperand const& o : report.operands) {
    std::string const source = o.file.empty() ? (o.sass ? "SASS" : "PTX") : source_of(o);
    auto at = std::find_if(out.begin(), out.end(), [&](OperandsOfBuild const& l) {
      return l.source == source && l.op == o.op && l.what == o.what;
    });
    if (at == out.end() || o.file.empty()) at = out.insert(out.end(), {source, o.op, o.what});
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

char const* unit_of(LineOfBuild const& l) {
  return l.global ? "sectors above the allowed number" : "wavefronts above the ideal";
}

std::string in_words(Excess const& e, bool bound) {
  if (e.most && e.least != 0 && e.least < *e.most) return fmt::format("{} to {}", e.least, *e.most);
  return e.most ? fmt::format("{}{}", bound ? "at most " : "", *e.most) : "an unknown number";
}

/// `9 wavefronts above the ideal, 3 before`, of an execution of each instruction; `48 wavefronts of a block lost, 12 before` where these do
/// not grow or fall as those of a block do.
std::string change_in_words(LineOfBuild const& f, LineOfBuild const& o, bool per_block) {
  auto const less = [](Excess const& a, Excess const& b) { return a.most && b.most && *a.most < *b.most; };
  bool const alike = !per_block || (less(f.once, o.once) == less(f.block, o.block) &&
                                    less(o.once, f.once) == less(o.block, f.block));
  std::string text = fmt::format("{} {}, {} before", in_words(alike ? f.once : f.block, f.bound),
                                 alike      ? unit_of(f)
                                 : f.global ? "sectors of a block above the allowed number"
                                            : "wavefronts of a block lost",
                                 in_words(alike ? o.once : o.block, o.bound));
  if (f.of.size() != 1 || o.of.size() != 1)
    text += fmt::format(" ({} instruction{}{})", f.of.size(), f.of.size() == 1 ? "" : "s",
                        f.of.size() == o.of.size() ? "" : fmt::format(", {} before", o.of.size()));
  return text;
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
    match(lines_of(now.report), lines_of(before.report));
    match(operands_of(now.report), operands_of(before.report));
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

  /// A kernel that the old build does not have under this name and block: each of its lines is new.
  void only_new(Result const& r) {
    out_.only_new.push_back(r.name);
    file_ = r.file, name_ = r.name, block_ = r.report.block;
    for (LineOfBuild const& f : lines_of(r.report)) add_line(f, nullptr);
    for (OperandsOfBuild const& f : operands_of(r.report)) add_line(f, nullptr);
  }

  [[nodiscard]] ComparedLine compared_line(LineOfBuild const* f, LineOfBuild const* o) const {
    ComparedLine line{file_, name_, block_, f != nullptr ? f->source : o->source};
    line.op = f != nullptr ? f->op : o->op;
    line.global = f != nullptr ? f->global : o->global;
    if (f != nullptr && o != nullptr && f->source != o->source) line.was_at = o->source;
    if (o != nullptr) line.before = {o->of.size(), 0, 0, o->once.most, o->block.most};
    if (f != nullptr) line.after = {f->of.size(), 0, 0, f->once.most, f->block.most}, line.of = f->of;
    return line;
  }

  [[nodiscard]] ComparedLine compared_line(OperandsOfBuild const* f, OperandsOfBuild const* o) const {
    OperandsOfBuild const& one = f != nullptr ? *f : *o;
    ComparedLine line{file_, name_, block_, one.source};
    line.op = one.op, line.operand = one.what;
    if (f != nullptr && o != nullptr && f->source != o->source) line.was_at = o->source;
    if (o != nullptr) line.before = {o->of.size(), o->refuted, o->unknown};
    if (f != nullptr) line.after = {f->of.size(), f->refuted, f->unknown}, line.operands = f->of;
    return line;
  }

  void pair(OperandsOfBuild const& f, OperandsOfBuild const& o) {
    ComparedLine line = compared_line(&f, &o);
    line.why = change_in_words(f, o);
    if (f.refuted > o.refuted)
      out_.worse.push_back(std::move(line));
    else if (f.unknown > o.unknown)
      out_.undecided.push_back(std::move(line));
    else if (f.refuted < o.refuted || f.unknown < o.unknown)
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
    ComparedLine line = compared_line(&f, &o);
    bool const per_block = f.block.most && o.block.most;
    Excess const& now = per_block ? f.block : f.once;
    std::optional<std::uint64_t> const before = per_block ? o.block.most : o.once.most;
    bool const more = before && (!now.most || *now.most > *before);
    bool const fewer = now.most && (!before || *now.most < *before);
    line.why = change_in_words(f, o, per_block);
    if (f.fault && !o.fault) line.why = "misaligned or out of bounds, which it was not before";
    if (!f.fault && o.fault && !more) line.why = "no longer misaligned or out of bounds";
    bool const fault = f.fault && !o.fault;
    if ((f.range || o.range) && !fault && !(!f.fault && o.fault))
      return pair_of_ranges(std::move(line), f, o, per_block);
    if (more && f.open && !fault && now.decided <= *before)
      out_.undecided.push_back(std::move(line));
    else if (more || fault)
      out_.worse.push_back(std::move(line));
    else if (fewer || (!f.fault && o.fault))
      out_.better.push_back(std::move(line));
    else
      ++out_.same;
  }

  /// A line whose cost is a range in one build: worse or better where the ranges do not meet, the same with equal addresses.
  void pair_of_ranges(ComparedLine line, LineOfBuild const& f, LineOfBuild const& o, bool per_block) {
    Excess const &now = per_block ? f.block : f.once, &before = per_block ? o.block : o.once;
    if (before.most && now.least > *before.most)
      out_.worse.push_back(std::move(line));
    else if (now.most && *now.most < before.least)
      out_.better.push_back(std::move(line));
    else if (f.shape == o.shape)
      ++out_.same;
    else
      out_.undecided.push_back(std::move(line));
  }

  /// `harmless`: list for a line without a conflict, or null.
  void add_line(LineOfBuild const& f, std::vector<ComparedLine>* harmless) {
    ComparedLine line = compared_line(&f, nullptr);
    if (f.fault) line.why = "new, and misaligned or out of bounds";
    if (!f.fault && f.once.most != 0U)
      line.why = fmt::format("new, and {} {}", in_words(f.once, f.bound), unit_of(f));
    auto* const to = line.why.empty()                            ? harmless
                     : f.open && !f.fault && f.once.decided == 0 ? &out_.undecided
                                                                 : &out_.worse;
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
  out["kernels_added"] = c.only_new, out["kernels_removed"] = c.only_old;
  return out;
}

std::string describe(Comparison const& c, std::string const& since) {
  std::string out =
      fmt::format("compared with {}: {} worse, {} better, {} the same, {} added, {} removed{} (lines)\n",
                  since, c.worse.size(), c.better.size(), c.same, c.added.size(), c.removed.size(),
                  c.undecided.empty() ? "" : fmt::format(", {} undecided", c.undecided.size()));
  auto const list = [&](std::string_view what, std::vector<ComparedLine> const& lines) {
    for (ComparedLine const& l : lines)
      out += fmt::format("  {:<7}  {}{}  {}  {}{}\n", what, l.source,
                         l.was_at.empty() ? "" : fmt::format(" (was {})", l.was_at),
                         l.operand.empty() ? l.op : l.operand + " of " + l.op,
                         l.why.empty() ? "" : l.why + "  ", l.kernel);
  };
  list("worse", c.worse), list("unknown", c.undecided), list("better", c.better), list("added", c.added);
  list("removed", c.removed);
  for (UnreadFile const& f : c.not_read)
    out += fmt::format("  not read: {}: {}\n", printable(f.file), printable(f.reason));
  for (std::string const& k : c.only_new) out += fmt::format("  only in the new build, or renamed: {}\n", k);
  for (std::string const& k : c.only_old)
    out += fmt::format("  not compared, only in the old build: {}\n", k);
  return out;
}

}  // namespace swizproof::command::kernel_detail
