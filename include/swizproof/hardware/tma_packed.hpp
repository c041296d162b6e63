// H8, continued: the packed element types of a tensor map, of 4 and 6 bits, and the bytes that they leave free.
//
//   16U4_ALIGN8B    16 elements of 4 bits in 8 bytes     no gaps
//   16U4_ALIGN16B   16 elements of 4 bits in 8 bytes     8 bytes free behind them
//   16U6_ALIGN16B   16 elements of 6 bits in 12 bytes    4 bytes free behind them
//
// In global memory the elements of all three lie without gaps. The two of 16 bytes have lines of exactly 128 elements, which take
// 128 bytes of shared memory, and their tensor's address and strides are multiples of 32 bytes, its first extent one of 128.
// [cuda.h 13.0, cuTensorMapEncodeTiled; PTX ISA 9.1, 5.5.1, .b4x16, .b4x16_p64, .b6x16_p32] Documented; that sm_90 has
// none of them is measured: campaign `boxes`.
#pragma once

#include <swizproof/hardware/tma.hpp>

namespace swizproof {

/// A packed type of a tensor map.
struct TmaPackedType {
  std::string_view name;  ///< behind CU_TENSOR_MAP_DATA_TYPE_
  unsigned number;        ///< number in CUtensorMapDataType
  unsigned bits;
  std::uint32_t shared_bytes;  ///< bytes of 16 elements in shared memory
  std::uint64_t line;          ///< elements that a line must have; 0: no such rule
  std::string_view modes;      ///< swizzle modes that it loads with, between spaces; empty: all
};
inline constexpr TmaPackedType tma_packed_types[] = {
    {"16U4_ALIGN8B", 13, 4, 8, 0, ""},
    {"16U4_ALIGN16B", 14, 4, 16, 128, " none 128B 128B_ATOM_32B "},
    {"16U6_ALIGN16B", 15, 6, 16, 128, " none 128B 128B_ATOM_32B "},
};

/// The packed type of that name, with or without the prefix of cuda.h; nullptr for others.
[[nodiscard]] constexpr TmaPackedType const* tma_packed_type(std::string_view name) {
  name = plain_element_name(name);
  for (TmaPackedType const& type : tma_packed_types)
    if (type.name == name) return &type;
  return nullptr;
}

inline constexpr std::uint64_t tma_most_pixels = 1024;  ///< pixelsPerColumn of an im2col tensor map

static_assert(tma_packed_type("CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B")->shared_bytes == 16);
static_assert(tma_packed_type("UINT8") == nullptr);

}  // namespace swizproof
