// FRAGMENT --into FRAGMENT as a text.
#pragma once

#include <swizproof/analysis/movement.hpp>
#include <swizproof/analysis/retile.hpp>

#include <string>
#include <vector>

namespace swizproof {

/// A movement in words, as the command line and obligations have it; what is empty is not said.
struct MovementWords {
  std::string from{}, into{};         ///< FRAGMENT, or INSTRUCTION: row = ..., col = ...
  std::string operand{};              ///< operand of `from`, instead of the letter behind its colon
  std::string element{};              ///< type that results are converted to
  std::string contiguous{};           ///< m, n or k
  std::vector<unsigned> registers{};  ///< see MovementQuestion
  bool transposed = false;            ///< see MovementQuestion
};

/// True if one side is a TiledCopy: then parse_retile() reads them, and else parse_movement().
[[nodiscard]] bool is_retile(MovementWords const& words);

/// A TiledCopy into an operand of a TiledMMA, or out of it. Throws InputError.
[[nodiscard]] RetileQuestion parse_retile(MovementWords const& words);

/// The movement that the words name. Throws InputError.
[[nodiscard]] MovementQuestion parse_movement(MovementWords const& words);

}  // namespace swizproof
