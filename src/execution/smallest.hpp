// The smallest numbers with which an execution shows the same.
#pragma once

#include "inputs.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace swizproof::execution {

/// A warp, and the numbers that its execution reads.
struct Numbers {
  unsigned warp = 0;
  std::vector<ReadNumber> read{};

  /// True if the warp is a lower one; of one warp, if the numbers have a smaller sum. A parameter of 64 bits may be a pointer: it counts 0
  /// if it is 256, and one more if it is less.
  [[nodiscard]] bool operator<(Numbers const& other) const;
};

/// The number that is tried first for a parameter: 256 for one of 64 bits, which may be a pointer, else 0.
[[nodiscard]] constexpr std::uint64_t least_number(unsigned bits) { return bits == 64 ? 256 : 0; }

/// An execution by this warp with these numbers: what it reads, if it shows what is looked for.
using Attempt = std::function<std::optional<std::vector<ReadNumber>>(Numbers const&)>;

/// An execution in which no single warp and no single number can be lowered: not to a number from 0 to 16, not to a power of two,
/// not by one. If the block is the last one, the number of blocks is lowered with it. After `attempts` tries the result is the
/// smallest so far. `known` are numbers that are tried first. Checked by KernelWitness.* and tests/reference/kernel_smallest.py.
[[nodiscard]] Numbers smallest(Numbers from, std::vector<Numbers> const& known, unsigned attempts,
                               Attempt const& attempt);

}  // namespace swizproof::execution
