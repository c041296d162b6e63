// Values of registers on a path of one thread, whichever thread and launch it is: an interval, and low bits that are known.
#pragma once

#include <swizproof/core/word.hpp>
#include <swizproof/program/step.hpp>

#include <cstdint>

namespace swizproof::kernel_detail {

/// Numbers from `least` to `most` whose low `known` bits are those of `bits`. `{8, 15, 1, 1}` are 9, 11, 13 and 15.
struct PathValue {
  std::uint64_t least = 0, most = ~std::uint64_t{0};
  std::uint64_t bits = 0;
  std::uint32_t known = 0;
  [[nodiscard]] bool constant() const { return least == most; }
  friend bool operator==(PathValue const&, PathValue const&) = default;
};

[[nodiscard]] inline PathValue path_number(std::uint64_t x) { return {x, x, x, 64}; }
/// Any word of this width.
[[nodiscard]] inline PathValue any_word(unsigned width) { return {0, low_bits(width), 0, 0}; }
/// Numbers of both.
[[nodiscard]] PathValue joined(PathValue const& a, PathValue const& b);

/// Result of a step that computes (program::computes), for all numbers of its sources: it may hold more numbers than there are results. The
/// sum of `{0, 3, 0, 0}` and 8 is 8 to 11. Checked by PathValue.HoldsEachResult.
[[nodiscard]] PathValue result_on_path(program::Step const& step, PathValue const& a, PathValue const& b,
                                       PathValue const& c);

}  // namespace swizproof::kernel_detail
