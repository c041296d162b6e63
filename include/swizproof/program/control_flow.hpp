// Control flow of a lowered function: dominators, postdominators and natural loops.
#pragma once

#include <swizproof/program/program.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace swizproof::program {

/// One natural loop: the blocks from which its header is reached again without leaving it.
struct Loop {
  std::uint32_t header = 0;
  std::int32_t parent = -1;  ///< the loop around it
  std::uint32_t depth = 1;
  std::vector<std::uint32_t> latches{};  ///< blocks with an edge back to the header
  /// Edges that leave it.
  struct Exit {
    std::uint32_t from, to;
  };
  std::vector<Exit> exits{};
};

/// Indices of loops, each followed by the loop around it: a range, and its iterator. Checked by Flow.LoopsAndTheirExits.
struct LoopsAround {
  std::vector<Loop> const& loops;
  std::int32_t at;
  [[nodiscard]] LoopsAround begin() const { return *this; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }
  std::int32_t operator*() const { return at; }
  LoopsAround& operator++() { return at = loops[static_cast<std::size_t>(at)].parent, *this; }
  bool operator==(std::default_sentinel_t) const { return at < 0; }
};

/// The flow of a program. Blocks that are not reached have no order.
struct Flow {
  std::vector<std::uint32_t> order{};  ///< reached blocks, each after its dominators (reverse postorder)
  std::vector<std::int32_t> number{};  ///< index of each block in `order`, or -1
  std::vector<std::int32_t> idom{};    ///< immediate dominator, or -1
  std::vector<std::int32_t> ipdom{};   ///< immediate postdominator; -1: the end, or no end is reached
  std::vector<std::vector<std::uint32_t>> before{};  ///< predecessors that are reached
  std::vector<std::int32_t> loop{};                  ///< innermost loop of each block, or -1
  std::vector<Loop> loops{};                         ///< outer loops before inner ones
  /// True for a block that lanes may execute one after another: they reach it on several paths from a branch with another path that
  /// misses the block, continue a loop from several blocks, or leave it in several iterations. The same holds for the blocks that it
  /// dominates, until all paths meet. On an H200 such lanes were together in four of five compiled kernels. Checked by
  /// Flow.WaysThatMeetEarly.
  std::vector<bool> apart{};
  bool reducible = true;

  /// True if a dominates b. Checked by Flow.Dominators.
  [[nodiscard]] bool dominates(std::uint32_t a, std::uint32_t b) const;
  /// True if every path from `a` to the end passes `b`.
  [[nodiscard]] bool postdominates(std::uint32_t b, std::uint32_t a) const;
  /// True if every path from `a`, which dominates `b`, passes `b` before it comes to the end or to the next iteration of a loop with both: an
  /// iteration may end at another latch. Checked by Flow.BlocksThatFollowInAnIteration.
  [[nodiscard]] bool always_follows(std::uint32_t b, std::uint32_t a) const;
  /// True if a block lies in a loop (-1: no loop, where every block lies).
  [[nodiscard]] bool within(std::uint32_t block, std::int32_t loop_index) const;
  /// A loop and those around it, the innermost first; none for -1: `for (std::int32_t const l : flow.around(loop))`.
  [[nodiscard]] LoopsAround around(std::int32_t loop_index) const { return {loops, loop_index}; }
  /// True if the inner loop equals the outer one or lies in it; false if either is -1.
  [[nodiscard]] bool encloses(std::int32_t outer, std::int32_t inner) const;
};

/// Successors of a block, at most two; the same one twice counts once.
[[nodiscard]] std::vector<std::uint32_t> successors(Block const& block);

/// Finds the flow. An irreducible one (a loop with two entries) is named by `reducible`.
[[nodiscard]] Flow flow_of(Program const& program);

/// The program in which loops have one entry: ways into a loop that miss its header go through copies of the blocks up to it. Of a loop
/// whose test can be entered first, the test is copied. Blocks are copied that access no shared memory and give no value that depends on
/// which lanes run them; where that is not enough, or more than 64 copies are needed, the flow stays irreducible. Checked by
/// Flow.ALoopWithTwoEntriesGetsOne and Kernel.LanesThatEnterALoopInTwoPlacesMayMeetInTwoIterations.
[[nodiscard]] Program with_one_entry(Program program);

}  // namespace swizproof::program
