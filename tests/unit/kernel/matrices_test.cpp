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

// The rows start at (n | 3) % 4: no bit of n matters, so that n is not executed. It counted as a register that nothing has written.
TEST(KernelMatrices, OfBitsThatAConstantGives) {
  KernelAccess const a =
      one("or.b32 %r9, %r3, 3; and.b32 %r5, %r9, 3; shl.b32 %r6, %r5, 4; add.u32 %r4, %r6, %r2;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5,%r6,%r7,%r8}, [%r4];");
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 4U);
}

std::string const eight = "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}";

std::vector<KernelAccess> wmma(std::string const& form, std::string const& stride,
                               KernelOptions options = {}) {
  bool const load = form.starts_with("load");
  std::string const name = "wmma." + form.substr(0, form.find(' '));
  options.block = {{32, 1, 1}};
  return decided((load ? name + " " + eight + ", [%r2]" : name + " [%r2], " + eight) +
                     (stride.empty() ? "" : ", " + stride) + ";",
                 options);
}

TEST(KernelWmma, IsLdmatrixOrTheLoadsOfALane) {
  auto const all = wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "64");  // rows of 128 bytes
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].op, "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16: ldmatrix.x4");
  EXPECT_EQ(all[0].wavefronts, 32U);
  EXPECT_EQ(all[0].ideal, 4U);
  EXPECT_EQ(all[0].verdict, KernelVerdict::refuted);
  EXPECT_EQ(all[0].layout, "(16,2):(128,16)");
  EXPECT_EQ(wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "72")[0].wavefronts, 4U);
  EXPECT_EQ(wmma("load.b.sync.aligned.row.m16n16k16.shared.bf16", "72")[0].op,
            "wmma.load.b.sync.aligned.row.m16n16k16.shared.bf16: ldmatrix.x4.trans");
  // Sums: lane l has two words of row l / 4; 16 of them are 64 bytes.
  auto const sums = wmma("store.d.sync.aligned.row.m16n16k16.shared.f32", "");
  ASSERT_EQ(sums.size(), 4U);
  for (KernelAccess const& a : sums) {
    EXPECT_EQ(a.op, "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32: st.shared.b64");
    EXPECT_EQ(a.wavefronts, 4U) << "rows l / 4 and l / 4 + 2 of a half warp share banks";
    EXPECT_EQ(a.in_bounds, true);
  }
  EXPECT_EQ(wmma("store.d.sync.aligned.row.m16n16k16.shared.f32", "24")[0].wavefronts, 2U);
  EXPECT_EQ(wmma("store.d.sync.aligned.col.m16n16k16.shared.f32", "24").size(), 8U);
}

TEST(KernelWmma, HasTheStrideOfAParameter) {
  auto const all = wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "%r3");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].wavefronts, 32U);
  KernelOptions options;
  options.params["n"] = {40};
  EXPECT_EQ(wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "%r3", options)[0].verdict,
            KernelVerdict::proved);
  options.params["n"] = {4};  // rows of 8 bytes
  EXPECT_EQ(wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "%r3", options)[0].aligned, false);
}

TEST(KernelWmma, LeavesTheArray) {
  auto const all =
      wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "264");  // row 15 ends at 15 * 528 + 32
  EXPECT_EQ(all[0].in_bounds, true);
  EXPECT_EQ(wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "272")[0].in_bounds, true);
  EXPECT_EQ(wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "280")[0].in_bounds, false);
  auto const sums = wmma("store.d.sync.aligned.row.m16n16k16.shared.f32", "256");  // rows of 1 KiB
  ASSERT_EQ(sums.size(), 4U);
  EXPECT_EQ(sums[0].in_bounds, true);
  EXPECT_EQ(sums[3].in_bounds, false);
}

KernelOptions of_arch(std::string_view name) {
  KernelOptions options;
  for (Architecture const& arch : architectures)
    if (arch.name == name) options.arch = &arch;
  return options;
}

TEST(KernelWmma, OfAnotherArchitectureIsNotKnown) {
  auto const all = wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "64", of_arch("sm_100"));
  EXPECT_EQ(all.at(0).verdict, KernelVerdict::unknown);
  EXPECT_NE(all[0].reason.find("sm_80 to sm_90 alone"), std::string::npos) << all[0].reason;
  EXPECT_EQ(wmma("load.a.sync.aligned.row.m16n16k16.shared.f16", "64", of_arch("sm_80"))[0].verdict,
            KernelVerdict::refuted);
  EXPECT_EQ(wmma("load.a.sync.aligned.row.m16n16k16.shared.e4m3", "64").at(0).verdict,
            KernelVerdict::unknown);
}

TEST(KernelWmma, HasNoFixButItsStride) {
  KernelReport const r =
      report_of("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + eight + ", [%r2], 64;",
                {.block = {{32, 1, 1}}, .fixes = true});
  EXPECT_TRUE(r.fixes.empty());
  ASSERT_EQ(r.unfixed.size(), 1U);
  EXPECT_NE(r.unfixed[0].reason.find("stride"), std::string::npos);
  ASSERT_EQ(r.assumed.size(), 1U);
  EXPECT_NE(r.assumed[0].find("H19"), std::string::npos);
}

}  // namespace
}  // namespace swizproof
