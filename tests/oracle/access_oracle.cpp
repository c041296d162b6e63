// Thread-value layouts give the lane addresses that CuTe's TiledCopies gave, and cost what they cost.
#include "oracle.hpp"

#include <swizproof/analysis/check.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <map>

namespace swizproof::oracle {
namespace {

/// The instruction that the record's atom issues.
std::string instruction_of(nlohmann::json const& record) {
  std::string const atom = record["atom"];
  std::string const width = ".b" + std::to_string(8 * record["bytes_per_lane"].get<int>());
  if (atom.find("LDSM") != std::string::npos) {
    std::string const matrices = std::to_string(record["address_lanes"].get<int>() / 8);
    return "ldmatrix.x" + matrices + (atom.ends_with("_T") ? ".trans" : "");
  }
  if (atom.find("CP_ASYNC") != std::string::npos) return "cp.async" + width;
  return (record["side"] == "S" ? "ld.shared" : "st.shared") + width;
}

MappingOptions element_of(nlohmann::json const& record) { return {record["value_bits"].get<unsigned>()}; }

/// Warp 0's addresses, instruction by instruction: the instructions of a tile, then tile after tile.
std::vector<std::vector<std::uint64_t>> addresses_of(Placement const& placement) {
  std::map<std::vector<std::uint64_t>, std::vector<std::uint64_t>> in_order;
  for_each_assignment(placement, [&](std::span<std::uint64_t const> values) {
    if (values[0] != 0) return;
    WarpAccess<std::uint64_t> const warp = placement.warp(values, std::uint64_t{0});
    std::vector<std::uint64_t> const key(values.rbegin(), values.rend());
    in_order[key].assign(warp.address.begin(), warp.address.end());
  });
  std::vector<std::vector<std::uint64_t>> all;
  for (auto const& [key, addresses] : in_order) all.push_back(addresses);
  return all;
}

void expect_record(nlohmann::json const& record, Access const& access) {
  Mapping const map = parse_mapping(record["swizzled_layout"].get<std::string>(), element_of(record));
  Placement const placement(map, access);
  auto const ours = addresses_of(placement);
  auto const& theirs = record["lane_byte_addresses"];
  ASSERT_EQ(ours.size(), theirs.size()) << record["name"];
  unsigned worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    for (std::size_t l = 0; l < record["address_lanes"].get<std::size_t>(); ++l)
      ASSERT_EQ(ours[i][l], theirs[i][l].get<std::uint64_t>())
          << record["name"] << " issue " << i << " lane " << l;
    worst = std::max(worst, record["derived_wavefronts"][i].get<unsigned>());
  }
  AccessVerdict const verdict = check(placement, {});
  ASSERT_NE(verdict.cost(), nullptr) << record["name"];
  EXPECT_GE(verdict.cost()->wavefronts, worst) << record["name"];
  EXPECT_EQ(verdict.ideal, record["derived_ideal"].get<unsigned>()) << record["name"];
  WarpAccess<std::uint64_t> warp{};
  for (std::size_t i = 0; i < ours.size(); ++i) {
    std::copy(ours[i].begin(), ours[i].end(), warp.address.begin());
    for (unsigned l = 0; l < warp_lanes; ++l) warp.active[l] = l < access.instruction.lanes();
    EXPECT_EQ(cost(sm_90, access.instruction, warp).wavefronts,
              record["derived_wavefronts"][i].get<unsigned>())
        << record["name"] << " issue " << i;
  }
}

TEST(CuTe, ThreadValueLayoutsGiveItsLaneAddresses) {
  auto const records = cute_records("tv");
  ASSERT_GE(records.size(), 16U);
  for (auto const& record : records)
    expect_record(record, parse_access(instruction_of(record) + ": tv " + record["text"].get<std::string>() +
                                       " tile " + record["tile_shape"].get<std::string>()));
}

TEST(CuTe, PastedTiledCopiesGiveItsLaneAddresses) {
  unsigned pasted = 0;
  for (auto const& record : cute_records("tv")) {
    std::string const block = record.value("tiled_copy_print", "");
    if (!block.starts_with("TiledCopy")) continue;
    std::string const atom = record["atom"];
    if (atom.find("AutoVec") != std::string::npos || atom.find("DefaultCopy") != std::string::npos) continue;
    ++pasted;
    expect_record(record, parse_access(instruction_of(record) + ": " + block));
  }
  EXPECT_GE(pasted, 10U);
}

}  // namespace
}  // namespace swizproof::oracle
