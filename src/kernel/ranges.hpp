// Ranges of terms, over all threads of all launches that pass a guard: bounds of an address in its array.
#pragma once

#include "executed_kernel.hpp"
#include "faults.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace swizproof::kernel_detail {

/// Numbers, one of them congruent to a word of w bits, modulo 2^w.
struct Range {
  std::int64_t least = 0, most = 0;
  [[nodiscard]] friend bool operator==(Range const&, Range const&) = default;
};

/// Ranges where a guard holds.
class Ranges {
 public:
  Ranges(ExecutedKernel& kernel, Id guard) : kernel_(kernel) { assume(guard, true, 0); }

  /// The range of a term; nothing if it is wider than 2^40.
  [[nodiscard]] std::optional<Range> of(Id term);
  /// The range of an address less that of an array, if the array's address is one of its summands.
  [[nodiscard]] std::optional<Range> behind(Id address, std::uint32_t symbol);

 private:
  void assume(Id condition, bool truth, unsigned depth);
  void limit(Id word, std::uint64_t first, std::uint64_t span);
  [[nodiscard]] std::optional<Range> compute(Id term);
  [[nodiscard]] std::optional<Range> of_choice(Node const& n);
  [[nodiscard]] std::optional<Range> counted(execution::Phi const& phi);
  [[nodiscard]] std::optional<Range> plain(Id term);
  [[nodiscard]] Node node(Id id) const { return kernel_.execution.node(id); }
  [[nodiscard]] bool has_array(Id term) const { return !kernel_.origins.arrays_of({term}).empty(); }

  ExecutedKernel& kernel_;
  std::unordered_map<Id, Range> limits_{};  ///< what the guard says of words
  std::unordered_map<Id, std::optional<Range>> memo_{};
  unsigned depth_ = 0;    ///< terms, one within the other
  unsigned choices_ = 0;  ///< the same of choices, each side under its condition
};

/// True if every thread that executes an access stays within these bytes of an array. Checked by KernelRanges.* in tests/unit/kernel/ranges_test.cpp and
/// tests/reference/kernel_bounds.py.
[[nodiscard]] bool stays_within(ExecutedKernel& kernel, program::MemoryAccess const& memory,
                                execution::ExecutedAccess const& access, std::uint32_t symbol,
                                Extent const& array);

}  // namespace swizproof::kernel_detail
