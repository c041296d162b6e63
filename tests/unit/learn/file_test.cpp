// A table goes from the learner to `--arch FILE` and back: what is read is what was learned, and what is wrong is said.
#include "simulated.hpp"

#include <swizproof/hardware/certainty.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

namespace swizproof::gpu {
namespace {

Origin const origin{"sm_90", "NVIDIA \"Test\" 1", "2026-11-22", 232448, "  \"driver\": \"580.1\",\n"};

std::string file_of(Simulated const& s) { return table_file(learn(s.device(), 1000), origin); }

TEST(LearnedFile, IsReadAsItWasLearned) {
  Simulated wide = simulated_sm_90();
  wide.banks = 64;
  Simulated scattered = simulated_sm_90();
  scattered.merging = false;
  scattered.groups = [](Instruction i) {
    if (i.operation == Operation::st_shared && i.bytes == 8) {
      std::vector<std::vector<unsigned>> all(2);
      for (unsigned l = 0; l < 32; ++l) all[l % 2].push_back(l);
      return all;
    }
    return simulated_sm_90().groups(i);
  };
  Simulated old = simulated_sm_90();
  old.has = [](Instruction i) { return has(phases_alone(&sm_70_phases, usual_banks), i); };
  for (Simulated const& s : {simulated_sm_90(), wide, scattered, old}) {
    Findings const found = learn(s.device(), 1000);
    Architecture const& read = read_architecture(table_file(found, origin), "card.json");
    EXPECT_TRUE(same_law(read, found.architecture()));
    EXPECT_EQ(read.support, Support::measured);
    EXPECT_EQ(read.most_shared_bytes, 232448U);
    EXPECT_EQ(certainty(read),
              "card.json: sm_90, measured by you on NVIDIA \"Test\" 1, 2026-11-22; 1,000 access patterns, no "
              "mismatch");
  }
}

TEST(LearnedFile, OfSm90IsTheTableThatIsProved) {
  EXPECT_TRUE(same_law(read_architecture(file_of(simulated_sm_90()), "a.json"), sm_90));
}

TEST(LearnedFile, ThatIsReadTwiceIsOneArchitecture) {
  std::string const text = file_of(simulated_sm_90());
  EXPECT_EQ(&read_architecture(text, "a.json"), &read_architecture(text, "a.json"));
}

TEST(LearnedFile, OfWhatIsNotExplainedIsRefused) {
  Simulated s = simulated_sm_90();
  s.twist = [](Instruction, WarpAccess<std::uint32_t> const&, unsigned) { return 1U; };
  try {
    (void)read_architecture(file_of(s), "t");
    ADD_FAILURE() << "accepted";
  } catch (InputError const& error) {
    EXPECT_EQ(error.message, "t: the table does not explain what was measured: 'outcome' is 'not explained'");
  }
}

// The cost model that reads a table as data is the cost model of the device, for every table: on numbers, and as a formula.
TEST(LearnedTable, CostsWhatTheDeviceCosts) {
  Simulated eight = simulated_sm_90();
  eight.bank_bytes = 8;
  Simulated half = simulated_sm_90();
  half.banks = 16;
  half.merging = false;
  half.pays_idle = false;
  half.groups = [](Instruction i) { return consecutive(i.bytes == 16 ? 4 : i.bytes == 8 ? 8 : 16); };
  Simulated wide = simulated_sm_90();
  wide.banks = 64;
  wide.partners = {4, 8};
  std::mt19937_64 random(7);
  for (Simulated const& s : {simulated_sm_90(), eight, half, wide}) {
    Findings const found = learn(s.device(), 1000);
    ASSERT_EQ(found.outcome, Learned::table) << found.reason;
    Architecture const& arch = read_architecture(table_file(found, origin), "t");
    for (InstructionName const& known : instruction_names)
      for (int again = 0; again < 50; ++again) {
        Probe p;
        std::uint32_t const spread = 1U << random() % 12;
        for (std::uint32_t& a : p.address)
          a = static_cast<std::uint32_t>(random()) % spread *
              (again % 2 == 0 ? known.instruction.bytes : 256);
        if (again % 5 == 0)
          for (unsigned l = 0; l < 32; ++l) p.address[l] = p.address[l & ~4U];
        if (known.instruction.matrices == 0 && again % 3 == 0)
          p.active = static_cast<std::uint32_t>(random()) | 1;
        auto const warp = p.access(known.instruction);
        ASSERT_EQ(cost(arch, known.instruction, warp).wavefronts, s.wavefronts(known.instruction, warp))
            << known.text;
      }
  }
}

}  // namespace
}  // namespace swizproof::gpu
