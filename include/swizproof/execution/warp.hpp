// Terms of an execution, seen by one warp: 32 numbers plus a sum that all lanes share.
//
//   value of lane l = lane[l] + sum of coefficient * atom   (mod 2^bits)
//
// An atom is a node whose value is the same in all lanes, and not known. The rules are those of arithmetic modulo 2^bits; a
// rule that needs more (no carry, no wrap, a multiple of a power of two) is applied where it is shown from known zero bits and
// upper bounds, and nowhere else. Where it is not, the value is `stuck`, and `request` names the atom whose low bits, or value,
// would settle it: the caller tries all of them.
#pragma once

#include <swizproof/execution/facts.hpp>
#include <swizproof/execution/lanes.hpp>
#include <swizproof/execution/launch.hpp>
#include <swizproof/execution/terms.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace swizproof::execution {

class Evaluation;

/// One warp of a block. Not shared between threads.
class Warp {
 public:
  /// The number of one that stands for all warps of a block: what holds in it holds in each. tid.x is then a number of the lane plus
  /// 32 times a number of the warp that is not known, in a block of 256 threads. Only of a block for which lanes_of() has an answer.
  static constexpr unsigned every = ~0U;
  /// Threads of each dimension that the lanes of a warp have, where all warps have the same ones: of 16 x 16 threads 16, 2 and 1; nothing
  /// where a row of threads ends within a warp in one and not in another, or the last warp is not whole. Checked by
  /// PtxWarp.OneStandsForAll.
  [[nodiscard]] static std::optional<std::array<std::uint32_t, 3>> lanes_of(Launch const& launch);

  /// `clean`: the same warp without assumptions, which decides loops for this one while something is assumed; it must live as long. If none is
  /// given, it has one of its own.
  Warp(Program const& program, Flow const& flow, Execution& execution, Launch const& launch, unsigned number,
       Warp* clean = nullptr);
  /// Another warp of the block of `first`: they share what holds in all warps.
  Warp(Warp const& first, unsigned number);
  ~Warp();

  /// Value of a node modulo 2^bits (at most its width).
  Lanes const& value(std::uint32_t node, unsigned bits);
  LaneTruths truth(std::uint32_t node);
  /// Known of a node in every warp.
  Facts facts(std::uint32_t node);
  /// The node that these lanes have of a node: of `lane < 4 ? a : b` in lanes 0 to 3 that of a.
  std::uint32_t in_lanes(std::uint32_t node, std::uint32_t lanes);
  /// Trailing zeros that a node surely has.
  unsigned trailing_zeros(std::uint32_t node);

  /// True if all lanes that enter a loop leave it in the same iteration.
  bool exits_together(std::int32_t loop);
  /// True if all lanes that go on with a loop of several ways back to its header take the same one.
  bool goes_back_together(std::int32_t loop);
  /// Goes on under other assumptions. Values that rest on none of those that differ are kept.
  void assume(std::vector<Assumption> const& assumptions);
  /// Forgets the values of nodes, which are computed again where they are needed; references to them end.
  void release();
  /// Values that are kept: of 300 bytes and more each.
  [[nodiscard]] std::size_t kept() const;
  /// The request of a stuck value, by its `why`.
  [[nodiscard]] Request const& request(std::uint32_t why) const;
  /// All values that an atom can have, if they are at most `most`; nothing if they are more, or not known.
  std::optional<std::vector<std::uint64_t>> domain(std::uint32_t atom, std::size_t most);
  /// The value of a register at a loop's header in an iteration (0: the first), if the registers that it depends on there start from
  /// numbers that are known, the same in all lanes, and nothing else that their next values depend on changes in the loop or is
  /// unknown. Of `d` that starts as ntid.x = 64 and is halved: 64, 32, 16. Checked by Kernel.RegistersThatALoopShiftsAreFollowed.
  std::optional<std::uint64_t> iterated(std::uint32_t phi, std::uint64_t iteration);
  /// Lanes that exist: the last warp of a block may have fewer.
  [[nodiscard]] std::uint32_t present() const;
  /// Terms that were computed, by this warp, `first` or `clean`, and all that were made of them.
  [[nodiscard]] std::uint64_t steps() const;
  /// Values of the special registers of a lane, for a replay.
  [[nodiscard]] std::uint64_t special(Special s, unsigned lane) const;

 private:
  std::unique_ptr<Evaluation> evaluation_;
};

}  // namespace swizproof::execution
