// Lines, calls and names of accesses.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace swizproof {
namespace {

TEST(Kernel, LinesThatAnAccessIsInlinedAt) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.file 1 \"a/copy.hpp\"\n.file 2 \"gemm.cu\"\n"
      ".shared .align 16 .b8 tile[8192];\n.entry k()\n{\n.reg .b32 %r<9>;\n"
      ".loc 2 88 1\n mov.u32 %r1, tile;\n.loc 1 7 3, function_name $L__info_string0, inlined_at 2 88 1\n"
      "ld.shared.u32 %r2, [%r1];\nret;\n}\n",
      "test.ptx");
  KernelAccess const a = decide_kernel(m, m.functions.at(0), {.block = {{32, 1, 1}}}).accesses.at(0);
  ASSERT_EQ(a.inlined_at.size(), 1U);
  EXPECT_EQ(a.inlined_at[0].file, "gemm.cu");
  EXPECT_EQ(a.inlined_at[0].line, 88U);
  EXPECT_TRUE(is_at(a, "copy.hpp:7", "test.ptx"));
  EXPECT_TRUE(is_at(a, "gemm.cu:88", "test.ptx"));
  EXPECT_FALSE(is_at(a, "mm.cu:88", "test.ptx"));
  EXPECT_FALSE(is_at(a, "gemm.cu:7", "test.ptx"));
}

TEST(Kernel, AnExpressionInAnAddressIsNotIgnored) {
  KernelAccess const a = one("st.shared.u32 [%r2+(2)], %r1;");
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  EXPECT_EQ(a.reason, "lane 0 of warp 0 is 2 bytes past a multiple of 4");
  EXPECT_EQ(one("st.shared.u32 [%r2+(1+1)*2], %r1;").verdict, KernelVerdict::proved);
  KernelAccess const b = one("st.shared.u32 [%r2+2f], %r1;");
  EXPECT_EQ(b.verdict, KernelVerdict::unknown);
  EXPECT_EQ(b.reason, "this form of an address is not read (PTX line 10)");
}

/// Accesses of the kernel `k` in this text, whose block has 32 threads.
std::vector<KernelAccess> accesses_of(std::string const& functions) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n.extern .func "
      "printing();\n" +
          functions,
      "test.ptx");
  for (ptx::Function const& f : m.functions)
    if (f.entry) return decide_kernel(m, f, {.block = std::array<std::uint32_t, 3>{32, 1, 1}}).accesses;
  return {};
}

TEST(Kernel, ACallThatIsNotInlinedIsListed) {
  auto const called = [](std::string const& body) {
    return accesses_of(".func inner()\n{\n.reg .b32 %r<9>;\n" + body +
                       "\nret;\n}\n.func outer()\n{\ncall.uni inner;\nret;\n}\n.entry k()\n{\ncall.uni "
                       "outer;\nret;\n}\n");
  };
  EXPECT_TRUE(called("mov.u32 %r1, 0;").empty());
  auto const external = called("call.uni printing;");
  ASSERT_EQ(external.size(), 1U) << "its body is in another file";
  EXPECT_EQ(external[0].verdict, KernelVerdict::unknown);
  EXPECT_EQ(external[0].reason,
            "the function printing is not in this file: the call is not inlined (PTX line 9)");
  EXPECT_EQ(external[0].calls, (std::vector<std::uint32_t>{19, 14})) << "of outer, then of inner";
  EXPECT_EQ(
      accesses_of(".entry k(.param .u64 g)\n{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [g]; ld.global.u64 "
                  "%rd2, [%rd1];\ncall.uni printing; st.u32 [%rd2], 0; ret;\n}\n")
          .size(),
      2U)
      << "it may have put the address of an array there";
  auto const indirect = called(".reg .b64 %rd<3>; call %rd1, (), proto;");
  ASSERT_EQ(indirect.size(), 1U);
  EXPECT_EQ(indirect[0].reason, "an indirect call: the call is not inlined (PTX line 9)");
  auto const recursive = called("mov.u32 %r1, tile; ld.shared.u32 %r2, [%r1]; call.uni outer;");
  ASSERT_EQ(recursive.size(), 1U);
  EXPECT_EQ(recursive[0].reason,
            "the function inner may access shared memory: the call is not inlined, since outer calls itself "
            "(PTX line 19)");
}

TEST(Kernel, AnAccessOfAFunctionIsOneForEachCall) {
  auto const all = accesses_of(
      ".func (.param .b32 out) get(.param .b32 step, .param .b64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
      "ld.param.u32 %r1, [step]; ld.param.u64 %rd1, [p]; mov.u32 %r2, %tid.x; mul.lo.u32 %r3, %r2, %r1;\n"
      "cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %rd1, %rd2;\nld.u32 %r4, [%rd3];\n"
      "st.param.b32 [out+0], %r3;\nret;\n}\n"
      ".entry k()\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\nmov.u32 %r1, tile; cvt.u64.u32 %rd1, %r1;\n"
      "cvta.shared.u64 %rd2, %rd1;\n"
      "{ .param .b32 param0; st.param.b32 [param0+0], 4; .param .b64 param1; st.param.b64 [param1+0], %rd2;\n"
      ".param .b32 retval0; call.uni (retval0), get, (param0, param1); ld.param.b32 %r2, [retval0+0]; }\n"
      "{ .param .b32 param0; st.param.b32 [param0+0], 64; .param .b64 param1; st.param.b64 [param1+0], "
      "%rd2;\n"
      ".param .b32 retval0;\ncall.uni (retval0), get, (param0, param1); ld.param.b32 %r3, [retval0+0]; }\n"
      "add.u32 %r4, %r1, %r3;\nld.shared.u32 %r5, [%r4];\nret;\n}\n");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].wavefronts, 1U);
  EXPECT_EQ(all[1].wavefronts, 16U) << "rows of 64 bytes";
  EXPECT_EQ(all[0].ptx_line, all[1].ptx_line);
  EXPECT_EQ(all[0].calls.size(), 1U);
  EXPECT_NE(all[0].calls, all[1].calls);
  EXPECT_TRUE(all[1].reached);
  EXPECT_EQ(all[2].wavefronts, 16U) << "at the number that the second call returned";
  EXPECT_TRUE(all[2].calls.empty());
}

TEST(Kernel, LanesThatACallLeavesOutAreOff) {
  std::string const body =
      ".func store(.reg .b32 at)\n{\n.reg .b32 %r<9>; .reg .pred %p<3>;\nmov.u32 %r1, tile;\n"
      "mad.lo.u32 %r2, at, 128, %r1;\nsetp.ge.u32 %p1, at, 16;\n@%p1 ret;\nst.shared.u32 [%r2], "
      "%r1;\nret;\n}\n"
      ".entry k()\n{\n.reg .b32 %r<9>; .reg .pred %p<3>;\nmov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 4;\n";
  auto const some = accesses_of(body + "@%p1 call store, (%r1);\nret;\n}\n");
  ASSERT_EQ(some.size(), 1U);
  EXPECT_EQ(some[0].wavefronts, 4U) << "4 lanes call it";
  auto const rest = accesses_of(body + "@!%p1 call store, (%r1);\nret;\n}\n");
  EXPECT_EQ(rest.at(0).wavefronts, 12U) << "28 lanes call it, and 16 of them return before the store";
  auto const all = accesses_of(body + "call.uni store, (%r1);\nret;\n}\n");
  EXPECT_EQ(all.at(0).wavefronts, 16U);
}

TEST(Kernel, NamesThatAreNotDeclaredAreRefused) {
  auto const refused = [](std::string const& body) {
    KernelReport const r = report_of(body + " ld.shared.u32 %r6, [%r4];");
    for (KernelAccess const& a : r.accesses) EXPECT_EQ(a.verdict, KernelVerdict::unknown) << body;
    return r.refused;
  };
  EXPECT_EQ(refused("mov.u32 %r4, %r99;"), "line 10: %r99 is not declared");
  EXPECT_EQ(refused("mov.u32 %r99, %r4;"), "line 10: %r99 is not declared");
  EXPECT_EQ(refused("mov.u32 %r4, other;"), "line 10: other is not declared");
  EXPECT_EQ(refused("mov.u32 other, %r4;"), "line 10: other is not declared");
  EXPECT_EQ(refused("setp.lt.u32 %p9, %r1, 3;"), "line 10: %p9 is not declared");
  EXPECT_EQ(refused("mov.u32 %r4, %r2-4;"), "line 10: %r2-4 is not declared");
  EXPECT_EQ(refused("ld.shared.u32 %r4, [other];"), "line 10: other is not declared");
  EXPECT_EQ(report_of("mov.u64 %rd1, f; mov.u32 %r4, WARP_SZ; mov.u64 %rd2, %clock64; mov.u32 %r4, "
                      "%dynamic_smem_size;")
                .refused,
            "line 10: f is not declared");
  EXPECT_EQ(report_of("mov.u64 %rd1, k; mov.u32 %r4, WARP_SZ; mov.u64 %rd2, %clock64; mov.u32 %r4, "
                      "%dynamic_smem_size;")
                .refused,
            "");
  EXPECT_EQ(load_at("mul.lo.u32 %r4, %r1, WARP_SZ;").wavefronts, 32U);
}

}  // namespace
}  // namespace swizproof
