// How the theorems about swizzles are stated: one law, three domains.
//
// A theorem is a generic lambda law(f, x, y) over a swizzle formula f and words x, y. It becomes four
// claims: for every valid swizzle within 32 bits, one by one; for the swizzles of public kernels on
// 64-bit offsets; and as one theorem for each sign of shift, about every mask of source bits (masks.cpp says that those of
// swizzles are such) or with bits, base and |shift| as variables.
#pragma once

#include <swizproof/access/access.hpp>
#include <swizproof/claim/claim.hpp>
#include <swizproof/core/every_swizzle.hpp>
#include <swizproof/layout/map.hpp>

#include <string>
#include <vector>

namespace swizproof::proofs {

/// The swizzles found in public kernels (CUTLASS, FlashAttention, DeepGEMM, ThunderKittens, Mojo).
inline constexpr Swizzle public_swizzles[] = {
    {0, 4, 3}, {1, 4, 3}, {2, 4, 3}, {3, 4, 3}, {2, 5, 2},  {3, 3, 3},  {2, 3, 3}, {2, 2, 2}, {3, 2, 3},
    {2, 2, 3}, {1, 2, 3}, {2, 0, 4}, {2, 1, 3}, {2, 0, -2}, {3, 0, -3}, {4, 0, 4}, {5, 0, 5}, {5, 2, 5},
};

/// The three swizzles of TMA and wgmma other than the identity, all on byte addresses.
inline constexpr Swizzle canonical_swizzles[] = {swizzle_32B, swizzle_64B, swizzle_128B};

/// Conditions of a theorem on its swizzles, other than validity.
struct Requirements {
  bool a_bit = false;          ///< bits >= 1
  unsigned room = 64;          ///< symbolic parameters: base + bits + |shift| is at most this
  unsigned family_width = 32;  ///< words of the one-by-one claim: 32 where sums wrap, 64 where they must not
};

inline constexpr Requirements with_a_bit{.a_bit = true};

/// base + bits + |shift| <= room, without overflow: the fields lie inside the word.
template <class W>
[[nodiscard]] auto fits(SwizzleFormula<W> const& f, W, unsigned room) {
  unsigned const limit = room + 1;
  return f.bits < limit && f.base < limit && f.distance < limit && W(W(f.bits + f.base) + f.distance) < limit;
}

/// Valid as in Swizzle::error(), for symbolic parameters.
template <class W>
[[nodiscard]] auto valid(SwizzleFormula<W> const& f, W x, Requirements needs = {}) {
  auto ok = fits(f, x, needs.room) && !(f.distance < f.bits);
  if (f.leftward) ok = ok && 0 < f.distance;
  return needs.a_bit ? ok && 0 < f.bits : ok;
}

/// Sign of shift in a question or a claim.
[[nodiscard]] inline std::string sign_of(bool leftward) { return leftward ? "shift < 0" : "shift >= 0"; }

/// Domain of a claim with symbolic parameters; `all` are the words that vary.
[[nodiscard]] inline std::string symbolic_domain(Requirements needs, bool leftward,
                                                 std::string const& all = "offsets") {
  return "every valid swizzle at once: " + std::string(needs.a_bit ? "bits > 0, " : "") + sign_of(leftward) +
         ", within " + std::to_string(needs.room) + " bits; all 64-bit " + all;
}

/// Domain of a claim by mask.
[[nodiscard]] inline std::string mask_domain(bool leftward) {
  return "every YYY apart from its ZZZ (swizzles, bits > 0: masks), " + sign_of(leftward) +
         "; all 64-bit offsets";
}

template <class Truth>
[[nodiscard]] Implication<Truth> given(Truth more, Implication<Truth> const& statement) {
  return {more && statement.hypothesis, statement.conclusion};
}

/// statement(f, x, y) about all (bits, base, |shift|) of one sign and all 64-bit x, y: one question.
template <class StatementAbout>
[[nodiscard]] Question ask_all(bool leftward, StatementAbout statement) {
  return ask(sign_of(leftward), 64, {{"bits", 8}, {"base", 8}, {"|shift|", 8}, {"x", 64}, {"y", 64}},
             [=](auto bits, auto base, auto distance, auto x, auto y) {
               using W = decltype(x);
               return statement(SwizzleFormula<W>{bits, base, distance, leftward}, x, y);
             });
}

/// The lowest bit of a mask: 0x10 of 0x70.
template <class W>
[[nodiscard]] constexpr W first_of(W mask) {
  return mask & W(like(mask, 0) - mask);
}

/// A swizzle by a mask: its source bits may be any.
template <class W>
struct AnyMask : MaskSwizzle<W> {
  [[nodiscard]] constexpr W source_mask(W) const { return this->source; }
  [[nodiscard]] constexpr W target_mask(W) const { return this->moved(this->source); }
  /// No bit is source and target.
  [[nodiscard]] constexpr truth_of<W> valid() const {
    return (this->source & this->moved(this->source)) == 0;
  }
};

/// statement(g, x, y) about all swizzles by a mask, of any bits, of one sign, and all 64-bit x, y: one question. With a second
/// one, that the masks of valid swizzles are such, it is about those (masks.cpp).
template <class StatementAbout>
[[nodiscard]] Question ask_masks(bool leftward, StatementAbout statement) {
  return ask("every mask, " + sign_of(leftward), 64, {{"YYY", 64}, {"|shift|", 8}, {"x", 64}, {"y", 64}},
             [=](auto source, auto distance, auto x, auto y) {
               return statement(AnyMask<decltype(x)>{{source, distance, leftward}}, x, y);
             });
}

/// law(f, x, y) about one swizzle and all x, y of `bits` bits: one question.
template <class Law>
[[nodiscard]] Question ask_one(Swizzle s, unsigned width, unsigned bits, Law law) {
  return ask(to_string(s), width, {{"x", bits}, {"y", bits}},
             [s, law](auto x, auto y) { return law(s.formula(), x, y); });
}

/// A statement that is one question.
[[nodiscard]] inline Statement single(std::string text, Question q) {
  return {std::move(text), [q = std::move(q)] { return std::vector{q}; }};
}

/// A statement that is all of these questions.
[[nodiscard]] inline Statement several(std::string text, std::vector<Question> questions) {
  return {std::move(text), [questions = std::move(questions)] { return questions; }};
}

/// The words of a theorem.
struct Words {
  std::string name;  ///< first part of the claims' names
  std::string text;
  std::string source;
  std::string control;  ///< what the false neighbour says
};

/// "Holds for every valid swizzle within 32 bits", one by one: by linear algebra, since the solver proves the symbolic theorem,
/// which says more.
template <class Law, class Control>
void add_family(std::vector<Claim>& claims, Words const& words, Requirements needs, Law law,
                Control control) {
  auto const each = [needs](auto statement) {
    std::vector<Question> questions;
    for (Swizzle const& s : every_swizzle())
      if (!needs.a_bit || s.bits > 0) questions.push_back(ask_one(s, needs.family_width, 32, statement));
    return questions;
  };
  claims.push_back({words.name + "/every swizzle",
                    {words.text, [=] { return each(law); }},
                    std::string("every valid swizzle within 32 bits") +
                        (needs.a_bit ? ", bits > 0 (5,712)" : " (6,801)") + ", all 32-bit offsets",
                    words.source,
                    {words.control, [=] { return each(control); }},
                    {},
                    Effort::one});
}

/// "Holds for the swizzles of public kernels".
template <class Law, class Control>
void add_public(std::vector<Claim>& claims, Words const& words, Requirements needs, Law law,
                Control control) {
  auto const each = [needs](auto statement) {
    std::vector<Question> questions;
    for (Swizzle const& s : public_swizzles)
      if (!needs.a_bit || s.bits > 0) questions.push_back(ask_one(s, 64, 64, statement));
    return questions;
  };
  claims.push_back({words.name + "/public kernels",
                    {words.text, [=] { return each(law); }},
                    std::string(needs.a_bit ? "the 17 swizzles of public kernels with bits > 0"
                                            : "the 18 swizzles of public kernels") +
                        ", all 64-bit offsets",
                    words.source,
                    {words.control, [=] { return each(control); }}});
}

/// "Holds for all parameters": one theorem for each sign of shift.
template <class Law, class Control>
void add_parametric(std::vector<Claim>& claims, Words const& words, Requirements needs, Law law,
                    Control control) {
  auto const about = [needs](bool leftward, auto statement) {
    return ask_all(leftward, [=](auto const& f, auto x, auto y) {
      return given(valid(f, x, needs), statement(f, x, y));
    });
  };
  for (bool const leftward : {false, true})
    claims.push_back({words.name + "/symbolic, " + sign_of(leftward),
                      single(words.text, about(leftward, law)), symbolic_domain(needs, leftward),
                      words.source, single(words.control, about(leftward, control))});
}

/// "Holds for all parameters" of more than swizzles: of source bits that are any, if none is a target. One theorem for each sign
/// of shift; masks.cpp says that the masks of valid swizzles are such. Shifts by a variable that make the masks cost a solver most.
template <class Law, class Control>
void add_by_mask(std::vector<Claim>& claims, Words const& words, Requirements needs, Law law,
                 Control control) {
  for (bool const leftward : {false, true})
    claims.push_back(
        {words.name + "/symbolic, " + sign_of(leftward),
         single(words.text, ask_masks(leftward, [=](auto const& g, auto x,
                                                    auto y) { return given(g.valid(), law(g, x, y)); })),
         mask_domain(leftward), words.source,
         single(words.control, ask_all(leftward, [=](auto const& f, auto x, auto y) {
                  return given(valid(f, x, needs), control(f, x, y));
                }))});
}

/// One by one, of public kernels, and by mask.
template <class Law, class Control>
void add_theorem(std::vector<Claim>& claims, Words const& words, Requirements needs, Law law,
                 Control control) {
  add_family(claims, words, needs, law, control);
  add_public(claims, words, needs, law, control);
  add_by_mask(claims, words, needs, law, control);
}

void add_masks(std::vector<Claim>& claims);

void add_one_to_one(std::vector<Claim>& claims);
void add_involution(std::vector<Claim>& claims);
void add_linearity(std::vector<Claim>& claims);
void add_kept_bits(std::vector<Claim>& claims);
void add_span(std::vector<Claim>& claims);
void add_period(std::vector<Claim>& claims);
void add_recast(std::vector<Claim>& claims);
void add_composition(std::vector<Claim>& claims);
void add_formulations(std::vector<Claim>& claims);
#ifdef SWIZPROOF_WITH_CUTLASS
void add_cutlass(std::vector<Claim>& claims);
void add_cutlass_fragments(std::vector<Claim>& claims);
#endif
void add_characterisation(std::vector<Claim>& claims);
void add_moves(std::vector<Claim>& claims);
void add_pitch(std::vector<Claim>& claims);
void add_wavefronts(std::vector<Claim>& claims);
void add_core_matrices(std::vector<Claim>& claims);
void add_descriptor(std::vector<Claim>& claims);
void add_fragments(std::vector<Claim>& claims);

}  // namespace swizproof::proofs
