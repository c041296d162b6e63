// The search of paddings: the pitch, first row and padding that make the accesses to a region cheapest.
#pragma once

#include <swizproof/analysis/fix.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace swizproof {

/// A region, as the search sees it.
struct PaddingProblem {
  std::span<ByteRange const> ranges{};            ///< in order, apart from each other
  std::vector<WeightedAccess const*> accesses{};  ///< each touches one range and ran at least once
  std::vector<std::uint64_t>
      likely{};       ///< pitches that are tried before the others, in bytes: multiples of the step
  unsigned step = 1;  ///< bytes of the widest access
};

/// The cheapest padding, if one is cheaper than none, and the family that it was searched in.
struct PaddingSearch {
  std::optional<PaddingFix> best{};
  PaddingFamily family{};
};

/// Costs every padding of the family, each with every start. Of the cheapest it is the first in this order: likely pitches, then
/// the others from the least; the least padding. A padding that reaches the least that any can cost ends the search.
/// Checked by tests/unit/analysis/fix_test.cpp and tests/reference/explain.py against plain loops.
[[nodiscard]] PaddingSearch find_padding_of(PaddingProblem const& problem, Architecture const& arch);

}  // namespace swizproof
