// One access while it is decided.
#pragma once

#include "faults.hpp"
#include "lane_layout.hpp"
#include "residues.hpp"

#include <swizproof/kernel/kernel.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace swizproof::kernel_detail {

/// Rounds in which accesses are decided: in the first each may take few steps, in the second an eighth of the steps left, then all.
enum class Round : std::uint8_t { few, share, rest };

/// The most of all cases of a copy that bypasses L1.
struct CopyMost {
  unsigned wavefronts = 0, excess = 0;  ///< over the best destination of the case
};

/// Limits of the search, and what the cases so far have in common. Each search begins with a new one.
struct AccessSearch {
  program::MemoryAccess const& memory;
  execution::ExecutedAccess const& access;
  std::uint32_t symbol = ~0U;  ///< of its array; ~0: not known
  unsigned allowed = 0;        ///< wavefronts
  std::uint64_t limit = 0;     ///< steps of the kernel at which the search ends
  Round round = Round::rest;
  std::vector<execution::Assumption>
      bases{};                ///< addresses of arrays that a device gives (H18); empty: any that PTX permits
  bool out_of_steps = false;  ///< true if it came to the limit
  std::optional<KernelSectors>
      sectors{};  ///< of global memory, in all cases so far whose addresses are known
  /// Copy that bypasses L1: what it reads, if its cost is that of both (H22). The cost of a case is then a CopyCost, as is `allowed`.
  program::MemoryAccess const* source = nullptr;
  execution::ExecutedAccess const* source_access = nullptr;
  bool by_excess = false;  ///< what is allowed is an excess over the best destination
  CopyMost most_copied{};
  bool source_unknown = false;  ///< a case has addresses or lanes that are not known: the search is over
  bool near = false;            ///< a bound of sectors rests on lanes that are less than 2 GiB apart

  Residues residues{};
  LaneLayout layout{};
  FirstFaults first_faults{};
  std::set<KernelLanes> patterns{};  ///< with KernelOptions::lanes
  std::string why_incomplete{};      ///< reason why patterns and layout lack a case; empty: they have all

  /// True if an access that comes to the limit is decided again in a later round.
  [[nodiscard]] bool waits() const { return round != Round::rest; }
};

}  // namespace swizproof::kernel_detail
