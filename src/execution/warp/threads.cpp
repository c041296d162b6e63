#include "threads.hpp"

#include <swizproof/execution/warp.hpp>
#include <swizproof/program/step.hpp>

#include <algorithm>

namespace swizproof::execution {

std::optional<std::array<std::uint32_t, 3>> Threads::lanes_of(Launch const& launch) {
  std::array<std::uint32_t, 3> lanes{1, 1, 1};
  std::uint32_t left = 32;
  for (unsigned d = 0; d < 3; ++d) {
    lanes[d] = std::min(left, launch.block[d]);
    if (launch.block[d] % lanes[d] != 0 || left % lanes[d] != 0) return std::nullopt;
    left /= lanes[d];
  }
  return left == 1 ? std::optional(lanes) : std::nullopt;
}

Threads::Threads(Execution& execution, Launch const& launch, unsigned number)
    : block_(launch.block),
      grid_(launch.grid.value_or(std::array<std::uint32_t, 3>{})),
      of_any_warp_(number == Warp::every) {
  std::uint64_t const threads = std::uint64_t{block_[0]} * block_[1] * block_[2];
  std::uint64_t const first = of_any_warp_ ? 0 : std::uint64_t{number} * 32;
  if (of_any_warp_) lanes_ = lanes_of(launch).value();
  for (unsigned d = 0; d < 3; ++d)
    if (lanes_[d] < block_[d] && of_any_warp_ && execution.warp_numbers[d] == 0) {
      Leaf part;
      part.kind = Leaf::Kind::special;
      part.extra = static_cast<std::uint32_t>(Special::warp_x) + d;
      execution.warp_numbers[d] = execution.add_leaf(std::move(part), 32);
    }
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::uint64_t t = first + lane;
    if (t < threads)
      present_ |= 1U << lane;
    else
      t = first;  // a lane that does not exist holds what lane 0 holds
    thread_[lane] = t;
  }
}

std::uint64_t Threads::special(Special s, unsigned lane) const {
  return special_of(static_cast<std::uint32_t>(s), {thread_[lane], lane, block_, grid_}).value_or(0);
}

}  // namespace swizproof::execution
