// f permutes within aligned blocks of `span` units and within no smaller ones: 32, 64, 128 bytes for
// the canonical three. This is the sense in which the "128-byte swizzle" has its name.
#include "theorem.hpp"

namespace swizproof::proofs {

void add_span(std::vector<Claim>& claims) {
  auto const outside = [](auto const& f, auto x) { return 0 - f.span(x); };
  auto const half = [](auto const& f, auto x) { return shr(f.span(x), 1); };
  Words const words{"span",
                    "f(x) lies in the aligned block of x of size 2^(base+bits) (2^(base+bits+|shift|) for "
                    "shift < 0), and some x leaves its half of the block",
                    "CUDA C++ Programming Guide 13.1, 10.29.3",
                    "f(x) lies in the same half of the block as x"};
  Requirements const needs{.a_bit = true, .room = 63, .family_width = 64};
  auto const in_block = [=](auto const& f, auto x, auto) {
    auto const all_sources = f.source_mask(x);
    return states(((f(x) ^ x) & outside(f, x)) == 0 && !(((f(all_sources) ^ all_sources) & half(f, x)) == 0));
  };
  auto const in_half = [=](auto const& f, auto x, auto) { return states(((f(x) ^ x) & half(f, x)) == 0); };
  add_family(claims, words, needs, in_block, in_half);
  add_public(claims, words, needs, in_block, in_half);
  // By mask: f changes target bits alone, and all of them for some x; these lie in the block and not in its half.
  for (bool const leftward : {false, true}) {
    auto const changed = ask_masks(leftward, [](auto const& g, auto x, auto) {
      auto const target = g.target_mask(x);
      return given(g.valid(),
                   states(((g(x) ^ x) & (target ^ -1)) == 0 && (g(g.source) ^ g.source) == target));
    });
    auto const targets = ask_all(leftward, [=](auto const& f, auto x, auto) {
      auto const target = f.target_mask(x);
      return given(valid(f, x, needs),
                   states((target & outside(f, x)) == 0 && !((target & half(f, x)) == 0)));
    });
    claims.push_back({words.name + "/symbolic, " + sign_of(leftward), several(words.text, {changed, targets}),
                      symbolic_domain(needs, leftward) + " (masks)", words.source,
                      single(words.control, ask_all(leftward, [=](auto const& f, auto x, auto y) {
                               return given(valid(f, x, needs), in_half(f, x, y));
                             }))});
  }
}

}  // namespace swizproof::proofs
