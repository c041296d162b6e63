#include "generators/dumb_law.hpp"
#include "generators/generators.hpp"

#include <swizproof/core/gf2.hpp>
#include <swizproof/engine/term.hpp>
#include <swizproof/hardware/collision.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <random>

namespace swizproof {
namespace {

RC_GTEST_PROP(Law, IsTheDumbLaw, ()) {
  Instruction const i = *any_instruction();
  auto const warp = *any_access(i);
  unsigned const n = wavefronts(sm_90, i, warp);
  RC_CLASSIFY(i.matrices != 0, "matrix");
  RC_CLASSIFY(i.bytes < 4, "sub-word");
  RC_CLASSIFY(n > ideal_wavefronts(sm_90, i), "conflicts");
  RC_CLASSIFY(n < ideal_wavefronts(sm_90, i), "merged below the ideal");
  RC_ASSERT(n == dumb_law(i, warp));
}

// The colliding lanes and their number are one fact.
RC_GTEST_PROP(Collision, IsTheDegree, ()) {
  Instruction const i = *any_instruction();
  auto const warp = *any_access(i);
  auto const c = cost(sm_90, i, warp);
  for (unsigned g = 0; g < c.phases.count; ++g) {
    std::size_t most = 0;
    for (auto const& use : bank_uses(i, warp, c.phases, g)) most = std::max(most, use.served().size());
    RC_ASSERT(most == c.degree[g]);
  }
  auto const here = fullest(i, warp, c);
  RC_ASSERT(here.lanes.size() == *std::max_element(c.degree.begin(), c.degree.end()));
  for (CollidingLane const& at : here.lanes) {
    RC_ASSERT(warp.active[at.lane] && at.lane / c.phases.size == here.phase);
    RC_ASSERT(at.address == warp.address[at.lane]);
    RC_ASSERT(at.word % bank_count == here.bank);
    RC_ASSERT(at.word * bank_bytes + bank_bytes > at.address);
    RC_ASSERT(at.word * bank_bytes < at.address + i.bytes);
  }
}

// The forms that numbers use and the form that the prover uses.
template <unsigned Lanes, class W>
testing::AssertionResult is_by_pairs(WarpAccess<W> const& warp, unsigned bytes) {
  for (bool const merging : {true, false}) {
    auto const by_vectors = detail::degrees_of<Lanes>(warp, warp_lanes / Lanes, bytes, merging);
    for (unsigned first = 0; first < warp_lanes; first += Lanes) {
      auto const by_table = detail::degree_by_table<Lanes>(warp, first, bytes, merging);
      auto const by_pairs = detail::degree_by_pairs(warp, first, Lanes, bytes, merging);
      if (by_vectors[first / Lanes] != by_pairs || by_table != by_pairs)
        return testing::AssertionFailure()
               << by_vectors[first / Lanes] << " by vectors, " << by_table << " by the table, " << by_pairs
               << " by pairs: lanes " << first << " on, " << Lanes << ", of " << bytes << " bytes";
    }
  }
  bool const merges = detail::paired(warp, 1) || detail::paired(warp, 2);
  return detail::merges(warp) == merges ? testing::AssertionSuccess()
                                        : testing::AssertionFailure() << "H4: it is " << merges;
}

template <class W>
testing::AssertionResult is_by_pairs(WarpAccess<W> const& warp, unsigned bytes) {
  auto const eight = is_by_pairs<8>(warp, bytes), sixteen = is_by_pairs<16>(warp, bytes);
  return !eight ? eight : !sixteen ? sixteen : is_by_pairs<32>(warp, bytes);
}

RC_GTEST_PROP(Law, ByTableAndByVectorsIsTheLawByPairs, ()) {
  Instruction const i = *any_instruction();
  auto const warp = *any_access(i);
  RC_ASSERT(static_cast<bool>(is_by_pairs(warp, i.bytes)));
}

/// Warps that take every way through degree.hpp: by how their addresses are spread, and by which lanes take part.
constexpr unsigned spreads = 12, presences = 6;
template <class W>
WarpAccess<W> crowd(std::mt19937_64& random, unsigned spread, unsigned presence, unsigned bytes) {
  WarpAccess<W> warp{};
  constexpr unsigned top = std::numeric_limits<W>::digits - 1;
  std::uint64_t const unit = std::max(bytes, 4U), few = 1 + random() % 32, odd = random() % warp_lanes;
  std::uint64_t const bit = std::uint64_t{1} << random() % 64;
  for (std::uint64_t lane = 0; lane < warp_lanes; ++lane) {
    std::uint64_t const any = random();
    std::uint64_t const address[spreads] = {
        any % (4096 / unit) * unit,                    // some lanes repeat, some collide
        any % few * 128 + unit,                        // a column
        any % 8 * 1024 + any % few % 4 * unit,         // few slots
        (lane + (lane == odd ? few : 0)) % 32 * unit,  // free, but for one lane
        (0xffff - any % 2 * 32) * unit,                // the last units that 16 bits hold
        std::uint64_t{0} - any % 64 * unit,            // the end of the addresses, and the beginning
        any % 2 << top | any % 8 * unit,               // the highest bit
        (any % 2 != 0 ? bit : 0) / unit * unit,        // one bit alone
        any / unit * unit,                             // anywhere
        (lane & ~std::uint64_t{1}) * unit,             // pairs of lanes l and l ^ 1
        (lane & ~std::uint64_t{2}) * few / 2 * unit,   // pairs of lanes l and l ^ 2
        lane / 2 * unit | lane % 2 << top,             // pairs, but for the highest bit
    };
    warp.address[lane] = static_cast<W>(address[spread]);
    bool const active[presences] = {true,        random() % 2 == 0,   lane != odd,
                                    lane == odd, lane / 8 == odd / 8, false};
    warp.active[lane] = active[presence];
  }
  return warp;
}

TEST(Law, ByTableAndByVectorsIsTheLawByPairsForEveryKindOfWarp) {
  std::mt19937_64 random(1);
  for (unsigned spread = 0; spread < spreads; ++spread)
    for (unsigned presence = 0; presence < presences; ++presence)
      for (unsigned const bytes : {1U, 4U, 8U, 16U})
        for (int again = 0; again < 20; ++again) {
          ASSERT_TRUE(is_by_pairs(crowd<std::uint32_t>(random, spread, presence, bytes), bytes))
              << spread << ", " << presence;
          ASSERT_TRUE(is_by_pairs(crowd<std::uint64_t>(random, spread, presence, bytes), bytes))
              << spread << ", " << presence << " of 64 bits";
        }
}

// Two lanes alone, each at each place: no pair of a phase is left out, and none of two phases is met.
TEST(Law, MeetsEveryPairOfLanesOfAPhase) {
  for (unsigned i = 0; i < warp_lanes; ++i)
    for (unsigned j = 0; j < warp_lanes; ++j) {
      WarpAccess<std::uint32_t> warp{};
      for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) warp.active[lane] = lane == i || lane == j;
      warp.address[j] = 1024;
      for (std::uint32_t const there : {0U, 1024U}) {
        warp.address[i] = there;
        ASSERT_TRUE(is_by_pairs(warp, 16)) << i << ", " << j;
      }
    }
}

// The whole law on symbolic words that happen to be constants: merging and issue slots included.
RC_GTEST_PROP(Law, OnTermsIsTheDumbLaw, ()) {
  Instruction const i = *any_instruction();
  auto const warp = *any_access(i);
  Terms terms;
  WarpAccess<Term> symbolic;
  for (unsigned l = 0; l < warp_lanes; ++l) {
    symbolic.address[l] = terms.constant(32, warp.address[l]);
    symbolic.active[l] = warp.active[l];
  }
  Term const n = wavefronts(sm_90, i, symbolic);
  RC_ASSERT(terms.nodes()[n.id].op == Op::constant);
  RC_ASSERT(terms.nodes()[n.id].value == dumb_law(i, warp));
}

RC_GTEST_PROP(Law, IsTheSameOn64BitWords, ()) {
  Instruction const i = *any_instruction();
  auto const warp = *any_access(i);
  WarpAccess<std::uint64_t> wide{};
  for (unsigned l = 0; l < warp_lanes; ++l) {
    wide.address[l] = warp.address[l];
    wide.active[l] = warp.active[l];
  }
  RC_ASSERT(wavefronts(sm_90, i, wide) == wavefronts(sm_90, i, warp));
}

RC_GTEST_PROP(Law, DoesNotSeeMultiplesOf128Bytes, ()) {
  Instruction const i = *any_instruction();
  auto warp = *any_access(i);
  unsigned const before = wavefronts(sm_90, i, warp);
  std::uint32_t const step = 128 * *rc::gen::inRange(0U, 1U << 20);
  for (std::uint32_t& a : warp.address) a += step;
  RC_ASSERT(wavefronts(sm_90, i, warp) == before);
}

RC_GTEST_PROP(Law, AnotherActiveLaneOfAStoreNeverMakesItCheaper, ()) {
  Instruction const i{Operation::st_shared, *rc::gen::element(1U, 2U, 4U, 8U, 16U)};
  auto warp = *any_access(i);
  unsigned const before = wavefronts(sm_90, i, warp);
  warp.active[*rc::gen::inRange(0U, warp_lanes)] = true;
  RC_ASSERT(wavefronts(sm_90, i, warp) >= before);
}

// Linear algebra's answer for XOR-linear stores: each group touches 2^(rank of words - rank of banks)
// words in each bank it touches. Triton's mistake is to leave the sub-word bits out of the kernel.
RC_GTEST_PROP(Law, IsTheRankFormulaForLinearStores, ()) {
  unsigned const bytes = *rc::gen::element(1U, 2U, 4U, 8U, 16U);
  Instruction const i{Operation::st_shared, bytes};
  std::vector<std::uint32_t> basis;
  for (int bit = 0; bit < 5; ++bit) basis.push_back(*rc::gen::inRange(0U, 8192U) / bytes * bytes);
  WarpAccess<std::uint32_t> warp{};
  for (unsigned l = 0; l < warp_lanes; ++l) {
    for (unsigned bit = 0; bit < 5; ++bit) warp.address[l] ^= (l >> bit & 1) != 0 ? basis[bit] : 0;
    warp.active[l] = true;
  }
  unsigned const group_bits = bytes <= 4 ? 5 : bytes == 8 ? 4 : 3;
  std::vector<std::uint64_t> words, banks;
  for (unsigned bit = 0; bit < group_bits; ++bit) {
    words.push_back(basis[bit] / std::max(bytes, 4U));
    banks.push_back(words.back() % (128 / std::max(bytes, 4U)));
  }
  unsigned const degree = 1U << (rank(words) - rank(banks));
  RC_CLASSIFY(degree > 1, "conflicts");
  RC_ASSERT(wavefronts(sm_90, i, warp) == degree << (5 - group_bits));
}

}  // namespace
}  // namespace swizproof
