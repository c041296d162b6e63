// Swizzling twice gives back the offset: the same code stores and loads.
#include "theorem.hpp"

namespace swizproof::proofs {

void add_involution(std::vector<Claim>& claims) {
  auto const twice = [](auto const& f, auto x, auto) { return states(f(f(x)) == x); };
  auto const thrice = [](auto const& f, auto x, auto) { return states(f(f(f(x))) == x); };
  add_theorem(claims, {"involution", "f(f(x)) = x", "CuTe, swizzle.hpp", "f(f(f(x))) = x"}, {.a_bit = true},
              twice, thrice);

  // With overlapping fields it is never one: the outermost source bit, which no other bit feeds,
  // comes back with a bit that was fed twice over.
  for (bool const leftward : {false, true}) {
    auto const overlapping = [=](auto const& f, auto x) {
      auto const overlap = fits(f, x, 64) && f.distance < f.bits;
      return leftward ? overlap && 0 < f.distance : overlap;
    };
    auto const never = ask_all(leftward, [=](auto const& f, auto x, auto) {
      using W = decltype(x);
      W const source = f.source_mask(x);
      W const lowest = first_of(source);
      W const highest = source ^ (source & shr(source, 1));
      W const witness = leftward ? lowest : highest;
      return states(overlapping(f, x), !(f(f(witness)) == witness));
    });
    claims.push_back(
        {std::string("involution/never if invalid, shift ") + (leftward ? "< 0" : ">= 0"),
         single("with bits > |shift|, f(f(x)) != x for some x: the least or greatest source bit", never),
         std::string("all (bits, base, |shift|) within 64 bits with bits > |shift|, shift ") +
             (leftward ? "< 0" : ">= 0"),
         "against mdspan-cute, VERIFICATION.md, which states no condition",
         single("with bits > |shift|, f(f(x)) != x for every x",
                ask_all(leftward, [=](auto const& f, auto x, auto) {
                  return states(overlapping(f, x), !(f(f(x)) == x));
                }))});
  }
}

}  // namespace swizproof::proofs
