// Which swizzle is best for these accesses together, and a proof that none is better.
//
//   tile + accesses  -->  patterns  -->  every swizzle (or XOR map, or pitch) costed  -->  the best
//
// A pattern is what the lanes of one case ask for, up to XOR with a constant: a swizzle is linear and
// the cost depends on the XOR of addresses alone, so that thousands of origins leave few patterns, and
// every one of the 6,801 swizzles is costed exactly. Nothing is sampled.
//
// Best is what takes the fewest wavefronts in all: each access at every position, as check() asks it,
// times its weight. Ties are decided by the sum of the accesses' worst cases, which is also printed.
#pragma once

#include <swizproof/analysis/check.hpp>
#include <swizproof/analysis/tma.hpp>

#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// Cost of the accesses on one layout.
struct Bill {
  std::uint64_t total = 0;              ///< wavefronts over all cases, times the access's weight, summed
  unsigned excess = 0;                  ///< sum of the worst cases of the accesses
  std::vector<unsigned> wavefronts{};   ///< the worst case of each access
  std::vector<std::uint64_t> totals{};  ///< total of each access, without its weight
};

/// A swizzle and what the accesses cost under it.
struct Candidate {
  Swizzle swizzle{};                  ///< swizzle in the unit of the search
  std::optional<Swizzle> on_bytes{};  ///< the same function of byte addresses, where it is a Swizzle
  Bill cost{};
  TmaAnswer tma{};             ///< the copies that write exactly the tile under this swizzle
  bool whole_vectors = false;  ///< keeps every 16-byte vector in one piece
  std::uint64_t memory = 0;  ///< bytes from the base, or the lowest below it, to the end of the swizzled tile
};

/// Result of a search: what was searched, and all that is best, the most useful first.
struct SwizzleSearch {
  std::vector<Candidate> best{};  ///< all of the least total; empty iff some access does not fit the tile
  Candidate gentlest{};           ///< the least total among those of the least excess
  Bill plain{};                   ///< bill of the tile without a swizzle
  std::uint64_t searched = 0;     ///< swizzles, the identity in every spelling included
  std::uint64_t unusable = 0;     ///< number of them that split the vectors of an access
  std::uint64_t patterns = 0;     ///< different patterns of lanes, all accesses together
  std::uint64_t cases = 0;        ///< origins and variables that they stand for
  std::vector<AccessVerdict> misfits{};  ///< accesses that do not fit the tile as it is
};

/// A row pitch and what the accesses cost under it.
struct Pitch {
  std::int64_t elements = 0;
  std::uint64_t memory = 0;  ///< bytes from the base, or the lowest below it, to the end of the padded tile
  Bill cost{};
  TmaAnswer tma{};
};

/// The result of searching the pitches.
struct PitchSearch {
  std::vector<Pitch> fitting{};      ///< those that keep every access aligned, the best first
  std::int64_t own = 0;              ///< the tile's own pitch, in elements
  std::int64_t first = 0, last = 0;  ///< range of searched pitches in elements, from rows without a gap on
  std::int64_t line_bytes = 0;  ///< bytes from first to behind last: a pitch longer by these changes no bank
  std::uint64_t searched = 0;   ///< pitches, `own` among them
  std::vector<AccessVerdict> misfits{};  ///< accesses that do not fit the tile at its own pitch
};

/// A linear map of address bits: bit i of the image is the XOR of the bits of x in rows[i].
struct XorMap {
  std::vector<std::uint64_t> rows{};
  Bill cost{};
  LinearMap function{};  ///< the same as C computes it
  TmaAnswer tma{};
};

/// The best of all linear maps that keep the accesses' vectors and the bank words whole.
struct XorSearch {
  XorMap best{};               ///< no rows iff some access does not fit the tile
  unsigned address_bits = 0;   ///< size of the tile's addresses
  std::uint64_t searched = 0;  ///< maps that differ in which lanes they bring together
  std::vector<AccessVerdict> misfits{};
};

/// Input of find_*(): a tile without its outermost swizzle, and accesses to it.
struct SearchProblem {
  Map tile{};  ///< result of searched_tile(): element_bits known
  std::vector<Access> accesses{};
  std::vector<std::uint64_t> weights{};  ///< weight of each access; 1 each if empty
  bool on_bytes = false;                 ///< swizzles of byte addresses, else of element offsets
  Architecture const* arch = &sm_90;
};

/// The tile that a search is about: `map` without its outermost swizzle (or function fn), which the search replaces.
/// Throws InputError if it has no shape or element size.
[[nodiscard]] Map searched_tile(Map const& map);

/// A tile as a LAYOUT that can be read back: an offset stands behind a swizzle that does nothing.
/// `Sw<0,4,3> o _64 o (8,64):(64,1)`
[[nodiscard]] std::string text_of(Map const& tile);

/// Costs every valid swizzle. Bases are multiples of base_alignment(), so the cost is that of base 0. Throws
/// InputError where an access has more than 2^18 cases, or where a swizzle of bytes cannot stand before the tile.
/// Checked by tests/unit/analysis/find_properties.cpp against a plain loop.
[[nodiscard]] SwizzleSearch find_swizzle(SearchProblem const& problem);

/// The tile under `swizzle`.
[[nodiscard]] Map swizzled(SearchProblem const& problem, Swizzle swizzle);

/// Costs every pitch of the rows: from rows without a gap up to a line of all banks more (128 bytes; for elements that do not
/// divide a line, the least multiple that they divide). A larger pitch is one of these and whole lines, and costs no less. Throws
/// InputError if the tile's rows are not contiguous lines at one pitch. Checked by FindPadding in tests/unit/analysis/find_test.cpp.
[[nodiscard]] PitchSearch find_padding(SearchProblem const& problem);

/// The tile with another pitch.
[[nodiscard]] Map padded(SearchProblem const& problem, std::int64_t pitch);

/// Costs every linear map. Throws InputError if there are more than 2^24 to look at.
[[nodiscard]] XorSearch find_xor(SearchProblem const& problem);

/// The tile with its byte addresses under a function.
[[nodiscard]] Map under(SearchProblem const& problem, LinearMap const& function);

/// Wavefronts if every case of every access cost its ideal, times the weights.
[[nodiscard]] std::uint64_t ideal_total(SearchProblem const& problem);

}  // namespace swizproof
