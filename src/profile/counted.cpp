#include "profile/counted.hpp"

#include <swizproof/hardware/counter.hpp>

#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <iterator>
#include <map>
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

/// `sass` is the profile's: the trace may have none.
LineOutcome outcome_of(CountedLine const& line, std::string_view sass) {
  TracedInstruction const& traced = *line.traced;
  bool const within = line.least <= line.wavefronts && line.wavefronts <= line.most;
  bool const predicated =
      sass.starts_with('@') || sass.find(", P") != sass.npos || sass.find(", !P") != sass.npos;
  if (!within || line.executed < traced.executed || (line.executed > traced.executed && !predicated))
    return LineOutcome::different;
  if (line.least != line.most) return LineOutcome::bounded;
  return line.executed == traced.executed ? LineOutcome::equal : LineOutcome::predicated;
}

/// A text without blanks: exports and disassemblers set them in their own ways.
std::string without_blanks(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](char c) { return c != ' ' && c != '\t'; });
  return out;
}

/// `LDGSTS.E.BYPASS.128` of `@!P0 LDGSTS.E.BYPASS.128 [R143], desc[UR4][R136.64]`; operands have more than one order.
std::string_view opcode(std::string_view sass) {
  if (sass.starts_with('@')) sass.remove_prefix(std::min(sass.find(' '), sass.size()));
  sass.remove_prefix(std::min(sass.find_first_not_of(" \t"), sass.size()));
  return sass.substr(0, sass.find_first_of(" \t"));
}

/// Counts of one line.
struct LineSum {
  std::string sass{};
  std::uint64_t executed = 0, wavefronts = 0;
};

/// How often kernels of each name were launched while they were traced. Several functions may have one name.
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

/// The same while they were profiled.
std::map<std::string, std::uint64_t> launches_by_name(Profile const& profile) {
  std::map<std::string, std::uint64_t> out;
  for (auto const& [kernel, times] : profile.launches) out[comparable_kernel_name(kernel)] += times;
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::size_t CountedLines::count(CountedLine::Outcome outcome) const {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](CountedLine const& line) { return line.outcome == outcome; }));
}

std::string comparable_kernel_name(std::string const& name) {
  std::string text = plain_kernel_name(name);
  for (char const* unnamed : {"(anonymous namespace)", "<unnamed>"}) replace_all(text, unnamed, "unnamed");
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
  std::map<Key, LineSum> counted;
  for (Measurement const& m : profile.measurements) {
    if (!m.pc) continue;
    LineSum& sum = counted[{comparable_kernel_name(m.kernel_as_written), *m.pc}];
    sum.sass = m.where;
    sum.executed += m.executed;
    sum.wavefronts += m.wavefronts;
  }
  std::vector<Key> keys;
  for (TracedInstruction const& traced : trace.instructions)
    keys.emplace_back(comparable_kernel_name(traced.kernel), traced.pc);
  auto const launched = launches_by_name(trace), profiled = launches_by_name(profile);
  // Two contexts or overloads of one name: their counts are in one sum.
  std::map<Key, int> times;
  for (Key const& key : keys) ++times[key];
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TracedInstruction const& traced = trace.instructions[i];
    auto const found = counted.find(keys[i]);
    // If the program was not disassembled, the kernel and the pc identify the line.
    if (times[keys[i]] > 1 || found == counted.end() ||
        (!traced.sass.empty() && opcode(found->second.sass) != opcode(traced.sass))) {
      out.not_counted += traced.instruction ? 1 : 0;
      continue;
    }
    LineSum const sum = found->second;
    counted.erase(found);
    if (!traced.instruction) {
      ++out.no_law;
      continue;
    }
    if (std::string const& name = keys[i].first; launched.at(name) != profiled.at(name)) {
      ++out.other_launches;
      continue;
    }
    CountedLine line{&traced, sum.executed, sum.wavefronts};
    add_bounds(*trace.arch, line);
    line.outcome = outcome_of(line, sum.sass);
    out.lines.push_back(line);
  }
  out.not_traced = counted.size();
  return out;
}

}  // namespace swizproof
