// The picture as text for a terminal, and the image of shared memory.
//
//         no swizzle
//          0      8     16       first column of the cell
//      0   0*0    4     8        bank 0, marked: lane 0 of the phase
//      1   0!1    4     8        collides: another lane of the phase accesses another word of this bank
#include "picture/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <sys/ioctl.h>
#include <unistd.h>

namespace swizproof {

namespace {}  // namespace

std::size_t terminal_columns() {
  constexpr std::size_t usual = 120, least = 40;
  char const* const given = std::getenv("COLUMNS");
  std::size_t found = given == nullptr ? 0 : std::strtoul(given, nullptr, 10);
  winsize size{};
  if (found == 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) found = size.ws_col;
  return found == 0 ? usual : std::max(found, least);
}

namespace {

constexpr std::size_t label = 6;    // "r 127 "
constexpr std::size_t between = 2;  // two halves side by side

// Paul Tol's "light" colours, made for labelled cells and for the colour-blind, as xterm numbers: an eighth of
// the banks shares one.
constexpr unsigned xterm_colors[most_bank_colors] = {110, 117, 72, 149, 142, 222, 209, 217};

std::string background(Style const& style, unsigned color, std::string const& text) {
  return style.colored() ? fmt::format("\x1b[30;48;5;{}m{}\x1b[0m", color, text) : text;
}

}  // namespace

std::string on_color(Style const& style, std::uint64_t color, std::string const& text) {
  return background(style, xterm_colors[color % most_bank_colors], text);
}

namespace {

/// Width of a cell, and the arrangement of the halves.
struct Shape {
  std::size_t width;
  bool side_by_side;
  std::int64_t cells;  ///< number of cells that fit
};

Shape shape_of(Picture const& picture) {
  std::size_t const columns = terminal_columns();
  auto const cells = static_cast<std::size_t>(picture.grid.cells + picture.grid.padded_cells);
  std::size_t const halves = picture.sides.size();
  for (std::size_t const width : {std::size_t{7}, std::size_t{3}}) {
    if (!picture.has_access && width == 7) continue;  // there are no lanes to name
    if (halves == 2 && label + 2 * cells * width + between <= columns)
      return {width, true, picture.grid.cells};
    if (label + cells * width <= columns) return {width, false, picture.grid.cells};
  }
  return {3, false, static_cast<std::int64_t>((columns - label) / 3)};
}

class Printer {
 public:
  Printer(Picture const& picture, Style const& style)
      : picture_(picture),
        style_(style),
        shape_(shape_of(picture)),
        window_(make_window(picture, shape_.cells)) {}

  std::string print() {
    head();
    if (shape_.side_by_side) {
      halves({&picture_.sides[0], &picture_.sides[1]});
    } else {
      for (Side const& side : picture_.sides) halves({&side});
    }
    hidden();
    if (picture_.has_access) banks(), verdict();
    if (text_.ends_with("\n\n")) text_.pop_back();
    return std::move(text_);
  }

 private:
  void head() {
    Tile const& tile = picture_.tile;
    Grid const& grid = picture_.grid;
    text_ +=
        fmt::format("{}\n  {} x {} elements of {} bits, base address {}{}\n", style_.strong(tile.layout),
                    tile.all_rows, tile.all_cols, tile.element_bits, tile.base, in_words(padding_of(tile)));
    if (picture_.has_access) {
      std::string const instruction = to_string(picture_.instruction);
      bool const said = picture_.access.starts_with(instruction);
      text_ += fmt::format("  {}{}, {}: phase {} of {}, lanes {}\n", style_.strong(picture_.access),
                           said ? "" : " (" + instruction + ")", describe(picture_.shot), picture_.phase,
                           picture_.phases, picture_.lanes_in_words("-"));
    }
    text_ += fmt::format("  cell: {}; its number: {}{}", cell_in_words(),
                         grid.bytes > picture_.banks.bytes ? "the first of its banks" : "its bank",
                         grid.transposed ? "; a line is a column of the tile" : "");
    if (picture_.has_access)
      text_ += shape_.width == 7 ? "; *L lane L, !L it collides" : "; * a lane, ! it collides";
    text_ += "\n\n";
  }
  [[nodiscard]] std::string cell_in_words() const {
    Grid const& grid = picture_.grid;
    std::string const elements = grid.elements == 1 ? "1 element"
                                                    : fmt::format("{} elements of a {}", grid.elements,
                                                                  grid.transposed ? "column" : "row");
    return grid.bytes > 0 ? fmt::format("{} bytes, {}", grid.bytes, elements) : elements;
  }
  void halves(std::vector<Side const*> const& sides) {
    std::size_t const width = static_cast<std::size_t>(window_.cells) * shape_.width;
    std::string title(label, ' '),
        ruler = fmt::format("{:>{}} ", picture_.grid.transposed ? "row" : "col", label - 1);
    for (Side const* side : sides) {
      std::string const name = " " + side->name;
      title += fmt::format("{:<{}}", name, std::max(width + between, name.size() + 1));
      ruler += numbers() + std::string(between, ' ');
    }
    text_ += style_.strong(trimmed(title)) + "\n" + style_.faint(trimmed(ruler)) + "\n";
    for (std::size_t i = 0; i < window_.lines.size(); ++i) {
      std::int64_t const line = window_.lines[i];
      if (i > 0 && line != window_.lines[i - 1] + 1) text_ += fmt::format("{:>{}}\n", "...", label - 1);
      auto const [row, col] = picture_.grid.corner(picture_.tile, line, 0);
      text_ += style_.faint(fmt::format("{:>{}} ", picture_.grid.transposed ? col : row, label - 1));
      std::string cells;
      for (Side const* side : sides) {
        if (side != sides.front()) cells += std::string(between, ' ');
        for (std::int64_t c = window_.cell; c < window_.cell + window_.cells; ++c)
          cells += cell(*side, line, c);
        // Only a window that ends where the lines end shows their padding.
        if (window_.cell + window_.cells == picture_.grid.cells) cells += dashes(picture_.grid.padded_cells);
      }
      text_ += (style_.colored() ? cells : trimmed(cells)) + "\n";
    }
    if (!window_.lines.empty() && window_.lines.back() + 1 == picture_.grid.lines)
      for (std::int64_t i = 0; i < picture_.grid.padded_lines; ++i) {
        std::string line(label, ' ');
        for (Side const* side : sides) line += (side == sides.front() ? "" : "  ") + dashes(window_.cells);
        text_ += trimmed(line) + "\n";
      }
    text_ += "\n";
  }
  /// Cells of padding.
  [[nodiscard]] std::string dashes(std::int64_t cells) const {
    std::string text;
    for (; cells > 0; --cells) text += fmt::format("{:>3}{:{}}", "-", "", shape_.width - 3);
    return text;
  }
  /// The first row or column of each cell; of every fourth where cells are narrow.
  [[nodiscard]] std::string numbers() const {
    std::string line;
    std::int64_t const every = shape_.width == 7 ? 1 : 4;
    for (std::int64_t c = window_.cell; c < window_.cell + window_.cells; ++c) {
      auto const [row, col] = picture_.grid.corner(picture_.tile, 0, c);
      std::string const number = std::to_string(picture_.grid.transposed ? row : col);
      bool const fits = number.size() < shape_.width || c + 1 == window_.cell + window_.cells || every > 1;
      if (c % every != 0 || !fits) {
        line.resize(std::max(line.size(), static_cast<std::size_t>(c - window_.cell + 1) * shape_.width),
                    ' ');
        continue;
      }
      line.resize(static_cast<std::size_t>(c - window_.cell) * shape_.width, ' ');
      line += fmt::format("{:>3}", number);
      line.resize(std::max(line.size(), static_cast<std::size_t>(c - window_.cell + 1) * shape_.width), ' ');
    }
    return line;
  }
  [[nodiscard]] std::string cell(Side const& side, std::int64_t line, std::int64_t c) const {
    auto const [row, col] = picture_.grid.corner(picture_.tile, line, c);
    unsigned const bank =
        bank_of_bit((picture_.tile.*side.bit_address)[picture_.tile.place(row, col)], picture_.banks);
    unsigned const color = xterm_colors[bank_color(bank, picture_.banks)];
    std::uint32_t const lanes = picture_.has_access ? picture_.lanes_in(line, c) : 0;
    if (lanes == 0) return background(style_, color, fmt::format("{:>3}{:{}}", bank, "", shape_.width - 3));
    bool const collides = (lanes & side.colliding) != 0;
    char const mark = collides ? '!' : '*';
    std::string const more = std::has_single_bit(lanes) ? "" : "+";
    std::string const text =
        shape_.width == 3
            ? fmt::format("{}{:>2}", mark, bank)
            : fmt::format("{:>3}{:<4}", bank, fmt::format("{}{}{}", mark, std::countr_zero(lanes), more));
    if (!style_.colored()) return text;
    return collides ? fmt::format("\x1b[1;97;48;5;124m{}\x1b[0m", text)
                    : fmt::format("\x1b[1;38;5;{};48;5;16m{}\x1b[0m", color, text);
  }
  void hidden() {
    Tile const& tile = picture_.tile;
    if (std::string const text = unseen(picture_, window_); !text.empty())
      text_ += fmt::format("  {}; --rows A..B and --cols A..B choose others\n", text);
    unsigned outside = 0;
    for (unsigned const i : picture_.lanes)
      if (auto const& place = picture_.shot.lane[i]; place && !tile.holds(place->row, place->col)) ++outside;
    if (outside > 0)
      text_ += fmt::format("  {} lanes of the phase lie outside the part that is shown\n", outside);
  }
  /// Two rows of numbers, or four of 64 banks or on a narrow terminal: how many distinct words of the phase each bank has.
  void banks() {
    std::size_t width = 8;
    for (Side const& side : picture_.sides) width = std::max(width, side.name.size());
    unsigned const step = terminal_columns() < width + 3 + 32 * 3 ? 16 : 32;
    for (unsigned first = 0; first < picture_.banks.count; first += step) {
      unsigned const end = std::min(first + step, picture_.banks.count);
      std::string ruler = fmt::format("  {:<{}} ", "bank", width);
      for (unsigned b = first; b < end; ++b) ruler += fmt::format("{:>3}", b);
      text_ += style_.faint(ruler) + "\n";
      for (Side const& side : picture_.sides) {
        text_ += fmt::format("  {:<{}} ", side.name, width);
        for (unsigned b = first; b < end; ++b) {
          std::size_t const words = side.words[b].size();
          std::string const number = fmt::format("{:>3}", words == 0 ? "." : std::to_string(words));
          text_ += words > 1 ? style_.bad(number) : number;
        }
        text_ += "\n";
      }
    }
    text_ += fmt::format("  {}; more than 1 is a collision\n\n", counted(picture_));
  }
  void verdict() {
    std::size_t width = 0;
    for (Side const& side : picture_.sides) width = std::max(width, side.name.size());
    for (Side const& side : picture_.sides) {
      if (side.split != 0) {
        text_ +=
            fmt::format("  {:<{}}  {}\n", side.name, width,
                        style_.bad(fmt::format("the {} bytes of lane {} do not stay together: no such access",
                                               picture_.instruction.bytes, std::countr_zero(side.split))));
        continue;
      }
      unsigned const waves = side.cost.wavefronts;
      unsigned const excess = excess_over(picture_.ideal, waves);
      std::string degrees;
      for (unsigned g = 0; g < side.cost.phases.count; ++g)
        degrees += fmt::format(" {}", side.cost.degree[g]);
      std::string const excess_text = fmt::format("excess {}", excess);
      text_ += fmt::format("  {:<{}}  {:>2} wavefront{} ideal {}, {}; degree by phase:{}\n", side.name, width,
                           waves, waves == 1 ? ", " : "s,", picture_.ideal,
                           excess > 0 ? style_.bad(excess_text) : style_.good(excess_text), degrees);
    }
    text_ += fmt::format("  {}\n", style_.faint(picture_.evidence));
  }
  static std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  Picture const& picture_;
  Style const& style_;
  Shape shape_;
  Window window_;
  std::string text_;
};

}  // namespace

std::string terminal(Picture const& picture, Style const& style) { return Printer(picture, style).print(); }

std::string memory_image(Tile const& tile, Banks banks, std::optional<Expression> const& content,
                         bool real_numbers, Style const& style) {
  std::int64_t const line_bits = 8 * std::int64_t{banks.row()};
  std::map<std::int64_t, std::pair<std::string, unsigned>>
      slots;  // what lies there, and the colour of its bank without swizzle
  std::size_t width = 1, shared = 0;
  for (std::int64_t row = tile.row0; row < tile.row0 + tile.rows; ++row)
    for (std::int64_t col = tile.col0; col < tile.col0 + tile.cols; ++col) {
      std::array<std::uint64_t, 2> const at{static_cast<std::uint64_t>(row), static_cast<std::uint64_t>(col)};
      std::string text = fmt::format("{},{}", row, col);
      if (content) {
        auto const value =
            static_cast<std::int64_t>((*content)(std::span<std::uint64_t const>(at), std::uint64_t{}));
        text = fmt::format("{}{}", value, real_numbers ? ".0" : "");
      }
      width = std::max(width, text.size());
      std::size_t const place = tile.place(row, col);
      unsigned const color = xterm_colors[bank_color(bank_of_bit(tile.plain[place], banks), banks)];
      shared += slots.try_emplace(tile.swizzled[place], text, color).second ? 0 : 1;
    }
  std::int64_t const first = slots.begin()->first, last = slots.rbegin()->first;
  auto const line_of = [&](std::int64_t bit) {
    return (bit - (bit % line_bits + line_bits) % line_bits) / line_bits;
  };
  std::int64_t const offset = (first % tile.element_bits + tile.element_bits) % tile.element_bits;
  std::string text;
  bool gap = false;
  for (std::int64_t line = line_of(first); line <= line_of(last); ++line) {
    // Lines without elements, as in a tile with wide strides, are one line of dots.
    auto const from = slots.lower_bound(line * line_bits);
    if (from == slots.end() || from->first >= (line + 1) * line_bits) {
      line = from == slots.end() ? line_of(last) : line_of(from->first) - 1;
      if (!gap) text += "...\n";
      gap = true;
      continue;
    }
    gap = false;
    std::string separator;
    for (std::int64_t bit = line * line_bits + offset; bit < (line + 1) * line_bits;
         bit += tile.element_bits) {
      auto const slot = slots.find(bit);
      std::string const shown = fmt::format("{:>{}}", slot == slots.end() ? "-" : slot->second.first, width);
      text += separator + (slot == slots.end() ? shown : background(style, slot->second.second, shown));
      separator = "  ";
    }
    text += "\n";
  }
  if (shared > 0)
    text += fmt::format("{} elements share the slot of an earlier one, which is shown\n", shared);
  return text;
}

}  // namespace swizproof
