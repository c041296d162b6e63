#include <swizproof/program/step.hpp>

#include <gtest/gtest.h>

namespace swizproof::program {
namespace {

std::uint64_t special(Special which, ThreadOfLaunch const& at) {
  return special_of(static_cast<std::uint32_t>(which), at).value();
}

TEST(Step, SpecialRegistersOfAThread) {
  ThreadOfLaunch const at{77, 13, {8, 4, 4}, {5, 6, 7}, {1, 2, 3}};
  EXPECT_EQ(special(Special::tid_x, at), 5U) << "77 = 5 + 8 * (1 + 4 * 2)";
  EXPECT_EQ(special(Special::tid_y, at), 1U);
  EXPECT_EQ(special(Special::tid_z, at), 2U);
  EXPECT_EQ(special(Special::ntid_x, at), 8U);
  EXPECT_EQ(special(Special::ntid_z, at), 4U);
  EXPECT_EQ(special(Special::ctaid_y, at), 2U);
  EXPECT_EQ(special(Special::nctaid_z, at), 7U);
  EXPECT_EQ(special(Special::laneid, at), 13U);
  EXPECT_EQ(special(Special::mask_eq, at), 0x2000U);
  EXPECT_EQ(special(Special::mask_lt, at), 0x1fffU);
  EXPECT_EQ(special(Special::mask_le, at), 0x3fffU);
  EXPECT_EQ(special(Special::mask_gt, at), 0xffffc000U);
  EXPECT_EQ(special(Special::mask_ge, at), 0xffffe000U);
  EXPECT_EQ(special(Special::mask_gt, {31, 31}), 0U);
  EXPECT_EQ(special(Special::mask_le, {31, 31}), 0xffffffffU);
  EXPECT_FALSE(special_of(static_cast<std::uint32_t>(Special::warp_x), at).has_value());
  EXPECT_FALSE(special_of(first_uniform_special + 156, at).has_value()) << "a name's number, and not tid.x";
}

TEST(Step, ResultsHaveTheWidthOfTheStep) {
  auto const result = [](Action action, std::uint8_t width, std::uint64_t a, std::uint64_t b = 0,
                         std::uint64_t c = 0) {
    Step s;
    s.action = action, s.width = width;
    return result_of(s, a, b, c);
  };
  EXPECT_EQ(result(Action::copy, 32, 0x1'2345'6789), 0x2345'6789U);
  EXPECT_EQ(result(Action::sub, 16, 1, 2), 0xffffU);
  EXPECT_EQ(result(Action::shl, 32, 1, 32), 0U);
  EXPECT_EQ(result(Action::udiv, 8, 7, 0), 0xffU);
  EXPECT_EQ(result(Action::below, 1, 0xffffffff, 0), 0U) << "without a sign";
  EXPECT_EQ(result(Action::negate, 1, 1), 0U);
  EXPECT_EQ(result(Action::choose, 32, 0, 5, 6), 6U);
  EXPECT_FALSE(computes(Action::opaque));
}

TEST(Step, SharedArraysFollowEachOther) {
  std::vector<Variable> symbols(5);
  auto const set = [&](std::size_t i, std::uint64_t bytes, bool dynamic) {
    symbols[i].space = Space::shared, symbols[i].bytes = bytes, symbols[i].extern_array = dynamic;
  };
  set(0, 3, false), set(1, 0, true), set(3, 8, false), set(4, 0, true);
  auto const align_of = [](std::uint32_t i) { return std::uint64_t{i == 4 ? 128U : 4U}; };
  PlacedArrays const placed = place_shared(symbols, 0x400, align_of);
  using Place = std::optional<std::uint64_t>;
  EXPECT_EQ(placed.addresses, (std::vector<Place>{0x400, 0x40c, std::nullopt, 0x404, 0x480}));
  EXPECT_EQ(placed.end, 0x40cU);
}

}  // namespace
}  // namespace swizproof::program
