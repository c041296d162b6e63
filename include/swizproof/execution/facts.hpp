// Facts that hold for every value of a word: known bits, and bounds.
#pragma once

#include <cstdint>

namespace swizproof::execution {

/// Facts that hold for every value of a node.
struct Facts {
  std::uint64_t zeros = 0;                 ///< bits that are 0
  std::uint64_t most = ~std::uint64_t{0};  ///< upper bound
  std::uint64_t least = 0;
};

}  // namespace swizproof::execution
