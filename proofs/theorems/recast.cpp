// Units: the same swizzle on bytes and on elements of 2^k bytes.
//
// Sw<3,4,3> on byte addresses is Sw<3,3,3> on 2-byte elements. base goes down by k, exactly as long as
// k <= base. Beyond that a rightward swizzle cuts elements in two (unless its fields all lie inside
// one element); a leftward one loses the k - base bits that the element swallows.
#include "theorem.hpp"

namespace swizproof::proofs {

namespace {

/// Questions about all parameters and all x, one for each unit of 2^k, k = 1..most.
template <class StatementAbout>
std::vector<Question> ask_units(bool leftward, unsigned most, StatementAbout statement) {
  std::vector<Question> questions;
  for (unsigned k = 1; k <= most; ++k)
    questions.push_back(ask_all(leftward, [=](auto const& f, auto x, auto) {
      return given(valid(f, x, with_a_bit), statement(f, k, x));
    }));
  return questions;
}

std::string const symbolic = "every valid swizzle at once, bits > 0; all 64-bit element offsets";
std::string const source = "CuTe, as_position_independent_swizzle_layout";

/// f on units is g on elements of 2^k units.
constexpr auto equal = [](auto const& f, auto const& g, unsigned k, auto x) {
  return f(shl(x, k)) == shl(g(x), k);
};
constexpr auto smaller = [](auto const& f, unsigned k, auto x) {
  using W = decltype(x);
  return SwizzleFormula<W>{f.bits, W(f.base - k), f.distance, f.leftward};
};
constexpr auto shrunk = [](auto const& f, unsigned k, auto x) {
  using W = decltype(x);
  return SwizzleFormula<W>{W(f.bits - W(k - f.base)), like(x, 0), f.distance, f.leftward};
};

Claim unit_of_two(bool leftward) {
  auto const is_even = [](auto bits) { return (bits & 1) == 0; };
  auto const half_the_mask = [=](auto const& g, auto x, auto) {
    auto halved = g;
    halved.source = shr(g.source, 1);
    return states(is_even(g.source) && is_even(g.moved(g.source)), equal(g, halved, 1, x));
  };
  auto const is_half_the_mask = [=](auto const& f, unsigned k, auto x) {
    auto const g = f.by_mask(x);
    return states(!(f.base < k), is_even(g.source) && is_even(g.moved(g.source)) &&
                                     smaller(f, k, x).source_mask(x) == shr(g.source, 1));
  };
  auto const unit_ignored = [=](auto const& f, unsigned k, auto x) {
    return states(!(f.base < k), equal(f, f, k, x));
  };
  return {std::string("recast/a unit of two, shift ") + (leftward ? "< 0" : ">= 0"),
          {"f<B,M,S>(2x) = 2 f<B,M-1,S>(x) if M >= 1 (so, by induction, units of 2^k make "
           "f<B,M-k,S> if k <= M)",
           [=] {
             std::vector<Question> questions = ask_units(leftward, 1, is_half_the_mask);
             questions.push_back(ask_masks(leftward, half_the_mask));
             return questions;
           }},
          symbolic + ", " + sign_of(leftward),
          source,
          {"with M unchanged, as if bytes and elements were one unit",
           [=] { return ask_units(leftward, 1, unit_ignored); }}};
}

Claim cuts_elements() {
  // The highest source bit that feeds a target inside an element, as an element offset.
  auto const cut = [](auto const& f, unsigned k, auto x) {
    using W = decltype(x);
    W const lost = k - f.base;
    W const last = select(f.bits < lost, f.bits, lost) - 1;
    W const element = f.power(x, W(W(W(f.base + f.distance) + last) - k));
    return !((f(shl(element, k)) & ((std::uint64_t{1} << k) - 1)) == 0);
  };
  auto const between = [=](auto const& f, unsigned k, auto x) {
    return states(f.base < k && k < f.base + f.bits + f.distance, cut(f, k, x));
  };
  auto const always = [=](auto const& f, unsigned k, auto x) { return states(f.base < k, cut(f, k, x)); };
  return {
      "recast/k > base cuts elements, shift >= 0",
      {"if M < k < M+B+S no element swizzle equals f<B,M,S>: some element is moved by a fraction of itself",
       [=] { return ask_units(false, 7, between); }},
      "k = 1..7; " + symbolic,
      "against as_position_independent_swizzle_layout, which drops those bits",
      {"it is so for every k > M", [=] { return ask_units(false, 7, always); }}};
}

Claim loses_a_bit() {
  auto const loses_bits = [=](auto const& f, unsigned k, auto x) {
    return states(f.base < k && !(f.base + f.bits < k), equal(f, shrunk(f, k, x), k, x));
  };
  return {"recast/base 0 loses a bit, shift < 0",
          {"f<B,0,S>(2x) = 2 f<B-1,0,S>(x): where base would go below 0, CuTe shrinks bits, "
           "rightly for shift < 0",
           [=] { return ask_units(true, 1, loses_bits); }},
          symbolic,
          source,
          {"the same rule for shift >= 0", [=] { return ask_units(false, 1, loses_bits); }}};
}

// The function that the tools use, on the whole family: what it returns is right, and where it
// returns nothing an element is cut.
Claim function_recast() {
  auto const family = [](bool doubt) {
    std::vector<Question> questions;
    for (Swizzle const& s : every_swizzle())
      for (int k = 1; k <= 4; ++k) {
        std::optional<Swizzle> const r = recast(s, k);
        questions.push_back(ask(to_string(s) + " k=" + std::to_string(k), 64, {{"x", 32}}, [=](auto x) {
          auto const unit = static_cast<unsigned>(k);
          if (r && !doubt) return states(s(shl(x, unit)) == shl((*r)(x), unit));
          if (r) return states(s(shl(x, unit)) == shl(x, unit));
          unsigned const inside = (1U << k) - 1;
          // Some source bit cuts the element it is set in; all of them set do not cancel out.
          auto const all = shl(shr(like(x, s.source_mask()), unit), unit);
          return states(!((s(all) & inside) == 0));
        }));
      }
    return questions;
  };
  return {"recast/the function recast()",
          {"recast(s, k) is the swizzle on 2^k units, and refuses exactly where an element is cut",
           [=] { return family(false); }},
          "6,801 swizzles x elements of 2, 4, 8, 16 units, all 32-bit element offsets",
          "swizzle.hpp",
          {"swizzles do nothing to whole elements", [=] { return family(true); }},
          {},
          Effort::one};
}

}  // namespace

void add_recast(std::vector<Claim>& claims) {
  for (bool const leftward : {false, true}) claims.push_back(unit_of_two(leftward));
  claims.push_back(cuts_elements());
  claims.push_back(loses_a_bit());
  claims.push_back(function_recast());
}

}  // namespace swizproof::proofs
