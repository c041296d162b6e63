// Which swizzle is best for these accesses together, and a proof that none is better.
//
//   tile + accesses  -->  patterns  -->  every swizzle (or XOR map, or pitch) costed  -->  the best
//
// A pattern is what the lanes of one case ask for, up to XOR with a constant: a swizzle is linear and
// the cost depends on the XOR of addresses alone, so that thousands of origins leave few patterns, and
// every one of the 6,801 swizzles is costed exactly. Nothing is sampled.
#pragma once

#include <swizproof/check.hpp>

#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// A swizzle and what the accesses cost under it.
struct Candidate {
  Swizzle swizzle{};                   ///< in the unit of the search
  std::optional<Swizzle> on_bytes{};   ///< the same function of byte addresses, where it is a Swizzle
  unsigned excess = 0;                 ///< summed over the accesses: the worst case of each
  std::vector<unsigned> wavefronts{};  ///< the worst case of each access
  bool tma = false;                    ///< TMA and wgmma can produce it (none, 32B, 64B, 128B)
  bool whole_vectors = false;          ///< keeps every 16-byte vector in one piece
  std::uint64_t memory = 0;            ///< bytes that the swizzled tile reaches
};

/// What was searched, and all that is best, the most useful first.
struct SwizzleSearch {
  std::vector<Candidate> best{};
  std::uint64_t searched = 0;  ///< swizzles, the identity in every spelling included
  std::uint64_t unusable = 0;  ///< of them: tear the vectors of an access apart
  std::uint64_t patterns = 0;  ///< different patterns of lanes, all accesses together
  std::uint64_t cases = 0;     ///< origins and variables that they stand for
};

/// A row pitch and what the accesses cost under it.
struct Pitch {
  std::int64_t elements = 0;
  std::uint64_t memory = 0;  ///< bytes of the padded tile
  unsigned excess = 0;
  std::vector<unsigned> wavefronts{};
};

/// A linear map of address bits: bit i of the image is the XOR of the bits of x in rows[i].
struct XorMap {
  std::vector<std::uint64_t> rows{};
  unsigned excess = 0;
  std::vector<unsigned> wavefronts{};
  std::string expression{};  ///< as C: `fn(x) = ...`
};

/// The best of all linear maps that keep the accesses' vectors and the bank words whole.
struct XorSearch {
  XorMap best{};
  unsigned address_bits = 0;   ///< of the tile
  std::uint64_t searched = 0;  ///< maps that differ in which lanes they bring together
};

/// What find_*() look at: a tile without a swizzle, and accesses to it.
struct SearchProblem {
  Mapping tile{};  ///< one Layout; element_bits known
  std::vector<Access> accesses{};
  bool on_bytes = false;  ///< swizzles of byte addresses, else of element offsets
  Architecture const* arch = &sm_90;
};

/// The tile alone: `map` without its swizzle. Throws InputError if it has no shape or element size.
[[nodiscard]] Mapping without_swizzle(Mapping const& map);

/// Costs every valid swizzle. Bases are multiples of the swizzle's period. Throws InputError where an
/// access does not fit, or has more than 2^18 cases.
[[nodiscard]] SwizzleSearch find_swizzle(SearchProblem const& problem);

/// Costs the tile with `swizzle`.
[[nodiscard]] Mapping swizzled(SearchProblem const& problem, Swizzle swizzle);

/// Costs every pitch of the rows from the tile's own up to 128 bytes more, best first; those that
/// misalign an access are left out. Throws InputError if the tile's rows are not contiguous.
[[nodiscard]] std::vector<Pitch> find_padding(SearchProblem const& problem);

/// The tile with another pitch.
[[nodiscard]] Mapping padded(SearchProblem const& problem, std::int64_t pitch);

/// Costs every linear map. Throws InputError if there are more than 2^24 to look at.
[[nodiscard]] XorSearch find_xor(SearchProblem const& problem);

}  // namespace swizproof
