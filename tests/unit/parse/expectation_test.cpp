// Arrays of a launch, and what they hold at its end.
#include "parse/question/expectation.hpp"
#include "parse/question/flow_question.hpp"

#include <swizproof/ptx/module.hpp>

#include <gtest/gtest.h>

namespace swizproof {
namespace {

std::string why(std::string const& text) {
  std::vector<FlowArray> const arrays{
      {"C", "f32", 32, {32, 8}}, {"A", "f16", 16, {32, 64}}, {"B", "f16", 16, {64, 8}}, {"x", "f32", 32, {}}};
  try {
    (void)parse_expectation(text, arrays);
  } catch (InputError const& error) {
    return error.message;
  }
  return "";
}

TEST(Expectation, GivesIndicesTheirExtents) {
  std::vector<FlowArray> const arrays{
      {"C", "f32", 32, {32, 8}}, {"A", "f16", 16, {32, 64}}, {"B", "f16", 16, {64, 8}}};
  FlowExpectation const e = parse_expectation("C[m][n] = sum(k) A[m][k] * B[k][n] for m in 3..0x10", arrays);
  ASSERT_EQ(e.indices.size(), 3U);
  EXPECT_EQ(e.indices[0].name, "m");
  EXPECT_EQ(e.indices[0].first, 3U);
  EXPECT_EQ(e.indices[0].last, 16U);
  EXPECT_EQ(e.indices[1].last, 7U);
  EXPECT_FALSE(e.indices[1].summed);
  EXPECT_EQ(e.indices[2].last, 63U);
  EXPECT_TRUE(e.indices[2].summed);
  ASSERT_EQ(e.nodes.size(), 4U);
  EXPECT_EQ(e.nodes[1].element.array, "B");
  EXPECT_EQ(e.nodes[3].operation, FlowOperation::sum);
}

TEST(Expectation, RefusesWhatIsNone) {
  EXPECT_EQ(why("C[m][n] = x * A[m][n] for n in 0..7"), "");
  EXPECT_EQ(why("C[m] = A[m][0]"), "C has 2 indices");
  EXPECT_EQ(why("C[m][n][0] = A[m][n]"), "C has 2 indices");
  EXPECT_EQ(why("x = A[0][0]"), "the result is an element of an array");
  EXPECT_EQ(why("C[m][n] = A[m][n]"), "the index n stands for extents of 8 and of 64");
  EXPECT_EQ(why("C[m][0] = A[m][k]"), "the index k is neither summed nor in the result");
  EXPECT_EQ(why("C[m][n] = sum(m) A[m][n]"), "the index m is summed and in the result");
  EXPECT_EQ(why("C[m][n] = sum(k) A[m][k+1] * B[0][n]"), "the range of the index k is not known");
  EXPECT_EQ(why("C[m][n] = sum(j) A[m][n]"), "no index has this name");
  EXPECT_EQ(why("C[m][n] = max(k) A[m][k] * max(x, 3, C[m][n])"), "");
  EXPECT_EQ(why("C[m][n] = max(abs(x), min(x))"), "");
  EXPECT_EQ(why("C[m][n] = max(j) A[m][n]"), "no index has this name");
  EXPECT_EQ(why("C[m][n] = max(j + 1) A[m][n]"), "no parameter is the array j");
  EXPECT_EQ(why("C[m][n] = D[m][n]"), "no parameter is the array D");
  EXPECT_EQ(why("C[m][n] = A[m][n] A[m][n]"), "expected '*', '+', 'for' or the end");
  EXPECT_EQ(why("C[m][n] = A[m][n] for n in 0..7 for n in 0..7"), "this index has a range already");
  EXPECT_EQ(why("C[m][n] = A[m][n] for n in 7..0"), "the range is empty, or larger than 2^26");
}

TEST(Expectation, ReadsParameters) {
  auto const [key, value] = parse_flow_param("0=A:half[0x10][64]");
  EXPECT_EQ(key, "#0");
  FlowArray const& a = std::get<FlowArray>(value);
  EXPECT_EQ(a.name, "A");
  EXPECT_EQ(a.type, "f16");
  EXPECT_EQ(a.bits, 16U);
  EXPECT_EQ(a.extents, (std::vector<std::uint64_t>{16, 64}));
  EXPECT_EQ(a.element(65), "A[1][1]");
  EXPECT_EQ(std::get<FlowValue>(parse_flow_param("n=-1").second).bits, ~std::uint64_t{0});
  EXPECT_EQ(std::get<FlowValue>(parse_flow_param("n=0x10").second).bits, 16U);
  EXPECT_TRUE(std::get<FlowArray>(parse_flow_param("2=alpha:f32").second).extents.empty());
  for (std::string const& text : {"A:f16[4]", "0=A", "0=A:f16[0]", "0=A:e2m1[4]", "0=A:fp8[4]", "0=A:f16[4",
                                  "0=A:f16[67108865]", "0=A:f16[8192][8193]", "0=A:f16[4] x", "=A:f16[4]"})
    EXPECT_THROW((void)parse_flow_param(text), InputError) << text;
}

TEST(Expectation, ReadsTheNumbersOfAnArray) {
  auto const values = [](std::string const& text) {
    return std::get<FlowArray>(parse_flow_param(text).second).values;
  };
  using Bits = std::vector<std::uint64_t>;
  EXPECT_EQ(values("0=a:i16[2][2]=1,-1,0x10,3"), (Bits{1, 0xffff, 16, 3}));
  EXPECT_EQ(values("0=a:f32[2]=1.5,-2"), (Bits{0x3fc00000, 0xc0000000}));
  EXPECT_EQ(values("0=a:f16[3]=iota"), (Bits{0, 0x3c00, 0x4000}));
  EXPECT_EQ(values("0=a:u64[3]=zeros"), (Bits{0, 0, 0}));
  EXPECT_TRUE(values("0=a:u64[3]").empty());
  for (std::string const& text :
       {"0=a:i8[2]=1", "0=a:i8[2]=1,2,3", "0=a:i8[2]=1,", "0=a:i8[2]=", "0=a:i8[2]=1,128", "0=a:u8[2]=1,-1",
        "0=a:u8[2]=1,x", "0=a:u8[257]=iota", "0=a:u8[4194305]=zeros", "0=a:u8=1", "0=a:f16[2]=1,0.1"})
    EXPECT_THROW((void)parse_flow_param(text), InputError) << text;
}

TEST(Expectation, ReadsNumbersOfATypeAndPartsOfAStructure) {
  auto const bits = [](std::string const& text) {
    return std::get<FlowValue>(parse_flow_param(text).second).bits;
  };
  EXPECT_EQ(parse_flow_param("0+0x10=3").first, "#0+16");
  EXPECT_EQ(parse_flow_param("args+8=A:f16[4]").first, "args+8");
  EXPECT_EQ(bits("0=1.5:f32"), 0x3fc00000U);
  EXPECT_EQ(bits("0=-2:f64"), 0xc000000000000000U);
  EXPECT_EQ(bits("0=1:f16"), 0x3c00U);
  EXPECT_EQ(bits("0=-0.25:half"), 0xb400U);
  EXPECT_EQ(bits("0=65504:f16"), 0x7bffU);
  EXPECT_EQ(bits("0=5.9604644775390625e-08:f16"), 1U);
  EXPECT_EQ(bits("0=0.00006103515625:f16"), 0x400U) << "the least normal number";
  EXPECT_EQ(bits("0=0.1875:bf16"), 0x3e40U);
  EXPECT_EQ(bits("0=448:e4m3"), 0x7eU);
  EXPECT_EQ(bits("0=-1:i8"), ~std::uint64_t{0});
  EXPECT_EQ(bits("0=0xff:u8"), 0xffU);
  EXPECT_EQ(std::get<FlowValue>(parse_flow_param("0=64:u64").second).type, "u64");
  for (std::string const& text : {"0=0.1:f16",    "0=65520:f16", "0=0.1:f32",
                                  "0=449:e4m3",   "0=256:u8",    "0=-129:i8",
                                  "0=128:i8",     "0=-1:u32",    "0=1.5:u32",
                                  "0=1.5",        "0=1:u4",      "0=1:word",
                                  "0=1e:f32",     "0=0x1p3:f32", "0=1e400:f64",
                                  "0=1e-400:f32", "0+=1",        "0+x=1",
                                  "+8=1",         "0+-8=1",      "0=18446744073709551616"})
    EXPECT_THROW((void)parse_flow_param(text), InputError) << text;
}

TEST(FlowQuestion, TakesPartsOfStructures) {
  ptx::Module const module = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry one(.param .align 8 .b8 s[24], .param "
      ".u32 n, .param .align "
      "64 .b8 map[192], .param .align 2 .b8 h[2])\n{\nret;\n}\n",
      "k.ptx");
  auto const why_not = [&](std::vector<std::string> const& params) {
    try {
      (void)plan_flow(module, {"", "32", "1", {}, params, {}}, "k.ptx");
    } catch (InputError const& error) {
      return error.message;
    }
    return std::string();
  };
  EXPECT_EQ(why_not({"0+0=A:f16[4]", "s+8=3", "0+12=x:f32", "0+16=-1:i64", "1=7",
                     "2+64=B:f16[8][8] box[8][8]", "3=1:f16"}),
            "");
  EXPECT_EQ(why_not({"3=-32768"}), "");
  EXPECT_EQ(why_not({"3=-32769"}), "#3 has 16 bits: -32768 to 65535");
  EXPECT_EQ(why_not({"1=4294967296"}), "#1 has 32 bits: -2147483648 to 4294967295");
  EXPECT_EQ(why_not({"0+8=4294967296"}), "#0+8 has 32 bits: -2147483648 to 4294967295");
  EXPECT_EQ(why_not({"0=3"}), "#0 is a structure of 24 bytes");
  EXPECT_EQ(why_not({"0=A:f16[4]"}), "the parameter has 24 bytes, and a pointer to A has 8");
  EXPECT_EQ(why_not({"1=7:u64"}), "the parameter has 4 bytes, and a number of type u64 has 8");
  EXPECT_EQ(why_not({"0+17=A:f16[4]"}), "the parameter has 24 bytes, and 8 bytes at 17 are not in it");
  EXPECT_EQ(why_not({"0+18446744073709551615=1"}),
            "the parameter has 24 bytes, and 4 bytes at 18446744073709551615 are not in it");
  EXPECT_EQ(why_not({"0+4=1:u64", "0+8=2"}), "bytes 8 to 11 of this parameter have a value already");
  EXPECT_EQ(why_not({"0+8=2", "0+4=1:u64"}), "bytes 8 to 11 of this parameter have a value already");
  EXPECT_EQ(why_not({"0+4=1", "1+0=1", "n=1"}), "this parameter has a value already");
  EXPECT_EQ(why_not({"2+32=B:f16[8][8] box[8][8]"}),
            "a tensor map begins at a multiple of 64 bytes of a structure");
  EXPECT_EQ(why_not({"2=B:f16[8][8] box[8][8]"}),
            "the parameter has 192 bytes, and a tensor map of B has 128");
  EXPECT_EQ(why_not({"4+0=1"}), "the kernel has no parameter #4+0");
}

TEST(Expectation, ReadsTensorMaps) {
  FlowArray const a = std::get<FlowArray>(parse_flow_param("1=A:f16[2][64][32] box[1][8][32] 64B").second);
  EXPECT_EQ(a.box, (std::vector<std::uint32_t>{1, 8, 32}));
  EXPECT_EQ(a.mode, TmaMode::b64);
  EXPECT_EQ(std::get<FlowArray>(parse_flow_param("1=A:u8[64] box[16]").second).mode, TmaMode::none);
  auto const refused = [](std::string const& text) {
    try {
      (void)parse_flow_param("1=A:" + text);
    } catch (InputError const& error) {
      return error.message;
    }
    return std::string();
  };
  EXPECT_EQ(refused("f16[64][64] box"), "the box of a tensor map has the dimensions of the array, at most 5");
  EXPECT_EQ(refused("f16[64][64] box[64]"),
            "the box of a tensor map has the dimensions of the array, at most 5");
  EXPECT_EQ(refused("u8[1][1][1][1][1][16] box[1][1][1][1][1][16]"),
            "the box of a tensor map has the dimensions of the array, at most 5");
  EXPECT_EQ(refused("f16[64][64] box[257][64]"), "a box has 1 to 256 elements along a dimension");
  EXPECT_EQ(refused("f16[64][64] box[0][64]"), "a box has 1 to 256 elements along a dimension");
  EXPECT_EQ(refused("f16[64][64] box[64][64] 64B"), "the box's rows are wider than the swizzle");
  EXPECT_EQ(refused("f16[64][64] box[64][12]"), "the box's rows are no multiple of 16 bytes");
  EXPECT_EQ(refused("f16[64][12] box[64][8]"), "the array's rows are no multiple of 16 bytes");
  EXPECT_EQ(refused("f16[64][64] box[64][64] 256B"), "the swizzle of a tensor map is none, 32B, 64B or 128B");
  EXPECT_EQ(refused("f32 box[4]"), "the box of a tensor map has the dimensions of the array, at most 5");
}

TEST(FlowQuestion, IsRefusedByTheKernelThatItIsAsked) {
  ptx::Module const module = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry one(.param .u64 a, .param .u32 "
      "n)\n.reqntid 32, 1, 1\n{\nret;\n}\n"
      ".visible .entry two(.param .u64 a)\n{\nret;\n}\n",
      "k.ptx");
  FlowQuestion const good{"one", "32", "4,2", {"1,1"}, {"a=A:f32[8]", "n=7"}, {"A[i] = A[i]"}};
  FlowPlan const plan = plan_flow(module, good, "k.ptx");
  EXPECT_EQ(plan.function, 0U);
  EXPECT_EQ(plan.launch.grid, (std::array<std::uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(plan.launch.blocks, (std::vector<std::array<std::uint32_t, 3>>{{1, 1, 0}}));
  EXPECT_EQ(plan.launch.params.size(), 2U);
  EXPECT_EQ(plan.expectations.size(), 1U);
  auto const why_not = [&](auto const& change) {
    FlowQuestion q = good;
    change(q);
    try {
      (void)plan_flow(module, q, "k.ptx");
    } catch (InputError const& error) {
      return error.message;
    }
    return std::string();
  };
  EXPECT_EQ(why_not([](auto& q) { q.kernel = ""; }), "several kernels have a name that matches");
  EXPECT_EQ(why_not([](auto& q) { q.cluster = "2,2"; }), "");
  EXPECT_EQ(why_not([](auto& q) { q.cluster = "3"; }), "the grid 4,2,1 is no multiple of the cluster 3,1,1");
  EXPECT_EQ(why_not([](auto& q) { q.kernel = "three"; }), "no kernel has a name that matches");
  EXPECT_EQ(why_not([](auto& q) { q.block = "64"; }), "it was compiled for blocks of 32, 1, 1 (.reqntid)");
  EXPECT_EQ(why_not([](auto& q) { q.block = "32,"; }), "--block takes one to three numbers");
  EXPECT_EQ(why_not([](auto& q) { q.grid = "0"; }), "--grid takes one to three numbers");
  EXPECT_EQ(why_not([](auto& q) { q.grid = "4294967296"; }), "--grid takes one to three numbers");
  EXPECT_EQ(why_not([](auto& q) { q.grid = "1,65536"; }),
            "a grid has at most 2147483647, 65535 and 65535 blocks in x, y and z");
  EXPECT_EQ(why_not([](auto& q) { q.only = {"4"}; }), "the grid has no such block");
  EXPECT_EQ(why_not([](auto& q) { q.only = {"1", "1,0"}; }), "this block is given twice");
  EXPECT_EQ(why_not([](auto& q) { q.params.push_back("0=B:f32[8]"); }), "this parameter has a value already");
  EXPECT_EQ(why_not([](auto& q) { q.params[1] = "n=A:f32"; }), "there are two arrays of this name");
  EXPECT_EQ(why_not([](auto& q) { q.params[1] = "m=7"; }), "the kernel has no parameter m");
  EXPECT_EQ(why_not([](auto& q) { q.params[1] = "n=B:f32[8]"; }),
            "the parameter has 4 bytes, and a pointer to B has 8");
  EXPECT_EQ(why_not([](auto& q) { q.every_element = true; }),
            "--every-element is for a question without --expect");
}

}  // namespace
}  // namespace swizproof
