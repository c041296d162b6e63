#include "analysis/distinct.hpp"

#include "generators/generators.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace swizproof {
namespace {

RC_GTEST_PROP(Distinct, IsASet, ()) {
  auto const range =
      *rc::gen::element<std::int64_t>(1, 64, 1000, std::int64_t{1} << 20, std::int64_t{1} << 62);
  auto const numbers = *rc::gen::container<std::vector<std::int64_t>>(evenly<std::int64_t>(-range, range));
  std::set<std::int64_t> const expected(numbers.begin(), numbers.end());
  std::vector<std::uint64_t> const found = distinct({numbers.begin(), numbers.end()});
  RC_CLASSIFY(expected.size() < numbers.size(), "some twice");
  RC_CLASSIFY(
      !expected.empty() && *expected.rbegin() - *expected.begin() < 256 * std::int64_t(numbers.size()),
      "by a field of bits");
  RC_ASSERT(std::vector<std::int64_t>(found.begin(), found.end()) ==
            std::vector<std::int64_t>(expected.begin(), expected.end()));
}

TEST(Distinct, KeepsBothEndsOfAField) {
  EXPECT_EQ(distinct({64, 0, 64, 63}), (std::vector<std::uint64_t>{0, 63, 64}));
  EXPECT_EQ(distinct({0, ~std::uint64_t{0}}), (std::vector<std::uint64_t>{~std::uint64_t{0}, 0}));
}

}  // namespace
}  // namespace swizproof
