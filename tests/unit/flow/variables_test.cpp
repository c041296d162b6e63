// Variables of constant and global memory.
#include "kernel_case.hpp"

#include <swizproof/ptx/initial.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(Variables, HaveTheirInitialBytes) {
  std::string const text =
      ".const .align 4 .u32 n = 5;\n.visible .const .align 4 .b8 w[4] = {0, 0, 128, 63};\n.const .align 2 "
      ".u16 h[2][2] = {{1, 0x203}, {-1, 2}};\n.const .align 2 .u16 rows[2][2] = {{1}, {2, 3}};\n"
      ".const .b32 octal[3] = {010, -017U, 0};\n.const .b32 bad = 08;\n.const .b32 binary = 0b101;\n"
      ".const .f32 r[2] = {1.5, 0fBF800000};\n.const .b8 none[4];\n.const .u64 p = generic(x);\n.entry nn() "
      "{ n = 7; }\n";
  auto const bytes = [&](std::string const& name, std::uint64_t size) {
    program::Variable v;
    v.name = name, v.bytes = size;
    return ptx::initial_bytes(text, v);
  };
  EXPECT_EQ(bytes("n", 4), (Bytes{5, 0, 0, 0}));
  EXPECT_EQ(bytes("w", 6), (Bytes{0, 0, 128, 63, 0, 0})) << "zeros behind the numbers";
  EXPECT_EQ(bytes("h", 8), (Bytes{1, 0, 3, 2, 255, 255, 2, 0}));
  EXPECT_EQ(bytes("rows", 8), std::nullopt) << "a row lacks a number";
  EXPECT_EQ(bytes("r", 8), (Bytes{0, 0, 0xc0, 0x3f, 0, 0, 0x80, 0xbf}));
  EXPECT_EQ(bytes("octal", 12), (Bytes{8, 0, 0, 0, 0xf1, 0xff, 0xff, 0xff, 0, 0, 0, 0}));
  EXPECT_EQ(bytes("bad", 4), std::nullopt);
  EXPECT_EQ(bytes("binary", 4), (Bytes{5, 0, 0, 0}));
  EXPECT_EQ(bytes("none", 4), std::nullopt);
  EXPECT_EQ(bytes("p", 8), std::nullopt);
  EXPECT_EQ(bytes("q", 4), std::nullopt);
}

/// The answer of a kernel that adds w[1] to each element.
FlowReport with(std::string const& declared, bool given, std::string const& expect) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n" + declared +
          "\n.entry k(.param .u64 c)\n{\n.reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n"
          "mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; ld.param.u64 %rd1, [c]; add.s64 %rd1, %rd1, "
          "%rd2;\n"
          "ld.global.f32 %f1, [%rd1]; ld.const.f32 %f2, [w+4]; add.f32 %f1, %f1, %f2; st.global.f32 [%rd1], "
          "%f1;\nret;\n}\n",
      "test.ptx");
  FlowLaunch launch;
  launch.block = {8, 1, 1};
  FlowArray const c{"c", "f32", 32, {8}}, w{"w", "f32", 32, {3}};
  launch.params["#0"] = c;
  if (given) launch.variables["w"] = w;
  return trace_flow(m, m.functions[0], launch, {parse_expectation(expect, {c, w})});
}

TEST(Variables, AreArraysOfDataOrNumbers) {
  EXPECT_EQ(with(".const .align 4 .b8 w[12];", true, "c[i] = c[i] + w[1]").verdict, FlowVerdict::proved);
  EXPECT_EQ(with(".const .align 4 .b8 w[12];", true, "c[i] = c[i] + w[2]").verdict, FlowVerdict::refuted);
  std::string const initial = ".const .align 4 .b8 w[12] = {0, 0, 0, 0, 0, 0, 128, 63};";
  FlowReport const r = with(initial, false, "c[i] = c[i] + 1");
  EXPECT_EQ(r.verdict, FlowVerdict::proved);
  ASSERT_EQ(r.assumed.size(), 2U);
  EXPECT_EQ(r.assumed[0], "constant memory is as the PTX initialises it")
      << "cudaMemcpyToSymbol may write it";
  EXPECT_EQ(r.assumed[1], "floating-point arithmetic is exact: no rounding, overflow or NaN");
  EXPECT_EQ(with(initial, true, "c[i] = c[i] + 1").verdict, FlowVerdict::refuted) << "it is any data";
}

}  // namespace
}  // namespace swizproof
