// The threads that the lanes of one warp are.
#pragma once

#include <swizproof/execution/launch.hpp>
#include <swizproof/execution/terms.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace swizproof::execution {

/// Numbers of a warp's lanes in their block.
class Threads {
 public:
  /// `number`: of the warp, or Warp::every; then nodes for what its threads have more than lane numbers are added to `execution`.
  Threads(Execution& execution, Launch const& launch, unsigned number);
  /// As Warp::lanes_of.
  [[nodiscard]] static std::optional<std::array<std::uint32_t, 3>> lanes_of(Launch const& launch);

  /// Lanes that exist.
  [[nodiscard]] std::uint32_t present() const { return present_; }
  /// True if the lanes are those of any warp.
  [[nodiscard]] bool of_any_warp() const { return of_any_warp_; }
  /// Threads of a dimension that the lanes of any warp have.
  [[nodiscard]] std::uint32_t lanes(unsigned dimension) const { return lanes_[dimension]; }
  /// Value of a special register of the block in a lane.
  [[nodiscard]] std::uint64_t special(Special s, unsigned lane) const;

 private:
  std::array<std::uint32_t, 3> block_, grid_;  ///< `grid_` is 0 if it is not known
  bool of_any_warp_;
  std::uint32_t present_ = 0;
  std::array<std::uint64_t, 32> thread_{};       ///< of each lane, in its block
  std::array<std::uint32_t, 3> lanes_{1, 1, 1};  ///< of any warp: see lanes_of()
};

}  // namespace swizproof::execution
