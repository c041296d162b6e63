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

TEST(Choices, OfAccessesAreChoicesOfWhatIsWritten) {
  Case c{test + "@%p1 bra $A;\nst.global.f32 [%rd3], %f1;\n$A:\n"};
  EXPECT_EQ(c.kind(), "proved");
  EXPECT_NE(c.value(0), "c[0] = a[0]");
  c.expect = {"c[i] = a[i]"};
  EXPECT_NE(c.kind(), "proved");
  EXPECT_EQ((Case{test + "@%p1 st.global.f32 [%rd3], %f1;\n"}.kind()), "proved");
  Case const same{test + "st.global.f32 [%rd3], %f1;\n@%p1 st.global.f32 [%rd3], %f1;\n",
                  "f32[64]",
                  "f32[64]",
                  {"c[i] = a[i]"}};
  EXPECT_EQ(same.answer(), "proved") << "it is written all the same";
}

TEST(Choices, RaceForDataThatLeadThere) {
  std::string const shared = in + test.substr(load.size());
  std::string const other = neighbour(33) + store;
  Case c{shared + "bar.sync 0;\n@%p1 st.shared.f32 [%r3], %f2;\n" + other};
  EXPECT_EQ(c.kind(), "race");
  FlowReport const r = c.report();
  ASSERT_EQ(r.data.size(), 1U);
  EXPECT_EQ(r.data[0].substr(0, 12), "a=a:f32[64]=");
  EXPECT_EQ((Case{shared + "bar.sync 0;\n@%p1 st.shared.f32 [%r3], %f2;\nbar.sync 0;\n" + other}.kind()),
            "proved");
  // no data make both conditions true
  Case const never{
      shared +
      "bar.sync 0;\nsetp.ge.f32 %p2, %f1, 0f40000000;\nand.pred %p3, %p1, %p2;\n@%p3 st.shared.f32 "
      "[%r3], %f2;\n" +
      other};
  EXPECT_EQ(never.kind(), "unknown");
}

TEST(Choices, AreWaysOfTheBlockWhereThreadsAreOrdered) {
  std::string const one =
      "ld.global.f32 %f3, [%rd2];\nsetp.lt.f32 %p1, %f3, 0f3F800000;\n";  // of all threads
  std::string const all = in + one;
  Case c{all + "@%p1 bra $A;\nbar.sync 0;\n$A:\n" + neighbour(33) + store};
  EXPECT_EQ(c.kind(), "race") << "without the barrier";
  EXPECT_EQ(c.report().data.size(), 1U);
  c.body = all + "@%p1 bra $A;\nbar.sync 0;\nbra $B;\n$A: bar.sync 0;\n$B:\n" + neighbour(33) + store;
  EXPECT_EQ(c.kind(), "proved");
  EXPECT_EQ(c.report().ways, 2U);
  c.expect = {"c[i] = a[i + 33 - 2*(i % 2) - 64*(i / 32)]"};
  EXPECT_EQ(c.answer(), "proved") << "in both ways";
  c.expect.clear();
  c.body = all + "bar.sync 0;\n@%p1 ret;\n" + neighbour(33) + store;
  EXPECT_EQ(c.kind(), "proved");
  c.body = one + "@%p1 bra $A;\nmov.f32 %f2, %f3;\n$A:\nbar.sync 0;\n" + load +
           "@%p1 ret;\nst.global.f32 [%rd3], %f1;\n";
  c.expect = {"c[i] = a[i]"};
  EXPECT_EQ(c.kind(), "refuted") << "with data it is not written";
}

TEST(Choices, OfEachThreadAreTooMany) {
  Case const barrier{test + "@%p1 bra $A;\nbar.sync 0;\n$A:\n"};
  EXPECT_EQ(barrier.kind(), "misuse") << "for data that part a warp";
  Case const loop{test + "$L: add.f32 %f2, %f2, %f1;\nsetp.lt.f32 %p1, %f2, 0f40000000;\n@%p1 bra $L;\n"};
  EXPECT_NE(loop.answer().find("more than 16 conditions"), std::string::npos) << loop.answer();
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
