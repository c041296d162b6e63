// How far a value moves when what it is made of moves: why cases of an access that lie a period apart are one case
// (engine/motion.hpp, analysis/repeats.hpp).
#include "theorem.hpp"

namespace swizproof::proofs {

namespace {

constexpr std::string_view domain = "every u = 2^n, all 64-bit x, y and m with these conditions";

/// statement(u, x, m, y) about powers of two u, multiples m of u and y.
template <class StatementAbout>
Question ask_moves(std::string name, StatementAbout statement) {
  return ask(std::move(name), 64, {{"u", 64}, {"x", 64}, {"m", 64}, {"y", 64}},
             [=](auto u, auto x, auto m, auto y) {
               auto const power = !(u == 0) && (u & (u - 1)) == 0;
               return given(power && (m & (u - 1)) == 0, statement(u, x, m, y));
             });
}

/// Bits below u, and a value that moves by a multiple of u; `factor` times u for the control.
std::vector<Question> low_bits(unsigned factor) {
  auto const below = [factor](auto law) {
    return [=](auto u, auto x, auto m, auto y) { return states(y < u * factor, law(x, m, y)); };
  };
  return {ask_moves("xor", below([](auto x, auto m, auto y) { return ((x + m) ^ y) == (x ^ y) + m; })),
          ask_moves("or", below([](auto x, auto m, auto y) { return ((x + m) | y) == (x | y) + m; })),
          ask_moves("and", below([](auto x, auto m, auto y) { return ((x + m) & y) == (x & y); })),
          ask_moves("and not", below([](auto x, auto m, auto y) {
                      return ((x + m) & (y ^ -1)) == (x & (y ^ -1)) + m;
                    }))};
}

}  // namespace

void add_moves(std::vector<Claim>& claims) {
  claims.push_back({"moves/low bits",
                    several("if m is a multiple of u and y < u: (x+m) ^ y = (x ^ y) + m, "
                            "(x+m) | y = (x | y) + m, (x+m) & y = x & y, (x+m) & ~y = (x & ~y) + m",
                            low_bits(1)),
                    std::string(domain), "engine/motion.hpp", several("the same for y < 2u", low_bits(2))});
}

}  // namespace swizproof::proofs
