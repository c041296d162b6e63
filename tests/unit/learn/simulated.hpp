// Simulated devices whose cost model only this file has: the learner is compared with them without hardware. The cost model of each is written
// as plainly as possible, with sets of words and without bank.hpp.
#pragma once

#include "learn/learn.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace swizproof::gpu {

/// A way of serving warps.
struct Simulated {
  unsigned banks = 32, bank_bytes = 4;
  /// Lanes served together, of accesses of so many bytes.
  std::function<std::vector<std::vector<unsigned>>(Instruction)> groups{};
  bool merging = true;                   ///< wide loads of equal addresses
  std::vector<unsigned> partners{1, 2};  ///< l ^ p
  bool pays_idle = true;                 ///< of loads and stores
  bool words_count_once = true;          ///< of all but cp.async
  bool copies_count_lanes = true;        ///< of cp.async
  std::function<unsigned(Instruction, WarpAccess<std::uint32_t> const&, unsigned)>
      twist{};                      ///< outside of the cost model's form
  double unit = 1;                  ///< cycles of a wavefront
  std::function<double()> noise{};  ///< added to each measurement
  std::function<bool(Instruction)> has = [](Instruction) { return true; };

  [[nodiscard]] unsigned wavefronts(Instruction i, WarpAccess<std::uint32_t> const& warp) const {
    std::vector<std::vector<unsigned>> served = groups(i);
    std::erase_if(served, [&](auto const& lanes) { return lanes[0] >= i.lanes(); });
    if (merging && i.operation == Operation::ld_shared && served.size() > 1)
      for (unsigned const p : partners) {
        bool equal = true;
        for (unsigned l = 0; l < 32; ++l)
          equal &= !warp.active[l] || !warp.active[l ^ p] || warp.address[l] == warp.address[l ^ p];
        if (!equal) continue;
        std::vector<std::vector<unsigned>> merged;
        for (std::size_t g = 0; g < served.size(); g += 2) {
          merged.push_back(served[g]);
          merged.back().insert(merged.back().end(), served[g + 1].begin(), served[g + 1].end());
        }
        served = merged;
        break;
      }
    bool const copies = i.operation == Operation::cp_async;
    bool const once = copies ? !copies_count_lanes : words_count_once;
    unsigned sum = 0;
    for (auto const& lanes : served) {
      std::map<unsigned, std::set<std::pair<unsigned, std::uint32_t>>> words;
      for (unsigned const l : lanes)
        if (l < i.lanes() && warp.active[l])
          for (unsigned byte = 0; byte < i.bytes; ++byte) {
            std::uint32_t const word = (warp.address[l] + byte) / bank_bytes;
            words[word % banks].insert({once ? 0 : l, word});
          }
      std::size_t most = 0;
      for (auto const& [bank, all] : words) most = std::max(most, all.size());
      sum += static_cast<unsigned>(most);
    }
    bool const idle = !copies && pays_idle;
    unsigned const cost = std::max(sum, idle ? static_cast<unsigned>(served.size()) : 1U);
    return twist ? twist(i, warp, cost) : cost;
  }

  /// Times as a GPU gives them (H12): cp.async never below three wavefronts, and always a little late.
  [[nodiscard]] DeviceUnderTest device() const {
    DeviceUnderTest d;
    d.name = "simulated";
    d.has = has;
    d.cycles = [*this](Instruction i, std::vector<Probe> const& probes) {
      std::vector<double> times;
      for (Probe const& p : probes) {
        double w = wavefronts(i, p.access(i));
        if (i.operation == Operation::cp_async)
          w = std::max(w, 3.0) + 0.2 + 0.1 * static_cast<double>(p.address[3] / 16 % 10);
        else if (p.active != 0xffffffff)
          w += w < 2 ? 0.7 : 0.1;  // lanes that take no part
        times.push_back(w * unit + 0.03 + (noise ? noise() : 0));
      }
      return times;
    };
    return d;
  }
};

/// `count` groups of consecutive lanes.
inline std::vector<std::vector<unsigned>> consecutive(unsigned size) {
  std::vector<std::vector<unsigned>> all(32 / size);
  for (unsigned l = 0; l < 32; ++l) all[l / size].push_back(l);
  return all;
}

/// As sm_90 serves them.
inline Simulated simulated_sm_90() {
  Simulated s;
  s.groups = [](Instruction i) {
    return consecutive(i.matrices != 0 ? 8 : i.bytes <= 4 ? 32 : i.bytes == 8 ? 16 : 8);
  };
  return s;
}

}  // namespace swizproof::gpu
