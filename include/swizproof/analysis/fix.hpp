// Fixes of the shared memory of a kernel, from the accesses of its warps and without its source.
//
//   accesses, weighted  -->  regions  -->  every swizzle of addresses, every padding of rows  -->  the best
//
// A region is what must change as a whole: accesses whose bytes overlap are of one region, and so are all accesses of one
// instruction, since they share its arithmetic. Every access of a region counts as often as it ran, good ones too, so that
// a load is never freed by breaking a store. Memory that a kernel uses twice, for one tile and then another, is one region.
//
// A fix changes addresses in the shared window. It must be applied to everything that touches the region: also to atomics,
// TMA and wgmma, which the cost model does not cover, and to executions that were not recorded.
#pragma once

#include <swizproof/core/swizzle.hpp>
#include <swizproof/hardware/bank.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace swizproof {

/// An access of a kernel, and how often it ran. Each active address is a multiple of the instruction's bytes.
struct WeightedAccess {
  Instruction instruction{};
  WarpAccess<std::uint32_t> access{};
  std::uint64_t executed = 0;
  std::optional<std::uint64_t> pc{};  ///< address of the instruction: accesses of one pc are of one region
};

/// Bytes of shared memory.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< one behind the last
  [[nodiscard]] friend bool operator==(ByteRange a, ByteRange b) {
    return a.begin == b.begin && a.end == b.end;
  }
};

/// The best swizzle of a region's addresses.
struct SwizzleFix {
  Swizzle swizzle{};                     ///< swizzle of byte addresses
  std::optional<Swizzle> on_elements{};  ///< the same of Fix::element_bytes each, where it is a Swizzle
  std::uint64_t after = 0;               ///< wavefronts
  /// Starts of the ranges: on bytes from these it costs no more, and stays in the region as well: each range's first byte, else
  /// that rounded down to a multiple of 2, 4, .. or 128 bytes, the least that will do. Empty where none will.
  std::vector<std::uint64_t> offset_starts{};
  /// Bytes that it needs behind the region, and before it, within the region's first and last lines: the array must have them.
  /// Region 0x400..0x504 and a word that moves to 0x528: 40 behind it.
  std::uint64_t behind = 0, ahead = 0;

  /// True if offsets from the first byte of each range will do.
  [[nodiscard]] bool starts_with(std::span<ByteRange const> region) const {
    for (std::size_t i = 0; i < offset_starts.size(); ++i)
      if (offset_starts[i] != region[i].begin) return false;
    return !offset_starts.empty();
  }
};

/// The best padding of a region's rows: `padding` bytes more behind each `pitch` bytes. Address x of range r becomes
/// x + (x - starts[r]) / pitch * padding + moves[r], so that no two ranges meet. Where the ranges have one start,
/// x + (x - starts[0]) / pitch * padding serves all of them.
struct PaddingFix {
  std::uint64_t pitch = 0;
  std::uint64_t padding = 0;
  std::uint64_t after = 0;  ///< wavefronts
  /// Additional bytes: with one start, those before the last byte of all ranges, gaps between them included; else the sum over the
  /// ranges, each without its move. Rows of 128 bytes with 4 more, ranges 0x0..0xfc and 0xf00..0xffc: 124.
  std::uint64_t memory = 0;
  std::vector<std::uint64_t>
      starts{};  ///< start of each range: the address that its rows are counted from, at or below its first byte
  /// For each range the least multiple of 16 bytes with which it begins behind the range before; none with one start.
  std::vector<std::uint64_t> moves{};

  /// True if all rows can be counted from starts[0]: the ranges then move by whole bank words against each other.
  [[nodiscard]] bool has_one_start() const;
};

/// The paddings that were searched: rows of each multiple of `step` bytes up to `longest`, and of `longer`, counted from each
/// multiple of `step` at or below the first byte of each range, with each multiple of `step` up to `most` more, but not more than
/// the row is long.
struct PaddingFamily {
  unsigned step = 0;          ///< bytes of the widest access
  unsigned most = 0;          ///< padding, in bytes: a line of all banks less a step; more changes no bank
  std::uint64_t longest = 0;  ///< bytes; 0 where there are too many accesses to search
  std::vector<std::uint64_t> longer{};  ///< bytes: pitches that lanes show
  bool all = false;                     ///< rows of any length: no longer one is cheaper

  [[nodiscard]] bool is_empty() const { return longest == 0 && longer.empty(); }
};

/// How wgmma and tcgen05 read memory: then a swizzle is one of the modes of descriptors. Without a swizzle rows may be padded that are
/// multiples of the 128 bytes of a core matrix; a swizzle is one of addresses, and padding would move rows within its pattern.
/// `copied`: cp.async.cg writes the memory. These swizzles permute the units of each row alike, which changes no cost of H22; padding may.
enum class DescriptorUse : std::uint8_t { none, plain, copied, swizzled };

/// A region that has accesses more expensive than their ideal, and what fixes it.
struct Fix {
  std::vector<ByteRange> region{};      ///< ranges in order, apart from each other
  std::uint64_t before = 0;             ///< wavefronts of all accesses to the region
  std::uint64_t ideal = 0;              ///< the same with no access above its ideal
  unsigned element_bytes = 4;           ///< bytes of the narrowest access; 2 for matrices
  std::uint64_t patterns = 0;           ///< different accesses up to XOR with an address
  std::uint64_t searched = 0;           ///< swizzles; none where there are more than 2^16 patterns
  std::optional<SwizzleFix> swizzle{};  ///< nothing where none is better
  std::optional<PaddingFix> padding{};  ///< nothing where none that was searched is better
  PaddingFamily paddings{};             ///< paddings that were searched
  bool too_many = false;                ///< patterns: no swizzle was searched
  bool of_descriptors = false;          ///< of swizzles only Sw<1,4,3>, Sw<2,4,3> and Sw<3,4,3> were searched
  bool of_copies = false;               ///< the same, because of cp.async.cg
  int widest_bits = 0;                  ///< log2 of the bytes of the widest access, which swizzles keep whole
  int address_bits =
      0;  ///< size of the address of the region's last byte: swizzles were searched within these bits

  /// Wavefronts after the better of the two; `before` if nothing helps.
  [[nodiscard]] std::uint64_t after() const {
    std::uint64_t least = before;
    if (swizzle) least = swizzle->after < least ? swizzle->after : least;
    if (padding) least = padding->after < least ? padding->after : least;
    return least;
  }
};

/// The fixes of a kernel's regions that have excess, those that save most first.
///
/// The swizzles tried are all valid ones of bits > 0 within the bits of the region's addresses that keep the widest access whole
/// and the region within its own lines of 128 bytes, clear of the bytes of other accesses. Among the cheapest, the one with the
/// fewest bits wins, Sw<.,4,3> first. The paddings tried are Fix::paddings, each with every start of its rows. Among the cheapest,
/// the 8 pitches that lanes of expensive accesses show most often come first, then the other pitches in ascending order; the least
/// padding wins. Both must be cheaper than the present layout. A column of 32 floats, 128 bytes apart, and its
/// rows: Sw<5,2,5>, or 4 bytes a row. The search of paddings ends after 2^22 evaluations: the family says how far it came.
/// `whole`: bytes that other accesses to this memory keep together, at least as many as the widest access counts. `use`: how
/// descriptors read this memory. Checked by Fix.DescriptorsKeepTheirPatterns.
/// Checked by tests/unit/analysis/fix_test.cpp and tests/reference/explain.py against plain loops.
[[nodiscard]] std::vector<Fix> fixes_of(std::span<WeightedAccess const> accesses,
                                        Architecture const& arch = sm_90, unsigned whole = 1,
                                        DescriptorUse use = DescriptorUse::none);

}  // namespace swizproof
