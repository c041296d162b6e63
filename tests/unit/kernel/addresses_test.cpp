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

}  // namespace
}  // namespace swizproof
