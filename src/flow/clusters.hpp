// Clusters: which blocks they have, their ranks, and how long the shared memory of each block is there.
//
// A block's shared memory is a window of 2^24 bytes; the one of rank r begins at r << 24. An address in it is one of .shared::cluster, and also of
// .shared::cta in the block itself [PTX ISA, State Spaces: .shared]. The blocks of a cluster are executed together, and happens-before
// (order.hpp) is one of all their threads.
//
// A block may access the memory of another one that has begun and has not ended [CUDA C++ Programming Guide, Distributed Shared Memory]:
//   - the begin of a thread of that block is before the access: a barrier of the cluster is between;
//   - the access is before the end of a thread of that block.
// "Before" is execution here, `Clocks::executed`. If no thread of the block ends behind an access, all of them may have ended before it.
#pragma once

#include "faults.hpp"
#include "order.hpp"
#include "units.hpp"

#include <swizproof/flow/flow.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace swizproof::flow_detail {

inline constexpr unsigned window_shift =
    program::window_bits;  ///< the shared memory of rank r begins at r << 24
inline constexpr std::uint64_t window_bytes = std::uint64_t{1} << window_shift;
/// Rank of the block that has a shared address.
[[nodiscard]] inline unsigned rank_at(std::uint64_t address) {
  return static_cast<unsigned>(address >> window_shift);
}
/// A shared address within its block: 0x1000408 is 0x408 of rank 1.
[[nodiscard]] inline std::uint64_t in_block(std::uint64_t address) { return address & (window_bytes - 1); }

/// Number of the block of a rank: of a cluster of 2 x 2 from 4,0,0 on, rank 3 is 5,1,0. [PTX ISA, %cluster_ctarank]
[[nodiscard]] std::array<std::uint32_t, 3> block_of_rank(std::array<std::uint32_t, 3> const& first,
                                                         std::array<std::uint32_t, 3> const& cluster,
                                                         unsigned rank);
/// Accesses to the memory of other blocks of the cluster.
class Lifetimes {
 public:
  Lifetimes(Units units, Clocks const& clocks) : units_(units), clocks_(clocks) {}
  /// True if the block of a rank has begun before what a thread does now.
  [[nodiscard]] bool begun(unsigned rank, unsigned thread) const;
  /// A thread or a unit accesses the memory of a rank.
  void access(unsigned rank, FlowTouch const& touch) { access(rank, touch, touch.doer); }
  /// The same by the clock of another unit: an arrival of a commit.
  void access(unsigned rank, FlowTouch const& touch, unsigned clock);
  /// A thread issues an instruction for its pair, whose other block, of a rank, shall not have ended. [PTX ISA 9.1, 9.7.16.5]
  void issue(unsigned rank, FlowTouch const& touch);
  /// An access that may follow the end of the block that has the memory, as a fault.
  [[nodiscard]] std::optional<FlowConflict> end() const;

 private:
  struct Access {
    std::uint32_t when = 0;
    FlowTouch touch{};
    bool issues = false;  ///< it is an issue for the pair
  };
  [[nodiscard]] FlowConflict fault(unsigned rank, Access const& access) const;
  Units units_;
  Clocks const& clocks_;
  /// The last access by each clock to each rank: if a thread ends behind it, it ends behind those before.
  std::map<std::pair<unsigned, unsigned>, Access> last_{};
};

}  // namespace swizproof::flow_detail
