// Signs of integers that have names: the steps that compilers extend and shift them with.
#pragma once

#include "names.hpp"

#include <swizproof/program/program.hpp>

namespace swizproof::flow_detail {

/// Adds, subtracts or inverts a number where that says what becomes of a name: the bias 2^(w-1) of a sign that is extended, sext(x) =
/// zext(x + 2^(w-1)) - 2^(w-1), and numbers in the bytes above all names. `bytes`: of the result. False if it is something else.
/// Checked by Integers.KeepTheirSign.
[[nodiscard]] bool biased_step(Names& names, program::Action action, Word const& a, std::uint64_t number,
                               unsigned bytes, std::uint32_t line, Word& out);

}  // namespace swizproof::flow_detail
