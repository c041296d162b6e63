// How a fix looks.
#include "report/fix.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

Style const plain("never", 1);

Fix transposition() {
  Fix fix{{{0x400, 0x1400}}, 33792, 2048, 4, 64, 900, {}, {}};
  fix.swizzle = SwizzleFix{{5, 2, 5}, Swizzle{5, 0, 5}, 2048, true};
  fix.padding = PaddingFix{128, 4, 2048, 124};
  return fix;
}

TEST(FixText, SaysWhatCuTeAndCSay) {
  EXPECT_EQ(
      describe(transposition(), plain),
      "0x400..0x1400: 33792 wavefronts, ideal 2048\n"
      "  swizzle        2048 wavefronts  Swizzle<5,2,5> of byte addresses: fn(x) = x ^ ((x >> 5) & 0x7c)\n"
      "                                  Swizzle<5,0,5> of elements of 4 bytes; also on offsets from the "
      "region's start\n"
      "  padding        2048 wavefronts  rows of 33 elements of 4 bytes instead of 32; 124 bytes of "
      "memory more\n");
}

TEST(FixText, SaysWhatDoesNotHelp) {
  Fix fix = transposition();
  fix.padding.reset();
  fix.swizzle->on_offsets = false;
  std::string const alone = describe(fix, plain);
  EXPECT_NE(alone.find("no padding of rows helps\n"), std::string::npos) << alone;
  EXPECT_NE(alone.find("it costs more or leaves the region"), std::string::npos) << alone;
  fix.swizzle.reset();
  EXPECT_EQ(describe(fix, plain),
            "0x400..0x1400: 33792 wavefronts, ideal 2048\n  nothing helps: none of 900 swizzles, and no "
            "padding of rows\n");
  fix.searched = 0;
  EXPECT_NE(describe(fix, plain).find("no swizzle was searched: 64 different"), std::string::npos);
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
      R"j("unit":"bytes","c":"fn(x) = x ^ ((x >> 5) & 0x7c)","on_elements":"Sw<5,0,5>","on_offsets":true,)j"
      R"j("padding":{"pitch":128,"padding":4,"after":2048,"memory":124},"element_bytes":4,)j"
      R"j("patterns":64,"searched":900})j");
  fix.swizzle.reset();
  fix.padding.reset();
  EXPECT_EQ(json_text(to_json(fix)),
            R"j({"region":[[1024,5120]],"before":33792,"ideal":2048,"swizzle":null,"after":33792,)j"
            R"j("padding":null,"element_bytes":4,"patterns":64,"searched":900})j");
}

}  // namespace
}  // namespace swizproof
