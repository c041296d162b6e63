// H19: what ptxas makes of wmma.load and wmma.store: loads and stores of the lanes, or ldmatrix (sm_80, sm_86, sm_89 and sm_90).
//
// A tile has `lines` of `positions` elements that lie next to each other; the stride leads from line to line. The lines of A in .row are the m,
// those of B in .row the k, those of C and D in .row the m; in .col they are the others.
//
//   ldmatrix   operands of at most 16 bits whose lines are along k; of 16 bits the others too, with .trans. Rows of 16 bytes
//   runs       lane l has the line l / 4 of eight, and there the run l % 4 of four: as many elements as a register, of C and D two
//   columns    lane l has the position l / 4 of eight, in the lines of the run l % 4, one element in an access
//
// Runs are those of the lines along k, of C and D those of .row (of m8n32k16 .col), and of all 16-bit elements: lanes exchange them later. By
// a generic address there is no ldmatrix: operands take runs or columns. The order of accesses is not a part of it.
// Read in the code that ptxas 13.0 makes of all 114 forms, each with three strides, in .shared and generic: tests/reference/wmma.py. Not
// executed. Checked by tests/unit/hardware/wmma_test.cpp.
#pragma once

#include <swizproof/hardware/instruction.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace swizproof {

/// Form of a wmma.load or wmma.store.
struct WmmaForm {
  char fragment = 'a';  ///< a, b, c or d
  bool row = true;      ///< the layout; else .col
  unsigned m = 16, n = 16, k = 16;
  unsigned bits = 16;    ///< of an element
  bool generic = false;  ///< by a generic address
};

/// Place in a tile: a line, and bytes from its start.
struct WmmaPlace {
  unsigned line = 0, bytes = 0;
};

/// The bits (lane >> shift) & mask move the place of a lane by as many steps.
struct WmmaField {
  unsigned shift = 0, mask = 0;
  WmmaPlace step{};
};

/// Accesses of one wmma.load or wmma.store: of each start one, at start + the sum of the fields of the lane.
struct WmmaAccesses {
  Instruction instruction{};
  std::array<WmmaField, 3> fields{};
  std::array<WmmaPlace, 16> starts{};
  unsigned count = 0;      ///< of the starts
  unsigned positions = 0;  ///< of a line: the stride if none is given

  constexpr void add(WmmaPlace start) { starts[count++] = start; }
  /// Place of a lane in access i. Of m16n16k16 f32 C in .row, lane 5 of the first access is in line 1 at byte 8.
  [[nodiscard]] constexpr WmmaPlace at(unsigned i, unsigned lane) const {
    WmmaPlace place = starts[i];
    for (WmmaField const& f : fields) {
      place.line += (lane >> f.shift & f.mask) * f.step.line;
      place.bytes += (lane >> f.shift & f.mask) * f.step.bytes;
    }
    return place;
  }
};

namespace detail {
/// True of the shapes and types of PTX ISA 9.1, 9.7.14.2.
[[nodiscard]] constexpr bool is_wmma(WmmaForm const& f) {
  bool const operand = f.fragment == 'a' || f.fragment == 'b', square = f.m == f.n;
  if (f.fragment < 'a' || f.fragment > 'd') return false;
  if (f.k == 16)
    return ((square && f.m == 16) || (f.m == 8 && f.n == 32) || (f.m == 32 && f.n == 8)) &&
           (operand ? f.bits == 16 || f.bits == 8 : f.bits == 16 || f.bits == 32);
  if (!square || f.m != (f.k == 8 ? 16U : 8U)) return false;
  if (f.k == 8) return f.bits == 32;
  if (f.k == 4) return f.bits == 64;
  if (!operand) return (f.k == 32 || f.k == 128) && f.bits == 32;
  return f.row == (f.fragment == 'a') && ((f.k == 32 && f.bits == 4) || (f.k == 128 && f.bits == 1));
}
}  // namespace detail

/// The accesses of a form; nothing for one that PTX does not have.
[[nodiscard]] constexpr std::optional<WmmaAccesses> wmma_accesses(WmmaForm const& f, bool store) {
  if (!detail::is_wmma(f)) return std::nullopt;
  bool const operand = f.fragment == 'a' || f.fragment == 'b';
  unsigned const rows = f.fragment == 'b' ? f.k : f.m, columns = f.fragment == 'a' ? f.k : f.n;
  unsigned const lines = f.row ? rows : columns, positions = f.row ? columns : rows;
  bool const along = operand ? f.row == (f.fragment == 'a') : f.row != (f.n == 32);
  WmmaAccesses out;
  out.positions = positions;
  if (operand && f.bits <= 16 && (along || f.bits == 16) && !f.generic) {
    // Matrices of eight lines. Two of the dimension that comes first follow each other: m of A, n of B in m8n32k16, else k.
    unsigned const down = lines / 8, across = positions * f.bits / 128;
    unsigned const high = std::min(down, 2U), wide = std::min(across, 2U);
    bool const lines_first = f.fragment == 'a' || f.n == 32 ? along : !along;
    WmmaField const below{lines_first || wide == 1 ? 3U : 4U, high - 1, {8, 0}},
        aside{!lines_first || high == 1 ? 3U : 4U, wide - 1, {0, 16}};
    out.instruction = {Operation::ldmatrix, 16, high * wide, !along};
    out.fields = {WmmaField{0, 7, {1, 0}}, below, aside};
    for (unsigned i = 0; i < down; i += high)
      for (unsigned j = 0; j < across; j += wide) out.add({8 * i, 16 * j});
    return out;
  }
  unsigned const run = operand ? std::max(1U, 32 / f.bits) : 2;
  bool const in_runs = along || f.bits == 16;
  unsigned const bytes = (in_runs ? run : 1) * f.bits / 8;
  out.instruction = {store ? Operation::st_shared : Operation::ld_shared, bytes};
  if (in_runs) {
    out.fields = {WmmaField{0, 3, {0, bytes}}, WmmaField{2, 7, {1, 0}}, WmmaField{}};
    for (unsigned i = 0; i < lines; i += 8)
      for (unsigned j = 0; j < positions; j += 4 * run) out.add({i, j / run * bytes});
  } else {
    out.fields = {WmmaField{0, 3, {run, 0}}, WmmaField{2, 7, {0, bytes}}, WmmaField{}};
    for (unsigned i = 0; i < lines; i += 4 * run)
      for (unsigned d = 0; d < run; ++d)
        for (unsigned j = 0; j < positions; j += 8) out.add({i + d, j * bytes});
  }
  return out;
}

static_assert(wmma_accesses({'c', true, 16, 16, 16, 32}, false)->at(0, 5).bytes == 8);

}  // namespace swizproof
