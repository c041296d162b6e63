// The most expensive execution of an access by one warp.
#pragma once

#include <swizproof/hardware/bank.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// A warp that takes the most.
struct KernelWorst {
  unsigned warp = 0;
  std::vector<std::pair<std::string, std::uint64_t>> values{};  ///< enumerated unknowns: `low 3 bits of ..`
  /// Addresses of variables in shared memory in that execution, by name: those that the cost may depend on, because the address or
  /// the guard takes them other than as one summand.
  std::vector<std::pair<std::string, std::uint64_t>> bases{};
  WarpAccess<std::uint32_t> lanes{};  ///< addresses but for a part that all lanes share
  std::uint32_t open = 0;             ///< lanes that are off in `lanes`, and may take part
  /// True if the warp takes as many in every launch that has it, with any parameters.
  bool every_launch = false;
};

}  // namespace swizproof
