// Questions that are proposed: kinds and types of parameters, extents, blocks.
#include <swizproof/flow/proposal.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

/// `#0 f32[64] ..`: the values that are proposed, or the kinds of those without one.
std::string proposed(std::string const& params, std::string const& body, std::string const& shared = "") {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k(" + params + ")\n{\n" + shared +
          ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .f32 %f<4>; .reg .b64 %rd<12>;\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  FlowLaunch launch;
  launch.block = {64, 1, 1};
  FlowProposal const p = propose_flow(m, m.functions[0], launch);
  std::string out;
  for (FlowParameter const& one : p.parameters) out += "#" + one.key + "=" + one.value + " ";
  if (p.shared_bytes != 0) out += std::to_string(p.shared_bytes) + " bytes ";
  return out + p.reason;
}

std::string const
    both = ".param .u64 y, .param .u64 x, .param .u32 n",
    head =
        "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.u32 %r2, [n];\n"
        "cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;\n"
        "setp.ge.u32 %p1, %r1, %r2; @%p1 bra $E;\n"
        "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n";

TEST(Proposal, FindsTypesOfElements) {
  EXPECT_EQ(proposed(both, head + "ld.global.b32 %r3, [%rd5+4]; mov.b32 %f1, %r3; add.f32 %f1, %f1, %f1; "
                                  "mov.b32 %r4, %f1; st.global.b32 [%rd4], %r4;\n$E:"),
            "#0=y:f32[64] #1=x:f32[65] #2=64 ");
  EXPECT_EQ(
      proposed(both,
               head + "ld.global.u32 %r3, [%rd5]; add.s32 %r3, %r3, 1; st.global.u32 [%rd4], %r3;\n$E:"),
      "#0=y:u32[64] #1=x:u32[64] #2=64 ");
  // by way of shared memory, and of halves
  EXPECT_EQ(proposed(both,
                     head + "mov.u32 %r5, s; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6; "
                            "cp.async.ca.shared.global [%r5], [%rd5], 4; cp.async.wait_all; "
                            "ld.shared.b32 %r3, [%r5];\n"
                            "fma.rn.bf16x2 %r4, %r3, %r3, %r3; st.global.b32 [%rd4], %r4;\n$E:",
                     ".shared .align 16 .b8 s[256];\n")
                .substr(0, 32),
            "#0=y:bf16[128] #1=x:bf16[128] #2");
}

TEST(Proposal, FindsPairsOfFourBits) {
  EXPECT_EQ(
      proposed(
          ".param .u64 y, .param .u64 x",
          "ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 31;\n"
          "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3; ld.global.u32 %r2, [%rd4];\n"
          "mov.u32 %r5, 0; mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32 {%r3, %r4}, {%r2}, {%r2}, "
          "{%r5, %r5};\nadd.s64 %rd5, %rd1, %rd3; add.s64 %rd6, %rd5, %rd3; st.global.u32 [%rd6], %r3;\n"),
      "#0=y:i32[63] #1=x:u4x2[128] ");
}

TEST(Proposal, HasNumbersPartsAndData) {
  EXPECT_EQ(proposed(".param .align 8 .b8 s[24], .param .f32 a",
                     "ld.param.u64 %rd1, [s+8]; ld.param.u32 %r1, [s+16]; ld.param.f32 %f1, [a]; "
                     "mul.wide.u32 %rd2, %r1, 4;\n"
                     "add.s64 %rd1, %rd1, %rd2; mul.f32 %f1, %f1, %f1; st.global.f32 [%rd1], %f1;"),
            "#0+8=s_8:f32[65] #0+16=64 #1=a:f32 ");
  // an index that is data, and a number that decides
  EXPECT_EQ(proposed(both, head + "ld.global.u32 %r3, [%rd5]; mul.wide.u32 %rd6, %r3, 4; add.s64 %rd6, %rd1, "
                                  "%rd6; st.global.u32 [%rd6], 1;\n$E:")
                .substr(0, 36),
            "#0=y:u32[1] #1=x:u32[64]=zeros #2=64");
  EXPECT_EQ(proposed(".param .u64 y, .param .f32 a",
                     "ld.param.u64 %rd1, [y]; ld.param.f32 %f1, [a]; setp.eq.f32 %p1, %f1, 0f00000000; @%p1 "
                     "bra $E; st.global.u32 [%rd1], 1;\n$E:"),
            "#0=y:u32[1] #1=1:f32 ");
}

TEST(Proposal, MeasuresDynamicSharedMemory) {
  EXPECT_EQ(proposed("",
                     "mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, s; add.s32 %r1, %r1, %r2; "
                     "st.shared.u32 [%r1], 0;",
                     ".extern .shared .align 16 .b8 s[];\n"),
            "256 bytes ");
}

TEST(Proposal, TakesTheBlockThatThePtxSays) {
  auto const block = [](std::string const& directive, std::string const& body) {
    ptx::Module const m = ptx::read_module(".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() " +
                                               directive + "\n{\n.reg .b32 %r<2>;\n" + body + "ret;\n}\n",
                                           "t");
    return likely_block(m.functions[0]).threads;
  };
  using Three = std::array<std::uint32_t, 3>;
  EXPECT_EQ(block(".reqntid 96, 2", ""), (Three{96, 2, 1}));
  EXPECT_EQ(block(".maxntid 256", ""), (Three{256, 1, 1}));
  EXPECT_EQ(block(".maxntid 256", "mov.u32 %r1, %tid.y;\n"), (Three{32, 8, 1}));
  EXPECT_EQ(block("", ""), (Three{128, 1, 1}));
}

}  // namespace
}  // namespace swizproof
