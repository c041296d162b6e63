// Bounds on the wavefronts of accesses whose addresses are known in part.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <optional>

namespace swizproof::kernel_detail {

/// Wavefronts at most of lanes whose addresses differ in a way that is not known, all of them aligned; nothing if no bound is found below
/// the one for any addresses.
[[nodiscard]] std::optional<unsigned> bound_of_varying(ExecutedKernel const& kernel, execution::Warp& warp,
                                                       program::MemoryAccess const& access, Id address,
                                                       std::uint32_t active);

/// Wavefronts at most of aligned lanes whose addresses are known modulo a line of all banks: in one bank each lane has at most a word of
/// its own.
[[nodiscard]] std::optional<unsigned> bound_of_banks(ExecutedKernel const& kernel, execution::Warp& warp,
                                                     program::MemoryAccess const& access, Id address,
                                                     std::uint32_t active);

}  // namespace swizproof::kernel_detail
