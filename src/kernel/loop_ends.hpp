// How a loop ends: by what its iterations count, or by what they find in memory.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace swizproof::kernel_detail {

/// The ends of a loop, in one iteration.
///
///   while (i < n) ++i;                                ends after n - i iterations
///   while (i < *n) ++i;                               and so does this one, with any bound: a register comes nearer to its end
///   while (a < b) t[m] < x ? a = m + 1 : b = m;       b - a becomes less, m = (a + b) / 2
///   while (flag == 0);   while (sum == 0) sum += *p;  what is in memory ends it, or nothing does
class LoopEnds {
 public:
  /// `loop`: its index in the kernel's flow. `ends`: truths with which an iteration leaves it, or `without` which it does.
  LoopEnds(ExecutedKernel& kernel, std::int32_t loop, std::vector<Id> const& ends, bool without);

  /// True if a lane leaves the loop by this end, or by another one, after as many iterations as registers and parameters say, with any content of memory.
  /// Checked by KernelLocks.APlainLoadIsNoWaitIfTheLoopEndsWithoutAWrite.
  [[nodiscard]] bool counts(std::size_t end) const;
  /// True if a register at the header, or the distance of two, becomes less in each iteration, with any content of memory. It is assumed
  /// that they begin below a quarter of all words, so that no sum wraps. Asks the solver.
  [[nodiscard]] bool narrows() const;
  /// Leaves that iterations give, and that ends depend on, also by way of addresses. Those of memory are among them.
  [[nodiscard]] std::vector<Id> leaves_of(std::vector<Id> ends) const;
  /// True for a leaf that takes what an iteration loads, or what is not known of it; not from memory that nothing writes.
  [[nodiscard]] bool is_found(Id leaf) const;

 private:
  /// A part of an end: what is found in memory decides it; the loop ends if it does not hold; enough iterations make it true.
  enum class Part : std::uint8_t { found, given, counted };
  using Literal = std::pair<Id, bool>;  ///< a truth that holds, or does not

  void add(Id end, bool is);
  [[nodiscard]] Part part_of(Id end, bool is) const;
  [[nodiscard]] bool comes_true(Id end, bool is) const;
  [[nodiscard]] bool is_least(Id word) const;
  [[nodiscard]] bool is_most(Id word) const;
  /// By how much a word grows in each iteration, if that is a constant.
  [[nodiscard]] std::optional<std::int64_t> slope_of(Id word) const;
  /// True if a register, or the distance of two, becomes less.
  [[nodiscard]] bool narrows(execution::Phi const& high, execution::Phi const* low) const;
  [[nodiscard]] Node const& node(Id id) const { return kernel_.execution.node(id); }

  ExecutedKernel& kernel_;
  std::int32_t loop_;
  std::vector<Id> ends_;
  bool without_;
  std::set<Literal> literals_{};  ///< each of them ends the loop
};

}  // namespace swizproof::kernel_detail
