// f permutes within aligned blocks of `span` units and within no smaller ones: 32, 64, 128 bytes for
// the canonical three. This is the sense in which the "128-byte swizzle" has its name.
#include "theorem.hpp"

namespace swizproof::proofs {

void add_span(std::vector<Claim>& claims) {
  auto const outside = [](auto const& f, auto x) { return 0 - f.span(x); };
  add_theorem(
      claims,
      {"span",
       "f(x) lies in the aligned block of x of size 2^(base+bits) (2^(base+bits+|shift|) for "
       "shift < 0), and some x leaves its half of the block",
       "CUDA C++ Programming Guide 13.1, 10.29.3", "f(x) lies in the same half of the block as x"},
      {.a_bit = true, .room = 63, .family_width = 64},
      [=](auto const& f, auto x, auto) {
        using W = decltype(x);
        W const all_sources = f.source_mask(x);
        W const half = shr(f.span(x), 1);
        return states(((f(x) ^ x) & outside(f, x)) == 0 && !(((f(all_sources) ^ all_sources) & half) == 0));
      },
      [](auto const& f, auto x, auto) { return states(((f(x) ^ x) & shr(f.span(x), 1)) == 0); });
}

}  // namespace swizproof::proofs
