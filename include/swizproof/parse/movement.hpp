// FRAGMENT --into FRAGMENT as a text.
#pragma once

#include <swizproof/analysis/movement.hpp>

#include <string>
#include <vector>

namespace swizproof {

/// A movement in words, as the command line and obligations have it; what is empty is not said.
struct MovementWords {
  std::string from{}, into{};         ///< FRAGMENT, or INSTRUCTION: row = ..., col = ...
  std::string operand{};              ///< of `from`, instead of the letter behind its colon
  std::string element{};              ///< that results are converted to
  std::string contiguous{};           ///< m, n or k
  std::vector<unsigned> registers{};  ///< see MovementQuestion
  bool transposed = false;            ///< see MovementQuestion
};

/// The movement that the words name. Throws InputError.
[[nodiscard]] MovementQuestion parse_movement(MovementWords const& words);

}  // namespace swizproof
