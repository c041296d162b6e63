// Rings of mbarriers: pipelines whose producers and consumers pass stages to each other.
//
// A ring is a pair of mbarriers, `full` and `empty`, of one stage; without `empty` it has one phase. Phases are numbered from 0, phi(m)
// is the number of complete ones. All paths of any thread of each warp are followed with these counts of its own:
//
//   arrived(m)  arrivals that it has executed
//   passed(m)   a lower bound of phi(m): a wait that was true makes passed(m) = k + 1 if its parity is that of k = passed(m). For phi(m) >= k
//               then, and a wait for a parity is true only if phi(m) has another one [PTX ISA 9.1, mbarrier.test_wait], so that phi(m) > k.
//
// Premises, each of them checked:
//   1  Each mbarrier is initialised by one instruction, once, with a constant count; addresses and counts are constants on each path.
//   2  An arrival at `full` that is number i of its thread (from 0) has passed(empty) >= i.
//   3  An arrival at `empty` that is number j of its thread has passed(full) >= j + 1.
//   4  At most as many threads arrive at an mbarrier as it counts arrivals in a phase, each by one.
//   5  Copies whose bytes complete on `full` have a number too: i = arrived(full) if passed(empty) >= i, else i = arrived(full) - 1. Those up to number
//      i bring at most the bytes that arrivals up to number i expect, at each arrival and each copy.
//
// Theorem. In phase n of an mbarrier of the ring each of its threads arrives once, with its arrival number n; and phase n of `full` is
// complete only behind all copies up to number n.
// Proof, by induction over the arrivals of an execution. Let it hold so far, and let a thread arrive at `full` in phase f a second time: its number is
// f + 1, so phi(empty) >= f + 1 by 2. Phase f of `empty` is complete, so its threads have arrived with number f, and phi(full) >= f + 1 by 3:
// phase f of `full` is complete, against the assumption. For `empty` in phase e: number e + 1 needs phi(full) >= e + 2, so phase e + 1 of
// `full` has arrivals with number e + 1, which need phi(empty) >= e + 1: against the assumption. So each thread arrives at most once in a phase, by 4 as
// many arrive as a phase needs, and each of them does. A copy with number n + 1 needs phi(empty) > n, so phi(full) > n: all copies that are issued when phase n
// of `full` completes have numbers up to n. Then the bytes that are expected are those that were written; as copies up to n bring at most as many, each of
// them is complete.
//
// Order. A thread `holds` a stage at an access if passed(full) > arrived(empty) = j there, and the access is complete at its next arrival at `empty`. It `fills`
// it at an access before an arrival at `full` if passed(empty) >= arrived(full) = i, and by a copy with number i. Then the accesses of one that
// holds and of one that fills are ordered: for i <= j the second one is behind phase i of `full`; for i > j the first is behind phase j of `empty`, which the
// arrival behind the other one completed. Two copies of different numbers are ordered, too: i < j is complete in phase i of `full`, for which threads waited
// before phase i of `empty`, which passed(empty) >= j is behind; those of one number are compared on each path, if one thread alone fills the ring.
// tcgen05.commit arrives when the reads by tcgen05 of its thread are complete, later than it is executed: the induction is over arrivals, and counts only grow, so
// that 2 and 3 hold at the arrival, too. Bytes that mbarrier.expect_tx expects are of the thread's next arrival, and before it.
// 4 counts the threads that hold and fill, too; of wgmma, which a warpgroup executes as one, a thread that arrives for it. All else about two accesses needs disjoint bytes.
#pragma once

#include "race_access.hpp"
#include "race_intervals.hpp"
#include "race_pair.hpp"

#include <swizproof/execution/terms.hpp>
#include <swizproof/program/control_flow.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

class RingSearch;

/// Rings of a kernel, or why there are none.
class Rings {
 public:
  /// `end`: of shared memory. `unfenced`: accesses with no proxy fence before an arrival.
  Rings(program::Program const& program, program::Flow const& flow, execution::Execution const& execution,
        BlockShapes const& shapes, std::vector<SharedAccess> const& accesses,
        std::vector<CopyOrder> const& orders, std::uint64_t end, std::set<std::uint32_t> unfenced);
  ~Rings();
  Rings(Rings const&) = delete;
  Rings& operator=(Rings const&) = delete;

  /// Follows all paths. Empty, or why there are no rings; `line` is that of an instruction.
  [[nodiscard]] std::string find(std::uint32_t& line);
  /// Bytes of each copy of a tensor, by access: of the distance to the next destination, if these make up what is expected.
  [[nodiscard]] std::map<std::uint32_t, std::uint32_t> const& boxes() const;
  /// The sizes of boxes, as assumptions.
  [[nodiscard]] std::vector<std::string> assumed() const;
  /// True if two accesses of any threads, or of one, are ordered by a ring or have no byte in common.
  [[nodiscard]] bool orders(std::uint32_t a, std::uint32_t b);
  /// True if they have no byte in common.
  [[nodiscard]] bool apart(std::uint32_t a, std::uint32_t b) const;
  /// Why two accesses with a common byte are not ordered, where a ring fails; else empty.
  [[nodiscard]] std::string doubt(std::uint32_t& line) const;

  /// Accesses whose threads an mbarrier counts, for what orders() was true of: at most `count` threads may execute any of them. Each warpgroup
  /// that may execute one of `of_warpgroups`, which is wgmma, has a thread that may execute one of `arrivals`.
  struct Crowd {
    std::uint64_t count = 0;
    std::set<std::uint32_t> accesses{}, arrivals{}, of_warpgroups{};
  };
  [[nodiscard]] std::vector<Crowd> crowds() const;

 private:
  std::unique_ptr<RingSearch> search_;
};

}  // namespace swizproof::kernel_detail
