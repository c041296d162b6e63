// Races that a run has found, as they are reported: names of accesses, arrays, parameters and loaded numbers.
#pragma once

#include "race_run.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace swizproof::kernel_detail {

class FoundRaces {
 public:
  /// `params`: values that are given, by name.
  FoundRaces(ptx::Module const& module, ptx::Function const& function, program::Program const& program,
             std::map<std::string, std::uint64_t> const& params, KernelOptions const& options)
      : module_(module), function_(function), program_(program), params_(params), options_(options) {}

  /// Checked by KernelRaces.*.
  [[nodiscard]] Race race_of(RaceRun::Found const& f, RaceLaunch const& launch, RaceRun& runs) const;

 private:
  [[nodiscard]] RaceData data_of(LoadedNumber const& load, RaceLaunch const& launch) const;
  /// The array in shared memory with a byte, and the byte's offset.
  [[nodiscard]] std::pair<std::string, std::uint64_t> array_at(std::uint64_t byte) const;

  ptx::Module const& module_;
  ptx::Function const& function_;
  program::Program const& program_;
  std::map<std::string, std::uint64_t> const& params_;
  KernelOptions const& options_;
};

}  // namespace swizproof::kernel_detail
