// Addresses that are computed: of parameters in memory, and of one of two spaces.
#include "kernel_case.hpp"

#include <fmt/format.h>

namespace swizproof {
namespace {

/// A kernel whose structure s[128] is read at an address, whose value times 128 is an address in 4 KiB.
KernelAccess indexed(std::string const& address, std::string const& load, std::string const& value = "%r2") {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n"
      ".entry k(.param .align 8 .b8 s[160], .param .u64 o)\n{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 "
      "%r<9>; "
      ".reg .b64 %d<9>;\n.shared .align 4 .b8 a[4096];\nmov.u32 %r0, %tid.x;\n" +
          address + "\n" + load +
          fmt::format("\nand.b32 %r3, {}, 31; shl.b32 %r3, %r3, 7; mov.u32 %r4, a; ", value) +
          "add.u32 %r4, %r4, %r3; ld.shared.u32 %r5, [%r4];\nret;\n}\n",
      "test.ptx");
  KernelOptions options;
  options.block = {32, 1, 1};
  return decide_kernel(m, m.functions.at(0), options).accesses.at(0);
}

TEST(KernelAddresses, OfAStructureThatIsIndexedAreNotItsFirstWord) {
  for (std::string const address :
       {"mov.b64 %d1, s; mad.wide.u32 %d3, %r0, 4, %d1;",                    // the base before the term
        "mul.wide.u32 %d2, %r0, 4; mov.b64 %d1, s; add.u64 %d3, %d1, %d2;",  // behind it
        "mul.wide.u32 %d2, %r0, 4; mov.b64 %d1, s; add.u64 %d3, %d2, %d1;",
        "mov.b64 %d1, s; mul.wide.u32 %d2, %r0, 4; add.u64 %d2, %d2, 8; add.u64 %d3, %d1, %d2;",
        "mov.b64 %d1, s; mul.wide.u32 %d2, %r0, 4; or.b64 %d3, %d1, %d2;",
        "mov.b64 %d1, s; cvta.param.u64 %d1, %d1; mad.wide.u32 %d3, %r0, 4, %d1;"}) {
    for (auto const& [load, value] : std::vector<std::pair<std::string, std::string>>{
             {"ld.param.u32 %r2, [%d3];", "%r2"},
             {"ld.param::entry.u32 %r2, [%d3];", "%r2"},
             {"ld.param.u8 %r2, [%d3];", "%r2"},
             {"ld.param.v2.u32 {%r2, %r6}, [%d3];", "%r2"},
             {"ld.param.u64 %d4, [%d3]; cvt.u32.u64 %r2, %d4;", "%r2"}}) {
      KernelAccess const a = indexed(address, load, value);
      EXPECT_NE(a.verdict, KernelVerdict::proved) << address << load;
      EXPECT_TRUE(!a.wavefronts || *a.wavefronts == 32) << address << load;
    }
  }
}

TEST(KernelAddresses, OfAStructureWithoutATermAreOneValue) {
  EXPECT_EQ(indexed("mov.b64 %d1, s;", "ld.param.u32 %r2, [%d1+8];").verdict, KernelVerdict::proved);
  EXPECT_EQ(indexed("mov.b64 %d1, s; add.u64 %d3, %d1, 8;", "ld.param.u32 %r2, [%d3];").verdict,
            KernelVerdict::proved);
}

/// `for (i = tid.x; i < n; i += 256) s[i]`, as nvcc writes it: up to three iterations, and then four at a time. Lanes leave the first loop
/// in iterations of their own, which move an address by multiples of 1024 bytes.
TEST(KernelAddresses, BehindALoopThatLanesLeaveApart) {
  auto const cost_of = [](std::string const& element, std::string const& step) {
    return one("not.b32 %r10, %r1; add.s32 %r10, %r10, %r3; shr.u32 %r11, %r10, 8; add.s32 %r11, %r11, 1; "
               "and.b32 %r11, %r11, 3;\n"
               "setp.eq.s32 %p1, %r11, 0; mov.u32 %r12, %r1; @%p1 bra F;\nL: add.s32 %r12, %r12, " +
                   step + "; add.s32 %r11, %r11, -1; setp.ne.s32 %p2, %r11, 0; @%p2 bra L;\n" +
                   "F: shl.b32 %r13, %r12, 2; add.s32 %r13, %r2, %r13;\n"
                   "M: " +
                   element +
                   "; add.s32 %r13, %r13, 4096; add.s32 %r12, %r12, 1024; setp.lt.s32 %p3, %r12, %r3; @%p3 "
                   "bra M;",
               {.block = {{256, 1, 1}}})
        .wavefronts;
  };
  EXPECT_EQ(cost_of("st.shared.u32 [%r13], %r1", "256"), 1U);
  EXPECT_EQ(cost_of("st.shared.u32 [%r13], %r1", "32"), 1U);
  EXPECT_NE(cost_of("st.shared.u32 [%r13], %r1", "8"), 1U) << "32 bytes move banks";
}

/// A kernel with t in constant memory, declared as given, whose word behind tile + 4 * %r5 is loaded. `%r1` is tid.x, `%r3` the parameter n.
KernelReport of_constants(std::string const& declared, std::string const& index) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n" + declared +
          "\n.entry k(.param .u32 n, .param .u64 g)\n{\n.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; "
          ".reg "
          ".b64 %rd<9>;\n.shared .align 4 .b8 tile[16384];\nmov.u32 %r1, %tid.x; mov.u32 %r2, tile; "
          "ld.param.u32 %r3, "
          "[n]; mov.u64 %rd1, t;\n" +
          index + "\nshl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, [%r6];\nret;\n}\n",
      "test.ptx");
  KernelOptions options;
  options.block = {64, 1, 1};
  return decide_kernel(m, m.functions.at(0), options);
}

std::string element_of_t(std::string const& index) {
  return index + " mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; ld.const.u32 %r5, [%rd3];";
}

TEST(KernelAddresses, OfAConstantTableAreThoseOfTheModule) {
  std::string const four = ".const .align 4 .b8 t[16] = {0, 0, 0, 0, 32, 0, 0, 0, 64, 0, 0, 0, 96};";
  std::string const by_lane = element_of_t("and.b32 %r4, %r1, 3;");
  KernelReport const r = of_constants(four, by_lane);
  EXPECT_EQ(r.accesses.at(0).verdict, KernelVerdict::refuted);
  EXPECT_EQ(r.accesses.at(0).wavefronts, 4U);
  EXPECT_EQ(r.rests_on, std::vector<std::string>{"constant memory is as the PTX initialises it"})
      << "cudaMemcpyToSymbol may write it";
  KernelReport const words = of_constants(".const .u32 t[4] = {0, 33, 66, 99};", by_lane);
  EXPECT_EQ(words.accesses.at(0).verdict, KernelVerdict::proved);
  for (std::string const any : {".const .align 4 .b8 t[16];", ".extern .const .align 4 .b8 t[16];",
                                ".const .u32 t[2][2] = {{0}, {64, 96}};"}) {
    KernelReport const open = of_constants(any, by_lane);
    EXPECT_EQ(open.accesses.at(0).verdict, KernelVerdict::data) << any;
    EXPECT_TRUE(open.rests_on.empty()) << any;
  }
}

TEST(KernelAddresses, OfAConstantNumberAreThoseOfTheModule) {
  auto const cost = [](std::string const& declared, std::string const& load) {
    return of_constants(declared, load + " mul.lo.u32 %r5, %r1, %r4;").accesses.at(0).wavefronts;
  };
  EXPECT_EQ(cost(".const .align 4 .u32 t = 33;", "ld.const.u32 %r4, [t];"), 1U);
  EXPECT_EQ(cost(".const .align 4 .u32 t = 8;", "ld.const.u32 %r4, [t];"), 8U);
  EXPECT_EQ(cost(".const .align 4 .u16 t[3] = {8, 9, 16};", "ld.const.u16 %h1, [t+4]; cvt.u32.u16 %r4, %h1;"),
            16U);
  EXPECT_EQ(cost(".const .align 4 .u16 t[3] = {8, 9, 16};",
                 "ld.const.v2.u16 {%h1, %h2}, [t]; cvt.u32.u16 %r4, %h2;"),
            1U);
  EXPECT_EQ(cost(".const .align 4 .u32 t = 8;", "ld.const.u32 %r4, [t+4];"), 32U) << "behind the variable";
}

TEST(KernelAddresses, OfAConstantTableWithAnotherIndex) {
  std::string const four = ".const .align 4 .b8 t[16] = {0, 0, 0, 0, 32, 0, 0, 0, 64, 0, 0, 0, 96};";
  EXPECT_EQ(of_constants(four, element_of_t("add.u32 %r4, %r1, %r3; and.b32 %r4, %r4, 3;"))
                .accesses.at(0)
                .wavefronts,
            4U);
  KernelAccess const behind =
      of_constants(".const .u32 t[4] = {0, 33, 66, 99};", element_of_t("and.b32 %r4, %r1, 7;"))
          .accesses.at(0);
  EXPECT_EQ(behind.verdict, KernelVerdict::data) << "lanes read behind the table";
  // An index that all lanes share moves all of them: no value of the table is needed.
  KernelReport const uniform =
      of_constants(four, element_of_t("and.b32 %r4, %r3, 3;") + " add.u32 %r5, %r5, %r1;");
  EXPECT_EQ(uniform.accesses.at(0).verdict, KernelVerdict::proved);
  EXPECT_TRUE(uniform.rests_on.empty());
}

/// `s[(i / 64) * 64 + (i % 64 ^ i / 64 % 8 * 4)]` with `int i = tid.x; i < 2048; i += 256`, whose sign the compiler does not know: one
/// iteration after the other, it is positive.
TEST(KernelAddresses, OfSignedQuotientsOfACounterWithFewValues) {
  KernelAccess const a = one(
      "mov.u32 %r20, %r1;\nL: shr.s32 %r10, %r20, 31; shr.u32 %r10, %r10, 26; add.s32 %r10, %r20, %r10;\n"
      "and.b32 %r11, %r10, -64; shr.s32 %r12, %r10, 6; sub.s32 %r13, %r20, %r11;\n"
      "shr.s32 %r14, %r12, 31; shr.u32 %r14, %r14, 29; add.s32 %r14, %r12, %r14; and.b32 %r14, %r14, -8;\n"
      "sub.s32 %r14, %r12, %r14; shl.b32 %r14, %r14, 2; xor.b32 %r13, %r13, %r14; add.s32 %r13, %r13, %r11;\n"
      "shl.b32 %r13, %r13, 2; add.s32 %r13, %r13, %r2; st.shared.u32 [%r13], %r1;\n"
      "add.s32 %r20, %r20, 256; setp.lt.s32 %p1, %r20, 2048; @%p1 bra L;",
      {.block = {{256, 1, 1}}});
  EXPECT_EQ(a.verdict, KernelVerdict::proved) << a.reason;
  EXPECT_EQ(a.wavefronts, 1U);
  EXPECT_EQ(a.in_bounds, true);
}

TEST(KernelAddresses, OfTwoSpacesAreNotShared) {
  auto const chosen = [](std::string const& how) {
    auto const all = decided(
        "mov.u64 %rd1, tile; cvta.shared.u64 %rd1, %rd1; ld.param.u64 %rd2, [g]; mul.wide.u32 %rd4, %r1, "
        "128;\n" +
        how + "\nadd.u64 %rd5, %rd3, %rd4; ld.u32 %r9, [%rd5];");
    return all.empty() ? std::string("elsewhere") : all.at(0).reason;
  };
  std::string const mixed = "a generic address that is shared memory in one case and other memory in another";
  for (std::string const condition :
       {"setp.eq.u32 %p1, %r1, 0;", "setp.eq.u32 %p1, %r3, 5;", "setp.eq.u32 %p1, %r1, 99;"}) {
    EXPECT_EQ(chosen(condition + " selp.b64 %rd3, %rd1, %rd2, %p1;"), mixed) << condition;
    EXPECT_EQ(chosen(condition + " mov.u64 %rd3, %rd2; @%p1 mov.u64 %rd3, %rd1;"), mixed) << condition;
    EXPECT_EQ(chosen(condition + " mov.u64 %rd3, %rd2;\n@!%p1 bra $L;\nmov.u64 %rd3, %rd1;\n$L:"), mixed)
        << condition;
    EXPECT_EQ(chosen(condition + " add.u64 %rd6, %rd1, 4; selp.b64 %rd3, %rd1, %rd6, %p1;"), "")
        << "both are shared";
  }
  EXPECT_EQ(chosen("mov.u64 %rd3, %rd2;"), "elsewhere");
}

TEST(KernelAddresses, OfUnknownModifiersHaveNoCost) {
  for (std::string const load :
       {"ld.shared.wobble.u32 %r5, [%r2];", "st.wobble.shared.u32 [%r2], %r1;",
        "atom.shared.wobble.u32 %r5, [%r2], %r1;", "red.shared.add.wobble.u32 [%r2], %r1;"}) {
    KernelAccess const a = one(load);
    EXPECT_EQ(a.verdict, KernelVerdict::unknown) << load;
    EXPECT_EQ(a.wavefronts, std::nullopt) << load;
    EXPECT_NE(a.reason.find("'.wobble' is no "), std::string::npos) << a.reason;
  }
  EXPECT_EQ(one("ldmatrix.sync.aligned.m8n8.x4.shared.b99 {%r4, %r5, %r6, %r7}, [%r2];").verdict,
            KernelVerdict::unknown);
  EXPECT_EQ(one("ld.shared.u32.v2 {%r4, %r5}, [%r2];").instruction->bytes, 8U);
}

TEST(KernelExecutions, NameTheBasesThatTheirCostDependsOn) {
  // Halves 66 bytes apart: lanes share a word and a bank as the array starts at a word or behind its half.
  KernelAccess const half = one(
      ".shared .align 2 .b8 c[4096]; mov.u32 %r4, c; mad.lo.u32 %r4, %r1, 66, %r4; ld.shared.u16 %r5, [%r4];",
      {.block = {{32, 1, 1}}, .at_most = 1});
  ASSERT_TRUE(half.worst);
  ASSERT_EQ(half.worst->bases.size(), 1U);
  EXPECT_EQ(half.worst->bases[0].first, "c");
  EXPECT_EQ(half.worst->bases[0].second % 2, 0U);
  EXPECT_TRUE(
      one("shl.b32 %r4, %r1, 7; add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];").worst->bases.empty());
}

TEST(KernelExecutions, NameTheLanesThatAreNotKnown) {
  // Lanes from 8 on have a condition that is not modelled.
  KernelAccess const a = one(
      "setp.lt.u32 %p1, %r1, 8;\n@%p1 bra $X;\nfoo.wrap.u32 %r6, %r1, 10; setp.lt.u32 %p1, %r6, 1024;\n$X:\n"
      "shl.b32 %r4, %r1, 7; add.u32 %r4, %r4, %r2; @%p1 ld.shared.u32 %r5, [%r4];",
      {.block = {{32, 1, 1}}});
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.seen, 8U);
  ASSERT_TRUE(a.worst);
  EXPECT_EQ(a.worst->open, 0xffffff00U);
  // And those that go around it.
  KernelAccess const b =
      one("foo.wrap.u32 %r6, %r1, 10; setp.lt.u32 %p1, %r1, 8; setp.lt.u32 %p2, %r6, 1024; or.pred %p1, %p1, "
          "%p2;\n"
          "shl.b32 %r4, %r1, 7; add.u32 %r4, %r4, %r2;\n@!%p1 bra $X;\nld.shared.u32 %r5, [%r4];\n$X:",
          {.block = {{32, 1, 1}}});
  ASSERT_TRUE(b.worst);
  EXPECT_EQ(b.worst->open, 0xffffff00U);
  // Lanes that are surely off are not among them.
  EXPECT_EQ(one("setp.lt.u32 %p1, %r1, 8; shl.b32 %r4, %r1, 7; add.u32 %r4, %r4, %r2; @%p1 ld.shared.u32 "
                "%r5, [%r4];",
                {.block = {{32, 1, 1}}})
                .worst->open,
            0U);
}

TEST(KernelAddresses, AProductByAPowerOfTwoIsAShift) {
  for (std::string const times_32 :
       {"shl.b32 %r6, %r6, 5;", "mul.lo.u32 %r6, %r6, 32;", "mul.lo.u32 %r6, %r6, 96;"})
    EXPECT_EQ(one("foo.u32 %r6, %r1; " + times_32 +
                  " and.b32 %r6, %r6, 31; add.u32 %r4, %r6, %r2; ld.shared.u32 %r5, [%r4];")
                  .verdict,
              KernelVerdict::proved)
        << times_32;
  // No bit is left of a value that differs by lanes in an unknown way.
  for (std::string const times_32 : {"shl.b32 %r6, %r6, 5;", "mul.lo.u32 %r6, %r6, 32;"})
    EXPECT_EQ(one("setp.lt.u32 %p1, %r1, 9; selp.b32 %r6, %r3, %r1, %p1; " + times_32 +
                  " and.b32 %r6, %r6, 31; add.u32 %r4, %r6, %r2; ld.shared.u32 %r5, [%r4];")
                  .verdict,
              KernelVerdict::proved)
        << times_32;
}

TEST(KernelAddresses, OfMasksWithoutACommonBitAreZero) {
  for (std::string const masks :
       {"and.b32 %r5, %r5, -4; and.b32 %r5, %r5, 3;", "and.b32 %r5, %r5, -4; and.b32 %r5, %r5, %r7;",
        "and.b32 %r5, %r5, %r8; and.b32 %r5, %r5, %r7;"}) {
    KernelAccess const a =
        one("mov.u32 %r7, 3; mov.u32 %r8, -4; ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 "
            "%rd1, %rd1, %rd2; "
            "ld.global.u32 %r5, [%rd1]; " +
            masks + " add.u32 %r4, %r5, %r2; ld.shared.u32 %r6, [%r4];");
    EXPECT_TRUE(a.reached) << masks;
    EXPECT_EQ(a.in_bounds, true) << masks;
  }
}

TEST(KernelFaults, OpenBoundsHaveAReason) {
  std::string const load = " ld.shared.u32 %r7, [%r4];", address = "shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, ";
  std::string const dynamic = "mov.u32 %r5, dynamic; " + address + "%r5;" + load;
  EXPECT_EQ(one(dynamic).bounds_reason,
            "the size of dynamic is set at the launch: --shared-bytes N gives it");
  KernelOptions options;
  options.shared_bytes = 4096;
  EXPECT_EQ(one(dynamic, options).in_bounds, true);
  EXPECT_EQ(one(dynamic, options).bounds_reason, "");
  KernelAccess const a =
      one("mul.lo.u32 %r3, %r3, %r3; and.b32 %r3, %r3, 2; shl.b32 %r3, %r3, 12; add.s32 %r2, %r2, %r3; " +
          address + "%r2;" + load);
  EXPECT_EQ(a.in_bounds, std::nullopt);
  EXPECT_EQ(a.bounds_reason,
            "no proof that the address stays within tile, and no execution was found that leaves it; the "
            "address takes a "
            "parameter: --param NAME=VALUE gives it");
}

TEST(KernelFaults, OfOneOfTwoArraysAreNone) {
  KernelAccess const a =
      one(".shared .align 4 .b8 c[4096]; .shared .align 4 .b8 d[4096]; mov.u32 %r4, c; mov.u32 %r5, d; "
          "and.b32 %r6, %r1, 1; setp.eq.u32 %p1, %r6, 0; selp.b32 %r4, %r4, %r5, %p1; shl.b32 %r6, %r1, 2; "
          "add.u32 %r4, %r4, %r6; ld.shared.u32 %r7, [%r4];",
          {.block = {{32, 1, 1}}});
  EXPECT_EQ(a.in_bounds, std::nullopt) << a.reason;
}

TEST(KernelFaults, OfAnExecutionComeBeforeItsCost) {
  // 256 bytes: n * t stays within them for n up to 2, where two lanes meet; for n = 3 lane 22 leaves them.
  std::string const array = ".shared .align 4 .b8 s[256]; mov.u32 %r2, s; ";
  KernelAccess const a = one(
      array +
          "mul.lo.u32 %r4, %r3, %r1; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];",
      {.block = {{32, 1, 1}}});
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  EXPECT_EQ(a.in_bounds, false);
  EXPECT_EQ(a.seen, 2U) << "of the executions within the array";
  EXPECT_EQ(a.reason, "lane 22 of warp 0 accesses byte 0x108 of s, which has 256 bytes, if n = 3");
  KernelAccess const b = one(array +
                             "add.u32 %r4, %r3, %r1; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; "
                             "ld.shared.u32 %r5, [%r4];");
  EXPECT_EQ(b.in_bounds, false);
  EXPECT_EQ(b.wavefronts, 1U);
  EXPECT_NE(b.reason.find("of s, which has 256 bytes, if n = "), std::string::npos) << b.reason;
  KernelOptions options;
  options.params["n"] = {0, false};
  EXPECT_EQ(
      one(array +
              "add.u32 %r4, %r3, %r1; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r2; ld.shared.u32 %r5, [%r4];",
          options)
          .in_bounds,
      true)
      << "with the value that is given";
}

TEST(KernelFaults, OfAnAlignmentTakeParameters) {
  KernelAccess const a =
      one("and.b32 %r4, %r3, 8; add.u32 %r4, %r4, 8; shl.b32 %r5, %r1, 4; add.u32 %r4, %r4, %r5; "
          "add.u32 %r4, %r4, %r2; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4];");
  EXPECT_EQ(a.aligned, false);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  EXPECT_NE(a.reason.find("is 8 bytes behind a multiple of 16 in tile, if n = "), std::string::npos)
      << a.reason;
}

}  // namespace
}  // namespace swizproof
