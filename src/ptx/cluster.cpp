#include <swizproof/ptx/cluster.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace swizproof {

std::string why_no_cluster(std::array<std::uint32_t, 3> const& required,
                           std::array<std::uint32_t, 3> const& cluster,
                           std::array<std::uint32_t, 3> const& grid) {
  constexpr std::uint64_t most = 16;
  bool const given = cluster[0] != 0;
  if (given && required[0] != 0 && cluster != required)
    return fmt::format("it was compiled for clusters of {} blocks (.reqnctapercluster)",
                       fmt::join(required, ","));
  std::array<std::uint32_t, 3> const& shape = given ? cluster : required;
  if (shape[0] == 0) return {};
  if (std::uint64_t{shape[0]} * shape[1] * shape[2] > most)
    return fmt::format("a cluster has at most {} blocks", most);
  for (unsigned i = 0; i < 3; ++i)
    if (grid[i] % shape[i] != 0)
      return fmt::format("the grid {} is no multiple of the cluster {}", fmt::join(grid, ","),
                         fmt::join(shape, ","));
  return {};
}

}  // namespace swizproof
