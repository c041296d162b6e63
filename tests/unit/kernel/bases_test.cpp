// Answers that depend on where arrays lie: of the device's addresses (H18), or of all that PTX permits.
#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

using enum KernelVerdict;

KernelReport report_with(std::string const& file, std::string const& body, bool any_base = false,
                         Architecture const& arch = sm_90) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n" + file +
          ".entry k(.param .u64 g)\n{\n.reg .pred %p<4>; .reg .b32 %r<30>; .reg .b64 %rd<9>; .reg "
          ".f32 %f<9>;\nmov.u32 %r1, %tid.x; ld.param.u64 %rd1, [g];\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  KernelOptions options;
  options.block = {128, 1, 1}, options.any_base = any_base, options.arch = &arch;
  return decide_kernel(m, m.functions.back(), options);
}

std::string const dynamic = ".extern .shared .align 4 .b8 d[];\n";
// Words whose number is XORed with bits 7..9 of the address: two lanes meet at some bases, none at 0x400.
std::string const swizzled =
    "shl.b32 %r3, %r1, 2; mov.u32 %r2, d; add.u32 %r3, %r3, %r2; shr.u32 %r4, %r3, 5; and.b32 %r4, %r4, 28; "
    "xor.b32 %r3, %r3, %r4;\nld.shared.u32 %r5, [%r3];";

TEST(KernelBases, AnAccessIsDecidedOnTheDevicesBase) {
  KernelReport const on = report_with(dynamic, swizzled);
  EXPECT_EQ(on.accesses[0].verdict, proved) << on.accesses[0].reason;
  EXPECT_EQ(on.accesses[0].wavefronts, 1U);
  EXPECT_EQ(on.accesses[0].aligned, true);
  EXPECT_TRUE(on.accesses[0].on_bases);
  EXPECT_EQ(on.assumed_bases,
            "shared memory starts at 0x400, and arrays follow each other as they are declared (H18: measured "
            "on sm_90)");
  KernelReport const any = report_with(dynamic, swizzled, true);
  EXPECT_EQ(any.accesses[0].verdict, refuted);
  EXPECT_FALSE(any.accesses[0].on_bases);
  EXPECT_EQ(any.assumed_bases, "");
}

// A base that rounds up to a period is right on every base, and assumes none.
TEST(KernelBases, AnAnswerForAllBasesAssumesNone) {
  KernelReport const r =
      report_with(".extern .shared .align 16 .b8 d[];\n",
                  "mov.u32 %r2, d; add.u32 %r2, %r2, 1023; and.b32 %r2, %r2, -1024; shl.b32 "
                  "%r3, %r1, 7; shr.u32 %r4, %r3, 3; "
                  "and.b32 %r4, %r4, 112; xor.b32 %r3, %r3, %r4; add.u32 %r3, %r3, "
                  "%r2;\nld.shared.v4.u32 {%r5,%r6,%r7,%r8}, [%r3];");
  EXPECT_EQ(r.accesses[0].verdict, proved) << r.accesses[0].reason;
  EXPECT_FALSE(r.accesses[0].on_bases);
  EXPECT_EQ(r.assumed_bases, "");
}

// Behind 132 bytes an array of .align 4 lies at 0x484: its first vector is misaligned on the device.
TEST(KernelBases, AMisalignedArrayIsShown) {
  std::string const load =
      "mov.u32 %r2, a; st.shared.u32 [%r2], %r1; shl.b32 %r3, %r1, 4; mov.u32 %r2, b; add.u32 %r3, %r3, "
      "%r2;\n"
      "ld.shared.v4.u32 {%r5,%r6,%r7,%r8}, [%r3];";
  auto const second = [&](std::string const& bytes) {
    return report_with("", ".shared .align 4 .b8 a[" + bytes + "];\n.shared .align 4 .b8 b[4096];\n" + load)
        .accesses.at(1);
  };
  EXPECT_EQ(second("132").verdict, refuted);
  EXPECT_EQ(second("132").aligned, false);
  EXPECT_EQ(second("128").verdict, proved) << second("128").reason;
  EXPECT_EQ(second("128").aligned, true);
}

// 64 rows of 256 bytes, and a column of 2 bytes that the warp chooses: a base is assumed, since an element may lie across two words.
TEST(KernelBases, BoundsCountFromTheDevicesBase) {
  auto const column = [&](std::string const& bytes) {
    return report_with("", ".shared .align 2 .b8 a[" + bytes +
                               "];\nmov.u32 %r2, a; and.b32 %r3, %r1, 63; shl.b32 %r3, %r3, 8; shr.u32 %r4, "
                               "%r1, 6; shl.b32 %r4, %r4, 1; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r2;\n"
                               "ld.shared.u16 %r5, [%r3];")
        .accesses.at(0);
  };
  EXPECT_EQ(column("16132").in_bounds, true) << column("16132").bounds_reason;
  EXPECT_NE(column("16131").in_bounds, true);
}

TEST(KernelBases, OtherArchitecturesAreNotMeasured) {
  Architecture const* const sm_100 = &architectures[8];
  ASSERT_EQ(sm_100->name, "sm_100");
  EXPECT_EQ(report_with(dynamic, swizzled, false, *sm_100).assumed_bases,
            "shared memory starts at 0x400, and arrays follow each other as they are declared (H18: measured "
            "on sm_90, not on sm_100)");
}

// With a function that has arrays the addresses are open: no base is known to cost more.
TEST(KernelBases, AnUnknownBaseRefutesNothing) {
  std::string const function =
      ".func f()\n{\n.reg .b32 %r<2>;\n.shared .align 4 .b8 w[8];\nmov.u32 %r1, w; st.shared.u32 [%r1], "
      "%r1;\nret;\n}\n";
  KernelReport const r = report_with(dynamic + function, "call f, ();\n" + swizzled);
  EXPECT_EQ(r.accesses.back().verdict, unknown);
  EXPECT_FALSE(r.accesses.back().on_bases);
}

/// wgmma with B at %r10 under 128B, and a copy of a tensor to it.
std::string const wgmma =
    "and.b32 %r11, %r10, 0x3ffff; shr.u32 %r11, %r11, 4; cvt.u64.u32 %rd2, %r11; or.b64 %rd3, %rd2, "
    "0x4000004000010000;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, {%r7,%r7,%r7,%r7}, %rd3, 1, 1, 1, "
    "0;\n";
std::string const copied =
    "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r10], [%rd1, {%r1}], "
    "[%r12];\n";

KernelOperand descriptor(KernelReport const& r) {
  for (KernelOperand const& o : r.operands)
    if (o.what == "descriptor B") return o;
  return {};
}

TEST(KernelBases, ADescriptorIsDecidedOnTheDevicesBase) {
  std::string const loose = ".extern .shared .align 16 .b8 d[];\n", at = "mov.u32 %r10, d;\n";
  KernelOperand const on = descriptor(report_with(loose, at + wgmma));
  EXPECT_EQ(on.verdict, proved) << on.reason;
  EXPECT_TRUE(on.on_bases);
  EXPECT_EQ(on.guaranteed, 1024U);
  KernelOperand const any = descriptor(report_with(loose, at + wgmma, true));
  EXPECT_EQ(any.verdict, refuted);
  EXPECT_EQ(any.base, 128U);
  // Behind 16 bytes it is at 0x410: own arithmetic would need the period.
  KernelOperand const behind = descriptor(report_with(
      loose, ".shared .align 4 .b8 a[4];\nmov.u32 %r13, a; st.shared.u32 [%r13], %r1;\n" + at + wgmma));
  EXPECT_NE(behind.verdict, proved);
}

// A tile that TMA writes is right for wgmma at every multiple of 128.
TEST(KernelBases, ATileOfTmaMayStartAnywhere) {
  std::string const file = ".extern .shared .align 128 .b8 d[];\n.shared .align 8 .b8 bar[8];\n",
                    at = "mov.u32 %r12, bar; mov.u32 %r10, d;\n";
  KernelReport const any = report_with(file, at + copied + wgmma, true);
  for (KernelOperand const& o : any.operands) EXPECT_EQ(o.verdict, proved) << o.what << ": " << o.reason;
  EXPECT_EQ(descriptor(any).needed, 16U);
  std::string const offset = "or.b64 %rd3, %rd2, 0x4000004000010000;",
                    with = "or.b64 %rd3, %rd2, 0x4002004000010000;";
  std::string based = wgmma;
  based.replace(based.find(offset), offset.size(), with);
  EXPECT_NE(descriptor(report_with(file, at + copied + based, true)).verdict, proved)
      << "a base offset moves what is read";
  EXPECT_EQ(descriptor(report_with(file, at + wgmma, true)).verdict, refuted) << "no copy writes it";
}

}  // namespace
}  // namespace swizproof
