// Exactly how many wavefronts each named access costs: with no swizzle and with the canonical three,
// at row pitches of 32, 64, 128 and 256 bytes, from every tile origin and every base address that is
// a multiple of the swizzle's period.
//
// The numbers are found by running the cost model on the first origins, and proved by SMT for all of them;
// the control "at most one less" shows that they are reached.
#include "theorem.hpp"

#include <algorithm>

namespace swizproof::proofs {

namespace {

/// One access on rows of `pitch` bytes under one swizzle of absolute byte addresses.
struct Cell {
  Access access;
  Swizzle swizzle;
  unsigned pitch;

  /// Wavefronts with the tile at base `b` periods, row `m` footprints down, `c` footprints across.
  template <Word W>
  [[nodiscard]] count_of<W> operator()(W b, W m, W c) const {
    auto const alignment = std::max<std::uint64_t>(swizzle.period(), 16);
    W const across = c % (pitch / access.pattern().row_bytes);
    return wavefronts(sm_90, access.instruction,
                      addresses(access, swizzle, W(b * alignment), like(b, pitch),
                                W(m * access.pattern().rows), W(across * access.pattern().row_bytes)));
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
      std::uint32_t const n = cell(std::uint32_t{0}, m, c);
      r = {std::min(r.least, n), std::max(r.most, n)};
    }
  return r;
}

Question between(Cell const& cell, std::uint32_t least, std::uint32_t most) {
  return ask(cell.access.name, 32, {{"base/period", 32}, {"row/rows", 32}, {"column/bytes", 8}},
             [=](auto b, auto m, auto c) {
               auto const n = cell(b, m, c);
               return states(!(n < least) && !(most < n));
             });
}

Claim cost_of(Cell const& cell) {
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
              " bytes, all 32-bit bases that are multiples of " +
              std::to_string(std::max<std::uint64_t>(cell.swizzle.period(), 16)),
          "bank.hpp H1-H7; PTX ISA 9.1, 9.7.14.5 for the fragments",
          single("at most " + std::to_string(r.most - 1), between(cell, 0, r.most - 1)),
          TableCell{cell.access.name, cell.pitch, to_string(cell.swizzle), r.most,
                    ideal_wavefronts(sm_90, cell.access.instruction)}};
}

}  // namespace

void add_wavefronts(std::vector<Claim>& claims) {
  for (NamedAccess const& named : named_accesses()) {
    Access const access = named.access;
    for (unsigned const pitch : {32U, 64U, 128U, 256U}) {
      if (access.pattern().row_bytes > pitch) continue;
      for (Swizzle const& s : {swizzle_none, swizzle_32B, swizzle_64B, swizzle_128B})
        claims.push_back(cost_of({access, s, pitch}));
    }
  }
}

}  // namespace swizproof::proofs
