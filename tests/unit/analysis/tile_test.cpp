#include <swizproof/analysis/tile.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Layout layout(std::int64_t threads, std::int64_t values, std::int64_t thread_stride,
              std::int64_t value_stride) {
  return {IntTuple(std::vector<IntTuple>{threads, values}),
          IntTuple(std::vector<IntTuple>{thread_stride, value_stride})};
}

TEST(Tile, EveryElementIsHeldByAsManyThreadsAsShareIt) {
  HolderCount const once = count_holders({layout(4, 2, 1, 4), {4, 2}});
  EXPECT_TRUE(once.answer.proved());
  EXPECT_EQ(once.answer.engines, (std::vector{Engine::linear, Engine::exhaustive}));
  EXPECT_EQ(once.most, 1U);
  HolderCount const shared = count_holders({layout(4, 8, 0, 1), {4, 2}});
  EXPECT_TRUE(shared.answer.proved());
  EXPECT_EQ(shared.least, 4U);
}

TEST(Tile, AnElementThatNoThreadHoldsRefutes) {
  HolderCount const found = count_holders({layout(4, 1, 1, 0), {4, 2}});
  EXPECT_TRUE(found.answer.refuted() != nullptr);
  EXPECT_EQ(found.missing, 4U);
}

TEST(Tile, AnElementOutsideOfTheTileRefutes) {
  HolderCount const found = count_holders({layout(4, 3, 1, 4), {4, 2}});
  ASSERT_TRUE(found.outside);
  EXPECT_EQ(*found.outside, (std::array<std::uint64_t, 2>{0, 2}));
  EXPECT_TRUE(found.answer.refuted() != nullptr);
}

TEST(Tile, HoldersAreByValue) {
  std::vector<TileHolders> const held = holders_of({layout(4, 4, 1, 1), {7, 1}}, 3);
  ASSERT_EQ(held.size(), 4U);
  EXPECT_EQ(held[0].value, 0U);
  EXPECT_EQ(held[0].threads, (std::vector<unsigned>{3}));
  EXPECT_EQ(held[3].threads, (std::vector<unsigned>{0}));
}

/// A fragment of 4 threads with 4 registers, whose register 1 is the third value of a copy, and its register 2 the second.
TileMovement retiled(Layout moved) {
  return {std::move(moved),
          {IntTuple(std::vector<IntTuple>{2, 2}), IntTuple(std::vector<IntTuple>{2, 1})},
          layout(4, 4, 1, 4)};
}

TEST(Tile, ValuesOfACopyAreComparedWithTheirRegisters) {
  IntTuple const two(std::vector<IntTuple>{2, 2});
  Layout const right{IntTuple(std::vector<IntTuple>{4, two}),
                     IntTuple(std::vector<IntTuple>{1, IntTuple(std::vector<IntTuple>{8, 4})})};
  TileDelivery const found = deliver(retiled(right), {});
  EXPECT_TRUE(found.answer.proved());
  EXPECT_FALSE(found.first);
  TileDelivery const wrong = deliver(retiled(layout(4, 4, 1, 4)), {});
  EXPECT_TRUE(wrong.answer.refuted() != nullptr);
  ASSERT_TRUE(wrong.first);
  EXPECT_EQ(wrong.first->thread, 0U);
  EXPECT_EQ(wrong.first->value, 1U);
  EXPECT_EQ(wrong.first->reg, 2U);
  EXPECT_EQ(wrong.first->moved, 4U);
  EXPECT_EQ(wrong.first->held, 8U);
}

}  // namespace
}  // namespace swizproof
