// How a fix looks.
#include "report/fix.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Style const plain("never", 1);

Fix transposition() {
  Fix fix{{{0x400, 0x1400}}, 33792, 2048, 4, 64, 900, {}, {}};
  fix.swizzle = SwizzleFix{{5, 2, 5}, Swizzle{5, 0, 5}, 2048, {0x400}};
  fix.padding = PaddingFix{128, 4, 2048, 124, {0x400}};
  fix.paddings = {4, 124, 4096, {}, true};
  fix.widest_bits = 2;
  fix.address_bits = 13;
  return fix;
}

TEST(FixText, SaysWhatCuTeAndCSay) {
  EXPECT_EQ(
      describe(transposition(), plain),
      "0x400..0x1400: 33792 wavefronts, ideal 2048\n"
      "  swizzle        2048 wavefronts  Swizzle<5,2,5> of byte addresses: fn(x) = x ^ ((x >> 5) & 0x7c)\n"
      "                                  Swizzle<5,0,5> of elements of 4 bytes; also on offsets from the "
      "region's start\n"
      "  padding        2048 wavefronts  index i + i/32: 1 element of 4 bytes after each 32, i = 0 at 0x400; "
      "124 more bytes of memory\n");
}

TEST(FixText, SaysWhatMemoryASwizzleNeeds) {
  Fix fix = transposition();
  fix.swizzle->behind = 40;
  EXPECT_NE(describe(fix, plain).find("& 0x7c); reaches 40 bytes behind the region\n"), std::string::npos);
  EXPECT_NE(describe(fix, Style("never", 1, true)).find("& 0x7c); reaches 40 bytes"), std::string::npos);
}

// A sentence that nothing is better names what was searched.
TEST(FixText, SaysWhatDoesNotHelp) {
  Fix fix = transposition();
  fix.padding.reset();
  fix.swizzle->offset_starts = {0x380};
  std::string const alone = describe(fix, plain);
  EXPECT_NE(
      alone.find("  no padding helps; searched: rows of any length, counted from any address, in steps of 4 "
                 "bytes; each longer by 4 to 124 bytes, at most doubled\n"),
      std::string::npos)
      << alone;
  EXPECT_NE(alone.find("also on offsets from 0x380\n"), std::string::npos) << alone;
  fix.swizzle->offset_starts.clear();
  EXPECT_NE(describe(fix, plain).find("it costs more or leaves the region"), std::string::npos);
  fix.swizzle.reset();
  fix.paddings.all = false;
  fix.paddings.longest = 812;
  fix.paddings.longer = {1024, 4096};
  EXPECT_EQ(
      describe(fix, plain),
      "0x400..0x1400: 33792 wavefronts, ideal 2048\n"
      "  no swizzle helps; searched: all 900 Swizzle<b,m,s> with m >= 2 and b + m + |s| <= 13 (one that "
      "leaves the region's lines does not count)\n"
      "  no padding helps; searched: rows of 4 to 812, 1024, 4096 bytes, counted from any address, in steps "
      "of 4 bytes; each longer by 4 to 124 bytes, at most doubled\n"
      "  not searched: a swizzle and another pitch together\n");
  fix.paddings.longest = 0;
  EXPECT_NE(describe(fix, plain).find("searched: rows of 1024, 4096 bytes, counted"), std::string::npos);
  fix.paddings.longer.clear();
  fix.too_many = true;
  std::string const nothing = describe(fix, plain);
  EXPECT_NE(nothing.find("  swizzles searched: none: 64 different accesses are too many\n"),
            std::string::npos)
      << nothing;
  EXPECT_NE(nothing.find("  paddings searched: none: the different accesses are too many\n"),
            std::string::npos);
  fix.paddings.most = 0;
  EXPECT_NE(describe(fix, plain).find("no padding changes a bank"), std::string::npos);
}

TEST(FixText, SaysWhereRowsAreCountedFrom) {
  Fix fix = transposition();
  fix.region = {{0x400, 0x1400}, {0x2410, 0x3410}};
  fix.padding->starts = {0x400, 0x2400};
  EXPECT_NE(describe(fix, plain).find(", i = 0 at 0x400; "), std::string::npos) << "one start serves both";
  fix.padding->starts = {0x400, 0x2410}, fix.padding->moves = {0, 0x20};
  EXPECT_NE(
      describe(fix, plain).find(", i = 0 at 0x400, 0x2410 in each range, which moves by 0x0, 0x20 more; "),
      std::string::npos)
      << describe(fix, plain);
  fix.padding->starts = {0x400, 0x2410, 0x4410, 0x6420}, fix.padding->moves = {0, 0x20, 0x40, 0x60};
  EXPECT_NE(describe(fix, plain).find("i = 0 at 0x400, 0x2410, 0x4410 and 1 more in each range"),
            std::string::npos)
      << describe(fix, plain);
  EXPECT_EQ(describe(fix, plain).find("searched"), std::string::npos) << "all paddings were";
  fix.paddings.all = false;
  EXPECT_NE(describe(fix, plain).find("  paddings searched: rows of 4 to 4096 bytes, "), std::string::npos);
}

TEST(FixText, NamesTheFirstRanges) {
  std::vector<ByteRange> ranges{{0, 16}, {32, 48}, {64, 80}};
  EXPECT_EQ(describe(ranges), "0x0..0x10, 0x20..0x30, 0x40..0x50");
  ranges.push_back({96, 100});
  ranges.push_back({128, 132});
  EXPECT_EQ(describe(ranges), "0x0..0x10, 0x20..0x30, 0x40..0x50 and 2 more");
}

TEST(FixText, IsJson) {
  Fix fix = transposition();
  EXPECT_EQ(
      json_text(to_json(fix)),
      R"j({"region":[[1024,5120]],"before":33792,"ideal":2048,"swizzle":"Sw<5,2,5>","after":2048,)j"
      R"j("unit":"bytes","c":"fn(x) = x ^ ((x >> 5) & 0x7c)","on_elements":"Sw<5,0,5>","on_offsets":true,"offset_starts":[1024],"swizzle_memory":[0,0],)j"
      R"j("padding":{"pitch":128,"padding":4,"after":2048,"memory":124,"starts":[1024]},"element_bytes":4,)j"
      R"j("patterns":64,"searched":900,"too_many":false,"searched_what":"all 900 Swizzle<b,m,s> with m >= 2 and )j"
      R"j(b + m + |s| <= 13 (one that leaves the region's lines does not count)","padding_searched":{"step":4,)j"
      R"j("most":124,"longest":4096,"longer":[],"all":true,"what":"rows of any length, counted from any address, )j"
      R"j(in steps of 4 bytes; each longer by 4 to 124 bytes, at most doubled"}})j");
  fix.swizzle.reset();
  fix.padding.reset();
  std::string const none = json_text(to_json(fix));
  EXPECT_EQ(none.substr(0, none.find(",\"too_many\"")),
            R"j({"region":[[1024,5120]],"before":33792,"ideal":2048,"swizzle":null,"after":33792,)j"
            R"j("padding":null,"element_bytes":4,"patterns":64,"searched":900)j");
}

}  // namespace
}  // namespace swizproof
