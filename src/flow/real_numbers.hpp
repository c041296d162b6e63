// Floating-point instructions on numbers alone: bits that the PTX ISA fixes.
#pragma once

#include "kernel.hpp"
#include "words.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace swizproof::flow_detail {

/// The number that an instruction gives.
struct RealNumber {
  std::optional<std::uint64_t> bits{};  ///< nothing: the format does not hold the exact number
  bool fixed = true;                    ///< false: PTX does not fix the bits, as those of most NaN
};

enum class Rounding : std::uint8_t { nearest, zero, down, up };
/// Bits of a number that is rounded once: to nearest even, towards 0, down or up; nothing of a format that has no rounding, or no infinity where the
/// number is too large. `rounded_bits(16777217, Format::f32, Rounding::nearest)` is 0x4b800000. Checked by RealNumbers.AreRoundedOnce.
[[nodiscard]] std::optional<std::uint64_t> rounded_bits(double value, Format format, Rounding rounding);
/// An integer, whose rounding to fewer than 52 bits is that of the result: the odd one of its two neighbours where f64 does not hold it.
[[nodiscard]] double odd_integer(std::uint64_t number);

/// A word whose numbers below the normal ones are zeros of their sign, as .ftz takes and gives them; names stay. `flushed` of the f32 0x80000001: 0x80000000.
[[nodiscard]] Word flushed(Word w, Packed const& type);
/// True if a part of a word that has no name is a NaN of this type.
[[nodiscard]] bool has_nan(Word const& w, Packed const& type, unsigned at);

/// add, sub, mul, fma, mad and neg, with .sat and .relu. [PTX ISA 9.1, 9.7.3, 9.7.4]
[[nodiscard]] RealNumber arithmetic_number(Decoded const& d, Packed const& type,
                                           std::array<double, 3> const& values);
/// max, min and abs. One NaN is left out, or with .NaN the result; -0 is below +0. [PTX ISA 9.1, 9.7.3.11 to 9.7.3.13]
[[nodiscard]] RealNumber extreme_number(Decoded const& d, Packed const& type,
                                        std::vector<double> const& values);
/// cvt of a number to another format, or to an integral number. [PTX ISA 9.1, 9.7.9.21]
[[nodiscard]] RealNumber converted_number(Decoded const& d, Packed const& to, double value);
/// Bits of the NaN that .NaN and .relu give; nothing for a format that has none of its own.
[[nodiscard]] std::optional<std::uint64_t> canonical_nan(Format format);

}  // namespace swizproof::flow_detail
