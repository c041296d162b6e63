// Addresses and conditions that depend on data, or on what is not modelled.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <string>

namespace swizproof {
namespace {

TEST(Kernel, ALoadGoesBeforeARegisterThatMayNotHaveBeenWritten) {
  // In a loop, whose first iteration may pass over the load.
  KernelAccess const a =
      one("ld.param.u64 %rd1, [g]; mov.u32 %r4, 0;\nL: setp.lt.u32 %p1, %r1, %r3; @!%p1 bra E; ld.global.u32 "
          "%r5, "
          "[%rd1];\nE: setp.lt.f32 %p2, %r5, 0f00000000; shl.b32 %r6, %r1, 2; shl.b32 %r7, %r1, 7; selp.b32 "
          "%r6, %r6, %r7, "
          "%p2; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6]; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, "
          "%r3; @%p3 bra "
          "L;");
  EXPECT_EQ(a.verdict, KernelVerdict::data) << a.reason;
  EXPECT_NE(a.reason.find("the load at PTX line"), std::string::npos) << a.reason;
}

TEST(Kernel, WhatDecidesWhetherAnAccessIsExecutedIsNamed) {
  // A row in the first iteration, a column in the second, which a load decides on.
  KernelAccess const a =
      one("ld.param.u64 %rd1, [g]; mov.u32 %r5, 0; shl.b32 %r4, %r1, 2;\nL: mul.lo.u32 %r6, %r5, %r1; "
          "mad.lo.u32 %r7, %r6, "
          "124, %r4; add.u32 %r7, %r7, %r2; ld.shared.u32 %r8, [%r7]; xor.b32 %r5, %r5, 1; ld.global.u32 "
          "%r9, [%rd1]; "
          "setp.ne.u32 %p1, %r9, 0; @%p1 bra L;");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::data) << a.reason;
  EXPECT_NE(a.reason.find("whether it is executed depends on the load"), std::string::npos) << a.reason;
}

TEST(Kernel, AnAddressDependsOnDataIfItDoesInSomeLaunch) {
  // The sum may wrap before it is widened, which does not matter; divided by loaded data it depends on data.
  std::string const body =
      "ld.param.u64 %rd1, [g]; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r5, %r4, 256, %r1; cvt.u64.u32 %rd2, %r5; ";
  std::string const divided = body +
                              "ld.global.u64 %rd3, [%rd1]; div.u64 %rd4, %rd2, %rd3; cvt.u32.u64 %r6, %rd4; "
                              "shl.b32 %r6, %r6, 2; add.u32 %r6, "
                              "%r6, %r2; ld.shared.u32 %r7, [%r6];";
  KernelAccess const a = one(divided);
  EXPECT_EQ(a.verdict, KernelVerdict::data) << a.reason;
  KernelAccess const b = one(body +
                             "mov.u64 %rd3, 3; div.u64 %rd4, %rd2, %rd3; cvt.u32.u64 %r6, %rd4; shl.b32 %r6, "
                             "%r6, 7; add.u32 %r6, %r6, %r2; "
                             "ld.shared.u32 %r7, [%r6];");
  EXPECT_NE(b.verdict, KernelVerdict::data) << b.reason;
  // Beyond the limit of steps too, for as many steps again.
  KernelAccess const limited = one(divided, {.steps = 1});
  EXPECT_EQ(limited.verdict, KernelVerdict::unknown) << limited.reason;
  EXPECT_NE(limited.reason.find("the limit of 1 steps"), std::string::npos) << limited.reason;
  EXPECT_EQ(one(divided, {.steps = 40}).verdict, KernelVerdict::data);
  // In a launch with a small parameter and another block than the first.
  std::string const second =
      "mov.u32 %r10, %ctaid.x; setp.ne.u32 %p1, %r10, 1;\n@%p1 bra X;\nsetp.gt.u32 %p1, %r3, 1;\n@%p1 bra "
      "X;\n" +
      divided + "\nX:";
  KernelAccess const launched = one(second);
  EXPECT_EQ(launched.verdict, KernelVerdict::data) << launched.reason;
  // Loaded parts that are multiples of 32 words do not decide the cost.
  std::string const rows =
      "ld.param.u64 %rd1, [g]; mad.wide.u32 %rd2, %r1, 4, %rd1; ld.global.u32 %r4, [%rd2]; shl.b32 %r4, %r4, "
      "7; and.b32 %r8, %r3, 124; "
      "shl.b32 %r9, %r1, 2; xor.b32 %r5, %r9, %r8; add.u32 %r5, %r5, %r4; add.u32 %r5, %r5, %r2; "
      "ld.shared.u32 %r7, [%r5];";
  EXPECT_EQ(one(rows).verdict, KernelVerdict::proved);
  EXPECT_EQ(one(rows, {.steps = 200}).verdict, KernelVerdict::unknown);
}

TEST(Kernel, AnAddressDependsOnDataInAnExecutionAlone) {
  std::string const ends =
      " mul.lo.u32 %r10, %r1, %r3; rem.u32 %r10, %r10, 13; xor.b32 %r9, %r9, %r1; and.b32 %r9, %r9, 1023; "
      "selp.b32 %r11, "
      "%r9, %r10, %p2; shl.b32 %r11, %r11, 2; add.u32 %r5, %r2, %r11; ld.shared.u32 %r7, [%r5];";
  std::string const load = "ld.param.u64 %rd1, [g]; ld.global.u32 %r9, [%rd1]; ";
  // Behind the loop, whose counter is 7 there; an iteration that the access is not executed in; a parameter that it is not.
  KernelAccess const behind_loop =
      one(load +
          "mov.u32 %r8, 0;\nL: setp.eq.u32 %p2, %r8, 0; add.u32 %r8, %r8, 1; setp.lt.u32 "
          "%p1, %r8, 8; @%p1 bra L;" +
          ends);
  EXPECT_EQ(behind_loop.verdict, KernelVerdict::unknown) << behind_loop.reason;
  KernelAccess const later =
      one(load + "mov.u32 %r8, 0;\nL: setp.eq.u32 %p3, %r8, 0; @%p3 bra N; setp.lt.u32 %p2, %r8, 1;" + ends +
          "\nN: add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 8; @%p1 bra L;");
  EXPECT_EQ(later.verdict, KernelVerdict::unknown) << later.reason;
  KernelAccess const passed =
      one(load + "setp.le.u32 %p3, %r3, 100; @%p3 bra N; setp.lt.u32 %p2, %r3, 90;" + ends + "\nN:");
  EXPECT_EQ(passed.verdict, KernelVerdict::unknown) << passed.reason;
  // A column if n < 5 and n > 7: the load decides how often a row is read, and not whether a column is.
  KernelAccess const never =
      one("ld.param.u64 %rd1, [g]; shl.b32 %r4, %r1, 2; shl.b32 %r9, %r1, 7; setp.lt.u32 %p1, %r3, 5; "
          "setp.gt.u32 %p2, %r3, "
          "7; selp.b32 %r10, %r9, %r4, %p2; selp.b32 %r10, %r10, %r4, %p1; add.u32 %r5, %r2, %r10;\nL: "
          "ld.shared.u32 %r6, "
          "[%r5]; ld.global.u32 %r7, [%rd1]; setp.ne.u32 %p3, %r7, 0; @%p3 bra L;");
  EXPECT_NE(never.verdict, KernelVerdict::data) << never.reason;
}

TEST(Kernel, APointerToSharedOrOtherMemoryIsNotLeftOut) {
  auto const found = decided(
      ".local .align 4 .b8 mine[64];\n"
      "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; mov.u64 %rd3, mine; cvta.local.u64 %rd4, %rd3;\n"
      "setp.eq.u32 %p1, %r3, 0; selp.b64 %rd5, %rd2, %rd4, %p1; ld.u32 %r4, [%rd5];");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].verdict, KernelVerdict::unknown);
  EXPECT_NE(found[0].reason.find("other memory in another"), std::string::npos) << found[0].reason;
}

TEST(Kernel, WhatIsNotModelledIsNotData) {
  std::string const store = " add.s32 %r5, %r4, %r2; st.shared.u32 [%r5], %r1;";
  EXPECT_EQ(one("madc.lo.u32 %r4, %r1, 128, 0;" + store).verdict, KernelVerdict::unknown);
  EXPECT_EQ(one("ld.global.u32 %r6, [%rd1]; mul24.lo.u32 %r4, %r6, %r1;" + store).verdict,
            KernelVerdict::data);
}

TEST(Kernel, DataIsWhatComesFromALoad) {
  struct Row {
    char const* body;
    KernelVerdict verdict;
    std::string source;
  };
  constexpr KernelVerdict data = KernelVerdict::data, unknown = KernelVerdict::unknown;
  Row const rows[] = {
      {"activemask.b32 %r4;", unknown, not_modelled("activemask.b32")},
      {"elect.sync %r4|%p1, -1; shl.b32 %r4, %r1, 5; @%p1 mov.u32 %r4, 0;", unknown,
       not_modelled("elect.sync")},
      {"match.any.sync.b32 %r4, %r1, -1;", unknown, not_modelled("match.any.sync.b32")},
      {"match.any.sync.b32 %r4, %r7, -1;", data, lane_load},
      {"mov.u32 %r4, %clock; mul.lo.u32 %r4, %r4, %r1;", unknown, not_modelled("%clock")},
      {"mov.u32 %r4, %warpid; mul.lo.u32 %r4, %r4, %r1;", unknown, not_modelled("%warpid")},
      {"setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r4, %p1, -1; mul.lo.u32 %r4, %r4, %r1;", unknown,
       not_modelled("vote.sync.ballot.b32")},
      {"setp.lt.u32 %p1, %r7, 5; vote.sync.ballot.b32 %r4, %p1, -1; mul.lo.u32 %r4, %r4, %r1;", data,
       lane_load},
      {"setp.lt.u32 %p1, %r7, 5; vote.sync.uni.pred %p2, %p1, -1; selp.b32 %r4, 1, 32, %p2; mul.lo.u32 %r4, "
       "%r4, %r1;",
       data, lane_load},
      {"redux.sync.add.u32 %r4, %r1, -1; mul.lo.u32 %r4, %r4, %r1;", unknown,
       not_modelled("redux.sync.add.u32")},
      {"redux.sync.add.u32 %r4, %r7, -1; mul.lo.u32 %r4, %r4, %r1;", data, lane_load},
      {"activemask.b32 %r8; shfl.sync.idx.b32 %r4, %r8, 0, 31, -1; mul.lo.u32 %r4, %r4, %r1;", unknown,
       not_modelled("activemask.b32")},
      {"activemask.b32 %r8; shfl.sync.bfly.b32 %r4, %r8, 1, 31, -1;", unknown,
       not_modelled("activemask.b32")},
      {"shfl.sync.bfly.b32 %r4, %r7, 1, 31, -1;", data, lane_load},
      {"mul24.lo.u32 %r4, %r7, %r1;", data, lane_load},
      {"activemask.b32 %r8; add.u32 %r4, %r8, %r7;", unknown, not_modelled("activemask.b32")},
      {"atom.global.add.u32 %r4, [%rd1], 1;", data, "the atomic at PTX line 12"},
      {"vadd.u32.u32.u32 %r4, %r1, %r1;", unknown, not_modelled("vadd.u32.u32.u32")}};
  for (Row const& row : rows) {
    KernelAccess const a = load_at(row.body);
    EXPECT_EQ(a.verdict, row.verdict) << row.body;
    EXPECT_EQ(a.reason, "the address depends on " + row.source) << row.body;
    EXPECT_EQ(a.wavefronts, 32U) << row.body;
  }
}

TEST(Kernel, LanesThatReadAClockTogetherGetOneNumber) {
  for (std::string const name : {"%clock", "%smid", "%warpid", "%globaltimer_lo", "%nsmid", "%envreg2"}) {
    KernelAccess const a = load_at("mov.u32 %r4, " + name + "; add.u32 %r4, %r4, %r1;");
    EXPECT_EQ(a.verdict, KernelVerdict::proved) << name << ": " << a.reason;
    EXPECT_EQ(a.wavefronts, 1U) << name;
  }
  // Lanes that read it one after another do not.
  std::string const apart =
      "setp.lt.u32 %p1, %r1, 16; @%p1 bra A; mov.u32 %r4, %clock; bra B; A: mov.u32 %r4, %clock; B: ";
  EXPECT_EQ(load_at(apart).verdict, KernelVerdict::unknown);
  EXPECT_EQ(load_at("setp.lt.u32 %p1, %r7, 16; mov.u32 %r4, 0; @%p1 bra A; mov.u32 %r4, %clock; A: ").verdict,
            KernelVerdict::data)
      << "which lanes read it";
}

TEST(Kernel, AFunctionOfTheLaunchAndOfLoadsDependsOnData) {
  std::string const sum = "cvt.rn.f32.u32 %r8, %r3; add.f32 %r8, %r8, 0f3C23D70A; ";
  KernelAccess const chosen = load_at(sum +
                                      "setp.lt.f32 %p1, %r7, %r8; selp.u32 %r4, 32, 0, %p1; "
                                      "mul.lo.u32 %r4, %r4, %r1;");
  EXPECT_EQ(chosen.verdict, KernelVerdict::data);
  EXPECT_EQ(chosen.reason, "the address depends on " + lane_load);
  // A function of the lane's number is data in a comparison with a load, and not in a sum.
  std::string const of_lane = "cvt.rn.f32.u32 %r8, %r1; add.f32 %r8, %r8, 0f3C23D70A; ";
  EXPECT_EQ(
      load_at(of_lane + "setp.lt.f32 %p1, %r7, %r8; selp.u32 %r4, 32, 0, %p1; mul.lo.u32 %r4, %r4, %r1;")
          .verdict,
      KernelVerdict::data);
  EXPECT_EQ(load_at(of_lane + "add.u32 %r4, %r8, %r6;").verdict, KernelVerdict::unknown);
}

TEST(Kernel, AConditionDependsOnDataIfALoadIsInIt) {
  std::string const rows = "shl.b32 %r4, %r1, 5;";
  auto const guarded = [&](std::string const& test) { return load_at(test + " @%p1 ret; " + rows); };
  KernelAccess const uniform = guarded("setp.eq.u32 %p1, %r6, 0;");
  EXPECT_EQ(uniform.verdict, KernelVerdict::data);
  EXPECT_EQ(uniform.reason, "which lanes take part depends on " + uniform_load);
  EXPECT_EQ(guarded("setp.lt.u32 %p1, %r1, %r6;").verdict, KernelVerdict::data);
  KernelAccess const active = guarded("activemask.b32 %r8; setp.lt.u32 %p1, %r1, %r8;");
  EXPECT_EQ(active.verdict, KernelVerdict::unknown);
  EXPECT_EQ(active.reason, "which lanes take part depends on " + not_modelled("activemask.b32"));
}

TEST(Kernel, ConvertedConstantsAreNotWhatAConditionDependsOn) {
  std::string const condition =
      "ld.param.u64 %rd1, [g]; ld.global.u16 %r6, [%rd1]; mov.u32 %r7, 0; "
      "cvt.rn.f16.s32 %r8, %r7; setp.ne.f16 %p1, %r6, %r8;";
  KernelAccess const a = behind(condition);
  EXPECT_EQ(a.verdict, KernelVerdict::data);
  EXPECT_EQ(a.reason, "which lanes take part depends on the load at PTX line 10");
}

TEST(Kernel, AGenericAddressFromMemoryDependsOnData) {
  std::string const makes = " mov.u64 %rd3, tile; cvta.shared.u64 %rd4, %rd3;";
  KernelAccess const a =
      one("ld.param.u64 %rd1, [g]; ld.global.u64 %rd2, [%rd1]; st.u32 [%rd2], %r1;" + makes);
  EXPECT_EQ(a.verdict, KernelVerdict::data);
  EXPECT_EQ(a.reason, "the address depends on the load at PTX line 10: it may be shared memory");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.in_bounds, std::nullopt);
  // An atomic's cost at any addresses is not known, and a clock is no data.
  EXPECT_EQ(one("ld.param.u64 %rd1, [g]; ld.global.u64 %rd2, [%rd1]; atom.add.u32 %r4, [%rd2], %r1;" + makes)
                .verdict,
            KernelVerdict::unknown);
  EXPECT_EQ(one("mov.u64 %rd2, %clock64; st.u32 [%rd2], %r1;" + makes).verdict, KernelVerdict::unknown);
  // A kernel that makes no such address has none; another block's may be.
  std::string const generic = "ld.param.u64 %rd1, [g]; ld.global.u64 %rd2, [%rd1]; st.u32 [%rd2], %r1;";
  EXPECT_TRUE(decided(generic).empty());
  EXPECT_TRUE(decided(generic + " cvta.to.shared.u64 %rd4, %rd2;").empty());
  EXPECT_EQ(decided(generic + " mapa.u64 %rd4, %rd2, 1;").size(), 1U);
  EXPECT_EQ(decided(generic + " cvta.shared::cluster.u64 %rd4, %rd1;").size(), 1U);
}

// Its banks are those of another block, and the way there was not measured.
TEST(Kernel, AccessesOfAnotherBlockHaveNoCost) {
  auto const generic = [](std::string const& map) {
    return one("cvta.shared.u64 %rd2, %rd3; cvt.u64.u32 %rd2, %r2;" + map + " st.u32 [%rd2], %r1;");
  };
  EXPECT_EQ(generic("").verdict, KernelVerdict::proved);
  KernelAccess const other = generic("mapa.u64 %rd2, %rd2, 1;");
  EXPECT_EQ(other.verdict, KernelVerdict::unknown);
  EXPECT_NE(other.reason.find("the memory of another block of the cluster is not modelled"),
            std::string::npos);
}

TEST(Kernel, ValuesOfAThreadsOwnMemoryDiffer) {
  KernelAccess const a =
      one(".local .align 4 .b8 own[16]; ld.local.u32 %r9, [own]; and.b32 %r9, %r9, 4092; add.s32 %r9, %r9, "
          "%r2; ld.shared.u32 %r6, [%r9];");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::data);
}

}  // namespace
}  // namespace swizproof
