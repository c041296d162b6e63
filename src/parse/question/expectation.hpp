// Expectations of a kernel, as users write them: arrays, and elements of the result as sums of products of elements.
#pragma once

#include <swizproof/flow/flow.hpp>

#include <string>
#include <utility>
#include <vector>

namespace swizproof {

/// A parameter of a launch or a part of one: `0=A:f16[128][64]`, `n=1024`, `#3=alpha:f32`, `3=1.5:f32`, `0+8=64`. Of a number alone in
/// front of `=` or `+` the parameter is that number's. Throws InputError.
[[nodiscard]] std::pair<std::string, FlowParam> parse_flow_param(std::string const& text);

/// `C[m][n] = sum(k) A[m][k] * B[k][n] for m in 0..127`. An index has the values of the extent that it stands for alone, or those
/// of its `for`. Throws InputError.
[[nodiscard]] FlowExpectation parse_expectation(std::string const& text,
                                                std::vector<FlowArray> const& arrays);

}  // namespace swizproof
