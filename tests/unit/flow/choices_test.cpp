// Branches and guards that data decide.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string const test = load + "mov.f32 %f2, 0f00000000;\nsetp.lt.f32 %p1, %f1, 0f3F800000;\n";

TEST(Choices, AreWhatDiffersBehindABranch) {
  Case c{test + "mov.f32 %f3, %f1;\n@%p1 bra $A;\nadd.f32 %f2, %f1, %f1;\nmov.f32 %f3, %f1;\n$A:\n" + store,
         "f32[64]", "f32[64]"};
  EXPECT_EQ(c.kind(), "proved");
  EXPECT_EQ(c.value(0).substr(0, 13), "c[0] = bra of") << c.value(0);
  c.expect = {"c[i] = 2*a[i]"};
  EXPECT_EQ(c.kind(), "unknown");
  // one value in both ways, and one that is the same in all lanes
  Case same{test +
                "@%p1 bra $A;\nadd.f32 %f2, %f1, %f2;\nmov.f32 %f3, %f1;\nbra $B;\n$A:\nmov.f32 %f3, "
                "%f1;\n$B:\nst.global.f32 [%rd3], %f3;\n",
            "f32[64]",
            "f32[64]",
            {"c[i] = a[i]"}};
  EXPECT_EQ(same.answer(), "proved");
}

TEST(Choices, OfGuardsKeepTheOtherLanes) {
  Case c{test +
             "setp.lt.u32 %p2, %r1, 4;\nselp.f32 %f4, %f1, 0f00000000, %p2;\nsetp.gt.f32 %p3, %f4, "
             "0f00000000;\n@%p3 mov.f32 %f2, %f1;\n" +
             store,
         "f32[64]", "f32[64]"};
  FlowReport const r = c.report();
  ASSERT_EQ(r.values.size(), 64U) << c.answer();
  EXPECT_EQ(r.values[4], "c[4] = 0") << "its guard is no data";
  EXPECT_NE(r.values[3], "c[3] = 0");
}

TEST(Choices, AreNotMadeOfAccessesBarriersAndLoops) {
  EXPECT_EQ((Case{test + "@%p1 bra $A;\nst.global.f32 [%rd3], %f1;\n$A:\n"}.kind()), "unknown");
  EXPECT_EQ((Case{test + "@%p1 bra $A;\nbar.sync 0;\n$A:\n"}.kind()), "unknown");
  EXPECT_EQ((Case{test + "@%p1 bra $A;\nret;\n$A:\n"}.kind()), "unknown");
  EXPECT_EQ(
      (Case{test + "$L: add.f32 %f2, %f2, %f1;\nsetp.lt.f32 %p1, %f2, 0f40000000;\n@%p1 bra $L;\n"}.kind()),
      "unknown");
  EXPECT_EQ((Case{test + "@%p1 st.global.f32 [%rd3], %f1;\n"}.kind()), "unknown");
}

TEST(Choices, AreNested) {
  Case c{
      test +
          "setp.gt.f32 %p2, %f1, 0f00000000;\nmov.f32 %f3, 0f3F800000;\n@%p1 bra $A;\n@%p2 bra $B;\nmov.f32 "
          "%f2, %f1;\nbra $C;\n$B: mov.f32 %f2, %f3;\n"
          "$C: add.f32 %f3, %f3, %f3;\nbra $D;\n$A: add.f32 %f3, %f3, %f3;\n$D: st.global.f32 [%rd3], %f3;\n",
      "f32[64]",
      "f32[64]",
      {"c[i] = 2"}};
  EXPECT_EQ(c.answer(), "proved");
}

}  // namespace
}  // namespace swizproof
