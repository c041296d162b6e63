// Layouts as C++ writes them == what CuTe prints for them, as recorded in cutlass_spellings.jsonl: CUTLASS 4.x (commit 7107b05,
// 2026-08-20), g++ on the host. tests/cutlass/spellings.cpp prints the file again.
#include "oracle/oracle.hpp"

#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof::oracle {
namespace {

TEST(CuTe, PrintsWhatItsTypesAreReadAs) {
  std::ifstream file = open("cutlass_spellings.jsonl");
  std::size_t read = 0;
  for (std::string line; std::getline(file, line); ++read) {
    auto const record = nlohmann::json::parse(line);
    std::string const spelled = record["spelled"];
    Evaluated const value = parse_value(spelled);
    auto const* map = std::get_if<Mapping>(&value);
    auto const* coordinates = std::get_if<Layout>(&value);
    ASSERT_TRUE(map != nullptr || coordinates != nullptr) << spelled;
    EXPECT_EQ(map != nullptr ? map->text : to_string(*coordinates), record["printed"].get<std::string>())
        << spelled;
  }
  EXPECT_GE(read, 45U);
}

}  // namespace
}  // namespace swizproof::oracle
