#include "generators/dumb_law.hpp"
#include "generators/generators.hpp"

#include <swizproof/core/gf2.hpp>
#include <swizproof/engine/term.hpp>
#include <swizproof/hardware/collision.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

// Who collides, and how many, are one fact.
RC_GTEST_PROP(Collision, IsTheDegree, ()) {
  Instruction const i = *any_instruction();
  auto const warp = *any_access(i);
  auto const c = cost(sm_90, i, warp);
  for (unsigned g = 0; g < c.phases.count; ++g) {
    std::size_t most = 0;
    for (auto const& use : bank_uses(i, warp, g * c.phases.size, c.phases.size))
      most = std::max(most, use.served().size());
    RC_ASSERT(most == c.degree[g]);
  }
  auto const here = fullest(i, warp, c);
  RC_ASSERT(here.use.served().size() == *std::max_element(c.degree.begin(), c.degree.end()));
  for (std::size_t n = 0; n < here.use.lanes.size(); ++n) {
    unsigned const lane = here.use.lanes[n];
    RC_ASSERT(warp.active[lane] && lane / c.phases.size == here.phase);
    RC_ASSERT(here.use.words[n] % bank_count == here.bank);
    RC_ASSERT(here.use.words[n] * bank_bytes + bank_bytes > warp.address[lane]);
    RC_ASSERT(here.use.words[n] * bank_bytes < warp.address[lane] + i.bytes);
  }
}

// The form that numbers use and the form that the prover uses.
RC_GTEST_PROP(Law, ByTableIsTheLawByPairs, ()) {
  Instruction const i = *any_instruction();
  auto const warp = *any_access(i);
  for (unsigned first = 0; first < warp_lanes; first += 8)
    RC_ASSERT(detail::degree_by_table<8>(warp, first, i.bytes) ==
              detail::degree_by_pairs(warp, first, 8, i.bytes));
  for (unsigned first = 0; first < warp_lanes; first += 16)
    RC_ASSERT(detail::degree_by_table<16>(warp, first, i.bytes) ==
              detail::degree_by_pairs(warp, first, 16, i.bytes));
  RC_ASSERT(detail::degree_by_table<32>(warp, 0, i.bytes) == detail::degree_by_pairs(warp, 0, 32, i.bytes));
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
