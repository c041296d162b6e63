// The low `base` bits stay, so vectors of 2^base units stay whole; nothing outside ZZZ changes.
#include "theorem.hpp"

namespace swizproof::proofs {

void add_kept_bits(std::vector<Claim>& claims) {
  auto const low_mask = [](auto const& f, auto x) { return f.power(x, f.base) - 1; };
  Words const low{"low bits", "the low `base` bits of f(x) are those of x", "CuTe, swizzle.hpp: MBase",
                  "one bit more is kept: of the low bits up to the lowest target"};
  auto const stay = [=](auto const& f, auto x, auto) { return states(((f(x) ^ x) & low_mask(f, x)) == 0); };
  auto const one_more = [](auto const& f, auto x, auto) {
    using W = decltype(x);
    W const target = f.target_mask(x);
    W const lowest = first_of(target);
    return states(((f(x) ^ x) & lowest) == 0);
  };
  add_family(claims, low, with_a_bit, stay, one_more);
  add_public(claims, low, with_a_bit, stay, one_more);
  add_parametric(claims, low, with_a_bit, stay, one_more);
  add_theorem(
      claims,
      {"target bits", "f(x) and x differ only in the target bits ZZZ; the source bits YYY stay",
       "CuTe, swizzle.hpp: 'ZZZ ^= YYY'", "only in all but the lowest target bit"},
      {.a_bit = true},
      [](auto const& f, auto x, auto) {
        using W = decltype(x);
        W const elsewhere = f.target_mask(x) ^ -1;
        W const changed = f(x) ^ x;
        return states((changed & elsewhere) == 0 && (changed & f.source_mask(x)) == 0);
      },
      [](auto const& f, auto x, auto) {
        using W = decltype(x);
        W const target = f.target_mask(x);
        W const fewer = target & (target - 1);
        return states(((f(x) ^ x) & (fewer ^ -1)) == 0);
      });
}

}  // namespace swizproof::proofs
