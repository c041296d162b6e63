// Exactly how many wavefronts each named access costs: with no swizzle and with the canonical three,
// at row pitches of 32, 64, 128 and 256 bytes, from every tile origin and every base address that is
// a multiple of the swizzle's period.
//
// The numbers are found by running the cost model on the first origins. Linear algebra proves them for all origins at base 0,
// SMT too on one cell of each access; "wavefronts/every base" carries them to all bases. The control "at most one less" shows
// that they are reached.
#include "theorem.hpp"

#include <algorithm>

namespace swizproof::proofs {

namespace {

/// One access on rows of `pitch` bytes under one swizzle of absolute byte addresses.
struct Cell {
  Access access;
  Swizzle swizzle;
  unsigned pitch;

  /// Wavefronts with the tile at base 0, row `m` footprints down, `c` footprints across.
  template <Word W>
  [[nodiscard]] count_of<W> operator()(W m, W c) const {
    W const across = c % (pitch / access.pattern().row_bytes);
    return wavefronts(sm_90, access.instruction,
                      addresses(access, swizzle, like(m, 0), like(m, pitch), W(m * access.pattern().rows),
                                W(across * access.pattern().row_bytes)));
  }
};

struct Range {
  std::uint32_t least, most;
};

/// Least and most wavefronts over the origins within one period; elsewhere they repeat, which the
/// claim proves.
Range range_of(Cell const& cell) {
  Range r{~0U, 0};
  for (std::uint32_t m = 0; m < 32; ++m)
    for (std::uint32_t c = 0; c < cell.pitch / cell.access.pattern().row_bytes; ++c) {
      std::uint32_t const n = cell(m, c);
      r = {std::min(r.least, n), std::max(r.most, n)};
    }
  return r;
}

Question between(Cell const& cell, std::uint32_t least, std::uint32_t most) {
  return ask(cell.access.name, 32, {{"row/rows", 32}, {"column/bytes", 8}}, [=](auto m, auto c) {
    auto const n = cell(m, c);
    return states(!(n < least) && !(most < n));
  });
}

constexpr Swizzle swizzles_of_the_table[] = {swizzle_none, swizzle_32B, swizzle_64B, swizzle_128B};

/// The bases of a cell are the multiples of this many bytes.
constexpr std::uint64_t base_step(Swizzle const& s) { return std::max<std::uint64_t>(s.period(), 16); }

/// f(b + x) = b + f(x) for the table's swizzles and bases: all addresses of a warp move by the base alone.
std::vector<Question> bases_move_addresses() {
  std::vector<Question> questions;
  for (Swizzle const& s : swizzles_of_the_table)
    questions.push_back(ask(to_string(s), 32, {{"x", 32}, {"base/period", 32}}, [s](auto x, auto b) {
      using W = decltype(x);
      W const base = b * base_step(s);
      return states(s(W(base + x)) == W(base + s(x)));
    }));
  return questions;
}

/// Two addresses keep equal or different units, slots and values when both move by the same multiple of step(bytes): all that
/// wavefronts() compares.
template <class Step>
std::vector<Question> moves_keep_relations(Step const& step_of) {
  std::vector<Question> questions;
  for (unsigned const bytes : {4U, 8U, 16U})
    questions.push_back(
        ask("accesses of " + std::to_string(bytes) + " bytes", 32, {{"p", 32}, {"q", 32}, {"move/step", 32}},
            [=, step = step_of(bytes)](auto p, auto q, auto move) {
              using W = decltype(p);
              auto const unit = [&](W a) { return shr(a, detail::log2_unit(bytes)); };
              auto const slot = [&](W a) { return W(unit(a) & (detail::slots_of(bytes) - 1)); };
              W const moved_p = p + move * step, moved_q = q + move * step;
              return states(iff(moved_p == moved_q, p == q) &&
                            iff(unit(moved_p) == unit(moved_q), unit(p) == unit(q)) &&
                            iff(slot(moved_p) == slot(moved_q), slot(p) == slot(q)));
            }));
  return questions;
}

Claim every_base() {
  std::vector<Question> both = bases_move_addresses();
  for (Question& q : moves_keep_relations([](unsigned) { return 16U; })) both.push_back(std::move(q));
  return {"wavefronts/every base",
          several("the base changes no number of wavefronts: a multiple of the period moves all addresses "
                  "alike, and the cost "
                  "model compares addresses, units and slots of two lanes, which keep what is equal",
                  std::move(both)),
          "no swizzle and the canonical three, all 32-bit addresses, all 32-bit bases that are multiples of "
          "the period and of 16",
          "bank.hpp H1-H7",
          several("moves by a multiple of 2 bytes keep it, too",
                  moves_keep_relations([](unsigned) { return 2U; }))};
}

Claim rotation() {
  return {"wavefronts/rotation",
          several("a move of all addresses by one multiple of the unit, the 4, 8 or 16 bytes that a lane "
                  "takes at once, rotates the banks and changes no number of wavefronts",
                  moves_keep_relations([](unsigned bytes) { return bytes; })),
          "all 32-bit addresses and moves", "bank.hpp H1-H7",
          several("a move by half a unit changes none",
                  moves_keep_relations([](unsigned bytes) { return bytes / 2; }))};
}

/// The claim about a cell; `sampled`: decided by the solver, too.
Claim cost_of(Cell const& cell, bool sampled) {
  Range const r = range_of(cell);
  std::string const how = cell.swizzle.bits == 0 ? "without a swizzle" : "under " + to_string(cell.swizzle);
  std::string const most = std::to_string(r.most);
  std::string const unit = r.most == 1 ? " wavefront" : " wavefronts";
  std::string const number =
      r.least == r.most ? "costs " + most + unit + " from every origin"
                        : "costs at most " + most + unit + " (at best " + std::to_string(r.least) + ")";
  std::string const where = cell.access.name + " on " + std::to_string(cell.pitch) + "-byte rows " + how;
  return {"wavefronts/" + cell.access.name + "/" + std::to_string(cell.pitch) + "/" + to_string(cell.swizzle),
          single(where + " " + number, between(cell, r.least, r.most)),
          "all origins that are multiples of " + std::to_string(cell.access.pattern().rows) + " rows and " +
              std::to_string(cell.access.pattern().row_bytes) +
              " bytes, all 32-bit bases that are multiples of " + std::to_string(base_step(cell.swizzle)),
          "bank.hpp H1-H7; PTX ISA 9.1, 9.7.14.5 for the fragments",
          single("at most " + std::to_string(r.most - 1), between(cell, 0, r.most - 1)),
          TableCell{cell.access.name, cell.pitch, to_string(cell.swizzle), r.most,
                    ideal_wavefronts(sm_90, cell.access.instruction)},
          sampled ? Effort::all : Effort::one};
}

}  // namespace

void add_wavefronts(std::vector<Claim>& claims) {
  claims.push_back(every_base());
  claims.push_back(rotation());
  for (NamedAccess const& named : named_accesses()) {
    Access const access = named.access;
    for (unsigned const pitch : {32U, 64U, 128U, 256U}) {
      if (access.pattern().row_bytes > pitch) continue;
      for (Swizzle const& s : swizzles_of_the_table)
        claims.push_back(cost_of({access, s, pitch}, pitch == 256 && s == swizzle_128B));
    }
  }
}

}  // namespace swizproof::proofs
