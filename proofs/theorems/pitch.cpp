// Row pitches: all that are conflict-free for ldmatrix, not a list of them.
#include "theorem.hpp"

namespace swizproof::proofs {

namespace {

/// "8 rows of 16 bytes, m * unit bytes apart, are conflict-free from every origin exactly if `good`".
template <class Good>
Question rows_at_pitch(Swizzle s, unsigned unit, Good good) {
  return ask(to_string(s), 32, {{"m", 20}, {"origin/16", 28}}, [=](auto m, auto units) {
    using W = decltype(m);
    Access const rows = *named_access("ldmatrix.x1");
    W const zero = like(m, 0);
    auto const cost =
        wavefronts(sm_90, rows.instruction, addresses(rows, s, shl(units, 4), W(m * unit), zero, zero));
    return states(!(m == zero), iff(cost == 1, good(m)));
  });
}

}  // namespace

void add_pitch(std::vector<Claim>& claims) {
  auto const odd = [](auto m) { return (m & 1) == 1; };
  auto const not_multiple_of_4 = [](auto m) { return !((m & 3) == 0); };
  std::string const domain = "all m with 0 < m < 2^20, all 32-bit origins that are multiples of 16";
  claims.push_back(
      {"pitch/no swizzle",
       single("without a swizzle, rows of 16 bytes at pitch 16 m are conflict-free exactly if m is odd",
              rows_at_pitch(swizzle_none, 16, odd)),
       domain, "the folklore of padding by 16 bytes is one case of it",
       single("... exactly if m is no multiple of 4", rows_at_pitch(swizzle_none, 16, not_multiple_of_4))});
  claims.push_back(
      {"pitch/Sw<3,4,3>",
       single("under Sw<3,4,3>, rows of 16 bytes at pitch 128 m are conflict-free exactly if m is odd",
              rows_at_pitch(swizzle_128B, 128, odd)),
       domain, "why tiles wider than 128 bytes are cut into panels",
       single("... for every m", rows_at_pitch(swizzle_128B, 128, [](auto m) { return m == m; }))});
  auto const narrow = [](unsigned doubled) {
    std::vector<Question> questions;
    for (Swizzle const& s : canonical_swizzles)
      questions.push_back(ask(to_string(s), 32, {{"origin/16", 28}}, [=](auto units) {
        using W = decltype(units);
        Access const rows = *named_access("ldmatrix.x1");
        W const zero = like(units, 0), pitch = like(units, (16ULL << s.bits) << doubled);
        auto const cost =
            wavefronts(sm_90, rows.instruction, addresses(rows, s, shl(units, 4), pitch, zero, zero));
        return states(cost == 1);
      }));
    return questions;
  };
  claims.push_back(
      {"pitch/canonical",
       {"Sw<B,4,3> makes rows of 16 bytes at its own pitch 16 x 2^B conflict-free from every origin",
        [=] { return narrow(0); }},
       "B = 1, 2, 3; all 32-bit origins that are multiples of 16, absolute addresses",
       "PTX ISA 9.1, 5.5.7",
       {"... and at twice that pitch", [=] { return narrow(1); }}});
}

}  // namespace swizproof::proofs
