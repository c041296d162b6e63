// Values of parameters and block numbers with which some lanes execute an access, by a solver.
#pragma once

#include <swizproof/engine/question.hpp>
#include <swizproof/execution/warp.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace swizproof::execution {

/// Values of leaves, by their number among Execution::leaves.
using LeafValues = std::unordered_map<std::uint64_t, std::uint64_t>;

/// The largest block number in a witness, and in a replay: a grid of 64 blocks in each dimension.
inline constexpr std::uint64_t witness_blocks = 64;

/// Searches of one kernel. What is found counts once a replay has executed it (execution/replay.hpp).
/// Checked by KernelWitness.* in tests/unit/kernel/verdict_test.cpp.
class Witnesses {
 public:
  Witnesses(Program const& program, Flow const& flow, Execution const& execution, Launch const& launch)
      : program_(program), flow_(flow), execution_(execution), launch_(launch) {}

  /// Values with which these lanes of a warp pass a guard in the first iteration of the loops around it, and with which the
  /// assumptions hold. Nothing if there are none, if they depend on loaded data, or beyond the limits of steps and searches.
  std::optional<LeafValues> find(Warp const& warp, unsigned number, std::int32_t loop, std::uint32_t guard,
                                 std::uint32_t lanes, std::vector<Assumption> const& assumptions);

 private:
  using Key = std::tuple<unsigned, std::int32_t, std::uint32_t, std::uint32_t,
                         std::vector<std::tuple<std::uint32_t, unsigned, std::uint64_t>>>;
  Program const& program_;
  Flow const& flow_;
  Execution const& execution_;
  Launch const& launch_;
  std::map<Key, std::optional<LeafValues>> known_{};
  std::size_t gates_left_ = 300'000;  ///< of the searches to come: 3 s
};

}  // namespace swizproof::execution
