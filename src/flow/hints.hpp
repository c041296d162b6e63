// Hints at a question that does not fit the kernel: another element type, another pitch.
#pragma once

#include "kernel.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::flow_detail {

/// Types of the loads and stores of each array: bits of an element, and the letter of the type.
using ArrayUses = std::map<std::uint32_t, std::set<std::pair<unsigned, char>>>;

/// Elements of an array of rows, as they are expected and as they are found: the first ones of sums.
using MovedElements = std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>>;
/// Takes the first elements of each array in two sums.
void note_moved(FlowKernel const& kernel, std::vector<FlowTerm> const& expected,
                std::vector<FlowTerm> const& found, Names const& names, MovedElements& elements);

/// Arrays that are accessed by elements of another floating-point type or of fewer bits than they have, and arrays whose row r is found
/// where it is with another pitch. Checked by Hints.*.
[[nodiscard]] std::vector<std::string> hints_of(FlowKernel const& kernel, ArrayUses const& uses,
                                                MovedElements const& elements);

}  // namespace swizproof::flow_detail
