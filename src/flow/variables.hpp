// Variables of a module in constant and global memory, as arrays.
#pragma once

#include <swizproof/flow/flow.hpp>

#include <cstdint>
#include <vector>

namespace swizproof::flow_detail {

/// The array that a variable is, where no type is given for it: of 4-byte integers, or of bytes.
[[nodiscard]] FlowArray array_of_variable(program::Variable const& variable);

/// Gives an array the numbers of its initial bytes; what these do not reach is 0.
void take_initial(FlowArray& array, std::vector<std::uint8_t> const& bytes);

}  // namespace swizproof::flow_detail
