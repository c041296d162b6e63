// Losses of lines in two builds, compared as worked out by hand.
#include <swizproof/claim/line_cost.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// An access of ideal 1 that takes `wavefronts`, in as many loops of unknown length, by 4 warps if the number is not known.
KernelAccess loading(std::optional<unsigned> wavefronts, bool reached,
                     std::optional<std::uint64_t> executions, unsigned open_loops = 0) {
  KernelAccess a;
  a.ideal = a.allowed = 1;
  a.wavefronts = wavefronts, a.reached = reached, a.address = "s + load@12 + i3";
  a.executions = executions, a.about_executions = executions.value_or(4), a.open_loops = open_loops;
  return a;
}

LineCost cost_of_line(std::vector<KernelAccess> const& all) {
  LineCost out;
  for (KernelAccess const& a : all) out.add(a);
  return out;
}

CostChange change_of(std::vector<KernelAccess> const& before, std::vector<KernelAccess> const& now) {
  return cost_of_line(now).since(cost_of_line(before));
}

TEST(LineCost, OfKnownExecutionsIsTheirSum) {
  EXPECT_EQ(change_of({loading(5, true, 4)}, {loading(3, true, 8)}), CostChange::same);
  EXPECT_EQ(change_of({loading(5, true, 4)}, {loading(3, true, 9)}), CostChange::worse);
  EXPECT_EQ(
      change_of({loading(5, true, 4)}, {loading(2, true, 4), loading(2, true, 4), loading(1, true, 99)}),
      CostChange::better);
}

TEST(LineCost, InALoopOfUnknownLengthIsMoreThanOutside) {
  EXPECT_EQ(change_of({loading(9, true, 4)}, {loading(2, true, {}, 1)}), CostChange::worse);
  EXPECT_EQ(change_of({loading(2, true, {}, 1)}, {loading(9, true, 4)}), CostChange::better);
  EXPECT_EQ(change_of({loading(9, true, {}, 1)}, {loading(2, true, {}, 2)}), CostChange::worse);
  EXPECT_EQ(change_of({loading(2, true, {}, 1)}, {loading(2, true, {}, 1), loading(2, true, 4)}),
            CostChange::worse);
  EXPECT_EQ(change_of({loading(1, true, 4)}, {loading(1, true, {}, 1)}), CostChange::same) << "no loss";
}

TEST(LineCost, OfUnknownExecutionsIsComparedIfTheyAreEquallyMany) {
  EXPECT_EQ(change_of({loading(2, true, {}, 1)}, {loading(4, true, {}, 1)}), CostChange::worse);
  EXPECT_EQ(change_of({loading(4, true, {}, 1)}, {loading(2, true, {}, 1)}), CostChange::better);
  EXPECT_EQ(change_of({loading(2, true, {}, 1)}, {loading(2, true, {}, 1), loading(1, true, {}, 1)}),
            CostChange::same);
  EXPECT_EQ(change_of({loading(2, true, {}, 1), loading(1, true, {}, 1)},
                      {loading(2, true, {}, 1), loading(2, true, {}, 1)}),
            CostChange::worse);
  EXPECT_EQ(change_of({loading(2, true, {}, 1)}, {loading(2, true, {}, 1), loading(2, true, {}, 1)}),
            CostChange::undecided)
      << "an unrolled loop has fewer iterations";
  EXPECT_EQ(change_of({loading(1, true, {}, 1)}, {loading(2, true, {}, 1), loading(2, true, {}, 1)}),
            CostChange::worse)
      << "no loss before";
}

TEST(LineCost, OfExecutionsThatAParameterDecidesIsARange) {
  EXPECT_EQ(change_of({loading(2, true, 4)}, {loading(2, true, {})}), CostChange::better) << "at most 4";
  EXPECT_EQ(change_of({loading(2, true, 3)}, {loading(2, true, {})}), CostChange::undecided);
  EXPECT_EQ(change_of({loading(2, true, {})}, {loading(2, true, 4)}), CostChange::undecided);
  EXPECT_EQ(change_of({loading(2, true, {})}, {loading(2, true, 5)}), CostChange::worse)
      << "at most 4 before";
  EXPECT_EQ(change_of({loading(2, true, {})}, {loading(2, true, {})}), CostChange::same);
}

TEST(LineCost, OfABoundIsComparedWhereRangesDoNotMeet) {
  KernelAccess seen = loading(9, false, 4);
  seen.seen = 5;  // 4 to 8 above the ideal
  EXPECT_EQ(change_of({loading(5, true, 4)}, {loading(9, false, 4)}), CostChange::undecided);
  EXPECT_EQ(change_of({loading(5, true, 4)}, {seen}), CostChange::undecided);
  EXPECT_EQ(change_of({loading(4, true, 4)}, {seen}), CostChange::worse);
  EXPECT_EQ(change_of({loading(9, true, 4)}, {seen}), CostChange::better);
  EXPECT_EQ(change_of({seen}, {loading(10, true, 4)}), CostChange::worse);
  EXPECT_EQ(change_of({seen}, {loading(9, true, 4)}), CostChange::undecided);
  EXPECT_EQ(change_of({loading({}, false, 4)}, {loading(2, true, 4)}), CostChange::undecided);
  EXPECT_EQ(change_of({loading({}, false, 4)}, {loading(1, true, 4)}), CostChange::better);
  EXPECT_EQ(change_of({loading(2, true, 4)}, {loading({}, false, 4)}), CostChange::undecided);
}

TEST(LineCost, OfARangeIsTheSameAtTheSameAddress) {
  KernelAccess const range = loading(9, false, 4);
  KernelAccess moved = range, other = range;
  moved.address = "s + load@345 + i1", other.address = "s + load@12 * 2";
  EXPECT_EQ(change_of({range}, {moved}), CostChange::same);
  EXPECT_EQ(change_of({range}, {other}), CostChange::undecided);
  other = range;
  other.verdict = KernelVerdict::data;
  EXPECT_EQ(change_of({range}, {other}), CostChange::undecided) << "for another reason";
  other = range;
  other.executions.reset();
  EXPECT_EQ(change_of({range}, {other}), CostChange::undecided) << "a parameter decides its executions";
  auto const turned = [&](std::string const& from, std::string const& to) {
    moved = other = range;
    moved.address = from, other.address = to;
    return change_of({moved}, {other});
  };
  EXPECT_EQ(turned("s + (tid.x * load@3 & 0x7ff) * 4", "4 * (0x7ff & load@18 * tid.x) + s"),
            CostChange::same);
  EXPECT_EQ(turned("tid.x * 2 + load@3", "tid.x + load@3 * 2"), CostChange::undecided);
  EXPECT_EQ(turned("tid.x - load@3", "load@3 - tid.x"), CostChange::undecided);
  EXPECT_EQ(turned("min(tid.x + 1, 2)", "min(1 + tid.x, 2)"), CostChange::same);
}

TEST(LineCost, IsAboveTheAllowedNumber) {
  KernelAccess allowed = loading(5, true, 4);
  allowed.allowed = 3;
  EXPECT_EQ(cost_of_line({allowed}).once(), (CostRange{2, 2}));
  allowed.allowed = 8;
  EXPECT_EQ(change_of({loading(1, true, 4)}, {allowed}), CostChange::same);
}

TEST(LineCost, IsWrittenByLoops) {
  EXPECT_EQ(cost_of_line({loading(3, true, 4), loading(2, true, {}, 2)}).block_in_words("wavefronts lost"),
            "1 to 4 wavefronts lost in each iteration of 2 loops of unknown length and 8 outside");
  EXPECT_EQ(cost_of_line({loading({}, false, 4)}).block_in_words("wavefronts"),
            "an unknown number of wavefronts");
  EXPECT_EQ(cost_of_line({loading(1, true, 4)}).block_in_words(""), "0");
}

}  // namespace
}  // namespace swizproof
