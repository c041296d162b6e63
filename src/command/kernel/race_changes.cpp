#include "command/kernel/race_changes.hpp"

#include "report/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace swizproof::command::kernel_detail {

namespace {

/// How bad an answer is, and the number of its races.
std::pair<int, std::size_t> rank_of(KernelRaces const& races) {
  return {races.verdict == RaceVerdict::proved    ? 0
          : races.verdict == RaceVerdict::unknown ? 1
                                                  : 2,
          races.races.size()};
}

/// `race free`, `undecided`, `2 races`.
std::string in_words(KernelRaces const& races) {
  if (races.verdict == RaceVerdict::proved) return "race free";
  if (races.verdict == RaceVerdict::unknown) return "undecided";
  return fmt::format("{} race{}", races.races.size(), races.races.size() == 1 ? "" : "s");
}

}  // namespace

std::string race_changes(std::vector<Result> const& now, std::vector<Result> const& before) {
  std::size_t worse = 0, better = 0;
  std::string lines;
  bool any = false;
  for (Result const& r : now) {
    if (!r.report.races) continue;
    any = true;
    auto const old = std::find_if(before.begin(), before.end(), [&](Result const& b) {
      return b.report.races && b.name == r.name && b.file == r.file && b.part == r.part &&
             b.report.block == r.report.block;
    });
    KernelRaces const& races = *r.report.races;
    bool const added = old == before.end();
    auto const is = rank_of(races), was = added ? std::pair(0, std::size_t{0}) : rank_of(*old->report.races);
    if (is == was) continue;
    ++(is > was ? worse : better);
    lines += fmt::format("  {:<7}  {}: {}, {}\n", is > was ? "worse" : "better", r.name, in_words(races),
                         added ? "a new kernel" : in_words(*old->report.races) + " before");
    if (races.verdict == RaceVerdict::unknown) lines += fmt::format("      {}\n", races.reason);
    if (is > was && !races.races.empty()) lines += fmt::format("      {}\n", describe(races.races.front()));
  }
  if (!any) return {};
  return fmt::format("races: {} worse, {} better (kernels)\n{}", worse, better, lines);
}

}  // namespace swizproof::command::kernel_detail
