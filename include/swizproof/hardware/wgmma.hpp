// H9: the shared-memory descriptor of wgmma (sm_90a), and the address of every element that it describes.
//
//   63 62   51..49        45..32      29..16      13..0
//   [mode]  [base offset] [SBO >> 4]  [LBO >> 4]  [start >> 4]        all other bits 0
//
// The instruction reads an operand as elements (mn, k): mn is m of A or n of B. With T = 16 / element
// bytes and W = 16-byte columns of a swizzle row (1, 2, 4, 8 for none, 32B, 64B, 128B), element (mn, k)
// is read from the byte address sigma(start + offset), where sigma is the mode's swizzle on the absolute
// address bits (with a base offset: below), and
//
//   K-major,  swizzled   offset = (mn%8)*16W + (mn/8)*SBO + (k/T)*16 + (k%T)*bytes        LBO is not read
//   K-major,  none       offset = (mn%8)*16  + (mn/8)*SBO + (k/T)*LBO + (k%T)*bytes
//   MN-major, swizzled   offset = (mn%T)*bytes + (mn/T%W)*16 + (mn/(T*W))*LBO + (k%8)*16W + (k/8)*SBO
//   MN-major, none       offset = (mn%T)*bytes + (mn/T)*SBO + (k%8)*16 + (k/8)*LBO
//
// [PTX ISA 9.1, 9.7.15.5.1; CUTLASS mma_sm90_desc.hpp] Confirmed by experiment: campaigns `wgmma` (f16) and `operands` (bf16,
// tf32, e4m3, e5m2 and s8 as well).
#pragma once

#include <swizproof/core/swizzle.hpp>
#include <swizproof/core/units.hpp>

namespace swizproof {

/// Swizzle modes of a wgmma descriptor, with the numbers of the bit field.
enum class WgmmaMode : std::uint8_t { none = 0, b128 = 1, b64 = 2, b32 = 3 };

/// Index of an operand that is contiguous in memory.
enum class Major : std::uint8_t { k, mn };

/// The mode's function of byte addresses. `swizzle_of(WgmmaMode::b64) == Swizzle{2, 4, 3}`
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Swizzle swizzle_of(WgmmaMode mode) {
  return {mode == WgmmaMode::none ? 0 : 4 - static_cast<int>(mode), 4, 3};
}

/// Bytes of a row of the mode's atom, which has 8 rows: 16, 32, 64, 128. [CUTLASS, mma_traits_sm90_gmma.hpp]
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint32_t atom_row_bytes(WgmmaMode mode) {
  return 16U << swizzle_of(mode).bits;
}

/// A descriptor by its fields; lengths in bytes. Precondition of every use: valid().
struct WgmmaDescriptor {
  std::uint32_t start = 0;                ///< shared address of the operand, below 2^18
  std::uint32_t leading_byte_offset = 0;  ///< LBO
  std::uint32_t stride_byte_offset = 0;   ///< SBO
  WgmmaMode mode = WgmmaMode::none;
  std::uint32_t base_offset = 0;  ///< 0..7
  [[nodiscard]] friend constexpr bool operator==(WgmmaDescriptor const& a, WgmmaDescriptor const& b) {
    return a.start == b.start && a.leading_byte_offset == b.leading_byte_offset &&
           a.stride_byte_offset == b.stride_byte_offset && a.mode == b.mode && a.base_offset == b.base_offset;
  }

  /// start, LBO and SBO are multiples of 16 below 2^18, and base_offset fits its three bits.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr bool valid() const {
    return ((start | leading_byte_offset | stride_byte_offset) & ~0x3FFF0U) == 0 && base_offset < 8;
  }
  /// The 64 bits that the instruction takes. Checked by tests/unit/hardware/wgmma_test.cpp.
  [[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr std::uint64_t bits() const {
    return std::uint64_t{start >> 4} | std::uint64_t{leading_byte_offset >> 4} << 16 |
           std::uint64_t{stride_byte_offset >> 4} << 32 | std::uint64_t{base_offset} << 49 |
           std::uint64_t{static_cast<std::uint8_t>(mode)} << 62;
  }
};

/// The fields of 64 bits: the inverse of bits().
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr WgmmaDescriptor wgmma_descriptor(std::uint64_t bits) {
  auto const field = [bits](unsigned from) { return static_cast<std::uint32_t>(bits >> from & 0x3FFF) << 4; };
  return {field(0), field(16), field(32), static_cast<WgmmaMode>(bits >> 62),
          static_cast<std::uint32_t>(bits >> 49 & 7)};
}

/// The descriptor of a canonical tile whose atoms follow each other without gaps: `mn` extent of the
/// operand, for one instruction (32 bytes of K). Atoms are 8 rows (K-major) or W columns of 16 bytes
/// (MN-major). f16, K-major, 128B: SBO 1024. f16, MN-major, 64B, 128 columns: LBO 1024 (the two k halves
/// of an atom lie SBO = 512 bytes apart).
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr WgmmaDescriptor canonical_descriptor(std::uint32_t start,
                                                                                   Major major,
                                                                                   WgmmaMode mode) {
  std::uint32_t const atom = 8 * atom_row_bytes(mode);
  if (major == Major::k)
    return {start, mode == WgmmaMode::none ? 128U : 16U, mode == WgmmaMode::none ? 256U : atom, mode};
  if (mode == WgmmaMode::none) return {start, 128U, 256U, mode};
  return {start, 2 * atom, atom, mode};
}

/// sigma, a mode's swizzle, as the base offset changes it: the row number that is XORed into an address
/// is counted from the base offset on, so a tile whose pattern starts at row b of 128 bytes is read with
/// base offset b. It is its own inverse. Undocumented in this form; found by campaign `wgmma`: 0 mismatches over all b,
/// 8 starts, all modes. The base offset is a number, or a word like `bytes`. 128B, b = 1: 0x80 stays (row 0 of the pattern), 0x100 becomes 0x110.
template <class W, class N>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W swizzled(Swizzle swizzle, N base_offset, W bytes) {
  W const row = bytes - 128 * base_offset;
  return bytes ^ (row ^ swizzle(row));
}

/// Parameters of a swizzle mode in the formulas above.
struct OperandAtom {
  std::uint32_t row_bytes;    ///< 16W
  std::uint32_t k_lines = 8;  ///< lines of an MN-major atom along k
  bool swizzled = true;       ///< false: mode none, where LBO and SBO have other parts
};

/// Bytes from the start of an operand to element (mn, k), before the swizzle: the formulas above.
/// Precondition: element_bytes is 1, 2 or 4. K-major f16 under 128B, SBO 1024: (9, 8) at 1024 + 128 + 16.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr W operand_offset(OperandAtom atom, std::uint32_t leading,
                                                               std::uint32_t stride, Major major,
                                                               unsigned element_bytes, W mn, W k) {
  std::uint32_t const t = 16 / element_bytes;
  std::uint32_t const width = atom.row_bytes / 16;
  if (major == Major::k)
    return mn % 8 * (16 * width) + mn / 8 * stride + k % t * element_bytes +
           k / t * (atom.swizzled ? 16 : leading);
  if (atom.swizzled)
    return mn % t * element_bytes + mn / t % width * 16 + mn / (t * width) * leading +
           k % atom.k_lines * (16 * width) + k / atom.k_lines * stride;
  return mn % t * element_bytes + mn / t * stride + k % 8 * 16 + k / 8 * leading;
}

/// Byte address of element (mn, k) of the operand.
/// Precondition: element_bytes is 1, 2 or 4, and 2 if `major` is mn.
template <class W>
[[nodiscard]] SWIZPROOF_HOST_DEVICE constexpr Address<W> wgmma_address(WgmmaDescriptor const& d, Major major,
                                                                       unsigned element_bytes, W mn, W k) {
  OperandAtom const atom{atom_row_bytes(d.mode), 8, d.mode != WgmmaMode::none};
  W const offset =
      operand_offset(atom, d.leading_byte_offset, d.stride_byte_offset, major, element_bytes, mn, k);
  return {swizzled(swizzle_of(d.mode), d.base_offset, W(d.start + offset))};
}

static_assert(WgmmaDescriptor{0x400, 16, 1024, WgmmaMode::b128}.bits() == 0x4000'0040'0001'0040);
static_assert(wgmma_descriptor(0x4000'0040'0001'0040) == WgmmaDescriptor{0x400, 16, 1024, WgmmaMode::b128});
static_assert(!WgmmaDescriptor{0x408}.valid() && !WgmmaDescriptor{0x40000}.valid());
static_assert(wgmma_address(canonical_descriptor(0x400, Major::k, WgmmaMode::b128), Major::k, 2, 9U, 8U)
                  .bytes == 0x400 + 1024 + (128 + 0));

static_assert(swizzled(Swizzle{3, 4, 3}, 1, 0x80U) == 0x80 && swizzled(Swizzle{3, 4, 3}, 1, 0x100U) == 0x110);

}  // namespace swizproof
