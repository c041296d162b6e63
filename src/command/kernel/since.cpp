#include "command/kernel/since.hpp"

#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

/// The accesses of one line with one name.
struct LineOfBuild {
  std::string source{}, op{};
  bool global = false;  ///< the excess is one of sectors
  std::size_t accesses = 0;
  std::optional<unsigned> excess = 0;
  bool fault = false;
  bool open = false;   ///< the excess is a bound that no execution is known to take
  unsigned known = 0;  ///< the most excess of accesses that are decided
};

/// Wavefronts above the ideal, or sectors above --excess-sectors: what consecutive addresses take may start anywhere in a sector.
unsigned excess_of(KernelAccess const& a, bool global) {
  return excess_over(global ? a.allowed : a.ideal, *a.wavefronts);
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
    ++at->accesses;
    at->fault = at->fault || is_fault(a);
    at->open = at->open || a.verdict == KernelVerdict::unknown;
    if (!a.executed) continue;
    if (!a.wavefronts)
      at->excess.reset();
    else if (at->excess)
      at->excess = std::max(*at->excess, excess_of(a, global));
    if (a.wavefronts && a.verdict != KernelVerdict::unknown)
      at->known = std::max(at->known, excess_of(a, global));
  }
}

std::vector<LineOfBuild> lines_of(KernelReport const& report) {
  std::vector<LineOfBuild> out;
  add_lines(report.accesses, false, out);
  add_lines(report.global, true, out);
  return out;
}

std::string excess_in_words(LineOfBuild const& l) {
  return l.excess ? fmt::format("{}{}", l.open ? "at most " : "", *l.excess) : "an unknown number";
}

char const* unit_of(LineOfBuild const& l) {
  return l.global ? "sectors above the allowed number" : "wavefronts above the ideal";
}

class Comparing {
 public:
  Comparison run(std::vector<Result> const& now, std::vector<Result> const& before) {
    std::map<std::pair<std::string, std::string>, Result const*> old;
    for (Result const& r : before) old[{r.name, r.report.block}] = &r;
    for (Result const& r : now) {
      auto const found = old.find({r.name, r.report.block});
      if (found == old.end()) {
        out_.only_new.push_back(r.name);
        continue;
      }
      kernel(r, *found->second);
      old.erase(found);
    }
    for (auto const& [key, r] : old) out_.only_old.push_back(r->name);
    return std::move(out_);
  }

 private:
  void kernel(Result const& now, Result const& before) {
    name_ = now.name, block_ = now.report.block;
    std::vector<LineOfBuild> fresh = lines_of(now.report), old = lines_of(before.report);
    for (bool const by_number : {true, false})
      for (LineOfBuild& f : fresh) {
        auto const at = std::find_if(old.begin(), old.end(), [&](LineOfBuild const& o) {
          return o.accesses != 0 && o.op == f.op && o.global == f.global &&
                 (!by_number || o.source == f.source);
        });
        if (f.accesses == 0 || at == old.end()) continue;
        pair(f, *at);
        f.accesses = at->accesses = 0;
      }
    for (LineOfBuild const& f : fresh)
      if (f.accesses != 0) add(f);
    for (LineOfBuild const& o : old)
      if (o.accesses != 0)
        out_.removed.push_back(
            {name_, block_, o.source, {}, o.op, o.accesses, 0, o.excess, {}, {}, o.global});
  }

  void pair(LineOfBuild const& f, LineOfBuild const& o) {
    ComparedLine line{name_,    block_,     f.source,   o.source == f.source ? "" : o.source,
                      f.op,     o.accesses, f.accesses, o.excess,
                      f.excess, {},         f.global};
    bool const more = o.excess && (!f.excess || *f.excess > *o.excess);
    bool const fewer = f.excess && (!o.excess || *f.excess < *o.excess);
    line.why = fmt::format("{} {}, {} before", excess_in_words(f), unit_of(f), excess_in_words(o));
    if (f.fault && !o.fault) line.why = "misaligned or out of bounds, which it was not before";
    if (!f.fault && o.fault && !more) line.why = "no longer misaligned or out of bounds";
    bool const fault = f.fault && !o.fault;
    if (more && f.open && !fault && f.known <= *o.excess)
      out_.undecided.push_back(std::move(line));
    else if (more || fault)
      out_.worse.push_back(std::move(line));
    else if (fewer || (!f.fault && o.fault))
      out_.better.push_back(std::move(line));
    else
      ++out_.same;
  }

  void add(LineOfBuild const& f) {
    ComparedLine line{name_, block_, f.source, {}, f.op, 0, f.accesses, {}, f.excess, {}, f.global};
    if (f.fault) line.why = "new, and misaligned or out of bounds";
    if (!f.fault && f.excess != 0U) line.why = fmt::format("new, and {} {}", excess_in_words(f), unit_of(f));
    auto& to = line.why.empty()                     ? out_.added
               : f.open && !f.fault && f.known == 0 ? out_.undecided
                                                    : out_.worse;
    to.push_back(std::move(line));
  }

  Comparison out_{};
  std::string name_{}, block_{};
};

nlohmann::ordered_json line_json(ComparedLine const& l) {
  using Json = nlohmann::ordered_json;
  auto const number = [](std::optional<unsigned> n) { return n ? Json(*n) : Json(); };
  Json out{{"kernel", l.kernel}, {"block", l.block}, {"source", l.source}, {"op", l.op}};
  if (l.global) out["memory"] = "global";
  if (!l.was_at.empty()) out["was_at"] = l.was_at;
  out["accesses"] = {{"before", l.before}, {"after", l.after}};
  out["excess"] = {{"before", number(l.old_excess)}, {"after", number(l.new_excess)}};
  if (!l.why.empty()) out["why"] = l.why;
  return out;
}

}  // namespace

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
                         l.was_at.empty() ? "" : fmt::format(" (was {})", l.was_at), l.op,
                         l.why.empty() ? "" : l.why + "  ", l.kernel);
  };
  list("worse", c.worse), list("unknown", c.undecided), list("better", c.better), list("added", c.added);
  list("removed", c.removed);
  for (UnreadFile const& f : c.not_read)
    out += fmt::format("  not read: {}: {}\n", printable(f.file), printable(f.reason));
  for (std::string const& k : c.only_new)
    out += fmt::format("  not compared, only in the new build: {}\n", k);
  for (std::string const& k : c.only_old)
    out += fmt::format("  not compared, only in the old build: {}\n", k);
  return out;
}

}  // namespace swizproof::command::kernel_detail
