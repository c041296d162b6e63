// Executions that runs on numbers find (src/execution/runs.hpp), where no closed form gives them.
#include "kernel_case.hpp"

namespace swizproof {
namespace {

using Values = std::vector<std::pair<std::string, std::uint64_t>>;

/// A loop that is left at two places: which lanes execute what follows is not known in closed form.
constexpr char two_exits[] =
    "mov.u32 %r20, 0;\n"
    "LOOP: add.u32 %r20, %r20, 1; setp.eq.u32 %p7, %r20, %r3; @%p7 bra OUT;\n"
    "setp.gt.u32 %p8, %r20, 3; @%p8 bra OUT;\n"
    "bra LOOP;\n"
    "OUT:\n";
/// Behind it, what is executed is seen by runs alone: g is a number that the loop gives.
std::string by_runs_alone() {
  return "ld.param.u32 %r16, [g];\n" + std::string(two_exits) +
         "add.u32 %r17, %r20, 777000; setp.ne.u32 %p1, %r16, %r17; @%p1 ret;\n";
}
constexpr char column_reads[] = "shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;";

TEST(KernelRuns, FindWhatIsExecutedAfterALoopOfTwoExits) {
  KernelAccess const a = one(std::string(two_exits) + column_reads);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_TRUE(a.reached);
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.seen, 0U);
}

TEST(KernelRuns, GoOnWhereTheSidesOfABranchOnDataMeet) {
  std::string const sides =
      "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; mov.u32 %r7, 128; setp.eq.u32 %p2, %r6, 0;\n"
      "@%p2 bra SAME; mov.u32 %r7, 4; SAME:\n";
  EXPECT_TRUE(one(sides + two_exits + column_reads).reached);
  // A register that a side has written is not known.
  KernelAccess const a = one(sides + two_exits + "mad.lo.u32 %r5, %r1, %r7, %r2; st.shared.u32 [%r5], %r1;");
  EXPECT_NE(a.verdict, KernelVerdict::refuted) << a.reason;
  // Lanes that may end on one side are not known to go on.
  EXPECT_NE(one("ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; setp.eq.u32 %p2, %r6, 0; @%p2 ret;\n" +
                std::string(two_exits) + column_reads)
                .verdict,
            KernelVerdict::refuted);
}

TEST(KernelRuns, AreALowerBoundOfAnAccessThatDependsOnData) {
  // Lanes 0 to 15 read a column; the others anywhere in the tile.
  KernelAccess const a = one(
      "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; and.b32 %r6, %r6, 4092; and.b32 %r7, %r1, 31;\n"
      "setp.lt.u32 %p1, %r7, 16; shl.b32 %r5, %r7, 7; selp.b32 %r5, %r5, %r6, %p1; add.s32 %r5, %r5, %r2;\n"
      "ld.shared.u32 %r8, [%r5];");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_EQ(a.seen, 16U);
  EXPECT_FALSE(a.reached);
  EXPECT_EQ(a.wavefronts, 32U);
  ASSERT_TRUE(a.worst);
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(a.worst->lanes.active[l], l < 16) << l;
  // Sixteen wavefronts do not refute a limit of 16.
  KernelOptions options;
  options.at_most = 16;
  EXPECT_EQ(
      one("ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1]; and.b32 %r6, %r6, 4092; and.b32 %r7, %r1, 31;\n"
          "setp.lt.u32 %p1, %r7, 16; shl.b32 %r5, %r7, 7; selp.b32 %r5, %r5, %r6, %p1; add.s32 %r5, %r5, "
          "%r2;\n"
          "ld.shared.u32 %r8, [%r5];",
          options)
          .verdict,
      KernelVerdict::data);
}

TEST(KernelRuns, LanesThatLeaveEarlyTakeNoPart) {
  KernelAccess const a = one("and.b32 %r7, %r1, 31; setp.ge.u32 %p1, %r7, 12; @%p1 ret;\n" +
                             std::string(two_exits) + column_reads);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_EQ(a.wavefronts, 12U);
  EXPECT_TRUE(a.reached);
}

TEST(KernelRuns, LeaveALongLoop) {
  // 100,000 iterations, each lane its own number of them.
  KernelAccess const a =
      one("mov.u32 %r20, 0; add.u32 %r21, %r1, 100000;\n"
          "LONG: add.u32 %r20, %r20, 1; setp.eq.u32 %p7, %r20, %r21; @%p7 bra OUT;\n"
          "setp.gt.u32 %p8, %r20, 200000; @%p8 bra OUT; bra LONG; OUT:\n" +
          std::string(column_reads));
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_TRUE(a.reached);
}

TEST(KernelRuns, WaitsForBarriersEnd) {
  KernelAccess const a = one("WAIT: mbarrier.try_wait.shared.b64 %p2, [%r2], 0; @!%p2 bra WAIT;\n" +
                             std::string(two_exits) + column_reads);
  EXPECT_TRUE(a.reached) << a.reason;
}

TEST(KernelRuns, PointersThatAreComparedWith0MayBe0) {
  KernelAccess const a =
      one("ld.param.u64 %rd1, [g]; setp.eq.s64 %p2, %rd1, 0; @%p2 bra NONE;\n"
          "ld.global.u32 %r6, [%rd1]; setp.eq.u32 %p3, %r6, 5; @%p3 ret; NONE:\n" +
          std::string(two_exits) + column_reads);
  ASSERT_TRUE(a.reached) << a.reason;
  ASSERT_TRUE(a.worst);
  EXPECT_NE(std::find(a.worst->values.begin(), a.worst->values.end(), Values::value_type{"g", 0}),
            a.worst->values.end());
}

TEST(KernelRuns, KeepParametersThatAreGiven) {
  std::string const body =
      "ld.param.u64 %rd1, [g]; setp.eq.s64 %p2, %rd1, 0; @%p2 bra NONE;\n"
      "ld.global.u32 %r6, [%rd1]; setp.eq.u32 %p3, %r6, 5; @%p3 ret; NONE:\n" +
      std::string(two_exits) + column_reads;
  KernelOptions options;
  options.params["g"] = {4096, false};
  EXPECT_NE(one(body, options).verdict, KernelVerdict::refuted);
  options.params["g"] = {0, false};
  EXPECT_TRUE(one(body, options).reached);
}

TEST(KernelRuns, TakeTheParametersThatASolverFinds) {
  std::string const condition = "xor.b32 %r6, %r3, 1515870810; setp.eq.u32 %p1, %r6, ";
  KernelAccess const a = one(condition + "77; @!%p1 ret;\n" + two_exits + column_reads);
  ASSERT_TRUE(a.reached) << a.reason;
  ASSERT_TRUE(a.worst);
  EXPECT_EQ(a.worst->values, (Values{{"n", 1515870810U ^ 77U}}));
  // No parameter is two numbers.
  KernelAccess const b =
      one(condition + "77; setp.eq.and.u32 %p1, %r3, 77, %p1; @!%p1 ret;\n" + two_exits + column_reads);
  EXPECT_FALSE(b.executed);
}

TEST(KernelRuns, ChangeParametersThatCameFar) {
  // Four parts of one parameter, each behind the last: no run of a style has all of them, and no formula (a quotient by a part).
  KernelAccess const a = one(
      "mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ctaid.z;\n"
      "setp.ne.u32 %p1, %r3, 300; @%p1 ret; setp.gt.u32 %p1, %r6, 9; @%p1 ret; setp.gt.u32 %p1, %r7, 9; @%p1 "
      "ret;\n"
      "setp.gt.u32 %p1, %r8, 9; @%p1 ret;\n" +
      std::string(two_exits) + column_reads);
  EXPECT_TRUE(a.reached) << a.reason;
}

TEST(KernelRuns, GoOnAsLongAsTheyComeToNewBlocks) {
  // Low bits of three numbers, each behind the last: more runs than those that may bring nothing new in a row.
  std::string parts;
  for (auto const& [number, value] : {std::pair("%r6", 2), {"%r7", 3}, {"%r8", 1}})
    parts += "add.u32 %r10, %r20, " + std::string(number) +
             "; and.b32 %r10, %r10, 3; setp.ne.u32 %p1, %r10, " + std::to_string(value) + "; @%p1 ret;\n";
  KernelAccess const a =
      one("mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ctaid.y; mov.u32 %r8, %ctaid.z; ld.param.u32 %r9, [g];\n" +
          std::string(two_exits) + parts + column_reads);
  EXPECT_TRUE(a.reached) << a.reason;
}

TEST(KernelRuns, ABranchIsTurnedByTheParameterThatItCompares) {
  // The loop ends with 4, for most n, so that 8 or more bits of g have to be one number: no run of a style has it.
  for (std::string const& condition : {
           std::string("add.u32 %r7, %r20, 777000; setp.ne.u32 %p1, %r6, %r7; @%p1 ret;\n"),
           std::string(
               "add.u32 %r6, %r6, 5; add.u32 %r7, %r20, 777000; setp.eq.u32 %p1, %r7, %r6; @!%p1 ret;\n"),
           std::string(
               "sub.u32 %r6, %r6, 5; add.u32 %r7, %r20, 777000; setp.ne.u32 %p1, %r7, %r6; @%p1 ret;\n"),
           // -9 < g - 4 < -7, as signed numbers
           std::string("sub.u32 %r6, %r6, %r20; setp.le.s32 %p1, %r6, -9; @%p1 ret; setp.gt.s32 %p1, -7, "
                       "%r6; @!%p1 ret; "
                       "setp.lt.s32 %p2, %r6, -7; setp.gt.and.s32 %p1, %r6, -9, %p2; @!%p1 ret;\n"),
       }) {
    KernelAccess const a =
        one("ld.param.u32 %r6, [g];\n" + std::string(two_exits) + condition + column_reads);
    EXPECT_TRUE(a.reached) << condition << a.reason;
    // Not one that is given.
    KernelOptions options;
    options.params["g"] = {1, false};
    EXPECT_FALSE(
        one("ld.param.u32 %r6, [g];\n" + std::string(two_exits) + condition + column_reads, options).reached);
  }
}

TEST(KernelRuns, EveryWarpHasRuns) {
  KernelOptions options;
  options.block = {256, 1, 1};
  for (unsigned const warp : {0, 1, 2, 4, 6, 7}) {
    std::string const other =
        "shr.u32 %r6, %r1, 5; setp.ne.u32 %p1, %r6, " + std::to_string(warp) + "; @%p1 ret;\n";
    KernelAccess const a = one(by_runs_alone() + other +
                                   "and.b32 %r5, %r1, 31; shl.b32 %r5, %r5, 7; add.s32 %r5, %r5, %r2; "
                                   "st.shared.u32 [%r5], %r1;",
                               options);
    EXPECT_TRUE(a.reached) << warp << a.reason;
  }
}

TEST(KernelRuns, ARegisterOfWhichNoBitIsNeededIsNotOpen) {
  // The lowest bit of 2 x + 1, for any x; x comes from memory.
  KernelAccess const a = one(
      "ld.param.u64 %rd1, [g]; ld.global.u32 %r6, [%rd1];\n" + std::string(two_exits) +
      "shl.b32 %r7, %r6, 1; or.b32 %r8, %r7, 1; and.b32 %r9, %r8, 1; setp.ne.u32 %p1, %r9, 1; @%p1 ret;\n" +
      column_reads);
  EXPECT_TRUE(a.reached) << a.reason;
}

TEST(KernelRuns, DynamicArraysLieAtAnyMultipleOfTheirAlignment) {
  // Words under a swizzle that takes bits 7 to 9 of the address: one row where the array begins at a multiple of 128.
  std::string const store =
      "mov.u32 %r5, dynamic; and.b32 %r6, %r1, 31; shl.b32 %r6, %r6, 2; add.u32 %r5, %r5, %r6; shr.u32 %r6, "
      "%r5, 3;\n"
      "and.b32 %r6, %r6, 112; xor.b32 %r5, %r5, %r6; st.shared.u32 [%r5], %r1;";
  KernelAccess const a = one(by_runs_alone() + store, {.any_base = true});
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_EQ(a.wavefronts, 2U);
  ASSERT_TRUE(a.worst);
  ASSERT_EQ(a.worst->bases.size(), 1U);
  EXPECT_EQ(a.worst->bases.at(0).second % 16, 0U);
  EXPECT_NE(a.worst->bases.at(0).second % 128, 0U);
}

TEST(KernelRuns, DynamicArraysBeginAtOneAddress) {
  // Even lanes store to one array, odd ones to the other.
  auto const stored = [](std::string const& from_a, std::string const& from_b, bool any_base = true) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 4 .b8 st[4];\n.extern .shared .align "
        "4 .b8 "
        "A[];\n.extern .shared .align 1024 .b8 B[];\n.entry k()\n{\n.reg .pred %p<2>; .reg .b32 %r<9>;\n"
        "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; mov.u32 %r3, A; mov.u32 %r4, "
        "B;\n" +
            from_a + from_b +
            "selp.b32 %r5, %r3, %r4, %p1; st.shared.u32 [%r5], %r1;\nmov.u32 %r6, st; st.shared.u32 [%r6], "
            "%r1;\nret;\n}\n",
        "test.ptx");
    KernelOptions options;
    options.block = {64, 1, 1}, options.any_base = any_base;
    return decide_kernel(m, m.functions.at(0), options).accesses.at(0);
  };
  // A word and the next one: two banks.
  KernelAccess const a = stored("", "add.u32 %r4, %r4, 4; ");
  EXPECT_NE(a.verdict, KernelVerdict::refuted);
  EXPECT_FALSE(a.reached);
  // A column, if they begin at two addresses, or at one. A device gives two, of different alignments (H18); PTX permits one.
  std::string const column_of_a = "mad.lo.u32 %r3, %r1, 128, %r3; mov.u32 %r4, %r3; ";
  EXPECT_FALSE(stored("setp.eq.u32 %p0, %r3, %r4; @%p0 ret; ", column_of_a).reached);
  EXPECT_TRUE(stored("setp.ne.u32 %p0, %r3, %r4; @%p0 ret; ", column_of_a).reached);
  EXPECT_TRUE(stored("setp.eq.u32 %p0, %r3, %r4; @%p0 ret; ", column_of_a, false).reached);
  EXPECT_FALSE(stored("setp.ne.u32 %p0, %r3, %r4; @%p0 ret; ", column_of_a, false).reached);
}

TEST(KernelRuns, AShuffleGivesTheValueOfItsLane) {
  // Eight rows; each lane's own number would be 32 of them.
  std::string const store = "shl.b32 %r5, %r6, 7; add.s32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;";
  KernelAccess const a =
      one("and.b32 %r7, %r1, 7;\n" + by_runs_alone() + "shfl.sync.idx.b32 %r6, %r1, %r7, 31, -1;" + store);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted) << a.reason;
  EXPECT_EQ(a.wavefronts, 8U);
  EXPECT_TRUE(a.reached);
  // From lanes that have ended no value comes.
  KernelAccess const b =
      one("and.b32 %r7, %r1, 31; setp.ge.u32 %p1, %r7, 16; @%p1 ret; add.u32 %r7, %r7, 16;\n" +
          std::string(two_exits) + "shfl.sync.idx.b32 %r6, %r1, %r7, 31, -1;" + store);
  EXPECT_NE(b.verdict, KernelVerdict::refuted) << b.reason;
}

TEST(KernelRuns, LanesMeetInOneIterationAlone) {
  // Each iteration takes some lanes back to LOOP by another way than the others.
  auto const verdict = [](std::string const& address, std::string const& of_even = "") {
    return one("mov.u32 %r20, 0; mov.u32 %r21, 0;\n"
               "LOOP: add.u32 %r7, %r1, %r20; and.b32 %r7, %r7, 1; setp.eq.u32 %p1, %r7, 0;\n" +
               address +
               " shl.b32 %r5, %r5, 2; add.s32 %r5, %r5, %r2; st.shared.u32 [%r5], %r1;\n"
               "@%p1 bra EVEN; add.u32 %r20, %r20, 1; setp.lt.u32 %p7, %r20, 4; @%p7 bra LOOP; bra OUT;\n"
               "EVEN: " +
               of_even +
               " add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, 4; @%p8 bra LOOP;\n"
               "OUT:")
        .verdict;
  };
  EXPECT_EQ(verdict("mad.lo.u32 %r5, %r1, 32, %r20;"), KernelVerdict::refuted);
  // No two lanes have a bank in common in one iteration; a lane and its neighbour's next have.
  EXPECT_EQ(verdict("mad.lo.u32 %r5, %r20, 33, %r1;"), KernelVerdict::unknown);
  // Nor have lanes in common that came back by one way each time.
  EXPECT_EQ(verdict("add.u32 %r5, %r21, %r1;", "add.u32 %r21, %r21, 33;"), KernelVerdict::unknown);
}

TEST(KernelRuns, ALoopEndsBeforeWhatFollowsIt) {
  // Lane l leaves after l + 1 iterations; all store together. The block after the loop comes first in reverse postorder.
  KernelAccess const a =
      one("and.b32 %r7, %r1, 3; mov.u32 %r20, 0;\n"
          "LOOP: setp.gt.u32 %p7, %r20, %r7; @!%p7 bra BODY;\n"
          "bra OUT;\n"
          "BODY: add.u32 %r20, %r20, 1; setp.eq.u32 %p8, %r20, %r3; @%p8 bra OUT; bra LOOP;\n"
          "OUT:\n" +
          std::string(column_reads));
  EXPECT_TRUE(a.reached) << a.reason;
  EXPECT_EQ(a.wavefronts, 32U);
}

}  // namespace
}  // namespace swizproof
