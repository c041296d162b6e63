// The picture that `swizproof show` draws, as data: where a tile's elements lie in shared memory, with
// its swizzle and without, and what one phase of a warp access does to the banks.
//
//   Mapping -> Tile        coordinate -> offset -> address, for every element
//   Tile -> Grid           elements that stay together are one cell: a chunk, a bank word, or one element
//   Shot                   one warp instruction: the place of each lane
//   Tile + Shot -> Picture the lanes of one phase, the banks they meet in, what it costs
//
// The forms (terminal, SVG, HTML, JSON) draw these values and compute nothing of their own.
#pragma once

#include "report/report.hpp"

#include <swizproof/layout/map.hpp>
#include <swizproof/access/placement.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// Most elements of a tile that are drawn at once.
inline constexpr std::int64_t most_elements_shown = std::int64_t{1} << 16;

/// A rectangle of coordinates, ends included; everything where it is not said.
struct Part {
  std::optional<std::pair<std::int64_t, std::int64_t>> rows{};
  std::optional<std::pair<std::int64_t, std::int64_t>> cols{};
};

/// A tile of rows and columns in shared memory. The first mode of the layout is the row, all others
/// together are the column, leftmost fastest; a layout of one mode is a single row.
struct Tile {
  std::string layout{};        ///< layout as CuTe prints it
  std::string swizzle{};       ///< "Sw<3,4,3> on bytes"; empty if the layout has none
  unsigned element_bits = 16;  ///< 4, 8, 16, ... 128
  std::uint64_t base = 0;      ///< byte address of offset 0
  std::int64_t all_rows = 1;   ///< rows of the layout
  std::int64_t all_cols = 1;   ///< columns of the layout
  std::int64_t row0 = 0;       ///< first row shown
  std::int64_t col0 = 0;       ///< first column shown
  std::int64_t rows = 1;       ///< shown
  std::int64_t cols = 1;       ///< shown
  bool memory =
      false;  ///< shared memory itself: rows of all banks once by their addresses, columns by their banks
  std::vector<std::int64_t> offset{};    ///< before any swizzle, in elements; row by row
  std::vector<std::int64_t> plain{};     ///< bit address without the swizzle
  std::vector<std::int64_t> swizzled{};  ///< bit address

  [[nodiscard]] bool holds(std::int64_t row, std::int64_t col) const {
    return row >= row0 && row < row0 + rows && col >= col0 && col < col0 + cols;
  }
  /// Position of (row, col) in the lists. Precondition: holds(row, col).
  [[nodiscard]] std::size_t place(std::int64_t row, std::int64_t col) const {
    return static_cast<std::size_t>((row - row0) * cols + (col - col0));
  }
};

/// The tile that a layout describes. Throws InputError where there is nothing to draw: a function without a
/// shape, elements of unknown size, a part outside the layout or of more than 2^16 elements.
/// Checked by tests/unit/picture/picture_test.cpp.
[[nodiscard]] Tile make_tile(Mapping const& map, std::uint64_t base, Part const& part = {});

/// Elements between the end of a line of the layout and the next one, which no coordinate has. `(32,32):(33,1)`: 1, by rows.
struct Padding {
  std::int64_t elements = 0;  ///< less than a line; 0: no padding
  bool by_rows = true;        ///< behind each row; else behind each column
};

/// The padding of a tile. Checked by tests/unit/picture/picture_test.cpp.
[[nodiscard]] Padding padding_of(Tile const& tile);

/// `; 1 element of padding behind each row (-)`; empty without padding. `-` marks its cells.
[[nodiscard]] std::string in_words(Padding const& padding);

/// Cut of a tile into cells. Elements of a cell are neighbours in a line of the tile and lie together, in
/// their order, in an aligned block of shared memory, with the swizzle and without.
struct Grid {
  bool transposed = false;    ///< lines of the picture are columns of the tile
  std::int64_t elements = 1;  ///< elements of a cell
  std::int64_t bytes = 1;     ///< bytes of a cell; 0 if less than a byte
  std::int64_t lines = 1;
  std::int64_t cells = 1;         ///< cells of a line
  std::int64_t padded_cells = 0;  ///< cells of padding behind each line
  std::int64_t padded_lines = 0;  ///< lines of padding behind the last, where the padding is across the lines

  /// (row, col) of the first element of a cell.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> corner(Tile const& tile, std::int64_t line,
                                                             std::int64_t cell) const {
    return transposed ? std::pair(tile.row0 + cell * elements, tile.col0 + line)
                      : std::pair(tile.row0 + line, tile.col0 + cell * elements);
  }
  /// (line, cell) of an element. Precondition: tile.holds(row, col).
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> cell_of(Tile const& tile, std::int64_t row,
                                                              std::int64_t col) const {
    return transposed ? std::pair(col - tile.col0, (row - tile.row0) / elements)
                      : std::pair(row - tile.row0, (col - tile.col0) / elements);
  }
};

/// The largest cells of at most `bytes` (4, 8 or 16), not less than 4 bytes or, where that is less, a bank: `(8,64):(64,1)` of 16
/// bits and 16 bytes: 8 lines of 8 cells of 8 elements.
[[nodiscard]] Grid make_grid(Tile const& tile, unsigned bytes, Banks banks = usual_banks);

/// Access of one lane.
struct LaneSpot {
  std::int64_t row = 0;
  std::int64_t col = 0;
  std::int64_t plain = 0;     ///< byte address without the swizzle
  std::int64_t swizzled = 0;  ///< byte address
};

/// One warp instruction on the tile: the place of each lane, nothing for idle lanes.
struct Shot {
  std::vector<std::pair<std::string, std::uint64_t>> variables{};  ///< row 0, col 8; i 3; ...
  std::array<std::optional<LaneSpot>, warp_lanes> lane{};

  /// The addresses that the bank model sees.
  [[nodiscard]] WarpAccess<std::uint64_t> warp(std::int64_t LaneSpot::*address) const;
};

/// `row 0, col 8`; "the only one" where there are no variables.
[[nodiscard]] std::string describe(Shot const& shot);

/// The instructions of an access on a tile, one for each assignment of its variables, or of those that were not set.
class Shots {
 public:
  /// Throws InputError as Placement does.
  Shots(Map const& map, Access const& access, std::uint64_t base);

  [[nodiscard]] Placement const& placement() const { return given_; }
  [[nodiscard]] std::vector<Variable> const& variables() const { return given_.variables(); }
  /// Fixes a variable. Throws InputError if no variable has this name or it has no such value.
  void set(std::string_view name, std::uint64_t value);
  /// Assignments that are left; at most 2^63.
  [[nodiscard]] std::uint64_t count() const;
  /// The i-th, last variable fastest. Throws InputError if a lane lies outside the tile.
  [[nodiscard]] Shot at(std::uint64_t i) const;
  /// The first of those that cost most. Throws InputError if there are more than 2^18 to choose from.
  [[nodiscard]] Shot worst(Architecture const& arch) const;

 private:
  [[nodiscard]] std::vector<std::uint64_t> values(std::uint64_t i) const;

  Placement given_;
  Placement plain_;
  std::uint64_t base_;
  std::vector<std::optional<std::uint64_t>> fixed_;
};

/// One half of the picture: the phase's lanes under one address function.
struct Side {
  std::string name{};                              ///< "no swizzle", "Sw<3,4,3> on bytes"
  std::vector<std::int64_t> Tile::*bit_address{};  ///< addresses of elements in bits
  std::int64_t LaneSpot::*byte_address{};          ///< address of a lane in bytes
  Cost<std::uint32_t> cost{};                      ///< cost of the whole instruction
  /// Words of each bank that the phase accesses: distinct, but for cp.async one for each lane (H7).
  std::vector<std::vector<std::int64_t>> words{};
  std::vector<std::vector<std::uint32_t>> lanes{};  ///< lanes (bits) that the phase serves, by bank and word
  std::uint32_t colliding = 0;  ///< lanes (bits) that meet another word of the phase in one of their banks
  std::uint32_t split = 0;  ///< lanes (bits) whose bytes do not stay together: then the cost means nothing
};

/// A tile, and if an access was given, one phase of one of its instructions.
struct Picture {
  Tile tile{};
  Banks banks = usual_banks;
  Grid grid{};
  std::vector<Side> sides{};  ///< no swizzle, then the given one if there is one

  bool has_access = false;
  std::string access{};
  Instruction instruction{};
  unsigned ideal = 0;
  std::string evidence{};  ///< "sm_90: measured on ..."
  Shot shot{};
  unsigned phase = 0;
  unsigned phases = 0;
  std::vector<unsigned> lanes{};  ///< lanes of the phase, ascending

  /// Lanes of the phase that take part and whose first byte lies in the cell.
  [[nodiscard]] std::uint32_t lanes_in(std::int64_t line, std::int64_t cell) const;
  /// The lanes of the phase: "8-15", or "0-3, 12-15" where they are not consecutive; `to` stands within a range.
  [[nodiscard]] std::string lanes_in_words(std::string_view to) const;
};

/// The picture of a tile alone.
[[nodiscard]] Picture make_picture(Tile tile, Banks banks = usual_banks, unsigned cell_bytes = 16);

/// The picture of one phase of an instruction, the worst if none is given. Throws InputError if it has no such phase, or if the
/// architecture has no such instruction.
[[nodiscard]] Picture make_picture(Tile tile, Architecture const& arch, std::string access,
                                   Instruction instruction, Shot shot, std::optional<unsigned> phase);

/// The picture of the worst phase of an instruction at raw addresses: the tile is shared memory itself, as far as they go.
/// Precondition: some lane is active, addresses are below 2^18.
[[nodiscard]] Picture make_picture(Architecture const& arch, std::string access, Instruction instruction,
                                   WarpAccess<std::uint32_t> const& addresses);

/// The bank of the first byte of an element at a bit address.
[[nodiscard]] unsigned bank_of_bit(std::int64_t bit_address, Banks banks = usual_banks);

/// Pictures have eight colours. Neighbouring banks share one where there are more.
inline constexpr unsigned most_bank_colors = 8;

/// The colours that a picture has, of as many banks each: 8 of 4 for 32 banks, 4 of 1 for 4.
[[nodiscard]] constexpr unsigned bank_colors(Banks banks) {
  return banks.count < most_bank_colors ? banks.count : most_bank_colors;
}

/// The colour of a bank. `bank_color(7, {}) == 1`
[[nodiscard]] constexpr unsigned bank_color(unsigned bank, Banks banks) {
  return bank * bank_colors(banks) / banks.count;
}

/// The lines and cells that a form with little room draws.
struct Window {
  std::vector<std::int64_t> lines{};
  std::int64_t cell = 0;  ///< the first
  std::int64_t cells = 0;
};

/// Window of at most 32 lines and `cells` cells: those that the phase's lanes are in, and, but for shared memory itself, those around
/// them.
[[nodiscard]] Window make_window(Picture const& picture, std::int64_t cells);

/// "8 of 128 rows, 8 of 8 cells of each"; empty if all is drawn.
[[nodiscard]] std::string unseen(Picture const& picture, Window const& window);

/// Meaning of Side::words, in words: "distinct words of the phase in each bank".
[[nodiscard]] std::string counted(Picture const& picture);

/// Text for a terminal of 120 columns. Readable without colour: `*` marks a lane of the phase, `!` one that
/// collides.
[[nodiscard]] std::string terminal(Picture const& picture, Style const& style);

/// The memory image: a line for each pass over the banks, 128 bytes of 32 banks of 4, in each slot what lies there. `content`
/// is an expression of `row` and `col`; nothing shows the coordinate.
[[nodiscard]] std::string memory_image(Tile const& tile, Banks banks,
                                       std::optional<Expression> const& content, bool real_numbers,
                                       Style const& style);

/// A figure that stands alone, for papers and READMEs.
[[nodiscard]] std::string svg(Picture const& picture);

/// A page for browsers, with its program and its data: every swizzle, each of the accesses and of the named ones that
/// fit the tile, all of their origins and phases can be chosen. Throws InputError if one of `accesses` does not fit or
/// has too many instructions for a page.
[[nodiscard]] std::string html(Mapping const& map, Tile const& tile, std::span<Access const> accesses,
                               Architecture const& arch);

/// A page for browsers of the document of `explain --json`, with the figure of a line's worst execution, by svg(), as its member
/// "picture", and the basis of the bank model as "arch_text". Checked by tests/web/page.
[[nodiscard]] std::string trace_page(nlohmann::ordered_json report);

/// The same data for machines.
[[nodiscard]] nlohmann::ordered_json to_json(Picture const& picture);

/// Columns of the terminal: COLUMNS, or those that the terminal reports; 120 without one.
[[nodiscard]] std::size_t terminal_columns();

/// The text on one of the colours of banks, where the style has colours.
[[nodiscard]] std::string on_color(Style const& style, std::uint64_t color, std::string const& text);

/// One of the colours of banks, as SVG writes it.
[[nodiscard]] std::string_view color_of(std::uint64_t color);

}  // namespace swizproof
