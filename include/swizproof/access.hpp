// Accesses: which warp instruction, and what place each lane asks for.
//
//   ldmatrix.x4                                            a named pattern of real kernels
//   ld.shared.b128: row = lane/8 + 4*i, col = 8*(lane%8) for i in 0..31
//   ldmatrix.x4: coord = (lane%16 + 16*m, 8*(lane/16)) for m in 0..7
//   ldmatrix.x4: tv ((_16,_2),(_8,_1)):((_1,_128),(_16,_0)) tile (16,16)
//   ld.shared.b128: address = lane*16 if lane < 16
//
// An access does not know the tile: placement.hpp puts it on one. The named patterns are written in
// (row, byte in the row), so that one line serves every element type and every pitch.
#pragma once

#include <swizproof/bank.hpp>
#include <swizproof/expression.hpp>
#include <swizproof/layout.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace swizproof {

/// `for i in 0..31`, both ends included; `for v` alone is every natural number below 2^32, the
/// addresses that shared memory has.
struct Range {
  std::string name{};
  std::uint64_t first = 0;
  std::uint64_t last = 0xffffffff;
  friend bool operator==(Range const&, Range const&) = default;

  [[nodiscard]] std::uint64_t size() const { return last - first + 1; }
};

/// lane -> (row, byte of the row), at every origin of a tile that is a multiple of the footprint. The
/// footprint is the least tile of powers of two that holds all lanes.
struct RowAndByte {
  Expression row{};
  Expression byte{};
  unsigned rows = 1;       ///< footprint: 1 + the largest row, rounded up
  unsigned row_bytes = 4;  ///< footprint: bytes of a row that are touched, rounded up
};

/// lane -> one index for each mode of the tile, in elements; a single one is CuTe's plain index.
struct Coordinate {
  std::vector<Expression> modes{};
};

/// lane -> byte address relative to the base: arithmetic that knows no layout.
struct RawAddress {
  Expression bytes{};
};

/// CuTe's thread-value layout: (thread, value) -> index into `tile`, leftmost mode fastest. Tiles are
/// repeated over the layout; a thread's values need size(value mode) / (values of one instruction)
/// instructions, and every 32 threads are a warp.
struct ThreadValues {
  Layout tv{};
  IntTuple tile{};
};

/// A warp instruction and the place that each lane asks for. Variables of all expressions: `lane`,
/// then `ranges` in their order.
struct Access {
  std::string name{};
  Instruction instruction{};
  std::variant<RowAndByte, Coordinate, RawAddress, ThreadValues> where{};
  std::vector<Range> ranges{};
  std::optional<Expression> active{};  ///< which lanes take part; all if empty

  /// Of a named pattern. Precondition: it is one.
  [[nodiscard]] RowAndByte const& pattern() const { return std::get<RowAndByte>(where); }
};

/// The addresses of a named pattern whose tile starts at byte `base`, whose rows lie `pitch` bytes
/// apart, with its footprint's corner at (row0, byte0), under an address function `f` (a swizzle).
template <Word W, class F>
[[nodiscard]] WarpAccess<W> addresses(Access const& access, F const& f, W base, W pitch, W row0, W byte0) {
  RowAndByte const& pattern = access.pattern();
  WarpAccess<W> warp;
  for (unsigned i = 0; i < warp_lanes; ++i) {
    W const lane = like(base, i);
    std::span<W const> const variables(&lane, 1);
    W const row = row0 + pattern.row(variables, base);
    W const byte = byte0 + pattern.byte(variables, base);
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
