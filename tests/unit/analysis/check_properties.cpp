#include "generators/any_tile.hpp"

#include <swizproof/analysis/find.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace swizproof {
namespace {

RC_GTEST_PROP(Check, FindsTheWorstCaseOfADumbLoop, ()) {
  TileCase const k = *any_case();
  RC_LOG() << k.layout() << "  " << k.access();
  CheckOptions options;
  options.align = 1U << 20;  // the dumb loop looks at base 0 alone
  options.every_engine = true;
  options.limits.steps = 150'000;  // of SMT's: what exhaustion says stands without it
  AccessVerdict const v =
      check(Placement(parse_mapping(k.layout(), {k.bits}), parse_access(k.access())), options);
  classify(k);
  RC_CLASSIFY(v.excess() > 0, "conflicts");
  RC_CLASSIFY(v.engines.front() == Engine::linear, "decided by linear algebra");
  RC_CLASSIFY(v.engines.front() == Engine::smt, "decided by SMT");
  RC_ASSERT(v.cost()->wavefronts == k.worst());
  RC_ASSERT(std::holds_alternative<Proved>(v.outcome()) == (v.cost()->wavefronts <= v.ideal));
  RC_ASSERT(v.cost()->has_conflict() || v.excess() == 0);
}

// Assumptions of find_swizzle() and by_algebra().
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
  TileCase k = *any_tile();
  classify(k);
  k.swizzle = {0, 4, 3};
  SearchProblem problem;
  problem.tile = searched_tile(parse_mapping(k.layout(), {k.bits}));
  problem.on_bytes = k.on_bytes;
  problem.accesses = {parse_access(k.access())};
  SwizzleSearch const found = find_swizzle(problem);
  Candidate const& best = found.best.front();
  RC_LOG() << k.layout() << "  " << k.access() << "  " << to_string(best.swizzle);
  k.swizzle = best.swizzle;
  RC_ASSERT(k.worst() == best.cost.wavefronts.front());
  RC_ASSERT(k.total() == best.cost.total);
  // Any swizzle that keeps the vectors whole, costed by the dumb loop.
  k.swizzle = (*any_tile()).swizzle;
  std::uint32_t const unit = k.on_bytes ? k.instruction.bytes : k.vector;
  RC_PRE(k.swizzle.bits == 0 || 1U << k.swizzle.base >= unit);
  RC_ASSERT(k.total() >= best.cost.total);
  RC_ASSERT(k.worst() >= found.gentlest.cost.wavefronts.front() ||
            k.worst() <= ideal_wavefronts(sm_90, k.instruction));
}

}  // namespace
}  // namespace swizproof
