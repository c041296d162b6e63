// Blocks, parameters and bounds that are given.
#include "kernel_case.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace swizproof {
namespace {

TEST(Kernel, ABlockThatCannotBeLaunchedIsRefused) {
  auto const refused = [](std::string const& directive, std::optional<std::array<std::uint32_t, 3>> block) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n" + directive + "\n{\nret;\n}\n",
        "test.ptx");
    return decide_kernel(m, m.functions.at(0), {.block = block}).refused;
  };
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{64, 1, 1}}), "");
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{8, 8, 1}}), "") << "the threads count, not the shape";
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{96, 1, 1}}),
            "no block of 96,1,1: it was compiled for at most 64, 1, 1 threads (.maxntid)");
  EXPECT_EQ(refused(".maxntid 16, 1, 1", std::nullopt),
            "its block has at most 16 threads (.maxntid): give --block");
  EXPECT_EQ(refused(".maxntid 40, 1, 1", std::nullopt), "");
  EXPECT_EQ(refused(".reqntid 64", {{64, 1, 1}}), "");
  EXPECT_EQ(refused(".reqntid 64", {{32, 2, 1}}),
            "no block of 32,2,1: it was compiled for blocks of 64, 1, 1 (.reqntid)");
  EXPECT_EQ(refused(".reqntid 2048", std::nullopt), "no block of 2048,1,1: a block has at most 1024 threads");
  EXPECT_EQ(refused(".reqntid 1, 1, 65", std::nullopt),
            "no block of 1,1,65: a block has at most 64 threads in z");
  EXPECT_EQ(refused("", {{2, 2, 128}}), "no block of 2,2,128: a block has at most 64 threads in z");
  EXPECT_EQ(refused("", {{1, 2048, 1}}), "no block of 1,2048,1: a block has at most 1024 threads");
  EXPECT_EQ(refused("", {{32, 0, 1}}), "no block of 32,0,1: a block has at least one thread");
  EXPECT_EQ(refused("", {{1, 16, 64}}), "");
}

TEST(Kernel, AParameterHasOneValueThatFits) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k(.param .u32 n, .param .u64 g, .param .u8 b, "
      ".param "
      ".align 4 .b8 s[8])\n{\nret;\n}\n",
      "test.ptx");
  auto const why = [&](std::map<std::string, ParameterValue> const& given) {
    return why_no_parameter(m.functions.at(0), given);
  };
  EXPECT_EQ(why({{"n", {0xffffffff}}, {"g", {~std::uint64_t{0}}}, {"other", {1}}}), "");
  EXPECT_EQ(why({{"n", {0x100000000}}}), "n has 32 bits: -2147483648 to 4294967295");
  EXPECT_EQ(why({{"n", {0 - std::uint64_t{0x80000000}, true}}}), "");
  EXPECT_EQ(why({{"n", {0 - std::uint64_t{0x80000001}, true}}}), "n has 32 bits: -2147483648 to 4294967295");
  EXPECT_EQ(why({{"n", {~std::uint64_t{0}}}}), "n has 32 bits: -2147483648 to 4294967295");
  EXPECT_EQ(why({{"#2", {256}}}), "#2 has 8 bits: -128 to 255");
  EXPECT_EQ(why({{"g", {0 - (std::uint64_t{1} << 63), true}}}), "");
  EXPECT_EQ(why({{"g", {(std::uint64_t{1} << 63) - 1, true}}}),
            "g has 64 bits: -9223372036854775808 to 18446744073709551615");
  EXPECT_EQ(why({{"s", {1}}}), "s is a structure or an array of 8 bytes: a value is a number");
  EXPECT_EQ(why({{"#0", {1}}, {"n", {1}}}), "#0 and n are one parameter");
  KernelOptions minus;
  minus.params["n"] = {0 - std::uint64_t{1}, true};
  EXPECT_EQ(one("shr.u32 %r4, %r3, 30; mul.lo.s32 %r4, %r1, %r4; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; "
                "ld.shared.u32 %r6, [%r4];",
                minus)
                .wavefronts,
            1U)
      << "-1 >> 30 is 3";
  minus.params["#0"] = {1};
  EXPECT_EQ(report_of("", minus).refused, "#0 and n are one parameter");
}

TEST(Kernel, AtMostAndParameters) {
  std::string const body =
      "mul.lo.s32 %r4, %r1, %r3; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];";
  EXPECT_EQ(one(body).wavefronts, 32U);
  KernelOptions odd;
  odd.params["n"] = {33};
  EXPECT_EQ(one(body, odd).wavefronts, 1U);
  KernelOptions even;
  even.params["#0"] = {8};
  even.at_most = 8;
  KernelAccess const a = one(body, even);
  EXPECT_EQ(a.wavefronts, 8U);
  EXPECT_EQ(a.verdict, KernelVerdict::proved);
}

/// Options with so many blocks in x and y.
KernelOptions in_grid(std::uint32_t x, std::uint32_t y = 1) {
  KernelOptions options;
  options.grid = {{x, y, 1}};
  return options;
}

TEST(KernelGrid, IsTheNumberOfBlocks) {
  std::string const rows =
      "mov.u32 %r4, %nctaid.x; mul.lo.u32 %r4, %r1, %r4; shl.b32 %r4, %r4, 2; add.s32 %r4, %r4, %r2; "
      "ld.shared.u32 %r6, [%r4];";
  EXPECT_EQ(one(rows, in_grid(33)).verdict, KernelVerdict::refuted) << "63 rows of 33 words leave the array";
  EXPECT_EQ(one(rows, in_grid(31)).wavefronts, 1U);
  EXPECT_EQ(one(rows, in_grid(31)).verdict, KernelVerdict::proved);
  KernelAccess const a = one(rows, in_grid(32));
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_TRUE(a.reached);
  ASSERT_TRUE(a.worst);
  EXPECT_TRUE(a.worst->every_launch) << "of this grid";
}

TEST(KernelGrid, BoundsTheNumberOfABlock) {
  std::string const part =
      "mov.u32 %r4, %ctaid.x; shl.b32 %r4, %r4, 10; mad.lo.u32 %r4, %r1, 4, %r4; add.s32 %r4, %r4, %r2; "
      "st.shared.u32 [%r4], %r1;";
  EXPECT_EQ(one(part, in_grid(8)).in_bounds, true);
  KernelAccess const a = one(part, in_grid(9));
  EXPECT_EQ(a.in_bounds, false);
  EXPECT_EQ(a.reason, "lane 0 of warp 0 accesses byte 0x2000 of tile, which has 8192 bytes, if ctaid.x = 8");
  EXPECT_EQ(report_of(part, in_grid(9)).grid, "9,1,1");
  EXPECT_EQ(report_of(part).grid, "");
}

// Each block of whole warps up to .maxntid is meant: %ntid.x is at most as large.
TEST(KernelLaunch, ABlockHasAtMostTheThreadsOfMaxntid) {
  auto const stored = [](unsigned most, std::string const& address) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 tile[8192];\n.entry "
        "k(.param .u32 n) .maxntid " +
            std::to_string(most) +
            "\n{\n.reg .pred %p<3>; .reg .b32 %r<9>; mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, "
            "%ntid.x; ld.param.u32 %r5, [n];\n" +
            address + "add.u32 %r4, %r4, %r2;\nst.shared.u32 [%r4], %r1;\nX: ret;\n}\n",
        "test.ptx");
    return decide_kernel(m, m.functions.at(0), {}).accesses.at(0);
  };
  std::string const warps = "shr.u32 %r4, %r3, 5; mul.lo.u32 %r4, %r4, %r1; shl.b32 %r4, %r4, 2;\n",
                    last = "sub.u32 %r4, %r3, 1; shl.b32 %r4, %r4, 5;\n",
                    large = "setp.le.u32 %p1, %r3, 512;\n@%p1 bra X;\nshl.b32 %r4, %r1, 3;\n";
  EXPECT_EQ(stored(32, warps).verdict, KernelVerdict::proved) << "one word from lane to lane";
  KernelAccess const a = stored(256, warps);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  EXPECT_EQ(a.wavefronts, 8U) << "8 warps";
  EXPECT_EQ(stored(256, last).in_bounds, true) << "255 * 32 + 4 bytes";
  EXPECT_EQ(stored(288, last).in_bounds, false);
  EXPECT_FALSE(stored(512, large).executed);
  EXPECT_TRUE(stored(544, large).executed);
  // An execution is one of such a block, whether it is drawn or solved.
  std::string const column = "\n@%p1 bra X;\nshl.b32 %r4, %r1, 7;\n",
                    below = "setp.ge.u32 %p1, %r5, %r3; setp.lt.or.u32 %p1, %r5, 64, %p1;",
                    solved =
                        "shl.b32 %r6, %r3, 16; add.u32 %r6, %r6, 31337; mul.lo.u32 %r7, %r5, 3; "
                        "setp.ne.u32 %p1, %r7, %r6;";
  EXPECT_FALSE(stored(64, below + column).executed) << "64 <= n < %ntid.x";
  EXPECT_TRUE(stored(96, below + column).executed);
  KernelAccess const b = stored(64, solved + column);
  ASSERT_TRUE(b.worst) << b.reason;
  EXPECT_EQ(b.worst->values,
            (std::vector<std::pair<std::string, std::uint64_t>>{{"n", 1408547}, {"ntid.x", 64}}))
      << "(64 * 65536 + 31337) / 3";
}

/// A kernel of warps in clusters of a shape: a lane stores to its number times r3 + 1 words.
KernelReport of_cluster(std::string const& shape, std::string const& number,
                        KernelOptions const& options = {}) {
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n.entry k() "
      ".reqntid 32 .reqnctapercluster " +
          shape + "\n{\n.reg .b32 %r<9>; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;\n" + number +
          "add.u32 %r3, %r3, 1; mul.lo.u32 %r3, %r3, %r1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r2;\n"
          "st.shared.u32 [%r3], %r1;\nret;\n}\n",
      "test.ptx");
  return decide_kernel(m, m.functions.at(0), options);
}

TEST(KernelGrid, HasWholeClusters) {
  auto const of = [](unsigned blocks, std::string const& number, KernelOptions const& options = {}) {
    return of_cluster(std::to_string(blocks), number, options);
  };
  std::string const odd = "mov.u32 %r3, %nctaid.x; and.b32 %r3, %r3, 1;",
                    of_y = "mov.u32 %r3, %nctaid.y; and.b32 %r3, %r3, 1;",
                    third = "mov.u32 %r3, %nctaid.x; rem.u32 %r3, %r3, 3;";
  auto const grid_of = [](std::uint32_t blocks) {
    KernelOptions options;
    options.grid = {{blocks, 1, 1}};
    return options;
  };
  auto const cost = [&](unsigned blocks, std::string const& number) {
    return of(blocks, number).accesses.at(0).verdict;
  };
  EXPECT_EQ(cost(1, odd), KernelVerdict::refuted);
  EXPECT_EQ(cost(2, odd), KernelVerdict::proved) << "1 block of 2 is no launch";
  EXPECT_EQ(cost(2, of_y), KernelVerdict::refuted);
  EXPECT_EQ(cost(2, third), KernelVerdict::refuted);
  EXPECT_NE(cost(3, third), KernelVerdict::refuted);
  EXPECT_EQ(of(2, odd, grid_of(4)).refused, "");
  EXPECT_EQ(of(2, odd, grid_of(3)).refused, "the grid 3,1,1 is no multiple of the cluster 2,1,1");
}

// [PTX ISA 9.1, %cluster_ctaid, %cluster_ctarank, %clusterid]
TEST(KernelGrid, ABlockHasAPlaceInItsCluster) {
  auto const most = [](std::string const& shape, std::string const& number,
                       KernelOptions const& options = {}) {
    return of_cluster(shape, number, options).accesses.at(0).wavefronts.value_or(0);
  };
  std::string const rank = "mov.u32 %r3, %cluster_ctarank;";
  EXPECT_EQ(most("4", rank), 4U) << "1, 2, 3 or 4 words";
  EXPECT_EQ(most("2, 2", rank), 4U);
  EXPECT_EQ(most("1, 4, 2", rank), 8U);
  EXPECT_EQ(most("3, 2", "mov.u32 %r3, %cluster_ctaid.y;"), 2U);
  EXPECT_EQ(most("2, 4", "mov.u32 %r3, %cluster_ctaid.y;"), 4U);
  EXPECT_EQ(
      most("4", "mov.u32 %r3, %cluster_ctarank; add.u32 %r3, %r3, %cluster_ctaid.x; add.u32 %r3, %r3, 1;"),
      8U)
      << "2, 4, 6 or 8 words";
  EXPECT_EQ(most("2, 2, 2", "mov.u32 %r3, %cluster_nctaid.z; add.u32 %r3, %r3, 1;"), 4U);
  EXPECT_EQ(most("2, 2, 2", "mov.u32 %r3, %cluster_nctarank; sub.u32 %r3, %r3, 1;"), 8U);
  KernelOptions eight;
  eight.grid = {{8, 1, 1}};
  EXPECT_EQ(most("4", "mov.u32 %r3, %clusterid.x;", eight), 2U);
  EXPECT_EQ(most("4", "mov.u32 %r3, %nclusterid.x; add.u32 %r3, %r3, 1;", eight), 4U);
}

TEST(KernelGrid, ABlockThatItDoesNotHaveExecutesNothing) {
  std::string const last = "mov.u32 %r6, %ctaid.y; setp.ge.u32 %p1, %r6, 70;";
  EXPECT_FALSE(behind(last, in_grid(1, 70)).executed);
  EXPECT_EQ(behind(last, in_grid(1, 70)).verdict, KernelVerdict::proved);
  KernelAccess const a = behind(last, in_grid(1, 71));
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  ASSERT_TRUE(a.worst);
  EXPECT_EQ(a.worst->values, (std::vector<std::pair<std::string, std::uint64_t>>{{"ctaid.y", 70}}));
  std::string const only = "mov.u32 %r6, %ctaid.x; setp.ne.u32 %p1, %r6, 0;";
  EXPECT_FALSE(behind(only, in_grid(1)).executed) << "the one block has the number 0";
  EXPECT_TRUE(behind(only, in_grid(2)).executed);
  std::string const square =
      "mov.u32 %r6, %ctaid.x; mul.lo.u32 %r6, %r6, %r6; setp.eq.u32 %p1, %r6, 81000000;";
  EXPECT_NE(behind(square, in_grid(9000)).verdict, KernelVerdict::refuted);
  EXPECT_EQ(behind(square, in_grid(9001)).verdict, KernelVerdict::refuted);
  std::string const few = "mov.u32 %r6, %nctaid.x; setp.lt.u32 %p1, %r6, 4;";
  EXPECT_EQ(behind(few, in_grid(4)).verdict, KernelVerdict::proved);
  EXPECT_EQ(behind(few, in_grid(3)).verdict, KernelVerdict::refuted);
}

}  // namespace
}  // namespace swizproof
