// A swizzle is linear over XOR: a matrix of bits. It is not linear over +.
#include "theorem.hpp"

namespace swizproof::proofs {

void add_linearity(std::vector<Claim>& claims) {
  add_theorem(
      claims,
      {"linearity", "f(x ^ y) = f(x) ^ f(y)", "follows from the formula; Triton's linear layouts rest on it",
       "f(x + y) = f(x) + f(y)"},
      {.a_bit = true}, [](auto const& f, auto x, auto y) { return states((f(x ^ y) ^ f(x) ^ f(y)) == 0); },
      [](auto const& f, auto x, auto y) { return states(f(x + y) == f(x) + f(y)); });
}

}  // namespace swizproof::proofs
