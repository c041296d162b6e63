#include "execution/warp/memo.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::execution {
namespace {

TEST(Memo, IsAMap) {
  Memo<std::string> memo;
  std::map<std::uint64_t, std::string> map;
  EXPECT_EQ(memo.find(0), nullptr);
  std::uint64_t state = 1;
  for (unsigned i = 0; i < 5'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    // Keys that collide in their low, and in their high bits.
    std::uint64_t const key = i % 3 == 0 ? state >> 52 : i % 3 == 1 ? state >> 52 << 40 : state >> 52 << 7;
    std::string* const found = memo.find(key);
    ASSERT_EQ(found != nullptr, map.count(key) != 0) << key;
    if (found != nullptr) ASSERT_EQ(*found, map[key]);
    memo[key] += 'a', map[key] += 'a';
    ASSERT_EQ(memo.size(), map.size());
  }
  for (auto const& [key, value] : map) EXPECT_EQ(*memo.find(key), value);
  memo.clear();
  EXPECT_EQ(memo.size(), 0U);
  EXPECT_EQ(memo.find(map.begin()->first), nullptr);
}

TEST(Memo, ValuesStayWhereTheyAre) {
  Memo<std::uint64_t> memo;
  std::uint64_t& first = memo[7];
  first = 1;
  for (std::uint64_t key = 8; key < 2'000; ++key) memo[key] = key;
  EXPECT_EQ(&first, memo.find(7));
  std::vector<Memo<std::uint64_t>> forgotten;
  for (unsigned i = 0; i < 9; ++i) forgotten.push_back(std::exchange(memo, {}));
  EXPECT_EQ(&first, forgotten[0].find(7));
  EXPECT_EQ(first, 1U);
  EXPECT_EQ(memo.find(7), nullptr);
}

}  // namespace
}  // namespace swizproof::execution
