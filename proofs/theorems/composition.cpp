// Swizzles composed and nested: which pairs give a swizzle again, and where two of them agree.
#include "theorem.hpp"

namespace swizproof::proofs {

namespace {

/// A question about bits, base, |shift|, a second number of bits and x, on 32-bit words.
template <class StatementAbout>
Question ask_pair(bool leftward, StatementAbout statement) {
  return ask(sign_of(leftward), 32, {{"bits", 6}, {"base", 6}, {"|shift|", 6}, {"fewer", 6}, {"x", 32}},
             [=](auto bits, auto base, auto distance, auto fewer, auto x) {
               using W = decltype(x);
               SwizzleFormula<W> const more{bits, base, distance, leftward};
               SwizzleFormula<W> const less{fewer, base, distance, leftward};
               return given(valid(more, x, {.room = 32}) && !(bits < fewer), statement(more, less, x));
             });
}

/// more(less(x)) = rest(x) for masks, where no bit that `less` moves lands on a source bit of `more`: rest has the source bits of
/// `more` that `less` lacks.
Question ask_pair_of_masks(bool leftward) {
  return ask(
      "every mask, " + sign_of(leftward), 32, {{"YYY", 32}, {"of less", 32}, {"|shift|", 6}, {"x", 32}},
      [=](auto source, auto chosen, auto distance, auto x) {
        using W = decltype(x);
        MaskSwizzle<W> const more{source, distance, leftward}, less{source & chosen, distance, leftward};
        MaskSwizzle<W> const rest{source ^ less.source, distance, leftward};
        return states((less.moved(less.source) & source) == 0, more(less(x)) == rest(x));
      });
}

}  // namespace

void add_composition(std::vector<Claim>& claims) {
  for (bool const leftward : {false, true}) {
    auto const masks_are_such = [=](auto const& more, auto const& less, auto x) {
      using W = decltype(x);
      SwizzleFormula<W> const rest{W(more.bits - less.bits), W(more.base + less.bits), more.distance,
                                   leftward};
      W const source = more.source_mask(x), chosen = less.source_mask(x);
      return states((source & chosen) == chosen && (less.by_mask(x).moved(chosen) & source) == 0 &&
                    rest.source_mask(x) == (source ^ chosen));
    };
    std::string const sign = ", " + sign_of(leftward);
    claims.push_back(
        {"composition/equal base and shift" + sign,
         {"f<B,M,S> o f<C,M,S> = f<B-C, M+C, S> for C <= B",
          [=] {
            return std::vector{ask_pair(leftward, masks_are_such), ask_pair_of_masks(leftward)};
          }},
         "bits, base, |shift|, C symbolic" + sign + ", base+bits+|shift| <= 32, all 32-bit offsets",
         "CuTe: composition(Sw<2,3,3>, Sw<3,3,3>) = Sw<1,5,3>",
         single("it is f<B-C, M, S>", ask_pair(leftward, [=](auto const& more, auto const& less, auto x) {
                  using W = decltype(x);
                  SwizzleFormula<W> const rest{W(more.bits - less.bits), more.base, more.distance, leftward};
                  return states(more(less(x)) == rest(x));
                }))});
  }
  auto const agree = [](bool from_bit_above) {
    std::vector<Question> questions;
    for (int k = 0; k < 3; ++k)
      questions.push_back(ask("Sw<" + std::to_string(k + 1) + ",4,3> and Sw<" + std::to_string(k) + ",4,3>",
                              64, {{"x", 64}}, [=](auto x) {
                                unsigned const bit = 1U << (7 + k + (from_bit_above ? 1 : 0));
                                auto const same = Swizzle{k + 1, 4, 3}(x) == Swizzle{k, 4, 3}(x);
                                return states(iff(same, (x & bit) == 0));
                              }));
    return questions;
  };
  claims.push_back({"nesting/canonical",
                    {"Sw<k+1,4,3>(x) = Sw<k,4,3>(x) exactly where bit 7+k of x (counted from 0) is 0",
                     [=] { return agree(false); }},
                    "k = 0, 1, 2, all 64-bit byte addresses",
                    "veitner.bearblog.dev, 'iff the 8th, 9th, 10th LSB is 0': right if bits count from 1, "
                    "though it announces "
                    "that they count from 0",
                    {"... exactly where bit 8+k is 0", [=] { return agree(true); }}});
}

}  // namespace swizproof::proofs
