#include "kernel/path_value.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace swizproof {
namespace {

// All small words and steps: a result lies in the interval, with the known bits.
TEST(PathValue, HoldsEachResult) {
  using kernel_detail::PathValue;
  using program::Action;
  auto const holds = [](PathValue const& v, std::uint64_t x) {
    return v.least <= x && x <= v.most && ((x ^ v.bits) & low_bits(v.known)) == 0;
  };
  std::vector<PathValue> values;
  for (std::uint64_t least = 0; least < 16; least += 3)
    for (std::uint64_t most = least; most < 16; most += 5) values.push_back({least, most, 0, 0});
  for (std::uint64_t x = 0; x < 16; ++x) values.push_back(kernel_detail::path_number(x));
  for (std::uint64_t x = 0; x < 4; ++x) values.push_back({0, 15, x, 2});
  unsigned tested = 0;
  for (Action action = Action::copy; action <= Action::negate;
       action = static_cast<Action>(static_cast<int>(action) + 1)) {
    bool const truth = action >= Action::both;
    program::Step step;
    step.action = action, step.width = action >= Action::equal ? 1 : action == Action::trunc ? 3 : 4;
    for (PathValue const& a : values)
      for (PathValue const& b : values) {
        if (truth && (a.most > 1 || b.most > 1)) continue;
        PathValue const out = kernel_detail::result_on_path(step, a, b, {});
        for (std::uint64_t x = a.least; x <= a.most; ++x)
          for (std::uint64_t y = b.least; y <= b.most; ++y) {
            if (!holds(a, x) || !holds(b, y)) continue;
            std::uint64_t const result = program::result_of(step, x, y, 0);
            ASSERT_TRUE(holds(out, result)) << static_cast<int>(action) << ": " << x << ", " << y << " of "
                                            << a.least << ".." << a.most << ", " << b.least << ".." << b.most;
            ++tested;
          }
      }
  }
  EXPECT_GT(tested, 100000U);
}

}  // namespace
}  // namespace swizproof
