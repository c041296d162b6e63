// The page: page.html with the tile and the accesses as JSON inside.
//
// The page's program has the formulas of the swizzle and of the bank model, so it can compute any swizzle;
// tests/web/page compares its numbers with ours. It has no parser of layouts and accesses: those come as tables of offsets.
#include "picture/page_with.hpp"
#include "picture/picture.hpp"

#include <swizproof/hardware/certainty.hpp>
#include <swizproof/analysis/check.hpp>

#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swizproof {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t most_shots = 4096;  // of an access that is not a named pattern

/// A list of numbers as runs: first, step, count, first, step, count, ...
Json packed(std::vector<std::int64_t> const& numbers) {
  std::vector<std::int64_t> runs;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t count = 1;
    std::int64_t const step = i + 1 < numbers.size() ? numbers[i + 1] - numbers[i] : 0;
    while (i + count < numbers.size() && numbers[i + count] - numbers[i + count - 1] == step) ++count;
    runs.insert(runs.end(), {numbers[i], step, static_cast<std::int64_t>(count)});
    i += count;
  }
  return runs;
}

/// Bit addresses after the swizzles of elements and before those of bytes, and the latter. What is no swizzle
/// counts as done: then there are none left.
std::pair<std::vector<std::int64_t>, Json> inner_addresses(Mapping map, Tile const& tile) {
  Json swizzles = Json::array();
  for (Stage const& stage : map.on_bytes) {
    auto const* swizzle = std::get_if<Swizzle>(&stage);
    if (swizzle == nullptr) return {tile.swizzled, Json::array()};
    swizzles.push_back({swizzle->bits, swizzle->base, swizzle->shift});
  }
  map.on_bytes.clear();
  Part const part{std::pair(tile.row0, tile.row0 + tile.rows - 1),
                  std::pair(tile.col0, tile.col0 + tile.cols - 1)};
  return {make_tile(map, tile.base, part).swizzled, swizzles};
}

Json variables_of(Placement const& placement) {
  Json all = Json::array();
  for (Variable const& v : placement.variables())
    all.push_back({{"name", v.name}, {"first", v.first}, {"step", v.step}, {"count", v.count}});
  return all;
}

/// Rows and bytes of the lanes relative to the origin, which the page moves about.
void add_pattern(Json& out, Placement const& placement, RowAndByte const& pattern) {
  std::vector<std::uint32_t> rows, bytes;
  for (std::uint32_t lane = 0; lane < placement.instruction().lanes(); ++lane) {
    rows.push_back(pattern.row(std::span<std::uint32_t const>(&lane, 1), lane));
    bytes.push_back(pattern.byte(std::span<std::uint32_t const>(&lane, 1), lane));
  }
  Layout const& tile = *placement.map().domain();
  out["rows"] = rows;
  out["in_row"] = bytes;
  out["byte_mode"] = tile.rank() < 2 ? 1 : 1 - placement.row_mode();
  out["columns"] = tile.rank() < 2 ? 1 : tile.shape.mode(1).product();
}

/// The page moves a pattern to every origin: it must be aligned in each.
void refuse_misaligned(Placement const& placement, Tile const& tile) {
  std::int64_t const bits = 8 * placement.instruction().bytes;
  std::int64_t const step = std::max<std::int64_t>(1, bits / tile.element_bits);
  bool const down =
      tile.all_rows > 1 && placement.row_mode() == 1;  // a pattern's rows are columns of the tile
  for (std::int64_t row = 0; row < tile.rows; row += down ? step : 1)
    for (std::int64_t col = 0; col < tile.cols; col += down ? 1 : step)
      if (tile.plain[tile.place(row, col)] % std::min<std::int64_t>(bits, step * tile.element_bits) != 0)
        throw InputError::whole("the access is not aligned in every origin of the tile",
                                placement.access().name);
}

/// The place of each lane of each instruction, -1 for idle lanes.
void add_places(Json& out, Shots const& shots, Tile const& tile) {
  std::string const& name = shots.placement().access().name;
  if (shots.count() > most_shots)
    throw InputError::whole(
        fmt::format("{} instructions are more than the {} that a page holds", shots.count(), most_shots),
        name, "give its variables shorter ranges");
  std::vector<std::int64_t> places;
  for (std::uint64_t i = 0; i < shots.count(); ++i)
    for (std::optional<LaneSpot> const& spot : shots.at(i).lane) {
      if (spot && !tile.holds(spot->row, spot->col))
        throw InputError::whole("a lane lies outside the part that is shown", name,
                                "leave --rows and --cols out, or the access");
      places.push_back(spot ? static_cast<std::int64_t>(tile.place(spot->row, spot->col)) : -1);
    }
  out["places"] = packed(places);
}

Json to_json(Map const& map, Tile const& tile, Access access, Architecture const& arch) {
  require(arch, access.instruction, access.name);
  // The page moves patterns of row and byte; other accesses are those of the text.
  if (auto written = Shots(map, access, tile.base).placement().as_written(); !written.empty())
    access.positions = std::move(written);
  Shots const shots(map, access, tile.base);
  auto const fit = misfit_of(Placement(without_swizzle(map), access), {{}, {}, &arch, {}});
  if (auto const* misfit = std::get_if<Misfit>(&fit))
    throw InputError::whole(fmt::format("lane {} {}", misfit->lane, misfit->why), access.name);
  Phase const row = phase(arch, access.instruction);
  std::string_view seen_in;
  for (NamedAccess const& named : named_accesses())
    if (named.access.name == access.name) seen_in = named.seen_in;
  Json out{{"name", access.title()},
           {"instruction", to_string(access.instruction)},
           {"seen_in", seen_in},
           {"bytes", access.instruction.bytes},
           {"lanes", access.instruction.lanes()},
           {"phase_lanes", row.lanes},
           {"merged_lanes", row.merged_lanes},
           {"partners", row.partners},
           {"by_lane", row.by_lane},
           {"pays_idle", row.pays_idle},
           {"ideal", ideal_wavefronts(arch, access.instruction)},
           {"variables", variables_of(shots.placement())}};
  if (!row.in_order && access.instruction.lanes() == warp_lanes) out["order"] = row.order;
  auto const* pattern = std::get_if<RowAndByte>(&access.where);
  bool const whole = tile.rows == tile.all_rows && tile.cols == tile.all_cols;
  if (pattern != nullptr && whole && !access.active) {
    add_pattern(out, shots.placement(), *pattern);
    refuse_misaligned(shots.placement(), tile);
  } else {
    add_places(out, shots, tile);
  }
  return out;
}

}  // namespace

std::string page_with(std::string_view form, Json const& data) {
  // In a script element, "</script>" within a name would end it.
  std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  std::string page(form);
  for (auto const& [mark, with] : {std::pair<std::string_view, std::string_view>("{{DATA}}", text),
                                   std::pair<std::string_view, std::string_view>("{{STYLE}}", page_style)})
    page.replace(page.find(mark), mark.size(), with);
  return page;
}

std::string html(Mapping const& map, Tile const& tile, std::span<Access const> accesses,
                 Architecture const& arch) {
  auto const [inner, byte_swizzles] = inner_addresses(map, tile);
  Json all = Json::array();
  for (Access const& access : accesses) all.push_back(to_json(map, tile, access, arch));
  for (NamedAccess const& named : named_accesses()) {
    bool const known = std::any_of(accesses.begin(), accesses.end(),
                                   [&](Access const& a) { return a.name == named.access.name; });
    if (known) continue;
    try {
      all.push_back(to_json(map, tile, named.access, arch));
    } catch (InputError const&) {
      // It does not fit this tile: the page leaves it out.
    }
  }
  Json errors;
  for (auto const& [name, error] : {std::pair("negative_bits", SwizzleError::negative_bits),
                                    std::pair("negative_base", SwizzleError::negative_base),
                                    std::pair("fields_overlap", SwizzleError::fields_overlap),
                                    std::pair("too_wide", SwizzleError::too_wide)})
    errors[name] = explain(error);
  Padding const padding = padding_of(tile);
  Json const data{
      {"layout", tile.layout},
      {"swizzle", tile.swizzle},
      {"bits", tile.element_bits},
      {"base", tile.base},
      {"banks", arch.banks.count},
      {"bank_bytes", arch.banks.bytes},
      {"all_rows", tile.all_rows},
      {"padding",
       {{"words", in_words(padding)}, {"elements", padding.elements}, {"by_rows", padding.by_rows}}},
      {"all_cols", tile.all_cols},
      {"row0", tile.row0},
      {"col0", tile.col0},
      {"rows", tile.rows},
      {"cols", tile.cols},
      {"offset", packed(tile.offset)},
      {"plain", packed(tile.plain)},
      {"inner", packed(inner)},
      {"byte_swizzles", byte_swizzles},
      {"arch", certainty(arch)},
      {"errors", errors},
      {"first", accesses.empty() ? "ldmatrix.x4" : accesses[0].title()},
      {"accesses", all}};
  return page_with(page_text, data);
}

}  // namespace swizproof
