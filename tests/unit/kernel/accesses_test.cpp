// Rounds of steps, and answers for all warps of a block.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace swizproof {
namespace {

/// ptxas makes loads and stores of tensormap.replace in shared memory: the answer names them.
TEST(Kernel, TensorMapsInSharedMemoryAreAssumed) {
  std::string const store = "shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r2; st.shared.u32 [%r4], %r1;\n";
  auto const rests_on = [&](std::string const& space) {
    return report_of(store + "cvt.u64.u32 %rd2, %r2;\ntensormap.replace.tile.rank." + space +
                     ".b1024.b32 [%rd2], 1;")
        .rests_on;
  };
  EXPECT_EQ(rests_on("shared::cta"),
            std::vector<std::string>{
                "ptxas makes loads and stores of one wavefront of tensormap on shared memory (PTX 12)"});
  EXPECT_TRUE(rests_on("global").empty());
}

TEST(Kernel, WarpsThatDifferAreDecidedEach) {
  KernelOptions const eight{.block = std::array<std::uint32_t, 3>{256, 1, 1}};
  // `%r4` is the word; `%r6` the warp.
  auto const at_word = [&](std::string const& word, std::string const& access = "ld.shared.u32 %r5, [%r4];") {
    return one("shr.u32 %r6, %r1, 5; " + word + " shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; " + access,
               eight);
  };
  KernelAccess const alike = at_word("mov.u32 %r4, %r1;");
  EXPECT_EQ(alike.verdict, KernelVerdict::proved);
  EXPECT_TRUE(alike.reached);
  EXPECT_EQ(alike.aligned, true);
  EXPECT_EQ(alike.in_bounds, true);
  EXPECT_EQ(alike.layout, "32:4");
  // Warp 5 alone at each other word.
  KernelAccess const fifth =
      at_word("setp.eq.u32 %p1, %r6, 5; selp.u32 %r7, 1, 0, %p1; shl.b32 %r4, %r1, %r7;");
  EXPECT_EQ(fifth.verdict, KernelVerdict::refuted) << fifth.reason;
  EXPECT_EQ(fifth.wavefronts, 2U);
  EXPECT_EQ(fifth.worst->warp, 5U);
  // Odd warps have their words in another order: no layout is that of all.
  KernelAccess const order = at_word(
      "and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 1; xor.b32 %r8, %r1, 5; selp.b32 %r4, %r8, %r1, %p1;");
  EXPECT_EQ(order.verdict, KernelVerdict::proved) << order.reason;
  EXPECT_NE(order.layout, "32:4");
  // The last warp leaves 8 KiB, or is misaligned.
  KernelAccess const outside = at_word("mad.lo.u32 %r4, %r6, 288, %r1;");
  EXPECT_EQ(outside.in_bounds, false) << outside.bounds_reason;
  EXPECT_EQ(at_word("mad.lo.u32 %r4, %r6, 256, %r1;").in_bounds, true);
  KernelAccess const odd =
      at_word("mov.u32 %r4, %r1;", "shr.u32 %r7, %r6, 2; add.s32 %r4, %r4, %r7; ld.shared.u32 %r5, [%r4];");
  EXPECT_EQ(odd.aligned, false);
  EXPECT_EQ(odd.verdict, KernelVerdict::refuted);
  // So do those of loaded words, and of a stride that is not known.
  std::string const loaded = "ld.param.u64 %rd1, [g]; ld.global.u32 %r7, [%rd1]; and.b32 %r7, %r7, 15; ";
  KernelAccess const data = at_word(loaded + "mul.lo.u32 %r4, %r7, %r1;");
  EXPECT_NE(data.in_bounds, true) << "in the first warp alone";
  EXPECT_EQ(data.aligned, true);
  KernelAccess const few = at_word(loaded + "and.b32 %r7, %r7, 7; mul.lo.u32 %r4, %r7, %r1;");
  EXPECT_EQ(few.in_bounds, true) << few.bounds_reason;
  std::string const upper = "shr.u32 %r8, %r6, 2; add.s32 %r4, %r4, %r8; ";  // bytes
  EXPECT_NE(at_word(loaded + "mul.lo.u32 %r4, %r7, %r1;", upper + "ld.shared.u32 %r5, [%r4];").aligned, true);
  KernelAccess const strided = at_word("mul.lo.u32 %r4, %r1, %r3;", upper + "st.shared.u32 [%r4], %r1;");
  EXPECT_EQ(strided.wavefronts, 32U);
  EXPECT_NE(strided.aligned, true);
  // Some warps at 4 n l words, the others at n l.
  for (std::string const fours : {"setp.gt.u32 %p1, %r6, 3; ", "setp.lt.u32 %p1, %r6, 6; "}) {
    KernelAccess const by_n = at_word(fours +
                                      "and.b32 %r4, %r1, 31; mul.lo.s32 %r4, %r4, %r3; shl.b32 %r8, %r4, 2; "
                                      "selp.b32 %r4, %r8, %r4, %p1;");
    ASSERT_TRUE(by_n.function) << by_n.reason;
    EXPECT_EQ(by_n.function->at_most, (std::vector<unsigned>{32, 4, 8, 4, 16, 4, 8, 4})) << fours;
  }
}

TEST(Kernel, AnAccessOfManyStepsLeavesSomeForTheOthers) {
  std::string const many =
      "ld.param.u32 %r6, [g]; mul.lo.u32 %r4, %r1, %r3; xor.b32 %r7, %r1, 5; mul.lo.u32 %r7, "
      "%r7, %r6; add.u32 %r4, %r4, %r7; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; "
      "st.shared.u32 [%r4], %r1; ";
  KernelOptions few;
  few.steps = 300;
  auto const both = decided(
      many + "xor.b32 %r5, %r1, 3; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;",
      few);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].lanes_reason, "the limit of 300 steps for one kernel");
  EXPECT_EQ(both[1].verdict, KernelVerdict::proved) << both[1].reason;
  // The first one waits, and gets the rest.
  few.steps = 40000;
  EXPECT_EQ(one(many, few).lanes_reason.find("limit"), std::string::npos);
}

}  // namespace
}  // namespace swizproof
