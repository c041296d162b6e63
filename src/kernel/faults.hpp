// Alignment of an access, and bounds of its array.
#pragma once

#include "lanes_in_case.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace swizproof::kernel_detail {

/// Reason why bounds are not known.
inline constexpr char const* no_known_array = "the address is not that of one known array";

/// Faults of an access in the cases so far.
struct Faults {
  bool aligned = true;      ///< all lanes surely are
  bool misaligned = false;  ///< a lane surely is
  std::optional<bool> in_bounds{true};

  void merge(Faults const& other) {
    aligned = aligned && other.aligned;
    misaligned = misaligned || other.misaligned;
    if (in_bounds) in_bounds = other.in_bounds;
  }
};

/// A lane that leaves its array if the guard lets it, where the assumptions hold.
struct OutsideLane {
  unsigned warp = 0, lane = 0;
  std::vector<execution::Assumption> assumptions{};
};

/// The first lane that leaves its array, and the first that is misaligned, in words; and the first that leaves it if it comes there.
struct FirstFaults {
  std::string outside{}, misaligned{};
  std::optional<OutsideLane> possible{};
};

/// Bytes of an array, from the start of its window on. Bytes below it are numbers below 2^32.
struct Extent {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;  ///< what ends here lies in the array; 0: its size is not known
  std::uint64_t end = 0;    ///< what ends behind lies beyond the array, or below it; 0: not known
  std::uint64_t most =
      0;  ///< bytes that a block may have, if the size of a dynamic array is not known; else 0

  /// True if bytes that are not below the array are more than a block may have.
  [[nodiscard]] bool is_past_block(std::uint64_t at, std::uint64_t bytes) const {
    return most != 0 && at + bytes > most && at < end;
  }
};
/// The end of a dynamic array whose size is not known is where the bytes below it begin.
[[nodiscard]] Extent extent_of(ExecutedKernel const& kernel, std::uint32_t symbol);

/// Words for a lane whose access begins at this byte and leaves an array: `accesses byte -4 of tile, which has 8192 bytes`.
/// `most`: Extent::most.
[[nodiscard]] std::string leaves_in_words(std::uint32_t at, std::string const& array, std::uint64_t end,
                                          std::uint64_t most);

/// Reason why it is not known that an access stays within its array.
[[nodiscard]] std::string why_no_bounds(ExecutedKernel const& kernel, execution::ExecutedAccess const& access,
                                        std::uint32_t symbol);

/// Looks for faults of a case, in all iterations of the loops whose counters its address has, if their number is known.
void check_faults(ExecutedKernel& kernel, LanesInCase const& now, Faults& faults, FirstFaults& first);

}  // namespace swizproof::kernel_detail
