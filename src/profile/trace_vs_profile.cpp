#include "profile/trace_vs_profile.hpp"

#include "parse/access/sass.hpp"

#include <swizproof/hardware/counter.hpp>

#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace swizproof {

namespace {

using LineOutcome = CountedLine::Outcome;

/// Possible values of the counter for an instruction's executions.
void add_bounds(Architecture const& arch, CountedLine& line) {
  TracedInstruction const& traced = *line.traced;
  Instruction const& instruction = *traced.instruction;
  std::uint64_t kept = 0;
  for (TracedPattern const& pattern : traced.patterns) {
    std::uint64_t const times = pattern.executed, law = pattern.wavefronts;
    std::uint64_t const degrees = sum_of_degrees(arch, instruction, pattern.access);
    kept += times * law;
    switch (counted(instruction, pattern.access)) {
      case Counted::law:
        line.least += times * law, line.most += times * law;
        break;
      case Counted::degrees:
        line.least += times * degrees, line.most += times * degrees;
        break;
      case Counted::bounded:
        line.least += times, line.most += times * degrees;
    }
  }
  bool const exact = !counted_above_law(instruction) &&
                     (instruction.operation != Operation::st_shared || instruction.bytes < 8);
  std::uint64_t const rest = traced.wavefronts - kept;
  line.least += exact ? rest : traced.not_kept;
  line.most += exact ? rest : traced.not_kept * 32;
  if (instruction.operation == Operation::cp_async) line.most = std::numeric_limits<std::uint64_t>::max();
}

constexpr std::string_view
    other_runs =
        "the two runs were not the same: lines that no predicate switches off were executed "
        "another number of times (a race, or data that differ from run to run)",
    no_count = "the profile has no count of it",
    no_copies = "the profiler counts no wavefronts of copies that ran",
    other_prints = "how often the profile has each launch is not known, and it would explain the difference",
    altered =
        "the tables of this kernel are not as many equal copies as launches were traced: other "
        "launches, or an altered copy";

/// Returns whether as many executions were counted as the trace has, or more if a predicate may switch them off. `sass` is the profile's: the
/// trace may have none.
bool as_often(CountedLine const& line, std::string_view sass) {
  std::uint64_t const traced = line.traced->executed;
  return line.executed == traced || (line.executed > traced && (is_predicated(sass) || is_generic(sass)));
}

/// `certain`: no other number of prints explains a difference.
void decide(CountedLine& line, std::string_view sass, bool certain) {
  bool const copy = line.traced->instruction->operation == Operation::cp_async;
  bool const within = line.least <= line.wavefronts && line.wavefronts <= line.most;
  auto const open = [&](std::string_view why) {
    line.outcome = LineOutcome::undecided;
    line.why = why;
  };
  if (!as_often(line, sass)) return open(certain ? other_runs : other_prints);
  if (!within && copy && line.wavefronts == 0) return open(no_copies);
  if (!within && !certain) return open(other_prints);
  line.outcome = !within                                  ? LineOutcome::different
                 : line.least != line.most                ? LineOutcome::bounded
                 : line.executed == line.traced->executed ? LineOutcome::equal
                                                          : LineOutcome::predicated;
}

/// A text without blanks: exports and disassemblers set them in their own ways.
std::string without_blanks(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return c != ' ' && c != '\t'; });
  return out;
}

/// All tables of the kernels of one name.
struct Tables {
  std::vector<SourceTable const*> distinct{};
  std::uint64_t copies = 0,
                common = 0;  ///< number of all copies; greatest common divisor of the numbers of each

  void add(SourceTable const& table) {
    distinct.push_back(&table);
    copies += table.copies;
    common = std::gcd(common, table.copies);
  }
};

/// The counts of one line in the traced launches.
struct LineSum {
  std::string_view sass{};
  std::uint64_t executed = 0, wavefronts = 0;
  bool counted = true;   ///< no number is missing
  bool certain = true;   ///< no other number of prints explains a difference
  bool altered = false;  ///< no number of prints explains the tables
};

/// A line of the tables, table by table.
using LineRows = std::vector<std::pair<SourceTable const*, Measurement const*>>;

/// Overloads of one name may have other lines at one pc.
bool one_opcode(LineRows const& rows) {
  return std::all_of(rows.begin(), rows.end(), [&](auto const& row) {
    return sass_opcode(row.second->where) == sass_opcode(rows[0].second->where);
  });
}

/// Adds up a line. `launches` were traced, and `tables.copies` is a multiple of them.
LineSum sum_of(LineRows const& rows, Tables const& tables, std::uint64_t launches) {
  LineSum sum;
  std::uint64_t const prints = tables.copies / launches;
  Measurement const& first = *rows[0].second;
  sum.sass = first.where;
  bool alike = rows.size() == tables.distinct.size();
  for (auto const& [table, m] : rows) {
    sum.counted = sum.counted && m->counted;
    alike = alike && m->executed == first.executed && m->wavefronts == first.wavefronts;
    if (table->copies % prints != 0) sum.altered = true;
    sum.executed += table->copies / prints * m->executed;
    sum.wavefronts += table->copies / prints * m->wavefronts;
  }
  sum.certain = tables.common <= prints && (prints == 1 || alike);
  if (!alike) return sum;
  sum.altered = false;  // each launch was counted so, however often it was printed
  sum.executed = launches * first.executed;
  sum.wavefronts = launches * first.wavefronts;
  return sum;
}

/// Number of launches of kernels of each name while they were traced. Several functions may have one name.
std::map<std::string, std::uint64_t> launches_by_name(Trace const& trace) {
  std::map<std::string, std::uint64_t> out;
  TracedInstruction const* before = nullptr;
  for (TracedInstruction const& i : trace.instructions) {
    bool const goes_on = before != nullptr && before->kernel == i.kernel && before->launches == i.launches &&
                         before->grid == i.grid && before->block == i.block && before->pc < i.pc;
    if (!goes_on) out[comparable_kernel_name(i.kernel)] += i.launches;
    before = &i;
  }
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// A traced line and what was counted of it.
CountedLine line_of(Trace const& trace, TracedInstruction const& traced, LineSum const& sum) {
  CountedLine line{&traced, sum.executed, sum.wavefronts};
  add_bounds(*trace.arch, line);
  if (!sum.counted || sum.altered) {
    line.outcome = LineOutcome::undecided;
    line.why = sum.counted ? altered : no_count;
    line.summed = false;
  } else {
    decide(line, sum.sass, sum.certain);
  }
  return line;
}

}  // namespace

std::size_t CountedLines::count(CountedLine::Outcome outcome) const {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](CountedLine const& line) { return line.outcome == outcome; }));
}

std::string comparable_kernel_name(std::string const& name) {
  std::string text = plain_kernel_name(name);
  for (char const* unnamed : {"(anonymous namespace)", "<unnamed>"}) replace_all(text, unnamed, "unnamed");
  static RE2 const tags(R"((\[abi:[^\[\]]*)\]\[abi:)", RE2::Latin1);
  while (RE2::Replace(&text, tags, R"(\1,)")) {
  }
  static RE2 const suffix(R"(\b([0-9]+)(?:u|l|ul|ull)\b)", RE2::Latin1);
  RE2::GlobalReplace(&text, suffix, R"(\1)");
  static RE2 const yes(R"(\btrue\b)", RE2::Latin1), no(R"(\bfalse\b)", RE2::Latin1);
  RE2::GlobalReplace(&text, yes, "1");
  RE2::GlobalReplace(&text, no, "0");
  if (text.starts_with("void ")) text.erase(0, 5);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    if (text[i] == '(' && depth == 0) text.resize(i);
  }
  return without_blanks(text);
}

CountedLines compare_counted(Trace const& trace, Profile const& profile) {
  CountedLines out;
  using Key = std::pair<std::string, std::uint64_t>;  // kernel and pc
  std::map<std::string, Tables> tables;
  std::map<Key, LineRows> counted;
  for (SourceTable const& table : profile.tables) {
    std::string const name = comparable_kernel_name(table.kernel);
    tables[name].add(table);
    for (Measurement const& m : table.lines)
      if (m.pc)
        counted[{name, *m.pc}].emplace_back(&table, &m);
      else
        ++out.without_address;
  }
  std::vector<Key> keys;
  std::map<Key, int> times;  // two contexts or overloads of one name: what was counted of them is one sum
  for (TracedInstruction const& traced : trace.instructions)
    ++times[keys.emplace_back(comparable_kernel_name(traced.kernel), traced.pc)];
  auto const launched = launches_by_name(trace);
  bool same_runs = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TracedInstruction const& traced = trace.instructions[i];
    auto const found = counted.find(keys[i]);
    if (times[keys[i]] > 1 || (found != counted.end() && !one_opcode(found->second))) {
      out.several += traced.instruction ? 1 : 0;
      continue;
    }
    // If the program was not disassembled, the kernel and the pc identify the line.
    if (found == counted.end() ||
        (!traced.sass.empty() && sass_opcode(found->second[0].second->where) != sass_opcode(traced.sass))) {
      out.not_counted += traced.instruction ? 1 : 0;
      continue;
    }
    LineRows const rows = std::move(found->second);
    counted.erase(found);
    if (!traced.instruction) {
      ++out.no_law;
      continue;
    }
    Tables const& its = tables.at(keys[i].first);
    std::uint64_t const launches = launched.at(keys[i].first);
    if (its.copies % launches != 0) {
      ++out.other_launches;
      continue;
    }
    CountedLine const line = line_of(trace, traced, sum_of(rows, its, launches));
    same_runs = same_runs && line.why != other_runs;
    out.lines.push_back(line);
  }
  for (CountedLine& line : out.lines)
    if (!same_runs && line.outcome == LineOutcome::different)
      line.outcome = LineOutcome::undecided, line.why = other_runs;
  for (auto const& [key, rows] : counted)
    out.not_traced +=
        std::any_of(rows.begin(), rows.end(),
                    [](auto const& row) { return row.second->wavefronts != 0 || !row.second->counted; })
            ? 1
            : 0;
  return out;
}

}  // namespace swizproof
