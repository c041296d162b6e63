#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <array>
#include <tuple>

namespace swizproof {
namespace {

std::uint64_t value(std::string_view text, std::uint64_t x = 0) {
  std::array<std::string, 1> const names{"x"};
  return parse_expression(text, names)(std::span<std::uint64_t const>(&x, 1), x);
}

TEST(Expression, HasCsPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3"), 7U);
  EXPECT_EQ(value("1 << 2 + 1"), 8U) << "+ binds tighter than <<";
  EXPECT_EQ(value("7 ^ 3 << 1"), 1U) << "<< binds tighter than ^";
  EXPECT_EQ(value("6 & 3 == 3"), 0U) << "== binds tighter than &";
  EXPECT_EQ(value("1 | 6 ^ 2 & 3"), 5U);
  EXPECT_EQ(value("10 - 4 - 3"), 3U) << "left to right";
  EXPECT_EQ(value("100 / 10 / 2"), 5U);
  EXPECT_EQ(value("1 ? 2 : 0 ? 3 : 4"), 2U);
  EXPECT_EQ(value("0 ? 2 : 0 ? 3 : 4"), 4U);
  EXPECT_EQ(value("!0 + ~0"), 0U);
  EXPECT_EQ(value("1 || 0 && 0"), 1U);
  EXPECT_EQ(value("3 < 5 == 1"), 1U);
}

TEST(Expression, ComparesBelowEqualAndAbove) {
  for (auto const& [operation, below, equal, above] : {std::tuple{"<", 1U, 0U, 0U},
                                                       {"<=", 1U, 1U, 0U},
                                                       {">", 0U, 0U, 1U},
                                                       {">=", 0U, 1U, 1U},
                                                       {"==", 0U, 1U, 0U},
                                                       {"!=", 1U, 0U, 1U}}) {
    std::string const middle = std::string(" ") + operation + " ";
    EXPECT_EQ(value("3" + middle + "x", 5), below) << operation;
    EXPECT_EQ(value("5" + middle + "x", 5), equal) << operation;
    EXPECT_EQ(value("7" + middle + "x", 5), above) << operation;
  }
}

TEST(Expression, IsUnsignedAndWraps) {
  EXPECT_EQ(value("0 - 1 > 5"), 1U);
  EXPECT_EQ(value("-x", 1), ~0ULL);
  EXPECT_EQ(value("1 << 64"), 0U);
  EXPECT_EQ(value("x >> 70", ~0ULL), 0U);
}

TEST(Expression, HasSwizzlesAsFunctions) {
  for (std::uint64_t x = 0; x < 4096; x += 7) {
    EXPECT_EQ(value("Sw<3,4,3>(x)", x), (Swizzle{3, 4, 3}(x)));
    EXPECT_EQ(value("1 + Sw<2,4,-3>(x + 1) * 2", x), (1 + Swizzle{2, 4, -3}(x + 1) * 2));
  }
  EXPECT_EQ(value("Sw<3,4,3>(0x80)"), 0x90U);
  EXPECT_EQ(value("Sw<3,4,-3>(0x10)"), 0x90U);
  EXPECT_THROW((void)value("Sw<3,4,2>(x)"), InputError);
}

TEST(Expression, ReadsCLiterals) {
  EXPECT_EQ(value("0x70"), 112U);
  EXPECT_EQ(value("0b101"), 5U);
  EXPECT_EQ(value("017"), 15U);
  EXPECT_EQ(value("5ul + 0U"), 5U);
  EXPECT_EQ(value("18446744073709551615"), ~0ULL);
}

TEST(Expression, RefusesWhatItWouldHaveToGuess) {
  for (char const* bad :
       {"",     "1 +",  "y",   "(1",    "1)",          "x / 0",         "x % (3 - 3)", "1 / x",
        "08",   "0x",   "1 2", "x = 3", "5k",          "8uuu",          "1lul",        "18446744073709551616",
        "x--1", "x++1", "--x", "x++",   "x / (2 + x)", "x / (1 << 32)", "x / ~0",      "x / (1 << 40 >> 38)"})
    EXPECT_THROW((void)value(bad), InputError) << bad;
}

TEST(Expression, DividesByAnyConstant) {
  EXPECT_EQ(value("x / (6 / 2)", 12), 4U);
  EXPECT_EQ(value("x % (7 & 4)", 7), 3U);
  EXPECT_EQ(value("x / (1 ? 2 : 3)", 12), 6U);
  EXPECT_EQ(value("x / Sw<3,4,3>(0x80)", 0x120), 2U);
  EXPECT_EQ(value("x - -1", 5), 6U) << "two signs with a space between";
}

TEST(Expression, RefusesExtremeNesting) {
  EXPECT_THROW((void)value(std::string(10000, '(') + "1" + std::string(10000, ')')), InputError);
  EXPECT_THROW((void)value(std::string(100000, '~') + "1"), InputError);
  auto const within = [](std::size_t n) { return std::string(n, '(') + "7" + std::string(n, ')'); };
  EXPECT_EQ(value(within(199)), 7U) << "200 levels with the whole";
  EXPECT_THROW((void)value(within(200)), InputError);
  std::string sum = "1";
  for (int i = 0; i < 400; ++i) sum += "+1";
  EXPECT_EQ(value(sum), 401U) << "long is not deep";
  for (int i = 0; i < 400; ++i) sum += "+1";
  EXPECT_THROW((void)value(sum), InputError) << "more than 1000 operations";
}

}  // namespace
}  // namespace swizproof
