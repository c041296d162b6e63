// The accesses that ptxas makes of wmma.load and wmma.store (H19).
#include <swizproof/hardware/wmma.hpp>

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace swizproof {
namespace {

/// All forms of PTX, but for the space.
std::vector<WmmaForm> all_forms() {
  std::vector<WmmaForm> out;
  for (char const fragment : {'a', 'b', 'c', 'd'})
    for (bool const row : {true, false})
      for (unsigned const m : {8U, 16U, 32U})
        for (unsigned const n : {8U, 16U, 32U})
          for (unsigned const k : {4U, 8U, 16U, 32U, 128U})
            for (unsigned const bits : {1U, 4U, 8U, 16U, 32U, 64U})
              if (WmmaForm const form{fragment, row, m, n, k, bits}; wmma_accesses(form, false))
                out.push_back(form);
  return out;
}

TEST(Wmma, HasTheFormsOfPtx) {
  // Operands: 3 shapes of 16 and 8 bits, k 8, k 4: 8 in each layout; of 4 and 1 bits 2 in one. Sums: 3 shapes of 16 and 32 bits, k 8, 4, 32, 128.
  EXPECT_EQ(all_forms().size(), 2U * (2 * 8 + 2) + 2U * 2 * 10);
  EXPECT_FALSE(wmma_accesses({'a', true, 8, 8, 32, 8}, false));
  EXPECT_FALSE(wmma_accesses({'a', false, 8, 8, 32, 4}, false));
  EXPECT_FALSE(wmma_accesses({'b', true, 8, 8, 128, 1}, false));
  EXPECT_FALSE(wmma_accesses({'e', true, 16, 16, 16, 16}, false));
  EXPECT_FALSE(wmma_accesses({'a', true, 16, 16, 16, 32}, false));
}

TEST(Wmma, AccessesEachByteOfTheTileOnce) {
  for (WmmaForm form : all_forms())
    for (bool const generic : {false, true}) {
      form.generic = generic;
      WmmaAccesses const all = *wmma_accesses(form, false);
      std::map<std::pair<unsigned, unsigned>, unsigned> times;
      for (unsigned i = 0; i < all.count; ++i)
        for (unsigned lane = 0; lane < all.instruction.lanes(); ++lane) {
          WmmaPlace const place = all.at(i, lane);
          for (unsigned b = 0; b < all.instruction.bytes; ++b) ++times[{place.line, place.bytes + b}];
        }
      unsigned const rows = form.fragment == 'b' ? form.k : form.m,
                     columns = form.fragment == 'a' ? form.k : form.n;
      EXPECT_EQ(all.positions, form.row ? columns : rows);
      EXPECT_EQ(times.size(), rows * columns * form.bits / 8);
      for (auto const& [place, n] : times) {
        EXPECT_EQ(n, 1U);
        EXPECT_LT(place.first, form.row ? rows : columns);
        EXPECT_LT(place.second, all.positions * form.bits / 8);
      }
    }
}

TEST(Wmma, IsTheInstructionsOfPtxas) {
  auto const is = [](WmmaForm const& form, bool store, Instruction const& instruction, unsigned count) {
    auto const all = wmma_accesses(form, store);
    return all && all->instruction == instruction && all->count == count;
  };
  EXPECT_TRUE(is({'a', true}, false, {Operation::ldmatrix, 16, 4, false}, 1));
  EXPECT_TRUE(is({'a', false}, false, {Operation::ldmatrix, 16, 4, true}, 1));
  EXPECT_TRUE(is({'b', true, 8, 32, 16, 16}, false, {Operation::ldmatrix, 16, 4, true}, 2));
  EXPECT_TRUE(is({'b', false, 32, 8, 16, 16}, false, {Operation::ldmatrix, 16, 2, false}, 1));
  EXPECT_TRUE(is({'a', true, 32, 8, 16, 8}, false, {Operation::ldmatrix, 16, 2, false}, 2));
  EXPECT_TRUE(is({'a', false, 16, 16, 16, 8}, false, {Operation::ld_shared, 1}, 8));
  EXPECT_TRUE(is({'b', false, 8, 8, 128, 1}, false, {Operation::ldmatrix, 16, 1, false}, 1));
  EXPECT_TRUE(is({'c', true, 16, 16, 16, 32}, false, {Operation::ld_shared, 8}, 4));
  EXPECT_TRUE(is({'d', false, 16, 16, 16, 32}, true, {Operation::st_shared, 4}, 8));
  EXPECT_TRUE(is({'d', false, 8, 32, 16, 32}, true, {Operation::st_shared, 8}, 4));
  EXPECT_TRUE(is({'d', false, 16, 16, 16, 16}, true, {Operation::st_shared, 4}, 4));
  EXPECT_TRUE(is({'a', true, 16, 16, 8, 32}, false, {Operation::ld_shared, 4}, 4));
  EXPECT_TRUE(is({'c', true, 8, 8, 4, 64}, false, {Operation::ld_shared, 16}, 1));
  EXPECT_TRUE(is({'a', true, 16, 16, 16, 16, true}, false, {Operation::ld_shared, 4}, 4));
  EXPECT_TRUE(is({'b', true, 16, 16, 16, 16, true}, false, {Operation::ld_shared, 4}, 4));
}

TEST(Wmma, LanesAreWherePtxasHasThem) {
  // The addresses of lane 13 in the code for sm_80.
  auto const lane_13 = [](WmmaForm const& form, unsigned i) {
    WmmaPlace const place = wmma_accesses(form, false)->at(i, 13);
    return std::pair(place.line, place.bytes);
  };
  using Place = std::pair<unsigned, unsigned>;
  EXPECT_EQ(lane_13({'a', true}, 0), Place(13, 0));
  EXPECT_EQ(lane_13({'a', false}, 0), Place(5, 16));
  EXPECT_EQ(lane_13({'b', true}, 0), Place(13, 0));
  EXPECT_EQ(lane_13({'b', false}, 0), Place(5, 16));
  EXPECT_EQ(lane_13({'a', false, 16, 16, 16, 8}, 0), Place(4, 3));
  EXPECT_EQ(lane_13({'c', true, 16, 16, 16, 32}, 3), Place(11, 40));
  EXPECT_EQ(lane_13({'c', false, 16, 16, 16, 32}, 0), Place(2, 12));
  EXPECT_EQ(lane_13({'c', true, 16, 16, 16, 16}, 1), Place(3, 20));
}

}  // namespace
}  // namespace swizproof
