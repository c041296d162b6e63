// Ways of a block: numbers that conditions choose.
#include "flow/decisions.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace swizproof {
namespace {

TEST(Decisions, ChooseNumbers) {
  flow_detail::Decisions ways;
  std::vector<std::pair<unsigned, unsigned>> seen;
  do {
    ways.start();
    unsigned const first = ways.choose(3).value();
    seen.emplace_back(first, ways.choose(first + 1).value());
  } while (ways.next());
  EXPECT_EQ(seen,
            (std::vector<std::pair<unsigned, unsigned>>{{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {2, 2}}));
  ways.start();
  EXPECT_EQ(ways.choose(1), 0U);
}

}  // namespace
}  // namespace swizproof
