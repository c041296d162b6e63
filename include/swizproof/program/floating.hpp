// Instructions of floating point, on numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace swizproof::program {

/// Bits of the result of a floating-point instruction of PTX on given bits, where IEEE 754 and the PTX ISA fix every one of them:
/// add, sub, mul, fma, div.rn, rcp.rn and sqrt.rn of f32 and f64 to nearest even, neg, abs, min, max, copysign, testp, comparisons (0 or 1), and conversions
/// between them and integers; else nothing, as for approximations, a NaN, or an integer beyond its type. `.ftz` takes subnormal numbers as 0.
/// Signed integers are sign-extended to 64 bits; a register takes its low bits.
/// `float_result("add.f32", {0x3f800000, 0x40000000})` is 0x40400000: 1 + 2 = 3. [PTX ISA 9.1: 9.7.3, 9.7.9.21]
/// Checked by Floating.FollowsTheTable and Floating.AgreesWithIntegersWhereTheyAreExact.
[[nodiscard]] std::optional<std::uint64_t> float_result(std::string_view opcode,
                                                        std::array<std::uint64_t, 3> const& sources);

/// True if two numbers compare as an operator of setp says; nothing for one that is none. Those with u also hold where one of the two is
/// NaN.
[[nodiscard]] std::optional<bool> float_compares(std::string_view how, double a, double b);

/// Bits of the floating-point number that a conversion of an integer gives where the format holds the integer exactly; else nothing.
/// `exact_conversion("cvt.rn.f32.s32", 1)` is 0x3f800000. Checked by Execution.ConstantsAreConvertedWhereTheFormatHoldsThem.
[[nodiscard]] std::optional<std::uint64_t> exact_conversion(std::string_view opcode, std::uint64_t value);

}  // namespace swizproof::program
