// Cost of an access by the cost model, and what an architecture has.
#include "kernel_case.hpp"
#include "sass_case.hpp"

#include <swizproof/hardware/copy.hpp>
#include <swizproof/kernel/kernel.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

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

TEST(Kernel, AtomicsOfSassTakeWhatWasMeasured) {
  auto const of_sass = [](std::string const& atomic) {
    sass::Module const m = sass::read_module(sass_kernel("S2R R0, SR_TID.X\n" + atomic + "\nEXIT"), "k.sass");
    KernelOptions options;
    options.block = {64, 1, 1};
    return decide_kernel(m, sass::lower(m, m.functions.at(0)), options).accesses.at(0);
  };
  KernelAccess const one_word = of_sass("ATOMS.ADD RZ, [RZ+0x400], R0");
  EXPECT_EQ(one_word.verdict, KernelVerdict::refuted) << one_word.reason;
  EXPECT_TRUE(one_word.reached);
  EXPECT_EQ(one_word.wavefronts, 32U);
  EXPECT_EQ(of_sass("ATOMS.POPC.INC.32 RZ, [RZ+0x400]").verdict, KernelVerdict::proved);
  EXPECT_EQ(of_sass("ATOMS.OR RZ, [RZ+0x400], R0").verdict, KernelVerdict::unknown) << "not measured";
  // A round of a loop of compare-and-swap.
  KernelAccess const round = of_sass("ATOMS.CAST.SPIN P0, [RZ+0x400], R2, R3");
  EXPECT_EQ(round.verdict, KernelVerdict::unknown);
  EXPECT_EQ(round.wavefronts, 64U);
  EXPECT_EQ(of_sass("SHF.L.U32 R5, R0, 0x3, RZ\nATOMS.CAST.SPIN.64 P0, [R5+0x400], R2, R6").verdict,
            KernelVerdict::proved);
}

/// A in registers: the descriptor of B is the second pair all the same.
TEST(Kernel, DescriptorsOfSassAreOfBInTheSecondPair) {
  auto const operands = [](std::string const& product) {
    sass::Module const m = sass::read_module(
        sass_kernel("UMOV UR8, 0x40\nUMOV UR9, 0x40000040\nUMOV UR10, 0x80\nUMOV UR11, 0x40000040\n" +
                    product + "\nEXIT"),
        "k.sass");
    KernelOptions options;
    options.block = {128, 1, 1};
    std::vector<std::string> starts;
    for (KernelOperand const& o : decide_kernel(m, sass::lower(m, m.functions.at(0)), options).operands)
      starts.push_back(o.what + " " + o.start);
    return starts;
  };
  using Starts = std::vector<std::string>;
  EXPECT_EQ(operands("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24"),
            (Starts{"descriptor A (0x4000004000000040) % 16384 * 16",
                    "descriptor B (0x4000004000000080) % 16384 * 16"}));
  EXPECT_EQ(operands("HGMMA.64x128x16.F32 R88, R152, gdesc[UR8].tnspB, R88"),
            (Starts{"descriptor B (0x4000004000000080) % 16384 * 16"}));
}

TEST(Kernel, AtomicsOfPtxTakeWhatWasMeasured) {
  constexpr KernelVerdict proved = KernelVerdict::proved, refuted = KernelVerdict::refuted,
                          unknown = KernelVerdict::unknown;
  struct Row {
    std::string body;
    KernelVerdict verdict;
    unsigned wavefronts;
  };
  Row const rows[] = {
      // Lanes at one address, as far as ptxas can see: one atomic for the warp, or a scan for the results.
      {"atom.shared.add.u32 %r4, [%r2], %r3; st.global.u32 [%rd1], %r4;", unknown, 32},
      {"red.shared.min.s32 [%r2], %r1;", unknown, 32},
      {"red.shared.xor.b32 [%r2], %r1;", unknown, 32},
      {"and.b32 %r5, %r3, 3; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2; red.shared.add.u32 [%r5], %r1;",
       unknown, 32},
      {"atom.shared.max.u32 %r4, [%r2], %r1; st.global.u32 [%rd1], %r4;", refuted, 32},
      {"shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2; red.shared.add.u32 [%r5], %r1;", refuted, 32},
      {"atom.shared.exch.b32 %r4, [%r2], 7;", refuted, 32},
      {"atom.shared.cas.b32 %r4, [%r2], 0, 1;", refuted, 64},
      // Lanes that count are brought together.
      {"atom.shared.add.u32 %r4, [%r2], 1;", proved, 1},
      {"red.shared.add.u32 [%r2], 1;", proved, 1},
      {"atom.shared.add.u32 %r4, [%r2], 1; st.global.u32 [%rd1], %r4;", unknown, 32},
      {"shl.b32 %r5, %r1, 7; add.s32 %r5, %r5, %r2; red.shared.add.u32 [%r5], 1;", refuted, 32},
      // ptxas may bring together those that add a constant.
      {"atom.shared.add.u32 %r4, [%r2], 5;", unknown, 32},
      {"mov.u32 %r5, 1; atom.shared.add.u32 %r4, [%r2], %r5;", unknown, 32},
      {"atom.shared.or.b32 %r4, [%r2], %r3;", unknown, 32},
      // A loop of compare-and-swap: each round is bounded.
      {"red.shared.add.f32 [%r2], %r3;", unknown, 64},
      {"shl.b32 %r5, %r1, 2; add.s32 %r5, %r5, %r2; red.shared.add.f32 [%r5], %r3;", proved, 2},
      {"shl.b32 %r5, %r1, 3; add.s32 %r5, %r5, %r2; atom.shared.add.f64 %rd2, [%r5], %rd1;", proved, 4},
      {"shl.b32 %r5, %r1, 3; add.s32 %r5, %r5, %r2; atom.shared.add.u64 %rd2, [%r5], %rd1;", proved, 4},
  };
  for (Row const& row : rows) {
    KernelAccess const a = one(row.body);
    EXPECT_EQ(a.verdict, row.verdict) << row.body << ": " << a.reason;
    EXPECT_EQ(a.wavefronts, row.wavefronts) << row.body;
  }
  EXPECT_EQ(one("atom.shared.add.f16 %r4, [%r2], %r3;").wavefronts, std::nullopt);
  EXPECT_EQ(one("atom.shared::cluster.add.u32 %r4, [%r2], %r3;").wavefronts, std::nullopt);
}

TEST(Kernel, AnInstructionThatTheArchitectureLacksIsNotDecided) {
  KernelOptions options;
  for (Architecture const& arch : architectures)
    if (arch.name == std::string_view("sm_80")) options.arch = &arch;
  KernelAccess const a = one("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};", options);
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.reason, "sm_80 has no stmatrix.x1");
}

/// A copy through L1 of 4 or 16 bytes a lane to consecutive words, from an address in %rd3.
KernelReport copy_from(std::string const& source, unsigned bytes, std::string const& op = "cp.async.ca") {
  return report_of(
      fmt::format("mul.lo.u32 %r4, %r1, {0}; add.u32 %r4, %r4, %r2; ld.param.u64 %rd1, [g];\n"
                  "{1}\n{2}.shared.global [%r4], [%rd3], {0};",
                  bytes, source, op));
}
std::string lanes_apart(unsigned bytes) {
  return fmt::format("mul.wide.u32 %rd2, %r1, {}; add.s64 %rd3, %rd1, %rd2;", bytes);
}

// The numbers are those of gpu/evidence/h200-copies.json, by H21.
TEST(CopySource, TakesAWavefrontForEachLaneOfABankOfL1) {
  auto const cost = [](std::string const& source, unsigned bytes) {
    KernelReport const r = copy_from(source, bytes);
    EXPECT_TRUE(r.rests_on.empty()) << r.rests_on[0];
    return fmt::format("{} {}", r.accesses[0].verdict == KernelVerdict::proved ? "proved" : "unknown",
                       *r.accesses[0].wavefronts);
  };
  EXPECT_EQ(cost(lanes_apart(4), 4), "proved 1");
  EXPECT_EQ(cost(lanes_apart(8), 4), "unknown 2");
  EXPECT_EQ(cost(lanes_apart(128), 4), "unknown 32");
  EXPECT_EQ(cost(lanes_apart(132), 4), "proved 1") << "another line, and another bank";
  EXPECT_EQ(cost("mov.u64 %rd3, %rd1;", 4), "unknown 32") << "lanes at one address count";
  EXPECT_EQ(cost(lanes_apart(16), 16), "proved 4");
  EXPECT_EQ(cost(lanes_apart(32), 16), "unknown 8");
  EXPECT_NE(copy_from(lanes_apart(8), 4)
                .accesses[0]
                .reason.find("its source may take 1 more: lanes read one bank of L1"),
            std::string::npos);
}

TEST(CopySource, IsKnownInEachIterationAndCase) {
  // i * tid * 4 of iteration i < 4: the first one reads one address
  std::string const loop =
      "mov.u32 %r5, 0; mov.u64 %rd3, %rd1; mul.wide.u32 %rd2, %r1, 4;\nL: add.u32 %r5, %r5, 1; "
      "setp.lt.u32 %p1, %r5, 4; cp.async.ca.shared.global [%r4], [%rd3], 4; add.s64 %rd3, %rd3, %rd2; "
      "@%p1 bra L; mov.u64 %rd3, %rd1;\n";
  KernelReport const looped =
      report_of("mul.lo.u32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; ld.param.u64 %rd1, [g];\n" + loop);
  EXPECT_EQ(looped.accesses[0].wavefronts, 32U);
  EXPECT_EQ(looped.accesses[0].verdict, KernelVerdict::unknown);
  KernelReport const chosen = copy_from(
      "ld.param.u32 %r5, [n]; setp.lt.u32 %p1, %r5, 16; mov.u32 %r6, 4; @%p1 mov.u32 %r6, 128; mul.lo.u32 "
      "%r6, "
      "%r6, %r1; cvt.u64.u32 %rd2, %r6; add.s64 %rd3, %rd1, %rd2;",
      4);
  EXPECT_EQ(chosen.accesses[0].wavefronts, 32U);
  EXPECT_TRUE(chosen.rests_on.empty());
}

TEST(CopySource, IsAssumedWhereItsLanesAreNotKnown) {
  std::string const any =
      "ld.param.u32 %r5, [n]; mul.lo.u32 %r5, %r5, %r1; mul.wide.u32 %rd2, %r5, 4; "
      "add.s64 %rd3, %rd1, %rd2;";
  ASSERT_EQ(copy_from(any, 4).rests_on.size(), 1U);
  EXPECT_NE(copy_from(any, 4).rests_on[0].find("read different banks of L1"), std::string::npos);
  EXPECT_EQ(copy_from(any, 4).accesses[0].wavefronts, 1U);
}

KernelOptions with_pointers(unsigned pointers = 128) {
  KernelOptions options;
  options.block = {32, 1, 1};
  options.pointers = pointers;
  return options;
}

/// A copy to %r4 from %rd3; both start as those of lanes 16 bytes apart.
std::string bypassing(std::string const& changes, std::string const& guard = "") {
  return "shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; ld.param.u64 %rd1, [g]; mul.wide.u32 %rd2, %r1, 16; "
         "add.s64 %rd3, %rd1, %rd2;\n" +
         changes + "\n" + guard + "cp.async.cg.shared.global [%r4], [%rd3], 16;";
}
std::string bypass_cost(std::string const& changes, KernelOptions const& options = with_pointers()) {
  KernelAccess const a = one(bypassing(changes), options);
  std::string const verdict = a.verdict == KernelVerdict::proved    ? "proved"
                              : a.verdict == KernelVerdict::refuted ? "refuted"
                                                                    : "unknown";
  return fmt::format("{} {} of {}{}", verdict, a.wavefronts.value_or(99), a.ideal,
                     a.any_source ? ", any source" : "");
}

// Lanes of one address add up before they take a bank, if ptxas has the constant.
TEST(Kernel, AtomicsOfAConstantMayTakeLess) {
  auto const verdict = [](std::string const& value) {
    return one("shl.b32 %r4, %r1, 3; add.u32 %r4, %r4, %r2; mov.u32 %r5, 7; red.shared.max.u32 [%r4], " +
               value + ";")
        .verdict;
  };
  EXPECT_EQ(verdict("%r1"), KernelVerdict::refuted);
  EXPECT_EQ(verdict("5"), KernelVerdict::unknown);
  EXPECT_EQ(verdict("%r5"), KernelVerdict::unknown);
}

// The numbers are those of gpu/evidence/h200-copies.json, by H22.
TEST(BypassCopy, TakesWhatSourceAndDestinationTakeTogether) {
  EXPECT_EQ(bypass_cost(""), "proved 4 of 4");
  EXPECT_EQ(bypass_cost("add.u32 %r4, %r4, 16;"), "refuted 12 of 4");
  EXPECT_EQ(bypass_cost("add.u32 %r4, %r4, 32;"), "refuted 8 of 4");
  EXPECT_EQ(bypass_cost("add.s64 %rd3, %rd3, 16; add.u32 %r4, %r4, 16;"), "proved 6 of 6")
      << "no destination takes less";
  EXPECT_EQ(bypass_cost("add.s64 %rd3, %rd3, 48;"), "refuted 16 of 7");
  // the units of each row by XOR with its number
  EXPECT_EQ(bypass_cost("shr.u32 %r5, %r4, 3; and.b32 %r5, %r5, 112; xor.b32 %r4, %r4, %r5;"),
            "proved 4 of 4");
  // the units of each row by XOR with their own number / 2: other sectors
  EXPECT_EQ(bypass_cost("shr.u32 %r5, %r4, 1; and.b32 %r5, %r5, 16; xor.b32 %r4, %r4, %r5;").substr(0, 7),
            "refuted");
  // rows of 64 bytes, 1024 apart
  EXPECT_EQ(bypass_cost("shr.u32 %r5, %r1, 2; mul.wide.u32 %rd4, %r5, 960; add.s64 %rd3, %rd3, %rd4;"),
            "proved 8 of 8");
  EXPECT_EQ(bypass_cost("mul.wide.u32 %rd4, %r1, 112; add.s64 %rd3, %rd3, %rd4;"), "proved 32 of 32");
}

// Lane 2 writes the unit of lane 1 and moves nothing, so lane 0 moves half a sector, as does lane 3.
TEST(BypassCopy, OfAUnitThatIsWrittenTwiceIsThatOfTheLowestLane) {
  WarpAccess<std::uint32_t> from{}, to{};
  std::uint32_t const units[][2] = {{0, 0}, {9, 1}, {1, 1}, {2, 2}};
  for (unsigned l = 0; l < 4; ++l)
    from.address[l] = 16 * units[l][0], to.address[l] = 16 * units[l][1],
    from.active[l] = to.active[l] = true;
  EXPECT_EQ(bypass_copy_wavefronts(from, to).least, 2U);
  EXPECT_EQ(bypass_copy_wavefronts(from, to).most, 2U);
}

TEST(BypassCopy, IsDecidedForEachStartOfItsSource) {
  EXPECT_EQ(bypass_cost("", with_pointers(64)), "refuted 8 of 5");
  EXPECT_EQ(bypass_cost("", with_pointers(16)).substr(0, 10), "refuted 16");
  KernelAccess const a = one(bypassing(""), with_pointers(64));
  ASSERT_TRUE(a.worst);
  ASSERT_EQ(a.worst->values.size(), 1U);
  EXPECT_EQ(a.worst->values[0].first, "(source of the first lane) % 128");
  EXPECT_EQ(a.worst->values[0].second, 64U);
}

TEST(BypassCopy, ReadsFromAlignedPointersUnlessTheyAreGiven) {
  EXPECT_EQ(bypass_cost("", with_pointers(0)), "proved 4 of 4");
  EXPECT_EQ(bypass_cost("", with_pointers(1)), bypass_cost("", with_pointers(16)));
  auto const assumed = [](unsigned pointers) {
    return fmt::format("{}", fmt::join(report_of(bypassing(""), with_pointers(pointers)).rests_on, "\n"));
  };
  EXPECT_EQ(assumed(0).find("pointers that cp.async.cg reads are multiples of 128"), 0U);
  EXPECT_EQ(assumed(16).find("cp.async.cg"), std::string::npos);
  KernelOptions given = with_pointers(0);
  given.params["g"] = {16};
  EXPECT_EQ(bypass_cost("", given).substr(0, 7), "refuted");
}

TEST(BypassCopy, IsDecidedForEachStartOfItsDestination) {
  KernelOptions options = with_pointers();
  options.any_base = true;
  EXPECT_EQ(bypass_cost("", options), "refuted 16 of 4") << "tile is aligned to 16 bytes";
  // a row of 2048 bytes for each n
  EXPECT_EQ(bypass_cost("and.b32 %r5, %r3, 1; shl.b32 %r5, %r5, 11; add.u32 %r4, %r4, %r5;"),
            "proved 4 of 4");
  EXPECT_EQ(bypass_cost("and.b32 %r5, %r3, 1; shl.b32 %r5, %r5, 6; add.u32 %r4, %r4, %r5;"),
            "refuted 8 of 4");
}

TEST(BypassCopy, IsAllowedItsOwnExcess) {
  KernelOptions options = with_pointers();
  options.excess = 4;
  EXPECT_EQ(bypass_cost("add.u32 %r4, %r4, 32;", options), "proved 8 of 4");
  EXPECT_EQ(bypass_cost("add.u32 %r4, %r4, 16;", options), "refuted 12 of 4");
  options.excess = 0;
  options.at_most = 7;
  EXPECT_EQ(bypass_cost("add.s64 %rd3, %rd3, 16; add.u32 %r4, %r4, 16;", options), "proved 6 of 6");
  EXPECT_EQ(
      bypass_cost("shr.u32 %r5, %r1, 2; mul.wide.u32 %rd4, %r5, 960; add.s64 %rd3, %rd3, %rd4;", options),
      "refuted 8 of 8");
}

TEST(BypassCopy, OfAnUnknownSourceCountsRows) {
  std::string const pitch =
      "shr.u32 %r5, %r1, 2; mul.lo.u32 %r5, %r5, %r3; mul.wide.u32 %rd4, %r5, 16; add.s64 %rd3, %rd3, %rd4;";
  EXPECT_EQ(bypass_cost(pitch), "proved 4 of 4, any source");
  EXPECT_EQ(bypass_cost(pitch + "add.u32 %r4, %r4, 16;"), "refuted 5 of 4, any source");
  KernelReport const r = report_of(bypassing(pitch), with_pointers());
  ASSERT_EQ(r.rests_on.size(), 2U);
  EXPECT_NE(r.rests_on[1].find("read whole sectors of one line"), std::string::npos);
  // lanes that data switches off
  std::string const some =
      "mad.wide.u32 %rd5, %r1, 4, %rd1; ld.global.u32 %r6, [%rd5]; setp.ne.u32 %p1, %r6, 0;";
  KernelAccess const guarded = one(bypassing(some, "@%p1 "), with_pointers());
  EXPECT_TRUE(guarded.any_source);
}

TEST(BypassCopy, ThatReadsWhereDataOrAnIterationLeadsHasNoExecutionByItself) {
  KernelAccess const loaded =
      one(bypassing("ld.global.u32 %r6, [%rd1]; mul.wide.u32 %rd4, %r6, 16; add.s64 %rd3, %rd3, %rd4;"),
          with_pointers());
  EXPECT_EQ(loaded.verdict, KernelVerdict::data);
  EXPECT_EQ(loaded.reason, "the address depends on the load at PTX line 11");
  EXPECT_EQ(loaded.wavefronts, 16U);
  EXPECT_FALSE(loaded.reached);
  KernelAccess const later =
      one(bypassing("mov.u32 %r20, 0;\nL:") +
              " add.s64 %rd3, %rd3, 16; add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, %r3; @%p8 bra L;",
          with_pointers());
  EXPECT_EQ(later.wavefronts, 16U);
  EXPECT_EQ(later.seen, 0U) << "in iteration 0 it takes 4";
}

// Iteration 1 takes 18 where the best destination takes 5; iteration 0 takes 9 of 6, iteration 2 10 of 7.
TEST(BypassCopy, IsThatOfTheCaseMostAboveItsIdeal) {
  auto const looped = [](std::string const& trips, KernelOptions const& options) {
    return one(
        bypassing("add.s64 %rd3, %rd3, 16; add.u32 %r4, %r4, 112; mov.u32 %r20, 0;\nL:") +
            " add.s64 %rd3, %rd3, 80; add.u32 %r4, %r4, 64; add.u32 %r20, %r20, 1; setp.lt.u32 %p8, %r20, " +
            trips + "; @%p8 bra L;",
        options);
  };
  KernelAccess const all = looped("3", with_pointers());
  EXPECT_EQ(all.verdict, KernelVerdict::refuted);
  EXPECT_EQ(all.wavefronts, 18U);
  EXPECT_EQ(all.ideal, 5U);
  EXPECT_EQ(excess_of(all), 13U);
  EXPECT_TRUE(all.reached);
  KernelAccess const open = looped("%r3", with_pointers());
  EXPECT_EQ(open.ideal, 6U) << "of iteration 0, which is shown";
  EXPECT_EQ(open.seen, 9U);
  EXPECT_EQ(excess_of(open), 13U);
}

// Lanes that read one unit may take more than the rule says: no number is claimed.
TEST(BypassCopy, WithAUnitThatIsReadTwiceIsNotExact) {
  KernelAccess const a =
      one(bypassing("min.u32 %r5, %r1, 30; mul.wide.u32 %rd2, %r5, 16; add.s64 %rd3, %rd1, %rd2;"),
          with_pointers());
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_NE(a.reason.find("lanes read one unit of 16 bytes"), std::string::npos) << a.reason;
  EXPECT_EQ(a.wavefronts, 32U);
  EXPECT_FALSE(a.reached);
}

TEST(BypassCopy, OfLanesThatAreOffIsThatOfTheOthers) {
  EXPECT_EQ(one(bypassing("setp.lt.u32 %p1, %r1, 8;", "@%p1 "), with_pointers()).wavefronts, 1U);
  KernelAccess const odd = one(bypassing("setp.lt.u32 %p1, %r1, 7;", "@%p1 "), with_pointers());
  EXPECT_EQ(odd.wavefronts, 2U);
  EXPECT_EQ(odd.verdict, KernelVerdict::proved)
      << "half of a sector is a move of its own, with any destination";
}

}  // namespace
}  // namespace swizproof
