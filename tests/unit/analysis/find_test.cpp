// find_*(): the best is found, and nothing better exists.
#include <swizproof/analysis/find.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace swizproof {
namespace {

SearchProblem problem(std::string_view layout, unsigned bits, std::initializer_list<char const*> accesses) {
  SearchProblem p;
  Map const given = parse_mapping(layout, {bits});
  p.tile = searched_tile(given);
  p.on_bytes = given.acts_on_bytes();
  for (char const* access : accesses) p.accesses.push_back(parse_access(access));
  return p;
}

/// One function of every index from two bases, and of the same size.
void expect_same(Map const& a, Map const& b) {
  ASSERT_EQ(a.domain()->size(), b.domain()->size()) << text_of(a) << " and " << text_of(b);
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(a.domain()->size()); ++i)
    for (std::uint64_t const base : {0U, 1U << 20})
      ASSERT_EQ(bit_address(a, Address<std::uint64_t>{base}, i),
                bit_address(b, Address<std::uint64_t>{base}, i))
          << text_of(a) << " and " << text_of(b) << " at " << i;
}

Candidate const* among(SwizzleSearch const& found, Swizzle s) {
  auto const at =
      std::find_if(found.best.begin(), found.best.end(), [&](Candidate const& c) { return c.swizzle == s; });
  return at == found.best.end() ? nullptr : &*at;
}

TEST(Find, TheOneSwizzleForA128ByteTile) {
  SwizzleSearch const found = find_swizzle(
      problem("(128,64):(64,1)", 16, {"ldmatrix.x4 step row 16, byte 32", "copy.row128 step row 4"}));
  EXPECT_EQ(found.searched, 6801U);
  ASSERT_FALSE(found.best.empty());
  Candidate const& best = found.best.front();
  EXPECT_EQ(best.swizzle, (Swizzle{3, 3, 3}));
  EXPECT_EQ(best.on_bytes, swizzle_128B);
  ASSERT_TRUE(best.tma.writes);
  EXPECT_EQ(best.tma.writes->mode, TmaMode::b128);
  EXPECT_EQ(best.tma.writes->box, (std::vector<std::uint32_t>{64, 128}));
  EXPECT_EQ(best.cost.excess, 0U);
  EXPECT_EQ(best.cost.total, 4U * 32 + 4U * 32);
  // Rows of 128 bytes: the eight rows of a matrix meet in one bank; a copy of a row does not.
  EXPECT_EQ(found.plain.totals, (std::vector<std::uint64_t>{32U * 32, 4U * 32}));
  EXPECT_EQ(found.plain.excess, 28U);
}

// Rows of 32 bytes are lines of mode 32B; the wider modes put lines further apart. Rows of 160 bytes are five lines of mode 32B.
TEST(Find, TmaIsAboutThisTile) {
  SwizzleSearch const narrow = find_swizzle(problem("(64,16):(16,1)", 16, {"ldmatrix.x4 step row 16"}));
  EXPECT_EQ(narrow.best.front().swizzle, (Swizzle{1, 3, 3}));
  EXPECT_EQ(narrow.best.front().tma.writes->mode, TmaMode::b32);
  Candidate const* const wide = among(narrow, {3, 3, 3});
  ASSERT_NE(wide, nullptr) << "as good, but not for TMA";
  EXPECT_FALSE(wide->tma.writes);
  EXPECT_FALSE(wide->tma.reason.empty());
  SearchProblem const padded_rows = problem("(64,80):(80,1)", 16, {"ldmatrix.x4"});
  EXPECT_EQ(tma_boxes(swizzled(padded_rows, {1, 3, 3})).writes->box, (std::vector<std::uint32_t>{16, 5, 64}));
  for (Swizzle const s : {Swizzle{2, 3, 3}, Swizzle{3, 3, 3}})
    EXPECT_FALSE(tma_boxes(swizzled(padded_rows, s)).writes) << to_string(s);
}

// 128 bits are pairs of 64, two elements of 4 bits a byte: as tma_copies() takes them, boxes and all.
TEST(Find, TmaTakesOtherElementsForThoseThatItHas) {
  struct Case {
    unsigned bits, of;
    char const* tile;
  };
  for (Case const& c :
       {Case{128, 64, "(32,8):(8,1)"}, Case{128, 64, "(32,8):(1,32)"}, Case{4, 8, "(64,256):(256,1)"}}) {
    SearchProblem const p = problem(
        c.tile, c.bits, {c.bits == 128 ? "ld.shared.b128: coord = (lane, i) for i in 0..7" : "copy.row128"});
    SwizzleSearch const found = find_swizzle(p);
    std::size_t written = 0;
    for (std::size_t i = 0; i < found.best.size(); i += 1 + found.best.size() / 30) {
      Candidate const& best = found.best[i];
      Map const map = swizzled(p, best.swizzle);
      if (tma_recasts(map).empty()) continue;  // its swizzle has no number of elements below 32 bits
      TmaCopies const copies = tma_copies(map);
      bool const from_multiples = !copies.plans.empty() && copies.plans.front().destination_alignment != 0;
      ASSERT_EQ(best.tma.writes.has_value(), from_multiples) << c.tile << ", " << to_string(best.swizzle);
      EXPECT_EQ(best.tma.element_bits, c.of);
      if (!from_multiples) continue;
      ++written;
      EXPECT_EQ(best.tma.writes->box, copies.plans.front().box) << c.tile << ", " << to_string(best.swizzle);
      EXPECT_EQ(best.tma.writes->mode, copies.plans.front().mode);
    }
    EXPECT_GT(written, 0U) << c.tile;
  }
  TmaAnswer const odd = tma_boxes(parse_mapping("(8,33):(33,1)", {4}));
  EXPECT_FALSE(odd.writes);
  EXPECT_EQ(odd.element_bits, 0U) << "there is no other element that they can be taken for";
}

TEST(Find, TmaHasTheArchitecturesModes) {
  SearchProblem scattered = problem("(64,32):(32,1)", 32, {"ld.shared.b32: row = lane/8, col = lane%8"});
  SearchProblem rows = problem("(64,64):(64,1)", 16, {"ldmatrix.x4"});
  for (char const* arch : {"sm_80", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"}) {
    scattered.arch = rows.arch = &parse_architecture(arch);
    unsigned const capability = rows.arch->capability;
    SwizzleSearch const found = find_swizzle(scattered);
    Candidate const* const wide_atom = among(found, {2, 3, 2});  // of bytes Sw<2,5,2>
    ASSERT_NE(wide_atom, nullptr) << arch;
    bool const loads_atoms = capability >= 100 && capability < 120;  // 12.x has them for stores alone
    ASSERT_EQ(wide_atom->tma.writes.has_value(), loads_atoms) << arch << ": " << wide_atom->tma.reason;
    if (loads_atoms) EXPECT_EQ(wide_atom->tma.writes->mode, TmaMode::b128_atom_32b) << arch;
    EXPECT_EQ(find_swizzle(rows).best.front().tma.writes.has_value(), capability >= 90) << arch;
    for (Pitch const& pitch : find_padding(rows).fitting)
      if (pitch.elements == 64) EXPECT_EQ(pitch.tma.writes.has_value(), capability >= 90) << arch;
    EXPECT_EQ(find_xor(rows).best.tma.reason.find("no TMA") != std::string::npos, capability < 90) << arch;
  }
}

TEST(Find, SaysWhenNoSwizzleWillDo) {
  SwizzleSearch const found =
      find_swizzle(problem("(32,32):(32,1)", 32, {"row_per_lane.load", "column.b32.load"}));
  EXPECT_GT(found.gentlest.cost.excess, 0U) << "16-byte rows and a column of words: proofs say impossible";
}

TEST(Find, EveryBestSwizzleIsBestByCheck) {
  SearchProblem const p = problem("(64,32):(32,1)", 16, {"ldmatrix.x4", "fragment.c.b16x2"});
  SwizzleSearch const found = find_swizzle(p);
  std::uint64_t least = ~std::uint64_t{0};
  for (Swizzle const s :
       {Swizzle{2, 3, 3}, Swizzle{1, 3, 3}, Swizzle{3, 3, 3}, Swizzle{0, 3, 3}, Swizzle{2, 3, 4}}) {
    std::uint64_t total = 0;
    for (Access const& access : p.accesses)
      total += check_exhaustively(Placement(swizzled(p, s), access), {})->cost()->total.value();
    least = std::min(least, total);
    EXPECT_GE(total, found.best.front().cost.total) << to_string(s);
  }
  EXPECT_EQ(found.best.front().cost.total, least);
}

TEST(Find, ASwizzleOfBytesIsTheSameFunction) {
  SearchProblem p = problem("(128,64):(64,1)", 16, {"ldmatrix.x4"});
  p.on_bytes = true;
  EXPECT_EQ(find_swizzle(p).best.front().swizzle, swizzle_128B);
}

// CUTLASS example 50: 128 threads store the int32 accumulators of 128 x 64, and load them 4 at a time.
constexpr char const* example_50 = "Sw<3,4,3> o smem_ptr[32b](unset) o ((_32,_4),_64):((_1,_2048),_32)";
constexpr char const* stores_50 =
    "st.shared.b32: coord = (16*w + lane/4 + 8*i + 64*m, 2*(lane%4) + j + 8*n) for w in 0..3 for i in 0..1 "
    "for m "
    "in 0..1 for j in 0..1 for n in 0..7";
constexpr char const* loads_50 =
    "ld.shared.b128: coord = (16*(lane%8) + 4*v, 4*w + lane/8 + 16*k) for w in 0..3 for v in 0..3 for k in "
    "0..3";

TEST(Find, CountsHowOftenEachAccessRuns) {
  SwizzleSearch const found = find_swizzle(problem(example_50, 32, {stores_50, loads_50}));
  Candidate const& best = found.best.front();
  EXPECT_EQ(best.swizzle, swizzle_128B) << "as cheap as any, and TMA writes it";
  EXPECT_EQ(best.cost.totals, (std::vector<std::uint64_t>{256 * 1, 64 * 16}));
  EXPECT_EQ(best.cost.total, 1280U);
  EXPECT_EQ(best.cost.excess, 12U);
  ASSERT_TRUE(best.tma.writes);
  EXPECT_EQ(best.tma.writes->boxes, 4U);
  Candidate const* const exotic = among(found, {2, 4, 9});
  ASSERT_NE(exotic, nullptr);
  EXPECT_EQ(exotic->cost.totals, (std::vector<std::uint64_t>{256 * 4, 64 * 4}));
  EXPECT_EQ(exotic->cost.excess, 3U);
  EXPECT_EQ(found.gentlest.cost.excess, 3U);
}

TEST(Find, WeightsSayWhichAccessRunsMoreOften) {
  SearchProblem p = problem(example_50, 32, {stores_50, loads_50});
  p.weights = {1, 2};
  SwizzleSearch const loads = find_swizzle(p);
  EXPECT_EQ(loads.best.front().cost.total, 256U * 4 + 2 * 64 * 4);
  EXPECT_EQ(among(loads, swizzle_128B), nullptr);
  p.weights = {2, 1};
  EXPECT_EQ(find_swizzle(p).best.front().cost.total, 2U * 256 + 64 * 16);
  EXPECT_EQ(ideal_total(p), 2U * 256 + 64 * 4);
}

TEST(Find, ALinearMapFreesBothSidesOfExample50) {
  XorSearch const found = find_xor(problem(example_50, 32, {stores_50, loads_50}));
  EXPECT_EQ(found.best.cost.total, 512U);
  EXPECT_EQ(found.best.cost.excess, 0U);
}

TEST(Find, PaddingFindsThePitchOf33) {
  auto const found = find_padding(problem("(32,32):(32,1)", 32, {"column.b32.load", "row.b32.load"}));
  EXPECT_EQ(found.fitting.front().elements, 33);
  EXPECT_EQ(found.fitting.front().memory, 4220U);
  EXPECT_EQ(found.fitting.front().cost.excess, 0U);
  EXPECT_EQ(found.fitting.front().cost.total, 32U * 2);
  EXPECT_EQ(found.fitting.back().cost.excess, 31U);
  EXPECT_TRUE(found.misfits.empty());
}

// A tile that is padded already: less padding may do, and is searched.
TEST(Find, PaddingSearchesPitchesBelowTheTilesOwn) {
  auto const found = find_padding(problem("(32,32):(40,1)", 32, {"column.b32.load", "row.b32.load"}));
  EXPECT_EQ(found.own, 40);
  EXPECT_EQ(found.first, 32);
  EXPECT_EQ(found.last, 63);
  EXPECT_EQ(found.searched, 32U);
  EXPECT_EQ(found.fitting.front().elements, 33) << "of the cheapest what takes the least memory";
  auto const wide = find_padding(problem("(32,32):(100,1)", 32, {"column.b32.load"}));
  EXPECT_EQ(wide.searched, 33U) << "and the tile's own";
  EXPECT_TRUE(std::any_of(wide.fitting.begin(), wide.fitting.end(),
                          [](Pitch const& p) { return p.elements == 100; }));
}

// A pitch that is a line of all banks larger costs no less: 256 bytes on a card of 64 banks.
TEST(Find, PaddingSearchesALineOfAllBanks) {
  Architecture card = sm_90;
  card.banks.count = 64;
  SearchProblem p = problem("(32,32):(32,1)", 32, {"column.b32.load"});
  p.arch = &card;
  auto const found = find_padding(p);
  EXPECT_EQ(found.last, 32 + 63);
  EXPECT_EQ(found.line_bytes, 256);
  std::map<std::int64_t, std::uint64_t> totals;
  for (Pitch const& pitch : found.fitting) totals[pitch.elements] = pitch.cost.total;
  EXPECT_EQ(totals.at(64), 32U * 32) << "64 floats are a line there";
  EXPECT_EQ(totals.at(32), 32U * 16);
}

TEST(Find, PaddingLeavesMisalignedPitchesOut) {
  for (Pitch const& p : find_padding(problem("(16,64):(64,1)", 16, {"ldmatrix.x4"})).fitting)
    EXPECT_EQ(p.elements % 8, 0);
}

// Rows of 72 bytes misalign 16-byte vectors, rows of 80 do not.
TEST(Find, PaddingMendsATileThatDoesNotFit) {
  PitchSearch const found =
      find_padding(problem("(32,36):(36,1)", 16, {"ld.shared.b128: row = lane, col = 8*i for i in 0..3"}));
  ASSERT_EQ(found.misfits.size(), 1U);
  EXPECT_EQ(std::get<Misfit>(found.misfits[0].found).lane, 1U);
  EXPECT_EQ(found.own, 36);
  ASSERT_FALSE(found.fitting.empty());
  EXPECT_EQ(found.fitting.front().elements, 40);
  EXPECT_EQ(found.fitting.front().cost.excess, 0U);
}

TEST(Find, AnXorMapBeatsEverySwizzle) {
  // Rows and columns of 8-byte words and a fragment of 4-byte ones.
  SearchProblem const p =
      problem("(16,32):(32,1)", 32,
              {"ld.shared.b64: row = lane/16, col = 2*(lane%16)",
               "ld.shared.b64: row = lane%16, col = 2*(lane/16) + 4*i for i in 0..7",
               "ld.shared.b32: row = lane/4 + 8*i, col = lane%4 + 4*k for i in 0..1 for k in 0..7"});
  EXPECT_EQ(find_swizzle(p).gentlest.cost.excess, 1U);
  XorSearch const found = find_xor(p);
  EXPECT_EQ(found.best.cost.excess, 0U);
  EXPECT_EQ(found.best.cost.total, ideal_total(p));
  Map const map = under(p, found.best.function);
  EXPECT_TRUE(std::holds_alternative<Proved>(is_one_to_one(map, {}).outcome));
  for (Access const& access : p.accesses)
    EXPECT_EQ(check(Placement(map, access), {}).excess(), 0U) << access.name;
}

TEST(Find, NoXorMapBeatsTheBoundOfTheWords) {
  // 64 different words can never take fewer than 2 wavefronts... a column of 8 banks' worth takes 4.
  SearchProblem const p = problem("(32,32):(32,1)", 32, {"row_per_lane.load", "column.b32.load"});
  EXPECT_EQ(find_xor(p).best.cost.total, find_swizzle(p).best.front().cost.total) << "proofs: neither exists";
}

TEST(Find, EverySpellingOfTheIdentityIsOneAnswer) {
  auto const found = find_swizzle(problem("(32,32):(32,1)", 32, {"row.b32.load"}));
  EXPECT_EQ(found.best.front().swizzle, swizzle_none);
  EXPECT_EQ(std::count_if(found.best.begin(), found.best.end(),
                          [](Candidate const& c) { return c.swizzle.bits == 0; }),
            1);
}

// With the offset the first swizzle row is not the first of the tile; the words that meet are others.
TEST(Find, AnOffsetAndALayoutWithinStay) {
  struct Case {
    char const *given, *tile, *swizzled;
  };
  for (Case const c :
       {Case{"Sw<1,4,3> o 64 o (8,64):(64,1)", "Sw<0,4,3> o 64 o (8,64):(64,1)",
             "Sw<3,3,3> o 64 o (8,64):(64,1)"},
        Case{"Sw<3,4,3> o smem_ptr[16b](unset) o _64 o (8,64):(64,1)", "Sw<0,4,3> o _64 o (8,64):(64,1)",
             "Sw<3,3,3> o smem_ptr[16b](unset) o _64 o (8,64):(64,1)"},
        Case{"Sw<1,4,3> o 8 o Sw<2,3,3> o _0 o (8,64):(64,1)",
             "Sw<0,4,3> o 8 o Sw<2,3,3> o _0 o (8,64):(64,1)",
             "Sw<3,3,3> o 8 o Sw<2,3,3> o _0 o (8,64):(64,1)"},
        Case{"(8,64):(128,1) o _0 o (4,64):(1,8)", "(8,64):(128,1) o _0 o (4,64):(1,8)",
             "Sw<3,3,3> o _0 o (8,64):(128,1) o _0 o (4,64):(1,8)"},
        Case{"fn(x) = x ^ 8 o (8,64):(64,1)", "(8,64):(64,1)", "Sw<3,3,3> o _0 o (8,64):(64,1)"}}) {
    SearchProblem const p = problem(c.given, 16, {});
    EXPECT_EQ(text_of(p.tile), c.tile);
    expect_same(p.tile, parse_mapping(text_of(p.tile), {16}));
    Map const map = swizzled(p, {3, 3, 3});
    EXPECT_EQ(text_of(map), c.swizzled);
    expect_same(map, parse_mapping(text_of(map), {16}));
    Map const xored = under(p, LinearMap{0, {{3, 0x70}}});
    expect_same(xored, parse_mapping(text_of(xored), {16}));
  }
  Map const pitched = padded(problem("Sw<1,4,3> o 64 o (8,64):(64,1)", 16, {}), 72);
  EXPECT_EQ(text_of(pitched), "Sw<0,4,3> o 64 o (8,64):(72,1)");
  expect_same(pitched, parse_mapping(text_of(pitched), {16}));
}

TEST(Find, TheXorMapsTextIsTheMap) {
  SearchProblem const p =
      problem("Sw<3,4,3> o smem_ptr[16b](unset) o 64 o (16,64):(64,1)", 16, {"ldmatrix.x4"});
  XorSearch const found = find_xor(p);
  Map const map = under(p, found.best.function);
  EXPECT_EQ(text_of(map), to_string(found.best.function) + " o smem_ptr[16b](unset) o 64 o (16,64):(64,1)");
  std::vector<Stage> const function = parse_mapping(to_string(found.best.function)).on_bytes;
  for (std::uint64_t i = 0; i < 1024; ++i) {
    std::uint64_t const x = 2 * (64 + i / 16 + i % 16 * 64);
    EXPECT_EQ(value(map, Address<std::uint64_t>{4096}, i, Unit::bytes), value(function, 4096 + x));
  }
}

TEST(Find, AccessesOf8And16BitsHaveTheBasesOfCheck) {
  struct Case {
    char const *layout, *access;
    unsigned bits;
  };
  for (Case const c : {Case{"(32,4):(1,32)", "ld.shared.b16: row = lane, col = lane % 4", 16},
                       Case{"(132):(1)", "ld.shared.b8: coord = lane ? 131 : 0 if lane < 2", 8}}) {
    SearchProblem const p = problem(c.layout, c.bits, {c.access});
    std::vector<Candidate> const best = find_swizzle(p).best;
    for (std::size_t i = 0; i < best.size(); i += 1 + best.size() / 5) {
      Candidate const& found = best[i];
      auto const verdict = check_exhaustively(Placement(swizzled(p, found.swizzle), p.accesses[0]), {});
      ASSERT_TRUE(verdict);
      EXPECT_EQ(verdict->cost()->wavefronts, found.cost.wavefronts[0])
          << c.layout << " under " << to_string(found.swizzle);
    }
  }
}

TEST(Find, MemoryCountsEveryByteOfEveryElement) {
  SearchProblem const negative = problem("(32,32):(-32,1)", 32, {"column.b32.load"});
  EXPECT_EQ(find_swizzle(negative).best.front().memory, 4096U);
  SearchProblem splits = problem("(8,8):(8,1)", 16, {"ld.shared.b8: coord = 2*lane%64"});
  splits.on_bytes = true;
  SwizzleSearch const found = find_swizzle(splits);
  Candidate const* const split = among(found, {1, 0, -9});
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->memory, 640U) << "odd bytes lie 512 further on";
  EXPECT_FALSE(split->tma.writes);
}

TEST(Find, WhatDoesNotFitIsNotSearched) {
  SwizzleSearch const outside =
      find_swizzle(problem("(8,64):(64,1)", 16, {"ld.shared.b128: row = lane, col = 0", "copy.row128"}));
  EXPECT_TRUE(outside.best.empty());
  ASSERT_EQ(outside.misfits.size(), 1U);
  EXPECT_EQ(std::get<Misfit>(outside.misfits[0].found).lane, 8U);
  SearchProblem const split = problem("(16,64):(136,2)", 16, {"ldmatrix.x4"});
  EXPECT_EQ(find_swizzle(split).misfits.size(), 1U) << "the 8 halves of a row lie 4 bytes apart";
  EXPECT_EQ(find_xor(split).misfits.size(), 1U);
}

TEST(Find, RefusesWhatItCannotSearch) {
  EXPECT_THROW((void)searched_tile(parse_mapping("Sw<3,4,3>")), InputError);
  EXPECT_THROW((void)searched_tile(parse_mapping("(8,64):(64,1)")), InputError) << "no element size";
  EXPECT_THROW(
      (void)find_padding(problem("(8,(8,8)):(8,(1,64))", 16, {"ld.shared.b16: row = lane%8, col = lane/8"})),
      InputError);
  SearchProblem composed =
      problem("(8,64):(128,1) o _0 o (4,64):(1,8)", 16, {"ld.shared.b16: row = 0, col = lane"});
  composed.on_bytes = true;
  EXPECT_THROW((void)find_swizzle(composed), InputError) << "no such layout can be written";
  EXPECT_THROW((void)find_padding(composed), InputError) << "its rows are not the inner layout's";
}

}  // namespace
}  // namespace swizproof
