// Lanes of an access: the patterns that a recorded execution is compared with, and the layout of the access.
#pragma once

#include "lane_layout.hpp"
#include "lanes_in_case.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// Patterns of lanes of all accesses of a kernel, for KernelOptions::lanes.
class LanePatterns {
 public:
  explicit LanePatterns(ExecutedKernel& kernel) : kernel_(kernel) {}

  /// Adds the lanes of a case. Returns why it does not: the kernel has too many.
  std::string add(LanesInCase const& now, std::set<KernelLanes>& to);
  /// Group and offset of an access. A group has the same guard, loop and terms, and the same distances of the lanes in every warp.
  [[nodiscard]] std::optional<KernelPlace> place_of(execution::ExecutedAccess const& access);
  /// True if no other summand of the address has a leaf that the term has.
  [[nodiscard]] bool is_alone(Id atom, execution::Lanes const& address) const;

 private:
  static constexpr std::size_t most = std::size_t{1} << 18;

  /// True for the start of an array, also if it is rounded up: `memory + 1023 & 0xfffffc00`.
  [[nodiscard]] bool starts_array(Id term) const;
  /// The number that all lanes share: its trailing zeros, and whether each multiple may be it.
  void find_shared(LanesInCase const& now, KernelLanes& into) const;

  ExecutedKernel& kernel_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> groups_{};
  std::size_t count_ = 0;
};

/// Adds a case to the layout of an access, in bytes from the start of its array.
void add_to_layout(ExecutedKernel const& kernel, LanesInCase const& now, LaneLayout& layout);

}  // namespace swizproof::kernel_detail
