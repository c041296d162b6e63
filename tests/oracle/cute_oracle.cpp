// Ours equals what NVIDIA's CuTe headers computed and printed.
#include "oracle.hpp"

#include <swizproof/parse/parse.hpp>
#include <swizproof/access/tiled_copy.hpp>

#include <gtest/gtest.h>

namespace swizproof::oracle {
namespace {

void expect_offsets(Mapping const& map, nlohmann::json const& offsets, std::string const& text) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    ASSERT_EQ(static_cast<std::int64_t>(offset(map, std::uint64_t{i}).elements),
              offsets[i].get<std::int64_t>())
        << text << " at " << i;
}

TEST(CuTe, LayoutsGiveItsOffsets) {
  auto const records = cute_records("layout");
  ASSERT_GE(records.size(), 70U);
  for (auto const& record : records) {
    std::string const text = record["text"];
    Mapping const map = parse_mapping(text);
    EXPECT_EQ(map.text, text);
    EXPECT_EQ(to_string(*map.domain()), text);
    EXPECT_EQ(map.domain()->size(), record["size"].get<std::int64_t>()) << text;
    EXPECT_EQ(map.domain()->cosize(), record["cosize"].get<std::int64_t>()) << text;
    EXPECT_EQ(map.domain()->rank(), record["rank"].get<std::size_t>()) << text;
    EXPECT_EQ(map.domain()->shape.depth(), record["depth"].get<int>()) << text;
    expect_offsets(map, record["offsets"], text);
  }
}

TEST(CuTe, ComposedLayoutsGiveItsOffsets) {
  auto const records = cute_records("composed");
  ASSERT_GE(records.size(), 56U);
  for (auto const& record : records) {
    std::string const text = record["text"];
    Mapping const map = parse_mapping(text);
    EXPECT_EQ(map.text, text);
    EXPECT_EQ(map.domain()->size(), record["size"].get<std::int64_t>()) << text;
    EXPECT_EQ(map.domain()->cosize(), record["cosize"].get<std::int64_t>()) << text;
    expect_offsets(map, record["offsets"], text);
  }
}

TEST(CuTe, FlaggedLayoutsGiveItsAddresses) {
  auto const records = cute_records("smem_ptr");
  ASSERT_GE(records.size(), 25U);
  for (auto const& record : records) {
    std::string const text = record["text"];
    Mapping const map = parse_mapping(text);
    bool const in_bits = record.contains("bit_offsets");
    auto const& expected = record[in_bits ? "bit_offsets" : "byte_offsets"];
    for (std::size_t i = 0; i < expected.size(); ++i) {
      std::uint64_t const bits = bit_address(map, Address<std::uint64_t>{0}, std::uint64_t{i});
      ASSERT_EQ(in_bits ? bits : bits / 8, expected[i].get<std::uint64_t>()) << text << " at " << i;
    }
    // CuTe's position-independent form is the same function of elements.
    Mapping const independent = parse_mapping(record["position_independent_text"].get<std::string>());
    expect_offsets(independent, record["offsets"], text);
  }
}

TEST(CuTe, FlaggedLayoutsSeeTheirBase) {
  auto const records = cute_records("smem_ptr_misaligned");
  ASSERT_GE(records.size(), 2U);
  for (auto const& record : records) {
    Mapping const map = parse_mapping(record["text"].get<std::string>());
    auto const base = record["base_address_mod_1024"].get<std::uint64_t>();
    auto const& expected = record["byte_addresses"];
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(bit_address(map, Address<std::uint64_t>{base}, std::uint64_t{i}) / 8,
                expected[i].get<std::uint64_t>())
          << record["text"];
  }
}

TEST(CuTe, SwizzlesRecastAsItSaysOrAreRefusedWhereItIsWrong) {
  std::size_t compared = 0, wrong = 0;
  for (auto const& record : cute_records("recast")) {
    std::string const in = record["in"], out = record["out"], op = record["op"];
    if (in.find(' ') != std::string::npos || !in.starts_with("Sw<")) continue;
    int k = 0;
    if (op.starts_with("upcast"))
      k = std::countr_zero(static_cast<unsigned>(std::stoi(op.substr(7))));
    else if (op.starts_with("downcast"))
      k = -std::countr_zero(static_cast<unsigned>(std::stoi(op.substr(9))));
    else {
      unsigned from = 0, to = 0;
      ASSERT_EQ(std::sscanf(op.c_str(), "recast_layout<%ub,%ub>", &from, &to), 2) << op;
      k = std::countr_zero(to) - std::countr_zero(from);
    }
    Swizzle const s = parse_swizzle(in), cute = parse_swizzle(out);
    std::optional<Swizzle> const ours = recast(s, k);
    ++compared;
    if (ours) {
      EXPECT_EQ(*ours, cute) << op << " " << in;
      continue;
    }
    // CuTe drops the bits that would cut an element; then its result is not the same function.
    ++wrong;
    bool differs = false;
    for (std::uint64_t x = 0; x < 4096; ++x) differs |= s(x << k) != cute(x) << k;
    EXPECT_TRUE(differs) << op << " " << in << " -> " << out;
  }
  EXPECT_GE(compared, 16U);
  EXPECT_EQ(wrong, 3U) << "upcast<256> Sw<3,4,3>?, upcast<4> Sw<3,1,3>, upcast<2> Sw<5,0,5>";
}

TEST(CuTe, TiledCopiesGiveItsThreadValueLayouts) {
  auto const records = cute_records("tv");
  ASSERT_GE(records.size(), 15U);
  for (auto const& record : records) {
    std::string const block = record["tiled_copy_print"], name = record["name"];
    ASSERT_TRUE(looks_like_tiled_copy(block)) << name;
    TiledCopy const copy = parse_tiled_copy(block);
    EXPECT_EQ(to_string(copy.layout_s_tv), record["layoutS_TV"].get<std::string>()) << name;
    EXPECT_EQ(to_string(copy.layout_d_tv), record["layoutD_TV"].get<std::string>()) << name;
    EXPECT_EQ(to_string(copy.tile), record["tile_shape"].get<std::string>()) << name;
    EXPECT_EQ(copy.value_bits, record["value_bits"]) << name;
  }
}

/// The instruction that a CuTe copy atom issues.
Instruction copied_by(nlohmann::json const& record) {
  std::string const atom = record["atom"];
  unsigned const bytes = record["bytes_per_lane"], lanes = record["address_lanes"];
  if (atom.find("LDSM") != std::string::npos) return {Operation::ldmatrix, 16, lanes / 8};
  if (atom.find("STSM") != std::string::npos) return {Operation::stmatrix, 16, lanes / 8};
  if (atom.find("CP_ASYNC") != std::string::npos) return {Operation::cp_async, bytes};
  return {record["side"] == "S" ? Operation::ld_shared : Operation::st_shared, bytes};
}

TEST(CuTe, ThreadValueLayoutsCostWhatTheModelOfItsRecorderSays) {
  auto const records = cute_records("tv");
  ASSERT_GE(records.size(), 15U);
  std::size_t compared = 0;
  for (auto const& record : records) {
    Instruction const instruction = copied_by(record);
    auto const& issues = record["lane_byte_addresses"];
    for (std::size_t i = 0; i < issues.size(); ++i, ++compared) {
      auto lanes = issues[i].get<std::vector<std::uint32_t>>();
      lanes.resize(instruction.lanes());
      EXPECT_EQ(wavefronts(sm_90, instruction, warp_of(lanes)),
                record["derived_wavefronts"][i].get<unsigned>())
          << record["name"] << " issue " << i;
    }
    EXPECT_EQ(ideal_wavefronts(sm_90, instruction), record["derived_ideal"].get<unsigned>())
        << record["name"];
  }
  EXPECT_GT(compared, 100U);
}

}  // namespace
}  // namespace swizproof::oracle
