// From exactly which base addresses is addressing relative to the base the same as addressing from 0?
//
//   f(base + x) = base + f(x)      for every place x that the tile has before f
//
// f is all that comes after the place to which a base is added. A pointer is added where bytes begin, so for a
// map that swizzles bytes f is that swizzle, and x runs over every byte of every element. Where only elements are
// swizzled, x runs over the offsets of the innermost layout, f is every stage after it, and bases are counted in
// elements that start on a byte.
#pragma once

#include <swizproof/analysis/inspect.hpp>

#include <string>
#include <vector>

namespace swizproof {

/// No shared array of tiles starts at less, in bytes: what every command takes for granted of a base.
inline constexpr std::uint64_t array_alignment = 16;

/// End of the bases that a question about multiples of `step` quantifies over: 2^24, as addresses of shared memory lie below 16
/// MiB on every architecture; 2^32 where a step of 2^24 or more names larger ones. `end_of_bases(1024) == 1 << 24`.
[[nodiscard]] constexpr std::uint64_t end_of_bases(std::uint64_t step) {
  constexpr std::uint64_t of_shared_memory = std::uint64_t{1} << 24;
  return step < of_shared_memory ? of_shared_memory : std::uint64_t{1} << 32;
}

/// The bases of a domain, in words: "every base that is a multiple of 128", or, where `limited` to those below end_of_bases(),
/// "every base that is a multiple of 128 and below 2^24".
[[nodiscard]] std::string words_of_bases(std::uint64_t step, bool limited);

/// The set of bases b from which f(b + x) = b + f(x) for every x of the tile (all x, without one).
struct Alignment {
  Outcome outcome{};  ///< Proved: exactly the bases that the members below say
  Engine engine = Engine::smt;
  std::uint64_t bytes = 1;            ///< all its multiples are such bases
  std::uint64_t period = 1;           ///< period of the set of bases, in bytes
  std::vector<std::uint64_t> also{};  ///< residues mod `period` in the set that are no multiples of `bytes`
  std::vector<std::uint64_t> witnesses{};  ///< x that refute every other base (functions without a shape)
  std::string domain{};

  /// True if `base` is in the set. Precondition: Proved.
  [[nodiscard]] bool holds(std::uint64_t base) const;
};

/// Finds the set and proves it, both ways. `(8,64):(64,1)` under the 128-byte swizzle: the multiples of
/// 1024. Unknown where a time limit or 2^28 steps are reached. Throws InputError if the element size is needed
/// and not known. Checked by tests/unit/layout/map_properties.cpp.
[[nodiscard]] Alignment alignment_of(Map const& map, Limits const& limits);

/// A period of the map's own unit in bytes: the least number of bytes that is a whole number of periods and of
/// elements; nothing beyond 64 bits. 64 elements of f16: 128; 1 element of 4 bits: 1.
[[nodiscard]] std::optional<std::uint64_t> bytes_of_period(Map const& map, std::uint64_t period);

/// Bytes whose multiples are surely such bases: alignment_of().bytes where that is decided, else the period of
/// the swizzles, else 1. Nothing if no engine can decide the period of a function.
[[nodiscard]] std::optional<std::uint64_t> own_alignment(Map const& map, Limits const& limits);

/// `the base 0x400`: a domain whose only base is known.
[[nodiscard]] std::string known_base(std::uint64_t base);

/// Refuses bases by their alignment where the map's pointer has an address: it is the only base. Throws InputError.
void refuse_other_bases(Map const& map, std::optional<std::uint64_t> align);

/// Reason if a question that names no bases is not decided, because own_alignment() is not known.
inline constexpr char const* unknown_bases =
    "the bases are not known, because no engine can decide the period of the function: give the alignment "
    "with --align";

}  // namespace swizproof
