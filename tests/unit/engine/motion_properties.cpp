// Motions, compared with each value that a formula takes.
#include "generators/generators.hpp"

#include <swizproof/engine/motion.hpp>
#include <swizproof/layout/layout.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <limits>

namespace swizproof {
namespace {

/// A random function of x, which moves, and y, which does not, from all operators of expressions.
rc::Gen<std::string> any_formula(int depth) {
  return rc::gen::exec([depth]() -> std::string {
    if (depth == 0)
      return *rc::gen::element<std::string>("x", "x", "y", std::to_string(*rc::gen::inRange(0, 40)));
    auto const part = [depth] { return "(" + *any_formula(depth - 1) + ")"; };
    std::string const constant = std::to_string(*rc::gen::element(1, 2, 3, 4, 7, 8, 12, 16, 64, 100));
    switch (*rc::gen::inRange(0, 14)) {
      case 0:
        return part() + " ^ " + part();
      case 1:
        return part() + " & " + part();
      case 2:
        return part() + " | " + part();
      case 3:
        return part() + " + " + part();
      case 4:
        return part() + " - " + part();
      case 5:
        return part() + " * " + constant;
      case 6:
        return part() + " / " + constant;
      case 7:
        return part() + " % " + constant;
      case 8:
        return part() + " << " + std::to_string(*rc::gen::inRange(0, 8));
      case 9:
        return part() + " >> " + std::to_string(*rc::gen::inRange(0, 8));
      case 10:
        return part() + " & ~" + constant;
      case 11:
        return part() + " < " + part() + " ? " + part() + " : " + part();
      case 12:
        return "(" + part() + " == " + part() + ") || !" + part();
      default:
        return part() + " * " + part();
    }
  });
}

/// Values of a variable: first, first + step, ..; values `period` apart are steps of its motion.
struct Moving {
  std::int64_t first, step;
  std::uint64_t count, period;
  [[nodiscard]] std::uint64_t at(std::uint64_t i) const {
    return static_cast<std::uint64_t>(first + step * static_cast<std::int64_t>(i));
  }
  [[nodiscard]] Motion motion(bool moves) const {
    auto const last = static_cast<std::int64_t>(at(count - 1));
    auto const zeros = std::countr_zero(static_cast<std::uint64_t>(first) | static_cast<std::uint64_t>(step));
    return Motion::between(std::min(first, last), std::max(first, last),
                           moves ? period * static_cast<std::uint64_t>(step) : 0,
                           static_cast<unsigned>(zeros));
  }
};

rc::Gen<Moving> any_moving() {
  return rc::gen::exec([] {
    std::int64_t const far = *rc::gen::element<std::int64_t>(0, 0, 0, 0, 1LL << 40, 1LL << 62, -(1LL << 62));
    return Moving{far + *evenly<std::int64_t>(-20, 60),
                  *rc::gen::element<std::int64_t>(1, 2, 3, 8, 16, 64, -1, -8), *evenly<std::uint64_t>(1, 40),
                  *rc::gen::element<std::uint64_t>(1, 2, 3, 4, 8, 16)};
  });
}

/// Compares `said` with f(x, y) for each x and y.
template <class F>
void compare(Motion const& said, Moving const& x, Moving const& y, F const& f) {
  for (std::uint64_t j = 0; j < y.count; ++j)
    for (std::uint64_t i = 0; i < x.count; ++i) {
      std::uint64_t const value = f(x.at(i), y.at(j));
      auto const number = static_cast<std::int64_t>(value);
      RC_ASSERT(said.least() <= number && number <= said.most());
      if (said.step() && i >= x.period) RC_ASSERT(value == f(x.at(i - x.period), y.at(j)) + *said.step());
    }
}

RC_GTEST_PROP(Motion, IsTrueOfNumbers, ()) {
  std::array<std::string, 2> const names{"x", "y"};
  std::string const text = *any_formula(*rc::gen::inRange(1, 5));
  Expression const e = parse_expression(text, names);
  Moving const x = *any_moving(), y = *any_moving();
  RC_LOG() << text << "  x " << x.first << "+" << x.step << "*" << x.count << " by " << x.period;
  std::array<Motion, 2> const motions{x.motion(true), y.motion(false)};
  Motion const said = e(std::span<Motion const>(motions), motions[0]);
  RC_CLASSIFY(said.step().has_value(), "a step");
  RC_CLASSIFY(said.step().value_or(0) != 0, "a step that is not 0");
  RC_CLASSIFY(said.least() > std::numeric_limits<std::int64_t>::min(), "bounds");
  compare(said, x, y, [&](std::uint64_t a, std::uint64_t b) {
    std::array<std::uint64_t, 2> const values{a, b};
    return e(std::span<std::uint64_t const>(values), a);
  });
}

RC_GTEST_PROP(Motion, OfASwizzleIsTrueOfNumbers, ()) {
  int const shift = *evenly(1, 5);
  Swizzle const s{*evenly(0, shift + 1), *evenly(0, 4), *rc::gen::arbitrary<bool>() ? shift : -shift};
  Moving x = *any_moving();
  Moving const y{0, 1, 1, 1};
  if (*rc::gen::arbitrary<bool>()) x.step = static_cast<std::int64_t>(s.period());
  Motion const said = s(x.motion(true));
  RC_CLASSIFY(said.step().has_value(), "a step");
  if (x.period * static_cast<std::uint64_t>(x.step) % s.period() == 0) RC_ASSERT(said.step().has_value());
  compare(said, x, y, [&](std::uint64_t a, std::uint64_t) { return s(a); });
}

RC_GTEST_PROP(Motion, OfALayoutIsTrueOfNumbers, ()) {
  Layout const l =
      *rc::gen::suchThat(any_layout(2), [](Layout const& some) { return some.shape.leaf_count() != 0; });
  Moving x = *any_moving();
  Moving const y{0, 1, 1, 1};
  x.first = std::abs(x.first), x.step = std::abs(x.step);
  Motion const said = l(x.motion(true)).elements, bytes = asr(said, 1);
  classify(l);
  RC_CLASSIFY(said.step().has_value(), "a step");
  compare(said, x, y, [&](std::uint64_t a, std::uint64_t) { return l(a).elements; });
  compare(bytes, x, y, [&](std::uint64_t a, std::uint64_t) { return asr(l(a).elements, 1); });
}

TEST(Motion, KnowsWhatItIsAskedFor) {
  Motion const x = Motion::between(0, 1 << 20, 1024, 4);
  EXPECT_EQ(swizzle_128B(x).step(), 1024U);
  EXPECT_EQ((x % 8).step(), 0U);
  EXPECT_EQ((x % 8).most(), 0) << "multiples of 16";
  EXPECT_EQ((x / 16).step(), 64U);
  EXPECT_EQ((x & 0xf0 ^ x).step(), 1024U);
  EXPECT_EQ((x < x + 1).value, std::nullopt);
  EXPECT_TRUE((x == x + 1).steady);
  EXPECT_EQ((x < 1 << 21).value, true);
  EXPECT_EQ(swizzle_128B(Motion::between(0, 1 << 20, 512)).step(), std::nullopt) << "half a period";
  EXPECT_EQ(asr(Motion::between(-64, 64, std::uint64_t{0} - 8), 3).step(), ~std::uint64_t{0}) << "downwards";
}

TEST(Motion, KnowsNoMoreThanIsTrue) {
  Motion const x = Motion::between(0, 1 << 20, 1024, 4), some = Motion::between(0, 100, 0, 2);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(asr(Motion::between(least, most, 8), 3).step(), std::nullopt) << "it wraps around";
  EXPECT_EQ((Motion::between(least, most, 21) % 7).step(), std::nullopt) << "so does this";
  EXPECT_EQ((x / 3).step(), std::nullopt);
  EXPECT_EQ((x % 3).step(), std::nullopt);
  EXPECT_EQ((x ^ 1024).step(), std::nullopt);
  EXPECT_EQ((x & ~std::uint64_t{1024}).step(), std::nullopt);
  EXPECT_EQ(select(x < 512, some, some).step(), std::nullopt);
  EXPECT_EQ(((some * 4) & 16).most(), 16);
  EXPECT_FALSE((x == 512).steady);
  EXPECT_FALSE((x < x + 1).steady) << "the larger one may wrap around first";
  EXPECT_FALSE((x == 512 && some == 4).steady);
  EXPECT_FALSE((some == 4 || x == 512).steady);
}

}  // namespace
}  // namespace swizproof
