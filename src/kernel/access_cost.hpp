// Wavefronts of a kernel's accesses, by the cost model.
#pragma once

#include "executed_kernel.hpp"

#include "execution/runs.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>

namespace swizproof::kernel_detail {

/// Addresses of the lanes, in bytes.
using LaneAddresses = std::array<std::uint64_t, 32>;

/// Lanes as hardware sees them, and their wavefronts.
struct LanesCost {
  unsigned wavefronts = 0;
  WarpAccess<std::uint32_t> lanes{};
};

/// True if a lane gives an address where these lanes are active. All lanes of a warp execute ldmatrix and stmatrix; the first 8 N give
/// the addresses.
[[nodiscard]] bool takes_part(Instruction const& instruction, std::uint32_t active, unsigned lane);

/// Aligned pieces of `piece` bytes of global memory that these lanes touch (H20).
[[nodiscard]] unsigned sectors_at(unsigned bytes, std::uint32_t active, LaneAddresses const& address,
                                  unsigned piece);

/// Addresses from that of the first active lane on, by their low 32 bits: the lanes are less than 2 GiB apart.
[[nodiscard]] LaneAddresses as_near(std::uint32_t active, LaneAddresses address);
/// True if the active lanes are so near to the first of them.
[[nodiscard]] bool are_near(std::uint32_t active, LaneAddresses const& address);

/// Wavefronts of an access by these lanes at these addresses; of global memory its sectors.
[[nodiscard]] LanesCost cost_of(KernelOptions const& options, program::MemoryAccess const& access,
                                std::uint32_t active, LaneAddresses const& address);

/// Most wavefronts that these lanes can take at any addresses.
[[nodiscard]] unsigned most_wavefronts(KernelOptions const& options, program::MemoryAccess const& access,
                                       std::uint32_t active);

/// An access in an execution, with variables in shared memory at `bases`: its cost, or that a lane leaves its array, or is misaligned at
/// each base. Nothing for what is undefined or misaligned by its base, and for atomics that may take less.
[[nodiscard]] std::optional<execution::AccessRun> access_in_run(
    ExecutedKernel const& kernel, std::uint32_t access, std::uint32_t active, LaneAddresses const& address,
    std::map<std::uint32_t, std::uint64_t> const& bases);

}  // namespace swizproof::kernel_detail
