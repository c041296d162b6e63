// Ours equals the conflict degrees, swizzle values and validity rules recorded from seven other projects.
#include "oracle.hpp"

#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace swizproof::oracle {
namespace {

nlohmann::json const& data() {
  static nlohmann::json const parsed = nlohmann::json::parse(open("conflicts.json"));
  return parsed;
}

TEST(Conflicts, DegreesAndWavefrontsAreTheRecordedOnes) {
  for (auto const& c : data()["conflict_cases"]) {
    Instruction const store{Operation::st_shared, c["access_bytes"].get<unsigned>()};
    auto const found = cost(sm_90, store, warp_of(c["byte_addr"].get<std::vector<std::uint32_t>>()));
    EXPECT_EQ(*std::max_element(found.degree.begin(), found.degree.end()),
              c["expected_degree"].get<unsigned>())
        << c["id"];
    EXPECT_EQ(found.wavefronts, c["wavefronts"].get<unsigned>()) << c["id"];
    EXPECT_EQ(ideal_wavefronts(sm_90, store), c["min_wavefronts"].get<unsigned>()) << c["id"];
  }
  EXPECT_EQ(data()["conflict_cases"].size(), 18U);
}

Swizzle swizzle_of(nlohmann::json const& s) { return {s[0], s[1], s[2]}; }

TEST(Conflicts, SwizzlesGiveTheRecordedValues) {
  for (auto const& c : data()["apply_cases"])
    EXPECT_EQ(swizzle_of(c["swizzle"])(c["x"].get<std::uint32_t>()), c["y"].get<std::uint32_t>());
  EXPECT_GE(data()["apply_cases"].size(), 2U);
}

TEST(Conflicts, MisalignedBasesSpoilAsManyBytesAsRecorded) {
  for (auto const& c : data()["alignment_cases"]) {
    Swizzle const s = swizzle_of(c["swizzle"]);
    std::uint32_t const base = c["base"];
    unsigned wrong = 0;
    for (std::uint32_t x = 0; x < 1024; ++x) wrong += s(base + x) != base + s(x) ? 1 : 0;
    EXPECT_EQ(wrong, c["wrong_bytes_of_1024"].get<unsigned>()) << base;
  }
}

TEST(Conflicts, TextsAreValidOrNotAsRecorded) {
  for (std::string const text : data()["parse_cases"]["valid"])
    EXPECT_NO_THROW((void)parse_swizzle(text)) << text;
  for (std::string const text : data()["parse_cases"]["invalid"])
    EXPECT_THROW((void)parse_swizzle(text), InputError) << text;
}

}  // namespace
}  // namespace swizproof::oracle
