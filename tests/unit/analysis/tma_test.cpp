// tma_boxes(): what it says is written is written, to the byte; what it refuses no box writes.
#include <swizproof/analysis/equal.hpp>
#include <swizproof/parse/parse.hpp>
#include <swizproof/analysis/tma.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>
#include <random>

namespace swizproof {
namespace {

TmaAnswer boxes(std::string_view layout, unsigned bits) { return tma_boxes(parse_mapping(layout, {bits})); }

/// A tile as the test sees it: byte addresses by coordinate, the first mode fastest.
struct BoxedTile {
  std::vector<std::uint64_t> extents{};
  std::uint32_t bytes = 1;
  std::vector<std::int64_t> address{};

  [[nodiscard]] std::vector<std::uint64_t> coordinate(std::size_t i) const {
    std::vector<std::uint64_t> at;
    for (std::uint64_t const e : extents) at.push_back(i % e), i /= e;
    return at;
  }
  [[nodiscard]] std::size_t index(std::vector<std::uint64_t> const& at) const {
    std::size_t i = 0, stride = 1;
    for (std::size_t m = 0; m < at.size(); ++m) i += at[m] * stride, stride *= extents[m];
    return i;
  }
};

BoxedTile tile_of(Map const& map, std::uint64_t base = 0) {
  BoxedTile tile;
  Layout const& l = *map.domain();
  tile.bytes = *map.element_bits / 8;
  for (std::size_t m = 0; m < l.rank(); ++m)
    tile.extents.push_back(static_cast<std::uint64_t>(l.shape.mode(m).product()));
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(l.size()); ++i)
    tile.address.push_back(
        static_cast<std::int64_t>(value(map, Address<std::uint64_t>{base}, i, Unit::bytes)));
  return tile;
}

/// The 32-, 64- and 128-byte swizzles as the manual's tables have them: the number of the 128-byte line is XORed
/// onto the number of the 16-byte piece.
std::int64_t manual(unsigned mode, std::int64_t a) {
  std::int64_t const line = a >> 7 & ((1 << mode) - 1), piece = a >> 4 & ((1 << mode) - 1);
  return a + ((piece ^ line) - piece) * 16;
}

/// True if boxes of these extents, dimensions along these modes, put every element where the tile has it.
bool writes(BoxedTile const& tile, unsigned mode, std::vector<std::uint64_t> const& box,
            std::vector<std::size_t> const& modes) {
  std::int64_t const line_bytes = static_cast<std::int64_t>(box[0]) * tile.bytes;
  std::int64_t const width = mode == 0 ? 0 : 16 << mode;
  if (line_bytes % 16 != 0 || (mode != 0 && line_bytes > width)) return false;
  for (std::size_t i = 0; i < tile.address.size(); ++i) {
    std::vector<std::uint64_t> const at = tile.coordinate(i);
    std::vector<std::uint64_t> corner = at;
    std::int64_t line = 0, lines = 1;
    for (std::size_t d = 0; d < box.size(); ++d) {
      std::uint64_t const within = at[modes[d]] % box[d];
      corner[modes[d]] -= within;
      if (d != 0)
        line += lines * static_cast<std::int64_t>(within), lines *= static_cast<std::int64_t>(box[d]);
    }
    std::int64_t const destination = manual(mode, tile.address[tile.index(corner)]);
    std::int64_t const x = static_cast<std::int64_t>(at[modes[0]] % box[0]) * tile.bytes;
    if (destination % 128 != 0) return false;
    if (manual(mode, destination + line * std::max(line_bytes, width) + x) != tile.address[i]) return false;
  }
  return true;
}

/// The fewest boxes of any mode, order of dimensions and extents; 0 if none will do.
std::uint64_t fewest_boxes(BoxedTile const& tile) {
  std::uint64_t fewest = 0;
  std::vector<std::size_t> order(tile.extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    std::vector<std::uint64_t> box(order.size(), 1);
    while (true) {  // every tuple of divisors
      std::uint64_t const elements =
          std::accumulate(box.begin(), box.end(), std::uint64_t{1}, std::multiplies<>{});
      std::uint64_t const count = tile.address.size() / elements;
      for (unsigned mode = 0; mode <= 3; ++mode)
        if ((fewest == 0 || count < fewest) && writes(tile, mode, box, order)) fewest = count;
      std::size_t d = 0;
      for (; d < box.size(); ++d) {
        std::uint64_t const extent = tile.extents[order[d]];
        do ++box[d];
        while (box[d] <= extent && extent % box[d] != 0);
        if (box[d] <= extent && box[d] <= 256) break;
        box[d] = 1;
      }
      if (d == box.size()) break;
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return fewest;
}

void expect_written(std::string_view layout, unsigned bits, TmaMode mode,
                    std::vector<std::uint32_t> const& box, std::uint64_t count) {
  Mapping const map = parse_mapping(layout, {bits});
  TmaAnswer const answer = tma_boxes(map);
  ASSERT_TRUE(answer.writes) << layout << ": " << answer.reason;
  TmaBoxes const& w = *answer.writes;
  EXPECT_EQ(name(w.mode), name(mode)) << layout;
  EXPECT_EQ(w.box, box) << layout;
  EXPECT_EQ(w.boxes, count) << layout;
  std::uint64_t elements = 1;
  for (std::uint32_t const b : box) elements *= b;
  EXPECT_EQ(w.bytes, elements * bits / 8);
  EXPECT_EQ(w.boxes * elements, static_cast<std::uint64_t>(map.domain()->size()));
  BoxedTile const tile = tile_of(map);
  EXPECT_TRUE(writes(tile, static_cast<unsigned>(mode), {box.begin(), box.end()}, w.modes)) << layout;
}

TEST(Tma, WritesTheTilesOfTheManual) {
  expect_written("(64,64):(64,1)", 16, TmaMode::none, {64, 64}, 1);
  expect_written("Sw<3,3,3> o _0 o (64,64):(64,1)", 16, TmaMode::b128, {64, 64}, 1);
  expect_written("Sw<2,4,3> o smem_ptr[16b](unset) o (64,32):(32,1)", 16, TmaMode::b64, {32, 64}, 1);
  expect_written("Sw<1,4,3> o smem_ptr[32b](unset) o (40,8):(8,1)", 32, TmaMode::b32, {8, 40}, 1);
  expect_written("gmma:K_SW128<f16> (64,128)", 16, TmaMode::b128, {64, 64}, 2);
  expect_written("gmma:MN_SW64<bf16> (128,64)", 16, TmaMode::b64, {32, 8}, 32);
  expect_written("(64,80):(80,1)", 16, TmaMode::none, {80, 64}, 1);
}

TEST(Tma, WritesTheEpilogueOfCutlassExample50InFourBoxes) {
  expect_written("Sw<3,4,3> o smem_ptr[32b](unset) o ((_32,_4),_64):((_1,_2048),_32)", 32, TmaMode::b128,
                 {32, 64}, 4);
}

TEST(Tma, LinesTakeTheWidthOfTheSwizzle) {
  expect_written("Sw<3,3,3> o _0 o (64,16):(64,1)", 16, TmaMode::b128, {16, 64}, 1);
  TmaAnswer const narrow = boxes("Sw<3,3,3> o _0 o (64,16):(16,1)", 16);
  EXPECT_FALSE(narrow.writes);
  EXPECT_EQ(
      narrow.reason,
      "mode 128B puts lines 128 bytes apart: what the tile has of the 128 bytes from byte 0 on is no line");
  EXPECT_FALSE(boxes("Sw<3,3,3> o _0 o (64,80):(80,1)", 16).writes);
}

TEST(Tma, AnExtentBeyond256TakesSeveralBoxes) {
  expect_written("(512,64):(64,1)", 16, TmaMode::none, {64, 256}, 2);
  // Lines of 320 elements are 160 and 160; the second 160 begin at no multiple of 128, so that no box of two modes writes them.
  EXPECT_EQ(boxes("(64,320):(320,1)", 16).writes->box, (std::vector<std::uint32_t>{160, 2, 64}));
  EXPECT_EQ(boxes("(64,320):(320,1)", 16).writes->steps, (std::vector<std::uint32_t>{1, 160, 1}));
}

TEST(Tma, ThreeModesAreThreeDimensions) {
  expect_written("(4,16,64):(1024,64,1)", 16, TmaMode::none, {64, 16, 4}, 1);
  expect_written("Sw<3,3,3> o _0 o (64,4,16):(1,64,256)", 16, TmaMode::b128, {64, 4, 16}, 1);
}

TEST(Tma, AnOffsetMovesTheDestination) {
  expect_written("Sw<3,3,3> o 64 o (8,64):(64,1)", 16, TmaMode::b128, {64, 8}, 1);
  expect_written("(8,64):(-64,1)", 16, TmaMode::none, {64, 1}, 8);
  EXPECT_FALSE(boxes("Sw<3,3,3> o 8 o (8,64):(64,1)", 16).writes) << "16 bytes off";
}

TEST(Tma, BasesThatWillDo) {
  EXPECT_EQ(boxes("(64,64):(64,1)", 16).writes->destination_alignment, 128U);
  EXPECT_EQ(boxes("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", 16).writes->destination_alignment, 128U)
      << "both see the absolute address";
  EXPECT_EQ(boxes("Sw<3,3,3> o _0 o (8,64):(64,1)", 16).writes->destination_alignment, 1024U);
}

TEST(Tma, SaysWhyNot) {
  EXPECT_EQ(
      boxes("(64,63):(63,1)", 4).reason,
      "TMA copies elements of 8, 16, 32 or 64 bits, not of 4; for CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, "
      "which leaves no gaps, give the tile in bytes, --element u8; 16U4_ALIGN16B leaves 8 bytes free behind "
      "every 8: 'swizproof tma --box 128,64 --element 16U4_ALIGN16B --arch sm_100'");
  EXPECT_EQ(boxes("(64,64):(64,1)", 4).element_bits, 8U) << "two elements a byte: it is written";
  EXPECT_NE(boxes("(64,34):(34,1)", 4).reason.find("no boxes of bytes write the tile"), std::string::npos);
  EXPECT_EQ(boxes("(2,2,2,2,2,64):(64,128,256,512,1024,1)", 16).reason,
            "the tile has 6 modes, and a tensor map has 5 dimensions: one for each at most");
  EXPECT_EQ(boxes("(1024,128):(128,1)", 16).reason,
            "the tile reaches over 262144 bytes, more than the 232448 of a block");
  EXPECT_EQ(boxes("(32,32):(0,1)", 32).reason, "two elements share a place, which two boxes would write");
  EXPECT_EQ(boxes("Sw<1,0,4> o smem_ptr[16b](unset) o (32,32):(32,1)", 16).reason,
            "the layout splits elements, TMA keeps them whole");
  EXPECT_NE(boxes("(32,32):(33,2)", 32).reason.find("does not consist of 16 bytes"), std::string::npos);
  EXPECT_THROW((void)boxes("Sw<3,4,3>", 16), InputError);
  EXPECT_THROW((void)tma_boxes(parse_mapping("(8,64):(64,1)")), InputError);
}

// One box of a tile of rows is what the parser reads as tma:MODE (rows,columns).
TEST(Tma, AgreesWithTheBoxesThatHaveNames) {
  for (std::string const mode : {"none", "32B", "64B", "128B"})
    for (std::string const extents : {"(64,64)", "(16,32)", "(48,16)", "(8,8)", "(128,128)", "(24,40)"}) {
      Mapping box;
      try {
        box = parse_mapping("tma:" + mode + "<f16> " + extents);
      } catch (InputError const&) {
        continue;  // wider than the mode, and no whole boxes
      }
      TmaAnswer const answer = tma_boxes(box);
      ASSERT_TRUE(answer.writes) << box.text << ": " << answer.reason;
      BoxedTile const tile = tile_of(box);
      EXPECT_TRUE(writes(tile, static_cast<unsigned>(answer.writes->mode),
                         {answer.writes->box.begin(), answer.writes->box.end()}, answer.writes->modes))
          << box.text;
    }
}

TEST(Tma, AgreesWithEqual) {
  struct Case {
    char const *tile, *box;
    bool same, split = false;  ///< split: not the box that is named, but another with rows of two lines
  };
  for (Case const c :
       {Case{"Sw<3,3,3> o _0 o (64,64):(64,1)", "tma:128B<f16> (64,64)", true},
        Case{"Sw<3,3,3> o _0 o (64,16):(64,1)", "tma:128B<f16> (64,16)", true},
        Case{"Sw<2,4,3> o smem_ptr[16b](unset) o (64,(32,2)):(32,(1,2048))", "tma:64B<f16> (64,64)", true},
        Case{"Sw<3,3,3> o _0 o (64,16):(16,1)", "tma:128B<f16> (64,16)", false},
        Case{"Sw<2,3,3> o _0 o (64,64):(64,1)", "tma:64B<f16> (64,64)", false, true}}) {
    Mapping const tile = parse_mapping(c.tile, {16});
    Equality const equality = compare(parse_mapping(c.box, {16}), tile, {}, {});
    EXPECT_EQ(std::holds_alternative<Proved>(equality.outcome), c.same) << c.tile;
    EXPECT_EQ(tma_boxes(tile).writes.has_value(), c.same || c.split) << c.tile;
    if (c.split) EXPECT_EQ(tma_boxes(tile).writes->steps, (std::vector<std::uint32_t>{1, 32, 1})) << c.tile;
  }
}

// ---------------------------------------------------------------------------------------- the copies themselves

/// Address of each byte of the tile by the copies of a plan from a base, byte by byte as H8 has it; what is written to two places
/// is at -1.
std::map<std::pair<std::size_t, unsigned>, std::int64_t> landed(BoxedTile const& tile, TmaPlan const& plan,
                                                                std::int64_t base) {
  std::map<std::pair<std::size_t, unsigned>, std::int64_t> at;
  auto const mode = static_cast<unsigned>(plan.mode);
  std::int64_t const width = mode == 0 ? 0 : 16 << mode;
  std::int64_t const line_bytes = std::int64_t{plan.box[0]} * tile.bytes;
  for (TmaCopy const& copy : plan.copies) {
    std::vector<std::uint32_t> within(plan.box.size(), 0);
    while (true) {
      std::vector<std::uint64_t> element = copy.at;
      std::int64_t line = 0, lines = 1;
      bool inside = true;
      for (std::size_t d = 0; d < within.size(); ++d) {
        element[plan.modes[d]] += std::uint64_t{plan.steps[d]} * within[d];
        inside = inside && element[plan.modes[d]] < tile.extents[plan.modes[d]];
        if (d != 0) line += lines * within[d], lines *= plan.box[d];
      }
      if (!inside) return {};
      for (unsigned byte = 0; byte < tile.bytes; ++byte) {
        std::int64_t const place = manual(mode, base + copy.destination + line * std::max(line_bytes, width) +
                                                    std::int64_t{within[0]} * tile.bytes + byte);
        auto const [known, fresh] = at.try_emplace({tile.index(element), byte}, place);
        if (!fresh && known->second != place) known->second = -1;
      }
      std::size_t d = 0;
      for (; d < within.size() && ++within[d] == plan.box[d]; ++d) within[d] = 0;
      if (d == within.size()) break;
    }
  }
  return at;
}

/// True if a base is good: every destination is a multiple of 128, and every byte lies where the tile has it.
bool good(Map const& map, BoxedTile const& tile, TmaPlan const& plan, std::uint64_t base) {
  for (TmaCopy const& copy : plan.copies)
    if ((static_cast<std::int64_t>(base) + copy.destination) % 128 != 0) return false;
  auto const at = landed(tile, plan, static_cast<std::int64_t>(base));
  if (at.size() != tile.address.size() * tile.bytes) return false;
  for (auto const& [where, place] : at) {
    std::uint64_t const plain =
        base + offset(map, std::uint64_t{where.first}).elements * tile.bytes + where.second;
    if (static_cast<std::int64_t>(value(map.on_bytes, plain)) != place) return false;
  }
  return true;
}

bool is_named(TmaPlan const& plan, std::uint64_t base) {
  return (plan.destination_alignment != 0 && base % plan.destination_alignment == 0) ||
         std::count(plan.also.begin(), plan.also.end(), base % plan.period) != 0;
}

// Random tiles and swizzles: there is an answer if boxes side by side, of the tile's own modes, are one, and it has no more boxes;
// tests/reference/tma_boxes.py tries all boxes of the family.
TEST(Tma, FindsNoMoreBoxesThanAPlainLoop) {
  std::mt19937 random(7);
  auto const pick = [&](std::initializer_list<int> from) { return from.begin()[random() % from.size()]; };
  int written = 0, refused = 0, several = 0;
  for (int round = 0; round < 400; ++round) {
    unsigned const bits = static_cast<unsigned>(pick({8, 16, 32, 64}));
    int const unit = 128 / static_cast<int>(bits);  // elements of 16 bytes
    int const columns = unit * pick({1, 2, 3, 4, 8}), rows = pick({1, 2, 5, 8, 12, 16});
    int const pitch = pick({0, 0, 1}) * unit + (pick({0, 1}) != 0 ? 8 * unit : columns);
    if (pitch < columns) continue;
    int const planes = pick({1, 1, 2, 3}), sign = pick({1, 1, 1, -1});
    std::string tile = "(" + std::to_string(rows) + "," + std::to_string(columns) + "," +
                       std::to_string(planes) + "):(" + std::to_string(sign * pitch) + ",1," +
                       std::to_string(pitch * rows + pick({0, 0, 8}) * unit) + ")";
    int const kind = pick({0, 1, 1, 2});
    std::string const swizzle = "Sw<" + std::to_string(pick({1, 2, 3})) + ",";
    if (kind == 1) tile = swizzle + "4,3> o smem_ptr[" + std::to_string(bits) + "b](unset) o " + tile;
    if (kind == 2)
      tile = swizzle + std::to_string(pick({0, 1, 2, 3, 4})) + "," + std::to_string(pick({3, 4, -3})) +
             "> o " + std::to_string(pick({0, 0, 64 * unit})) + " o " + tile;
    Mapping const map = parse_mapping(tile, {bits});
    TmaAnswer const answer = tma_boxes(map);
    std::uint64_t const expected =
        answer.reason.find("apart, TMA keeps") != std::string::npos ? 0 : fewest_boxes(tile_of(map));
    EXPECT_TRUE(expected == 0 || (answer.writes && answer.writes->boxes <= expected))
        << map.text << " of " << bits << " bits: " << answer.reason;
    if (answer.writes) {
      TmaCopies const found = tma_copies(map);
      EXPECT_TRUE(good(map, tile_of(map), found.plans.front(), 0)) << map.text;
      EXPECT_TRUE(!found.split || good(map, tile_of(map), *found.split, 0)) << map.text;
      EXPECT_EQ(found.plans.front().boxes, answer.writes->boxes) << map.text;
    }
    (expected == 0 ? refused : written) += 1;
    several += expected > 1;
  }
  EXPECT_GT(written, 60);
  EXPECT_GT(refused, 60);
  EXPECT_GT(several, 20);
}

/// True if boxes of any mode write the tile from some base: a multiple of an element's bytes, over a period of all swizzles here.
bool any_base_will_do(Map const& map) {
  unsigned const bytes = *map.element_bits / 8;
  for (std::uint64_t base = 0; base < 4096; base += bytes) {
    auto const first =
        static_cast<std::int64_t>(value(map, Address<std::uint64_t>{base}, std::uint64_t{0}, Unit::bytes));
    bool begins = false;
    for (unsigned mode = 0; mode <= 3; ++mode) begins = begins || manual(mode, first) % 128 == 0;
    if (begins && fewest_boxes(tile_of(map, base)) != 0) return true;
  }
  return false;
}

/// A tile of rows, planes and a swizzle; TMA writes many of these tiles.
rc::Gen<std::pair<std::string, unsigned>> any_tma_tile() {
  return rc::gen::exec([] {
    unsigned const bits = *rc::gen::element(8U, 16U, 32U, 64U);
    int const unit = 128 / static_cast<int>(bits), columns = unit * *rc::gen::element(1, 2, 4, 8);
    int const rows = *rc::gen::element(1, 2, 3, 4, 8, 16), planes = *rc::gen::element(1, 2);
    int const pitch = std::max(columns, unit * *rc::gen::element(1, 2, 4, 8, 9, 16));
    std::string tile = "(" + std::to_string(rows) + "," + std::to_string(columns) + "," +
                       std::to_string(planes) + "):(" + std::to_string(pitch) + ",1," +
                       std::to_string(pitch * rows) + ")";
    std::string const swizzle = "Sw<" + std::to_string(*rc::gen::inRange(0, 4)) + ",";
    int const kind = *rc::gen::inRange(0, 4);
    std::string const shift = *rc::gen::element<std::string>("3", "3", "4", "5");
    if (kind == 1)
      tile = swizzle + "4," + shift + "> o smem_ptr[" + std::to_string(bits) + "b](unset) o " + tile;
    if (kind == 3)
      tile = swizzle + "4,3> o smem_ptr[" + std::to_string(bits) + "b](unset) o " +
             std::to_string(unit * *rc::gen::element(1, 4, 6)) + " o " + tile;
    if (kind == 2) {
      int base = 4;
      for (unsigned size = 8; size < bits; size *= 2) --base;
      tile = swizzle + std::to_string(base) + "," + shift + "> o 0 o " + tile;
    }
    return std::pair(tile, bits);
  });
}

RC_GTEST_PROP(TmaProperties, CopiesLandOnTheTileFromExactlyTheBasesThatAreNamed, ()) {
  auto const [text, bits] = *any_tma_tile();
  Mapping const map = parse_mapping(text, {bits});
  TmaCopies const found = tma_copies(map);
  BoxedTile const tile = tile_of(map);
  RC_CLASSIFY(found.plans.empty(), "refused");
  RC_CLASSIFY(found.plans.size() > 1, "several modes");
  RC_ASSERT(std::holds_alternative<Proved>(found.outcome) == !found.plans.empty());
  RC_ASSERT(found.reason.empty() == !found.plans.empty());
  RC_ASSERT(fewest_boxes(tile) == 0 ||
            (!found.plans.empty() && found.plans.front().destination_alignment != 0));
  if (found.plans.empty()) {
    RC_ASSERT(found.none_from == bits / 8);
    RC_ASSERT(!any_base_will_do(map));
  }
  for (TmaPlan const& plan : found.plans) {
    RC_CLASSIFY(plan.destination_alignment != 0 && !plan.also.empty(), "bases between the multiples");
    RC_CLASSIFY(plan.destination_alignment == 0, "bases that are no multiples");
    RC_ASSERT(plan.exact);
    RC_ASSERT(plan.copies.size() == plan.boxes);
    RC_ASSERT(plan.boxes >= found.plans.front().boxes);
    for (std::uint64_t base = 0; base < 2 * plan.period; base += 64)
      RC_ASSERT(good(map, tile, plan, base) == is_named(plan, base));
  }
}

RC_GTEST_PROP(TmaProperties, TheElementThatIsShownLiesElsewhere, ()) {
  auto const [text, bits] = *any_tma_tile();
  Mapping const map = parse_mapping(text, {bits});
  TmaCopies const found = tma_copies(map);
  RC_PRE(found.witness.has_value());
  TmaWitness const& w = *found.witness;
  BoxedTile const tile = tile_of(map);
  RC_ASSERT(w.tma.has_value());
  RC_ASSERT(tile.address[tile.index(w.at)] == w.layout);
  RC_ASSERT(*w.tma != w.layout);
}

TmaCopies copies(std::string_view layout, unsigned bits) { return tma_copies(parse_mapping(layout, {bits})); }

TEST(TmaCopies, AreListedWithTheirPlaces) {
  TmaCopies const found = copies("gmma:K_SW128<f16> (64,128)", 16);
  ASSERT_EQ(found.plans.size(), 1U);
  TmaPlan const& plan = found.plans.front();
  ASSERT_EQ(plan.copies.size(), 2U);
  EXPECT_EQ(plan.copies[1].at, (std::vector<std::uint64_t>{0, 64}));
  EXPECT_EQ(plan.copies[1].destination, 8192);
  EXPECT_EQ(plan.engines, (std::vector{Engine::linear, Engine::exhaustive}));
  ASSERT_TRUE(plan.image);
}

TEST(TmaCopies, OfAPaddedTileTakeALineEachWhereLinesBeginAtMultiplesOf128) {
  TmaCopies const found = copies("(8,64):(128,1)", 16);
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.plans.front().box, (std::vector<std::uint32_t>{64, 1}));
  EXPECT_EQ(found.plans.front().copies[3].destination, 768);
  TmaCopies const padded = copies("(8,64):(72,1)", 16);
  ASSERT_TRUE(padded.witness);
  EXPECT_EQ(padded.witness->at, (std::vector<std::uint64_t>{1, 0}));
  EXPECT_EQ(padded.witness->tma, 128);
  EXPECT_EQ(padded.witness->layout, 144);
}

TEST(TmaCopies, ShowTwoElementsAtOnePlaceAndATornOne) {
  TmaCopies const shared = copies("(32,32):(0,1)", 32);
  ASSERT_TRUE(shared.witness);
  EXPECT_EQ(shared.witness->other, (std::vector<std::uint64_t>{1, 0}));
  EXPECT_FALSE(shared.witness->tma);
  TmaCopies const split = copies("Sw<1,0,4> o smem_ptr[16b](unset) o (32,32):(32,1)", 16);
  ASSERT_TRUE(split.witness);
  EXPECT_EQ(split.witness->byte, 1U);
  EXPECT_EQ(*split.witness->tma, split.witness->layout + 2) << "the two bytes change places";
}

// One piece of 16 bytes, moved where bit 8 of its address is set: mode none writes it from the other bases.
TEST(TmaCopies, HaveBasesBetweenTheMultiples) {
  TmaCopies const found = copies("Sw<1,4,4> o smem_ptr[16b](unset) o (1,8):(8,1)", 16);
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.plans.front().mode, TmaMode::none);
  EXPECT_EQ(found.plans.front().destination_alignment, 512U);
  EXPECT_EQ(found.plans.front().also, (std::vector<std::uint64_t>{128}));
}

// A swizzle whose period is longer than shared memory: its multiples are bases, and nothing is said of others.
TEST(TmaCopies, DoNotTryBasesBeyondSharedMemory) {
  TmaCopies const found = copies("Sw<1,4,16> o smem_ptr[16b](unset) o (64,64):(64,1)", 16);
  ASSERT_FALSE(found.plans.empty());
  EXPECT_FALSE(found.plans.front().exact);
  EXPECT_EQ(found.plans.front().destination_alignment, 1U << 21);
  EXPECT_EQ(found.plans.front().engines, (std::vector{Engine::linear, Engine::exhaustive}));
}

TEST(TmaCopies, OfCapability10TakeTheModesOfLargerAtoms) {
  Mapping const map = parse_mapping("Sw<2,5,2> o smem_ptr[32b](unset) o (32,32):(32,1)");
  EXPECT_TRUE(tma_copies(map).plans.empty());
  TmaCopies const found = tma_copies(map, {tma_modes_sm_100, {}, {}});
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.plans.front().mode, TmaMode::b128_atom_32b);
  EXPECT_EQ(found.plans.front().destination_alignment, 128U);
  TmaCopies const half = tma_copies(parse_mapping("Sw<1,6,1> o smem_ptr[32b](unset) o (32,32):(32,1)"),
                                    {tma_modes_sm_100, {}, {}});
  ASSERT_FALSE(half.plans.empty());
  EXPECT_EQ(half.plans.front().mode, TmaMode::b128_atom_64b);
}

// A tensor map may see 128 columns as 2 times 64: then lines of 256 bytes are lines of the 128-byte swizzle.
TEST(TmaCopies, AreFewerWhereTheTensorsModesAreSplit) {
  struct Case {
    char const* layout;
    unsigned bits;
    std::vector<std::uint32_t> box;
    std::uint64_t before;  // 0: none
  };
  for (Case const& c :
       {Case{"Sw<3,4,3> o smem_ptr[16b](unset) o (64,128):(128,1)", 16, {64, 2, 64}, 128},
        Case{"gmma:MN_SW128<f16> (256,64)", 16, {64, 8, 4, 8}, 32},
        Case{"(512,16):(16,1)", 16, {16, 256, 2}, 2},
        Case{"Sw<3,4,3> o smem_ptr[32b](unset) o ((_32,_4),_64):((_1,_2048),_32)", 32, {32, 64, 4}, 4}}) {
    Mapping const map = parse_mapping(c.layout, {c.bits});
    TmaCopies const found = tma_copies(map);
    EXPECT_EQ(found.plans.empty() ? 0 : found.plans.front().boxes, c.before) << c.layout;
    ASSERT_TRUE(found.split) << c.layout;
    EXPECT_EQ(found.split->box, c.box) << c.layout;
    EXPECT_EQ(found.split->boxes, 1U) << c.layout;
    EXPECT_TRUE(good(map, tile_of(map), *found.split, 0)) << c.layout;
    EXPECT_FALSE(good(map, tile_of(map), *found.split, 64)) << c.layout;
    std::optional<Map> const split = split_tile(map, *found.split);
    ASSERT_TRUE(split) << c.layout;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(map.domain()->size()); ++i)
      ASSERT_EQ(offset(map, i).elements, offset(*split, i).elements) << c.layout << ", " << i;
  }
  EXPECT_FALSE(copies("(16,64):(128,1)", 16).split) << "padded lines stay padded";
  EXPECT_FALSE(copies("gmma:K_SW128<f16> (64,64)", 16).split) << "one box already";
}

// No divisor of 263 or 1031 is at most 256, and of 260 and 386 none that leaves whole 128 bytes: boxes overlap, or split the mode.
TEST(TmaCopies, OfRowsThatNoBoxDivides) {
  struct Case {
    char const* layout;
    unsigned bits;
    std::uint64_t boxes, dimensions;
  };
  for (Case const& c : {Case{"(260,8):(8,1)", 16, 1, 3}, Case{"(263,64):(64,1)", 16, 2, 2},
                        Case{"((4,65),8):((8,32),1)", 16, 1, 3}, Case{"(386,12):(12,1)", 32, 1, 3},
                        Case{"Sw<1,4,3> o smem_ptr[8b](unset) o (1271,32):(32,1)", 8, 1, 3},
                        Case{"(514,64):(64,1)", 16, 2, 3}, Case{"(1031,8):(8,1)", 16, 2, 3},
                        Case{"Sw<1,4,3> o smem_ptr[64b](unset) o (32,12):(12,1)", 64, 1, 3}}) {
    Mapping const map = parse_mapping(c.layout, {c.bits});
    TmaCopies const found = tma_copies(map);
    ASSERT_FALSE(found.plans.empty()) << c.layout << ": " << found.reason;
    EXPECT_EQ(found.plans.front().boxes, c.boxes) << c.layout;
    EXPECT_EQ(found.plans.front().box.size(), c.dimensions) << c.layout;
    EXPECT_TRUE(good(map, tile_of(map), found.plans.front(), 0)) << c.layout;
    EXPECT_FALSE(found.split) << c.layout;
  }
}

// Pieces of 16 bytes change places by the tile's swizzle as by another mode's, but only where the address has the bits for it.
TEST(TmaCopies, AreFoundFromBasesThatAreNoMultiplesOfThePeriod) {
  struct Case {
    char const* layout;
    std::uint64_t period;
    std::vector<std::uint64_t> bases;
  };
  for (Case const& c :
       {Case{"Sw<2,4,3> o smem_ptr[16b](unset) o (2,32):(96,1)", 1024, {384}},
        Case{"Sw<2,4,3> o smem_ptr[16b](unset) o 32 o (1,24):(24,1)", 1024, {512, 640, 768, 896}},
        Case{"Sw<2,4,3> o smem_ptr[16b](unset) o 8 o (8,32):(32,1)", 128, {112}},
        Case{"Sw<0,4,3> o 1 o (8,64):(64,1)", 128, {126}}}) {
    Mapping const map = parse_mapping(c.layout, {16});
    EXPECT_FALSE(tma_boxes(map).writes) << c.layout << ", from multiples of the period";
    TmaCopies const found = tma_copies(map);
    ASSERT_FALSE(found.plans.empty()) << c.layout << ": " << found.reason;
    TmaPlan const& plan = found.plans.front();
    EXPECT_EQ(plan.destination_alignment, 0U) << c.layout;
    EXPECT_EQ(plan.period, c.period) << c.layout;
    EXPECT_EQ(plan.also, c.bases) << c.layout;
    EXPECT_TRUE(plan.exact);
    for (std::uint64_t base = 0; base < 2048; base += 2)
      EXPECT_EQ(good(map, tile_of(map), plan, base), is_named(plan, base)) << c.layout << ", " << base;
  }
}

TEST(TmaCopies, ARefutationSaysFromWhichBasesThereAreNone) {
  EXPECT_EQ(copies("(8,64):(72,1)", 16).none_from, 2U);
  EXPECT_EQ(copies("(2,2,2,2,2,64):(64,128,256,512,1024,1)", 8).none_from, 1U);
  TmaCopies const beyond = copies("Sw<1,4,16> o smem_ptr[16b](unset) o (8,64):(72,1)", 16);
  ASSERT_TRUE(std::holds_alternative<Refuted>(beyond.outcome));
  EXPECT_EQ(beyond.none_from, 1U << 21) << "more bases than are tried";
}

// Each tile and the same bytes as other elements: the copies are the same, byte by byte.
TEST(TmaCopies, OfElementsThatTmaDoesNotHaveAreThoseOfTheSameBytes) {
  struct Case {
    char const* layout;
    unsigned bits;
    char const* same;
    unsigned same_bits;
  };
  for (Case const& c :
       {Case{"(8,8):(8,1)", 128, "(8,16):(16,1)", 64},
        Case{"(4,(8,2)):(32,(1,16))", 128, "(4,(16,2)):(64,(1,32))", 64},
        Case{"(8,8):(64,8)", 128, "(2,8,8):(1,128,16)", 64},
        Case{"Sw<3,4,3> o smem_ptr[128b](unset) o (8,8):(8,1)", 128,
             "Sw<3,4,3> o smem_ptr[64b](unset) o (8,16):(16,1)", 64},
        Case{"Sw<3,0,3> o 8 o (8,8):(8,1)", 128, "Sw<3,1,3> o 16 o (8,16):(16,1)", 64},
        Case{"(2,2,2,2,2):(8,16,32,64,128)", 128, "((2,2),2,2,2,2):((1,16),32,64,128,256)", 64},
        Case{"(64,64):(64,1)", 4, "(64,32):(32,1)", 8},
        Case{"Sw<3,4,3> o smem_ptr[4b](unset) o (8,256):(256,1)", 4,
             "Sw<3,4,3> o smem_ptr[8b](unset) o (8,128):(128,1)", 8},
        Case{"((64,2),8):((1,512),64)", 4, "((32,2),8):((1,256),32)", 8},
        Case{"Sw<1,5,3> o 256 o (8,64):(64,1)", 4, "Sw<1,4,3> o 128 o (8,32):(32,1)", 8},
        Case{"(64,128):(128,1)", 2, "(64,32):(32,1)", 8}}) {
    TmaCopies const found = copies(c.layout, c.bits), same = copies(c.same, c.same_bits);
    ASSERT_FALSE(same.plans.empty()) << c.same;
    ASSERT_FALSE(found.plans.empty()) << c.layout << ": " << found.reason;
    ASSERT_TRUE(found.recast) << c.layout;
    EXPECT_EQ(found.recast->element_bits, c.same_bits);
    EXPECT_EQ(found.plans.front().mode, same.plans.front().mode) << c.layout;
    EXPECT_EQ(found.plans.front().box, same.plans.front().box) << c.layout;
    EXPECT_EQ(found.plans.front().boxes, same.plans.front().boxes) << c.layout;
    EXPECT_EQ(found.plans.front().also, same.plans.front().also) << c.layout;
    EXPECT_EQ(tile_of(*found.recast).address, tile_of(parse_mapping(c.same, {c.same_bits})).address)
        << c.layout;
  }
  EXPECT_FALSE(copies("(64,64):(64,1)", 16).recast);
}

TEST(TmaCopies, OfElementsBelowAByteAreNeverRefuted) {
  for (char const* layout :
       {"(64,64):(65,1)", "(64,63):(64,1)", "(64,64):(64,2)", "(8,64):(72,1)", "(8,16):(16,1)",
        "Sw<0,4,3> o 1 o (64,64):(64,1)", "Sw<1,0,3> o 0 o (64,64):(64,1)"}) {
    TmaCopies const found = copies(layout, 4);
    EXPECT_TRUE(std::holds_alternative<Unknown>(found.outcome)) << layout;
    EXPECT_NE(found.reason.find("16U4_ALIGN16B"), std::string::npos) << layout << ": " << found.reason;
    EXPECT_FALSE(found.witness) << layout;
  }
  // All copies of 128-bit elements are those of parts: padded rows stay refuted.
  EXPECT_TRUE(std::holds_alternative<Refuted>(copies("(8,8):(9,1)", 128).outcome));
}

TEST(TmaCopies, SayWhyATileHasNoLinesAndWhyItIsTooLarge) {
  EXPECT_EQ(copies("60:1", 16).reason,
            "mode 0 of the tile is contiguous, but 120 bytes long, and a line is a multiple of 16");
  EXPECT_EQ(copies("(8,64):(128,2)", 16).reason,
            "the tile does not consist of 16 bytes from multiples of 16 on, each contiguous along one mode");
  EXPECT_EQ(
      copies("(4096,4096):(0,0)", 16).reason,
      "of the tile's 16777216 elements two share a place, or they reach over more than the 232448 bytes "
      "of a block");
}

}  // namespace
}  // namespace swizproof
