// A device whose law is not known: all that the learner may ask. A GPU answers (campaigns/wavefronts.cu), and so do the simulated
// devices of tests/unit/learn.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::gpu {

/// Addresses that the lanes of a warp access: in bytes, multiples of the instruction's, and which lanes take part.
struct Probe {
  std::array<std::uint32_t, warp_lanes> address{};
  std::uint32_t active = 0xffffffff;

  /// The form that the cost model takes: lanes whose address the instruction does not use (ldmatrix.x1: 8 to 31) take no part.
  [[nodiscard]] WarpAccess<std::uint32_t> access(Instruction i) const {
    WarpAccess<std::uint32_t> warp{};
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      warp.address[lane] = address[lane];
      warp.active[lane] = lane < i.lanes() && (active >> lane & 1) != 0;
    }
    return warp;
  }
};

/// Random patterns that a table was checked on.
struct Trial {
  std::uint64_t patterns = 0;
  std::uint64_t mismatches =
      0;  ///< patterns that took another time than the table predicts in every repetition
  std::vector<std::pair<Instruction, Probe>> examples{};  ///< of them
};

/// Experiments that a device answers.
struct DeviceUnderTest {
  std::string name{};
  std::uint32_t span = 32768;  ///< addresses lie below
  std::function<bool(Instruction)> has{};
  /// Cycles of one instruction each, of a clock that runs at any constant rate, without the overhead of measuring. What disturbs
  /// a measurement only adds time (H12).
  std::function<std::vector<double>(Instruction, std::vector<Probe> const&)> cycles{};
  /// Holds the table against `patterns` random ones, where the device can do it faster than one by one. `unit` is a wavefront's
  /// cycles.
  std::function<Trial(Architecture const& table, double unit, std::uint64_t patterns)> try_random{};
};

}  // namespace swizproof::gpu
