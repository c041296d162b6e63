// parse_json(): what two readers could read differently is refused.
#include "system/json.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string refused(std::string const& text) {
  try {
    (void)parse_json(text);
  } catch (BadJson const& error) {
    return error.what();
  }
  return "read";
}

TEST(Json, ADocumentIsRead) {
  EXPECT_EQ(parse_json(R"({"a": [1, {"a": 2}], "b": {"a": 3}})").at("b").at("a").get<int>(), 3);
}

TEST(Json, AKeyThatAppearsTwiceIsRefused) {
  EXPECT_EQ(refused(R"({"a": 1, "b": {"a": 1, "a": 2}})"), "the key 'a' appears twice");
  EXPECT_EQ(refused("{\"a\\u0007\": 1, \"a\\u0007\": 2}"), "the key 'a?' appears twice");
}

TEST(Json, TextThatIsNoJsonHasItsPlace) {
  try {
    (void)parse_json("{\"a\": nul}");
    FAIL();
  } catch (BadJson const& error) {
    EXPECT_EQ(error.byte, 10U);
  }
  EXPECT_EQ(refused(""), "no JSON from byte 1 on");
}

TEST(Json, NumbersAndNestingHaveLimits) {
  EXPECT_EQ(refused("[1e999]"), "a number that no JSON reader holds");
  EXPECT_EQ(refused(std::string(16, '[') + std::string(16, ']')), "read");
  EXPECT_EQ(refused(std::string(100000, '[')), "nested more than 16 deep");
}

}  // namespace
}  // namespace swizproof
