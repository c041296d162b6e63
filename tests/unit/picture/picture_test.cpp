#include "picture/picture.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include <algorithm>
#include <sstream>

namespace swizproof {
namespace {

constexpr auto sw128 = "Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)";
constexpr auto column = "ld.shared.b32: row = lane, col = i for i in 0..31";

Mapping mapping(std::string const& text, unsigned bits = 0) {
  MappingOptions options;
  if (bits != 0) options.element_bits = bits;
  return parse_mapping(text, options);
}

Picture picture_of(Mapping const& map, std::string const& access_text, std::optional<unsigned> phase = {}) {
  Access const access = parse_access(access_text);
  return make_picture(make_tile(map, 0), sm_90, access.name, access.instruction,
                      Shots(map, access, 0).worst(sm_90), phase);
}

/// A figure as an XML reader reads it.
pugi::xml_document read(std::string const& figure) {
  pugi::xml_document document;
  auto const result =
      document.load_buffer(figure.data(), figure.size(), pugi::parse_full | pugi::parse_ws_pcdata);
  EXPECT_TRUE(result) << result.description() << " at " << result.offset;
  return document;
}

/// Text that is read, written again with all escapes: of a well-formed text with one root, the text itself.
std::string read_and_written(std::string const& figure) {
  pugi::xml_document const document = read(figure);
  std::ostringstream out;
  for (pugi::xml_node const node : document.children())
    if (node.type() == pugi::node_declaration)
      node.print(out, "", pugi::format_raw), out << '\n';
    else
      node.print(out, "", pugi::format_raw);
  return out.str() + "\n";
}

/// The data that a page of show() carries.
nlohmann::json data_of(std::string const& page) {
  std::string const before = "id=\"data\">";
  std::size_t const from = page.find(before) + before.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

bool offers(nlohmann::json const& data, std::string const& access) {
  auto const& all = data.at("accesses");
  return std::any_of(all.begin(), all.end(), [&](auto const& one) { return one.at("name") == access; });
}

TEST(Tile, HasOffsetsAndAddressesWithTheSwizzleAndWithout) {
  Tile const tile = make_tile(mapping(sw128), 1024);
  EXPECT_EQ(tile.rows, 8);
  EXPECT_EQ(tile.cols, 64);
  EXPECT_EQ(tile.swizzle, "Sw<3,4,3> on bytes");
  std::size_t const place = tile.place(3, 8);
  EXPECT_EQ(tile.offset[place], 3 * 64 + 8);
  EXPECT_EQ(tile.plain[place], 8 * (1024 + 3 * 128 + 16));
  EXPECT_EQ(tile.swizzled[place], 8 * (1024 + 3 * 128 + (16 ^ 48)));
}

TEST(Tile, TakesModesAfterTheFirstAsTheColumn) {
  Tile const tile = make_tile(mapping("(2,3,4):(12,4,1)", 32), 0);
  EXPECT_EQ(tile.rows, 2);
  EXPECT_EQ(tile.cols, 12);
  EXPECT_EQ(tile.offset[tile.place(1, 2 + 3 * 1)], 12 + 2 * 4 + 1) << "column 5 is (2, 1)";
  EXPECT_EQ(make_tile(mapping("64:1", 8), 0).rows, 1);
}

TEST(Tile, OfAPartIsThatPartOfTheWhole) {
  Mapping const map = mapping(sw128);
  Tile const whole = make_tile(map, 0), part = make_tile(map, 0, {std::pair(2, 3), std::pair(16, 31)});
  EXPECT_EQ(part.rows, 2);
  EXPECT_EQ(part.cols, 16);
  for (std::int64_t row = 2; row <= 3; ++row)
    for (std::int64_t col = 16; col <= 31; ++col)
      EXPECT_EQ(part.swizzled[part.place(row, col)], whole.swizzled[whole.place(row, col)]);
  EXPECT_FALSE(part.holds(1, 16));
  EXPECT_THROW((void)make_tile(map, 0, {std::pair(2, 8), {}}), InputError);
  EXPECT_THROW((void)make_tile(map, 0, {std::pair(3, 2), {}}), InputError);
}

TEST(Tile, IsRefusedWhereThereIsNothingToDraw) {
  EXPECT_THROW((void)make_tile(mapping("Sw<3,4,3>"), 0), InputError) << "no shape";
  EXPECT_THROW((void)make_tile(mapping("(8,64):(64,1)"), 0), InputError) << "no element size";
  EXPECT_THROW((void)make_tile(mapping("(257,256):(256,1)", 16), 0), InputError) << "more than 2^16 elements";
  EXPECT_NO_THROW((void)make_tile(mapping("(256,256):(256,1)", 16), 0));
  EXPECT_THROW((void)make_tile(mapping("(2,2):(1073741824,1)", 16), 0), InputError) << "too far";
}

TEST(Grid, KeepsTogetherWhatTheSwizzleKeepsTogether) {
  EXPECT_EQ(make_grid(make_tile(mapping(sw128), 0), 16).elements, 8);
  EXPECT_EQ(make_grid(make_tile(mapping(sw128), 0), 4).elements, 2);
  // <2,2,3> on 2-byte elements moves chunks of 8 bytes.
  EXPECT_EQ(make_grid(make_tile(mapping("Sw<2,2,3> o _0 o (8,64):(64,1)", 16), 0), 16).bytes, 8);
  // A base of 0 takes even neighbours apart.
  EXPECT_EQ(make_grid(make_tile(mapping("Sw<3,0,3> o _0 o (8,64):(64,1)", 16), 0), 16).elements, 1);
  // Rows at an odd number of words do not start a chunk of 16 bytes.
  EXPECT_EQ(make_grid(make_tile(mapping("(8,32):(33,1)", 32), 0), 16).bytes, 4);
  // A base that is no multiple of 16 does not either.
  EXPECT_EQ(make_grid(make_tile(mapping("(8,64):(64,1)", 16), 8), 16).bytes, 8);
}

TEST(Grid, OfAPartStartsAtThePart) {
  Mapping const map = mapping(sw128);
  EXPECT_EQ(make_grid(make_tile(map, 0, {{}, std::pair(4, 19)}), 16).elements, 4)
      << "column 4 is 8 bytes into a chunk";
  EXPECT_EQ(make_grid(make_tile(mapping("(8,64):(64,1)", 16), 8, {{}, std::pair(4, 19)}), 16).elements, 8);
}

TEST(Grid, TurnsAColumnMajorTile) {
  Tile const tile = make_tile(mapping("(64,8):(1,64)", 16), 0);
  Grid const grid = make_grid(tile, 16);
  EXPECT_TRUE(grid.transposed);
  EXPECT_EQ(grid.lines, 8);
  EXPECT_EQ(grid.cells, 8);
  EXPECT_EQ(grid.corner(tile, 3, 2), std::pair(std::int64_t{16}, std::int64_t{3}));
  EXPECT_EQ(grid.cell_of(tile, 17, 3), std::pair(std::int64_t{3}, std::int64_t{2}));
}

TEST(Shots, AreOneForEachAssignment) {
  Mapping const map = mapping("(32,32):(32,1)", 32);
  Shots shots(map, parse_access(column), 0);
  EXPECT_EQ(shots.count(), 32U);
  EXPECT_EQ(shots.at(5).lane[3]->row, 3);
  EXPECT_EQ(shots.at(5).lane[3]->col, 5);
  EXPECT_EQ(shots.at(5).lane[3]->swizzled, 4 * (3 * 32 + 5));
  shots.set("i", 7);
  EXPECT_EQ(shots.count(), 1U);
  EXPECT_EQ(shots.at(0).lane[0]->col, 7);
  EXPECT_THROW(shots.set("i", 32), InputError);
  EXPECT_THROW(shots.set("j", 0), InputError);
}

TEST(Shots, RefuseLanesOutsideTheTile) {
  Mapping const map = mapping("(16,32):(32,1)", 32);
  EXPECT_THROW((void)Shots(map, parse_access(column), 0).worst(sm_90), InputError);
}

TEST(Shots, FindTheWorst) {
  // Rows of 32 words, then of 33: i = 1 alone reads a column of the first kind.
  Mapping const map = mapping("(32,2,32):(32,1024,1)", 32);
  auto const access = parse_access("ld.shared.b32: coord = (lane*i, 0, lane*(1-i)) for i in 0..1");
  Shot const worst = Shots(map, access, 0).worst(sm_90);
  EXPECT_EQ(worst.variables[0].second, 1U);
}

TEST(Picture, CountsTheWordsOfAPhase) {
  Picture const picture = picture_of(mapping(sw128), "ldmatrix.x1");
  ASSERT_EQ(picture.sides.size(), 2U);
  EXPECT_EQ(picture.lanes.size(), 8U);
  for (unsigned bank = 0; bank < bank_count; ++bank) {
    EXPECT_EQ(picture.sides[0].words[bank].size(), bank < 4 ? 8U : 0U);
    EXPECT_EQ(picture.sides[1].words[bank].size(), 1U);
    EXPECT_EQ(picture.sides[1].lanes[bank].size(), 1U);
  }
  EXPECT_EQ(picture.sides[0].colliding, 0xffU);
  EXPECT_EQ(picture.sides[1].colliding, 0U);
  EXPECT_EQ(picture.sides[0].cost.wavefronts, 8U);
  EXPECT_EQ(picture.sides[1].cost.wavefronts, 1U);
}

TEST(Picture, CountsEachLaneOfCpAsync) {
  Picture const picture = picture_of(mapping("(8,64):(64,1)", 16), "cp.async.b32: row = 0, col = 2*(lane/4)");
  EXPECT_EQ(picture.sides[0].words[7].size(), 4U) << "lanes 28 to 31 at one word (H7)";
  EXPECT_EQ(picture.sides[0].lanes[7], (std::vector<std::uint32_t>{1U << 28, 1U << 29, 1U << 30, 1U << 31}));
  EXPECT_EQ(picture.sides[0].colliding, ~0U);
  EXPECT_EQ(picture.sides[0].cost.wavefronts, 4U);
}

TEST(Picture, ShowsTheWorstPhaseUnlessToldOtherwise) {
  // Lanes 8 to 15 read a column, the others rows.
  Mapping const map = mapping("(32,64):(64,1)", 16);
  auto const access =
      "ld.shared.b128: row = (lane/8 == 1) * lane + (lane/8 != 1) * (lane/8), col = (lane/8 != 1) * "
      "8*(lane%8)";
  Picture const picture = picture_of(map, access);
  EXPECT_EQ(picture.phase, 1U);
  EXPECT_EQ(picture.lanes_in_words("-"), "8-15");
  EXPECT_EQ(picture_of(map, access, 3).lanes.front(), 24U);
  EXPECT_THROW((void)picture_of(map, access, 4), InputError);
}

TEST(Picture, TellsLanesThatAreTornFromThoseThatCollide) {
  Mapping const split = mapping("Sw<3,0,3> o _0 o (8,64):(64,1)", 16);
  EXPECT_NE(picture_of(split, "ldmatrix.x1").sides[1].split, 0U);
  EXPECT_EQ(picture_of(split, "ldmatrix.x1").sides[0].split, 0U);
  EXPECT_EQ(picture_of(mapping(sw128), "ldmatrix.x1").sides[1].split, 0U);
}

TEST(Picture, GivesTheFullestBankTheDegreeOfItsPhase) {
  for (auto const* text : {"(32,64):(64,1)", "(32,64):(72,1)", "Sw<2,3,3> o _0 o (32,64):(64,1)"})
    for (NamedAccess const& named : named_accesses()) {
      Mapping const map = mapping(text, 16);
      Shots const shots(map, named.access, 0);
      Shot const shot = shots.worst(sm_90);
      unsigned const phases =
          make_picture(make_tile(map, 0), sm_90, "", shots.placement().instruction(), shot, 0).phases;
      for (unsigned phase = 0; phase < phases; ++phase) {
        Picture const picture = make_picture(make_tile(map, 0), sm_90, std::string(named.access.name),
                                             shots.placement().instruction(), shot, phase);
        for (Side const& side : picture.sides) {
          std::size_t most = 0;
          for (auto const& words : side.words) most = std::max(most, words.size());
          EXPECT_EQ(most, side.cost.degree[phase])
              << text << " " << named.access.name << " phase " << phase << " " << side.name;
          EXPECT_EQ(most > 1, side.colliding != 0);
        }
      }
    }
}

TEST(Window, HoldsEveryLaneOfThePhase) {
  Picture const picture = picture_of(mapping("(128,64):(64,1)", 16), "ld.shared.b16: row = 4*lane, col = 0");
  Window const window = make_window(picture, 16);
  ASSERT_EQ(window.lines.size(), 32U);
  EXPECT_EQ(window.lines[31], 124);
  EXPECT_EQ(unseen(picture, window), "32 of 128 rows, 16 of 32 cells of each");
}

TEST(Svg, IsWellFormed) {
  EXPECT_NE(read_and_written("<a>x & y</a>\n"), "<a>x & y</a>\n") << "a bare & is seen";
  EXPECT_NE(read_and_written("<a b=\"<\"/>\n"), "<a b=\"<\"/>\n") << "and a bare <";
  std::vector<std::string> figures{svg(make_picture(make_tile(mapping(sw128), 0)))};
  for (auto const* access : {"ldmatrix.x1", "row.b32.load", "ld.shared.b8: row = lane&7, col = lane<<1"}) {
    figures.push_back(svg(picture_of(mapping(sw128), access)));
    EXPECT_EQ(figures.back(), svg(picture_of(mapping(sw128), access))) << "the same each time";
  }
  for (std::string const& figure : figures) {
    EXPECT_EQ(read_and_written(figure), figure);
    auto const roots = read(figure).select_nodes("/*");
    EXPECT_EQ(roots.size(), 1U);
  }
}

TEST(Svg, SaysCollisionsWithoutColour) {
  pugi::xml_document const figure = read(svg(picture_of(mapping(sw128), "ldmatrix.x1")));
  EXPECT_EQ(figure.select_nodes("//text[.='7!']").size(), 1U) << "lane 7 collides without the swizzle";
  EXPECT_EQ(figure.select_nodes("//text[.='7' and @font-size='13']").size(), 1U) << "and not with it";
  EXPECT_FALSE(figure.select_nodes("//rect[@fill='url(#clash)']").empty());
  pugi::xml_document const calm = read(svg(picture_of(mapping(sw128), "row.b32.load")));
  EXPECT_TRUE(calm.select_nodes("//text[substring(., string-length(.)) = '!']").empty());
}

/// Cells with a dashed frame in a figure of `layout`, and lines of the terminal's text whose last cell is padding.
std::pair<std::size_t, std::ptrdiff_t> drawn_padding(std::string const& layout) {
  Picture const picture = make_picture(make_tile(mapping(layout, 32), 0));
  std::size_t cells = 0;
  std::string const figure = svg(picture);
  for (std::size_t at = 0; (at = figure.find("stroke-dasharray", at)) != std::string::npos; ++at) ++cells;
  std::istringstream text(terminal(picture, Style("never", 1)));
  std::ptrdiff_t lines = 0;
  for (std::string line; std::getline(text, line);) lines += line.ends_with(" -") ? 1 : 0;
  return {cells, lines};
}

TEST(Picture, DrawsThePaddingOfAnArray) {
  EXPECT_EQ(drawn_padding("(8,32):(33,1)"), std::pair(std::size_t{8}, std::ptrdiff_t{8}))
      << "behind each row";
  EXPECT_EQ(drawn_padding("(8,12):(16,1)"), std::pair(std::size_t{8}, std::ptrdiff_t{8}))
      << "a cell of four elements";
  EXPECT_EQ(drawn_padding("(8,4):(1,9)"), std::pair(std::size_t{4}, std::ptrdiff_t{1}))
      << "a line below: behind each column";
  EXPECT_EQ(drawn_padding("(8,32):(32,1)").first, 0U);
  EXPECT_EQ(drawn_padding("Sw<2,0,5> o (8,32):(33,1)").first, 0U) << "a swizzle moves elements into the gap";
  EXPECT_EQ(in_words(padding_of(make_tile(mapping("(8,4):(1,9)", 32), 0))),
            "; 1 element of padding behind each column (-)");
}

TEST(Html, CannotBeLeftByAName) {
  Mapping const map = mapping("(16,64):(64,1)", 16);
  std::string const text = "ld.shared.b32: row = lane/2 < 16 ? lane/2 : 0, col = 0";
  std::string const page = html(map, make_tile(map, 0), std::vector{parse_access(text)}, sm_90);
  std::string const data = page.substr(page.find("id=\"data\">"));
  EXPECT_EQ(data.substr(10, data.find("</script>") - 10).find('<'), std::string::npos);
  EXPECT_NE(data_of(page).dump().find("lane/2 < 16"), std::string::npos) << "and the page has it";
}

TEST(Html, LeavesOutWhatDoesNotFit) {
  Mapping const map = mapping("(8,64):(64,1)", 16);
  auto const data = data_of(html(map, make_tile(map, 0), {}, sm_90));
  EXPECT_TRUE(offers(data, "ldmatrix.x1"));
  EXPECT_FALSE(offers(data, "ldmatrix.x4")) << "needs 16 rows";
  // Rows of 33 words: vectors of 16 bytes are not aligned.
  Mapping const padded = mapping("(32,32):(33,1)", 32);
  auto const other = data_of(html(padded, make_tile(padded, 0), {}, sm_90));
  EXPECT_FALSE(offers(other, "ldmatrix.x4"));
  EXPECT_TRUE(offers(other, "column.b32.load"));
}

/// Lane l accesses `first` + `step` * l.
WarpAccess<std::uint32_t> addresses(std::uint32_t first, std::uint32_t step) {
  WarpAccess<std::uint32_t> access{};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane)
    access.address[lane] = first + step * lane, access.active[lane] = true;
  return access;
}

TEST(Memory, IsThePictureOfRawAddresses) {
  Picture const picture = make_picture(sm_90, "LDS", {}, addresses(1024, 132));
  ASSERT_EQ(picture.sides.size(), 1U);
  EXPECT_EQ(picture.sides[0].cost.wavefronts, 1U);
  EXPECT_EQ(picture.sides[0].colliding, 0U);
  EXPECT_EQ(picture.tile.row0, 8);
  EXPECT_EQ(picture.tile.rows, 32);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    EXPECT_EQ(picture.lanes_in(lane, lane), 1U << lane) << "a row is 128 bytes, a column is a bank";
    EXPECT_EQ(picture.sides[0].words[lane], (std::vector<std::int64_t>{256 + 33 * lane}));
  }
  Picture const column = make_picture(sm_90, "LDS", {}, addresses(1024, 128));
  EXPECT_EQ(column.sides[0].cost.wavefronts, 32U);
  EXPECT_EQ(column.sides[0].colliding, 0xffffffffU);
}

TEST(Memory, HasOnlyTheLanesThatTheInstructionLooksAt) {
  WarpAccess<std::uint32_t> access = addresses(0, 128);
  access.address[8] = (1U << 18) - 16;
  Picture const picture = make_picture(sm_90, "LDSM", {Operation::ldmatrix, 16, 1}, access);
  EXPECT_EQ(picture.tile.rows, 8);
  EXPECT_EQ(picture.grid.bytes, 16);
  access.active[3] = false;
  EXPECT_FALSE(make_picture(sm_90, "LDS", {}, access).shot.lane[3]);
}

TEST(Memory, DrawsTheRowsThatAreTouchedByTheirAddresses) {
  WarpAccess<std::uint32_t> access = addresses(512, 0);
  access.address[31] = (1U << 18) - 128;
  Picture const picture = make_picture(sm_90, "a <b>", {}, access);
  EXPECT_EQ(make_window(picture, 32).lines, (std::vector<std::int64_t>{0, 2043}));
  std::string const figure = svg(picture);
  pugi::xml_document const document = read(figure);
  EXPECT_EQ(read_and_written(figure), figure);
  for (char const* label : {"0x200", "0x3ff80", "a <b>", "bank"})
    EXPECT_TRUE(document.select_node(("//text[text()='" + std::string(label) + "']").c_str())) << label;
  EXPECT_FALSE(document.select_node("//text[text()='0x280']")) << "no lane accesses it";
  EXPECT_LT(svg(make_picture(sm_90, "LDS", {}, addresses(1024, 128))).size(), 40000U);
}

/// sm_90 with other banks.
Architecture with(Banks banks) {
  Architecture arch = sm_90;
  arch.banks = banks;
  return arch;
}

TEST(Memory, HasTheBanksOfTheArchitecture) {
  Picture const wide = make_picture(with({64, 4}), "LDS", {}, addresses(1024, 256 + 4));
  EXPECT_EQ(wide.sides[0].words.size(), 64U);
  EXPECT_EQ(wide.grid.cells, 64);
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    EXPECT_EQ(wide.lanes_in(lane, lane), 1U << lane) << "a row is 256 bytes";
    EXPECT_EQ(wide.sides[0].words[lane], (std::vector<std::int64_t>{256 + 65 * lane}));
  }
  pugi::xml_document const figure = read(svg(make_picture(with({64, 4}), "LDS", {}, addresses(0, 252))));
  EXPECT_EQ(figure.select_nodes("//text[.='31']").size(), 1U) << "lane 31 in bank 33 is drawn";
  for (char const* label : {"0x1e00", "60", "banks 56-63"})
    EXPECT_TRUE(figure.select_node(("//text[text()='" + std::string(label) + "']").c_str())) << label;
  EXPECT_FALSE(figure.select_node("//text[.='banks 60-63']"));
  // Two lanes to a bank of 8 bytes, in one word of it: no collision.
  Picture const eight = make_picture(with({32, 8}), "LDS", {}, addresses(0, 4));
  EXPECT_EQ(eight.sides[0].cost.wavefronts, 1U);
  EXPECT_EQ(eight.lanes_in(0, 15), 3U << 30);
  EXPECT_EQ(eight.sides[0].words[15], (std::vector<std::int64_t>{15}));
  EXPECT_EQ(make_picture(with({32, 8}), "LDS", {}, addresses(0, 256)).sides[0].cost.wavefronts, 32U);
}

TEST(Grid, HasCellsOfFourBytesOrABank) {
  Tile const tile = make_tile(mapping("(8,64):(64,1)", 16), 0);
  EXPECT_EQ(make_grid(tile, 4, {32, 8}).bytes, 4) << "two lanes in a bank, each in a cell";
  EXPECT_EQ(make_grid(make_tile(mapping(sw128), 0), 16, {64, 32}).bytes, 16)
      << "that the swizzle keeps together";
  EXPECT_EQ(make_grid(tile, 4, {8, 2}).bytes, 4);
  EXPECT_EQ(make_grid(tile, 1, {8, 2}).bytes, 2);
  EXPECT_EQ(make_grid(make_tile(mapping("(8,33):(33,1)", 32), 0), 16, {32, 8}).bytes, 4)
      << "rows are no multiple of 8";
}

TEST(Colours, AreSharedByAnEighthOfTheBanks) {
  for (unsigned count = 1; count <= most_banks; count *= 2) {
    std::array<unsigned, most_bank_colors> banks{};
    for (unsigned bank = 0; bank < count; ++bank) ++banks.at(bank_color(bank, {count, 16}));
    for (unsigned color = 0; color < most_bank_colors; ++color)
      EXPECT_EQ(banks[color], color < bank_colors({count, 16}) ? std::max(count / 8, 1U) : 0U) << count;
  }
  EXPECT_EQ(bank_of_bit(8 * 260, {64, 4}), 1U);
  EXPECT_EQ(bank_of_bit(8 * 260, {32, 8}), 0U);
  EXPECT_EQ(bank_of_bit(-8, {32, 8}), 31U);
}

TEST(TracePage, CannotBeLeftByAName) {
  std::string const page =
      trace_page({{"kernel", "</script><script>alert(1)"}, {"sass", "{{STYLE}} {{DATA}}"}});
  EXPECT_EQ(data_of(page).at("kernel"), "</script><script>alert(1)");
  EXPECT_EQ(data_of(page).at("sass"), "{{STYLE}} {{DATA}}") << "a name is no mark";
  EXPECT_EQ(page.find("<style>\n{{"), page.npos);
}

TEST(MemoryImage, ShowsWhatLiesWhere) {
  Style const plain("never", 1);
  Tile const tile = make_tile(mapping("(2,2):(3,1)", 32), 0);
  EXPECT_EQ(memory_image(tile, usual_banks, {}, false, plain).substr(0, 31),
            "0,0  0,1    -  1,0  1,1    -   ");
}

}  // namespace
}  // namespace swizproof
