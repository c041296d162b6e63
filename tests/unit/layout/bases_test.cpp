#include <swizproof/layout/bases.hpp>

#include <swizproof/layout/composed.hpp>

#include <gtest/gtest.h>

#include <random>

namespace swizproof {
namespace {

std::string text_of(std::vector<std::int64_t> const& shape, BitPlaces const& places) {
  Map map;
  map.on_elements = stages_of_bits(shape, places);
  return to_string(map);
}

TEST(Bases, AreInvertedWithGapsAtZero) {
  OffsetBases const row_major{{2, 4}, {{0, 1}, {0, 2}, {1, 0}}};
  EXPECT_EQ(places(row_major), (BitPlaces{4, 1, 2}));
  OffsetBases const gap{{2, 4}, {{0, 1}, {0, 0}, {0, 2}, {1, 2}}};
  EXPECT_EQ(places(gap), (BitPlaces{8 + 4, 1, 4}));
  EXPECT_EQ(places({{2, 4}, {{0, 1}, {0, 2}}}), std::nullopt) << "half of it is nowhere";
  EXPECT_EQ(places({{2, 2}, {{0, 1}, {1, 0}, {1, 1}}}), std::nullopt) << "every coordinate is there twice";
}

TEST(Bases, BecomeASwizzleOnALayoutWhereTheyAreOne) {
  EXPECT_EQ(text_of({8, 64}, {64, 128, 256, 1, 2, 4, 8, 16, 32}), "(_8,_64):(_64,_1)");
  EXPECT_EQ(text_of({8, 64}, {64 + 8, 128 + 16, 256 + 32, 1, 2, 4, 8, 16, 32}),
            "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
  EXPECT_EQ(text_of({2, 8}, {8 + 1, 1 + 8, 2, 4}),
            "fn(x) = (x & ~0xe) ^ ((x << 3) & 0x8) ^ ((x << 2) & 0x8) ^ ((x >> 1) & 0x7) o (_2,_8):(_1,_2)")
      << "not one-to-one";
  EXPECT_EQ(text_of({4, 4}, {4, 8, 1 + 4, 2 + 8}), "Sw<2,0,-2> o _0 o (_4,_4):(_4,_1)");
  EXPECT_EQ(text_of({4, 2, 1},
                    {
                        1,
                        4,
                        2,
                    }),
            "((_2,_2),_2,_1):((_1,_4),_2,_0)");
  EXPECT_EQ(text_of({2, 4}, {0, 1, 2}), "(_2,_4):(_0,_1)") << "a mode that moves nothing";
}

TEST(LinearStage, IsTheMapOfItsImages) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> images;
    for (unsigned bit = 0; bit < 6; ++bit)  // some bits stay, some are swizzled, some go anywhere
      images.push_back(random() % 3 == 0
                           ? random() % 128
                           : std::uint64_t{1} << bit ^ (random() % 2 ? (std::uint64_t{1} << bit) >> 2 : 0));
    Stage const stage = linear_stage(images);
    for (std::uint64_t x = 0; x < 256; ++x) {
      std::uint64_t expected = x & ~std::uint64_t{63};
      for (unsigned bit = 0; bit < 6; ++bit) expected ^= (x >> bit & 1) != 0 ? images[bit] : 0;
      ASSERT_EQ(value(std::vector<Stage>{stage}, x), expected) << x << " in round " << round;
    }
  }
  EXPECT_EQ(std::get<Swizzle>(linear_stage(std::vector<std::uint64_t>{1, 2, 4, 9})), (Swizzle{1, 0, 3}));
}

}  // namespace
}  // namespace swizproof
