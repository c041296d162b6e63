// H8: what a TMA copy writes to shared memory.
//
//   box {b0, b1, b2, ..}, in elements, innermost first;   line = y1 + b1 * (y2 + b2 * ..)
//   element (x, y1, y2, ..) of the box lies at   sigma(destination + line * pitch + x * element bytes)
//   pitch = the bytes of one line of the box, with a swizzle at least its width of 32, 64 or 128 bytes
//
// sigma is the mode's swizzle of the absolute address. A box has at most 256 elements along each of at most
// five dimensions; its line is a multiple of 16 bytes, with a swizzle at most its width; its destination is a
// multiple of 128 bytes; the tensor's start is one of 16. [cuda.h 13.0, cuTensorMapEncodeTiled; CUDA C++ Programming
// Guide 13.1, 10.29.3] The addresses, the pitch of narrow boxes included, are measured: campaign `tma`, 316 copies of
// 16-bit elements in boxes of three dimensions; `tiles`, 232 loads and stores of ten types in one to five dimensions; 0
// mismatches. So are the refusals of lines, tensors and modes, in eight cases. Interleaved tensors, im2col and multicast are
// left out. Checked by tests/unit/hardware/tma_test.cpp; tests/unit/records/evidence_test.cpp holds what
// users get, layouts `tma:` and tma_boxes(), to the record.
#pragma once

#include <swizproof/core/swizzle.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/hardware/element.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <iterator>
#include <string_view>

namespace swizproof {

/// Swizzle modes of a tensor map, with the numbers of CUtensorMapSwizzle. Those from 4 on are for compute capability 10.0
/// and later: documented, and refused by the driver of 9.0.
enum class TmaMode : std::uint8_t {
  none = 0,
  b32 = 1,
  b64 = 2,
  b128 = 3,
  b128_atom_32b = 4,
  b128_atom_32b_flip_8b = 5,
  b128_atom_64b = 6
};
/// Those of compute capability 9.0, all measured.
inline constexpr TmaMode tma_modes[] = {TmaMode::none, TmaMode::b32, TmaMode::b64, TmaMode::b128};
/// Those from 10.0 on that are a Swizzle: 128B_ATOM_32B_FLIP_8B is none. ptxas 13.0 takes tensormap.replace.tile.swizzle_atomicity,
/// which they need, for sm_100a, sm_103a, sm_110a, sm_120a and sm_121a, and for no sm_90a.
inline constexpr TmaMode tma_modes_sm_100[] = {TmaMode::none, TmaMode::b32,           TmaMode::b64,
                                               TmaMode::b128, TmaMode::b128_atom_32b, TmaMode::b128_atom_64b};

/// True for the bits of TMA's elements that are not packed. `is_tma_element(16)`.
[[nodiscard]] constexpr bool is_tma_element(unsigned bits) {
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/// "none", "32B", "64B", "128B", "128B_ATOM_32B", in text and JSON.
[[nodiscard]] constexpr std::string_view name(TmaMode mode) {
  constexpr std::string_view names[] = {
      "none", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"};
  return names[static_cast<std::size_t>(mode)];
}
/// The mode's function of byte addresses. `swizzle_of(TmaMode::b64) == Swizzle{2, 4, 3}`. Precondition: the mode is not
/// 128B_ATOM_32B_FLIP_8B.
[[nodiscard]] constexpr Swizzle swizzle_of(TmaMode mode) {
  if (mode == TmaMode::b128_atom_32b) return {2, 5, 2};
  if (mode == TmaMode::b128_atom_64b) return {1, 6, 1};
  return {static_cast<int>(mode), 4, 3};
}
/// Bytes of the widest line of a box; 0: only the number of elements is bounded.
[[nodiscard]] constexpr std::uint32_t tma_width(TmaMode mode) {
  return mode == TmaMode::none ? 0 : mode > TmaMode::b128 ? 128 : 16U << static_cast<unsigned>(mode);
}
/// Bytes from one line of a box to the next, under a swizzle of `width`. 32-byte lines: `tma_pitch(128, 32) == 128`
[[nodiscard]] constexpr std::uint32_t tma_pitch(std::uint32_t width, std::uint32_t line_bytes) {
  return std::max(line_bytes, width);
}
/// The same under a mode. `tma_pitch(TmaMode::b128, 32) == 128`
[[nodiscard]] constexpr std::uint32_t tma_pitch(TmaMode mode, std::uint32_t line_bytes) {
  return tma_pitch(tma_width(mode), line_bytes);
}
/// Address of byte `x` of a line of a box: the formula above. `tma_address(TmaMode::b128, 0, 1, 32, 16) == 128`
[[nodiscard]] constexpr std::uint32_t tma_address(TmaMode mode, std::uint32_t destination, std::uint32_t line,
                                                  std::uint32_t line_bytes, std::uint32_t x) {
  return swizzle_of(mode)(destination + line * tma_pitch(mode, line_bytes) + x);
}

/// A swizzle mode as the command line names it, the ones that came with compute capability 10.0 included.
struct TmaModeName {
  std::string_view name;
  Swizzle swizzle;      ///< swizzle of byte addresses; for 128B_ATOM_32B_FLIP_8B see below
  std::uint32_t width;  ///< bytes of the widest line of a box; 0: only the number of elements is bounded
  bool flips = false;   ///< no Swizzle: `x ^ ((x >> 2) & 0x60) ^ ((x >> 4) & 8)`
};
inline constexpr TmaModeName tma_mode_names[] = {
    {"none", swizzle_of(TmaMode::none), tma_width(TmaMode::none)},
    {"32B", swizzle_of(TmaMode::b32), tma_width(TmaMode::b32)},
    {"64B", swizzle_of(TmaMode::b64), tma_width(TmaMode::b64)},
    {"128B", swizzle_of(TmaMode::b128), tma_width(TmaMode::b128)},
    {"128B_ATOM_32B", swizzle_of(TmaMode::b128_atom_32b), tma_width(TmaMode::b128_atom_32b)},
    {"128B_ATOM_64B", swizzle_of(TmaMode::b128_atom_64b), tma_width(TmaMode::b128_atom_64b)},
    {"96B", swizzle_of(TmaMode::b32), 96},
    {"128B_ATOM_32B_FLIP_8B", {}, 128, true},
};

inline constexpr std::uint32_t tma_most_elements = 256;  ///< most elements of a box along one dimension
inline constexpr std::size_t tma_most_dimensions = 5;
inline constexpr std::uint32_t tma_line_unit = 16;  ///< bytes that divide a line of a box
inline constexpr std::uint32_t tma_tensor_unit =
    16;  ///< bytes that divide the tensor's start and its strides
inline constexpr std::uint32_t tma_destination = 128;  ///< bytes that divide a box's destination

/// An element type of a tensor map, as CU_TENSOR_MAP_DATA_TYPE_... of cuda.h. Those that do not keep the bits flush
/// denormals by their name, or convert: CUTLASS copies operands of f32 as tfloat32_t, which is TFLOAT32, for "TMA converts f32
/// input to tf32 when copying from GMEM to SMEM", and the others as unsigned integers "to avoid any rounding by TMA". [CUTLASS,
/// include/cutlass/gemm/collective/sm90_mma_tma_gmma_ss_warpspecialized.hpp, InternalElementA; include/cute/arch/
/// copy_sm90_desc.hpp, to_CUtensorMapDataType] Packed types of 4 and 6 bits are left out. Campaign `tiles` copies with those
/// that elements of a type ask for.
struct TmaDataType {
  std::string_view name;  ///< behind CU_TENSOR_MAP_DATA_TYPE_
  unsigned number;        ///< number in CUtensorMapDataType
  unsigned bits;
  bool keeps_bits = true;
};
inline constexpr TmaDataType tma_data_types[] = {{"UINT8", 0, 8},
                                                 {"UINT16", 1, 16},
                                                 {"UINT32", 2, 32},
                                                 {"INT32", 3, 32},
                                                 {"UINT64", 4, 64},
                                                 {"INT64", 5, 64},
                                                 {"FLOAT16", 6, 16},
                                                 {"FLOAT32", 7, 32},
                                                 {"FLOAT64", 8, 64},
                                                 {"BFLOAT16", 9, 16},
                                                 {"FLOAT32_FTZ", 10, 32, false},
                                                 {"TFLOAT32", 11, 32, false},
                                                 {"TFLOAT32_FTZ", 12, 32, false}};

/// The data type that elements of a type are copied as, by any name of the type; nothing for others.
/// `tma_data_type("bf16")->name == "BFLOAT16"`, and of `__nv_bfloat16` too; 8-bit floating-point numbers have no type of their own and go as UINT8, as in
/// CUTLASS.
[[nodiscard]] constexpr TmaDataType const* tma_data_type(std::string_view element) {
  struct Pair {
    std::string_view element, type;
  };
  constexpr Pair pairs[] = {
      {"f64", "FLOAT64"},   {"f32", "FLOAT32"}, {"tf32", "TFLOAT32"}, {"f16", "FLOAT16"},
      {"bf16", "BFLOAT16"}, {"fp8", "UINT8"},   {"e4m3", "UINT8"},    {"e5m2", "UINT8"},
      {"i64", "INT64"},     {"i32", "INT32"},   {"i16", "UINT16"},    {"i8", "UINT8"},
      {"u64", "UINT64"},    {"u32", "UINT32"},  {"u16", "UINT16"},    {"u8", "UINT8"}};
  ElementType const* const of = element_type(element);
  for (Pair const& pair : pairs)
    if (of != nullptr && pair.element == of->name)
      for (TmaDataType const& type : tma_data_types)
        if (type.name == pair.type) return &type;
  return nullptr;
}

/// Basis of H8 for an architecture: nothing where there is no TMA, or where that is unknown. On sm_90 elements of 8 to 64 bits
/// were copied in one to five dimensions: campaigns `tma` and `tiles`. A table that is itself assumed makes it no more than assumed.
[[nodiscard]] constexpr std::optional<Support> tma_support(Architecture const& arch) {
  if (arch.tma == TmaLoads::none || arch.tma == TmaLoads::unknown) return std::nullopt;
  return weaker(arch.support, arch.capability == 90 ? Support::measured : Support::documented);
}

/// Modes one behind the other: a std::span<TmaMode const> for C++17.
struct TmaModes {
  TmaMode const* first = nullptr;
  std::size_t count = 0;
  [[nodiscard]] constexpr TmaMode const* data() const { return first; }
  [[nodiscard]] constexpr std::size_t size() const { return count; }
  [[nodiscard]] constexpr TmaMode const* begin() const { return first; }
  [[nodiscard]] constexpr TmaMode const* end() const { return first + count; }
};

/// The modes that an architecture loads with and that are a Swizzle; none where there is no TMA. `tma_modes_of(sm_90).size() == 4`, and of
/// sm_120 too, which has the 128B_ATOM modes for stores alone.
[[nodiscard]] constexpr TmaModes tma_modes_of(Architecture const& arch) {
  if (!tma_support(arch)) return {};
  if (arch.tma == TmaLoads::up_to_128b) return {std::begin(tma_modes), std::size(tma_modes)};
  return {std::begin(tma_modes_sm_100), std::size(tma_modes_sm_100)};
}

/// Reason why a line of a box cannot be copied.
enum class TmaLine : std::uint8_t { fits, no_whole_units, too_wide };

/// True if a line of as many bits can be copied under a swizzle of `width` bytes; a width of 0 bounds nothing.
[[nodiscard]] constexpr TmaLine tma_line(std::uint32_t width, std::uint64_t line_bits) {
  if (line_bits % (8 * tma_line_unit) != 0) return TmaLine::no_whole_units;
  return width != 0 && line_bits > std::uint64_t{8} * width ? TmaLine::too_wide : TmaLine::fits;
}

/// True if cuTensorMapEncodeTiled refuses a tensor at this address, for compute capability 9.0, in boxes of such lines. `mode`
/// is a CUtensorMapSwizzle; those from 4 on are for 10.0.
[[nodiscard]] constexpr bool tma_refuses(unsigned mode, std::uint64_t line_bytes, std::uint64_t tensor) {
  if (mode > static_cast<unsigned>(TmaMode::b128) || tensor % tma_tensor_unit != 0) return true;
  return tma_line(tma_width(static_cast<TmaMode>(mode)), 8 * line_bytes) != TmaLine::fits;
}

static_assert(tma_address(TmaMode::b128, 0, 1, 32, 16) == 128 &&
              tma_address(TmaMode::b128, 0, 1, 32, 0) == 144);
static_assert(tma_line(64, 128 * 8) == TmaLine::too_wide && tma_line(0, 128 * 8) == TmaLine::fits);
static_assert(tma_refuses(4, 128, 0) && !tma_refuses(3, 128, 16));
static_assert(tma_width(TmaMode::b32) == 32 && tma_pitch(TmaMode::none, 48) == 48);
static_assert(swizzle_of(TmaMode::b128) == swizzle_128B && name(TmaMode::b128) == "128B");
static_assert(tma_data_type("bf16")->number == 9 && tma_data_type("fp8")->number == 0 &&
              tma_data_type("half_t")->number == 6 && tma_data_type("f128") == nullptr);
static_assert(tma_support(sm_90) == Support::measured && tma_modes_of(sm_90).size() == 4);

}  // namespace swizproof
