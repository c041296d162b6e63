// The ways in which others write the swizzle, each equal to ours or refuted.
//
// Whose: CuTe's header, pycute, Mojo's documentation, NVIDIA's tables for the TMA, the blog
// veitner.bearblog.dev and notes that quote it, and a "cuda-matmul-swizzle" skill for coding agents.
#include "theorem.hpp"

#include <algorithm>

namespace swizproof::proofs {

namespace {

/// One question for each swizzle: `statement(s, x)` on 64-bit words.
template <class Swizzles, class StatementAbout>
std::vector<Question> ask_each(Swizzles const& swizzles, unsigned bits, StatementAbout statement) {
  std::vector<Question> questions;
  for (Swizzle const& s : swizzles)
    questions.push_back(ask(to_string(s), 64, {{"x", bits}}, [=](auto x) { return statement(s, x); }));
  return questions;
}

/// Python's `a >> s if s > 0 else shiftl(a, -s)`, for s != 0.
template <class W>
W python_shiftr(W a, int s) {
  return s > 0 ? shr(a, static_cast<unsigned>(s)) : shl(a, static_cast<unsigned>(-s));
}

/// The matmul skill: ZZZ and YYY are both extracted, XORed, and XORed in again, so ZZZ cancels out.
template <class W>
W matmul_skill(Swizzle s, W x) {
  std::uint64_t const mask = (std::uint64_t{1} << s.bits) - 1;
  W const low = W(shr(x, static_cast<unsigned>(s.base)) & mask);
  W const high = W(shr(x, static_cast<unsigned>(s.base + s.shift)) & mask);
  return x ^ shl(W(low ^ high), static_cast<unsigned>(s.base));
}

std::string const family = "every valid swizzle within 32 bits, one by one (6,801), all 32-bit offsets";

Claim as_in_cute() {
  auto const cute = [](int slip) {
    return ask_each(every_swizzle(), 32, [slip](Swizzle s, auto x) {
      using W = decltype(x);
      std::uint64_t const bit_mask = (std::uint64_t{1} << s.bits) - 1;
      std::uint64_t const yyy = bit_mask << (s.base + std::max(0, s.shift) + slip);
      W const moved = W(x & yyy);
      return states(s(x) == W(x ^ (s.shift >= 0 ? shr(moved, s.distance()) : shl(moved, s.distance()))));
    });
  };
  return {"formulation/CuTe",
          {"x ^ shiftr(x & yyy_msk, SShift) with yyy_msk = ((1<<BBits)-1) << (MBase + max(0,SShift)) is f",
           [=] { return cute(0); }},
          family,
          "CuTe, swizzle.hpp, and most texts about it",
          {"with the mask one bit higher", [=] { return cute(1); }}};
}

Claim as_in_python() {
  auto const python = [](bool forward) {
    std::vector<Swizzle> shifted;
    for (Swizzle const& s : every_swizzle())
      if (s.shift != 0) shifted.push_back(s);
    return ask_each(shifted, 32, [forward](Swizzle s, auto x) {
      using W = decltype(x);
      std::uint64_t const yyy = ((std::uint64_t{1} << s.bits) - 1) << (s.base + std::max(0, s.shift));
      return states(s(x) == W(x ^ python_shiftr(W(x & yyy), forward ? s.shift : -s.shift)));
    });
  };
  return {"formulation/Python",
          {"Python's shiftr/shiftl version is f if shift != 0 (at shift 0, valid with bits 0, the two "
           "call each other for ever)",
           [=] { return python(true); }},
          "every valid swizzle with shift != 0 (6,768), all 32-bit offsets",
          "pycute, and tutorials that quote it (RecursionError at shift 0)",
          {"with shiftl in place of shiftr", [=] { return python(false); }}};
}

Claim as_in_mojo() {
  auto const mojo = [](bool swapped) {
    return ask_each(every_swizzle(), 32, [swapped](Swizzle s, auto x) {
      using W = decltype(x);
      std::uint64_t const mask = (std::uint64_t{1} << s.bits) - 1;
      std::uint64_t const yyy = mask << (s.base + std::max(0, s.shift));
      std::uint64_t const zzz = mask << (s.base - std::min(0, s.shift));
      int const from = swapped ? s.base - std::min(0, s.shift) : s.base + std::max(0, s.shift);
      W const field = shr(W(x & (swapped ? zzz : yyy)), static_cast<unsigned>(from));
      W const moved = shl(field, static_cast<unsigned>(s.base - std::min(0, s.shift)));
      return states(s(x) == W(x ^ moved) && yyy == s.source_mask() && zzz == s.target_mask());
    });
  };
  return {
      "formulation/Mojo",
      {"'extract YYY from base + max(0,shift), ZZZ from base - min(0,shift), XOR' is f; its masks are ours",
       [=] { return mojo(false); }},
      family,
      "Mojo's documentation, layout.swizzle.Swizzle",
      {"with YYY read at the place of ZZZ", [=] { return mojo(true); }}};
}

Claim size_in_mojo() {
  auto const mojo_size = [](bool as_cosize) {
    std::vector<Question> questions;
    for (Swizzle const& s : every_swizzle())
      if (s.bits > 0)
        questions.push_back(ask(to_string(s), 64, {{"x", 32}}, [=](auto x) {
          std::uint64_t const size = std::uint64_t{1} << (s.bits + s.base + s.distance());
          if (as_cosize) return states(s(x) < size);
          return states(x < size, s(x) < size && size == s.period());
        }));
    return questions;
  };
  return {
      "formulation/Mojo size and cosize",
      {"size() = cosize() = 2^(bits+base+|shift|) is the period, and f maps [0, size) into itself",
       [=] { return mojo_size(false); }},
      "every valid swizzle with bits > 0 (5,712), all 32-bit offsets",
      "Mojo's documentation, layout.swizzle.Swizzle",
      {"cosize() bounds every value of f, as the cosize of a layout does", [=] { return mojo_size(true); }}};
}

Claim as_in_tma() {
  auto const tma = [](unsigned rows_off) {
    return ask_each(canonical_swizzles, 64, [rows_off](Swizzle s, auto x) {
      unsigned const rows = 1U << s.bits;
      auto const line = shr(x, 7) + rows_off;
      auto const chunk = shr(x, 4) % 8;
      auto const placed = chunk ^ (line % rows);
      return states(s(x) == x - chunk * 16 + placed * 16);
    });
  };
  return {"formulation/TMA",
          {"chunk c (16 bytes) of 128-byte line y lies at chunk c ^ (y mod 2^k): modes 32B, 64B, 128B are "
           "Sw<k,4,3> on the absolute byte address, k = 1, 2, 3",
           [=] { return tma(0); }},
          "32B, 64B, 128B, all 64-bit byte addresses",
          "PTX ISA 9.1, 5.5.7; Programming Guide 13.1, 10.29.3",
          {"lines counted from 1", [=] { return tma(1); }}};
}

Claim tma_with_32_byte_atoms() {
  return {
      "formulation/TMA with 32-byte atoms",
      single("128B_ATOM_32B is Sw<2,5,2>; with FLIP_8B also bit 3 ^= bit 7: still its own inverse, but no "
             "swizzle, "
             "since bit 7 feeds two bits",
             ask("128B_ATOM_32B", 64, {{"x", 64}},
                 [](auto x) {
                   using W = decltype(x);
                   auto const atom = [](W a) { return W(a ^ (shr(a, 2) & 0x60)); };
                   auto const flip = [atom](W a) { return W(atom(a) ^ (shr(a, 4) & 8)); };
                   W const bit_7 = like(x, 0x80);
                   return states(atom(x) == Swizzle{2, 5, 2}(x) && flip(flip(x)) == x &&
                                 flip(bit_7) == W(bit_7 ^ 0x28));
                 })),
      "all 64-bit byte addresses", "cuda.h 13.0 (the flip: one reading of its words, not testable on sm_90)",
      single("128B_ATOM_32B is Sw<3,4,3>", ask("128B_ATOM_32B", 64, {{"x", 64}}, [](auto x) {
               return states(Swizzle{2, 5, 2}(x) == swizzle_128B(x));
             }))};
}

// The skill is wrong, and its own kind of wrong: 0 and 16 both go to 0, so data is overwritten, and
// the conflict-freedom it then shows is that of lanes reading the same word.
Claim matmul_skill_apply() {
  auto const skill_differs = [](bool everywhere) {
    return ask_each(canonical_swizzles, 64, [everywhere](Swizzle s, auto x) {
      auto const equal = matmul_skill(s, x) == s(x);
      if (everywhere) return states(equal);
      return states(iff(equal, (x & s.target_mask()) == 0));
    });
  };
  return {"formulation/matmul skill, apply",
          {"the skill's Swizzle::apply equals f exactly where the target bits of x are 0: it overwrites them",
           [=] { return skill_differs(false); }},
          "Sw<1,4,3>, Sw<2,4,3>, Sw<3,4,3>, all 64-bit byte addresses",
          "the 'cuda-matmul-swizzle' skill, which is wrong: apply(16) = 0 = apply(0)",
          {"it equals f", [=] { return skill_differs(true); }}};
}

Claim matmul_skill_offset() {
  auto const skill_offset = [](auto row, auto column) {
    auto const linear = row * 64 + column;
    return shr(matmul_skill(swizzle_128B, decltype(row)(linear * 2)), 1);
  };
  return {
      "formulation/matmul skill, swizzle_offset",
      single("the skill's swizzle_offset(row, col) does not depend on col's bits 3 to 5: eight elements of "
             "each row share one place",
             ask("swizzle_offset", 64, {{"row", 16}, {"col", 6}, {"other", 6}},
                 [=](auto row, auto column, auto other) {
                   auto const low = [](auto c) { return c & 7; };
                   return states(low(column) == low(other),
                                 skill_offset(row, column) == skill_offset(row, other));
                 })),
      "rows below 2^16 of 64 16-bit elements", "the 'cuda-matmul-swizzle' skill, which is wrong",
      single("different elements of a row have different places",
             ask("swizzle_offset", 64, {{"row", 16}, {"col", 6}, {"other", 6}},
                 [=](auto row, auto column, auto other) {
                   return states(skill_offset(row, column) == skill_offset(row, other), column == other);
                 }))};
}

// The note's worked rows: row 1 is XORed with 2^4, row 2 with 2^5, row 7 with 2^6 + 2^5 + 2^4.
Claim worked_rows_of_64_halves() {
  auto const worked_rows = [](bool row_times_16) {
    return ask("worked rows", 64, {{"row", 57}, {"j", 6}}, [=](auto row, auto j) {
      auto const logical = row * 128 + j * 2;
      auto const flip = (row_times_16 ? row : row % 8) * 16;
      return states(swizzle_128B(logical) == (logical ^ flip));
    });
  };
  return {"formulation/rows of 64 halves",
          single("element j of row r lies at byte (128 r + 2 j) ^ (16 (r mod 8))", worked_rows(false)),
          "all rows below 2^57 of 64 16-bit elements under Sw<3,4,3>",
          "a note on Swizzle<3,4,3> after veitner.bearblog.dev",
          single("at byte (128 r + 2 j) ^ (16 r)", worked_rows(true))};
}

}  // namespace

void add_formulations(std::vector<Claim>& claims) {
  for (auto const statement :
       {as_in_cute, as_in_python, as_in_mojo, size_in_mojo, as_in_tma, tma_with_32_byte_atoms,
        matmul_skill_apply, matmul_skill_offset, worked_rows_of_64_halves})
    claims.push_back(statement());
}

}  // namespace swizproof::proofs
