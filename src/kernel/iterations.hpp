// Iterations of a kernel's loops: how many each warp makes, and which lanes execute each of them.
#pragma once

#include "origins.hpp"

#include <swizproof/execution/warp.hpp>

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

struct ExecutedKernel;

/// Lanes that surely execute an iteration, for each iteration of a loop in one warp.
using LanesByIteration = std::vector<std::uint32_t>;

/// Loops of one kernel. A place is a loop's number, or -1 outside of all loops; a counter is the term of a loop's iteration.
class Iterations {
 public:
  explicit Iterations(ExecutedKernel& kernel) : kernel_(kernel) {}

  /// Iterations of the counter's loop, if all lanes surely leave it after at most 256; else null.
  [[nodiscard]] LanesByIteration const* of(unsigned warp, Id counter);
  /// Lanes that surely leave the counter's loop before iteration `k`; none if its iterations are not known. Checked by
  /// KernelFixes.CountNoLanesThatLeftALoop.
  [[nodiscard]] std::uint32_t left_before(unsigned warp, Id counter, std::uint64_t k);
  /// Their number; 0: not known.
  [[nodiscard]] std::uint64_t count(unsigned warp, Id counter);
  /// The number of iterations of every loop around a place, by loop, where it is known.
  [[nodiscard]] std::map<std::int32_t, std::uint64_t> around(unsigned warp, std::int32_t place);

  /// Lanes that may have the value of an iteration at a place, and those that surely do.
  struct InIteration {
    std::uint32_t may = ~0U, surely = 0;
  };
  /// Within the loop: lanes that execute iteration `k`. Behind the loop: lanes that leave it in this iteration, which is known of the
  /// last one alone.
  [[nodiscard]] InIteration lanes_in(std::int32_t place, Id counter, LanesByIteration const& all,
                                     std::uint64_t k) const;
  /// True if this iteration has all that is assumed of a counter.
  [[nodiscard]] bool meets(std::vector<execution::Assumption> const& assumptions, Id counter,
                           std::uint64_t k) const;
  /// Lanes that have these values at a place in one execution. The assumptions may be iterations or low bits of them, and low bits of
  /// parameters, each of another parameter; else no lane has them surely.
  [[nodiscard]] std::uint32_t surely(unsigned warp, std::int32_t place,
                                     std::vector<execution::Assumption> const& assumptions);
  /// Lanes that execute every iteration of the loops around a place that any lane executes: all, if they leave them together.
  [[nodiscard]] std::uint32_t surely_within(unsigned warp, std::int32_t place,
                                            std::vector<execution::Assumption> const& assumptions);

  /// True if a loop around a place has this counter.
  [[nodiscard]] bool counts_around(Id counter, std::int32_t place) const;
  /// A counter in a term, of a loop that a place lies behind, if its iterations are known; else 0.
  [[nodiscard]] Id counter_before(unsigned warp, Id term, std::int32_t place);
  /// A counter in a term, of a loop around a place, if its iterations are known; else 0.
  [[nodiscard]] Id counter_around(unsigned warp, Id term, std::int32_t place);
  /// The counter of a loop whose iteration settles a register at the loop's header that a term comes from, or a value behind the loop or
  /// a part of one does; else 0. `values`: the same warp, under any assumptions.
  [[nodiscard]] Id counter_that_settles(unsigned warp, execution::Warp& values, Id term);

 private:
  /// A term without the truncations and extensions around it.
  [[nodiscard]] Id unextended(Id term) const;
  /// True if a thread may end within a loop.
  [[nodiscard]] bool ends_within(std::int32_t loop) const;

  ExecutedKernel& kernel_;
  std::map<std::pair<unsigned, std::size_t>, LanesByIteration>
      known_{},  ///< by warp and loop; empty: not known
      left_{};   ///< lanes that surely leave it before each iteration
  using ByTerm = std::map<std::tuple<unsigned, Id, std::int32_t>, Id>;  ///< by warp, term and place
  ByTerm before_{}, around_{};
};

}  // namespace swizproof::kernel_detail
