#include "command/layout/show_fragment.hpp"

#include "command/operand/fragment.hpp"

#include <swizproof/analysis/tile.hpp>
#include <swizproof/parse/parse.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace swizproof::command {

namespace {

constexpr std::int64_t most_shown = 64;  ///< rows and columns, unless they are chosen

/// The first of `all` indices that are drawn, as they were chosen, and the one behind the last.
std::pair<std::int64_t, std::int64_t> range_of(
    std::optional<std::pair<std::int64_t, std::int64_t>> const& chosen, std::int64_t all,
    char const* option) {
  if (!chosen) return {0, std::min(all, most_shown)};
  if (chosen->first > chosen->second || chosen->second >= all)
    throw InputError::whole(fmt::format("{} is from 0 to {}", option, all - 1),
                            fmt::format("{}..{}", chosen->first, chosen->second));
  return {chosen->first, chosen->second + 1};
}

/// The matrix without its cells: their part is drawn by `cell(row, column)`.
template <class Cell>
void draw(HeldMatrix& matrix, Part const& part, std::int64_t rows, std::int64_t columns, Cell const& cell) {
  auto const [row0, row1] = range_of(part.rows, rows, "--rows");
  auto const [column0, column1] = range_of(part.cols, columns, "--cols");
  matrix.first_row = row0, matrix.first_column = column0;
  for (std::int64_t r = row0; r < row1; ++r) {
    matrix.rows.emplace_back();
    for (std::int64_t c = column0; c < column1; ++c) matrix.rows.back().push_back(cell(r, c));
  }
  if (row1 - row0 < rows || column1 - column0 < columns)
    matrix.notes.push_back(
        fmt::format("drawn: {} of {} along {}, {} of {} along {}; --rows A..B and --cols A..B "
                    "choose others",
                    row1 - row0, rows, matrix.down, column1 - column0, columns, matrix.across));
}

HeldMatrix matrix_of(NamedFragment const& named, Part const& part) {
  Fragment const& f = named.fragment;
  bool const turned = is_b(f);  // of B n goes down, so that the elements of a register are side by side
  HeldMatrix out;
  out.down = turned ? named.column_index() : named.row_index();
  out.across = turned ? named.row_index() : named.column_index();
  out.title = fmt::format("{}: {} x {} elements of {} bits, {} {}s", named.name(), f.rows, f.columns, f.bits,
                          f.threads, named.of_cells || f.threads == warp_lanes ? "lane" : "thread");
  if (unsigned const holders = holders_of_each(f); holders > 1)
    out.notes.push_back(fmt::format("each element is in {} lanes: one of them is drawn", holders));
  draw(out, part, turned ? f.columns : f.rows, turned ? f.rows : f.columns,
       [&](std::int64_t r, std::int64_t c) {
         auto const row = static_cast<unsigned>(turned ? c : r),
                    column = static_cast<unsigned>(turned ? r : c);
         Holder const at = holder_of(f, row, column);
         std::string place = register_name(f, at.value, f.bits);
         if (named.of_cells) place[0] = 'C';
         return HeldCell{fmt::format("{}{}", named.of_cells ? 'L' : 'T', at.thread), std::move(place),
                         at.thread};
       });
  return out;
}

/// The first holder of each element of a tile whose modes are called `down` and `across`.
HeldMatrix matrix_of(HeldTile const& tile, std::string const& title, char down, char across,
                     Part const& part) {
  std::vector<std::optional<std::pair<std::uint64_t, std::uint64_t>>> first(tile.size());
  std::vector<std::uint64_t> holders(tile.size());
  for (std::uint64_t thread = 0; thread < tile.threads(); ++thread)
    for (std::uint64_t value = 0; value < tile.values(); ++value)
      if (std::uint64_t const e = tile.at(thread, value); e < tile.size()) {
        if (!first[e]) first[e] = {thread, value};
        ++holders[e];
      }
  HeldMatrix out;
  out.down = std::string(1, down), out.across = std::string(1, across);
  out.title = fmt::format("{}: {} x {} elements, {} threads", title, tile.extents[0], tile.extents[1],
                          tile.threads());
  if (std::uint64_t const most = *std::max_element(holders.begin(), holders.end()); most > 1)
    out.notes.push_back(fmt::format("an element is in up to {} threads: the first is drawn", most));
  draw(out, part, tile.extents[0], tile.extents[1], [&](std::int64_t r, std::int64_t c) {
    auto const& held = first[static_cast<std::size_t>(r + c * tile.extents[0])];
    if (!held) return HeldCell{};
    return HeldCell{fmt::format("T{}", held->first), fmt::format("V{}", held->second), held->first};
  });
  return out;
}

HeldMatrix matrix_of(TiledOperand const& operand, std::string const& text, Part const& part) {
  auto const modes = modes_of(operand.operand);
  HeldTile tile;
  try {
    tile = {thread_values(operand.mma, operand.operand), operand.extents()};
  } catch (AlgebraError const& error) {
    throw InputError::whole("this is not a TiledMMA that CuTe can make: " + std::string(error.what()), text);
  }
  return matrix_of(tile, fmt::format("TiledMMA, operand {}", operand.letter()), "mnk"[modes[0]],
                   "mnk"[modes[1]], part);
}

/// A TiledCopy with `:s` or `:d` behind it: the side that is drawn, the destination unless it is said.
HeldMatrix matrix_of_copy(std::string text, Part const& part) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  bool const source = text.ends_with(":s"), named = source || text.ends_with(":d");
  if (named) text.erase(text.size() - 2);
  TiledCopy const copy = parse_tiled_copy(text);
  std::vector<std::int64_t> extents;
  for (std::size_t i = 0; i < std::max<std::size_t>(copy.tile.modes.size(), 1); ++i)
    extents.push_back(copy.tile.is_tuple ? copy.tile.modes[i].product() : copy.tile.product());
  if (copy.tiled_tv.rank() != 2 || extents.size() > 2)
    throw InputError::whole(
        extents.size() > 2 ? "a tile of more than two modes is not drawn" : "a Copy_Atom alone has no tile",
        text, "paste the whole print of the TiledCopy");
  extents.resize(2, 1);
  HeldMatrix out =
      matrix_of(HeldTile{source ? copy.source_tv : copy.destination_tv, {extents[0], extents[1]}},
                fmt::format("TiledCopy, {}", source ? "source" : "destination"), 'm', 'n', part);
  if (!named)
    out.notes.emplace_back(
        "':s' behind the TiledCopy draws its source: of ldmatrix the addresses that a lane gives");
  return out;
}

}  // namespace

bool is_fragment(std::string const& text) {
  std::size_t const last = text.find_last_not_of(" \t\r\n");
  bool const operand = last != text.npos && last > 0 && text[last - 1] == ':';
  for (char const* name : {"mma.", "wgmma.", "ldmatrix", "stmatrix", "movmatrix", "tcgen05."})
    if (text.starts_with(name)) return true;
  if (looks_like_tiled_copy(text)) return true;
  return operand && (text.starts_with("SM") || looks_like_tiled_mma(text));
}

HeldMatrix held_matrix(std::string const& text, std::optional<unsigned> element_bits, Part const& part) {
  if (looks_like_tiled_copy(text)) return matrix_of_copy(text, part);
  auto const operand = parse_operand(text, element_bits);
  if (auto const* tiled = std::get_if<TiledOperand>(&operand)) return matrix_of(*tiled, text, part);
  return matrix_of(std::get<NamedFragment>(operand), part);
}

}  // namespace swizproof::command
