// Two LAYOUTs as functions: are they the same, and on which domain? And: from which base addresses is
// addressing relative to the base the same as addressing from 0?
#pragma once

#include <swizproof/inspect.hpp>

#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// Where two functions differ.
struct Difference {
  std::uint64_t input = 0;  ///< index, element offset or byte address; `what` says which
  std::uint64_t base = 0;   ///< of the tile, if the functions see it
  std::int64_t left = 0;
  std::int64_t right = 0;
};

/// What came of comparing two LAYOUTs.
struct Equality {
  Outcome outcome{};
  std::vector<Engine> engines{};
  std::string domain{};  ///< what the verdict quantifies over, in words
  std::string unit{};    ///< of left and right: "elements", "bytes" or "bits"
  std::optional<Difference> difference{};
};

/// Decides whether two LAYOUTs are one function.
///   both with a shape    indices 0..size-1; byte addresses from every base that is a multiple of
///                        `align` (default: both alignments) if one of them swizzles bytes
///   both without         all 64-bit numbers; all elements, if one acts on bytes and one on elements
///   one of each          the function takes the place of the other's swizzle, on its innermost layout
/// Throws InputError where the two cannot be compared. Throws Disagreement.
[[nodiscard]] Equality equal(Mapping const& left, Mapping const& right, std::optional<std::uint64_t> align,
                             Limits const& limits);

/// The set of bases b from which f(b + x) = b + f(x) for every byte x of the tile (all x, without one).
struct Alignment {
  Outcome outcome{};  ///< Proved: exactly the bases that the members below say
  Engine engine = Engine::smt;
  std::uint64_t bytes = 1;            ///< all its multiples are such bases
  std::uint64_t period = 1;           ///< the set repeats with it
  std::vector<std::uint64_t> also{};  ///< residues mod `period` in the set that are no multiples of `bytes`
  std::vector<std::uint64_t> witnesses{};  ///< x that refute every other base (functions without a shape)
  std::string domain{};
};

/// Finds the set and proves it, both ways. `(8,64):(64,1)` under the 128-byte swizzle: the multiples of
/// 1024. Throws InputError if the element size is needed and not known.
[[nodiscard]] Alignment alignment_of(Mapping const& map, Limits const& limits);

}  // namespace swizproof
