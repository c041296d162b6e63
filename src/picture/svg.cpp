// The picture as a figure that stands alone.
//
//   title: layout, access, origin, phase
//   no swizzle                    Sw<3,4,3> on bytes          the two tiles, side by side where they fit
//   words of each bank            words of each bank          the phase's histogram
//   8 wavefronts, ideal 1         1 wavefront, ideal 1
//   legend
//
// Colour says the bank, and so does a number in each cell; a lane has a frame and a number, a collision has
// hatching and an exclamation mark: nothing is said by colour alone.
#include "picture/picture.hpp"
#include "report/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace swizproof {

namespace {

// Paul Tol's "light" colours, made for labelled cells and for the colour-blind: an eighth of the banks shares one.
constexpr std::string_view bank_fills[most_bank_colors] = {"#77AADD", "#99DDFF", "#44BB99", "#BBCC33",
                                                           "#AAAA00", "#EEDD88", "#EE8866", "#FFAABB"};
}  // namespace

std::string_view color_of(std::uint64_t color) { return bank_fills[color % most_bank_colors]; }

namespace {

constexpr std::string_view clash_color = "#A3150E";
constexpr double margin = 24, gap = 44, name_width = 42, bars = 64, gap_high = 14;
constexpr std::int64_t most_cells = 36;  // an array of 32 columns and its padding

class Drawing {
 public:
  explicit Drawing(Picture const& picture)
      : picture_(picture), window_(make_window(picture, picture.tile.memory ? most_banks : most_cells)) {
    bool const lanes = picture.has_access;
    auto const cells = static_cast<double>(window_.cells + padded_cells());
    wide_ = std::clamp(400 / cells, cells > 16 ? 24.0 : lanes ? 46.0 : 34.0, 60.0);
    high_ = !narrow() ? 26 : picture.tile.memory ? 18 : 30;
    // The words below the bars need the room that 32 of them take.
    panel_ = name_width + std::max(wide_ * cells, std::max(picture.banks.count, 32U) * 12.5);
    beside_ = picture.sides.size() == 2 && 2 * panel_ + gap <= 1200;
  }

  std::string draw() {
    double const columns = beside_ ? 2 : 1;
    width_ = std::max(2 * margin + columns * panel_ + (columns - 1) * gap, 640.0);
    double y = title();
    double const top = y;
    for (std::size_t i = 0; i < picture_.sides.size(); ++i) {
      bool const right = beside_ && i == 1;
      double const bottom =
          panel(picture_.sides[i], margin + (right ? panel_ + gap : 0), right || i == 0 ? top : y);
      y = std::max(y, bottom) + (beside_ && i == 0 ? 0 : 8);
    }
    double const end = legend(y + 6);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} "
        "{1:g}\" "
        "role=\"img\" aria-labelledby=\"title desc\">\n"
        "<title id=\"title\">{2}</title>\n<desc id=\"desc\">{3}</desc>\n"
        "<style>text{{font-family:'DejaVu Sans',Helvetica,Arial,sans-serif;fill:#16191d}}"
        ".m{{font-family:'DejaVu Sans "
        "Mono',Menlo,Consolas,monospace}}.c{{text-anchor:middle}}.e{{text-anchor:end}}"
        ".s{{fill:#50575f;font-size:11px}}.b{{font-weight:bold}}.n{{font-size:11px}}</style>\n"
        "<defs><pattern id=\"clash\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#16191d\" "
        "stroke-width=\"2\" stroke-opacity=\".55\"/></pattern></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{4}</svg>\n",
        width_, end, in_xml(picture_.tile.layout), in_xml(summary()), out_);
  }

 private:
  [[nodiscard]] bool narrow() const { return wide_ < 30; }
  [[nodiscard]] std::string_view fill_of(unsigned bank) const {
    return bank_fills[bank_color(bank, picture_.banks)];
  }
  /// Padding is drawn where the end of the lines is, or the last line.
  [[nodiscard]] std::int64_t padded_cells() const {
    return window_.cell + window_.cells == picture_.grid.cells ? picture_.grid.padded_cells : 0;
  }
  [[nodiscard]] std::int64_t padded_lines() const {
    return window_.lines.back() + 1 == picture_.grid.lines ? picture_.grid.padded_lines : 0;
  }
  void text(double x, double y, std::string_view classes, std::string_view words, double size = 0) {
    out_ += fmt::format("<text x=\"{:g}\" y=\"{:g}\" class=\"{}\"{}>{}</text>\n", x, y, classes,
                        size > 0 ? fmt::format(" font-size=\"{:g}\"", size) : "", in_xml(words));
  }
  void rect(double x, double y, double w, double h, std::string_view style) {
    out_ +=
        fmt::format("<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" {}/>\n", x, y, w, h, style);
  }
  [[nodiscard]] std::string phase_in_words() const {
    return fmt::format("phase {} of {}: lanes {}", picture_.phase, picture_.phases,
                       picture_.lanes_in_words(" to "));
  }
  /// The access, and which of its instructions.
  [[nodiscard]] std::string instruction_in_words(std::string_view joint) const {
    if (picture_.tile.memory) return picture_.access;
    return fmt::format("{}{}{}", picture_.access, joint, describe(picture_.shot));
  }
  [[nodiscard]] static std::string cost_in_words(Picture const& picture, Side const& side) {
    unsigned const waves = side.cost.wavefronts, excess = excess_over(picture.ideal, waves);
    if (side.split != 0) return "the bytes of a lane do not stay together: no such access";
    std::string degrees;
    for (unsigned g = 0; g < side.cost.phases.count; ++g) degrees += fmt::format(" {}", side.cost.degree[g]);
    return fmt::format("{} wavefront{}, ideal {}, excess {}; degree by phase:{}", waves,
                       waves == 1 ? "" : "s", picture.ideal, excess, degrees);
  }
  [[nodiscard]] std::string summary() const {
    if (!picture_.has_access) return "The bank of each element of the tile.";
    std::string text = fmt::format("{}, {}.", instruction_in_words(", "), phase_in_words());
    for (Side const& side : picture_.sides)
      text += fmt::format(" {}: {}.", side.name, cost_in_words(picture_, side));
    return text;
  }
  double title() {
    Tile const& tile = picture_.tile;
    double const fit =
        (width_ - 2 * margin) / (0.61 * static_cast<double>(std::max<std::size_t>(1, tile.layout.size())));
    text(margin, 40, "m b", tile.layout, std::clamp(fit, 7.0, 18.0));
    text(margin, 60, "s",
         tile.memory
             ? fmt::format("rows: {} bytes from their address on; columns: banks", picture_.banks.row())
             : fmt::format("{} × {} elements of {} bits, base address {} bytes{}", tile.all_rows,
                           tile.all_cols, tile.element_bits, tile.base, in_words(padding_of(tile))));
    if (!picture_.has_access) return 84;
    text(margin, 82, "n b", instruction_in_words("; "));
    text(margin, 99, "s", phase_in_words());
    return 122;
  }
  /// One half; returns its lower edge.
  double panel(Side const& side, double x, double y) {
    Grid const& grid = picture_.grid;
    text(x, y + 12, "b", side.name, 14);
    double const left = x + name_width;
    y += 34;
    bool const memory = picture_.tile.memory;
    text(left - 8, y - 4, "s m e", memory ? "bank" : grid.transposed ? "row" : "col");
    std::int64_t const every = grid.cells > 16 ? 4 : 1;
    for (std::int64_t c = window_.cell; c < window_.cell + window_.cells; c += every) {
      auto const [row, col] = grid.corner(picture_.tile, 0, c);
      text(left + (static_cast<double>(c - window_.cell) + .5) * wide_, y - 4, "s m c",
           std::to_string(grid.transposed ? row : col));
    }
    if (memory) stripes(left, y);
    for (std::size_t i = 0; i < window_.lines.size(); ++i) {
      std::int64_t const line = window_.lines[i];
      if (i > 0 && line != window_.lines[i - 1] + 1) {
        text(left - 8, y + 9, "s m e", "...");
        y += gap_high;
      }
      double const top = y;
      y += high_;
      auto const [row, col] = grid.corner(picture_.tile, line, 0);
      text(left - 8, top + high_ / 2 + 4, "s m e",
           memory ? fmt::format("{:#x}", picture_.banks.row() * row)
                  : std::to_string(grid.transposed ? col : row));
      for (std::int64_t c = 0; c < window_.cells; ++c)
        cell(side, line, window_.cell + c, left + static_cast<double>(c) * wide_, top);
      padding(left, top, window_.cells, padded_cells());
    }
    for (std::int64_t i = 0; i < padded_lines(); ++i, y += high_) padding(left, y, 0, window_.cells);
    return picture_.has_access ? histogram(side, x, y) : y + 8;
  }
  /// Behind all lines, the banks: those of shared memory itself stand one below the other.
  void stripes(double left, double y) {
    double high = 0;
    for (std::size_t i = 0; i < window_.lines.size(); ++i)
      high += high_ + (i > 0 && window_.lines[i] != window_.lines[i - 1] + 1 ? gap_high : 0);
    unsigned const colors = bank_colors(picture_.banks);
    double const wide = wide_ * static_cast<double>(window_.cells) / colors;
    for (unsigned i = 0; i < colors; ++i)
      rect(left + i * wide, y, wide, high, fmt::format("fill=\"{}\" fill-opacity=\".3\"", bank_fills[i]));
  }
  void padding(double left, double y, std::int64_t first, std::int64_t cells) {
    for (double x = left + static_cast<double>(first) * wide_; cells > 0; --cells, x += wide_) {
      rect(x + 1, y + 1, wide_ - 2, high_ - 2,
           "fill=\"none\" stroke=\"#8a9199\" stroke-dasharray=\"2 2\" rx=\"2\"");
      text(x + wide_ / 2, y + high_ / 2 + 4, "s m c", "-");
    }
  }
  void cell(Side const& side, std::int64_t line, std::int64_t c, double x, double y) {
    auto const [row, col] = picture_.grid.corner(picture_.tile, line, c);
    unsigned const bank =
        bank_of_bit((picture_.tile.*side.bit_address)[picture_.tile.place(row, col)], picture_.banks);
    std::uint32_t const lanes = picture_.has_access ? picture_.lanes_in(line, c) : 0;
    bool const faint = picture_.has_access && lanes == 0;
    if (faint && picture_.tile.memory) return;  // the stripes are there
    rect(x + .5, y + .5, wide_ - 1, high_ - 1,
         fmt::format("fill=\"{}\"{} rx=\"2\"", fill_of(bank), faint ? " fill-opacity=\".38\"" : ""));
    double const middle = x + wide_ / 2;
    if (lanes == 0) return text(middle, y + high_ / 2 + 4, "m c n", std::to_string(bank));
    bool const clash = (lanes & side.colliding) != 0;
    if (clash) rect(x + 1.5, y + 1.5, wide_ - 3, high_ - 3, "fill=\"url(#clash)\" rx=\"2\"");
    rect(x + 1.75, y + 1.75, wide_ - 3.5, high_ - 3.5,
         fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\" rx=\"2\"",
                     clash ? clash_color : "#16191d"));
    std::string const lane = fmt::format("{}{}{}", std::countr_zero(lanes),
                                         std::has_single_bit(lanes) ? "" : "+", clash ? "!" : "");
    // Bank and lane are side by side, or one above the other in a narrow cell. Shared memory itself has its banks above all
    // lines, and its cells hold only the lane.
    bool const alone = narrow() && picture_.tile.memory;
    double const size = narrow() ? 10 : 13, w = 0.62 * size * static_cast<double>(lane.size()) + 2;
    double const center = narrow() ? middle : x + wide_ - 6 - w / 2;
    double const base = y + (alone ? 13 : narrow() ? 25 : 17.5);
    if (clash) rect(center - w / 2, base - size + 1, w, size + 1, "fill=\"#fff\" rx=\"2\"");
    if (!alone)
      text(narrow() ? middle : x + 6, y + (narrow() ? 12.5 : 17), narrow() ? "m c" : "m",
           std::to_string(bank), narrow() ? 9 : 10);
    text(center, base, "m b c", lane, size);
  }
  /// The distinct words of the phase in each bank, and what the instruction costs.
  double histogram(Side const& side, double x, double y) {
    double const left = x + name_width, step = (panel_ - name_width) / picture_.banks.count,
                 floor = y + 26 + bars;
    std::size_t most = 1;
    for (Side const& any : picture_.sides)
      for (auto const& words : any.words) most = std::max(most, words.size());
    unsigned const every = picture_.banks.count < 16 ? 1 : 4;
    text(left, y + 18, "s", counted(picture_));
    for (unsigned b = 0; b < picture_.banks.count; ++b) {
      double const from = left + b * step;
      if (b % every == 0) text(from + step / 2, floor + 13, "s m c", std::to_string(b), 10);
      std::size_t const n = side.words[b].size();
      if (n == 0) continue;
      double const tall = (bars - 16) * static_cast<double>(n) / static_cast<double>(most);
      bool const clash = n > 1;
      rect(from + 1, floor - tall, step - 2, tall,
           fmt::format("fill=\"{}\" stroke=\"{}\"", fill_of(b), clash ? clash_color : "#16191d"));
      if (clash) rect(from + 1, floor - tall, step - 2, tall, "fill=\"url(#clash)\"");
      text(from + step / 2, floor - tall - 3, clash ? "m c b" : "m c", std::to_string(n), 9);
    }
    out_ += fmt::format("<path d=\"M{:g} {:g}H{:g}\" stroke=\"#16191d\" fill=\"none\"/>\n", left, floor,
                        left + picture_.banks.count * step);
    text(left - 8, floor + 13, "s m e", "bank");
    std::string const words = cost_in_words(picture_, side);
    std::size_t const comma = std::min(words.find(','), words.size());
    text(left, floor + 36, "b", words.substr(0, comma), 14);
    if (comma < words.size()) text(left, floor + 53, "s", words.substr(comma + 2));
    return floor + 64;
  }
  double legend(double y) {
    Grid const& grid = picture_.grid;
    double x = margin;
    auto const entry = [&](std::string const& style, std::string const& inside, std::string const& words) {
      double const wide = 28 + 5.9 * static_cast<double>(words.size()) + 8;
      if (x + wide > width_ - margin && x > margin) x = margin, y += 22;
      rect(x, y, 22, 15, style);
      if (style.find("url") != std::string::npos)
        rect(x, y, 22, 15, "fill=\"none\" stroke=\"#A3150E\" stroke-width=\"2\"");
      if (!inside.empty()) text(x + 11, y + 11.5, "m b c", inside, 10);
      text(x + 28, y + 12, "s", words);
      x += wide;
    };
    unsigned const colors = bank_colors(picture_.banks), each = picture_.banks.count / colors;
    for (unsigned i = 0; i < colors; ++i)
      entry(fmt::format("fill=\"{}\"", bank_fills[i]), "",
            each == 1 ? fmt::format("bank {}", i) : fmt::format("banks {}-{}", each * i, each * (i + 1) - 1));
    if (picture_.has_access) {
      x = margin, y += 22;
      entry("fill=\"#fff\" stroke=\"#16191d\" stroke-width=\"2\"", "7", "lane 7 of the phase");
      entry("fill=\"url(#clash)\"", "", "! a lane that shares a bank with another word");
    }
    y += 36;
    std::string cell = grid.bytes > 0 ? fmt::format("{} bytes", grid.bytes) : "";
    if (!picture_.tile.memory)
      cell += (cell.empty() ? "" : ", ") +
              (grid.elements == 1
                   ? "1 element"
                   : fmt::format("{} elements of a {}", grid.elements, grid.transposed ? "column" : "row"));
    text(margin, y, "s",
         fmt::format("A cell: {}.{}{}", cell,
                     narrow() && picture_.tile.memory    ? ""
                     : grid.bytes > picture_.banks.bytes ? " Its number: the first of its banks."
                                                         : " Its number: its bank.",
                     grid.transposed ? " A line is a column of the tile." : ""));
    if (std::string const hidden = unseen(picture_, window_); !hidden.empty())
      text(margin, y += 16, "s", "Shown: " + hidden + ".");
    if (!picture_.has_access) return y + 18;
    text(margin, y + 16, "s", "Bank model " + picture_.evidence + ".");
    return y + 34;
  }

  Picture const& picture_;
  Window window_;
  std::string out_;
  double wide_ = 0, high_ = 0, panel_ = 0, width_ = 0;
  bool beside_ = false;
};

}  // namespace

std::string svg(Picture const& picture) { return Drawing(picture).draw(); }

}  // namespace swizproof
