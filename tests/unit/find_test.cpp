// find_*(): the best is found, and nothing better exists.
#include <swizproof/find.hpp>
#include <swizproof/parse.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace swizproof {
namespace {

SearchProblem problem(std::string_view layout, unsigned bits, std::initializer_list<char const*> accesses) {
  SearchProblem p;
  p.tile = without_swizzle(parse_mapping(layout, {bits}));
  for (char const* access : accesses) p.accesses.push_back(parse_access(access));
  return p;
}

TEST(Find, TheOneSwizzleForA128ByteTile) {
  SwizzleSearch const found = find_swizzle(problem("(128,64):(64,1)", 16, {"ldmatrix.x4", "copy.row128"}));
  EXPECT_EQ(found.searched, 6801U);
  ASSERT_FALSE(found.best.empty());
  EXPECT_EQ(found.best.front().swizzle, (Swizzle{3, 3, 3}));
  EXPECT_EQ(found.best.front().on_bytes, swizzle_128B);
  EXPECT_TRUE(found.best.front().tma);
  EXPECT_EQ(found.best.front().excess, 0U);
}

TEST(Find, SaysWhenNoSwizzleWillDo) {
  SwizzleSearch const found =
      find_swizzle(problem("(32,32):(32,1)", 32, {"row_per_lane.load", "column.b32.load"}));
  EXPECT_GT(found.best.front().excess, 0U) << "16-byte rows and a column of words: proofs say impossible";
}

TEST(Find, EveryBestSwizzleIsBestByCheck) {
  SearchProblem const p = problem("(64,32):(32,1)", 16, {"ldmatrix.x4", "fragment.c.b16x2"});
  SwizzleSearch const found = find_swizzle(p);
  unsigned least = ~0U;
  for (Swizzle const s :
       {Swizzle{2, 3, 3}, Swizzle{1, 3, 3}, Swizzle{3, 3, 3}, Swizzle{0, 3, 3}, Swizzle{2, 3, 4}}) {
    unsigned excess = 0;
    for (Access const& access : p.accesses) excess += check(Placement(swizzled(p, s), access), {}).excess();
    least = std::min(least, excess);
    EXPECT_GE(excess, found.best.front().excess) << to_string(s);
  }
  EXPECT_EQ(found.best.front().excess, least);
}

TEST(Find, ASwizzleOfBytesIsTheSameFunction) {
  SearchProblem p = problem("(128,64):(64,1)", 16, {"ldmatrix.x4"});
  p.on_bytes = true;
  EXPECT_EQ(find_swizzle(p).best.front().swizzle, swizzle_128B);
}

TEST(Find, PaddingFindsThePitchOf33) {
  auto const found = find_padding(problem("(32,32):(32,1)", 32, {"column.b32.load", "row.b32.load"}));
  EXPECT_EQ(found.front().elements, 33);
  EXPECT_EQ(found.front().memory, 4220U);
  EXPECT_EQ(found.front().excess, 0U);
  EXPECT_EQ(found.back().excess, 31U);
}

TEST(Find, PaddingLeavesMisalignedPitchesOut) {
  for (Pitch const& p : find_padding(problem("(16,64):(64,1)", 16, {"ldmatrix.x4"})))
    EXPECT_EQ(p.elements % 8, 0);
}

TEST(Find, AnXorMapBeatsEverySwizzle) {
  // Rows and columns of 8-byte words and a fragment of 4-byte ones.
  SearchProblem const p =
      problem("(16,32):(32,1)", 32,
              {"ld.shared.b64: row = lane/16, col = 2*(lane%16)",
               "ld.shared.b64: row = lane%16, col = 2*(lane/16) + 4*i for i in 0..7",
               "ld.shared.b32: row = lane/4 + 8*i, col = lane%4 + 4*k for i in 0..1 for k in 0..7"});
  EXPECT_EQ(find_swizzle(p).best.front().excess, 1U);
  XorSearch const found = find_xor(p);
  EXPECT_EQ(found.best.excess, 0U);
  Mapping map = p.tile;
  map.on_bytes = parse_mapping(found.best.expression).on_bytes;
  EXPECT_TRUE(
      std::holds_alternative<Proved>(is_one_to_one(parse_mapping(found.best.expression), {}).outcome));
  for (Access const& access : p.accesses)
    EXPECT_EQ(check(Placement(map, access), {}).excess(), 0U) << access.name;
}

TEST(Find, NoXorMapBeatsTheBoundOfTheWords) {
  // 64 different words can never take fewer than 2 wavefronts... a column of 8 banks' worth takes 4.
  SearchProblem const p = problem("(32,32):(32,1)", 32, {"row_per_lane.load", "column.b32.load"});
  XorSearch const found = find_xor(p);
  EXPECT_EQ(found.best.excess, find_swizzle(p).best.front().excess) << "proofs: neither exists";
}

TEST(Find, EverySpellingOfTheIdentityIsOneAnswer) {
  auto const found = find_swizzle(problem("(32,32):(32,1)", 32, {"row.b32.load"}));
  EXPECT_EQ(found.best.front().swizzle, swizzle_none);
  EXPECT_EQ(std::count_if(found.best.begin(), found.best.end(),
                          [](Candidate const& c) { return c.swizzle.bits == 0; }),
            1);
}

TEST(Find, RefusesWhatItCannotSearch) {
  EXPECT_THROW((void)without_swizzle(parse_mapping("Sw<3,4,3>")), InputError);
  EXPECT_THROW((void)without_swizzle(parse_mapping("(8,64):(64,1)")), InputError) << "no element size";
  EXPECT_THROW(
      (void)find_padding(problem("(8,(8,8)):(8,(1,64))", 16, {"ld.shared.b16: row = lane%8, col = lane/8"})),
      InputError);
}

}  // namespace
}  // namespace swizproof
