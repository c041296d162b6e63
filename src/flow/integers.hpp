// Signs of integers that have names: the steps that compilers extend and shift them with.
#pragma once

#include "names.hpp"

#include <swizproof/program/program.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace swizproof::flow_detail {

/// Adds, subtracts or inverts a number where that says what becomes of a name: the bias 2^(w-1) of a sign that is extended, sext(x) =
/// zext(x + 2^(w-1)) - 2^(w-1), and numbers in the bytes above all names. `bytes`: of the result. False if it is something else.
/// Checked by Integers.KeepTheirSign.
[[nodiscard]] bool biased_step(Names& names, program::Action action, Word const& a, std::uint64_t number,
                               unsigned bytes, std::uint32_t line, Word& out);

/// Bits of the result of an instruction on numbers that is lowered to no steps; nothing where PTX does not fix them, or where it is not executed: floating point as
/// program::float_result() has it, cvt.sat and cvt.pack of integers, mul.hi of 64 bits. [PTX ISA 9.1, 9.7.1.4, 9.7.9.21, 9.7.9.22]
[[nodiscard]] std::optional<std::uint64_t> opaque_number(std::string_view opcode,
                                                         std::array<std::uint64_t, 3> const& sources);

}  // namespace swizproof::flow_detail
