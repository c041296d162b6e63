// Clusters of blocks.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace swizproof {

/// Reason why a launch cannot have clusters of this shape; empty if it can. `required`: of the kernel, {0, 0, 0}: none. `cluster`: {0, 0, 0} is not
/// given. The grid is a multiple of it, and it has at most 16 blocks. [PTX ISA, .reqnctapercluster; CUDA C++ Programming Guide, Thread Block
/// Clusters] Checked by Clusters.DivideTheGrid.
[[nodiscard]] std::string why_no_cluster(std::array<std::uint32_t, 3> const& required,
                                         std::array<std::uint32_t, 3> const& cluster,
                                         std::array<std::uint32_t, 3> const& grid);

}  // namespace swizproof
