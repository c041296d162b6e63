// The lanes of one warp that execute an access in one case.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <vector>

namespace swizproof::kernel_detail {

/// An access by one warp under assumptions with which its addresses are known but for a part that all lanes share.
struct LanesInCase {
  program::MemoryAccess const& memory;
  execution::ExecutedAccess const& access;
  std::uint32_t symbol = ~0U;  ///< of its array; ~0: not known
  unsigned number = 0;         ///< of the warp
  execution::Warp& warp;       ///< under the assumptions
  std::vector<execution::Assumption> const& assumptions;
  execution::Lanes const& address;  ///< split
  execution::LaneTruths const& guard;
  std::uint32_t active = 0;  ///< lanes that may execute it
};

}  // namespace swizproof::kernel_detail
