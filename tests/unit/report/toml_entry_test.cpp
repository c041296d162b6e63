// The printer of obligations.
#include "report/toml_entry.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

TEST(TomlEntry, HasItsKeysInTheirOrder) {
  EXPECT_EQ(
      TomlEntry("obligation")
          .add("name", "A")
          .add("element", "")
          .add("access", std::vector<std::string>{"ldmatrix.x4", "copy.row128"})
          .add("at_most", 4)
          .add("align", std::nullopt)
          .add_value(
              "tma",
              toml_table({{"mode", toml_text("128B")}, {"steps", ""}, {"box", toml_list({"64", "64"})}}))
          .text(),
      "[[obligation]]\nname = \"A\"\naccess = [\"ldmatrix.x4\", \"copy.row128\"]\nat_most = 4\ntma = {mode = "
      "\"128B\", box = "
      "[64, 64]}\n");
}

TEST(TomlEntry, TextsAreEscaped) {
  EXPECT_EQ(toml_text(""), "\"\"");
  EXPECT_EQ(toml_text("a \"b\" \\"), "\"a \\\"b\\\" \\\\\"");
  EXPECT_EQ(toml_text("a\x01"), "\"a\\u0001\"");
  EXPECT_EQ(toml_text("a\nb"), "'''\na\nb'''");
  EXPECT_EQ(toml_text("a\n'''"), "\"a\\n'''\"");
  EXPECT_EQ(toml_text("a\nb'"), "\"a\\nb'\"");
  EXPECT_EQ(toml_key("width"), "width");
  EXPECT_EQ(toml_key("#0"), "\"#0\"");
}

TEST(TomlEntry, ANameIsOneShortLine) {
  EXPECT_EQ(obligation_name(" a\n  b\t"), "a b");
  EXPECT_EQ(obligation_name(std::string(200, 'x')), std::string(97, 'x') + "...");
}

}  // namespace
}  // namespace swizproof
