// fixes_of(): what frees a kernel's accesses, and that nothing frees more.
#include "generators/dumb_law.hpp"
#include "generators/generators.hpp"

#include <swizproof/analysis/fix.hpp>
#include <swizproof/layout/map.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

namespace swizproof {
namespace {

constexpr Instruction ld_b32{Operation::ld_shared, 4}, st_b32{Operation::st_shared, 4},
    ld_b128{Operation::ld_shared, 16}, st_b128{Operation::st_shared, 16}, cp_b128{Operation::cp_async, 16};

template <class F>
WeightedAccess access(Instruction instruction, std::uint64_t executed, F const& address_of_lane) {
  WeightedAccess a{instruction, {}, executed, {}};
  for (std::uint32_t lane = 0; lane < instruction.lanes(); ++lane) {
    a.access.address[lane] = address_of_lane(lane);
    a.access.active[lane] = true;
  }
  return a;
}

/// Rows of 32 floats are stored, columns are loaded; each row and column `stores` and `loads` times.
std::vector<WeightedAccess> transposition(std::uint32_t start, std::uint64_t stores = 1,
                                          std::uint64_t loads = 1) {
  std::vector<WeightedAccess> all;
  for (std::uint32_t i = 0; i < 32; ++i) {
    all.push_back(access(st_b32, stores, [&](std::uint32_t lane) { return start + 128 * i + 4 * lane; }));
    all.push_back(access(ld_b32, loads, [&](std::uint32_t lane) { return start + 128 * lane + 4 * i; }));
  }
  return all;
}

/// Cost of accesses with other addresses, by the plain cost model.
template <class F>
std::uint64_t total(std::span<WeightedAccess const> accesses, F const& f) {
  std::uint64_t sum = 0;
  for (WeightedAccess a : accesses) {
    for (auto& address : a.access.address) address = static_cast<std::uint32_t>(f(address));
    sum += dumb_law(a.instruction, a.access) * a.executed;
  }
  return sum;
}

std::vector<ByteRange> bytes(std::uint64_t begin, std::uint64_t end) { return {{begin, end}}; }

TEST(Fix, ATranspositionIsFreedByASwizzleOrByPadding) {
  std::vector<Fix> const fixes = fixes_of(transposition(0x400, 32, 32));
  ASSERT_EQ(fixes.size(), 1U);
  Fix const& fix = fixes[0];
  EXPECT_EQ(fix.region, bytes(0x400, 0x1400));
  EXPECT_EQ(fix.before, 1024U + 32768U);
  EXPECT_EQ(fix.ideal, 2048U);
  EXPECT_EQ(fix.patterns, 2U) << "of stores and of loads one each, up to XOR";
  EXPECT_EQ(fix.element_bytes, 4U);
  ASSERT_TRUE(fix.swizzle);
  EXPECT_EQ(fix.swizzle->swizzle, (Swizzle{5, 2, 5}));
  EXPECT_EQ(fix.swizzle->on_elements, (Swizzle{5, 0, 5}));
  EXPECT_EQ(fix.swizzle->after, 2048U);
  EXPECT_TRUE(fix.swizzle->starts_with(fix.region)) << "tile[r][c ^ r] is as good";
  ASSERT_TRUE(fix.padding);
  EXPECT_EQ(fix.padding->pitch, 128U);
  EXPECT_EQ(fix.padding->padding, 4U);
  EXPECT_EQ(fix.padding->after, 2048U);
  EXPECT_EQ(fix.padding->memory, 31U * 4);
  EXPECT_EQ(fix.padding->starts, std::vector<std::uint64_t>{0x400});
  EXPECT_TRUE(fix.paddings.all) << "none can cost less";
  EXPECT_EQ(fix.after(), 2048U);
}

TEST(Fix, DescriptorsKeepTheirPatterns) {
  auto const of = [](DescriptorUse use) {
    return fixes_of(transposition(0x400, 32, 32), sm_90, 1, use).at(0);
  };
  EXPECT_TRUE(of(DescriptorUse::plain).padding) << "rows of 128 bytes";
  Fix const swizzled = of(DescriptorUse::swizzled);
  EXPECT_FALSE(swizzled.padding);
  EXPECT_TRUE(swizzled.paddings.is_empty()) << "it does not say that no padding helps";
  EXPECT_TRUE(swizzled.of_descriptors);
}

// Words 0, 10, .. 310 and 0, 32, .. 320 of an array of 321: one of them moves to word 330.
TEST(Fix, ASwizzleSaysWhatMemoryItNeedsBehindTheArray) {
  std::vector<WeightedAccess> all{access(ld_b32, 1, [](std::uint32_t lane) { return 40 * lane; }),
                                  access(st_b32, 1, [](std::uint32_t lane) { return lane / 3 * 128; })};
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  ASSERT_EQ(fixes[0].region, bytes(0, 0x504));
  ASSERT_TRUE(fixes[0].swizzle);
  std::uint64_t behind = 0;
  for (WeightedAccess const& a : all)
    for (std::uint64_t const address : a.access.address)
      behind = std::max(behind, fixes[0].swizzle->swizzle(address) + 4);
  EXPECT_GT(behind, 0x504U);
  EXPECT_EQ(fixes[0].swizzle->behind, behind - 0x504);
  EXPECT_EQ(fixes[0].swizzle->ahead, 0U);
}

TEST(Fix, TheIdealIsNotAboveTheCost) {
  std::vector<WeightedAccess> all{access(ld_b128, 1, [](std::uint32_t lane) { return lane / 16 * 16; }),
                                  access(st_b32, 1, [](std::uint32_t lane) { return lane * 128; })};
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  EXPECT_EQ(fixes[0].ideal, dumb_law(ld_b128, all[0].access) + 1) << "16 lanes of one word take less than 4";
  EXPECT_LT(fixes[0].ideal, 5U);
}

// ldmatrix.x4 on rows of 128 bytes, filled by rows of 16 bytes a lane.
TEST(Fix, TheSwizzleOfTmaComesFirst) {
  std::vector<WeightedAccess> all;
  for (std::uint32_t row = 0; row < 64; row += 16)
    for (std::uint32_t byte = 0; byte < 128; byte += 32)
      all.push_back(access({Operation::ldmatrix, 16, 4}, 7, [&](std::uint32_t l) {
        return 0x2000 + 128 * (row + l % 16) + byte + 16 * (l / 16);
      }));
  for (std::uint32_t row = 0; row < 64; row += 4)
    all.push_back(access(cp_b128, 1, [&](std::uint32_t l) { return 0x2000 + 128 * row + 16 * l; }));
  for (WeightedAccess& a : all) a.pc = a.instruction == cp_b128 ? 16 : 32;
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U) << "one tile, since its instructions reach all of it";
  EXPECT_EQ(fixes[0].region, bytes(0x2000, 0x4000));
  EXPECT_EQ(fixes[0].before, 16U * 7 * 32 + 16 * 4);
  ASSERT_TRUE(fixes[0].swizzle);
  EXPECT_EQ(fixes[0].swizzle->swizzle, swizzle_128B);
  EXPECT_EQ(fixes[0].swizzle->on_elements, (Swizzle{3, 3, 3}));
  EXPECT_EQ(fixes[0].swizzle->after, 16U * 7 * 4 + 16 * 4);
  EXPECT_EQ(fixes[0].element_bytes, 2U);
}

// Without the instructions, rows 0-15 and rows 16-31 are two regions: no access reaches both.
TEST(Fix, AccessesOfOneInstructionAreOfOneRegion) {
  std::vector<WeightedAccess> two;
  for (std::uint32_t tile : {0x400U, 0x2400U})
    two.push_back(access(ld_b32, 1, [&](std::uint32_t l) { return tile + 128 * l; }));
  EXPECT_EQ(fixes_of(two).size(), 2U);
  for (WeightedAccess& a : two) a.pc = 64;
  std::vector<Fix> const fixes = fixes_of(two);
  ASSERT_EQ(fixes.size(), 1U);
  EXPECT_EQ(fixes[0].region, (std::vector<ByteRange>{{0x400, 0x1384}, {0x2400, 0x3384}}));
  EXPECT_EQ(fixes[0].before, 64U);
}

TEST(Fix, RegionsApartAreMendedApart) {
  std::vector<WeightedAccess> all = transposition(0x400);
  std::vector<WeightedAccess> const other = transposition(0x1400, 5, 5);
  all.insert(all.end(), other.begin(), other.end());
  all.push_back(access(ld_b32, 9, [](std::uint32_t l) { return 0x8000 + 4 * l; }));
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 2U) << "what costs its ideal needs no fix";
  EXPECT_EQ(fixes[0].region, bytes(0x1400, 0x2400)) << "it saves most";
  EXPECT_EQ(fixes[1].region, bytes(0x400, 0x1400));
}

// 32 rows of 16 bytes a lane, 128 bytes apart, and columns of words: a load of one is a store of the other.
TEST(Fix, TheTotalDecidesBetweenALoadAndAStore) {
  auto const with = [](std::uint64_t stores, std::uint64_t loads) {
    std::vector<WeightedAccess> all;
    for (std::uint32_t i = 0; i < 32; ++i) {
      all.push_back(access(ld_b32, loads, [&](std::uint32_t l) { return 0x1000 + 128 * l + 4 * i; }));
      if (i % 4 == 0)
        all.push_back(access(st_b128, stores,
                             [&](std::uint32_t l) { return 0x1000 + 128 * (i + l / 8) + 16 * (l % 8); }));
    }
    return all;
  };
  for (auto const& [stores, loads] : {std::pair{1U, 1U}, std::pair{1U, 100U}, std::pair{100U, 1U}}) {
    std::vector<WeightedAccess> const all = with(stores, loads);
    std::vector<Fix> const fixes = fixes_of(all);
    ASSERT_EQ(fixes.size(), 1U);
    ASSERT_TRUE(fixes[0].swizzle);
    Swizzle const s = fixes[0].swizzle->swizzle;
    EXPECT_GE(s.base, 4) << "stores of 16 bytes stay whole";
    EXPECT_EQ(fixes[0].swizzle->after, total(all, s));
    EXPECT_LT(fixes[0].swizzle->after, fixes[0].before);
    EXPECT_EQ(fixes[0].swizzle->after, stores * 8 * 4 + loads * 32 * 4) << "words of a column share 8 chunks";
    ASSERT_TRUE(fixes[0].padding);
    EXPECT_EQ(fixes[0].padding->padding % 16, 0U) << "4 bytes would free the load and misalign the store";
    EXPECT_EQ(fixes[0].padding->after, stores * 8 * 4 + loads * 32 * 4);
  }
}

// Lane l stores to word 33 * l and loads word 32 * l. Sw<5,2,5> frees the load and breaks the store, Sw<4,3,4> leaves two
// wavefronts to the load and none more to the store.
TEST(Fix, NeverFreesALoadByBreakingAStore) {
  auto const with = [](std::uint64_t stores, std::uint64_t loads) {
    return std::vector{access(st_b32, stores, [](std::uint32_t l) { return 4 * (33 * l % 1024); }),
                       access(ld_b32, loads, [](std::uint32_t l) { return 128 * l; })};
  };
  std::vector<Fix> const load = fixes_of(with(1, 40)), store = fixes_of(with(40, 1));
  ASSERT_EQ(load.size(), 1U);
  ASSERT_TRUE(load[0].swizzle);
  EXPECT_EQ(load[0].swizzle->swizzle, (Swizzle{5, 2, 5}));
  EXPECT_EQ(load[0].swizzle->after, 32U + 40);
  ASSERT_EQ(store.size(), 1U);
  EXPECT_EQ(store[0].before, 40U + 32);
  ASSERT_TRUE(store[0].swizzle);
  EXPECT_EQ(store[0].swizzle->swizzle, (Swizzle{4, 3, 4}));
  EXPECT_EQ(store[0].swizzle->after, 40U + 2);
}

TEST(Fix, SaysWhenNothingHelps) {
  // cp.async to one address is served lane by lane, at any address.
  std::vector<Fix> const one =
      fixes_of(std::vector{access(cp_b128, 3, [](std::uint32_t) { return 0x1000U; })});
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].before, 96U);
  EXPECT_FALSE(one[0].swizzle);
  EXPECT_FALSE(one[0].padding);
  EXPECT_EQ(one[0].after(), 96U);
  EXPECT_EQ(one[0].region, bytes(0x1000, 0x1010));
  EXPECT_GT(one[0].searched, 100U);
  EXPECT_TRUE(fixes_of(std::vector<WeightedAccess>{}).empty());
}

// Two words that meet in a bank: one may move to the rest of its line, unless others use that.
TEST(Fix, ASwizzleKeepsClearOfWhatOthersTouch) {
  auto const words = [](std::uint32_t first, std::uint32_t apart, std::uint32_t count) {
    return access(ld_b32, 1, [=](std::uint32_t l) { return first + apart * (l % count); });
  };
  std::vector<Fix> const free = fixes_of(std::vector{words(0x440, 128, 2)});
  ASSERT_EQ(free.size(), 1U);
  ASSERT_TRUE(free[0].swizzle);
  EXPECT_EQ(free[0].swizzle->swizzle, (Swizzle{1, 4, 3})) << "0x4c0 becomes 0x4d0";
  std::vector<Fix> const hemmed =
      fixes_of(std::vector{words(0x440, 128, 2), words(0x400, 4, 16), words(0x4c4, 4, 15)});
  ASSERT_EQ(hemmed.size(), 1U);
  ASSERT_TRUE(hemmed[0].swizzle);
  EXPECT_EQ(hemmed[0].swizzle->swizzle, (Swizzle{1, 6, 1})) << "0x4c0 becomes 0x480";
  EXPECT_EQ(hemmed[0].swizzle->after, 1U);
}

// Sw<1,4,3> would lead 0x4f0 to 0x4e0.
TEST(Fix, ASwizzleKeepsClearOfWhatLiesBefore) {
  std::vector<Fix> const fixes =
      fixes_of(std::vector{access(ld_b32, 1, [](std::uint32_t l) { return 0x4f0 + 128 * (l % 2); }),
                           access(ld_b32, 1, [](std::uint32_t l) { return 0x4e0 + 4 * (l % 4); })});
  ASSERT_EQ(fixes.size(), 1U);
  ASSERT_TRUE(fixes[0].swizzle);
  EXPECT_EQ(fixes[0].swizzle->after, 1U);
  EXPECT_GE(fixes[0].swizzle->swizzle(0x4f0U), 0x4f0U) << to_string(fixes[0].swizzle->swizzle);
}

TEST(Fix, RegionsThatSaveTheSameComeByTheirFirstByte) {
  auto const column = [](std::uint32_t start, std::uint64_t pc, std::uint64_t executed = 1) {
    WeightedAccess a = access(ld_b32, executed, [=](std::uint32_t l) { return start + 128 * l; });
    a.pc = pc;
    return a;
  };
  std::vector<Fix> const fixes = fixes_of(std::vector{
      column(0x9000, 16), column(0x400, 16), column(0x3000, 8), column(0x6000, 8), column(0xc000, 24, 0)});
  ASSERT_EQ(fixes.size(), 2U) << "what never ran is of no region";
  EXPECT_EQ(fixes[0].region[0].begin, 0x400U);
  EXPECT_EQ(fixes[1].region[0].begin, 0x3000U);
}

// The first byte that is touched lies within a vector of 16 bytes: offsets from there split others apart. Rows that do not
// begin with a line of banks have other columns in their lines.
TEST(Fix, SaysWhenASwizzleIsOfAddressesAlone) {
  auto const words = [](std::uint32_t start) {
    return access(ld_b32, 1, [=](std::uint32_t l) { return start + 128 * l; });
  };
  auto const vectors = access(st_b128, 1, [](std::uint32_t l) { return 0x1010 + 16 * l; });
  for (auto const& [accesses, on_offsets] :
       {std::pair(std::vector{words(0x1000)}, true), std::pair(std::vector{words(0x1004), vectors}, false),
        std::pair(std::vector{words(0x1000), vectors}, true)}) {
    std::vector<Fix> const fixes = fixes_of(accesses);
    ASSERT_EQ(fixes.size(), 1U);
    ASSERT_TRUE(fixes[0].swizzle);
    EXPECT_EQ(fixes[0].swizzle->starts_with(fixes[0].region), on_offsets);
    EXPECT_FALSE(fixes[0].swizzle->offset_starts.empty()) << "from the line it is as good";
  }
}

// The first byte that is touched is the third word of a row; vectors of 16 bytes end with their rows.
TEST(Fix, PaddingLeavesVectorsWhole) {
  std::vector<WeightedAccess> const all{access(ld_b32, 10, [](std::uint32_t l) { return 0x1008 + 128 * l; }),
                                        access(st_b128, 1, [](std::uint32_t l) { return 0x1080 + 16 * l; })};
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  ASSERT_TRUE(fixes[0].padding);
  EXPECT_EQ(fixes[0].padding->pitch, 128U);
  EXPECT_EQ(fixes[0].padding->padding, 16U);
  EXPECT_EQ(fixes[0].padding->after, 10U * 4 + 4);
  EXPECT_EQ(fixes[0].padding->memory, 31U * 16);
}

/// Cost of accesses with rows longer by a padding, by the plain cost model.
std::uint64_t padded_total(std::span<WeightedAccess const> all, Fix const& fix, PaddingFix const& p) {
  return total(all, [&](std::uint64_t x) {
    for (std::size_t r = 0; r < fix.region.size(); ++r)
      if (fix.region[r].begin <= x && x < fix.region[r].end)
        return x + (x - p.starts[r]) / p.pitch * p.padding;
    return x;
  });
}

// A tile of 32 x 32 floats at 0x400 whose first element, first row or first columns are not accessed. [H5 of the third review]
TEST(Fix, RowsAreCountedFromTheArraysStart) {
  std::vector<WeightedAccess> corner = transposition(0x400);
  for (WeightedAccess& a : corner)
    for (unsigned l = 0; l < 32; ++l)
      if (a.access.address[l] == 0x400) a.access.active[l] = false;
  std::vector<WeightedAccess> column{access(ld_b32, 1, [](std::uint32_t l) { return 0x440 + 128 * l; })};
  std::vector<WeightedAccess> rows = column;
  for (std::uint32_t i = 1; i < 32; ++i)
    rows.push_back(access(st_b32, 100, [&](std::uint32_t l) { return 0x400 + 128 * i + 4 * l; }));
  for (auto const& [all, after] : {std::pair(corner, 64U), std::pair(rows, 3101U)}) {
    std::vector<Fix> const fixes = fixes_of(all);
    ASSERT_EQ(fixes.size(), 1U);
    ASSERT_TRUE(fixes[0].padding);
    PaddingFix const& p = *fixes[0].padding;
    EXPECT_EQ(p.pitch, 128U);
    EXPECT_EQ(p.padding, 4U);
    EXPECT_EQ(p.starts, std::vector<std::uint64_t>{0x400})
        << "where the array begins, not where it is touched";
    EXPECT_EQ(fixes[0].swizzle->offset_starts, std::vector<std::uint64_t>{0x400});
    EXPECT_FALSE(fixes[0].swizzle->starts_with(fixes[0].region));
    EXPECT_EQ(p.after, after);
    EXPECT_EQ(padded_total(all, fixes[0], p), after);
  }
}

// Two tiles of one instruction, whose columns are read and whose rows are written; the second begins 16 bytes off the pitch.
TEST(Fix, EachRangeHasItsOwnStart) {
  std::vector<WeightedAccess> all;
  for (std::uint32_t tile : {0x400U, 0x2410U})
    for (std::uint32_t i = 0; i < 32; ++i) {
      all.push_back(access(ld_b32, 1, [&](std::uint32_t l) { return tile + 128 * l + 4 * i; }));
      all.push_back(access(st_b32, 1, [&](std::uint32_t l) { return tile + 128 * i + 4 * l; }));
      all.back().pc = 16;
    }
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  ASSERT_TRUE(fixes[0].padding);
  EXPECT_EQ(fixes[0].padding->starts, (std::vector<std::uint64_t>{0x400, 0x2410}));
  EXPECT_EQ(fixes[0].padding->after, 128U);
  EXPECT_EQ(fixes[0].padding->memory, 2U * 31 * 4);
  EXPECT_EQ(padded_total(all, fixes[0], *fixes[0].padding), 128U);
}

// Two tiles with 16 bytes between them: the first one grows beyond the start of the second.
TEST(Fix, PaddedRangesOfOneArrayDoNotMeet) {
  std::vector<WeightedAccess> all;
  for (std::uint32_t const tile : {0x400U, 0x1410U})
    for (std::uint32_t i = 0; i < 32; ++i) {
      all.push_back(access(ld_b32, 1, [&](std::uint32_t l) { return tile + 128 * l + 4 * i; }));
      all.push_back(access(st_b32, 1, [&](std::uint32_t l) { return tile + 128 * i + 4 * l; }));
      all.back().pc = 16;
    }
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  PaddingFix const& p = fixes[0].padding.value();
  ASSERT_EQ(p.starts, (std::vector<std::uint64_t>{0x400, 0x1410}));
  EXPECT_EQ(p.moves, (std::vector<std::uint64_t>{0, 112}));
  std::set<std::uint64_t> places;
  for (std::size_t r = 0; r < 2; ++r)
    for (std::uint64_t x = fixes[0].region[r].begin; x < fixes[0].region[r].end; ++x)
      EXPECT_TRUE(places.insert(x + (x - p.starts[r]) / p.pitch * p.padding + p.moves[r]).second) << x;
}

TEST(Fix, KeepsBytesWholeForOtherAccesses) {
  for (unsigned const whole : {1U, 8U, 16U}) {
    std::vector<Fix> const fixes = fixes_of(transposition(0x400), sm_90, whole);
    ASSERT_EQ(fixes.size(), 1U);
    EXPECT_EQ(fixes[0].paddings.step, std::max(whole, 4U));
    ASSERT_TRUE(fixes[0].swizzle && fixes[0].padding);
    EXPECT_GE(1U << fixes[0].swizzle->swizzle.base, whole);
    EXPECT_EQ(fixes[0].padding->padding % whole, 0U);
    EXPECT_EQ(fixes[0].padding->pitch % whole, 0U);
  }
}

// Four rows of an array, each touched in part: the rows between them grow, too.
TEST(Fix, RowsBetweenThePartsOfAnArrayCount) {
  std::vector<WeightedAccess> all;
  for (std::uint32_t part = 0; part < 4; ++part) {
    all.push_back(access(st_b32, 1, [&](std::uint32_t l) { return 0x400 * part + 8 * l; }));
    all.back().pc = 16;
  }
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  ASSERT_EQ(fixes[0].region.size(), 4U) << "0x0..0xfc, 0x400..0x4fc, ..";
  PaddingFix const& p = fixes[0].padding.value();
  EXPECT_TRUE(p.has_one_start());
  EXPECT_EQ(p.pitch, 128U);
  EXPECT_EQ(p.memory, 0xcfbU / 128 * 4) << "the last byte lies 25 rows behind the start";
  EXPECT_FALSE((PaddingFix{64, 2, 0, 0, {0x0, 0x40}}.has_one_start()))
      << "one row of 2 bytes more parts words";
  EXPECT_TRUE((PaddingFix{64, 2, 0, 0, {0x0, 0x80}}.has_one_start()));
}

// Bytes and halves: a padding of 2 bytes moves a row within its words, so the rows above the first touched one count.
TEST(Fix, PaddingsBelowAWordAreCountedFromTheArraysStart) {
  Instruction const ld_b16{Operation::ld_shared, 2};
  std::vector<WeightedAccess> all;
  for (std::uint32_t i = 0; i < 8; ++i) {
    all.push_back(access(ld_b16, 1, [&](std::uint32_t l) { return 0x480 + 64 * l + 2 * i; }));
    all.push_back(access(ld_b16, 1, [&](std::uint32_t l) { return 0x480 + 64 * i + 2 * l; }));
  }
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  ASSERT_TRUE(fixes[0].padding);
  EXPECT_EQ(padded_total(all, fixes[0], *fixes[0].padding), fixes[0].padding->after);
  EXPECT_EQ(fixes[0].paddings.step, 2U);
  EXPECT_EQ(fixes[0].paddings.most, 126U);
}

// Two words that meet in a bank, once: 2 wavefronts, and 1 behind a row that is a word longer.
TEST(Fix, PaddingSavesASingleWavefront) {
  std::vector<WeightedAccess> const all{
      access(ld_b32, 1, [](std::uint32_t l) { return 0x440 + 128 * (l % 2); })};
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  EXPECT_EQ(fixes[0].before, 2U);
  ASSERT_TRUE(fixes[0].padding);
  EXPECT_EQ(fixes[0].padding->after, 1U);
  EXPECT_EQ(padded_total(all, fixes[0], *fixes[0].padding), 1U);
}

// So many different floats that not every pitch is searched: the family says how far it came.
TEST(Fix, TheFamilyOfPaddingsSaysWhatWasSearched) {
  std::vector<WeightedAccess> all;
  std::uint32_t random = 1;
  for (std::uint32_t i = 0; i < 400; ++i) {
    all.push_back(access(ld_b32, 1, [&](std::uint32_t) {
      random = random * 1664525 + 1013904223;
      return 0x400 + 4 * (random >> 20);
    }));
    all.back().pc = 16;
  }
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  PaddingFamily const& family = fixes[0].paddings;
  EXPECT_FALSE(family.all);
  EXPECT_GT(family.longest, 0U);
  EXPECT_LT(family.longest, 4096U);
  EXPECT_FALSE(family.is_empty());
  for (std::uint64_t const pitch : family.longer) EXPECT_GT(pitch, family.longest);
}

TEST(Fix, LanesThatTakeNoPartAreNotOfTheRegion) {
  WeightedAccess a =
      access(ld_b32, 1, [](std::uint32_t l) { return l == 31 ? 0xfffffffcU : 0x1000 + 128 * l; });
  a.access.active[31] = false;
  ASSERT_EQ(fixes_of(std::vector{a}).size(), 1U);
  EXPECT_EQ(fixes_of(std::vector{a})[0].region, bytes(0x1000, 0x1000 + 30 * 128 + 4));
  WeightedAccess matrix{{Operation::ldmatrix, 16, 1}, {}, 1, {}};
  for (std::uint32_t l = 0; l < 32; ++l) {
    matrix.access.active[l] = true;
    matrix.access.address[l] = l < 8 ? 0x1000 + 128 * l : 0x7777;  // beyond lane 8, addresses are ignored
  }
  EXPECT_EQ(fixes_of(std::vector{matrix}).at(0).region, bytes(0x1000, 0x1000 + 7 * 128 + 16));
}

TEST(Fix, TooManyPatternsAreNotSearched) {
  std::vector<WeightedAccess> all;
  for (std::uint32_t i = 0; i <= 1U << 16; ++i)  // each has its own set of lanes
    all.push_back(access(ld_b32, 1, [](std::uint32_t l) { return 128 * l; }));
  for (std::uint32_t i = 0; i <= 1U << 16; ++i)
    for (std::uint32_t l = 2; l < 19; ++l) all[i].access.active[l] = (i >> (l - 2) & 1) != 0;
  Fix const one_more = fixes_of(all).at(0);
  EXPECT_TRUE(one_more.too_many);
  EXPECT_EQ(one_more.searched, 0U);
  EXPECT_FALSE(one_more.swizzle);
  EXPECT_TRUE(one_more.padding);
  all.pop_back();
  Fix const all_searched = fixes_of(all).at(0);
  EXPECT_FALSE(all_searched.too_many);
  EXPECT_GT(all_searched.searched, 0U);
  EXPECT_TRUE(all_searched.swizzle && all_searched.padding);
}

TEST(Fix, AddressesMayReachTheEndOf32Bits) {
  std::vector<Fix> const fixes =
      fixes_of(std::vector{access(ld_b32, 1, [](std::uint32_t l) { return 0xfffff000U + 128 * l; })});
  ASSERT_EQ(fixes.size(), 1U);
  EXPECT_EQ(fixes[0].region, bytes(0xfffff000, 0xffffff84));
}

/// Bit by bit, and no line of the library's.
std::uint64_t by_bits(Swizzle const& s, std::uint64_t x) {
  std::uint64_t y = x;
  for (int i = 0; i < s.bits; ++i) {
    int const low = s.base + i, high = low + (s.shift < 0 ? -s.shift : s.shift);
    y ^= (x >> (s.shift < 0 ? low : high) & 1) << (s.shift < 0 ? high : low);
  }
  return y;
}

/// The least total of all swizzles, or what is: by plain loops over all of them and all bytes.
std::uint64_t least_total(std::span<WeightedAccess const> all, std::uint64_t begin, std::uint64_t end) {
  unsigned widest = 1;
  std::set<std::uint64_t> touched;
  for (WeightedAccess const& a : all) {
    widest = std::max(widest, a.instruction.bytes);
    for (unsigned l = 0; l < a.instruction.lanes(); ++l)
      for (unsigned b = 0; a.access.active[l] && b < a.instruction.bytes; ++b)
        touched.insert(a.access.address[l] + b);
  }
  int bits = 0;
  while (((end - 1) >> bits) != 0) ++bits;
  std::uint64_t least = total(all, std::identity{});
  for (int b = 1; b <= bits; ++b)
    for (int m = 0; m <= bits; ++m)
      for (int s = -bits; s <= bits; ++s) {
        Swizzle const swizzle{b, m, s};
        if (!swizzle.valid() || 1U << m < widest || b + m + std::abs(s) > bits) continue;
        bool const stays = std::all_of(touched.begin(), touched.end(), [&](std::uint64_t x) {
          return by_bits(swizzle, x) >= begin / 128 * 128 && by_bits(swizzle, x) < (end + 127) / 128 * 128;
        });
        if (stays) least = std::min(least, total(all, [&](std::uint64_t x) { return by_bits(swizzle, x); }));
      }
  return least;
}

RC_GTEST_PROP(Fix, NoSwizzleAndNoPaddingIsBetter, ()) {
  std::vector<WeightedAccess> all;
  int const kinds = *evenly(1, 4);
  for (int i = 0; i < kinds; ++i) {
    Instruction const instruction = *any_instruction();
    WarpAccess<std::uint32_t> const warp = *any_access(instruction);
    if (std::count(warp.active.begin(), warp.active.end(), true) == 0) continue;
    all.push_back({instruction, warp, *evenly<std::uint64_t>(1, 50), 8});  // one pc: one region
    for (auto& address : all.back().access.address) address %= 4096;
  }
  std::vector<Fix> const fixes = fixes_of(all);
  RC_CLASSIFY(fixes.empty(), "nothing to fix");
  if (fixes.empty()) return;
  RC_ASSERT(fixes.size() == 1U);
  Fix const& fix = fixes[0];
  RC_ASSERT(fix.before == total(all, std::identity{}));
  RC_CLASSIFY(fix.swizzle.has_value(), "fixed by a swizzle");
  RC_CLASSIFY(fix.padding.has_value(), "fixed by padding");
  if (fix.region.size() == 1) {
    std::uint64_t const least = least_total(all, fix.region[0].begin, fix.region[0].end);
    RC_ASSERT((fix.swizzle ? fix.swizzle->after : fix.before) == least);
  }
  if (fix.swizzle) {
    RC_ASSERT(fix.swizzle->after < fix.before);
    RC_ASSERT(fix.swizzle->after ==
              total(all, [&](std::uint64_t x) { return by_bits(fix.swizzle->swizzle, x); }));
  }
  if (!fix.padding) return;
  PaddingFix const& p = *fix.padding;
  RC_ASSERT(p.after < fix.before);
  RC_ASSERT(p.after == padded_total(all, fix, p));
  RC_ASSERT(p.starts.size() == fix.region.size());
  for (std::size_t r = 0; r < p.starts.size(); ++r) RC_ASSERT(p.starts[r] <= fix.region[r].begin);
  for (WeightedAccess const& a : all)
    for (unsigned l = 0; l < a.instruction.lanes(); ++l) {
      if (!a.access.active[l]) continue;
      auto const range = std::find_if(fix.region.begin(), fix.region.end(),
                                      [&](ByteRange const& b) { return a.access.address[l] < b.end; });
      std::uint64_t const from =
          a.access.address[l] - p.starts[static_cast<std::size_t>(range - fix.region.begin())];
      RC_ASSERT(from / p.pitch == (from + a.instruction.bytes - 1) / p.pitch);
      RC_ASSERT((a.access.address[l] + from / p.pitch * p.padding) % a.instruction.bytes == 0U);
    }
}

/// The least total of all paddings of a region of one range, or what is: every pitch, start and padding, from address 0 on.
std::uint64_t least_padded(std::span<WeightedAccess const> all, ByteRange range, std::uint64_t step) {
  auto const cost_of_all = [&](auto const& f) {
    std::uint64_t sum = 0;
    for (WeightedAccess a : all) {
      for (auto& address : a.access.address) address = static_cast<std::uint32_t>(f(address));
      sum += cost(sm_90, a.instruction, a.access).wavefronts * a.executed;
    }
    return sum;
  };
  std::uint64_t least = cost_of_all(std::identity{});
  for (std::uint64_t pitch = step; pitch <= std::max<std::uint64_t>(range.end, 128); pitch += step)
    for (std::uint64_t start = 0; start <= range.begin; start += step)
      for (std::uint64_t padding = step; padding <= pitch && padding < 128; padding += step)
        least = std::min(least, cost_of_all([&](std::uint64_t x) {
                           return x < start ? x : x + (x - start) / pitch * padding;
                         }));
  return least;
}

RC_GTEST_PROP(Fix, NoPaddingIsBetter, ()) {
  std::vector<WeightedAccess> all;
  int const kinds = *evenly(1, 3);
  for (int i = 0; i < kinds; ++i) {
    Instruction const instruction = *any_instruction();
    WarpAccess<std::uint32_t> const warp = *any_access(instruction);
    if (std::count(warp.active.begin(), warp.active.end(), true) == 0) continue;
    all.push_back({instruction, warp, *evenly<std::uint64_t>(1, 50), 8});
    for (auto& address : all.back().access.address) address = address % 192 + 32;
  }
  std::vector<Fix> const fixes = fixes_of(all);
  if (fixes.empty() || fixes[0].region.size() != 1) return;
  Fix const& fix = fixes[0];
  unsigned widest = 1;
  for (WeightedAccess const& a : all) widest = std::max(widest, a.instruction.bytes);
  RC_PRE(widest >= 4U);  // bytes have 127 paddings and 128 pitches: tests/reference/explain.py looks at them
  RC_CLASSIFY(fix.padding.has_value(), "fixed by padding");
  RC_ASSERT(fix.paddings.all);
  RC_ASSERT((fix.padding ? fix.padding->after : fix.before) == least_padded(all, fix.region[0], widest));
}

/// Word 512 / 4 + w is w. One access has the upper halves of the even words 0 to 30 and the lower ones of 32 to 62, in 16 banks.
/// 32 others, of 32 neighbouring words each, are free and cost more as soon as padding parts them by a word. What frees the
/// first and leaves those is a row of all bytes, one row behind the start of rows: all halves move by 2 bytes.
TEST(Fix, PaddingOfTheRowBeforeMovesHalvesIntoOtherWords) {
  Instruction const ld_b16{Operation::ld_shared, 2};
  std::uint32_t const begin = 512;
  WeightedAccess halves{ld_b16, {}, 1, 8};
  for (std::uint32_t l = 0; l < 32; ++l) {
    halves.access.active[l] = true;
    halves.access.address[l] = begin + (l < 16 ? 8 * l + 2 : 128 + 8 * (l - 16));
  }
  std::vector<WeightedAccess> all{halves};
  for (std::uint32_t first = 0; first < 32; ++first) {
    all.push_back({ld_b16, {}, 10, 8});
    for (std::uint32_t l = 0; l < 32; ++l) {
      all.back().access.active[l] = true;
      all.back().access.address[l] = begin + 4 * (first + l);
    }
  }
  std::vector<Fix> const fixes = fixes_of(all);
  ASSERT_EQ(fixes.size(), 1U);
  EXPECT_EQ(fixes[0].before, 2U + 320U);
  ASSERT_TRUE(fixes[0].padding);
  PaddingFix const& p = *fixes[0].padding;
  EXPECT_EQ(p.after, 1U + 320U);
  EXPECT_EQ(p.padding % 4, 2U);
  EXPECT_LE(p.starts[0] + p.pitch, begin);
  EXPECT_EQ(padded_total(all, fixes[0], p), p.after);
}

/// Halves on two lines of the banks: paddings below a word move them within their words.
RC_GTEST_PROP(Fix, NoPaddingOfHalvesIsBetter, ()) {
  Instruction const ld_b16{Operation::ld_shared, 2};
  std::uint32_t const begin = 2 * *evenly<std::uint32_t>(0, 12);
  std::vector<WeightedAccess> all;
  int const kinds = *evenly(1, 2);
  for (int i = 0; i < kinds; ++i) {
    WeightedAccess a{ld_b16, {}, *evenly<std::uint64_t>(1, 3), 8};
    int const lanes = *evenly(2, 8);
    for (int l = 0; l < lanes; ++l) {
      a.access.active[static_cast<std::size_t>(l)] = true;
      a.access.address[static_cast<std::size_t>(l)] =
          begin + 2 * *evenly<std::uint32_t>(0, 7) + 128 * *evenly<std::uint32_t>(0, 1);
    }
    all.push_back(a);
  }
  std::vector<Fix> const fixes = fixes_of(all);
  if (fixes.empty() || fixes[0].region.size() != 1) return;
  Fix const& fix = fixes[0];
  RC_CLASSIFY(fix.padding.has_value(), "fixed by padding");
  RC_ASSERT(fix.paddings.all);
  RC_ASSERT((fix.padding ? fix.padding->after : fix.before) == least_padded(all, fix.region[0], 2));
  if (fix.padding) RC_ASSERT(fix.padding->after == padded_total(all, fix, *fix.padding));
}

}  // namespace
}  // namespace swizproof
