// H11 on accesses whose counts are known, and compared with the cost model on random ones.
#include "generators/generators.hpp"

#include <swizproof/hardware/counter.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace swizproof {
namespace {

/// Lanes at `address(lane)`, those of `active` taking part.
template <class F>
WarpAccess<std::uint32_t> lanes_by(F const& address, std::uint32_t active = ~0U) {
  WarpAccess<std::uint32_t> w{};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    w.address[lane] = address(lane);
    w.active[lane] = (active >> lane & 1) != 0;
  }
  return w;
}

constexpr Operation load = Operation::ld_shared, store = Operation::st_shared;
auto const row = [](std::uint32_t lane) { return 16 * lane; };
auto const one_place = [](std::uint32_t) { return 0U; };

TEST(Counter, OfNarrowAccessesAndMatricesIsTheLaws) {
  for (unsigned const bytes : {1U, 2U, 4U})
    for (Operation const op : {load, store})
      EXPECT_EQ(counted({op, bytes}, lanes_by(one_place, 1)), Counted::law) << bytes;
  for (InstructionName const& known : instruction_names) {
    if (known.instruction.operation == load || known.instruction.operation == store) continue;
    EXPECT_EQ(counted(known.instruction, lanes_by(one_place, 0xff)), Counted::law) << known.text;
  }
}

TEST(Counter, OfWideLoadsIsTheLawsAtDistinctAddressesOfAllLanes) {
  for (unsigned const bytes : {8U, 16U}) {
    EXPECT_EQ(counted({load, bytes}, lanes_by(row)), Counted::law);
    for (std::uint32_t const active : {~1U, ~0U >> 1})
      EXPECT_EQ(counted({load, bytes}, lanes_by(row, active)), Counted::bounded) << "a lane is idle";
    EXPECT_EQ(counted({load, bytes}, lanes_by([](auto l) { return l == 31 ? 0U : 16 * l; })),
              Counted::bounded)
        << "the first lane and the last";
    EXPECT_EQ(counted({load, bytes}, lanes_by([](auto l) { return 16 * (l / 2); })), Counted::bounded);
  }
}

TEST(Counter, OfWideStoresDoesNotSeeIdleGroups) {
  Instruction const i{store, 16};
  EXPECT_EQ(counted(i, lanes_by(row)), Counted::law);
  EXPECT_EQ(counted(i, lanes_by(one_place)), Counted::law) << "stores of one place merge in both";
  EXPECT_EQ(counted(i, lanes_by(row, 0x101)), Counted::degrees);
  EXPECT_EQ(sum_of_degrees(sm_90, i, lanes_by(row, 0x101)), 2U)
      << "lanes 0 and 8, two groups; the cost model gives 4";
  EXPECT_EQ(sum_of_degrees(sm_90, {store, 8}, lanes_by(row, 1)), 1U);
}

// 2 + 2 where the merged load takes 2, as gpu/README.md has it.
TEST(Counter, BoundsLoadsByGroupsThatDoNotMerge) {
  auto const pairs = lanes_by([](auto l) { return 16 * (l / 2); });
  EXPECT_EQ(cost(sm_90, {load, 16}, pairs).wavefronts, 2U);
  EXPECT_EQ(sum_of_degrees(sm_90, {load, 16}, pairs), 4U);
}

RC_GTEST_PROP(Counter, IsAboveTheLawOfWideLoadsAlone, ()) {
  Instruction const i = *any_instruction();
  auto const access = *any_access(i);
  unsigned const law = wavefronts(sm_90, i, access), sum = sum_of_degrees(sm_90, i, access);
  Counted const what = counted(i, access);
  std::set<std::uint32_t> const places(access.address.begin(), access.address.end());
  RC_CLASSIFY(what == Counted::degrees, "degrees");
  RC_CLASSIFY(what == Counted::bounded, "bounded");
  RC_CLASSIFY(what == Counted::law && i.bytes >= 8, "law, wide");
  RC_ASSERT(what != Counted::bounded || counted_above_law(i));
  if (what == Counted::law && i.bytes >= 8 && i.operation == Operation::ld_shared) {
    RC_ASSERT(sum == law);
    RC_ASSERT(places.size() == warp_lanes);
  }
  if (i.operation == Operation::st_shared) RC_ASSERT(sum <= law);
}

TEST(Counter, IsNamedAsTheProfilerNamesIt) {
  EXPECT_EQ(wavefront_counter(counter_operations[static_cast<std::size_t>(Operation::stmatrix)]),
            "sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum");
  EXPECT_EQ(counter_operations[static_cast<std::size_t>(Operation::cp_async)], "ldgsts");
}

}  // namespace
}  // namespace swizproof
