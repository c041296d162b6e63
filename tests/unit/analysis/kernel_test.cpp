// Verdicts on small kernels, and the two facts about the cost model that they rest on.
#include <swizproof/analysis/kernel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace swizproof {
namespace {

WarpAccess<std::uint32_t> some_lanes(std::mt19937& random, unsigned bytes) {
  WarpAccess<std::uint32_t> lanes{};
  unsigned const spread = 1U << (2 + random() % 10);
  for (unsigned l = 0; l < 32; ++l) {
    lanes.address[l] = random() % spread * bytes;
    lanes.active[l] = random() % 4 != 0;
  }
  if (random() % 3 == 0)
    for (unsigned l = 1; l < 32; l += 2) lanes.address[l] = lanes.address[l - 1];  // pairs are merged (H4)
  return lanes;
}

TEST(KernelCost, IsTheSameAfterRotation) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 4000; ++round)
    for (InstructionName const& i : instruction_names) {
      auto lanes = some_lanes(random, i.instruction.bytes);
      if (i.instruction.matrices != 0) lanes.active.fill(true);
      unsigned const before = cost(sm_90, i.instruction, lanes).wavefronts;
      std::uint32_t const by = random() * std::max(i.instruction.bytes, 4U);
      for (auto& a : lanes.address) a += by;
      ASSERT_EQ(cost(sm_90, i.instruction, lanes).wavefronts, before) << i.text << " moved by " << by;
    }
}

TEST(KernelCost, GrowsWithTheLanes) {
  std::mt19937 random(8);
  for (unsigned round = 0; round < 4000; ++round)
    for (InstructionName const& i : instruction_names) {
      if (i.instruction.matrices != 0) continue;  // all of its lanes take part
      auto lanes = some_lanes(random, i.instruction.bytes);
      unsigned const most = cost(sm_90, i.instruction, lanes).wavefronts;
      lanes.active[random() % 32] = false;
      ASSERT_LE(cost(sm_90, i.instruction, lanes).wavefronts, most) << i.text;
    }
}

/// The accesses of one kernel over `tile`, 8 KiB of shared memory, and `dynamic`.
std::vector<KernelAccess> decided(std::string const& body, KernelOptions options = {}) {
  if (!options.block) options.block = {64, 1, 1};
  ptx::Module const m = ptx::read_module(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n.extern .shared "
      ".align 16 .b8 dynamic[];\n"
      ".entry k(.param .u32 n, .param .u64 g)\n{\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<9>;\n"
      "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; ld.param.u32 %r3, [n];\n" +
          body + "\nret;\n}\n",
      "test.ptx");
  return decide_kernel(m, m.functions.at(0), options).accesses;
}

KernelAccess one(std::string const& body, KernelOptions options = {}) {
  auto const all = decided(body, std::move(options));
  EXPECT_EQ(all.size(), 1U);
  return all.at(0);
}

TEST(Kernel, UniformPartsDropOut) {
  KernelAccess const a = one(
      "mad.lo.s32 %r4, %r3, 4, %r2; shl.b32 %r5, %r1, 2; add.s32 %r4, %r4, %r5; ld.shared.u32 %r6, [%r4];");
  EXPECT_EQ(a.verdict, KernelVerdict::proved);
  EXPECT_EQ(a.wavefronts, 1U);
  EXPECT_TRUE(a.reached);
}

TEST(Kernel, BytesWithinAWordTryEveryResidue) {
  KernelAccess const a = one("add.s32 %r4, %r3, %r2; add.s32 %r4, %r4, %r1; ld.shared.u8 %r6, [%r4];");
  EXPECT_EQ(a.wavefronts, 1U);
  // Lane * 97 + n: the worst of the four places in a word that n may have, by a plain count of words.
  unsigned worst = 0, least = 32;
  for (unsigned n = 0; n < 4; ++n) {
    std::array<std::set<unsigned>, 32> words;
    for (unsigned lane = 0; lane < 32; ++lane) words[(lane * 97 + n) / 4 % 32].insert((lane * 97 + n) / 4);
    unsigned most = 0;
    for (auto const& bank : words) most = std::max(most, static_cast<unsigned>(bank.size()));
    worst = std::max(worst, most), least = std::min(least, most);
  }
  EXPECT_LT(least, worst);
  KernelAccess const b = one("mad.lo.s32 %r4, %r1, 97, %r3; add.s32 %r4, %r4, %r2; ld.shared.u8 %r6, [%r4];",
                             KernelOptions{.block = {{32, 1, 1}}});
  EXPECT_EQ(b.wavefronts, worst);
}

TEST(Kernel, APointerToSharedOrOtherMemoryIsNotLeftOut) {
  auto const found = decided(
      ".local .align 4 .b8 mine[64];\n"
      "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; mov.u64 %rd3, mine; cvta.local.u64 %rd4, %rd3;\n"
      "setp.eq.u32 %p1, %r3, 0; selp.b64 %rd5, %rd2, %rd4, %p1; ld.u32 %r4, [%rd5];");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].verdict, KernelVerdict::unknown);
  EXPECT_NE(found[0].reason.find("other memory in another"), std::string::npos) << found[0].reason;
}

TEST(Kernel, LoopsOfAnyLength) {
  KernelAccess const a =
      one("mov.u32 %r7, 0; shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2;\nL: ld.shared.u32 %r6, [%r5]; add.s32 "
          "%r5, %r5, 4; add.s32 %r7, %r7, 1;"
          "setp.lt.u32 %p1, %r7, %r3; @%p1 bra L;");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
}

TEST(Kernel, AStepThatDiffersInTheLanesIsTriedForEachIteration) {
  // Iteration k: lane * 4 * k, for k = 1..4: 4-way conflicts at k = 4.
  KernelAccess const a =
      one("mov.u32 %r7, 0; mov.u32 %r5, %r2; shl.b32 %r8, %r1, 2;\nL: add.s32 %r5, %r5, %r8; ld.shared.u32 "
          "%r6, [%r5]; add.s32 %r7, %r7, 1;"
          "setp.ne.s32 %p1, %r7, 4; @%p1 bra L;");
  EXPECT_EQ(a.wavefronts, 4U);
}

TEST(Kernel, SumsMayWrap) {
  // (n + 4 lane) >> 2 << 2: n may be near 2^32, where the sum wraps; n & 3 carries into the lanes' part.
  KernelAccess const a =
      one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r3; shr.u32 %r4, %r4, 2; shl.b32 %r4, %r4, 2; add.s32 "
          "%r4, %r4, %r2; ld.shared.u32 %r6, [%r4];");
  EXPECT_EQ(a.wavefronts, 1U);
  // (n + lane) / 3 * 4 needs the whole of n: not decided, and never proved.
  KernelAccess const b =
      one("add.s32 %r4, %r1, %r3; div.u32 %r4, %r4, 3; shl.b32 %r4, %r4, 7; add.s32 %r4, %r4, %r2; "
          "ld.shared.u32 %r6, [%r4];");
  EXPECT_NE(b.verdict, KernelVerdict::proved);
  EXPECT_GE(*b.wavefronts, 11U);
}

TEST(Kernel, GuardsSwitchLanesOff) {
  std::string const access = "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; @%p1 ld.shared.u32 %r6, [%r4];";
  EXPECT_EQ(one("setp.lt.u32 %p1, %r1, 4; " + access).wavefronts, 4U);
  KernelAccess const never = one("setp.lt.u32 %p1, %r1, 0; " + access);
  EXPECT_FALSE(never.executed);
  EXPECT_EQ(never.wavefronts, 0U);
  // A guard by a parameter leaves the lanes on; a run with a large one reaches it.
  KernelAccess const some = one("setp.lt.u32 %p1, %r1, %r3; " + access);
  EXPECT_EQ(some.wavefronts, 32U);
  EXPECT_TRUE(some.reached);
  // A guard by loaded data: at most.
  KernelAccess const data =
      one("ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2; ld.global.u32 %r9, "
          "[%rd1]; setp.lt.u32 %p1, %r1, %r9; " +
          access);
  EXPECT_EQ(data.wavefronts, 32U);
  EXPECT_FALSE(data.reached);
  EXPECT_EQ(data.verdict, KernelVerdict::data);
}

TEST(Kernel, LanesThatEndWithinALoopAreNotSaidToGoOn) {
  // Every lane but lane 0 returns within the loop: one lane is left, and 32 are not said to be reached.
  KernelAccess const a =
      one("mov.u32 %r7, 0;\nL: setp.gt.u32 %p2, %r1, %r7; @%p2 ret; add.s32 %r7, %r7, 1; setp.ne.s32 %p1, "
          "%r7, 3; @%p1 bra L;\n"
          "shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];");
  EXPECT_FALSE(a.reached);
  EXPECT_NE(a.verdict, KernelVerdict::refuted);
  // The same loop on one of two paths that join behind it.
  KernelAccess const b =
      one("setp.gt.u32 %p3, %r1, 1000; @%p3 bra X; mov.u32 %r7, 0;\nL: setp.gt.u32 %p2, %r1, %r7; @%p2 ret; "
          "add.s32 %r7, %r7, 1;"
          "setp.ne.s32 %p1, %r7, 3; @%p1 bra L;\nX: shl.b32 %r4, %r1, 7; add.s32 %r4, %r4, %r2; "
          "ld.shared.u32 %r6, [%r4];");
  EXPECT_FALSE(b.reached);
  EXPECT_EQ(b.wavefronts, 32U);
}

// Rows of 128 bytes: a lane that reads lane 31's row number finds it in its own warp, or nothing that is known.
TEST(Kernel, AShuffleFromALaneThatDoesNotExecuteItGivesAnyValue) {
  auto const after = [](std::string const& shuffle, std::uint32_t threads, std::string const& before = "") {
    return one(before + shuffle + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];",
               {.block = std::array<std::uint32_t, 3>{threads, 1, 1}});
  };
  std::string const last = "shfl.sync.idx.b32 %r4, %r1, 31, 31, -1;",
                    up = "shfl.sync.up.b32 %r4, %r1, 1, 0, -1;",
                    down = "shfl.sync.down.b32 %r4, %r1, 1, 31, -1;";
  EXPECT_EQ(after(last, 64).wavefronts, 1U);
  EXPECT_EQ(after(last, 64).verdict, KernelVerdict::proved);
  EXPECT_NE(after(last, 40).verdict, KernelVerdict::proved) << "the second warp has no lane 31";
  EXPECT_EQ(after(up, 40).verdict, KernelVerdict::proved);
  EXPECT_NE(after(down, 40).verdict, KernelVerdict::proved) << "lane 7 of the second warp reads lane 8";
  std::string const ends = "setp.ge.u32 %p1, %r1, 20; @%p1 bra out; ", out = " out: ";
  EXPECT_NE(
      decided(ends + down + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved)
      << "lane 19 reads lane 20, which has left";
  EXPECT_EQ(
      decided(ends + up + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved);
  std::string const uniform = "setp.ge.u32 %p1, %r3, 20; @%p1 bra out; ";
  EXPECT_EQ(
      decided(uniform + down + " shl.b32 %r5, %r4, 2; add.s32 %r5, %r5, %r2; ld.shared.u32 %r6, [%r5];" + out)
          .at(0)
          .verdict,
      KernelVerdict::proved)
      << "all lanes execute it, or none";
}

// Lanes 0 and 1 take the counter, lane l takes l: a third iteration, which does not run, would have three lanes at one word.
TEST(Kernel, TheReplayTakesIterationsThatTheLoopHas) {
  KernelAccess const a = one(
      "mov.u32 %r4, 0;\nloop:\nsetp.le.u32 %p1, %r1, 1; selp.b32 %r5, %r4, %r1, %p1; shl.b32 %r5, %r5, 2; "
      "add.s32 %r6, %r5, %r2; cp.async.ca.shared.global [%r6], [%rd1], 4; add.s32 %r4, %r4, 1; "
      "setp.eq.s32 %p2, %r4, 2; @!%p2 bra loop;",
      {.block = std::array<std::uint32_t, 3>{7, 1, 1}});
  EXPECT_EQ(a.wavefronts, 2U);
}

TEST(Kernel, MisalignedIsWhatAnExecutionIs) {
  std::string const load = " add.s32 %r5, %r4, %r2; ld.shared.u16 %r6, [%r5];";
  EXPECT_EQ(one("and.b32 %r4, %r3, 1023;" + load).aligned, false) << "if n = 1";
  EXPECT_EQ(one("xor.b32 %r4, %r3, %r3; and.b32 %r4, %r4, 1023;" + load).verdict, KernelVerdict::proved)
      << "n ^ n is never 1";
  EXPECT_EQ(one("and.b32 %r4, %r3, 1022;" + load).aligned, true);
}

TEST(Kernel, AnExpressionInAnAddressIsNotIgnored) {
  KernelAccess const a = one("st.shared.u32 [%r2+(2)], %r1;");
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.reason, "this form of an address is not read");
}

TEST(Kernel, ACallThatMayAccessSharedMemoryIsListed) {
  auto const called = [](std::string const& body) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 tile[8192];\n.extern .func "
        "printing();\n"
        ".func inner()\n{\n.reg .b32 %r<9>;\n" +
            body +
            "\nret;\n}\n.func outer()\n{\ncall.uni inner;\nret;\n}\n.entry k()\n{\ncall.uni "
            "outer;\nret;\n}\n",
        "test.ptx");
    for (ptx::Function const& f : m.functions)
      if (f.entry) return decide_kernel(m, f, {.block = std::array<std::uint32_t, 3>{32, 1, 1}}).accesses;
    return std::vector<KernelAccess>{};
  };
  auto const shared = called("mov.u32 %r1, tile; ld.shared.u32 %r2, [%r1];");
  ASSERT_EQ(shared.size(), 1U);
  EXPECT_EQ(shared[0].verdict, KernelVerdict::unknown);
  EXPECT_EQ(shared[0].reason, "the function inner may access shared memory: calls are not inlined");
  EXPECT_TRUE(called("mov.u32 %r1, 0;").empty());
  EXPECT_EQ(called("call.uni printing;").size(), 1U) << "its body is in another file";
  auto const indirect = called(".reg .b64 %rd<3>; call %rd1, (), proto;");
  ASSERT_EQ(indirect.size(), 1U);
  EXPECT_EQ(indirect[0].reason, "an indirect call: calls are not inlined");
}

TEST(Kernel, WhatIsNotModelledIsNotData) {
  std::string const store = " add.s32 %r5, %r4, %r2; st.shared.u32 [%r5], %r1;";
  EXPECT_EQ(one("mul24.lo.u32 %r4, %r1, 128;" + store).verdict, KernelVerdict::unknown);
  EXPECT_EQ(one("ld.global.u32 %r6, [%rd1]; mul24.lo.u32 %r4, %r6, %r1;" + store).verdict,
            KernelVerdict::data);
}

// Lanes 5 to 31 leave in the first iteration, the others in the tenth: r7 is 1 or 10, two words of one bank.
TEST(Kernel, APredicateMayComeFromTheIterationBefore) {
  KernelAccess const a = one(
      "mov.u32 %r7, 0; setp.lt.u32 %p1, %r1, 5;\nL: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 3; @%p2 bra "
      "S; "
      "setp.lt.u32 %p1, %r7, 10;\nS: @%p1 bra L;\nshl.b32 %r4, %r7, 7; add.u32 %r4, %r4, %r2; ld.shared.u32 "
      "%r5, [%r4];");
  EXPECT_GE(*a.wavefronts, 2U);
  EXPECT_NE(a.verdict, KernelVerdict::proved);
}

TEST(Kernel, BeyondTheArrayIsWhatAnExecutionIs) {
  // (tid + 3 i) & 31 of 3 threads in two iterations is at most 5.
  KernelAccess const a = decided(
                             ".shared .align 4 .b8 few[64]; mov.u32 %r2, few; mov.u32 %r6, 0; mov.u32 %r9, "
                             "%r1;\nloop:\nand.b32 %r4, %r9, 31; "
                             "shl.b32 %r5, %r4, 3; add.s32 %r7, %r2, %r5; st.shared.u32 [%r7], %r1; add.s32 "
                             "%r9, %r9, 3; add.s32 %r6, %r6, 4; "
                             "setp.gt.s32 %p2, %r6, 7; @!%p2 bra loop;",
                             {.block = std::array<std::uint32_t, 3>{3, 1, 1}})
                             .at(0);
  EXPECT_NE(a.in_bounds, false);
}

TEST(Kernel, AnInstructionThatTheArchitectureLacksIsNotDecided) {
  KernelOptions options;
  for (Architecture const& arch : architectures)
    if (arch.name == std::string_view("sm_80")) options.arch = &arch;
  KernelAccess const a = one("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};", options);
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.reason, "sm_80 has no stmatrix.x1");
}

TEST(Kernel, ABlockThatCannotBeLaunchedIsRefused) {
  auto const refused = [](std::string const& directive, std::optional<std::array<std::uint32_t, 3>> block) {
    ptx::Module const m = ptx::read_module(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n" + directive + "\n{\nret;\n}\n",
        "test.ptx");
    return decide_kernel(m, m.functions.at(0), {.block = block}).refused;
  };
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{64, 1, 1}}), "");
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{8, 8, 1}}), "") << "the threads count, not the shape";
  EXPECT_EQ(refused(".maxntid 64, 1, 1", {{96, 1, 1}}), "no block of 96,1,1: the PTX has .maxntid 64, 1, 1");
  EXPECT_EQ(refused(".maxntid 16, 1, 1", std::nullopt),
            "its block has at most 16 threads (.maxntid): give --block");
  EXPECT_EQ(refused(".maxntid 40, 1, 1", std::nullopt), "");
  EXPECT_EQ(refused(".reqntid 64", {{64, 1, 1}}), "");
  EXPECT_EQ(refused(".reqntid 64", {{32, 2, 1}}), "no block of 32,2,1: the PTX has .reqntid 64, 1, 1");
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

TEST(Kernel, ValuesAfterALoopOfDifferentLengthsAreNotTheSameInAllLanes) {
  // Lane l runs l + 1 iterations, then reads 128 * i: 32 words of one bank.
  KernelAccess const a =
      one("mov.u32 %r7, 0;\nL: add.s32 %r7, %r7, 1; setp.le.u32 %p1, %r7, %r1; @%p1 bra L;\nshl.b32 %r4, "
          "%r7, 7; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_NE(a.verdict, KernelVerdict::proved);
}

TEST(Kernel, ValuesOfAThreadsOwnMemoryDiffer) {
  KernelAccess const a =
      one(".local .align 4 .b8 own[16]; ld.local.u32 %r9, [own]; and.b32 %r9, %r9, 4092; add.s32 %r9, %r9, "
          "%r2; ld.shared.u32 %r6, [%r9];");
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_EQ(a.verdict, KernelVerdict::data);
}

TEST(Kernel, AThirdOfASumThatWraps) {
  // (3 n + lane) / 3 has 11 values in the first warp, and 12 where 3 n mod 2^32 is no multiple of 3.
  KernelOptions const first{.block = {{32, 1, 1}}};
  std::string const sum = "mul.lo.s32 %r4, %r3, 3; add.s32 %r4, %r4, %r1; ";
  std::string const load = "shl.b32 %r4, %r4, 7; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4];";
  EXPECT_GE(*one(sum + "div.u32 %r4, %r4, 3; " + load, first).wavefronts, 12U);
  EXPECT_GE(*one(sum + "cvt.u64.u32 %rd1, %r4; div.u64 %rd1, %rd1, 3; cvt.u32.u64 %r4, %rd1; " + load, first)
                 .wavefronts,
            12U);
}

TEST(Kernel, AlignedAndInBounds) {
  KernelAccess const a = one("shl.b32 %r4, %r1, 3; add.s32 %r4, %r4, %r2; ld.shared.u64 %rd4, [%r4+4];");
  EXPECT_EQ(a.aligned, false);
  EXPECT_EQ(a.verdict, KernelVerdict::refuted);
  KernelAccess const b = one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4+7936];");
  EXPECT_EQ(b.in_bounds, true);
  KernelAccess const c = one("shl.b32 %r4, %r1, 2; add.s32 %r4, %r4, %r2; ld.shared.u32 %r6, [%r4+7940];");
  EXPECT_EQ(c.in_bounds, false);
}

TEST(Kernel, TheBaseOfASwizzleIsTried) {
  std::string const sw =
      "shr.u32 %r5, %r4, 3; and.b32 %r5, %r5, 112; xor.b32 %r4, %r4, %r5; "
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r4];";
  KernelAccess const known =
      one("and.b32 %r5, %r1, 31; shl.b32 %r4, %r5, 7; mov.u32 %r5, dynamic; add.s32 %r4, %r4, %r5; " + sw);
  EXPECT_EQ(known.wavefronts, 4U);
  EXPECT_EQ(known.verdict, KernelVerdict::proved);
}

}  // namespace
}  // namespace swizproof
