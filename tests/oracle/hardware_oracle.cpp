// Ours equals the table of expected wavefronts that was made by brute force from the documents, for
// every pattern, pitch and swizzle in it.
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof::oracle {
namespace {

struct Row {
  char const* access;
  // 128 none, 128 SW128, 64 none, 64 SW64, 32 none, 32 SW32, 256 SW128, 144 none; 0: not in the table
  unsigned expected[8];
};

constexpr Row table[] = {
    {"copy.row128", {4, 4, 0, 0, 0, 0, 4, 4}},          {"copy.row64", {8, 8, 4, 4, 0, 0, 8, 8}},
    {"row_per_lane.store", {32, 4, 16, 4, 8, 4, 8, 4}}, {"row_per_lane.load", {32, 4, 16, 4, 8, 4, 8, 4}},
    {"ldmatrix.x4", {32, 4, 16, 4, 8, 4, 8, 4}},        {"ldmatrix.x4.b", {32, 4, 16, 4, 8, 4, 8, 4}},
    {"ldmatrix.x4.trans", {32, 4, 16, 4, 8, 4, 8, 4}},  {"stmatrix.x4", {32, 4, 16, 4, 8, 4, 8, 4}},
    {"fragment.c.b32x2", {8, 4, 4, 4, 2, 2, 2, 4}},     {"fragment.c.b16x2", {8, 1, 4, 1, 2, 1, 2, 1}},
    {"fragment.a.b32", {8, 1, 4, 1, 2, 1, 2, 1}},       {"column.b32.load", {32, 4, 16, 4, 8, 4, 8, 4}},
    {"column.b16", {32, 4, 16, 4, 8, 4, 8, 4}},         {"column.b64", {32, 4, 16, 4, 8, 4, 8, 4}},
};

TEST(HardwareTable, IsReproduced) {
  struct Setting {
    unsigned pitch;
    Swizzle swizzle;
  };
  Setting const settings[] = {{128, swizzle_none}, {128, swizzle_128B}, {64, swizzle_none},
                              {64, swizzle_64B},   {32, swizzle_none},  {32, swizzle_32B},
                              {256, swizzle_128B}, {144, swizzle_none}};
  for (Row const& row : table) {
    Access const access = parse_access(row.access);
    for (std::size_t i = 0; i < std::size(settings); ++i) {
      if (row.expected[i] == 0) continue;
      std::uint32_t const zero = 0;
      unsigned const n = wavefronts(
          sm_90, access.instruction,
          addresses(access, settings[i].swizzle, zero, std::uint32_t{settings[i].pitch}, zero, zero));
      EXPECT_EQ(n, row.expected[i]) << row.access << " at pitch " << settings[i].pitch << " under "
                                    << to_string(settings[i].swizzle);
    }
  }
}

TEST(HardwareTable, HandSwizzledStoreOfCutlass2Costs4) {
  Access const access = parse_access("copy.cutlass2");
  std::uint32_t const zero = 0;
  EXPECT_EQ(wavefronts(sm_90, access.instruction,
                       addresses(access, swizzle_none, zero, std::uint32_t{128}, zero, zero)),
            4U);
}

TEST(HardwareTable, Swizzle525ServesRowsAndColumnsOfWords) {
  std::uint32_t const zero = 0;
  for (char const* name : {"row.b32.load", "column.b32.load"}) {
    Access const access = parse_access(name);
    EXPECT_EQ(wavefronts(sm_90, access.instruction,
                         addresses(access, Swizzle{5, 2, 5}, zero, std::uint32_t{128}, zero, zero)),
              1U)
        << name;
  }
}

}  // namespace
}  // namespace swizproof::oracle
