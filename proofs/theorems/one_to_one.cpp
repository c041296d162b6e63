// A swizzle is a bijection: no two offsets share a place, so no data is lost.
//
// On words of fixed width one-to-one is the same as bijective. Over the family of thousands the
// claim is the cheaper "only 0 goes to 0", which says the same because f is linear (linearity.cpp:
// f(x) = f(y) means f(x^y) = 0).
#include "theorem.hpp"

namespace swizproof::proofs {

void add_one_to_one(std::vector<Claim>& claims) {
  auto const kernel = [](auto const& f, auto x, auto) { return states(f(x) == 0, x == 0); };
  auto const one_to_one = [](auto const& f, auto x, auto y) { return states(f(x) == f(y), x == y); };
  // The false variant of the matmul skill: ZZZ overwritten by YYY instead of XORed.
  auto const overwrites = [](auto const& f, auto x) { return f(x) ^ (x & f.target_mask(x)); };
  add_family(claims,
             {"bijection", "f(x) = 0 only for x = 0; f being linear, f is a bijection", "CuTe, swizzle.hpp",
              "the same for an f that overwrites the target bits instead of XORing them"},
             {.a_bit = true}, kernel,
             [=](auto const& f, auto x, auto) { return states(overwrites(f, x) == 0, x == 0); });
  auto const overwrite = [=](auto const& f, auto x, auto y) {
    return states(overwrites(f, x) == overwrites(f, y), x == y);
  };
  Words const words{"bijection", "f(x) = f(y) only for x = y: f is a bijection", "CuTe, swizzle.hpp",
                    "the same for an f that overwrites the target bits instead of XORing them"};
  add_public(claims, words, {.a_bit = true}, one_to_one, overwrite);
  add_by_mask(claims, words, {.a_bit = true}, one_to_one, overwrite);

  // Exactly which parameters, valid or not, give a bijection: all but shift = 0 with bits > 0.
  for (bool const leftward : {false, true}) {
    // shift < 0 means |shift| > 0: leftward there is nothing left to except.
    auto const fields_fit = [=](auto const& f, auto x) {
      return leftward ? fits(f, x, 64) && 0 < f.distance : fits(f, x, 64);
    };
    auto const still_one_to_one = ask_all(leftward, [=](auto const& f, auto x, auto y) {
      auto const zero = like(x, 0);
      return states(fields_fit(f, x) && (!(f.distance == zero) || f.bits == zero) && f(x) == f(y), x == y);
    });
    auto const not_at_zero = ask_all(leftward, [=](auto const& f, auto x, auto) {
      auto const zero = like(x, 0);
      return states(fields_fit(f, x) && f.distance == zero && !(f.bits == zero),
                    f(f.source_mask(x)) == f(zero) && !(f.source_mask(x) == zero));
    });
    claims.push_back(
        {std::string("bijection/even if invalid, shift ") + (leftward ? "< 0" : ">= 0"),
         {"with bits > |shift| allowed, f is one-to-one exactly if shift != 0 or bits = 0",
          [=] {
            return leftward ? std::vector{still_one_to_one} : std::vector{still_one_to_one, not_at_zero};
          }},
         std::string("all (bits, base, |shift|) within 64 bits, shift ") + (leftward ? "< 0" : ">= 0") +
             ", all 64-bit offsets",
         "against mdspan-cute, VERIFICATION.md, which takes 'involution' for 'bijection'",
         single("one-to-one for every shift, 0 included", ask_all(false, [](auto const& f, auto x, auto y) {
                  return states(fits(f, x, 64) && f(x) == f(y), x == y);
                }))});
  }
}

}  // namespace swizproof::proofs
