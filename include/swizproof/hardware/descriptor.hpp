// H13: the 64 bits that describe an operand in shared memory to wgmma (sm_90a) and to tcgen05.mma (sm_100).
//
//            63..61  60..53  52        51..49         48..46   45..32      29..16      13..0
//   wgmma    [mode]*                   [base offset]           [SBO >> 4]  [LBO >> 4]  [start >> 4]     * bits 63 and 62 alone
//   tcgen05  [mode]          [LBO is]  [base offset]  [001]    [SBO >> 4]  [LBO >> 4]  [start >> 4]     all other bits 0
//
// The address that is read is one formula for both, operand_offset() of wgmma.hpp: of wgmma it is measured (H9), of tcgen05
// documented [PTX ISA 9.1, 9.7.16.4.1; CUTLASS mma_sm100_desc.hpp, mma_traits_sm100.hpp] and not measured. What is new there:
// other numbers of the modes; a version in bits 48..46; bit 52, with which LBO is an address; and 128B_ATOM_32B, MN-major
// alone, the only mode of transposed 32-bit elements, whose atoms have 4 lines of k under Sw<2,5,2>.
#pragma once

#include <swizproof/hardware/wgmma.hpp>

#include <cstddef>
#include <string_view>

namespace swizproof {

/// The instruction that reads through a descriptor.
enum class OperandReader : std::uint8_t { wgmma, tcgen05 };

/// "wgmma", "tcgen05".
[[nodiscard]] constexpr std::string_view name(OperandReader reader) {
  return reader == OperandReader::wgmma ? "wgmma" : "tcgen05";
}
/// "k", "mn".
[[nodiscard]] constexpr std::string_view name(Major major) { return major == Major::k ? "k" : "mn"; }

/// A swizzle mode of an operand.
struct OperandMode {
  std::string_view name;  ///< name in TmaModeName
  std::string_view atom;  ///< name of CUTLASS's atom, behind K_ or MN_
  Swizzle swizzle;        ///< swizzle of byte addresses
  OperandAtom shape;
  int wgmma;    ///< its number in bits 63..62; -1: no mode of wgmma
  int tcgen05;  ///< its number in bits 63..61
  /// -1: no mode of that instruction.
  [[nodiscard]] constexpr int number(OperandReader reader) const {
    return reader == OperandReader::wgmma ? wgmma : tcgen05;
  }
};

/// All modes of both instructions. The first four are those of wgmma.
inline constexpr OperandMode operand_modes[] = {
    {"none", "INTER", swizzle_of(WgmmaMode::none), {atom_row_bytes(WgmmaMode::none), 8, false}, 0, 0},
    {"32B", "SW32", swizzle_of(WgmmaMode::b32), {atom_row_bytes(WgmmaMode::b32)}, 3, 6},
    {"64B", "SW64", swizzle_of(WgmmaMode::b64), {atom_row_bytes(WgmmaMode::b64)}, 2, 4},
    {"128B", "SW128", swizzle_of(WgmmaMode::b128), {atom_row_bytes(WgmmaMode::b128)}, 1, 2},
    {"128B_ATOM_32B", "SW128_32B", {2, 5, 2}, {128, 4}, -1, 1},
};

/// Bytes of an operand along k that one dense instruction reads, for elements of any type.
inline constexpr std::uint32_t operand_k_bytes = 32;

/// A field of a descriptor: bits first .. first + bits - 1.
struct DescriptorField {
  std::string_view name;
  unsigned first;
  unsigned bits;
  /// The field's number in a descriptor.
  [[nodiscard]] constexpr std::uint64_t of(std::uint64_t descriptor) const {
    return descriptor >> first & low_bits(bits);
  }
};

/// The fields that both instructions have, and those that tell them apart.
inline constexpr DescriptorField start_field{"start", 0, 14};
inline constexpr DescriptorField leading_field{"leading byte offset", 16, 14};
inline constexpr DescriptorField stride_field{"stride byte offset", 32, 14};
inline constexpr DescriptorField base_offset_field{"base offset", 49, 3};
inline constexpr DescriptorField version_field{"version", 46, 3};  ///< only tcgen05: 1
inline constexpr DescriptorField leading_is_field{"LBO mode", 52,
                                                  1};  ///< only tcgen05: 1 if LBO is an address
[[nodiscard]] constexpr DescriptorField mode_field(OperandReader reader) {
  return reader == OperandReader::wgmma ? DescriptorField{"swizzle mode", 62, 2}
                                        : DescriptorField{"swizzle mode", 61, 3};
}

/// Reader of these bits, by the version that tcgen05's has.
[[nodiscard]] constexpr OperandReader reader_of(std::uint64_t descriptor) {
  return version_field.of(descriptor) == 1 ? OperandReader::tcgen05 : OperandReader::wgmma;
}

/// A descriptor by its fields; lengths in bytes. Precondition of every use: defect() is empty.
struct MatrixDescriptor {
  OperandReader reader = OperandReader::wgmma;
  std::size_t mode = 0;                   ///< place in operand_modes
  std::uint32_t start = 0;                ///< shared address of the operand
  std::uint32_t leading_byte_offset = 0;  ///< LBO
  std::uint32_t stride_byte_offset = 0;   ///< SBO
  std::uint32_t base_offset = 0;          ///< 0..7

  [[nodiscard]] constexpr OperandMode const& operand_mode() const { return operand_modes[mode]; }

  /// Field that cannot hold its number; empty if all can. Lengths are multiples of 16 below 2^18.
  [[nodiscard]] constexpr std::string_view defect() const {
    if ((start & ~0x3FFF0U) != 0) return start_field.name;
    if ((leading_byte_offset & ~0x3FFF0U) != 0) return leading_field.name;
    if ((stride_byte_offset & ~0x3FFF0U) != 0) return stride_field.name;
    if (base_offset > 7) return base_offset_field.name;
    return operand_mode().number(reader) < 0 ? mode_field(reader).name : "";
  }
  /// The 64 bits. 128B, SBO 1024, LBO 16: 0x4000004000010000, of tcgen05 0x4000404000010000.
  [[nodiscard]] constexpr std::uint64_t bits() const {
    std::uint64_t const version = reader == OperandReader::tcgen05 ? 1 : 0;
    return std::uint64_t{start >> 4} << start_field.first |
           std::uint64_t{leading_byte_offset >> 4} << leading_field.first |
           std::uint64_t{stride_byte_offset >> 4} << stride_field.first | version << version_field.first |
           std::uint64_t{base_offset} << base_offset_field.first |
           static_cast<std::uint64_t>(operand_mode().number(reader)) << mode_field(reader).first;
  }
};

/// Fields of 64 bits, or the bits that have no meaning.
struct DecodedDescriptor {
  MatrixDescriptor descriptor{};
  std::uint64_t reserved = 0;  ///< bits that are not 0 and belong to no field
  bool leading_is_address =
      false;                      ///< bit 52 of tcgen05: LBO is no offset; what is read then is not modelled
  bool version_is_wrong = false;  ///< the version for tcgen05 is not 1
  bool mode_is_wrong = false;     ///< a number that no mode has
};

/// The fields of a descriptor: the inverse of bits() where nothing is wrong. Checked by tests/unit/hardware/descriptor_test.cpp.
[[nodiscard]] constexpr DecodedDescriptor decode(OperandReader reader, std::uint64_t bits) {
  DecodedDescriptor out;
  MatrixDescriptor& d = out.descriptor;
  d.reader = reader;
  d.start = static_cast<std::uint32_t>(start_field.of(bits)) << 4;
  d.leading_byte_offset = static_cast<std::uint32_t>(leading_field.of(bits)) << 4;
  d.stride_byte_offset = static_cast<std::uint32_t>(stride_field.of(bits)) << 4;
  d.base_offset = static_cast<std::uint32_t>(base_offset_field.of(bits));
  int const number = static_cast<int>(mode_field(reader).of(bits));
  out.mode_is_wrong = true;
  for (std::size_t i = 0; i < std::size(operand_modes); ++i)
    if (operand_modes[i].number(reader) == number) d.mode = i, out.mode_is_wrong = false;
  auto const mask = [](DescriptorField f) { return low_bits(f.bits) << f.first; };
  std::uint64_t known = mask(start_field) | mask(leading_field) | mask(stride_field) |
                        mask(base_offset_field) | mask(mode_field(reader));
  if (reader == OperandReader::tcgen05) {
    known |= mask(version_field) | mask(leading_is_field);
    out.version_is_wrong = version_field.of(bits) != 1;
    out.leading_is_address = leading_is_field.of(bits) != 0;
  }
  out.reserved = bits & ~known;
  return out;
}

/// Byte address from which element (mn, k) of the operand is read, if the descriptor's start is at `start`: H9 for wgmma.
/// Preconditions: why_not() is empty; `start` is a multiple of 16.
template <class W>
[[nodiscard]] constexpr Address<W> address_read(MatrixDescriptor const& d, Major major,
                                                unsigned element_bytes, W start, W mn, W k) {
  OperandMode const& mode = d.operand_mode();
  W const offset =
      operand_offset(mode.shape, d.leading_byte_offset, d.stride_byte_offset, major, element_bytes, mn, k);
  return {swizzled(mode.swizzle, d.base_offset, W(start + offset))};
}

/// Reason if an instruction reads no such elements in this order under a mode; empty if it does.
/// [PTX ISA 9.1: 9.7.15.5.2, imm-trans is of .f16 and .bf16; 9.7.16.4.1.1, transposed operands; 9.7.16.2.1 for elements below 8 bits]
[[nodiscard]] constexpr std::string_view why_not(OperandReader reader, OperandMode const& mode, Major major,
                                                 unsigned element_bits) {
  if (element_bits != 8 && element_bits != 16 && element_bits != 32)
    return "operands in shared memory have elements of 8, 16 or 32 bits (of 4 and 6 bits, the bytes that "
           "they are "
           "packed into)";
  if (mode.number(reader) < 0) return "wgmma has no such mode";
  bool const wide_atom = mode.shape.k_lines == 4;
  if (major == Major::k) return wide_atom ? "128B_ATOM_32B is MN-major alone" : "";
  if (reader == OperandReader::wgmma)
    return element_bits == 16 ? "" : "wgmma reads elements of 8 and 32 bits K-major alone";
  if ((element_bits == 32) != wide_atom)
    return wide_atom ? "128B_ATOM_32B is of elements of 32 bits alone"
                     : "tcgen05 reads MN-major elements of 32 bits under 128B_ATOM_32B alone";
  return "";
}

/// True if one instruction reads as many rows (m of A, n of B): 64 of A, of tcgen05 also 128; of B multiples of 8 up to 256, of
/// integers beyond 24 multiples of 16. tcgen05 reads odd multiples of 8 with 64 rows of A alone. [PTX ISA 9.1: 9.7.15.2; 9.7.16.2.1]
[[nodiscard]] constexpr bool reads_rows(OperandReader reader, bool operand_a, bool integers,
                                        std::uint64_t rows) {
  if (operand_a) return rows == 64 || (reader == OperandReader::tcgen05 && rows == 128);
  if (rows == 0 || rows > 256 || rows % 8 != 0) return false;
  return !integers || rows <= 24 || rows % 16 == 0;
}

static_assert(MatrixDescriptor{OperandReader::wgmma, 3, 0x400, 16, 1024}.bits() ==
              WgmmaDescriptor{0x400, 16, 1024, WgmmaMode::b128}.bits());
static_assert(MatrixDescriptor{OperandReader::tcgen05, 3, 0, 16, 1024}.bits() == 0x4000'4040'0001'0000);
static_assert(decode(OperandReader::wgmma, 0x4000'0040'0001'0040).descriptor.stride_byte_offset == 1024);
static_assert(decode(OperandReader::wgmma, 0x4000'4040'0001'0000).reserved == std::uint64_t{1} << 46);
static_assert(reader_of(0x4000'4040'0001'0000) == OperandReader::tcgen05);

}  // namespace swizproof
