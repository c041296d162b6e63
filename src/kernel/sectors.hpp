// Sectors and lines of global memory that the lanes of a case touch (H20), for every residue of their addresses modulo a line.
#pragma once

#include "access_cost.hpp"
#include "lanes_in_case.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace swizproof::kernel_detail {

/// Sectors in one case. Addresses are those of the most sectors.
struct SectorsInCase {
  KernelSectors seen{};
  unsigned most = 0;          ///< sectors
  std::uint64_t residue = 0;  ///< of the first lane's address modulo a line, in the worst execution
  bool same = false;          ///< all residues take as many sectors
  bool free = false;          ///< a launch has each residue: a parameter decides it
  bool aligned = false;       ///< with a residue all lanes are aligned; others fault, and are no executions
  WarpAccess<std::uint32_t> lanes{};
};

/// Lanes in global memory whose distances are known.
struct GlobalLanes {
  LaneAddresses address{};  ///< far from 0; that of the first lane is a multiple of a line
  std::uint64_t low = 0;    ///< the first lane's address modulo `step`, which divides what is not known of it
  std::uint64_t step = 1;
  std::optional<execution::Id> free{};  ///< the parameter that decides the rest, if a launch has each residue
  bool constant = false;                ///< nothing else decides it: all of it is known
  bool near = false;                    ///< they are taken to be less than 2 GiB apart
};

/// Lanes of a case of an access to global memory. `alone`: true for a term of the address none of whose leaves another term has.
[[nodiscard]] GlobalLanes global_lanes(ExecutedKernel const& kernel, LanesInCase const& now,
                                       std::function<bool(execution::Id)> const& alone);

/// Sectors of the lanes of a case. `alone`: true for a term of the address none of whose leaves another term has.
[[nodiscard]] SectorsInCase sectors_in(ExecutedKernel const& kernel, LanesInCase const& now,
                                       std::function<bool(Id)> const& alone);

/// Bytes from each active lane to the next one, if they are the same. The lanes have the low 32 bits of their addresses: nothing if these
/// do not touch as many sectors as the addresses do. `bytes`: those of a lane.
[[nodiscard]] std::optional<std::int64_t> stride_of(WarpAccess<std::uint32_t> const& lanes, unsigned bytes,
                                                    unsigned sectors);

/// Source of the alignment of pointers.
enum class AlignedPointers : std::uint8_t {
  none,    ///< .ptr .align of PTX alone
  given,   ///< --pointers
  copied,  ///< assumed: what cp.async.cg reads starts at a multiple of 128
};

/// Aligns parameters that are the one pointer of a global access, and forgets the alignment of those with a given value. Without --pointers
/// these are the pointers of copies that bypass L1. Checked by BypassCopy.ReadsFromAlignedPointersUnlessTheyAreGiven.
AlignedPointers align_pointers(ExecutedKernel& kernel);

/// Sectors that the most lanes of a warp need at least which may execute an access.
[[nodiscard]] unsigned ideal_of_global(ExecutedKernel& kernel, program::MemoryAccess const& access,
                                       execution::ExecutedAccess const& executed);

}  // namespace swizproof::kernel_detail
