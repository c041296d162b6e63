// Edits of one instruction with which a refuted launch is proved.
#include "kernel_case.hpp"

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// `st.shared.f32: 4 for 8; ..`, of a kernel in whose answer edits are searched.
std::string repairs_of(std::string const& body, std::uint64_t steps = 100'000,
                       std::string const& expect = "c[i] = a[63-i]") {
  Case c{body};
  c.expect = {expect};
  c.repair_steps = steps;
  std::string out;
  for (FlowRepair const& r : c.report().repairs) out += (out.empty() ? "" : "; ") + r.line.op + ": " + r.edit;
  return out;
}

/// Reads the tile at `distance` - the thread's number.
std::string reversed(std::string const& distance, std::string const& sync = "bar.sync 0;\n") {
  return in + sync + "sub.s32 %r4, " + distance +
         ", %r1;\nshl.b32 %r4, %r4, 2;\nadd.s32 %r4, %r4, %r2;\nld.shared.f32 %f2, [%r4];\n" + store;
}

TEST(Edits, NameTheNumberOfAnAddress) {
  EXPECT_EQ(repairs_of(reversed("63")), "");
  EXPECT_EQ(repairs_of(reversed("62")), "ld.shared.f32: 4 for 0; sub.s32: 63 for 62");
}

TEST(Edits, NameExchangedOperands) {
  std::string const swapped = in +
                              "bar.sync 0;\nmov.u32 %r5, 63;\nsub.s32 %r4, %r1, %r5;\nshl.b32 %r4, %r4, 2;\n"
                              "add.s32 %r4, %r4, %r2;\nld.shared.f32 %f2, [%r4];\n" +
                              store;
  EXPECT_EQ(repairs_of(swapped), "sub.s32: operands 2 and 3 exchanged");
}

TEST(Edits, NameAnOpcode) {
  std::string const half =
      "and.b32 %r4, %r1, 31; shl.b32 %r4, %r4, 1; shl.b32 %r4, %r4, 2; cvt.u64.u32 %rd6, %r4; add.s64 %rd6, "
      "%rd2, %rd6;\n";
  EXPECT_EQ(
      repairs_of(
          half + "ld.global.f32 %f1, [%rd6];\nld.global.f32 %f3, [%rd6+4];\nsub.f32 %f2, %f1, %f3;\n" + store,
          100'000, "c[i] = a[2*(i % 32)] + a[2*(i % 32) + 1]"),
      "sub.f32: as add.f32");
}

TEST(Edits, AreNotSearchedWithoutStepsOrAnExpectation) {
  EXPECT_EQ(repairs_of(reversed("62"), 0), "");
  Case c{reversed("64")};
  c.repair_steps = 100'000;
  EXPECT_EQ(c.kind(), "uninitialised");
  EXPECT_TRUE(c.report().repairs.empty());
}

/// No other edit than a barrier makes it right.
TEST(Edits, AreNotFoundWhereABarrierIsMissing) { EXPECT_EQ(repairs_of(reversed("63", "")), ""); }

}  // namespace
}  // namespace swizproof
