// The source and target bits of valid swizzles as masks: what makes a theorem about every mask one about every valid swizzle.
#include "theorem.hpp"

namespace swizproof::proofs {

namespace {

/// A statement about each valid swizzle of one sign with bits > 0 and base + bits + |shift| <= room, a question for each; or about
/// each with one bit more than |shift|. So few are tried one by one: a solver takes seconds for shifts of shifts.
template <class StatementAbout>
auto each(bool leftward, unsigned room, bool is_valid, StatementAbout statement) {
  return [=] {
    std::vector<Question> questions;
    for (unsigned distance = 1; distance < room; ++distance)
      for (unsigned bits = is_valid ? 1 : distance + 1; bits <= (is_valid ? distance : distance + 1); ++bits)
        for (unsigned base = 0; base + bits + distance <= room; ++base)
          questions.push_back(
              ask(sign_of(leftward) + ", (bits, base, |shift|) = (" + std::to_string(bits) + ", " +
                      std::to_string(base) + ", " + std::to_string(distance) + ")",
                  64, {{"x", 1}}, [=](auto x) {
                    using W = decltype(x);
                    return statement(
                        SwizzleFormula<W>{like(x, bits), like(x, base), like(x, distance), leftward}, x);
                  }));
    return questions;
  };
}

Claim apart(bool leftward) {
  auto const are_apart = [](auto const& f, auto x) {
    auto const g = f.by_mask(x);
    auto const target = f.target_mask(x);
    return states(g.moved(g.source) == target && g.moved(first_of(g.source)) == first_of(target) &&
                  (g.source & target) == 0);
  };
  return {"masks/apart, " + sign_of(leftward),
          {"ZZZ is YYY moved by |shift|, and YYY's first bit, moved, is ZZZ's; they have no bit in common",
           each(leftward, 64, true, are_apart)},
          "every valid swizzle, one by one: bits > 0, " + sign_of(leftward) + ", within 64 bits",
          "CuTe, swizzle.hpp: yyy_msk, zzz_msk",
          {"the same with bits = |shift| + 1", each(leftward, 64, false, are_apart)},
          {},
          Effort::one};
}

Claim places(bool leftward) {
  auto const lie_there = [=](auto const& f, auto x) {
    using W = decltype(x);
    W const source = f.source_mask(x), target = f.target_mask(x), step = f.period(x);
    W const low = f.power(x, f.base), behind = f.power(x, W(f.base + f.bits)),
            high = f.power(x, W(f.base + f.distance));
    return states((leftward ? source : target) == W(behind - low) &&
                  (leftward ? target : source) == W(step - high) && low < behind && !(high < behind) &&
                  high < step);
  };
  std::string const above = leftward ? "ZZZ" : "YYY", below = leftward ? "YYY" : "ZZZ";
  return {"masks/places, " + sign_of(leftward),
          {below + " = 2^(base+bits) - 2^base, " + above +
               " = P - 2^(base+|shift|) with P = 2^(base+bits+|shift|), and 2^base < 2^(base+bits) <= "
               "2^(base+|shift|) < P",
           each(leftward, 63, true, lie_there)},
          "every valid swizzle, one by one: bits > 0, " + sign_of(leftward) + ", within 63 bits",
          "CuTe, swizzle.hpp: yyy_msk, zzz_msk",
          {"the same with bits = |shift| + 1", each(leftward, 63, false, lie_there)},
          {},
          Effort::one};
}

}  // namespace

void add_masks(std::vector<Claim>& claims) {
  for (bool const leftward : {false, true}) claims.push_back(apart(leftward));
  for (bool const leftward : {false, true}) claims.push_back(places(leftward));
}

}  // namespace swizproof::proofs
