// H18: where the arrays of a kernel lie in a block's shared memory (sm_90, as ptxas of CUDA 13.0 and the driver's compiler place them).
//
//   first    0x400: the bytes before it are reserved (Architecture::code)
//   static   the arrays that the kernel's text names, its own in the order of declaration, then those of the module in theirs: each at the
//            next multiple of its alignment, counted from the first
//   dynamic  the extern arrays of the module behind them, named or not, in the order of declaration, as arrays of no bytes at multiples of 16:
//            one of a larger alignment lies behind those that are declared before it
//
// PTX permits every multiple of an array's alignment. In block r of a cluster an address is r * 2^24 more, which no bank and no swizzle
// depends on. Measured by campaign `bases` for kernels that call no function with arrays of its own. Checked by
// tests/unit/hardware/shared_arrays_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace swizproof {

/// Greatest alignment that addresses have: a larger one is of the distance from the first address, 0x400. Of `.align 4096` an H100 gives 0x1400.
inline constexpr std::uint32_t most_shared_alignment = 1024;
/// Least alignment of dynamic shared memory, bytes.
inline constexpr std::uint64_t dynamic_alignment = 16;

/// Places shared arrays one behind the other. `SharedArrays a(0x400); a.place(4, 132) == 0x400; a.place(8, 4) == 0x488;
/// a.place_dynamic(1) == 0x490`. Precondition: alignments are powers of two.
class SharedArrays {
 public:
  explicit constexpr SharedArrays(std::uint64_t first) : first_(first) {}
  /// Address of the next static array.
  [[nodiscard]] constexpr std::uint64_t place(std::uint64_t alignment, std::uint64_t bytes) {
    std::uint64_t const offset = (end_ + alignment - 1) / alignment * alignment;
    end_ = offset + bytes;
    return first_ + offset;
  }
  /// Address of the next extern array.
  [[nodiscard]] constexpr std::uint64_t place_dynamic(std::uint64_t alignment) {
    return place(std::max(alignment, dynamic_alignment), 0);
  }

 private:
  std::uint64_t first_;
  std::uint64_t end_ = 0;  ///< offset behind the last static array
};

}  // namespace swizproof
