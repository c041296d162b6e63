// Properties of a LAYOUT: each with the engine that decided it, and a counterexample
// where it does not hold.
#pragma once

#include <swizproof/core/gf2.hpp>
#include <swizproof/layout/map.hpp>
#include <swizproof/engine/question.hpp>
#include <swizproof/engine/verdict.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace swizproof {

/// A yes-or-no property: Proved, Refuted with a counterexample, or Unknown.
struct Fact {
  Outcome outcome{};
  Engine engine = Engine::exhaustive;
  std::optional<Engine> second{};  ///< another one that said the same
};

/// A number, and the engine that proved it right and its neighbour wrong; or why it is not known.
struct Quantity {
  std::optional<std::uint64_t> value{};
  Engine engine = Engine::exhaustive;
  std::string note{};    ///< reason if there is no value; else an explanation of the number, if it needs one
  bool unknown = false;  ///< it is not known if there is a value: a limit was reached
  std::optional<Engine> second{};  ///< another one that said the same
};

/// Result of inspect(). `unit` is what the function counts: "bytes" or "elements". A tile whose elements a
/// swizzle of bytes splits is a map of its bytes (of bits, where elements are no whole bytes).
struct Inspection {
  std::string domain{};
  std::string unit{};
  Fact injective{};
  Fact bijective{};
  Fact involution{};
  Fact linear{};
  Quantity kept_low_bits{};  ///< the most low bits that every f(x) shares with x
  Quantity span{};           ///< least aligned block that f maps into itself, in `unit`
  Quantity period{};         ///< least P > 0 with f(x+P) = f(x)+P if both are defined, in `unit`
  Quantity alignment{};  ///< its multiples are bases from which relative = absolute, in bytes; see align.hpp
  std::optional<BitMatrix> matrix{};  ///< matrix of a linear layout
};

/// Note of an alignment, which is in bytes, where the elements of the layout have no known size.
inline constexpr std::string_view needs_element = "needs the element size";

/// Largest domain that inspect() enumerates.
inline constexpr std::int64_t most_enumerated = std::int64_t{1} << 22;

/// Inspects a function of all 64-bit numbers by linear algebra and SMT, and a layout with a shape by
/// enumeration and, where it is affine in the bits of its index, by linear algebra. Throws Disagreement.
[[nodiscard]] Inspection inspect(Map const& map, Limits const& limits);

/// True if different inputs have different images: indices of a tile by enumeration (Unknown beyond
/// most_enumerated), all 64-bit numbers for a function without a shape. Throws Disagreement.
[[nodiscard]] Fact is_one_to_one(Map const& map, Limits const& limits);

/// True if it is one-to-one and onto: a tile's indices fill 0..size-1, all 64-bit numbers are permuted.
[[nodiscard]] Fact is_bijective(Map const& map, Limits const& limits);

/// The least P > 0 with f(x+P) = f(x)+P for all x, of the stages as a function of 64-bit words: a power
/// of two; no value if every such P is at least 2^63. One swizzle, displaced or not, by its formula
/// (proofs/theorems/period.cpp). Two swizzles may undo each other: `Sw<3,4,3>` after itself has period 1.
[[nodiscard]] Quantity period_of(std::vector<Stage> const& stages, Limits const& limits);

/// Some P with f(x+P) = f(x)+P for all x, a power of two: of several swizzles the largest period, at once.
[[nodiscard]] Quantity some_period(std::vector<Stage> const& stages, Limits const& limits);

}  // namespace swizproof
