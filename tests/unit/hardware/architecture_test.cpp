#include <swizproof/hardware/bank.hpp>
#include <swizproof/hardware/certainty.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace swizproof {
namespace {

Architecture const& named(std::string_view name) {
  for (Architecture const& arch : architectures)
    if (arch.name == name) return arch;
  ADD_FAILURE() << name;
  return sm_90;
}

TEST(Architectures, HaveTheInstructionsOfTheirGeneration) {
  Instruction const ldmatrix{Operation::ldmatrix, 16, 4}, copy{Operation::cp_async, 16},
      stmatrix{Operation::stmatrix, 16, 4};
  for (Architecture const& arch : architectures) {
    EXPECT_EQ(has(arch, ldmatrix), arch.capability >= 75) << arch.name;
    EXPECT_EQ(has(arch, copy), arch.capability >= 80) << arch.name;
    EXPECT_EQ(has(arch, stmatrix), arch.capability >= 90) << arch.name;
    EXPECT_TRUE(has(arch, {Operation::ld_shared, 16}) && has(arch, {Operation::st_shared, 1})) << arch.name;
    EXPECT_EQ(std::string(arch.name.substr(3)).find(std::to_string(arch.capability)), 0U) << arch.name;
    if (has(arch, copy))
      EXPECT_NO_THROW(require(arch, copy));
    else
      EXPECT_THROW(require(arch, copy), InputError);
  }
}

// [CUDA C++ Programming Guide 13.1, 20.6 to 20.10]
TEST(Architectures, GiveABlockSoMuchSharedMemory) {
  for (auto const& [name, kib] : {std::pair{"sm_70", 96U},
                                  {"sm_75", 64U},
                                  {"sm_80", 163U},
                                  {"sm_86", 99U},
                                  {"sm_87", 163U},
                                  {"sm_89", 99U},
                                  {"sm_90", 227U},
                                  {"sm_100", 227U},
                                  {"sm_120", 99U}})
    EXPECT_EQ(named(name).most_shared_bytes, std::uint64_t{kib} * 1024) << name;
}

TEST(Architectures, ConstantsOfCodeAreThoseOfTheNewestThatIsKnown) {
  for (unsigned capability = 70; capability < 1000; ++capability) {
    CodeConstants const code = code_constants_of(capability);
    EXPECT_EQ(code.shape, capability >= 100 ? 0x360U : 0U) << capability;
    EXPECT_EQ(code.parameters, capability >= 100 ? 0x380U : capability >= 90 ? 0x210U : 0x160U) << capability;
    EXPECT_EQ(code.reserved_shared, capability >= 90 ? 0x400U : 0U) << capability;
  }
}

TEST(Certainty, IsOneSentenceForEveryRung) {
  EXPECT_EQ(certainty(sm_90).find(
                "sm_90: measured on an H200, 2026-11-21; 1,896,130,619 access patterns, no mismatch"),
            0U)
      << certainty(sm_90);
  EXPECT_EQ(
      certainty(named("sm_89")),
      "sm_89: documented: banks, broadcast (CUDA Programming Guide); the rest as on sm_90, not measured");
  EXPECT_EQ(certainty(named("sm_89"), Operation::cp_async),
            "sm_89: assumed as on sm_90, neither documented nor measured");
  EXPECT_EQ(certainty(sm_90, Operation::cp_async), certainty(sm_90));
  EXPECT_EQ(support_of(named("sm_80"), Operation::cp_async), Support::assumed);
  EXPECT_EQ(support_of(named("sm_80"), Operation::ldmatrix), Support::documented);
  std::set<std::string_view> rungs;
  for (Architecture const& arch : architectures) rungs.insert(name(arch.support));
  EXPECT_EQ(rungs, (std::set<std::string_view>{"measured", "documented"}));
}

TEST(Certainty, CountsAsPeopleDo) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(1896130619), "1,896,130,619");
}

// ---------------------------------------------------------------------------------- tables that differ from sm_90's

WarpAccess<std::uint32_t> warp(std::uint32_t (*address)(std::uint32_t), std::uint32_t active = ~0U) {
  WarpAccess<std::uint32_t> w{};
  for (std::uint32_t l = 0; l < warp_lanes; ++l)
    w.address[l] = address(l), w.active[l] = (active >> l & 1) != 0;
  return w;
}

TEST(Table, OfMoreBanksAndWiderOnes) {
  Architecture wide = sm_90, deep = sm_90, few = sm_90;
  wide.banks = {64, 4}, deep.banks = {32, 8}, few.banks = {16, 4};
  Instruction const load{};
  auto const column = warp([](std::uint32_t l) { return 128 * l; });
  EXPECT_EQ(cost(sm_90, load, column).wavefronts, 32U);
  EXPECT_EQ(cost(wide, load, column).wavefronts, 16U);
  EXPECT_EQ(cost(deep, load, column).wavefronts, 16U);
  EXPECT_EQ(cost(few, load, column).wavefronts, 32U);
  auto const consecutive = warp([](std::uint32_t l) { return 4 * l; });
  EXPECT_EQ(cost(few, load, consecutive).wavefronts, 2U);
  EXPECT_EQ(cost(deep, load, warp([](std::uint32_t l) { return l % 2 * 4 + l / 2 * 256; })).wavefronts, 16U)
      << "both halves of a word of 8 bytes are one word";
}

TEST(Table, OfOtherPartners) {
  PhaseTable table = sm_90_phases;
  for (auto& widths : table)
    for (Phase& p : widths) p.partners = 4;
  Architecture const arch = phases_alone(&table, usual_banks);
  Instruction const load{Operation::ld_shared, 16};
  auto const fours = warp([](std::uint32_t l) { return (l & ~4U) * 16; });
  auto const neighbours = warp([](std::uint32_t l) { return (l & ~1U) * 16; });
  EXPECT_EQ(cost(arch, load, fours).phases, (Phases{2, 16}));
  EXPECT_EQ(cost(arch, load, neighbours).phases, (Phases{4, 8}));
  EXPECT_EQ(cost(sm_90, load, neighbours).phases, (Phases{2, 16}));
  EXPECT_EQ(cost(sm_90, load, fours).phases, (Phases{4, 8}));
}

// Even lanes are served together, then odd ones.
TEST(Table, OfScatteredLanes) {
  PhaseTable table = sm_90_phases;
  Phase& row = table[static_cast<std::size_t>(Operation::st_shared)][1];
  row.in_order = false;
  for (unsigned place = 0; place < warp_lanes; ++place)
    row.order[place] = static_cast<std::uint8_t>(place % 16 * 2 + place / 16);
  Architecture const arch = phases_alone(&table, usual_banks);
  Instruction const store{Operation::st_shared, 8};
  auto const halves = [](std::uint32_t l) {
    return l % 2 * 512 + l / 2 * 8;
  };  // even lanes a row, odd lanes another
  auto const all = cost(arch, store, warp(halves));
  EXPECT_EQ(all.wavefronts, 2U);
  EXPECT_EQ(cost(sm_90, store, warp(halves)).wavefronts, 4U);
  EXPECT_EQ(all.phases.lane(15), 30U);
  EXPECT_EQ(all.phases.lane(16), 1U);
  auto const even = cost(arch, store, warp([](std::uint32_t l) { return 128 * l; }, 0x55555555));
  EXPECT_EQ(even.degree[0], 16U);
  EXPECT_EQ(even.degree[1], 0U);
}

TEST(Table, OfOnePhaseForAllMatrices) {
  PhaseTable table = sm_90_phases;
  for (Phase& p : table[static_cast<std::size_t>(Operation::ldmatrix)]) p.lanes = 16;
  Architecture const arch = phases_alone(&table, usual_banks);
  for (unsigned const n : {1U, 2U, 4U})
    EXPECT_EQ(ideal_wavefronts(arch, {Operation::ldmatrix, 16, n}), n)
        << "a phase of 16 rows fills the banks twice";
}

// With lanes whose bytes follow each other, no access costs less than all banks hold, and they cost that: so does the ideal.
TEST(Ideal, IsWhatLanesSideBySideCost) {
  for (unsigned count = 1; count <= most_banks; count *= 2)
    for (unsigned bytes = 1; bytes <= 32; bytes *= 2) {
      Banks const banks{count, bytes};
      if (banks.row() < 16) continue;
      Architecture arch = sm_90;
      arch.banks = banks;
      for (InstructionName const& known : instruction_names) {
        Instruction const i = known.instruction;
        std::uint32_t const step = i.operation == Operation::cp_async ? std::max(i.bytes, bytes) : i.bytes;
        WarpAccess<std::uint32_t> side_by_side{};
        for (unsigned l = 0; l < warp_lanes; ++l)
          side_by_side.address[l] = step * l, side_by_side.active[l] = true;
        EXPECT_EQ(ideal_wavefronts(arch, i), cost(arch, i, side_by_side).wavefronts)
            << known.text << " on " << count << " banks of " << bytes;
      }
    }
  Architecture narrow = sm_90;
  narrow.banks = {16, 4};
  EXPECT_EQ(ideal_wavefronts(narrow, {Operation::ld_shared, 4}), 2U);
  EXPECT_EQ(ideal_wavefronts(narrow, {Operation::ld_shared, 2}), 1U);
  EXPECT_EQ(ideal_wavefronts(narrow, {Operation::ldmatrix, 16, 4}), 8U);
}

}  // namespace
}  // namespace swizproof
