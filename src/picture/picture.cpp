#include "picture/picture.hpp"

#include <swizproof/hardware/certainty.hpp>
#include <swizproof/hardware/collision.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace swizproof {

namespace {

constexpr std::int64_t farthest_bit = std::int64_t{1} << 31;

/// floor(a / b): addresses may be negative.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// "Sw<3,4,3> on bytes", "fn on bytes": the swizzles and functions of a mapping, outermost first.
std::string swizzles_of(Map const& map) {
  std::string text;
  auto const collect = [&](std::vector<Stage> const& stages, std::string const& unit) {
    for (Stage const& stage : stages) {
      if (std::holds_alternative<Layout>(stage) || std::holds_alternative<Displacement>(stage)) continue;
      auto const* const swizzle = std::get_if<Swizzle>(&stage);
      text += (text.empty() ? "" : ", ") + (swizzle != nullptr ? to_string(*swizzle) : "fn") + " on " + unit;
    }
  };
  collect(map.on_bytes, "bytes");
  collect(map.on_elements, "elements");
  return text;
}

/// [first, count] of the coordinates to show along one mode.
std::pair<std::int64_t, std::int64_t> shown(std::optional<std::pair<std::int64_t, std::int64_t>> const& part,
                                            std::int64_t all, std::string const& option) {
  if (!part) return {0, all};
  auto const [first, last] = *part;
  if (first < 0 || last < first || last >= all) {
    std::string const text = fmt::format("{}..{}", first, last);
    throw InputError::whole(fmt::format("{} must lie within 0..{}", option, all - 1), text);
  }
  return {first, last - first + 1};
}

void refuse_undrawable(Mapping const& map) {
  if (map.domain() == nullptr)
    throw InputError::whole("a function without a shape has no picture", map.text,
                            "give it a tile, such as Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)");
  if (!map.element_bits)
    throw InputError::whole("the element size is not known", map.text, "give --element f16");
}

/// True if the elements of every cell follow each other in an aligned block of `bits`.
bool stay_together(Tile const& tile, std::vector<std::int64_t> const& address, Grid const& grid,
                   std::int64_t bits) {
  std::int64_t const extent = grid.transposed ? tile.rows : tile.cols;
  auto const at = [&](std::int64_t line, std::int64_t i) {
    return address[grid.transposed ? tile.place(tile.row0 + i, tile.col0 + line)
                                   : tile.place(tile.row0 + line, tile.col0 + i)];
  };
  for (std::int64_t line = 0; line < grid.lines; ++line)
    for (std::int64_t i = 0; i < extent; ++i) {
      std::int64_t const corner = at(line, i - i % grid.elements);
      if (corner % bits != 0 || at(line, i) != corner + i % grid.elements * tile.element_bits) return false;
    }
  return true;
}

Grid cut(Tile const& tile, std::int64_t elements, bool transposed) {
  std::int64_t const along = transposed ? tile.rows : tile.cols;
  return {transposed, elements, elements * tile.element_bits / 8, transposed ? tile.cols : tile.rows,
          (along + elements - 1) / elements};
}

/// The lanes (bits) that a bank serves with the i-th entry: those of its word, or this one alone if each lane counts.
std::uint32_t served_lanes(BankUse<std::uint64_t> const& use, std::size_t i) {
  std::uint32_t lanes = 1U << use.lanes[i];
  for (std::size_t other = 0; other < use.words.size() && !use.by_lane; ++other)
    if (use.words[other] == use.words[i]) lanes |= 1U << use.lanes[other];
  return lanes;
}

/// Words that each bank serves in the phase, and the lanes that share a bank with another entry.
void fill_banks(Side& side, Picture const& picture) {
  WarpAccess<std::uint64_t> warp{};
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    warp.active[lane] = picture.shot.lane[lane].has_value();
    if (!warp.active[lane]) continue;
    // Addresses below 0 count in words from below 0: bank_uses() sees them from 2^63 on.
    warp.address[lane] = static_cast<std::uint64_t>((*picture.shot.lane[lane]).*side.byte_address);
  }
  auto const uses = bank_uses(picture.instruction, warp, side.cost.phases, picture.phase);
  Banks const banks = picture.banks;
  side.words.resize(banks.count);
  side.lanes.resize(banks.count);
  for (unsigned b = 0; b < banks.count; ++b) {
    std::vector<std::size_t> const served = uses[b].served();
    for (std::size_t const i : served) {
      std::uint64_t const address = warp.address[uses[b].lanes[i]];
      std::int64_t const first = floor_div(static_cast<std::int64_t>(address), banks.bytes);
      side.words[b].push_back(
          first + static_cast<std::int64_t>((b - static_cast<std::uint64_t>(first)) % banks.count));
      side.lanes[b].push_back(served_lanes(uses[b], i));
    }
    if (served.size() < 2) continue;
    for (unsigned const lane : uses[b].lanes) side.colliding |= 1U << lane;
  }
}

/// Lanes whose bytes, neighbours without the swizzle, are not neighbours on this side, or not aligned.
std::uint32_t split_lanes(Picture const& picture, Side const& side) {
  Tile const& tile = picture.tile;
  std::unordered_map<std::int64_t, std::int64_t> moved;  // bit address without swizzle -> on this side
  for (std::size_t i = 0; i < tile.plain.size(); ++i)
    moved.emplace(tile.plain[i], (tile.*side.bit_address)[i]);
  std::uint32_t split = 0;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    if (!picture.shot.lane[l]) continue;
    std::int64_t const from = picture.shot.lane[l]->plain, to = (*picture.shot.lane[l]).*side.byte_address;
    bool whole = to % picture.instruction.bytes == 0;
    for (std::int64_t bit = 0; bit < 8 * picture.instruction.bytes; bit += tile.element_bits)
      if (auto const found = moved.find(8 * from + bit); found != moved.end())
        whole &= found->second == 8 * to + bit;
    if (!whole) split |= 1U << l;
  }
  return split;
}

std::vector<Side> sides_of(Tile const& tile) {
  std::vector<Side> sides;
  Side plain;
  plain.name = "no swizzle";
  plain.bit_address = &Tile::plain;
  plain.byte_address = &LaneSpot::plain;
  sides.push_back(plain);
  if (tile.swizzle.empty()) return sides;
  Side swizzled;
  swizzled.name = tile.swizzle;
  swizzled.bit_address = &Tile::swizzled;
  swizzled.byte_address = &LaneSpot::swizzled;
  sides.push_back(swizzled);
  return sides;
}

}  // namespace

Tile make_tile(Mapping const& map, std::uint64_t base, Part const& part) {
  refuse_undrawable(map);
  Layout const& layout = *map.domain();
  Tile tile;
  tile.layout = map.text;
  tile.swizzle = swizzles_of(map);
  tile.element_bits = *map.element_bits;
  tile.base = base;
  tile.all_rows = layout.rank() < 2 ? 1 : layout.shape.mode(0).product();
  tile.all_cols = layout.size() / tile.all_rows;
  std::tie(tile.row0, tile.rows) = shown(part.rows, tile.all_rows, "--rows");
  std::tie(tile.col0, tile.cols) = shown(part.cols, tile.all_cols, "--cols");
  if (tile.rows > most_elements_shown || tile.cols > most_elements_shown ||
      tile.rows * tile.cols > most_elements_shown)
    throw InputError::whole(
        fmt::format("{} x {} elements are more than the 2^16 that a picture holds", tile.rows, tile.cols),
        map.text, "choose a part with --rows A..B and --cols A..B");
  Map const plain = without_swizzle(map);
  Address<std::uint64_t> const origin{base};
  for (std::int64_t row = tile.row0; row < tile.row0 + tile.rows; ++row)
    for (std::int64_t col = tile.col0; col < tile.col0 + tile.cols; ++col) {
      auto const index = static_cast<std::uint64_t>(row + tile.all_rows * col);
      auto const signed_word = [](std::uint64_t word) { return static_cast<std::int64_t>(word); };
      tile.offset.push_back(signed_word(offset(plain, index).elements));
      tile.plain.push_back(signed_word(bit_address(plain, origin, index)));
      tile.swizzled.push_back(signed_word(bit_address(map, origin, index)));
      if (std::abs(tile.plain.back()) >= farthest_bit || std::abs(tile.swizzled.back()) >= farthest_bit)
        throw InputError::whole(
            fmt::format("the element at row {}, column {} lies further than 2^28 bytes from address 0", row,
                        col),
            map.text, "shared memory of a block holds at most 227 KiB");
    }
  return tile;
}

Padding padding_of(Tile const& tile) {
  if (tile.memory || tile.rows < 2 || tile.cols < 2) return {};
  std::int64_t const right = tile.offset[1] - tile.offset[0];
  std::int64_t const down = tile.offset[static_cast<std::size_t>(tile.cols)] - tile.offset[0];
  bool const by_rows = right == 1;  // lines that are contiguous: rows, or columns
  std::int64_t const line = by_rows ? tile.all_cols : tile.all_rows;
  std::int64_t const padding = (by_rows ? down : right) - line;
  if ((!by_rows && down != 1) || padding <= 0 || padding >= line) return {};
  return {padding, by_rows};
}

std::string in_words(Padding const& padding) {
  if (padding.elements == 0) return {};
  return fmt::format("; {} element{} of padding behind each {} (-)", padding.elements,
                     padding.elements == 1 ? "" : "s", padding.by_rows ? "row" : "column");
}

Grid make_grid(Tile const& tile, unsigned bytes, Banks banks) {
  std::int64_t const least = 8 * std::min<std::int64_t>(banks.bytes, 4);
  for (std::int64_t bits = std::max<std::int64_t>(8 * bytes, least); bits >= least; bits /= 2) {
    std::int64_t const elements = bits / tile.element_bits;
    if (elements < 1) continue;
    // A column-major tile has neighbours in its columns: then lines of the picture are columns.
    for (bool const transposed : {false, true}) {
      Grid const grid = cut(tile, elements, transposed);
      bool const whole = elements <= (transposed ? tile.rows : tile.cols);
      if (whole && stay_together(tile, tile.plain, grid, bits) &&
          stay_together(tile, tile.swizzled, grid, bits))
        return grid;
    }
  }
  return cut(tile, 1, false);
}

WarpAccess<std::uint64_t> Shot::warp(std::int64_t LaneSpot::*address) const {
  WarpAccess<std::uint64_t> warp{};
  for (unsigned i = 0; i < warp_lanes; ++i) {
    warp.active[i] = lane[i].has_value();
    if (lane[i]) warp.address[i] = static_cast<std::uint64_t>((*lane[i]).*address);
  }
  return warp;
}

std::string describe(Shot const& shot) {
  std::string text;
  for (auto const& [name, value] : shot.variables)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  return text.empty() ? "the only one" : text;
}

unsigned bank_of_bit(std::int64_t bit_address, Banks banks) {
  return static_cast<unsigned>(floor_div(bit_address, 8 * banks.bytes) & (banks.count - 1));
}

std::uint32_t Picture::lanes_in(std::int64_t line, std::int64_t cell) const {
  std::uint32_t found = 0;
  for (unsigned const i : lanes) {
    if (!shot.lane[i] || !tile.holds(shot.lane[i]->row, shot.lane[i]->col)) continue;
    if (grid.cell_of(tile, shot.lane[i]->row, shot.lane[i]->col) == std::pair(line, cell)) found |= 1U << i;
  }
  return found;
}

std::string Picture::lanes_in_words(std::string_view to) const { return runs_of(lanes, to); }

Picture make_picture(Tile tile, Banks banks, unsigned cell_bytes) {
  Picture picture;
  picture.banks = banks;
  picture.grid = make_grid(tile, cell_bytes, banks);
  picture.sides = sides_of(tile);
  Padding const padding = padding_of(tile);
  // A swizzle moves elements of a line behind it, so that the gap is no place of its own.
  if (tile.swizzle.empty() && padding.by_rows != picture.grid.transposed)
    picture.grid.padded_cells = padding.elements / picture.grid.elements;
  else if (tile.swizzle.empty())
    picture.grid.padded_lines = padding.elements;
  picture.tile = std::move(tile);
  return picture;
}

Picture make_picture(Tile tile, Architecture const& arch, std::string access, Instruction instruction,
                     Shot shot, std::optional<unsigned> phase) {
  require(arch, instruction);
  Picture picture = make_picture(std::move(tile), arch.banks, instruction.bytes);
  picture.has_access = true;
  picture.access = std::move(access);
  picture.instruction = instruction;
  picture.ideal = ideal_wavefronts(arch, instruction);
  picture.evidence = certainty(arch, instruction.operation);
  picture.shot = std::move(shot);
  for (Side& side : picture.sides) side.cost = cost(arch, instruction, picture.shot.warp(side.byte_address));
  Cost<std::uint32_t> const& given = picture.sides.back().cost;
  picture.phases = given.phases.count;
  auto const worst = std::max_element(given.degree.begin(), given.degree.begin() + given.phases.count);
  picture.phase = phase.value_or(static_cast<unsigned>(worst - given.degree.begin()));
  if (picture.phase >= picture.phases) {
    std::string const text = std::to_string(picture.phase);
    throw InputError::whole(fmt::format("{} has {} phase{} here, numbered from 0", picture.access,
                                        picture.phases, picture.phases == 1 ? "" : "s"),
                            text);
  }
  for (unsigned i = 0; i < given.phases.size; ++i)
    picture.lanes.push_back(given.phases.lane(picture.phase * given.phases.size + i));
  std::sort(picture.lanes.begin(), picture.lanes.end());
  for (Side& side : picture.sides) {
    fill_banks(side, picture);
    side.split = split_lanes(picture, side);
  }
  return picture;
}

Window make_window(Picture const& picture, std::int64_t cells) {
  constexpr std::int64_t most_lines = 32;
  Grid const& grid = picture.grid;
  std::vector<bool> touched(static_cast<std::size_t>(grid.lines));
  std::int64_t first_line = grid.lines, first_cell = grid.cells, count = 0;
  for (unsigned const i : picture.lanes) {
    auto const& place = picture.shot.lane[i];
    if (!place || !picture.tile.holds(place->row, place->col)) continue;
    auto const [line, cell] = grid.cell_of(picture.tile, place->row, place->col);
    count += touched[static_cast<std::size_t>(line)] ? 0 : 1;
    touched[static_cast<std::size_t>(line)] = true;
    first_line = std::min(first_line, line), first_cell = std::min(first_cell, cell);
  }
  Window window;
  window.cells = std::min(cells, grid.cells);
  window.cell = count == 0 ? 0 : std::min(first_cell, grid.cells - window.cells);
  std::int64_t spare = picture.tile.memory ? 0 : std::min(most_lines, grid.lines) - count;
  std::int64_t const start =
      count == 0 ? 0 : std::min(first_line, std::max<std::int64_t>(0, grid.lines - most_lines));
  for (std::int64_t line = start; line < grid.lines; ++line) {
    bool const hit = touched[static_cast<std::size_t>(line)];
    if (hit || spare > 0) window.lines.push_back(line);
    spare -= hit ? 0 : 1;
  }
  return window;
}

std::string unseen(Picture const& picture, Window const& window) {
  Grid const& grid = picture.grid;
  auto const lines = static_cast<std::int64_t>(window.lines.size());
  if (lines == grid.lines && window.cells == grid.cells) return {};
  std::string text = fmt::format("{} of {} {}", lines, grid.lines, grid.transposed ? "columns" : "rows");
  if (window.cells < grid.cells) text += fmt::format(", {} of {} cells of each", window.cells, grid.cells);
  return text;
}

std::string counted(Picture const& picture) {
  return picture.instruction.operation == Operation::cp_async ? "lanes of the phase in each bank"
                                                              : "distinct words of the phase in each bank";
}

namespace {

using Json = nlohmann::ordered_json;

Json lanes_of_bits(std::uint32_t bits) {
  Json lanes = Json::array();
  for (unsigned l = 0; l < warp_lanes; ++l)
    if ((bits >> l & 1) != 0) lanes.push_back(l);
  return lanes;
}

Json side_to_json(Picture const& picture, Side const& side) {
  Json out{{"name", side.name}};
  Json addresses = Json::array(), banks = Json::array();
  for (std::int64_t const bit : picture.tile.*side.bit_address) {
    addresses.push_back(floor_div(bit, 8));
    banks.push_back(bank_of_bit(bit, picture.banks));
  }
  out["address"] = addresses;
  out["bank"] = banks;
  if (!picture.has_access) return out;
  unsigned const waves = side.cost.wavefronts;
  bool const whole = side.split == 0;
  out["wavefronts"] = whole ? Json(waves) : Json();
  out["ideal"] = picture.ideal;
  out["excess"] = whole ? Json(excess_over(picture.ideal, waves)) : Json();
  out["degree"] =
      std::vector<std::uint32_t>(side.cost.degree.begin(), side.cost.degree.begin() + side.cost.phases.count);
  Json words = Json::array(), lanes = Json::array();
  for (std::size_t b = 0; b < side.words.size(); ++b) {
    words.push_back(side.words[b]);
    lanes.push_back(Json::array());
    for (std::uint32_t const bits : side.lanes[b]) lanes.back().push_back(lanes_of_bits(bits));
  }
  out["words"] = words;
  out["lanes"] = lanes;
  out["colliding"] = lanes_of_bits(side.colliding);
  out["split"] = lanes_of_bits(side.split);
  return out;
}

}  // namespace

nlohmann::ordered_json to_json(Picture const& picture) {
  Tile const& tile = picture.tile;
  Json out{{"layout", tile.layout},  {"element_bits", tile.element_bits},
           {"base", tile.base},      {"rows", tile.rows},
           {"cols", tile.cols},      {"first_row", tile.row0},
           {"first_col", tile.col0}, {"offset", tile.offset}};
  if (picture.has_access) {
    Json origin = Json::object(), lanes = Json::array();
    for (auto const& [name, value] : picture.shot.variables) origin[name] = value;
    for (unsigned l = 0; l < warp_lanes; ++l)
      if (auto const& spot = picture.shot.lane[l])
        lanes.push_back({{"lane", l},
                         {"row", spot->row},
                         {"col", spot->col},
                         {"unswizzled", spot->plain},
                         {"address", spot->swizzled}});
    out["access"] = {{"name", picture.access},
                     {"instruction", to_string(picture.instruction)},
                     {"origin", origin},
                     {"phase", picture.phase},
                     {"phases", picture.phases},
                     {"phase_lanes", {picture.lanes.front(), picture.lanes.back()}},
                     {"lanes", lanes}};
  }
  out["sides"] = Json::array();
  for (Side const& side : picture.sides) out["sides"].push_back(side_to_json(picture, side));
  return out;
}

}  // namespace swizproof
