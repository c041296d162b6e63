#include "generators/generators.hpp"

#include <swizproof/engine/affine.hpp>
#include <swizproof/parse/parse.hpp>
#include <swizproof/engine/decide.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace swizproof {
namespace {

/// A random word function of one variable, from operators that all kinds of word have.
rc::Gen<std::string> any_expression(int depth, bool affine) {
  return rc::gen::exec([depth, affine]() -> std::string {
    if (depth == 0) return *rc::gen::arbitrary<bool>() ? "x" : std::to_string(*rc::gen::inRange(0, 256));
    std::string const a = "(" + *any_expression(depth - 1, affine) + ")",
                      constant = std::to_string(*rc::gen::inRange(1, 64));
    switch (*rc::gen::inRange(0, affine ? 4 : 9)) {
      case 0:
        return a + " ^ (" + *any_expression(depth - 1, affine) + ")";
      case 1:
        return a + " & " + constant;
      case 2:
        return a + " << " + std::to_string(*rc::gen::inRange(0, 12));
      case 3:
        return a + " >> " + std::to_string(*rc::gen::inRange(0, 12));
      case 4:
        return a + " + (" + *any_expression(depth - 1, affine) + ")";
      case 5:
        return a + " - " + constant;
      case 6:
        return a + " / " + constant;
      case 7:
        return a + " % " + constant;
      default:
        return a + " < " + constant + " ? " + a + " : x";
    }
  });
}

Question two_functions(std::string const& f, std::string const& g, unsigned bits) {
  std::array<std::string, 1> const names{"x"};
  Expression const left = parse_expression(f, names), right = parse_expression(g, names);
  return ask(f + " == " + g, 32, {{"x", bits}}, [left, right](auto x) {
    using W = decltype(x);
    std::span<W const> const variables(&x, 1);
    return states(left(variables, x) == right(variables, x));
  });
}

RC_GTEST_PROP(Engines, AgreeOnRandomFunctions, ()) {
  bool const affine = *rc::gen::arbitrary<bool>();
  std::string const f = *any_expression(3, affine);
  std::string const g = *rc::gen::inRange(0, 3) == 0 ? *any_expression(2, affine) : "(" + f + ") ^ 0";
  Question const q = two_functions(f, g, 10);
  Outcome const exhaustive = *decide_exhaustively(q);
  Outcome const smt = decide_symbolically(std::span(&q, 1), {});
  auto const linear = decide_linearly(q);
  RC_CLASSIFY(std::holds_alternative<Proved>(exhaustive), "equal");
  RC_CLASSIFY(linear.has_value(), "affine");
  RC_ASSERT(smt.index() == exhaustive.index());
  if (linear) RC_ASSERT(linear->index() == exhaustive.index());
}

RC_GTEST_PROP(Affine, IsTheFunctionWhereItIsExact, (std::uint32_t value)) {
  std::string const f = *any_expression(4, *rc::gen::arbitrary<bool>());
  std::array<std::string, 1> const names{"x"};
  Expression const e = parse_expression(f, names);
  Affine const x = Affine::inputs(32, 0, 32);
  Affine const y = e(std::span<Affine const>(&x, 1), x);
  RC_CLASSIFY(y.exact(), "affine");
  RC_PRE(y.exact());
  std::uint32_t const expected = e(std::span<std::uint32_t const>(&value, 1), value);
  std::uint32_t got = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    bool b = y.bit(bit).constant;
    for (unsigned i = 0; i < 32; ++i) b ^= y.bit(bit).contains(i) && (value >> i & 1) != 0;
    got |= std::uint32_t{b} << bit;
  }
  RC_ASSERT(got == expected);
}

RC_GTEST_PROP(Engines, AgreeOnEverySwizzleProperty, (Swizzle s)) {
  std::vector<Question> const questions{
      ask("involution", 64, {{"x", 32}}, [s](auto x) { return states(s(s(x)) == x); }),
      ask("one-to-one", 64, {{"x", 16}, {"y", 16}},
          [s](auto x, auto y) { return states(s(x) == s(y), x == y); }),
      ask("identity", 64, {{"x", 32}}, [s](auto x) { return states(s(x) == x); }),
      ask("cube", 64, {{"x", 32}}, [s](auto x) { return states(s(s(s(x))) == s(x)); }),
  };
  for (Question const& q : questions) {
    auto const linear = decide_linearly(q);
    RC_ASSERT(linear.has_value());
    RC_ASSERT(linear->index() == decide_symbolically(std::span(&q, 1), {}).index());
  }
}

// The cost model as a formula with a free base and origin, compared with the cost model run on every origin.
RC_GTEST_PROP(Engines, AgreeOnTheLawOfWavefronts, ()) {
  auto const names = named_accesses();
  Access const access = names[*rc::gen::inRange<std::size_t>(0, names.size())].access;
  Swizzle const s{*rc::gen::inRange(0, 4), 4, 3};
  std::uint32_t const pitch = 16 * *rc::gen::inRange(1U, 20U);
  auto const law = [=](auto row) {
    auto const zero = like(row, 0);
    return wavefronts(sm_90, access.instruction, addresses(access, s, zero, like(row, pitch), row, zero));
  };
  std::uint32_t most = 0;
  for (std::uint32_t row = 0; row < 64; ++row) most = std::max(most, law(row));
  auto const at_most = [=](std::uint32_t n) {
    return ask(access.name, 32, {{"row", 6}}, [=](auto row) {
      auto const cost = law(row);
      return states(!(n < cost));
    });
  };
  Question const holds = at_most(most), fails = at_most(most - 1);
  RC_CLASSIFY((pitch & (pitch - 1)) != 0, "padded pitch");
  RC_ASSERT(std::holds_alternative<Proved>(decide_symbolically(std::span(&holds, 1), {})));
  RC_ASSERT(std::holds_alternative<Refuted>(decide_symbolically(std::span(&fails, 1), {})));
}

}  // namespace
}  // namespace swizproof
