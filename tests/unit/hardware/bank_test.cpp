#include <swizproof/hardware/bank.hpp>
#include <swizproof/core/swizzle.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

template <class F>
constexpr WarpAccess<std::uint32_t> warp(F const& address, std::uint32_t active = ~0U) {
  WarpAccess<std::uint32_t> w{};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    w.address[lane] = address(lane);
    w.active[lane] = (active >> lane & 1) != 0;
  }
  return w;
}

constexpr Instruction ld(unsigned bytes) { return {Operation::ld_shared, bytes}; }
constexpr Instruction st(unsigned bytes) { return {Operation::st_shared, bytes}; }
constexpr Instruction ldmatrix(unsigned n) { return {Operation::ldmatrix, 16, n}; }

template <class F>
constexpr unsigned waves(Instruction i, F const& address, std::uint32_t active = ~0U) {
  return wavefronts(sm_90, i, warp(address, active));
}

static_assert(waves(ld(4), [](auto l) { return 4 * l; }) == 1, "a row of words");
static_assert(waves(ld(4), [](auto l) { return 128 * l; }) == 32, "a column");
static_assert(waves(ld(4), [](auto l) { return 132 * l; }) == 1, "a padded column");
static_assert(waves(ldmatrix(4), [](auto l) { return swizzle_128B(128 * (l % 16) + 16 * (l / 16)); }) == 4);

TEST(Law, CountsDistinctWordsNotLanes) {
  EXPECT_EQ(waves(ld(4), [](auto) { return 64U; }), 1U) << "broadcast";
  EXPECT_EQ(waves(ld(1), [](auto l) { return l; }), 1U) << "four lanes a word";
  EXPECT_EQ(waves(ld(2), [](auto l) { return 2 * l; }), 1U);
  EXPECT_EQ(waves(st(4), [](auto) { return 64U; }), 1U) << "stores to one word cost one";
  EXPECT_EQ(waves(ld(4), [](auto l) { return 128 * (l / 2); }), 16U) << "16 words in bank 0";
  EXPECT_EQ(waves(ld(1), [](auto l) { return 128 * l; }), 32U);
}

TEST(Law, ServesWideAccessesInGroupsOfConsecutiveLanes) {
  EXPECT_EQ(waves(ld(8), [](auto l) { return 8 * l; }), 2U);
  EXPECT_EQ(waves(ld(16), [](auto l) { return 16 * l; }), 4U);
  EXPECT_EQ(waves(ld(16), [](auto l) { return 128 * l; }), 32U);
  // Lanes 0..7 and 8..15 use the same banks: no conflict, they are different groups.
  EXPECT_EQ(waves(ld(16), [](auto l) { return 16 * (l % 8) + 128 * (l / 8); }), 4U);
  // Lanes l and l+4 use the same banks: a conflict within the group.
  EXPECT_EQ(waves(ld(16), [](auto l) { return 16 * (l % 4) + 128 * (l / 4); }), 8U);
}

TEST(Law, MergesPairedLoadsForTheWholeWarpOnly) {
  EXPECT_EQ(waves(ld(8), [](auto l) { return 8 * (l / 2); }), 1U) << "partner l^1";
  EXPECT_EQ(waves(ld(8), [](auto l) { return 8 * (l % 2 + 2 * (l / 4)); }), 1U) << "partner l^2";
  EXPECT_EQ(waves(ld(16), [](auto l) { return 16 * (l / 2); }), 2U) << "never below 2";
  EXPECT_EQ(waves(ld(16), [](auto) { return 0U; }), 2U);
  auto const halves = [](std::uint32_t l) { return l < 16 ? 16 * (l / 2) : 16 * (l % 2 + 2 * (l / 4)); };
  EXPECT_EQ(waves(ld(16), halves), 4U) << "one half under ^1, the other under ^2: no merge";
  EXPECT_EQ(waves(ld(8), [](auto l) { return 8 * (l & ~4U); }), 2U) << "partner l^4 does not merge";
  EXPECT_EQ(waves(st(8), [](auto l) { return 8 * (l / 2); }), 2U) << "stores never merge";
  EXPECT_EQ(waves(ldmatrix(4), [](auto l) { return 16 * (l / 2); }), 4U) << "ldmatrix never merges";
}

TEST(Law, MergedGroupsStillConflict) {
  EXPECT_EQ(waves(ld(16), [](auto l) { return 128 * (l / 2); }), 16U);
}

TEST(Law, AbsentPartnersDoNotPreventMerging) {
  auto const distinct = [](std::uint32_t l) { return 16 * l; };
  EXPECT_EQ(waves(ld(16), distinct, 0x55555555U), 4U)
      << "no lane has its partner; merged 16 lanes, 8 units, degree 2 each";
  EXPECT_EQ(waves(ld(16), distinct, 0x11111111U), 4U);
  EXPECT_EQ(waves(ld(16), distinct, 0x00010001U), 2U) << "two groups, a lane in each";
}

TEST(Law, LoadsAndStoresPayForTheirIdleGroups) {
  auto const row = [](auto l) { return 16 * l; };
  EXPECT_EQ(waves(ld(16), row, 1), 2U) << "a lone lane merges: two groups of 16 lanes";
  EXPECT_EQ(waves(
                ld(16), [](auto l) { return 16 * (l % 4); }, 0xff),
            4U)
      << "group 0 alone has lanes";
  EXPECT_EQ(waves(st(16), row, 1), 4U) << "measured: 4.02 cycles for one lane's STS.128 of real data";
  EXPECT_EQ(waves(st(16), row, 0x101), 4U) << "lanes 0 and 8, two groups";
  EXPECT_EQ(waves(
                st(16), [](auto l) { return 128 * l; }, 0xff),
            8U)
      << "max(8 + 0 + 0 + 0, 4)";
  EXPECT_EQ(waves(st(8), row, 0), 2U);
}

TEST(Law, CpAsyncCountsLanesAndNotWords) {
  Instruction const copy{Operation::cp_async, 16};
  EXPECT_EQ(waves(copy, [](auto l) { return 16 * l; }), 4U);
  EXPECT_EQ(waves(copy, [](auto) { return 0U; }), 32U) << "one address, 32 lanes";
  EXPECT_EQ(waves(st(16), [](auto) { return 0U; }), 4U) << "a store merges them";
  EXPECT_EQ(waves({Operation::cp_async, 4}, [](auto l) { return 4 * (l / 2); }), 2U);
}

TEST(Law, MatricesAreServedOneByOne) {
  EXPECT_EQ(waves(ldmatrix(1), [](auto l) { return l < 8 ? 16 * l : 0U; }), 1U);
  EXPECT_EQ(waves(ldmatrix(2), [](auto l) { return 128 * (l % 8); }), 16U);
  EXPECT_EQ(waves(ldmatrix(4), [](auto) { return 0U; }), 4U) << "one row eight times is one row";
  EXPECT_EQ(waves({Operation::ldmatrix, 16, 4, true}, [](auto l) { return 128 * l; }), 32U)
      << ".trans changes nothing";
  EXPECT_EQ(waves({Operation::stmatrix, 16, 4}, [](auto l) { return 128 * l; }), 32U);
}

TEST(Law, GivesEachGroupsDegree) {
  auto const c = cost(sm_90, ld(16), warp([](std::uint32_t l) { return l < 8 ? 128 * l : 16 * l; }));
  EXPECT_EQ(c.wavefronts, 11U);
  EXPECT_EQ(c.phases, (Phases{4, 8}));
  EXPECT_EQ(c.degree[0], 8U);
  EXPECT_EQ(c.degree[1], 1U);
  EXPECT_EQ(c.degree[3], 1U);
}

TEST(Ideal, IsWhatTheBytesNeed) {
  for (unsigned const bytes : {1U, 2U, 4U}) EXPECT_EQ(ideal_wavefronts(sm_90, ld(bytes)), 1U);
  EXPECT_EQ(ideal_wavefronts(sm_90, ld(8)), 2U);
  EXPECT_EQ(ideal_wavefronts(sm_90, st(16)), 4U);
  for (unsigned const n : {1U, 2U, 4U}) EXPECT_EQ(ideal_wavefronts(sm_90, ldmatrix(n)), n);
}

TEST(Architectures, SayWhatTheyRestOn) {
  for (Architecture const& arch : architectures) {
    EXPECT_FALSE(arch.evidence.empty());
    EXPECT_EQ(arch.name.starts_with("sm_90"), arch.evidence.starts_with("measured")) << arch.name;
  }
}

}  // namespace
}  // namespace swizproof
