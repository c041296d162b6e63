// Sectors of global memory where rows of lanes lie an unknown distance apart: `p[row * pitch + column]`, with a pitch that is a parameter.
//
//   address of lane l = known[l] + coefficients[l] * pitch + what all lanes share     (its low 32 bits: lanes are less than 2 GiB apart)
//
// Lanes with equal coefficients are a row: their distances are known. The sectors of a row depend on where it starts in a sector, and the
// warp touches at most the sum of its rows at their worst starts. An execution with pitches that are given takes that many, if there is one.
#pragma once

#include "executed_kernel.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace swizproof::kernel_detail {

/// Sectors of all rows of a warp, at most.
struct SectorRows {
  unsigned most = 0;
  /// Pitches, and residues of the part that lanes have in common, with which an execution takes as many; empty if none is known.
  std::vector<execution::Assumption> reached_by{};
};

/// Nothing if the address has another form, or no row has aligned lanes. Checked by
/// Sectors.OfRowsAnUnknownPitchApartAreThoseOfTheRows and tests/reference/kernel_global.py.
[[nodiscard]] std::optional<SectorRows> rows_of(ExecutedKernel const& kernel, execution::Warp& warp,
                                                program::MemoryAccess const& access, std::uint32_t address,
                                                std::uint32_t active);

}  // namespace swizproof::kernel_detail
