// Accesses: which warp instruction, and what position each lane asks for.
//
// The named ones are those that real kernels use, written in the grammar that users write their own
// in; `swizproof accesses` prints this table. A position is (row, byte in the row), so that one line
// serves every element type and every pitch.
#pragma once

#include <swizproof/bank.hpp>
#include <swizproof/expression.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace swizproof {

/// A warp pattern: lane -> (row, byte). Its footprint is the least aligned tile that holds it.
struct Access {
  std::string name{};
  Instruction instruction{};
  Expression row{};        ///< of the one variable `lane`
  Expression byte{};       ///< of the one variable `lane`; a multiple of instruction.bytes
  unsigned rows = 1;       ///< footprint: 1 + the largest row, rounded up to a power of two
  unsigned row_bytes = 4;  ///< footprint: bytes of a row that are touched, rounded up likewise
};

/// The addresses of an access whose tile starts at byte `base`, whose rows lie `pitch` bytes apart,
/// with its footprint's corner at (row0, byte0), under an address function `f` (a swizzle).
template <Word W, class F>
[[nodiscard]] WarpAccess<W> addresses(Access const& access, F const& f, W base, W pitch, W row0, W byte0) {
  WarpAccess<W> warp;
  for (unsigned i = 0; i < warp_lanes; ++i) {
    W const lane = like(base, i);
    std::span<W const> const variables(&lane, 1);
    W const row = row0 + access.row(variables, base);
    W const byte = byte0 + access.byte(variables, base);
    warp.address[i] = f(W(base + row * pitch + byte));
    warp.active[i] = truth_of<W>(i < access.instruction.lanes());
  }
  return warp;
}

/// One line of the table of named accesses.
struct NamedAccess {
  std::string_view name;
  std::string_view text;     ///< INSTRUCTION: row = ..., byte = ...
  std::string_view seen_in;  ///< where real kernels do this
};

/// Every named access, in the order that `swizproof accesses` prints.
[[nodiscard]] std::span<NamedAccess const> named_accesses();

}  // namespace swizproof
