#include "picture/picture.hpp"

#include <gtest/gtest.h>

#include <string_view>

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

/// The first thing that makes a text no well-formed XML; empty if it is. A reader of its own: tags nest, names and
/// values are as XML has them, there is no bare `&` or `<`.
std::string flaw_of_xml(std::string_view text) {
  std::vector<std::string> open;
  std::size_t at = text.starts_with("<?xml") ? text.find("?>") + 2 : 0;
  unsigned roots = 0;
  auto const escapes = [](std::string_view part) {
    for (std::size_t i = 0; (i = part.find('&', i)) != std::string_view::npos; ++i) {
      bool known = false;
      for (std::string_view const entity : {"&amp;", "&lt;", "&gt;", "&quot;"})
        known |= part.substr(i).starts_with(entity);
      if (!known) return false;
    }
    return part.find('<') == std::string_view::npos;
  };
  while (at < text.size()) {
    std::size_t const tag = std::min(text.find('<', at), text.size());
    std::string_view const between = text.substr(at, tag - at);
    if (!escapes(between)) return "bare & in text: " + std::string(between);
    if (open.empty() && between.find_first_not_of("\n ") != std::string_view::npos)
      return "text outside the root";
    if (tag == text.size()) break;
    std::size_t const end = text.find('>', tag);
    if (end == std::string_view::npos) return "an open tag";
    std::string_view inside = text.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1))
        return "closes what is not open: " + std::string(inside);
      open.pop_back();
      continue;
    }
    bool const empty = inside.ends_with('/');
    if (empty) inside.remove_suffix(1);
    std::size_t const name = std::min(inside.find(' '), inside.size());
    if (open.empty() && roots++ > 0) return "two roots";
    if (!empty) open.emplace_back(inside.substr(0, name));
    for (std::size_t i = name; i < inside.size();) {
      if (inside[i] == ' ') {
        ++i;
        continue;
      }
      std::size_t const quote = inside.find("=\"", i),
                        close = quote == std::string_view::npos ? quote : inside.find('"', quote + 2);
      if (close == std::string_view::npos) return "an attribute without a value: " + std::string(inside);
      if (!escapes(inside.substr(quote + 2, close - quote - 2)))
        return "a bare character in: " + std::string(inside);
      i = close + 1;
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
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
  EXPECT_EQ(picture.lanes, 8U);
  for (unsigned bank = 0; bank < bank_count; ++bank) {
    EXPECT_EQ(picture.sides[0].words[bank].size(), bank < 4 ? 8U : 0U);
    EXPECT_EQ(picture.sides[1].words[bank].size(), 1U);
  }
  EXPECT_EQ(picture.sides[0].colliding, 0xffU);
  EXPECT_EQ(picture.sides[1].colliding, 0U);
  EXPECT_EQ(picture.sides[0].cost.wavefronts, 8U);
  EXPECT_EQ(picture.sides[1].cost.wavefronts, 1U);
}

TEST(Picture, CountsEachLaneOfCpAsync) {
  Picture const picture = picture_of(mapping("(8,64):(64,1)", 16), "cp.async.b32: row = 0, col = 2*(lane/4)");
  EXPECT_EQ(picture.sides[0].words[7].size(), 4U) << "lanes 28 to 31 at one word (H7)";
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
  EXPECT_EQ(picture.first_lane, 8U);
  EXPECT_EQ(picture_of(map, access, 3).first_lane, 24U);
  EXPECT_THROW((void)picture_of(map, access, 4), InputError);
}

TEST(Picture, TellsLanesThatAreTornFromThoseThatCollide) {
  Mapping const torn = mapping("Sw<3,0,3> o _0 o (8,64):(64,1)", 16);
  EXPECT_NE(picture_of(torn, "ldmatrix.x1").sides[1].torn, 0U);
  EXPECT_EQ(picture_of(torn, "ldmatrix.x1").sides[0].torn, 0U);
  EXPECT_EQ(picture_of(mapping(sw128), "ldmatrix.x1").sides[1].torn, 0U);
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
  EXPECT_EQ(flaw_of_xml("<a b=\"&lt;\"><c/>&amp;</a>"), "");
  EXPECT_NE(flaw_of_xml("<a b=\"<\"/>"), "");
  EXPECT_NE(flaw_of_xml("<a><b></a></b>"), "");
  EXPECT_NE(flaw_of_xml("<a>x & y</a>"), "");
  EXPECT_NE(flaw_of_xml("<a/><b/>"), "");
  for (auto const* access : {"ldmatrix.x1", "row.b32.load", "ld.shared.b8: row = lane&7, col = lane<<1"}) {
    std::string const figure = svg(picture_of(mapping(sw128), access));
    EXPECT_EQ(flaw_of_xml(figure), "") << access;
    EXPECT_EQ(figure, svg(picture_of(mapping(sw128), access))) << "and the same each time";
  }
  EXPECT_EQ(flaw_of_xml(svg(make_picture(make_tile(mapping(sw128), 0)))), "");
}

TEST(Svg, SaysCollisionsWithoutColour) {
  std::string const figure = svg(picture_of(mapping(sw128), "ldmatrix.x1"));
  EXPECT_NE(figure.find(">7!</text>"), std::string::npos) << "lane 7 collides without the swizzle";
  EXPECT_NE(figure.find(">7</text>"), std::string::npos) << "and not with it";
  EXPECT_NE(figure.find("url(#clash)"), std::string::npos);
  EXPECT_EQ(svg(picture_of(mapping(sw128), "row.b32.load")).find("!</text>"), std::string::npos);
}

TEST(Html, CannotBeLeftByAName) {
  Mapping const map = mapping("(16,64):(64,1)", 16);
  std::vector<Access> accesses{parse_access("ld.shared.b32: row = lane/2 < 16 ? lane/2 : 0, col = 0")};
  std::string const page = html(map, make_tile(map, 0), accesses, sm_90);
  std::size_t const data = page.find("id=\"data\">"), end = page.find("</script>", data);
  EXPECT_EQ(page.substr(data + 10, end - data - 10).find('<'), std::string::npos);
  EXPECT_NE(page.find("lane/2 \\u003c 16"), std::string::npos);
}

TEST(Html, LeavesOutWhatDoesNotFit) {
  Mapping const map = mapping("(8,64):(64,1)", 16);
  std::string const page = html(map, make_tile(map, 0), {}, sm_90);
  EXPECT_NE(page.find("\"name\":\"ldmatrix.x1\""), std::string::npos);
  EXPECT_EQ(page.find("\"name\":\"ldmatrix.x4\""), std::string::npos) << "needs 16 rows";
  // Rows of 33 words: vectors of 16 bytes are not aligned.
  Mapping const padded = mapping("(32,32):(33,1)", 32);
  std::string const other = html(padded, make_tile(padded, 0), {}, sm_90);
  EXPECT_EQ(other.find("\"name\":\"ldmatrix.x4\""), std::string::npos);
  EXPECT_NE(other.find("\"name\":\"column.b32.load\""), std::string::npos);
}

TEST(MemoryImage, ShowsWhatLiesWhere) {
  Style const plain("never", 1);
  Tile const tile = make_tile(mapping("(2,2):(3,1)", 32), 0);
  EXPECT_EQ(memory_image(tile, {}, false, plain).substr(0, 31), "0,0  0,1    -  1,0  1,1    -   ");
}

}  // namespace
}  // namespace swizproof
