#include "generators.hpp"
#include "tile_case.hpp"

#include <swizproof/find.hpp>
#include <swizproof/parse.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>

namespace swizproof {
namespace {

/// With a swizzle that keeps vectors whole.
rc::Gen<TileCase> any_case() {
  return rc::gen::exec([] {
    TileCase k{};
    k.instruction = *any_instruction();
    k.bits = *rc::gen::element(8U, 16U, 32U);
    k.vector = std::max(8 * k.instruction.bytes / k.bits, 1U);
    if (k.instruction.bytes * 8 < k.bits) k.bits = 8 * k.instruction.bytes;
    k.rows = *rc::gen::element(8U, 12U, 32U, 64U);
    k.columns = k.vector * *rc::gen::element(4U, 8U, 12U, 16U);
    k.pitch = k.columns + k.vector * *rc::gen::element(0U, 0U, 0U, 1U, 2U);
    k.a = *rc::gen::inRange(0U, 5U), k.b = *rc::gen::inRange(0U, 9U);
    k.c = *rc::gen::inRange(0U, 5U), k.d = *rc::gen::inRange(0U, 5U);
    k.values = *rc::gen::element(1U, 2U, 3U, 8U);
    k.on_bytes = *rc::gen::arbitrary<bool>();
    int const unit = k.on_bytes ? static_cast<int>(k.instruction.bytes) : static_cast<int>(k.vector);
    int const least = std::countr_zero(static_cast<unsigned>(unit));
    int const shift = *rc::gen::inRange(1, 6);
    k.swizzle = {*rc::gen::inRange(0, std::min(shift, 4)), least + *rc::gen::inRange(0, 3), shift};
    return k;
  });
}

RC_GTEST_PROP(Check, FindsTheWorstCaseOfADumbLoop, ()) {
  TileCase const k = *any_case();
  RC_LOG() << k.layout() << "  " << k.access();
  CheckOptions options;
  options.align = 1U << 20;  // the dumb loop looks at base 0 alone
  AccessVerdict const v =
      check(Placement(parse_mapping(k.layout(), {k.bits}), parse_access(k.access())), options);
  RC_CLASSIFY(k.pitch != k.columns, "padded");
  RC_CLASSIFY(v.excess() > 0, "conflicts");
  RC_CLASSIFY(v.engines.front() == Engine::linear, "decided by GF(2)");
  RC_CLASSIFY(v.engines.front() == Engine::smt, "decided by SMT");
  RC_ASSERT(v.wavefronts == k.worst());
  RC_ASSERT(std::holds_alternative<Proved>(v.outcome) == (v.wavefronts <= v.ideal));
  RC_ASSERT(v.conflict.has_value() || v.excess() == 0);
}

// What find_swizzle() and by_algebra() rest on.
RC_GTEST_PROP(Law, DependsOnTheXorOfAddressesAlone, ()) {
  Instruction const i = *any_instruction();
  auto warp = *any_access(i);
  unsigned const before = wavefronts(sm_90, i, warp);
  std::uint32_t const moved =
      *rc::gen::arbitrary<std::uint32_t>() / std::max(i.bytes, 4U) * std::max(i.bytes, 4U);
  for (std::uint32_t& a : warp.address) a ^= moved;
  RC_ASSERT(wavefronts(sm_90, i, warp) == before);
}

RC_GTEST_PROP(Find, NothingIsBetterThanTheBest, ()) {
  TileCase k = *any_case();
  k.swizzle = {0, 4, 3};
  SearchProblem problem;
  problem.tile = without_swizzle(parse_mapping(k.layout(), {k.bits}));
  problem.on_bytes = k.on_bytes;
  problem.accesses = {parse_access(k.access())};
  SwizzleSearch const found = find_swizzle(problem);
  Candidate const& best = found.best.front();
  RC_LOG() << k.layout() << "  " << k.access() << "  " << to_string(best.swizzle);
  k.swizzle = best.swizzle;
  RC_ASSERT(k.worst() == best.wavefronts.front());
  // Any swizzle that keeps the vectors whole, costed by the dumb loop.
  k.swizzle = (*any_case()).swizzle;
  std::uint32_t const unit = k.on_bytes ? k.instruction.bytes : k.vector;
  RC_PRE(k.swizzle.bits == 0 || 1U << k.swizzle.base >= unit);
  RC_ASSERT(k.worst() >= best.wavefronts.front() || k.worst() <= ideal_wavefronts(sm_90, k.instruction));
}

}  // namespace
}  // namespace swizproof
