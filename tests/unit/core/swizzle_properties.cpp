#include "generators/generators.hpp"

#include <swizproof/core/gf2.hpp>
#include <swizproof/parse/parse.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace swizproof {
namespace {

void classify(Swizzle s) {
  RC_CLASSIFY(s.bits == 0, "bits 0");
  RC_CLASSIFY(s.shift < 0, "negative shift");
  RC_CLASSIFY(s.base + s.bits + static_cast<int>(s.distance()) == 32, "uses the top bit");
}

RC_GTEST_PROP(Swizzle, TwiceIsTheIdentity, (Swizzle s, std::uint32_t x)) {
  classify(s);
  RC_ASSERT(s(s(x)) == x);
}

RC_GTEST_PROP(Swizzle, IsLinearOverXor, (Swizzle s, std::uint64_t x, std::uint64_t y)) {
  classify(s);
  RC_ASSERT(s(x ^ y) == (s(x) ^ s(y)));
}

// The slow definition, bit by bit: target bit i takes source bit i.
RC_GTEST_PROP(Swizzle, MovesEachBitAsTheDefinitionSays, (Swizzle s, std::uint32_t x)) {
  classify(s);
  std::uint32_t expected = x;
  for (int i = 0; i < s.bits; ++i) {
    int const source = s.base + i + (s.shift > 0 ? s.shift : 0);
    int const target = s.base + i - (s.shift < 0 ? s.shift : 0);
    if ((x >> source & 1) != 0) expected ^= 1U << target;
  }
  RC_ASSERT(s(x) == expected);
}

RC_GTEST_PROP(Swizzle, IsTheSameOn32And64Bits, (Swizzle s, std::uint32_t x)) {
  RC_ASSERT(s(std::uint64_t{x}) == s(x));
}

RC_GTEST_PROP(Swizzle, StaysInItsSpanAndRepeatsWithItsPeriod,
              (Swizzle s, std::uint32_t x32, std::uint16_t k)) {
  classify(s);
  std::uint64_t const x = x32;
  RC_ASSERT(s(x) / s.span() == x / s.span());
  RC_ASSERT(s(x + k * s.period()) == s(x) + k * s.period());
}

RC_GTEST_PROP(Swizzle, HasAMatrixOfFullRank, (Swizzle s)) {
  RC_ASSERT(rank(BitMatrix::of(s, 32).columns) == 32U);
}

RC_GTEST_PROP(Recast, ActsOnUnitsAsTheSwizzleActsOnTheirParts, (Swizzle s, std::uint32_t element)) {
  int const k = *rc::gen::inRange(0, 8);
  auto const r = recast(s, k);
  RC_CLASSIFY(!r.has_value(), "cuts elements");
  RC_PRE(r.has_value());
  RC_ASSERT(s(std::uint64_t{element} << k) == (*r)(std::uint64_t{element}) << k);
}

RC_GTEST_PROP(Recast, ThereAndBackIsTheSame, (Swizzle s)) {
  int const k = *rc::gen::inRange(0, 5);
  RC_PRE(s.base >= k);
  RC_ASSERT(recast(*recast(s, k), -k) == s);
}

RC_GTEST_PROP(Recast, ToFinerUnitsMovesWholeOldUnits, (Swizzle s, std::uint32_t x)) {
  int const k = *rc::gen::inRange(1, 8);
  auto const fine = recast(s, -k);
  RC_PRE(fine.has_value());
  std::uint64_t const inside = *rc::gen::inRange<std::uint64_t>(0, 1ULL << k);
  RC_ASSERT((*fine)((std::uint64_t{x} << k) + inside) == (s(std::uint64_t{x}) << k) + inside);
}

RC_GTEST_PROP(Swizzle, PrintsWhatItParses, (Swizzle s)) { RC_ASSERT(parse_swizzle(to_string(s)) == s); }

// Each part through the swizzle by itself.
RC_GTEST_PROP(Swizzle, PartsThatDoNotCarryAreSwizzledOneByOne,
              (Swizzle s, std::uint32_t a, std::uint32_t b)) {
  std::uint64_t const thin = *rc::gen::arbitrary<std::uint32_t>(), x = a & thin, y = b & ~thin;
  RC_ASSERT(s.adds_without_carry(x, y));
  RC_ASSERT((s(x) ^ s(y)) == s(x + y));
  std::uint64_t const source = s.source_mask() & ~(s.source_mask() - 1);
  RC_ASSERT(s.bits == 0 || !s.adds_without_carry(source, source));
  RC_ASSERT(s.adds_without_carry(s.period() * a, s.period() * b));
}

RC_GTEST_PROP(Swizzle, IsValidExactlyByTheRule, ()) {
  auto const field = rc::gen::inRange(-40, 41);
  Swizzle const s{*field, *field, *field};
  bool const rule =
      s.bits >= 0 && s.base >= 0 && s.bits <= std::abs(s.shift) && s.base + s.bits + std::abs(s.shift) <= 32;
  RC_CLASSIFY(rule, "valid");
  RC_ASSERT(s.valid() == rule);
}

}  // namespace
}  // namespace swizproof
