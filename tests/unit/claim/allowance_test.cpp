// Sums over the instructions of a line, worked out by hand.
#include <swizproof/claim/allowance.hpp>
#include <swizproof/claim/obligation.hpp>

#include <gtest/gtest.h>

#include <tuple>

namespace swizproof {
namespace {

/// An access at k.cu:5 of ideal 1 that takes `wavefronts`.
KernelAccess access(unsigned wavefronts, bool reached, std::optional<std::uint64_t> executions,
                    KernelVerdict verdict = KernelVerdict::refuted) {
  KernelAccess a;
  a.instruction = Instruction{Operation::ld_shared, 4};
  a.file = "src/k.cu", a.line = 5, a.ideal = 1;
  a.wavefronts = wavefronts, a.reached = reached, a.executions = executions, a.verdict = verdict;
  return a;
}

AllowedLine line(LineAllowance const& allowance, std::vector<KernelAccess> accesses) {
  KernelReport report;
  report.accesses = std::move(accesses);
  return allowed_lines({allowance}, report, "k.ptx").at(0);
}

LineAllowance allowing(std::optional<std::uint64_t> excess, std::optional<std::uint64_t> lost,
                       bool data = false) {
  LineAllowance out{"k.cu:5", 8};
  out.excess = excess, out.lost = lost, out.data = data;
  return out;
}

TEST(Allowance, SumsTheInstructionsOfALine) {
  KernelAccess elsewhere = access(32, true, 1);
  elsewhere.line = 6;
  AllowedLine const l = line(allowing(9, 72), {access(8, true, 8), access(3, true, 8), access(1, true, 8),
                                               elsewhere, access(32, false, 8, KernelVerdict::data)});
  EXPECT_EQ(std::tuple(l.instructions, l.wavefronts, l.excess, l.lost, l.worst),
            std::tuple(2U, 8U, 9U, std::optional<std::uint64_t>(72), std::optional<std::size_t>(0)));
  EXPECT_EQ(l.verdict, KernelVerdict::proved);
  EXPECT_FALSE(l.is_larger_than_needed());
}

TEST(Allowance, IsRefutedByWhatIsReachedAlone) {
  auto const verdict = [](LineAllowance const& a, std::vector<KernelAccess> all) {
    return line(a, std::move(all)).verdict;
  };
  EXPECT_EQ(verdict(allowing(13, {}), {access(8, true, 1), access(8, true, 1)}), KernelVerdict::refuted);
  EXPECT_EQ(verdict(allowing(13, {}), {access(8, true, 1), access(8, false, 1)}), KernelVerdict::unknown);
  EXPECT_EQ(verdict(allowing({}, {}), {access(8, true, 1), access(8, true, 1)}), KernelVerdict::proved)
      << "as files of older versions have it";
}

TEST(Allowance, OfABlockGoesBeforeThatOfOneExecution) {
  auto const verdict = [](std::optional<std::uint64_t> executions) {
    return line(allowing(7, 28), {access(8, true, executions)}).verdict;
  };
  EXPECT_EQ(verdict(4), KernelVerdict::proved);
  EXPECT_EQ(verdict(5), KernelVerdict::refuted);
  EXPECT_EQ(verdict({}), KernelVerdict::unknown) << "the number is not known";
  EXPECT_EQ(line(allowing({}, 28), {access(8, true, {})}).verdict, KernelVerdict::unknown);
  EXPECT_EQ(line(allowing(6, 28), {access(8, true, {})}).verdict, KernelVerdict::refuted)
      << "of one execution";
  EXPECT_EQ(line(allowing({}, 28), {access(1, true, {})}).verdict, KernelVerdict::proved)
      << "nothing is lost";
  EXPECT_EQ(line(allowing(7, {}), {access(8, true, {})}).verdict, KernelVerdict::proved);
  // One instruction in a loop of 4, and four of them: a block loses the same.
  EXPECT_EQ(
      line(allowing(1, 4), {access(2, true, 1), access(2, true, 1), access(2, true, 1), access(2, true, 1)})
          .verdict,
      KernelVerdict::proved);
}

TEST(Allowance, OfDataIsThatOfTheFileWithoutABound) {
  KernelAccess const data = access(8, false, 1, KernelVerdict::data);
  KernelHolds hold;
  EXPECT_FALSE(accepts(hold, data)) << "the file does not allow it";
  hold.data_allowed = true;
  EXPECT_TRUE(accepts(hold, data));
  hold.limited = true;
  EXPECT_FALSE(accepts(hold, data)) << "it is above the bound of the file";
}

TEST(Allowance, IsLargerThanNeeded) {
  EXPECT_TRUE(line(allowing({}, {}), {access(7, true, 1)}).is_larger_than_needed());
  EXPECT_TRUE(line(allowing(8, {}), {access(8, true, 1)}).is_larger_than_needed());
  EXPECT_TRUE(line(allowing(7, 8), {access(8, true, 1)}).is_larger_than_needed());
  EXPECT_FALSE(line(allowing(7, {}), {access(8, true, 1)}).is_larger_than_needed());
  EXPECT_TRUE(line(allowing(7, {}, true), {access(8, true, 1)}).is_larger_than_needed())
      << "no access depends on data";
}

}  // namespace
}  // namespace swizproof
