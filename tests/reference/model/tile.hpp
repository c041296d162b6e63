// Layouts, swizzles and tiles, from CuTe's definitions: every element, byte and bit by plain loops.
#pragma once
#include <string>
#include <vector>

#include "reference/campaign.hpp"
#include "reference/random.hpp"

namespace reference {

/// a / b, rounded down.
inline long long floor_div(long long a, long long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// A mode of a layout: an extent and a stride, or a tuple of modes.
struct Mode {
  long long extent = 1, stride = 0;
  std::vector<Mode> modes;
  bool tuple = false;

  long long size() const;
  /// The offset of integer coordinate x, in CuTe's order: first mode fastest, the last one without an end.
  long long at(long long x) const;
  /// The largest offset plus one, with every stride taken as positive.
  long long cosize() const;
};

Mode leaf(long long extent, long long stride);
Mode tuple(std::vector<Mode> modes);
/// shape:stride as CuTe prints it; some integers get CuTe's underscore.
std::string text(Mode const&, Random&);

/// x ^ ((x & yyy) >> shift), yyy = bits ones at base + max(0, shift).
struct Swizzle {
  int bits = 0, base = 0, shift = 0;
  long long operator()(long long x) const;
  std::string text(Random&) const;
  std::string plain() const;
  int top() const { return base + bits + (shift < 0 ? -shift : shift); }
};

bool valid(Swizzle);
/// Small ones mostly; `top` bounds bits + base + |shift|.
Swizzle draw_swizzle(Random&, int top, bool small = true);

/// A function and what is added to its argument.
struct Stage {
  bool is_swizzle = true;
  Swizzle swizzle;
  Mode layout;
  long long add = 0;
  long long operator()(long long x) const { return is_swizzle ? swizzle(x + add) : layout.at(x + add); }
};

/// A tile: stages (outermost first) over a layout.
struct Tile {
  std::vector<Stage> stages;
  Mode inner;
  bool flagged = false;  ///< the one swizzle acts on byte addresses
  int bits = 0;          ///< of an element; 0: not given
  std::string text;
  std::vector<std::string> options;  ///< --element, where the text does not say

  long long size() const { return inner.size(); }
  /// All stages on what the innermost layout gives (of an unflagged tile), in elements.
  long long through(long long x) const;
  /// Offset in elements of an unflagged tile.
  long long offset(long long index) const { return through(inner.at(index)); }
  /// Position in bits of bit `bit` of element `index`, with the tile at byte address `base`.
  long long place(long long index, int bit, long long base) const;
  long long place_at(long long inner_offset, int bit, long long base) const;
  /// Least power of two of bytes after which the swizzles repeat.
  long long period_bytes() const;
  /// True if a swizzle has bits.
  bool moves() const;
  /// A byte swizzle that separates the bytes of an element (of at least a byte).
  bool splits() const;
  /// Index of integer coordinates, one a top-level mode.
  long long index(std::vector<long long> const& coordinate) const;
  std::vector<long long> coordinate(long long index) const;
  std::size_t rank() const { return inner.tuple ? inner.modes.size() : 1; }
  long long extent(std::size_t mode) const { return inner.tuple ? inner.modes[mode].size() : inner.size(); }
  /// The words of a command line: LAYOUT and its options.
  std::vector<std::string> words() const;
};

/// Limits of a drawn tile.
struct Wish {
  long long most = 256;  ///< elements
  bool element = true;   ///< its size must be known
  bool two = false;      ///< rank 2
  bool negative = true, zero = true, sub_byte = true, nested = true;
  int top = 12;  ///< of the swizzles
};

/// Base addresses b for which f(b + x) = b + f(x) for every byte of the tile: one flag for each b below `period`.
struct Bases {
  long long period = 1;
  std::vector<bool> good;
  /// Least power of two whose every multiple is good.
  long long alignment() const;
};
Bases good_bases(Tile const&);

/// f16, fp8, 16b, ...
std::string element_name(int bits, Random&);
/// Puts stages around an inner layout and writes the text.
Tile dress(Mode inner, int bits, Wish const&, Random&);
/// Any tile.
Tile draw_tile(Wish const&, Random&);
/// The tile with every mode of stride 0 taken once.
Tile without_repeats(Tile);
/// Counts what is special about this tile.
void note(Campaign&, Tile const&);

}  // namespace reference
