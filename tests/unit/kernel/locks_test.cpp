// Loops that lanes leave one by one.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace swizproof {
namespace {

constexpr char const* column =  ///< a load of 32 words in one bank
    "shl.b32 %r9, %r1, 7; add.u32 %r9, %r9, %r2;\nld.shared.u32 %r10, [%r9];\n";

/// Decides the load of `column` between these lines; %r5 is the address of `locks`, %r6 that of the thread's own word there, and %rd1 is g.
KernelAccess held(std::string const& before, std::string const& behind, std::string const& between = "") {
  auto const all = decided(
      ".shared .align 4 .b8 locks[512]; mov.u32 %r5, locks; shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r5; "
      "ld.param.u64 %rd1, [g];\n" +
      before + between + column + behind);
  for (KernelAccess const& a : all)
    if (a.op == "ld.shared.u32") return a;
  return {};
}

/// Takes a lock by a compare-and-swap.
std::string taken(std::string const& lock, std::string const& space = "shared") {
  return "L: atom." + space + ".cas.b32 %r7, [" + lock + "], 0, 1;\nsetp.ne.u32 %p1, %r7, 0;\n@%p1 bra L;\n";
}
std::string given_back(std::string const& lock, std::string const& space = "shared") {
  return "membar.gl;\natom." + space + ".exch.b32 %r8, [" + lock + "], 0;\n";
}

constexpr char const* one_by_one =
    "lanes leave the loop at PTX line 11 one by one: which of them execute it together is not known";

TEST(KernelLocks, LanesThatHoldOneLockAreNotTogether) {
  KernelAccess const a = held(taken("%r5"), given_back("%r5"));
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_FALSE(a.reached);
  EXPECT_EQ(a.reason, one_by_one);
  EXPECT_FALSE(a.executions);
  EXPECT_EQ(held(taken("%rd1", "global"), given_back("%rd1", "global")).reason, one_by_one);
  EXPECT_EQ(held(taken("%rd1", "global"), "st.volatile.global.u32 [%rd1], 0;").reason, one_by_one);
  EXPECT_EQ(held(taken("%r5"), "st.shared.u32 [%r5], 0;").reason, one_by_one);
  std::string const groups = "shr.u32 %r11, %r1, 3; shl.b32 %r11, %r11, 2; add.u32 %r11, %r11, %r5;\n";
  EXPECT_EQ(held(groups + taken("%r11"), given_back("%r11")).verdict, KernelVerdict::unknown)
      << "one of 8 lanes";
  // The compiler takes the first iteration out of the loop.
  std::string const peeled = "atom.shared.cas.b32 %r7, [%r5], 0, 1;\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra X;\n";
  EXPECT_EQ(held(peeled + taken("%r5") + "X:\n", given_back("%r5")).verdict, KernelVerdict::unknown);
  // A loop in it whose length is data.
  KernelAccess const inner =
      held("ld.global.u32 %r11, [%rd1]; mov.u32 %r12, 0;\n" + taken("%r5"),
           "add.u32 %r12, %r12, 1; setp.lt.u32 %p2, %r12, %r11; @%p2 bra IN;\n" + given_back("%r5"), "IN:\n");
  EXPECT_EQ(inner.verdict, KernelVerdict::unknown) << inner.reason;
}

TEST(KernelLocks, LanesThatTakeTurnsAreNotTogether) {
  auto const turns = [](std::string const& load) {
    return held("L: " + load + " %r7, [%r5];\nsetp.ne.u32 %p1, %r7, %r1;\n@%p1 bra L;\n",
                "add.u32 %r7, %r7, 1; st.volatile.shared.u32 [%r5], %r7;");
  };
  EXPECT_EQ(turns("ld.volatile.shared.u32").verdict, KernelVerdict::unknown);
  EXPECT_EQ(turns("ld.acquire.cta.shared.u32").verdict, KernelVerdict::unknown);
  EXPECT_EQ(held("atom.shared.add.u32 %r12, [%r5+4], 1;\nL: ld.volatile.shared.u32 %r7, [%r5];\nsetp.ne.u32 "
                 "%p1, %r7, %r12;\n@%p1 bra L;\n",
                 "atom.shared.add.u32 %r12, [%r5], 1;")
                .verdict,
            KernelVerdict::unknown);
}

TEST(KernelLocks, LanesThatMayBeTogetherAreRefuted) {
  auto const refuted = [](std::string const& before, std::string const& behind,
                          std::string const& between = "") {
    KernelAccess const a = held(before, behind, between);
    EXPECT_EQ(a.verdict, KernelVerdict::refuted) << before << between << behind << a.reason;
  };
  refuted(taken("%r6"), given_back("%r6"));  // each lane has its own
  refuted(taken("%r5"), given_back("%r5"), given_back("%r5") + "bar.sync 0;\n");
  refuted(taken("%r5"), "", given_back("%r5") + "bar.warp.sync -1;\n");
  refuted("setp.ne.u32 %p2, %r1, 0;\n@%p2 bra OVER;\n" + taken("%r5") + given_back("%r5") + "OVER: ", "");
  // Data decide which lock a lane takes.
  refuted(
      "mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r11, [%rd2];\nand.b32 %r11, %r11, 124; add.u32 %r11, "
      "%r11, %r5;\n" +
          taken("%r11"),
      given_back("%r11"));
  // No lane waits for what is behind these loops.
  refuted(
      "ld.global.u32 %r11, [%rd1]; mov.u32 %r12, 0;\nL: add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, "
      "%r11;\n@%p1 bra L;\n",
      "st.global.u32 [%rd1], %r12;");
  refuted("L: ld.volatile.shared.u32 %r7, [%r5];\nsetp.eq.u32 %p1, %r7, 0;\n@%p1 bra L;\n",
          "st.volatile.shared.u32 [%r5], 0;");
  refuted("L: atom.global.add.u32 %r7, [%rd1], 1;\nsetp.lt.u32 %p1, %r7, %r3;\n@%p1 bra L;\n", "");
  // A sum by compare-and-swap.
  refuted(
      "mov.u32 %r7, 0;\nL: mov.u32 %r11, %r7; add.u32 %r12, %r11, 3;\natom.shared.cas.b32 %r7, [%r5], %r11, "
      "%r12;\nsetp.ne.u32 %p1, %r7, %r11;\n@%p1 bra L;\n",
      "atom.shared.add.u32 %r7, [%r5], 1;");
  refuted(
      "L: ld.volatile.shared.u32 %r11, [%r5];\nadd.u32 %r12, %r11, 3;\natom.shared.cas.b32 %r7, [%r5], %r11, "
      "%r12;\nsetp.ne.u32 %p1, %r7, %r11;\n@%p1 bra L;\n",
      "atom.shared.add.u32 %r7, [%r5], 1;");
}

TEST(KernelLocks, ALaneAloneStillHasItsFaults) {
  auto const all = decided(".shared .align 4 .b8 locks[512]; mov.u32 %r5, locks;\n" + taken("%r5") +
                           "mad.lo.u32 %r9, %r1, 256, %r2; st.shared.u32 [%r9], %r1;\n" + given_back("%r5"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].in_bounds, false);
  EXPECT_EQ(all[1].verdict, KernelVerdict::refuted);
}

}  // namespace
}  // namespace swizproof
