// Shapes of ldmatrix and stmatrix: rows of 16 bytes, eight of them in a phase.
#include "kernel_case.hpp"

namespace swizproof {
namespace {

/// Wavefronts of a load whose lanes access rows of `bytes`.
std::optional<unsigned> rows_of(std::string const& op, std::string const& bytes) {
  std::string const registers = op.find(".x4") != op.npos   ? "{%r5,%r6,%r7,%r8}"
                                : op.find(".x2") != op.npos ? "{%r5,%r6,%r7,%r8}"
                                                            : "{%r5,%r6}";
  bool const load = op.starts_with("ld");
  return one("mad.lo.u32 %r4, %r1, " + bytes + ", %r2; " + op +
             (load ? " " + registers + ", [%r4];" : " [%r4], " + registers + ";"))
      .wavefronts;
}

TEST(KernelMatrices, OfBytesHaveRowsOf16Bytes) {
  EXPECT_EQ(rows_of("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "16"), 2U);
  EXPECT_EQ(rows_of("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8", "16"), 4U);
  EXPECT_EQ(rows_of("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8", "128"), 32U);
  EXPECT_EQ(rows_of("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32", "128"), 16U);
  EXPECT_EQ(rows_of("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64", "16"), 4U);
  EXPECT_EQ(rows_of("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64", "128"), 8U);
  EXPECT_EQ(rows_of("stmatrix.sync.aligned.m16n8.x4.trans.shared.b8", "16"), 4U);
  EXPECT_EQ(rows_of("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8", "128"), 8U);
}

TEST(KernelMatrices, OfNoShapeThatPtxHasAreUnknown) {
  for (std::string const op :
       {"ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8", "ldmatrix.sync.aligned.m16n16.x1.shared.b8",
        "ldmatrix.sync.aligned.m8n16.x1.shared.b8", "stmatrix.sync.aligned.m16n8.x1.shared.b8",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b8", "stmatrix.sync.aligned.m16n16.x1.trans.shared.b8"})
    EXPECT_EQ(rows_of(op, "16"), std::nullopt) << op;
}

}  // namespace
}  // namespace swizproof
