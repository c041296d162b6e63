// The distinct ones of many numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace swizproof {

/// The numbers in ascending order as two's complement, each once. Takes one step for each number where they lie within 256
/// times their count, since a field of bits holds them; sorts them otherwise. Checked by Distinct.IsASet.
[[nodiscard]] std::vector<std::uint64_t> distinct(std::vector<std::uint64_t> numbers);

}  // namespace swizproof
