// Accesses that no thread of any launch executes.
#include "kernel_case.hpp"

namespace swizproof {
namespace {

/// True if no lane executes a column of words behind a condition in %p1.
bool never(std::string const& condition) {
  KernelAccess const a = behind(condition);
  EXPECT_EQ(a.verdict == KernelVerdict::proved, !a.executed) << condition << a.reason;
  return !a.executed;
}

TEST(KernelNever, ConditionsThatNoNumberPasses) {
  EXPECT_TRUE(never("setp.lt.s32 %p2, %r3, 0; setp.lt.and.u32 %p1, %r3, 10, %p2;"));
  EXPECT_FALSE(never("setp.lt.s32 %p2, %r3, 0; setp.lt.and.s32 %p1, %r3, 10, %p2;"));
  EXPECT_TRUE(never("setp.lt.u32 %p2, %r3, 8; shr.u32 %r6, %r3, 3; setp.ne.and.u32 %p1, %r6, 0, %p2;"));
  EXPECT_FALSE(never("setp.lt.u32 %p2, %r3, 9; shr.u32 %r6, %r3, 3; setp.ne.and.u32 %p1, %r6, 0, %p2;"));
}

// Z3 took a second and 1 GB for a hundred products.
TEST(KernelNever, OfManyProductsAnyNumberIsTried) {
  std::string products = "mov.u32 %r6, %r3;";
  for (int k = 0; k < 100; ++k) products += "mul.lo.u32 %r6, %r6, %r6; add.u32 %r6, %r6, %r3;";
  EXPECT_TRUE(
      never(products + "setp.lt.u32 %p2, %r6, 8; shr.u32 %r7, %r6, 3; setp.ne.and.u32 %p1, %r7, 0, %p2;"));
  EXPECT_FALSE(
      never(products + "setp.lt.u32 %p2, %r6, 9; shr.u32 %r7, %r6, 3; setp.ne.and.u32 %p1, %r7, 0, %p2;"));
  EXPECT_TRUE(never("mul.lo.u32 %r6, %r3, %r3; and.b32 %r6, %r6, 3; setp.eq.u32 %p1, %r6, 2;"))
      << "no square";
}

TEST(KernelNever, VotesThatDiffer) {
  std::string const votes =
      "setp.lt.u32 %p2, %r1, %r3; vote.sync.any.pred %p3, %p2, -1; vote.sync.any.pred %p4, %p";
  EXPECT_TRUE(never(votes + "2, -1; not.pred %p4, %p4; and.pred %p1, %p3, %p4;"));
  EXPECT_FALSE(
      never("setp.lt.u32 %p5, %r1, 7; " + votes + "5, -1; not.pred %p4, %p4; and.pred %p1, %p3, %p4;"));
  EXPECT_FALSE(
      never("setp.lt.u32 %p2, %r1, %r3; vote.sync.any.pred %p3, %p2, -1; @%p2 ret;\n"
            "vote.sync.any.pred %p4, %p2, -1; not.pred %p4, %p4; and.pred %p1, %p3, %p4;"))
      << "without lanes that ended";
}

TEST(KernelNever, BlocksThatNoGridHas) {
  std::string const of_y = "mov.u32 %r6, %ctaid.y; setp.ge.u32 %p1, %r6, ";
  EXPECT_TRUE(never(of_y + "65535;"));
  EXPECT_FALSE(never(of_y + "65534;"));
  for (std::string const d : {"x", "y", "z"}) {
    std::string const both = "mov.u32 %r6, %ctaid." + d + "; mov.u32 %r7, %nctaid." + d + ";";
    EXPECT_TRUE(never(both + "setp.ge.u32 %p1, %r6, %r7;"));
    EXPECT_FALSE(never(both + "add.u32 %r6, %r6, 1; setp.ge.u32 %p1, %r6, %r7;"));
  }
  EXPECT_FALSE(never("mov.u32 %r6, %ctaid.x; mov.u32 %r7, %nctaid.y; setp.ge.u32 %p1, %r6, %r7;"));
}

TEST(KernelNever, IterationsThatNoLoopHas) {
  auto const of_loop = [](std::string const& first) {
    return one("mov.u32 %r6, " + first +
               "; L: setp.ge.u32 %p1, %r6, 10; @%p1 bra X; shl.b32 %r5, %r1, 7; add.u32 %r5, %r5, %r2;\n"
               "ld.shared.u32 %r7, [%r5]; add.u32 %r6, %r6, 1; bra L; X:");
  };
  EXPECT_FALSE(of_loop("10").executed);
  EXPECT_TRUE(of_loop("9").executed);
  // Below 8 and one of ten iterations: their sum is at most 16.
  auto const of_sum = [](std::string const& least) {
    return one(
        "mov.u32 %r6, 0; L: add.u32 %r7, %r6, %r3; setp.lt.u32 %p2, %r3, 8; setp.ge.and.u32 %p1, %r7, " +
        least +
        ", %p2;\nshl.b32 %r5, %r1, 7; add.u32 %r5, %r5, %r2; @%p1 ld.shared.u32 %r8, [%r5]; "
        "add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 10; @%p3 bra L;");
  };
  EXPECT_FALSE(of_sum("17").executed);
  EXPECT_TRUE(of_sum("16").executed);
  // n / 8 iterations of fewer than 8.
  auto const of_quotient = [](std::string const& most) {
    return one(
        "setp.ge.u32 %p2, %r3, " + most +
        "; @%p2 bra X; shr.u32 %r6, %r3, 3; mov.u32 %r7, 0; L: setp.ge.u32 %p1, %r7, %r6; @%p1 bra X;\n"
        "shl.b32 %r5, %r1, 7; add.u32 %r5, %r5, %r2; ld.shared.u32 %r8, [%r5]; add.u32 %r7, %r7, 1; "
        "bra L; X:");
  };
  EXPECT_FALSE(of_quotient("8").executed);
  EXPECT_TRUE(of_quotient("9").executed);
}

}  // namespace
}  // namespace swizproof
