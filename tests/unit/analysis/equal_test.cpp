// compare() and alignment_of(), on literals worked by hand.
#include <swizproof/analysis/align.hpp>
#include <swizproof/analysis/equal.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Equality compare(std::string_view left, std::string_view right, std::optional<unsigned> bits = {},
                 std::optional<std::uint64_t> align = {}) {
  return compare(parse_mapping(left, {bits}), parse_mapping(right, {bits}), align, {});
}
bool same(Equality const& e) { return std::holds_alternative<Proved>(e.outcome); }

TEST(Equal, FunctionsOfAllNumbers) {
  EXPECT_TRUE(same(compare("fn(x) = x ^ ((x >> 3) & 0x70)", "tma:128B")));
  EXPECT_FALSE(same(compare("tma:64B", "tma:128B")));
  EXPECT_TRUE(same(compare("Sw<0,4,3>", "Sw<0,0,0>"))) << "two spellings of the identity";
  // TileFusion's x ^ y without a mask: right only below the period.
  Equality const unmasked = compare("fn(x) = x ^ ((x >> 7) << 4)", "tma:128B");
  ASSERT_TRUE(unmasked.difference);
  EXPECT_EQ(unmasked.difference->input, 1024U);
}

TEST(Equal, NotLinearIsLeftToSmt) {
  Equality const e = compare("fn(x) = (x & ~0x70) | ((((x >> 4) & 7) ^ ((x >> 7) & 7)) * 16)", "tma:128B");
  EXPECT_TRUE(same(e));
}

TEST(Equal, BytesAndElements) {
  EXPECT_TRUE(same(compare("Sw<3,3,3>", "tma:128B", 16)));
  EXPECT_FALSE(same(compare("Sw<3,4,3>", "tma:128B", 16)));
}

TEST(Equal, TilesFromEveryBase) {
  constexpr char const* bytes = "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)";
  constexpr char const* elements = "Sw<3,3,3> o _0 o (8,64):(64,1)";
  EXPECT_TRUE(same(compare(bytes, elements)));
  Equality const low = compare(bytes, elements, {}, 128);
  ASSERT_TRUE(low.difference);
  EXPECT_EQ(low.difference->base, 128U) << "the absolute swizzle sees the base";
  EXPECT_FALSE(same(compare("(8,64):(64,1)", "(8,32):(32,1)"))) << "other sizes";
  EXPECT_TRUE(same(compare("(8,64):(64,1)", "((2,4),64):((64,128),1)")));
}

TEST(Equal, BasesAreThoseOfSharedMemory) {
  constexpr char const* plain = "(8,64):(64,1)";
  // Differ where bit 28 of an address is set, which no address of shared memory has.
  Equality const far = compare("Sw<1,4,24> o smem_ptr[16b](unset) o (8,64):(64,1)", plain, 16, 16);
  EXPECT_TRUE(same(far));
  EXPECT_TRUE(far.limited);
  EXPECT_EQ(far.domain, "indices 0..511, every base that is a multiple of 16 and below 2^24");
  // The same by trying all bases, which are 16 and not those of a period.
  EXPECT_TRUE(same(compare("Sw<1,4,24> o smem_ptr[16b](unset) o (8,64):(64,1)", plain, 16, 1 << 20)));
  // Bit 23 lies in the domain, and so does the base of the counterexample.
  Equality const near = compare("Sw<1,4,19> o smem_ptr[16b](unset) o (8,64):(64,1)", plain, 16, 16);
  ASSERT_TRUE(near.difference);
  EXPECT_EQ(near.difference->base >> 23, 1U);
  // A function without a period: the solver decides.
  Equality const unmasked =
      compare("fn(x) = x ^ (((x >> 26) & 1) << 4) ^ (x & 0 & (x * x)) o smem_ptr[16b](unset) o (8,64):(64,1)",
              plain, 16, 128);
  EXPECT_TRUE(same(unmasked));
  EXPECT_NE(unmasked.domain.find("below 2^24"), std::string::npos);
  // Large steps name larger bases: exactly the multiples of 2^28; the odd multiples set bit 28.
  Equality const asked =
      compare("Sw<1,4,24> o smem_ptr[16b](unset) o (8,64):(64,1)", plain, 16, std::uint64_t{1} << 28);
  ASSERT_TRUE(asked.difference);
  EXPECT_EQ(asked.difference->base >> 28 & 1, 1U);
  // A period is compared whole: all bases, and nothing to be said of a limit.
  EXPECT_EQ(
      compare("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "Sw<3,3,3> o _0 o (8,64):(64,1)").domain,
      "indices 0..511, every base that is a multiple of 1024");
}

TEST(Equal, AFunctionTakesThePlaceOfTheSwizzle) {
  EXPECT_TRUE(
      same(compare("fn(x) = x ^ ((x >> 3) & 0x70)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)")));
  // On a tile of 8 rows the missing mask does no harm.
  EXPECT_TRUE(
      same(compare("fn(x) = x ^ ((x >> 7 & 7) << 4)", "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)")));
}

TEST(Equal, ElementsBelowAByteAreComparedByTheirBits) {
  Equality const folded = compare("(4):(8)", "Sw<0,2,0> o smem_ptr[4b](unset) o (4):(0)");
  ASSERT_TRUE(folded.difference);
  EXPECT_EQ(folded.difference->left, 32);
  EXPECT_EQ(folded.difference->right, 0);
  EXPECT_TRUE(
      same(compare("Sw<3,5,3> o 0 o (8,256):(256,1)", "Sw<3,4,3> o smem_ptr[4b](unset) o (8,256):(256,1)")))
      << "CuTe's own pair";
  EXPECT_TRUE(same(compare("tma:128B", "gmma:K_SW128<fp4>")));
  EXPECT_TRUE(same(compare("Sw<3,5,3>", "tma:128B", 4)));
}

TEST(Equal, AFunctionKeepsTheOffsetsBelowTheSwizzle) {
  EXPECT_TRUE(same(compare("Sw<3,3,3>", "Sw<3,3,3> o 64 o (8,64):(64,1)", 16)));
  EXPECT_TRUE(same(compare("tma:128B", "Sw<3,4,3> o smem_ptr[16b](unset) o 64 o (8,64):(64,1)")));
  EXPECT_FALSE(same(compare("tma:64B", "Sw<3,4,3> o smem_ptr[16b](unset) o 64 o (8,64):(64,1)")));
  EXPECT_THROW((void)compare("Sw<3,3,3>", "Sw<3,3,3> o 0 o Sw<3,3,3> o 0 o (8,64):(64,1)", 16), InputError);
}

TEST(Equal, EveryByteOfASplitElementCounts) {
  Equality const split = compare("Sw<1,0,-1> o smem_ptr[16b](unset) o (4):(1)", "(4):(1)", 16);
  ASSERT_TRUE(split.difference) << "second bytes lie elsewhere";
  EXPECT_EQ(split.difference->bit, 8U);
}

TEST(Equal, ATileOfOneElementHasOneIndex) {
  EXPECT_TRUE(same(compare("Sw<1,0,-1> o 8 o (1,1):(-8,2)", "Sw<1,1,-1> o 8 o (1,1):(-8,2)", 8)));
}

TEST(Equal, RefusesWhatCannotBeCompared) {
  EXPECT_THROW(
      (void)compare("Sw<3,4,3> o smem_ptr[16b](unset) o 8:1", "Sw<3,4,3> o smem_ptr[32b](unset) o 8:1"),
      InputError);
}

Alignment align(std::string_view text, std::optional<unsigned> bits = {}) {
  return alignment_of(parse_mapping(text, {bits}), {});
}

TEST(Equal, LooksAtEveryByteOfAnElement) {
  // Moves even bytes alone: the second byte of each element stays.
  std::string const moved = "fn(x) = x ^ (((x & 1) ^ 1) << 3) o smem_ptr[16b](unset) o ";
  for (char const* const tile :
       {"(8,64):(64,1)", "(8192,1024):(1024,1)"}) {  // enumerated, and too large for that
    Equality const e = compare(parse_mapping(moved + tile), parse_mapping(tile, {16}), {}, {});
    ASSERT_TRUE(std::holds_alternative<Refuted>(e.outcome)) << tile;
    ASSERT_TRUE(e.difference);
    EXPECT_EQ(e.difference->bit, 0U);
  }
}

TEST(Alignment, OfTheTmaModes) {
  for (auto const& [mode, bytes] :
       {std::pair{"tma:32B", 256U}, {"tma:64B", 512U}, {"tma:128B", 1024U}, {"tma:none", 1U}}) {
    Alignment const a = align(mode);
    EXPECT_TRUE(std::holds_alternative<Proved>(a.outcome)) << mode;
    EXPECT_EQ(a.bytes, bytes) << mode;
    EXPECT_TRUE(a.also.empty());
  }
}

TEST(Alignment, OfElementSwizzlesInBytes) {
  EXPECT_EQ(align("Sw<3,3,3>", 16).bytes, 1024U);
  EXPECT_EQ(align("Sw<3,3,3> o _0 o (8,64):(64,1)", 32).bytes, 2048U);
  EXPECT_THROW((void)align("Sw<3,3,3> o _0 o (8,64):(64,1)"), InputError) << "the element size is needed";
}

TEST(Alignment, OfAShortTileIsMoreThanTheMultiples) {
  Alignment const a = align("Sw<3,4,3> o smem_ptr[16b](unset) o (1,32):(64,1)");
  EXPECT_EQ(a.bytes, 1024U);
  ASSERT_EQ(a.also.size(), 64U) << "64 bytes may start at 0..64 of the first row";
  EXPECT_EQ(a.also.back(), 64U);
}

TEST(Alignment, SeesEveryStageAndEveryOffset) {
  EXPECT_EQ(align("Sw<1,0,1> o _1 o Sw<1,0,1> o _0 o (4):(1)", 8).bytes, 4U);
  EXPECT_FALSE(align("Sw<1,0,-1> o 1 o (2):(2)", 8).holds(2)) << "x = 1: f(2+1) = 1, 2+f(1) = 5";
  EXPECT_FALSE(align("Sw<1,4,3> o smem_ptr[16b](unset) o 64 o (8):(1)").holds(16));
  EXPECT_FALSE(align("Sw<1,0,1> o 2 o (1):(1)", 16).holds(2));
}

TEST(Alignment, CountsBasesOfElementsBelowAByteInBytes) {
  Alignment const a = align("Sw<1,1,2> o 0 o (3,4):(3,-32)", 4);
  EXPECT_FALSE(a.holds(1)) << "2 elements: f(2+6) = 10, 2+f(6) = 8";
  EXPECT_EQ(align("Sw<3,4,3> o 0 o (8,6):(6,1)", 6).bytes % 3, 0U)
      << "6-bit elements start on every third byte";
}

TEST(Alignment, EndsWhereTheTileIsTooLargeToEnumerate) {
  EXPECT_TRUE(
      std::holds_alternative<Unknown>(align("Sw<1,20,1> o smem_ptr[8b](unset) o (1048576):(1)").outcome))
      << "2^22 bases; half of them are good on all 2^20 bytes";
}

TEST(Alignment, OfAFunctionThatIsNoSwizzle) {
  // 3(b + x) = b + 3x iff 2b = 0 in 64 bits.
  Alignment const a = align("fn(x) = x * 3");
  EXPECT_TRUE(std::holds_alternative<Proved>(a.outcome));
  EXPECT_EQ(a.bytes, std::uint64_t{1} << 63);
}

TEST(Equal, PointersWithAddressesAreComparedThere) {
  std::string const pointer = "Sw<3,4,3>_smem_ptr[16b]", tile = " o (8,64):(64,1)";
  std::string const unset = "Sw<3,4,3> o smem_ptr[16b](unset)" + tile;
  Equality const two = compare(pointer + "(0x80)" + tile, pointer + "(0x400)" + tile);
  EXPECT_FALSE(same(two));
  ASSERT_TRUE(two.difference);
  EXPECT_EQ(two.difference->left, 0x90);
  EXPECT_EQ(two.difference->right, 0x400);
  EXPECT_EQ(two.domain, "indices 0..511, the base 0x80 and the base 0x400");
  EXPECT_TRUE(same(compare(pointer + "(0x80)" + tile, pointer + "(0x80)" + tile)));
  EXPECT_TRUE(same(compare(pointer + "(0x80)" + tile, unset))) << "the other lies at the same address";
  EXPECT_EQ(compare(unset, pointer + "(0x80)" + tile).domain, "indices 0..511, the base 0x80");
  EXPECT_FALSE(same(compare("smem_ptr[16b](0x80)" + tile, "smem_ptr[16b](0x90)" + tile)));
  // At 0x400 the two swizzles agree on the first 64 bytes; at 0x440 they do not.
  std::string const line = " o (1,32):(32,1)", other = "Sw<2,4,3> o smem_ptr[16b](unset)" + line;
  EXPECT_TRUE(same(compare(pointer + "(0x400)" + line, other)));
  EXPECT_FALSE(same(compare(pointer + "(0x600)" + line, other)));
  EXPECT_THROW((void)compare(pointer + "(0x80)" + tile, unset, {}, 64), InputError);
}

}  // namespace
}  // namespace swizproof
