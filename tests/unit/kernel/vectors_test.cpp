// Neighbouring accesses that one vector replaces.
#include "kernel_case.hpp"

namespace swizproof {
namespace {

/// Rows of 16 bytes a lane; then the accesses.
KernelReport rows_of_16(std::string const& accesses) {
  return report_of(
      "shl.b32 %r4, %r1, 4; add.s32 %r4, %r4, %r2; setp.lt.u32 %p1, %r1, 9; setp.lt.u32 %p2, %r1, 5;\n" +
          accesses,
      {.block = {{32, 1, 1}}, .fixes = true});
}

std::string const four_loads =
    "ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r7, [%r4+4]; ld.shared.u32 %r8, [%r4+8]; ld.shared.u32 %r9, "
    "[%r4+12];";

TEST(KernelVectors, ReplaceNeighbours) {
  KernelReport const r = rows_of_16(four_loads);
  ASSERT_EQ(r.accesses.size(), 4U);
  EXPECT_EQ(r.accesses[0].wavefronts, 4U);
  EXPECT_TRUE(r.fixes.empty()) << "rows of 20 bytes would take the vector apart";
  ASSERT_EQ(r.vectors.size(), 1U);
  EXPECT_EQ(to_string(r.vectors[0].instruction), "ld.shared.b128");
  EXPECT_EQ(r.vectors[0].ptx_lines.size(), 4U);
  EXPECT_EQ(r.vectors[0].before, 16U);
  EXPECT_EQ(r.vectors[0].after, 4U);
  EXPECT_TRUE(report_of(four_loads).vectors.empty()) << "without the option, none";
}

TEST(KernelVectors, AreOfTwoInAnyOrderAndOfStores) {
  for (std::string const text : {"ld.shared.u32 %r7, [%r4+12]; ld.shared.u32 %r6, [%r4+8];",
                                 "st.shared.u32 [%r4], %r1; st.shared.f32 [%r4+4], %r1;",
                                 "ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r9, [%r2]; add.u32 %r9, %r9, 1; "
                                 "ld.shared.u32 %r7, [%r4+4];",
                                 "ld.shared.u32 %r6, [%r4]; ld.param.u64 %rd1, [g]; st.global.u32 [%rd1], "
                                 "%r6; ld.shared.u32 %r7, [%r4+4];",
                                 "@%p1 ld.shared.u32 %r6, [%r4]; @%p1 ld.shared.u32 %r7, [%r4+4];"}) {
    KernelReport const r = rows_of_16(text);
    ASSERT_EQ(r.vectors.size(), 1U) << text;
    EXPECT_EQ(r.vectors[0].instruction.bytes, 8U) << text;
    EXPECT_LT(r.vectors[0].after, r.vectors[0].before) << text;
  }
  EXPECT_EQ(
      rows_of_16("ld.shared.v2.u32 {%r6, %r7}, [%r4]; ld.shared.v2.u32 {%r8, %r9}, [%r4+8];").vectors.size(),
      1U);
}

TEST(KernelVectors, AreNotMadeOfAccessesThatAreApart) {
  for (std::string const text :
       {"ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r7, [%r4+8];",    // a gap
        "ld.shared.u32 %r6, [%r4+4]; ld.shared.u32 %r7, [%r4+8];",  // misaligned
        "ld.shared.u32 %r6, [%r4]; st.shared.u32 [%r2], %r1; ld.shared.u32 %r7, [%r4+4];",
        "ld.shared.u32 %r6, [%r4]; bar.sync 0; ld.shared.u32 %r7, [%r4+4];",
        "ld.shared.u32 %r6, [%r4]; red.shared.add.u32 [%r2], 1; ld.shared.u32 %r7, [%r4+4];",
        "ld.shared.u32 %r4, [%r4]; ld.shared.u32 %r7, [%r4+4];",
        "ld.shared.u32 %r6, [%r4];\n$L:\nld.shared.u32 %r7, [%r4+4];",
        "@%p1 ld.shared.u32 %r6, [%r4]; @%p2 ld.shared.u32 %r7, [%r4+4];",
        "@%p1 ld.shared.u32 %r6, [%r4]; @!%p1 ld.shared.u32 %r7, [%r4+4];",
        "@%p1 ld.shared.u32 %r6, [%r4]; setp.lt.u32 %p1, %r1, 7; @%p1 ld.shared.u32 %r7, [%r4+4];",
        "ld.volatile.shared.u32 %r6, [%r4]; ld.volatile.shared.u32 %r7, [%r4+4];",
        "ld.shared.u32 %r6, [%r4]; st.shared.u32 [%r4+4], %r1;",
        "ld.shared.u32 %r6, [%r4]; ld.shared.u16 %r7, [%r4+4];",
        "ld.shared.u32 %r6, [%r4]; add.u32 %r4, %r4, 4; ld.shared.u32 %r7, [%r4];"})
    EXPECT_TRUE(rows_of_16(text).vectors.empty()) << text;
}

TEST(KernelVectors, NeedTheAlignmentOfTheirArray) {
  std::string const small =
      ".shared .align 4 .b8 small[4096]; mov.u32 %r2, small; shl.b32 %r4, %r1, 4; add.s32 %r4, %r4, %r2;\n";
  EXPECT_TRUE(report_of(small + four_loads, {.block = {{32, 1, 1}}, .fixes = true}).vectors.empty());
}

}  // namespace
}  // namespace swizproof
