// Races of two builds: which kernels became worse or better.
#include "command/kernel/race_changes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace swizproof::command::kernel_detail {
namespace {

/// A kernel with an answer, and so many races.
Result with(RaceVerdict verdict, std::size_t count = 0, std::string const& name = "k") {
  Result out;
  out.file = "a.ptx", out.name = name, out.report.block = "64,1,1";
  KernelRaces& races = out.report.races.emplace();
  races.verdict = verdict, races.reason = "the solver has no answer";
  races.races.resize(count);
  for (Race& r : races.races) r.first.op = r.second.op = "st.shared.u32";
  return out;
}
Result const proved = with(RaceVerdict::proved), open = with(RaceVerdict::unknown),
             one = with(RaceVerdict::refuted, 1), two = with(RaceVerdict::refuted, 2);

TEST(RaceChanges, AreWorseOrBetter) {
  std::string const worse = race_changes({one}, {proved});
  EXPECT_TRUE(worse.starts_with(
      "races: 1 worse, 0 better (kernels)\n  worse    k: 1 race, race free before\n      race: "))
      << worse;
  EXPECT_EQ(race_changes({proved}, {two}),
            "races: 0 worse, 1 better (kernels)\n  better   k: race free, 2 races before\n");
  EXPECT_EQ(race_changes({open}, {proved}),
            "races: 1 worse, 0 better (kernels)\n  worse    k: undecided, race free before\n      the solver "
            "has no answer\n");
  EXPECT_TRUE(race_changes({open}, {one}).starts_with("races: 0 worse, 1 better"));
  EXPECT_TRUE(race_changes({two}, {one}).starts_with("races: 1 worse, 0 better"));
  EXPECT_EQ(race_changes({two}, {two}), "races: 0 worse, 0 better (kernels)\n");
}

TEST(RaceChanges, ANewKernelIsComparedWithARaceFreeOne) {
  EXPECT_NE(
      race_changes({one, with(RaceVerdict::refuted, 1, "n")}, {one}).find("worse    n: 1 race, a new kernel"),
      std::string::npos);
  EXPECT_EQ(race_changes({proved, with(RaceVerdict::proved, 0, "n")}, {proved}),
            "races: 0 worse, 0 better (kernels)\n");
}

TEST(RaceChanges, AreNothingWithoutRaces) {
  Result plain;
  plain.name = "k";
  EXPECT_EQ(race_changes({plain}, {plain}), "");
}

}  // namespace
}  // namespace swizproof::command::kernel_detail
