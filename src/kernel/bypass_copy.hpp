// The cost of cp.async that bypasses L1, by its source and its destination together (H22).
//
// A copy is judged case by case: it takes no more than the best destination for what it reads, or no more than a given number. The search for the
// worst case (access_search.hpp) compares numbers, so the cost of a case is one:
//
//   judged by excess    excess over the best destination * 64 + wavefronts
//   by a number         wavefronts * 64 + those of the best destination
#pragma once

#include "access_search.hpp"
#include "lanes_in_case.hpp"
#include "sectors.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace swizproof::kernel_detail {

/// Wavefronts of a copy, and of the best destination for its source.
struct CopyCost {
  unsigned wavefronts = 0, least = 0;
  bool exact = true;  ///< else at most as many
  bool best = true;   ///< a destination takes `least`; else none is known that takes fewer

  /// True if the number is that of an execution.
  [[nodiscard]] bool is_exact(bool by_excess) const { return exact && (best || !by_excess); }

  [[nodiscard]] unsigned excess() const { return excess_over(least, wavefronts); }
  /// The number that the search compares.
  [[nodiscard]] unsigned number(bool by_excess) const;
  [[nodiscard]] static CopyCost of_number(unsigned number, bool by_excess);
};

/// Bytes of a line of global memory and of a row of shared memory: the cost depends on addresses modulo them.
inline constexpr unsigned copy_row = 128;

/// Bytes modulo which the base of an array changes the cost of an access: others turn all banks alike.
[[nodiscard]] inline unsigned turn_of(program::MemoryAccess const& access) {
  return access.bypasses ? copy_row : 4;
}

/// The allowance as CopyCost::number: a number of wavefronts, or else KernelOptions::excess.
[[nodiscard]] unsigned allowed_copy(KernelOptions const& options, std::optional<unsigned> number);

/// Gives a decided copy its wavefronts: no case takes more than `most`. Its ideal is the best destination's in the case that is shown, else
/// in the worst one.
void name_copy(bool by_excess, CopyMost const& most, KernelAccess& out);

/// H22 on the addresses of lanes; nothing if one of them is misaligned.
[[nodiscard]] std::optional<CopyCost> copy_cost(std::uint32_t active, LaneAddresses const& from,
                                                LaneAddresses const& to);

/// Cost of a copy in one case.
struct CopyInCase {
  unsigned most = 0;                    ///< as CopyCost::number, with the worst start of the source
  unsigned wavefronts = 0, excess = 0;  ///< with any start
  std::uint64_t residue = 0;            ///< of the first lane's source modulo a line, there
  bool same = false;                    ///< all starts cost as much
  bool exact = true;                    ///< false if it may be less (H22)
  bool aligned = false;                 ///< with a start all lanes are aligned
  std::optional<execution::Id> free{};  ///< GlobalLanes::free, and `constant`
  bool constant = false;
  bool near = false;
};

/// `to`: the lanes of the destination, known modulo a row. `alone` as global_lanes() has it.
[[nodiscard]] CopyInCase copy_in(ExecutedKernel const& kernel, LanesInCase const& from,
                                 LaneAddresses const& to, bool by_excess,
                                 std::function<bool(execution::Id)> const& alone);

}  // namespace swizproof::kernel_detail
