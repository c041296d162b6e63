#include "picture/held.hpp"
#include "page.hpp"
#include "picture/picture.hpp"
#include "report/xml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof {

namespace {

std::string label_of(HeldCell const& cell) { return cell.thread.empty() ? "-" : cell.thread + " " + cell.at; }

/// The most characters that `text` of a cell has.
template <class Text>
std::size_t widest(HeldMatrix const& matrix, Text const& text) {
  std::size_t width = 1;
  for (auto const& row : matrix.rows)
    for (HeldCell const& cell : row) width = std::max(width, text(cell).size());
  return width;
}

}  // namespace

std::string terminal(HeldMatrix const& matrix, Style const& style, std::size_t columns) {
  std::string out = style.strong(matrix.title) + "\n";
  for (std::string const& note : matrix.notes) out += "  " + note + "\n";
  if (matrix.rows.empty()) return out;
  std::size_t const all = matrix.rows[0].size(), width = widest(matrix, label_of);
  std::size_t const head = matrix.down.size() + 6;
  std::size_t const room = (columns - std::min(columns, head)) / (width + 1);
  std::size_t const fit =
      room >= 8 ? room / 8 * 8 : std::max<std::size_t>(1, room);  // 8 columns stay together
  for (std::size_t from = 0; from < all; from += fit) {
    std::size_t const end = std::min(all, from + fit);
    std::string ruler = fmt::format("\n{:{}}", "", head);
    for (std::size_t c = from; c < end; ++c)
      ruler += fmt::format(
          "{:<{}} ", fmt::format("{} {}", matrix.across, matrix.first_column + static_cast<std::int64_t>(c)),
          width);
    ruler.erase(ruler.find_last_not_of(' ') + 1);
    out += style.faint(ruler) + "\n";
    for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
      out += style.faint(fmt::format(
          "{:<{}}", fmt::format("  {} {}", matrix.down, matrix.first_row + static_cast<std::int64_t>(r)),
          head));
      for (std::size_t c = from; c < end; ++c) {
        HeldCell const& cell = matrix.rows[r][c];
        out += (c == from ? "" : " ") +
               on_color(style, cell.color, fmt::format("{:<{}}", label_of(cell), width));
      }
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n";
    }
  }
  return out;
}

std::string svg(HeldMatrix const& matrix) {
  constexpr double margin = 16, high = 34, font = 11;
  double const wide =
      std::max(38.0, 7.0 * static_cast<double>(widest(matrix, [](HeldCell const& c) { return c.at; })) + 10);
  double const left = margin + 7.0 * static_cast<double>(matrix.down.size() + 4) + 8;
  double const all = static_cast<double>(matrix.rows.empty() ? 0 : matrix.rows[0].size());
  double const top = margin + 34 + 16 * static_cast<double>(matrix.notes.size()) + 20;
  double const width = std::max(left + all * wide + margin, 320.0);
  double const height = top + static_cast<double>(matrix.rows.size()) * high + margin;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} "
      "{1:g}\" "
      "role=\"img\" aria-labelledby=\"title\">\n<title id=\"title\">{2}</title>\n"
      "<style>text{{font:{3}px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#16191d;text-anchor:middle}}"
      ".l{{text-anchor:start}}.e{{text-anchor:end}}.b{{font-weight:bold}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height, in_xml(matrix.title), font);
  auto const text = [&](double x, double y, char const* classes, std::string const& words, double most = 0) {
    // A text that would leave the figure is drawn narrower.
    bool const long_one = most > 0 && 6.7 * static_cast<double>(words.size()) > most;
    out += fmt::format(
        "<text x=\"{:g}\" y=\"{:g}\" class=\"{}\"{}>{}</text>\n", x, y, classes,
        long_one ? fmt::format(" textLength=\"{:g}\" lengthAdjust=\"spacingAndGlyphs\"", most) : "",
        in_xml(words));
  };
  double y = margin + 12;
  text(margin, y, "l b", matrix.title, width - 2 * margin);
  for (std::string const& note : matrix.notes) text(margin, y += 16, "l", note, width - 2 * margin);
  for (std::size_t r = 0; r < matrix.rows.size(); ++r) {
    double const row = top + static_cast<double>(r) * high;
    text(left - 8, row + high / 2 + 4, "e",
         fmt::format("{} {}", matrix.down, matrix.first_row + static_cast<std::int64_t>(r)));
    for (std::size_t c = 0; c < matrix.rows[r].size(); ++c) {
      double const x = left + static_cast<double>(c) * wide;
      HeldCell const& cell = matrix.rows[r][c];
      if (r == 0)
        text(x + wide / 2, top - 8, "",
             fmt::format("{} {}", matrix.across, matrix.first_column + static_cast<std::int64_t>(c)));
      out += fmt::format(
          "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" fill=\"{}\" stroke=\"#16191d\" "
          "stroke-width=\".6\"/>\n",
          x, row, wide, high, cell.thread.empty() ? "#fff" : color_of(cell.color));
      if (cell.thread.empty()) continue;
      text(x + wide / 2, row + 14, "b", cell.thread);
      text(x + wide / 2, row + 27, "", cell.at);
    }
  }
  return out + "</svg>\n";
}

std::string html(HeldMatrix const& matrix) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<title>{0} · swizproof</title>\n<style>{1}\n.scroll "
      "svg "
      "{{ display: block; }}</style>\n</head>\n<body>\n<header><h1>{0}</h1></header>\n<main><section><div "
      "class=\"scroll\" tabindex=\"0\">\n{2}</div></section></main>\n</body>\n</html>\n",
      in_xml(matrix.title), page_style, svg(matrix));
}

}  // namespace swizproof
