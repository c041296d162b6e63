// Reads the recorded numbers of other systems.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace swizproof::oracle {

inline std::ifstream open(std::string const& name) {
  std::ifstream file(std::string(SWIZPROOF_ORACLE_DATA) + "/" + name);
  if (!file) throw std::runtime_error("missing oracle data: " + name);
  return file;
}

/// The records of one kind in cute.jsonl.
inline std::vector<nlohmann::json> cute_records(std::string const& kind) {
  std::ifstream file = open("cute.jsonl");
  std::vector<nlohmann::json> records;
  for (std::string line; std::getline(file, line);)
    if (auto record = nlohmann::json::parse(line); record["kind"] == kind)
      records.push_back(std::move(record));
  return records;
}

/// The first lanes of a warp with these addresses; the rest inactive.
inline WarpAccess<std::uint32_t> warp_of(std::vector<std::uint32_t> const& addresses) {
  WarpAccess<std::uint32_t> warp{};
  for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
    warp.address[lane] = addresses[lane];
    warp.active[lane] = true;
  }
  return warp;
}

}  // namespace swizproof::oracle
