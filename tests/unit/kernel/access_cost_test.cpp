// Cost of an access by the cost model, and what an architecture has.
#include "kernel_case.hpp"
#include "sass_case.hpp"

#include <swizproof/kernel/kernel.hpp>

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
  // Not measured, and of PTX: what ptxas makes of it is not known.
  EXPECT_EQ(of_sass("ATOMS.OR RZ, [RZ+0x400], R0").verdict, KernelVerdict::unknown);
  KernelAccess const of_ptx = one("atom.shared.add.u32 %r4, [%r2], %r3;");
  EXPECT_EQ(of_ptx.verdict, KernelVerdict::unknown);
  EXPECT_EQ(of_ptx.wavefronts, 32U);
}

TEST(Kernel, AnInstructionThatTheArchitectureLacksIsNotDecided) {
  KernelOptions options;
  for (Architecture const& arch : architectures)
    if (arch.name == std::string_view("sm_80")) options.arch = &arch;
  KernelAccess const a = one("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};", options);
  EXPECT_EQ(a.verdict, KernelVerdict::unknown);
  EXPECT_EQ(a.reason, "sm_80 has no stmatrix.x1");
}

}  // namespace
}  // namespace swizproof
