// Two LAYOUTs as functions: are they the same, and on which domain?
#pragma once

#include <swizproof/analysis/align.hpp>

#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// Input at which two functions differ.
struct Difference {
  std::uint64_t input = 0;  ///< index, element offset or byte address; `what` says which
  std::uint64_t base = 0;   ///< base of the tile, if the functions depend on it
  std::int64_t left = 0;
  std::int64_t right = 0;
  unsigned bit = 0;  ///< bit of the element at `input`, if a swizzle of bytes splits elements
  std::vector<std::uint64_t>
      coordinate{};  ///< of `input`, in the shape that both have; empty: they share none of several modes
};

/// `(1,0)`; the input as a number where there is no coordinate.
[[nodiscard]] std::string place_of(Difference const& difference);

/// The result of comparing two LAYOUTs.
struct Equality {
  Outcome outcome{};
  std::vector<Engine> engines{};
  std::string domain{};  ///< domain of the verdict, in words
  bool limited = false;  ///< bases from end_of_bases() on were not looked at, which `domain` says
  std::string unit{};    ///< unit of left and right: "elements", "bytes" or "bits"
  std::optional<Difference> difference{};
};

/// Decides whether two LAYOUTs are one function.
///   both with a shape    indices 0..size-1; if one of them swizzles bytes, the address of every byte of every
///                        element, from every base that is a multiple of `align` (default: both alignments and 16)
///                        and lies below end_of_bases(); above it too where one period stands for all
///   both without         all 64-bit numbers; every byte of all elements, if one acts on bytes and one on elements
///   one of each          the function takes the place of the other's swizzle; offsets and layouts below it stay
/// Throws InputError where the two cannot be compared. Throws Disagreement.
[[nodiscard]] Equality compare(Map const& left, Map const& right, std::optional<std::uint64_t> align,
                               Limits const& limits);

}  // namespace swizproof
