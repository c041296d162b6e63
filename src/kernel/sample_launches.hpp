// Loads that an address depends on in a launch with known parameters.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace swizproof::kernel_detail {

/// Launches of one kernel: four with one value for all parameters and the numbers of a block, others with a value for each parameter.
class SampleLaunches {
 public:
  explicit SampleLaunches(ExecutedKernel& kernel) : kernel_(kernel) {}

  /// The load that an access's address depends on in one of the launches: in the first iterations of the loops around it, and behind the last
  /// iterations of others. A lane surely executes the access there, or a load decides whether one does. No bound shows that any address
  /// takes the ideal number of wavefronts.
  [[nodiscard]] Origin data_in_a_launch(program::MemoryAccess const& memory,
                                        execution::ExecutedAccess const& access, unsigned warp);

 private:
  struct Launch {
    std::uint64_t parameter, blocks, block;  ///< of each dimension: number of blocks, and the block's
    std::uint32_t mix = 0;                   ///< 0: all parameters are `parameter`
    [[nodiscard]] std::uint64_t value_of(execution::Leaf const& parameter) const;
  };
  [[nodiscard]] std::vector<execution::Assumption> numbers_of(Launch const& launch,
                                                              execution::ExecutedAccess const& access,
                                                              unsigned warp);
  [[nodiscard]] Origin data_in(execution::Warp& warp, program::MemoryAccess const& memory,
                               execution::ExecutedAccess const& access);

  ExecutedKernel& kernel_;
  std::map<std::tuple<Id, Id, std::int32_t, unsigned>, Origin> known_{};  ///< by address, guard, loop, bytes
};

}  // namespace swizproof::kernel_detail
