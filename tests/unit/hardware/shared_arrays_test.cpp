// H18: arrays one behind the other, to the byte.
#include <swizproof/hardware/shared_arrays.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

// float a[33], b[64] of .align 1024, double c[3]: what an H100 gave.
TEST(SharedArrays, EachLiesAtItsAlignmentBehindTheOneBefore) {
  SharedArrays arrays(0x400);
  EXPECT_EQ(arrays.place(4, 132), 0x400U);
  EXPECT_EQ(arrays.place(1024, 256), 0x800U);
  EXPECT_EQ(arrays.place(8, 24), 0x900U);
  EXPECT_EQ(arrays.place_dynamic(1), 0x920U);
}

TEST(SharedArrays, DynamicMemoryIsAtAMultipleOf16) {
  SharedArrays odd(0x400), none(0x400);
  EXPECT_EQ(odd.place(1, 1), 0x400U);
  EXPECT_EQ(odd.place_dynamic(4), 0x410U);
  EXPECT_EQ(none.place_dynamic(1024), 0x400U);
}

// Two extern arrays may lie at two addresses.
TEST(SharedArrays, ExternArraysLieBehindEachOther) {
  SharedArrays arrays(0x400);
  EXPECT_EQ(arrays.place(4, 8), 0x400U);
  EXPECT_EQ(arrays.place_dynamic(512), 0x600U);
  EXPECT_EQ(arrays.place_dynamic(16), 0x600U);
  EXPECT_EQ(arrays.place_dynamic(1024), 0x800U);
}

// An alignment above that of the first address is one of the distance from it.
TEST(SharedArrays, AlignmentCountsFromTheFirst) {
  SharedArrays arrays(0x400);
  EXPECT_EQ(arrays.place(4, 132), 0x400U);
  EXPECT_EQ(arrays.place(4096, 256), 0x1400U);
}

}  // namespace
}  // namespace swizproof
