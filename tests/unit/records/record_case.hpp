// Records of campaigns: as they are stored, and as a device that does what manuals say would make them.
#pragma once

#include "campaign/cases.hpp"
#include "records/evidence.hpp"

#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

namespace swizproof {

using Json = nlohmann::json;

inline std::string read(std::string const& name) {
  std::ifstream file(SWIZPROOF_EVIDENCE "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A record without its digest, which any change would contradict.
inline Json parsed(std::string const& name) {
  Json record = Json::parse(read(name));
  EXPECT_EQ(record.erase("digest"), 1U) << name;
  return record;
}

inline std::size_t contradictions(Json const& record, Law const& law = law_of_the_model) {
  return recompute("record", record.dump(), law).contradictions.size();
}

/// True if a record is contradicted or refused.
inline bool seen(std::string const& record) {
  try {
    return !recompute("record", record).contradictions.empty();
  } catch (InputError const&) {
    return true;
  }
}
inline bool seen(Json const& record) { return seen(record.dump()); }

/// Positions of the pieces of a tile under H8, by the tables of the manual.
inline std::vector<std::int64_t> pieces_by_the_manual(gpu::TileCopy const& c) {
  std::vector<std::int64_t> places;
  std::int64_t const line_bytes = std::int64_t{c.tile.box[0]} * c.tile.element_bytes;
  std::int64_t const pitch =
      c.tile.mode == 0 ? line_bytes : std::max<std::int64_t>(line_bytes, 16 << c.tile.mode);
  for (gpu::TilePiece const& piece : gpu::pieces_of(c.tile)) {
    std::int64_t const a = std::int64_t{c.base} + piece.destination + piece.line * pitch + piece.x;
    std::int64_t const mask = (1 << c.tile.mode) - 1;
    std::int64_t const row = a >> 7 & mask, chunk = a >> 4 & mask;
    places.push_back(a + ((chunk ^ row) - chunk) * 16);
  }
  return places;
}

/// A record of campaign `tiles` as a device that does as the manual says would make it.
inline Json record_of_tiles() {
  Json record = parsed("h200-tma.json");
  record["campaign"] = "tiles";
  record["rows"]["copies"] = Json::array();
  std::uint64_t bytes = 0;
  std::vector<gpu::TileCopy> const all = gpu::tile_copies();
  for (gpu::TileCopy const& c : all) {
    bytes += c.tile.bytes;
    record["rows"]["copies"].push_back({c.store ? "store" : "load", c.tile.layout, c.tile.element, c.base,
                                        c.tile.mode, c.tile.box, c.tile.boxes.size(), "copied",
                                        pieces_by_the_manual(c)});
  }
  record["counts"] = {{"bytes", bytes}, {"copied", all.size()}, {"mismatches", 0},
                      {"refused", 0},   {"units", all.size()},  {"units_of_all_parts", all.size()}};
  return record;
}

/// A record of campaign `operands` as a device that reads as the manual's pictures say would make it: core matrices of 8 rows of 16
/// bytes, the number of the 128-byte line XORed onto that of the 16-byte piece.
inline Json record_of_operands() {
  Json record = parsed("h200-wgmma.json");
  record["campaign"] = "operands";
  record["rows"] = {{"reads", Json::array()}};
  std::uint64_t elements = 0;
  std::map<std::string, std::uint64_t> asked;
  std::vector<gpu::OperandStepRead> const all = gpu::operand_step_reads();
  for (gpu::OperandStepRead const& c : all) {
    gpu::DescribedOperand const& o = c.operand;
    auto const field = [&](unsigned from, unsigned bits) {
      return static_cast<std::int64_t>(o.descriptor >> from & ((1ULL << bits) - 1));
    };
    std::int64_t const log2_columns[] = {0, 3, 2, 1}, bits = log2_columns[field(62, 2)], columns = 1 << bits;
    std::int64_t const start = 16 * field(0, 14) + c.base + c.step.start, lbo = 16 * field(16, 14),
                       sbo = 16 * field(32, 14), b = field(49, 3), t = 16 / c.element_bytes;
    std::vector<std::int64_t> pieces;
    for (unsigned mn = 0; mn < o.rows; mn += o.mn_major ? static_cast<unsigned>(t) : 1)
      for (unsigned k = 0; k < o.depth; k += o.mn_major ? 1 : static_cast<unsigned>(t)) {
        std::int64_t const inner = (o.mn_major ? mn : k) / t, outer = o.mn_major ? k : mn;
        std::int64_t at = start + outer % 8 * 16 * columns;
        if (!o.mn_major)
          at += outer / 8 * sbo + inner * (bits == 0 ? lbo : 16);
        else if (bits == 0)
          at += inner * sbo + outer / 8 * lbo;
        else
          at += inner % columns * 16 + inner / columns * lbo + outer / 8 * sbo;
        pieces.push_back(at / 16 ^ ((at / 128 - b) & (columns - 1)));
      }
    elements += std::uint64_t{o.rows} * o.depth;
    ++asked[o.element];
    record["rows"]["reads"].push_back({o.layout, o.element, o.operand_a ? "a" : "b", o.mn_major ? "mn" : "k",
                                       o.descriptor, c.base, c.step.row, c.step.k, 0, pieces});
  }
  record["counts"] = {{"asked", asked},
                      {"elements", elements},
                      {"mismatches", 0},
                      {"units", all.size()},
                      {"units_of_all_parts", all.size()}};
  return record;
}

/// The first launches of campaign `flow` of these kernels.
inline Json record_of_flow(std::set<std::string> const& kernels, std::size_t most = 100) {
  Json record = parsed("h100-flow.json");
  Json& rows = record["rows"];
  Json const all = rows;
  std::uint64_t wrong = 0, elements = 0;
  for (char const* const part : {"launches", "not_launched"}) rows[part] = Json::array();
  rows["kernels"] = Json::object();
  for (std::string const& name : kernels) rows["kernels"][name] = all["kernels"][name];
  for (char const* const part : {"launches", "not_launched"})
    for (Json const& row : all[part])
      if (kernels.contains(row[0]) && rows[part].size() < most) rows[part].push_back(row);
  for (Json const& row : rows["launches"])
    wrong += row[8].get<std::uint64_t>(), elements += row[0] == "pipeline" ? 256 : 128;
  std::size_t const units = rows["launches"].size();
  record["counts"] = {{"elements", elements},
                      {"mismatches", 0},
                      {"not_launched", rows["not_launched"].size()},
                      {"units", units},
                      {"units_of_all_parts", units},
                      {"wrong", wrong}};
  return record;
}

}  // namespace swizproof
