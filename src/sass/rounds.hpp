// Loops that a warp passes once for each value that its lanes have in some registers. ptxas writes them where it does not know that they
// share it:
//
//   PLOP3.LUT P0, PT, PT, PT, PT, 0x80, 0x0          P0: a lane that had no turn
//   .L_x_0:
//   PLOP3.LUT P1, PT, P1, P0, PT, 0xa2, 0x0          with more registers before each of them
//   @P0 R2UR P1, UR4, R2                             the value of one such lane; P1: the lane has another one
//   @P0 PLOP3.LUT P0, PT, P1, PT, PT, 0x80, 0x0
//   UTMASTG.2D [UR4], [UR8]
//   @P0 BRA.U.ANY `(.L_x_0)
//
// For a lane it is one pass, that with its own values. What NVIDIA's names mean is inferred from this code. tests/unit/sass/rounds_test.cpp
#pragma once

#include "code.hpp"

#include <cstdint>
#include <vector>

namespace swizproof::sass {

/// One such loop: its instructions, by index.
struct Round {
  std::uint32_t first = 0, last = 0;
  Operand left{};     ///< predicate of lanes that had no turn
  Operand another{};  ///< predicate of lanes with another value
};

/// The loops of a function. Checked by SassRounds.ALaneHasOnePassWithItsOwnValue.
class Rounds {
 public:
  explicit Rounds(Code const& code);
  /// The loop with this instruction, or null.
  [[nodiscard]] Round const* around(std::uint32_t index) const;

 private:
  [[nodiscard]] bool is_entered_by_all(Round const& round) const;
  [[nodiscard]] bool is_round(Round& round) const;
  enum class Part : std::uint8_t { none, taken, turned };
  [[nodiscard]] static bool is_part(Round& round, Instruction const& i, Part& last);

  Code const& code_;
  std::vector<Round> rounds_{};  ///< in order
};

}  // namespace swizproof::sass
