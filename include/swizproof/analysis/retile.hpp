// A TiledCopy into the registers of a TiledMMA's operand, or out of them.
#pragma once

#include <swizproof/access/tiled_copy.hpp>
#include <swizproof/access/tiled_mma.hpp>
#include <swizproof/analysis/tile.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace swizproof {

/// A copy between memory and the registers of an operand, of the smallest tensor that both tile.
struct RetileQuestion {
  TiledOperand operand{};
  TiledCopy copy{};
  bool loads = true;                      ///< into the registers; else out of them
  std::array<std::int64_t, 2> extents{};  ///< extents of the tensor
  TileMovement movement{};
  std::array<std::uint64_t, 3> fragment{};  ///< fragment of a thread: (V,I,J)
  std::vector<std::string> notes{};

  [[nodiscard]] std::uint64_t threads() const {
    return static_cast<std::uint64_t>(movement.moved.mode(0).size());
  }
  [[nodiscard]] std::uint64_t values() const {
    return static_cast<std::uint64_t>(movement.moved.mode(1).size());
  }
  /// Index of the operand's matrix: `m`, `k`.
  [[nodiscard]] char index(std::size_t mode) const { return "mnk"[modes_of(operand.operand)[mode]]; }
  [[nodiscard]] std::array<std::uint64_t, 2> coordinate(std::uint64_t element) const {
    auto const first = static_cast<std::uint64_t>(extents[0]);
    return {element % first, element / first};
  }
  [[nodiscard]] std::array<std::uint64_t, 3> fragment_at(std::uint64_t reg) const {
    return {reg % fragment[0], reg / fragment[0] % fragment[1], reg / fragment[0] / fragment[1]};
  }
};

/// CuTe's partition of the tensor by both, and the retiled fragment. Throws AlgebraError where CuTe cannot make them, and InputError,
/// with `copy_text`, for two sides that do not meet. Checked by tests/cutlass/tiles.py and tests/reference/tiled_mma.py.
[[nodiscard]] RetileQuestion retile_question(TiledOperand operand, TiledCopy copy, bool loads,
                                             std::string const& copy_text);

}  // namespace swizproof
