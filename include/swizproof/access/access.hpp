// Accesses: a warp instruction, and the coordinate or address that each lane accesses.
//
//   ldmatrix.x4                                            a named pattern of real kernels
//   ld.shared.b128: row = lane/8 + 4*i, col = 8*(lane%8) for i in 0..31
//   ldmatrix.x4: coord = (lane%16 + 16*m, 8*(lane/16)) for m in 0..7
//   ldmatrix.x4: tv ((_16,_2),(_8,_1)):((_1,_128),(_16,_0)) tile (16,16)
//   ld.shared.b128: address = lane*16 if lane < 16
//   ldmatrix.x4 step row 16, byte 32                       at these positions in the tile alone
//
// An access does not know the tile: placement.hpp puts it on one, at every position at which it fits. The named patterns are written in
// (row, byte in the row), so that one line serves every element type and every pitch.
#pragma once

#include <swizproof/core/variable.hpp>
#include <swizproof/hardware/bank.hpp>
#include <swizproof/layout/expression.hpp>
#include <swizproof/layout/layout.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace swizproof {

/// lane -> (row, byte of the row). The footprint is the least tile of powers of two that holds all lanes.
struct RowAndByte {
  Expression row{};
  Expression byte{};
  unsigned rows = 1;       ///< footprint: 1 + the largest row, rounded up
  unsigned row_bytes = 4;  ///< footprint: bytes of a row that are touched, rounded up
  friend bool operator==(RowAndByte const&, RowAndByte const&) = default;

  /// Row and byte of a lane, from the footprint's corner at (row0, byte0): for theorems about pitches and for tiles alike.
  template <Word W>
  [[nodiscard]] std::pair<W, W> place(W const& lane, W const& row0, W const& byte0) const {
    std::span<W const> const variables(&lane, 1);
    return {row0 + row(variables, lane), byte0 + byte(variables, lane)};
  }
};

/// lane -> one index for each mode of the tile, in elements; a single one is CuTe's plain index.
struct Coordinate {
  std::vector<Expression> modes{};
  friend bool operator==(Coordinate const&, Coordinate const&) = default;
};

/// lane -> byte address relative to the base: arithmetic without a layout.
struct RawAddress {
  Expression bytes{};
  friend bool operator==(RawAddress const&, RawAddress const&) = default;
};

/// CuTe's thread-value layout: (thread, value) -> index into `tile`, leftmost mode fastest. Tiles are
/// repeated over the layout; a thread's values need size(value mode) / (values of one instruction)
/// instructions, and every 32 threads are a warp.
struct ThreadValues {
  Layout tv{};
  IntTuple tile{};
  unsigned value_bits = 0;     ///< ValueType of a pasted TiledCopy, which elements must have; 0: not given
  std::int64_t partition = 0;  ///< values that vectors stay within: not those of a tiler's gaps; 0: all
  friend bool operator==(ThreadValues const&, ThreadValues const&) = default;
};

/// Positions of an access along one axis of the tile: `at row 8`, `step byte 32`.
struct PositionsAlong {
  std::string axis{};       ///< row, col, byte, index or "mode 2"
  std::uint64_t value = 0;  ///< the only one, or the step; steps are at least 1
  bool only = false;        ///< at, not step
  friend bool operator==(PositionsAlong const&, PositionsAlong const&) = default;
};

/// A warp instruction and the coordinate or address that each lane accesses. Variables of all expressions: `lane`,
/// then `variables` in their order: `for i in 0..31` is one; a `for v` without a range is every natural number below 2^32, the
/// addresses that shared memory has.
struct Access {
  std::string name{};
  Instruction instruction{};
  std::variant<RowAndByte, Coordinate, RawAddress, ThreadValues> where{};
  std::vector<Variable> variables{};
  std::optional<Expression> active{};  ///< condition of the lanes that take part; all do if empty
  std::vector<PositionsAlong>
      positions{};          ///< along these axes; at every one at which it fits along the others
  bool as_written = false;  ///< the text gives the positions: subscripts of C, threads of a block
  std::string note{};       ///< part of the text that the access does not depend on; may be empty

  /// Description of a named pattern. Precondition: it is one.
  [[nodiscard]] RowAndByte const& pattern() const { return std::get<RowAndByte>(where); }
  /// The name in one line: of a pasted TiledCopy `ldmatrix.x4: tv ((_16,_2),(_8,_1)):((_1,_128),(_16,_0)) tile (_16,_16)`, which
  /// is the same access. Checked by golden.tiler_of_layouts.
  [[nodiscard]] std::string title() const;
  /// True if both are written alike.
  friend bool operator==(Access const&, Access const&) = default;
};

/// The addresses of a named pattern whose tile starts at byte `base`, whose rows lie `pitch` bytes
/// apart, with its footprint's corner at (row0, byte0), under an address function `f` (a swizzle).
template <Word W, class F>
[[nodiscard]] WarpAccess<W> addresses(Access const& access, F const& f, W base, W pitch, W row0, W byte0) {
  RowAndByte const& pattern = access.pattern();
  WarpAccess<W> warp;
  for (unsigned i = 0; i < warp_lanes; ++i) {
    auto const [row, byte] = pattern.place(like(row0, i), row0, byte0);
    warp.address[i] = f(W(base + row * pitch + byte));
    warp.active[i] = truth_of<W>(i < access.instruction.lanes());
  }
  return warp;
}

/// Sets rows and row_bytes from the places of all lanes that take part. Precondition: these are below 2^20.
void set_footprint(RowAndByte& pattern, Instruction const& instruction,
                   std::optional<Expression> const& active);

/// A pattern that real kernels use.
struct NamedAccess {
  Access access{};
  std::string text{};          ///< text for the command line: "ldmatrix.x1: row = lane%8, byte = 0"
  std::string_view seen_in{};  ///< real kernels with this access
};

/// Every named access, in the order that `swizproof accesses` prints.
[[nodiscard]] std::span<NamedAccess const> named_accesses();

/// The access of that name, or null.
[[nodiscard]] Access const* named_access(std::string_view name);

}  // namespace swizproof
