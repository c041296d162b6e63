// Instructions that two warps execute together, one in each block of a pair: tcgen05.alloc, .dealloc and .relinquish_alloc_permit with .cta_group::2.
//
// "The first warp to perform the operation could block until the second warp in the Peer CTA also performs the operation", and tcgen05.dealloc "may
// or may not block" [PTX ISA 9.1, 9.7.16.5, 9.7.16.7.1]. So both are executed:
//   - it blocks: a warp waits for its part's other one. What never ends then may hang on a device;
//   - it does not: the two are not ordered, and no edge of happens-before is between them.
// Part n of a block belongs to part n of the other one: the parts of each block have to be ordered.
#pragma once

#include "faults.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace swizproof::flow_detail {

/// Instruction of one warp of a pair that the other block has a part of, too.
struct TensorPart {
  enum class Kind : std::uint8_t { allocate, deallocate, relinquish };
  Kind kind = Kind::allocate;
  unsigned thread = 0;  ///< the first one of the warp
  std::uint32_t clock = 0;
  FlowTouch by{};
  std::uint64_t address = 0, columns = 0;
};

/// Parts of the two blocks of a pair: of the even one, and of the odd one.
struct TensorPair {
  struct Side {
    std::optional<TensorPart> waiting{};  ///< a part that is not over
    std::optional<TensorPart> last{};     ///< the one before
    bool done = false;                    ///< the other block's part was executed, too
    unsigned first = 0;                   ///< of tcgen05.alloc, the first column
  };
  std::array<Side, 2> sides{};
};

}  // namespace swizproof::flow_detail
