// Values that lanes take from each other.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace swizproof {
namespace {

TEST(Kernel, APredicateOfAShuffleIsThatItsLaneLiesWithinTheSegment) {
  struct Case {
    char const* shuffle;
    unsigned lanes;
  };
  for (Case const& c :
       {Case{"up.b32 %r6|%p1, %r1, 4, 0", 28}, Case{"down.b32 %r6|%p1, %r1, 4, 31", 28},
        Case{"down.b32 %r6|%p1, %r1, 3, 0x181f", 20}, Case{"up.b32 %r6|%p1, %r1, 3, 0x1800", 20},
        Case{"bfly.b32 %r6|%p1, %r1, 16, 15", 16}, Case{"idx.b32 %r6|%p1, %r1, 9, 8", 0},
        Case{"idx.b32 %r6|%p1, %r1, 5, 31", 32}, Case{"idx.b32 %r6|%p1, %r1, 13, 0x1804", 0}}) {
    KernelAccess const a = behind(std::string("shfl.sync.") + c.shuffle + ", -1;");
    EXPECT_EQ(a.wavefronts, c.lanes) << c.shuffle << ": " << a.reason;
    EXPECT_TRUE(a.reached || c.lanes == 0) << c.shuffle;
  }
}

// Rows of 128 bytes: a lane that reads lane 31's row number finds it in its own warp, or nothing that is known.
TEST(Kernel, AShuffleFromALaneThatDoesNotExecuteItGivesAnyValue) {
  auto const after = [](std::string const& shuffle, std::uint32_t threads, std::string const& before = "") {
    return one(before + shuffle + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];",
               {.block = std::array<std::uint32_t, 3>{threads, 1, 1}});
  };
  std::string const last = "shfl.sync.idx.b32 %r4, %r1, 31, 31, -1;",
                    up = "shfl.sync.up.b32 %r4, %r1, 1, 0, -1;",
                    down = "shfl.sync.down.b32 %r4, %r1, 1, 31, -1;";
  EXPECT_EQ(after(last, 64).wavefronts, 1U);
  EXPECT_EQ(after(last, 64).verdict, KernelVerdict::proved);
  EXPECT_NE(after(last, 40).verdict, KernelVerdict::proved) << "the second warp has no lane 31";
  EXPECT_EQ(after(up, 40).verdict, KernelVerdict::proved);
  EXPECT_NE(after(down, 40).verdict, KernelVerdict::proved) << "lane 7 of the second warp reads lane 8";
  std::string const ends = "setp.ge.u32 %p1, %r1, 20; @%p1 bra out; ", out = " out: ";
  EXPECT_NE(
      decided(ends + down + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved)
      << "lane 19 reads lane 20, which has left";
  EXPECT_EQ(
      decided(ends + up + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved);
  std::string const uniform = "setp.ge.u32 %p1, %r3, 20; @%p1 bra out; ";
  EXPECT_EQ(
      decided(uniform + down + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved)
      << "all lanes execute it, or none";
}

// The lanes of the mask execute a shuffle: what shows that they do not is kept, what is not known is assumed, and named.
TEST(Kernel, AShuffleWhoseSourceIsNotKnownToExecuteItIsAssumedToReadIt) {
  std::string const load =
                        "ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; "
                        "ld.global.u32 %r9, [%rd1]; setp.lt.s32 %p1, %r9, 0; ",
                    rest =
                        "shfl.sync.idx.b32 %r4, %r1, 3, 31, -1; shl.b32 %r5, %r4, 2; "
                        "add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5]; ";
  std::vector<std::string> const named{"shfl from a lane that is not known to execute it"};
  KernelReport const data = report_of(load + "@%p1 bra out; " + rest + "out: ");
  EXPECT_EQ(data.accesses.at(0).verdict, KernelVerdict::proved) << data.accesses.at(0).reason;
  EXPECT_EQ(data.accesses.at(0).wavefronts, 1U);
  EXPECT_EQ(data.assumed, named);
  // Runs in which a lane is not there show nothing: any value would be 32 rows.
  KernelReport const rows =
      report_of(load +
                "@%p1 bra out; shfl.sync.idx.b32 %r4, %r1, 3, 31, -1; and.b32 %r4, %r4, 63; "
                "shl.b32 %r5, %r4, 7; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5]; "
                "out: ");
  EXPECT_EQ(rows.accesses.at(0).wavefronts, 1U);
  EXPECT_EQ(rows.assumed, named);
  KernelReport const all = report_of(rest);
  EXPECT_EQ(all.accesses.at(0).verdict, KernelVerdict::proved);
  EXPECT_TRUE(all.assumed.empty()) << "all lanes execute it";
  // The last lanes end by their number, with any data.
  for (std::string const ends :
       {"setp.ge.u32 %p1, %r1, %r3; @%p1 bra out; ", "setp.ge.or.u32 %p1, %r1, %r3, %p1; @%p1 bra out; "}) {
    KernelReport const r = report_of(load + ends + rest + "out: ");
    EXPECT_NE(r.accesses.at(0).verdict, KernelVerdict::proved) << ends;
    EXPECT_TRUE(r.assumed.empty()) << ends;
  }
  KernelReport const counted = report_of(
      "mov.u32 %r9, 0;\nM: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r1; @%p2 bra M; "
      "setp.gt.u32 %p1, %r9, 20; @%p1 bra out; " +
      rest + "out: ");
  EXPECT_NE(counted.accesses.at(0).verdict, KernelVerdict::proved) << "each lane counts to its number";
  EXPECT_TRUE(counted.assumed.empty());
  KernelReport const kept = report_of(
      "setp.ge.u32 %p2, %r1, %r3; selp.b32 %r8, 1, 0, %p2; setp.eq.u32 %p1, %r8, 1; @%p1 bra out; " + rest +
      "out: ");
  EXPECT_NE(kept.accesses.at(0).verdict, KernelVerdict::proved) << "the comparison is kept in a register";
  EXPECT_TRUE(kept.assumed.empty());
  // The shuffle counts only where a parameter has been assumed to choose.
  KernelReport const chosen = report_of(
      load +
      "@%p1 bra out; shfl.sync.idx.b32 %r4, %r1, 3, 31, -1; and.b32 %r4, %r4, 63; shl.b32 %r5, %r4, 7; "
      "setp.gt.u32 %p3, %r3, 9; shl.b32 %r7, %r1, 3; selp.b32 %r8, %r7, %r1, %p3; setp.lt.u32 %p4, %r8, 512; "
      "selp.b32 %r5, %r5, 0, %p4; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5]; out: ");
  EXPECT_EQ(chosen.accesses.at(0).wavefronts, 1U);
  EXPECT_EQ(chosen.assumed, named);
  KernelReport const loop = report_of("L: " + load + rest + "@%p1 bra L; ");
  EXPECT_EQ(loop.accesses.at(0).verdict, KernelVerdict::proved) << loop.accesses.at(0).reason;
  EXPECT_EQ(loop.assumed, named);
}

TEST(Kernel, AShuffleBehindAnExitOfALoopReadsLanesThatLeaveByIt) {
  auto const behind_exit = [](std::string const& leaves) {
    return report_of(
        "ld.param.u64 %rd1, [g]; mov.u32 %r20, 0;\n"
        "L: add.u32 %r20, %r20, 1; ld.global.u32 %r9, [%rd1];\n" +
        leaves +
        " setp.gt.u32 %p8, %r20, 3; @%p8 bra out; bra L;\n"
        "A: shfl.sync.idx.b32 %r4, %r1, 3, 31, -1; shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; "
        "ld.shared.u32 %r6, [%r5];\nout: ");
  };
  KernelReport const together = behind_exit("setp.eq.u32 %p7, %r9, %r20; @%p7 bra A;");
  EXPECT_EQ(together.accesses.at(0).verdict, KernelVerdict::proved) << together.accesses.at(0).reason;
  EXPECT_EQ(together.accesses.at(0).wavefronts, 1U);
  EXPECT_TRUE(together.assumed.empty());
  KernelReport const apart = behind_exit("setp.le.u32 %p7, %r1, %r20; @%p7 bra A;");
  EXPECT_NE(apart.accesses.at(0).verdict, KernelVerdict::proved) << "lane 0 leaves first";
  KernelReport const ends =
      behind_exit("setp.ge.u32 %p6, %r1, 20; @%p6 ret; setp.eq.u32 %p7, %r9, %r20; @%p7 bra A;");
  EXPECT_NE(ends.accesses.at(0).verdict, KernelVerdict::proved) << "lanes end in the loop";
}

// Loops within loops, each left behind shuffles of registers that the others change. A loop that failed is not tried again for each of the
// others, with which five loops took 2.9 GB, and ten more than 3 GB.
TEST(Kernel, LoopsWhoseShufflesDependOnEachOtherEnd) {
  constexpr unsigned loops = 12, registers = 4;
  auto const name = [](unsigned r) { return "%r" + std::to_string(10 + r % registers); };
  std::string body = "mov.u32 %r10, %r1; mov.u32 %r11, 1; mov.u32 %r12, 2; mov.u32 %r13, 3;\n";
  for (unsigned l = 0; l < loops; ++l) {
    body += "L" + std::to_string(l) + ":\n";
    for (unsigned r = 0; r < registers; ++r)
      body += "shfl.sync.down.b32 " + name(r) + ", " + name(r + 1) + ", 1, 31, -1; setp.eq.u32 %p1, " +
              name(r) + ", " + name(r + 2) + "; @%p1 bra X" + std::to_string(l) + ";\n";
  }
  for (unsigned l = loops; l-- > 0;)
    body += "setp.lt.u32 %p2, " + name(l) + ", %r3; @%p2 bra L" + std::to_string(l) + ";\nX" +
            std::to_string(l) + ":\n";
  KernelAccess const a = one(body + "shl.b32 %r5, %r10, 2; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;");
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.wavefronts, 32U);
}

}  // namespace
}  // namespace swizproof
