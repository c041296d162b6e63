// Theorems about all swizzles at once: which of them make an access conflict-free, and that for some
// accesses none does.
#include "theorem.hpp"

namespace swizproof::proofs {

namespace {

/// wavefronts of `access` under f on absolute addresses, rows `pitch` bytes apart from byte `origin`.
template <class F, class W>
auto cost_under(F const& f, std::string const& access, W origin, unsigned pitch) {
  Access const a = *named_access(access);
  W const zero = like(origin, 0);
  return wavefronts(sm_90, a.instruction, addresses(a, f, origin, like(origin, pitch), zero, zero));
}

/// A question about all parameters of one sign with base >= 4 (16-byte vectors stay whole), and a
/// 32-bit origin that is a multiple of `align`.
template <class StatementAbout>
Question ask_whole_vectors(bool leftward, unsigned log2_align, StatementAbout statement) {
  return ask(sign_of(leftward), 32,
             {{"bits", 6}, {"base", 6}, {"|shift|", 6}, {"origin/align", 32 - log2_align}},
             [=](auto bits, auto base, auto distance, auto units) {
               using W = decltype(base);
               SwizzleFormula<W> const f{bits, base, distance, leftward};
               auto const whole = valid(f, base, {.a_bit = true, .room = 32}) && !(base < 4);
               return given(whole, statement(f, shl(units, log2_align)));
             });
}

/// Which swizzles make eight rows of 16 bytes, `pitch` apart, conflict-free: from every origin, and
/// from the origins that are multiples of eight rows.
void add_rows_of_16_bytes(std::vector<Claim>& claims, unsigned log2_pitch) {
  unsigned const pitch = 1U << log2_pitch;
  unsigned const bits = log2_pitch - 4;
  auto const conflict_free = [=](auto const& f, auto origin) {
    auto const n = cost_under(f, "ldmatrix.x1", origin, pitch);
    return n == 1;
  };
  auto const four_three = [](auto const& f, auto) { return f.base == 4 && f.distance == 3; };
  auto const exactly = [=](auto const& f, auto x) { return four_three(f, x) && f.bits == bits; };
  auto const at_least = [=](auto const& f, auto x) { return four_three(f, x) && !(f.bits < bits); };
  auto const sufficient = [=](unsigned log2_align, auto wanted) {
    return ask_whole_vectors(false, log2_align, [=](auto const& f, auto origin) {
      return states(wanted(f, origin), conflict_free(f, origin));
    });
  };
  // Conflict-free from a few origins is enough to be one of the wanted: 0, and rows that do not start
  // at a multiple of eight rows.
  auto const necessary = [=](std::vector<unsigned> origins, auto wanted) {
    return ask_whole_vectors(false, 4, [=](auto const& f, auto origin) {
      truth_of<decltype(origin)> all = true;
      for (unsigned const at : origins) all = all && conflict_free(f, like(origin, at));
      return states(all, wanted(f, origin));
    });
  };
  auto const never_leftward = ask_whole_vectors(
      true, 4, [=](auto const& f, auto origin) { return states(!conflict_free(f, like(origin, 0))); });
  std::string const p = std::to_string(pitch), b = std::to_string(bits);
  std::string const swizzles = "bits > 0, base >= 4, within 32 bits; ";
  std::vector<unsigned> const shifted_origins{0, 2 * pitch, 4 * pitch, 6 * pitch, 32, 64, 96};
  claims.push_back(
      {"all swizzles/rows of 16 bytes at pitch " + p + ", any origin",
       {"rows of 16 bytes at pitch " + p + " are read conflict-free from every origin exactly under Sw<" + b +
            ",4,3>",
        [=] {
          return std::vector{sufficient(4, exactly), necessary(shifted_origins, exactly), never_leftward};
        }},
       swizzles + "all 32-bit origins that are multiples of 16",
       "cutlass#2015 'Why 3-4-3?'",
       single("... under every Sw<" + std::to_string(bits + 1) + ",4,S> with S >= 3",
              sufficient(4, [=](auto const& f, auto) {
                return f.base == 4 && !(f.distance < 3) && f.bits == bits + 1;
              }))});
  claims.push_back(
      {"all swizzles/rows of 16 bytes at pitch " + p + ", aligned origin",
       {"... from every origin that is a multiple of eight rows exactly under Sw<B,4,3> with B >= " + b,
        [=] {
          return std::vector{sufficient(log2_pitch + 3, at_least), necessary({0}, at_least), never_leftward};
        }},
       swizzles + "all 32-bit origins that are multiples of " + std::to_string(8 * pitch),
       "cutlass#2015 'Why 3-4-3?'",
       single("... under Sw<B,4,S> for every S >= 3", sufficient(log2_pitch + 3, [=](auto const& f, auto) {
                return f.base == 4 && !(f.distance < 3) && !(f.bits < bits);
              }))});
}

// 32 different words in at most 8 banks: some bank holds 4 of them. Two symbolic lanes say it all.
Question column_banks(bool is_leftward, unsigned kept_bank_bits) {
  return ask(sign_of(is_leftward), 32,
             {{"bits", 6}, {"base", 6}, {"|shift|", 6}, {"origin/4", 30}, {"lane", 5}, {"other", 5}},
             [=](auto bits, auto base, auto distance, auto units, auto lane, auto other) {
               using W = decltype(base);
               SwizzleFormula<W> const f{bits, base, distance, is_leftward};
               auto const whole = valid(f, base, {.a_bit = true, .room = 32}) && !(base < 4);
               auto const word_of = [&](W l) { return bank_word(Address<W>{f(W(shl(units, 2) + l * 128))}); };
               auto const low_bank = [&](W l) { return bank(word_of(l)).number % (1ULL << kept_bank_bits); };
               return states(whole && !(lane == other), !(word_of(lane).number == word_of(other).number) &&
                                                            low_bank(lane) == low_bank(other));
             });
}

Claim column_of_words(bool leftward) {
  return {std::string("all swizzles/column of words at pitch 128, shift ") + (leftward ? "< 0" : ">= 0"),
          single(leftward ? "no swizzle with shift < 0 helps a column of 32 words: they are different and in "
                            "one bank, 32 wavefronts"
                          : "no swizzle that keeps 16-byte vectors whole reads a column of 32 words in fewer "
                            "than 4 wavefronts: "
                            "the words are different and their banks agree modulo 4, so one of the 8 banks "
                            "left serves 4 of them",
                 column_banks(leftward, leftward ? 5 : 2)),
          "bits > 0, base >= 4, within 32 bits; all 32-bit origins that are multiples of 4",
          "cutlass#1234, #1443",
          single(leftward ? "nor one with shift >= 0" : "the banks agree modulo 8",
                 column_banks(false, leftward ? 5 : 3))};
}

Claim row_of_vectors(bool leftward) {
  auto const row_costs = [=](unsigned pitch) {
    return ask_whole_vectors(leftward, 7, [=](auto const& f, auto origin) {
      auto const n = cost_under(f, pitch == 128 ? "copy.row128" : "row_per_lane.store", origin, pitch);
      return states(n == 4);
    });
  };
  return {std::string("all swizzles/row of vectors, shift ") + (leftward ? "< 0" : ">= 0"),
          single("every swizzle that keeps 16-byte vectors whole keeps rows of them conflict-free: "
                 "copy.row128 costs 4",
                 row_costs(128)),
          std::string("bits > 0, base >= 4, within 32 bits, shift ") + (leftward ? "< 0" : ">= 0") +
              "; all 32-bit origins, multiples of 128",
          "why any swizzle will do for copies by rows",
          single("... and columns of them at pitch 256: row_per_lane.store costs 4", row_costs(256))};
}

Claim least_of_a_column() {
  auto const reached = [](unsigned n) {
    return ask("Sw<3,4,3>", 32, {{"origin/4", 30}}, [n](auto units) {
      auto const cost = cost_under(swizzle_128B, "column.b32.load", shl(units, 2), 128);
      return states(cost == n);
    });
  };
  return {
      "all swizzles/column of words, the least is reached",
      single("Sw<3,4,3> reads a column of 32 words at pitch 128 in exactly 4 wavefronts from every origin",
             reached(4)),
      "all 32-bit origins that are multiples of 4", "bank.hpp H1-H3", single("... in 3", reached(3))};
}

}  // namespace

void add_characterisation(std::vector<Claim>& claims) {
  for (unsigned const log2_pitch : {5U, 6U, 7U}) add_rows_of_16_bytes(claims, log2_pitch);
  for (bool const leftward : {false, true}) {
    claims.push_back(column_of_words(leftward));
    claims.push_back(row_of_vectors(leftward));
  }
  claims.push_back(least_of_a_column());
}

}  // namespace swizproof::proofs
