// Uses of a kernel's parameters: which are pointers, and the types of the elements behind them.
#pragma once

#include "kernel.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace swizproof::flow_detail {

/// Bytes of a parameter that the kernel reads at once.
struct ParameterUse {
  std::size_t param = 0;
  std::uint64_t offset = 0;
  unsigned bytes = 0;
  bool pointer = false;     ///< an address of global memory is computed from it
  bool tensor_map = false;  ///< a copy of a tensor has its address
  bool loads = false, stores = false;
  unsigned dimensions = 0;  ///< of a tensor map
  std::string type{};       ///< of the elements, or of the number: `f16`, `i32`
};

/// Uses of the parameters, in their order. An element has the type of the arithmetic that loads reach or that stores come from, through
/// moves and shared memory; without any it is an integer of the width of the access. Checked by Proposal.FindsTypesOfElements.
[[nodiscard]] std::vector<ParameterUse> uses_of(FlowKernel const& kernel);

}  // namespace swizproof::flow_detail
