// What real devices said equals the model; and a record that was tampered with, or a wrong law, does not.
#include "../../src/evidence.hpp"

#include <swizproof/parse.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace swizproof {
namespace {

using Json = nlohmann::json;

std::string read(std::string const& name) {
  std::ifstream file(SWIZPROOF_EVIDENCE "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t contradictions(Json const& record, Law const& law = law_of_the_model) {
  return recompute("record", record.dump(), law).contradictions.size();
}

Json wavefronts() {
  static Json const record = Json::parse(read("h200-wavefronts.json"));
  return record;
}

TEST(Evidence, OfEveryDeviceEqualsTheModel) {
  std::size_t records = 0;
  for (auto const& file : std::filesystem::directory_iterator(SWIZPROOF_EVIDENCE)) {
    Evidence const e = recompute(file.path().filename().string(), read(file.path().filename().string()));
    EXPECT_GT(e.compared, 10U) << e.name;
    for (Contradiction const& c : e.contradictions)
      ADD_FAILURE() << e.name << ": " << c.where << ": " << c.recorded << " is not " << c.predicted;
    ++records;
  }
  EXPECT_GE(records, 6U);
}

TEST(Evidence, HoldsTwentyThousandMeasurements) {
  EXPECT_GE(recompute("wavefronts", read("h200-wavefronts.json")).compared, 20000U);
}

/// Wavefronts by a dumb count: distinct words in each of `banks` banks, groups as given, no merging.
unsigned dumb(WarpAccess<std::uint32_t> const& access, Instruction const& i, unsigned group, unsigned banks) {
  unsigned sum = 0;
  for (unsigned first = 0; first < i.lanes(); first += group) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> words;
    for (unsigned lane = first; lane < std::min(first + group, i.lanes()); ++lane)
      for (unsigned byte = 0; access.active[lane] && byte < std::max(4U, i.bytes); byte += 4) {
        std::uint32_t const w = (access.address[lane] + byte) / 4;
        auto& seen = words[w % banks];
        if (std::find(seen.begin(), seen.end(), w) == seen.end()) seen.push_back(w);
      }
    std::size_t most = 0;
    for (auto const& [bank, distinct] : words) most = std::max(most, distinct.size());
    sum += static_cast<unsigned>(most);
  }
  return std::max(sum, i.lanes() / std::min(group, i.lanes()));
}

unsigned group_of(Instruction const& i) {
  return i.matrices != 0 ? 8 : i.bytes <= 4 ? 32 : i.bytes == 8 ? 16 : 8;
}

TEST(Evidence, ContradictsALawWithoutPhases) {
  Law const law = [](Instruction const& i, auto const& access) { return dumb(access, i, 32, 32); };
  EXPECT_GT(contradictions(wavefronts(), law), 1000U);
}

TEST(Evidence, ContradictsALawThatNeverMerges) {
  Law const law = [](Instruction const& i, auto const& access) { return dumb(access, i, group_of(i), 32); };
  std::size_t const n = contradictions(wavefronts(), law);
  EXPECT_GT(n, 50U);
  EXPECT_LT(n, 5000U) << "the dumb count is right where nothing merges";
}

TEST(Evidence, ContradictsALawOf31Banks) {
  Law const law = [](Instruction const& i, auto const& access) { return dumb(access, i, group_of(i), 31); };
  EXPECT_GT(contradictions(wavefronts(), law), 5000U);
}

TEST(Evidence, NoticesAChangedCycleCount) {
  Json record = wavefronts();
  Json& cycles = record["rows"]["sample"]["st.shared.b32"][5][2];
  cycles = cycles.get<int>() + 768;
  EXPECT_EQ(contradictions(record), 1U);
}

TEST(Evidence, NoticesAChangedAddress) {
  Json record = wavefronts();
  for (Json& row : record["rows"]["sample"]["ldmatrix.x4"]) row[4] = std::string(64, '0');
  EXPECT_GT(contradictions(record), 500U);
}

TEST(Evidence, NoticesMismatchesThatTheRunSaw) {
  Json record = wavefronts();
  record["counts"]["mismatches"] = 1;
  EXPECT_EQ(contradictions(record), 1U);
}

TEST(Evidence, NoticesAMissingSwizzle) {
  Json record = Json::parse(read("h200-exhaustive.json"));
  record["rows"]["swizzles"].erase(100);
  EXPECT_EQ(contradictions(record), 2U) << "fewer than there are, fewer than the record says";
}

TEST(Evidence, NoticesAMovedByteOfTheTma) {
  Json record = Json::parse(read("h200-tma.json"));
  Json& place = record["rows"]["copies"][20][6][3];
  place = place.get<int>() + 16;
  EXPECT_EQ(contradictions(record), 1U);
}

TEST(Evidence, NoticesAnotherBaseOffset) {
  Json record = Json::parse(read("h200-wgmma.json"));
  for (Json& row : record["rows"]["maps"]) row[6] = (row[6].get<int>() + 1) % 8;
  EXPECT_GT(contradictions(record), 10U);
}

TEST(Evidence, RefusesWhatIsNoRecord) {
  EXPECT_THROW((void)recompute("x", ""), InputError);
  EXPECT_THROW((void)recompute("x", "{}"), InputError);
  EXPECT_THROW((void)recompute("x", "{\"format\": "), InputError);
  Json record = wavefronts();
  record["rows"]["sample"] = Json::object();
  EXPECT_THROW((void)recompute("x", record.dump()), InputError) << "no measurement";
  record["format"] = "swizproof evidence 2";
  EXPECT_THROW((void)recompute("x", record.dump()), InputError);
}

Evidence shard(std::uint64_t i, std::uint64_t n, std::uint64_t units, std::uint64_t all = 0,
               std::uint64_t seed = 1) {
  Evidence e;
  e.campaign = "tma";
  e.shard = i;
  e.shards = n;
  e.units = units;
  e.units_of_all_parts = all;
  e.seed = seed;
  return e;
}

TEST(Shards, MustBeCompleteAndDisjoint) {
  EXPECT_TRUE(check_shards({shard(1, 2, 5, 9), shard(2, 2, 4)}).empty());
  EXPECT_EQ(check_shards({shard(1, 2, 5, 9)}).size(), 1U) << "one is missing";
  EXPECT_EQ(check_shards({shard(1, 2, 5, 9), shard(1, 2, 5, 9)}).size(), 2U) << "twice the first";
  EXPECT_EQ(check_shards({shard(1, 2, 5, 9), shard(2, 2, 3)}).size(), 1U) << "units are missing";
  EXPECT_EQ(check_shards({shard(1, 2, 5, 9), shard(2, 2, 4, 0, 7)}).size(), 1U) << "two seeds";
}

}  // namespace
}  // namespace swizproof
