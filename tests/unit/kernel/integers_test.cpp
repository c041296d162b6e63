// Integer instructions that few kernels have: the number of different results in 32 lanes, by hand.
#include "kernel_case.hpp"

#include <string>

namespace swizproof {
namespace {

TEST(KernelIntegers, ResultsOfLanesAreKnown) {
  struct Row {
    std::string body;
    unsigned results;  ///< in one bank each
  };
  Row const rows[] = {
      {"mul24.lo.u32 %r4, %r1, 0x1000001;", 32},  // its 24 low bits are 1
      {"mul24.hi.s32 %r4, %r1, 0x8000;", 16},     // lane / 2
      {"mad24.lo.s32 %r4, %r1, 0xffffff, 31;", 32},
      {"and.b32 %r8, %r1, 1; bfe.u32 %r4, %r1, %r8, 5;", 24},  // lane, or lane / 2 of odd ones
      {"bfe.s32 %r4, %r1, 1, %r1;", 16},                       // with the sign of its last bit
      {"shl.b32 %r8, %r1, 31; mov.u32 %r9, 16; bfe.s32 %r4, %r8, 30, %r9; and.b32 %r4, %r4, 16;",
       2},                                 // the sign is bit 31
      {"bfi.b32 %r4, 0, 31, 0, %r1;", 6},  // lane zeros in 31
      {"bfind.u32 %r4, %r1;", 6},          // -1 to 4
      {"bfind.shiftamt.s32 %r4, %r1;", 6},
      {"cnot.b32 %r4, %r1;", 2},
      {"sad.u32 %r4, %r1, 16, 0;", 17},
      {"bmsk.clamp.b32 %r4, 0, %r1; and.b32 %r4, %r4, 1023;", 11},
      {"bmsk.wrap.b32 %r4, 32, %r1; and.b32 %r4, %r4, 1023;", 11},
      {"szext.wrap.s32 %r4, %r1, 35;", 8},
      {"szext.clamp.u32 %r4, %r1, 35;", 32},
      {"add.cc.u32 %r8, %r1, 0xfffffff0; addc.u32 %r4, 0, 0;", 2},
      {"sub.cc.u32 %r8, %r1, 5; subc.u32 %r4, 0, 0;", 2},
      {"add.cc.u32 %r8, -1, 1; addc.cc.u32 %r8, %r1, -1; addc.u32 %r4, 0, 0; mul.lo.u32 %r4, %r1, %r4;", 32},
      {"add.sat.s32 %r4, %r1, 0x7ffffff0; sub.s32 %r4, %r4, 0x7ffffff0;", 16},
      {"sub.s32 %r8, %r1, 8; slct.b32.s32 %r4, %r1, 0, %r8;", 25},
      {"dp4a.u32.s32 %r4, %r1, 0xff, 0;", 32},
      {"dp2a.hi.u32.u32 %r4, %r1, 0x20000, 7;", 32},
      {"set.lt.u32.s32 %r4, %r1, 5; and.b32 %r4, %r4, 3;", 2},
      {"and.b32 %r8, %r1, 1; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, 0x4440; prmt.b32 %r4, %r1, 0, %r8;", 16},
      {"prmt.b32.rc8 %r4, %r1, 0, 1;", 1},
      {"prmt.b32.ecl %r4, 0x03020100, 0x07060504, %r1; and.b32 %r4, %r4, 15;", 4},
  };
  for (Row const& row : rows) {
    KernelAccess const a = load_at("and.b32 %r1, %r1, 31; " + row.body + " shl.b32 %r4, %r4, 5;");
    EXPECT_EQ(a.wavefronts, row.results) << row.body << ": " << a.reason;
    EXPECT_NE(a.verdict, KernelVerdict::unknown) << row.body;
  }
}

/// The signed remainder of n * 128 + 4 * tid by 128, as compilers write it: the sign is that of n.
TEST(KernelIntegers, ASignedRemainderOfAMultipleAndALaneIsThatOfTheLane) {
  auto const remainder = [](std::string const& shift) {
    return one("and.b32 %r9, %r1, 31; shl.b32 %r9, %r9, 2; shl.b32 %r6, %r3, " + shift +
               "; add.s32 %r6, %r6, %r9; shr.s32 %r7, %r6, 31; shr.u32 %r7, %r7, 25; add.s32 %r8, %r6, %r7;\n"
               "and.b32 %r8, %r8, -128; sub.s32 %r8, %r6, %r8; shl.b32 %r8, %r8, 2; add.s32 %r8, %r8, %r2;\n"
               "add.s32 %r8, %r8, 512; ld.shared.u32 %r5, [%r8];");
  };
  EXPECT_EQ(remainder("7").wavefronts, 4U);
  EXPECT_NE(remainder("6").verdict, KernelVerdict::proved);
}

TEST(KernelIntegers, AShuffleGivesWhatASelectChoosesInItsSource) {
  auto const of_lane = [](std::string const& source) {
    return one("setp.lt.u32 %p1, %r1, 2; selp.b32 %r6, 2, %r1, %p1; shfl.sync.idx.b32 %r7, %r6, " + source +
                   ", 31, -1; mul.lo.u32 %r8, %r7, %r1; shl.b32 %r8, %r8, 2; add.u32 %r8, %r8, %r2; "
                   "st.shared.u32 [%r8], %r1;",
               {.block = {{32, 1, 1}}})
        .wavefronts;
  };
  EXPECT_EQ(of_lane("1"), 2U);
  EXPECT_EQ(of_lane("4"), 4U);
}

TEST(KernelIntegers, ACarryIsThatOfLanesThatWroteIt) {
  // Lanes from 16 on carry; the guard leaves the flag of those from 24 on as it was: lane * carry is 0 and 16 to 23.
  std::string const guarded =
      "and.b32 %r1, %r1, 31; add.cc.u32 %r8, 0, 0; setp.lt.u32 %p1, %r1, 24;\n@%p1 add.cc.u32 %r8, %r1, "
      "0xfffffff0; addc.u32 %r4, 0, 0; mul.lo.u32 %r4, %r1, %r4; shl.b32 %r4, %r4, 5;";
  EXPECT_EQ(load_at(guarded).wavefronts, 9U);
  EXPECT_EQ(load_at("mad.lo.cc.u32 %r8, %r1, 3, 1; madc.lo.u32 %r4, %r1, 32, 0;").wavefronts, 32U);
  EXPECT_EQ(load_at("sub.cc.u32 %r8, %r1, 3; addc.u32 %r4, 0, 0; mul.lo.u32 %r4, %r4, %r1;").verdict,
            KernelVerdict::unknown)
      << "PTX has a borrow there, the tests of ZLUDA its inverse";
}

}  // namespace
}  // namespace swizproof
