// Names of a kernel's accesses: instruction, lines of the source, and address.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// An access before its cost is decided.
struct NamedAccess {
  KernelAccess access{};
  std::uint32_t symbol = ~0U;  ///< of its array; ~0: not known
  bool settled = false;        ///< true if it has its verdict or its reason
};

/// Instruction and lines of an access, of code whose sources the module has.
[[nodiscard]] KernelAccess described(ptx::Module const& module, program::MemoryAccess const& access,
                                     bool sass);

/// Sectors that an access to global memory may touch: those of its line's allowance, else the ideal ones and as many above. Checked by
/// KernelObligations.AllowancesOfGlobalMemoryAreOfItsAccesses.
[[nodiscard]] unsigned allowed_sectors(KernelOptions const& options, KernelAccess const& access);

/// Wavefronts that the allowance of its line or --at-most gives an access; nothing if its ideal decides. Checked by
/// BypassCopy.IsAllowedItsOwnExcess.
[[nodiscard]] std::optional<unsigned> allowed_number(KernelOptions const& options,
                                                     KernelAccess const& access);

/// Names an access by its index in the program; nothing if it surely accesses no shared memory.
[[nodiscard]] std::optional<NamedAccess> name_access(ExecutedKernel& kernel, std::size_t index);

/// All accesses, none of them decided for this reason.
[[nodiscard]] std::vector<KernelAccess> name_accesses(ExecutedKernel& kernel, std::string const& reason);

}  // namespace swizproof::kernel_detail
