// Which descriptor makes wgmma or tcgen05.mma read a tile of shared memory, and what a descriptor reads.
//
//   stored   the byte address of element (row, k) of the tile, which is a LAYOUT of modes (M or N, K, more)
//   read     address_read() of hardware/descriptor.hpp, of element (row, k) of one instruction
//
// A tile is cut into instructions, each with a start of its own; all other fields are theirs in common. A descriptor is
// good for a base of the tile if read = stored for every element of every instruction. Both repeat with the base, so that
// bases are tried up to that period, and every one of them is.
#pragma once

#include <swizproof/engine/decide.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/hardware/fragment.hpp>
#include <swizproof/layout/map.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// Fields of a descriptor that a kernel hard-codes, lengths in bytes; nothing: any that fits.
struct FixedFields {
  std::optional<std::size_t> mode{};  ///< place in operand_modes
  std::optional<std::uint32_t> leading_byte_offset{}, stride_byte_offset{}, base_offset{};
  std::optional<std::int64_t> start{};  ///< start of the first instruction, in bytes from the tile's base
  bool of_a_number = false;             ///< the start of a number may be the tile's address instead
  [[nodiscard]] bool any() const {
    return mode || leading_byte_offset || stride_byte_offset || base_offset || start;
  }
};

/// All fields of a descriptor whose tile is at address 0. A start beyond a block's shared memory lies below the tile.
[[nodiscard]] FixedFields fields_of(MatrixDescriptor const& descriptor);

/// Restrictions of the question, in addition to the tile; an empty one allows any value that fits.
struct DescriptorQuestion {
  OperandReader reader = OperandReader::wgmma;
  bool integers = false;  ///< the elements are integers, for which fewer n are possible
  std::optional<Major> major{};
  std::optional<Operand> operand{};      ///< a, whose rows are m, or b, whose rows are n
  std::optional<std::uint64_t> rows{};   ///< rows of one instruction
  std::optional<std::uint64_t> depth{};  ///< elements of one instruction along k
  FixedFields fixed{};
  std::optional<std::uint64_t> align{};  ///< every base that is a multiple of so many bytes has a descriptor
};

/// The reader that an architecture and `named` give; nothing if neither says. `arch` is none where no architecture was given. Throws
/// InputError if the architecture has no such instruction, or another.
[[nodiscard]] std::optional<OperandReader> reader_on(Architecture const* arch,
                                                     std::optional<OperandReader> named);

/// Basis of the model of an operand: H9 was measured, tcgen05's is documented.
[[nodiscard]] constexpr Support support_of(OperandReader reader) {
  return reader == OperandReader::wgmma ? Support::measured : Support::documented;
}

/// Bases of a tile in bytes, among the multiples of 16: those with one of these residues.
struct Bases {
  std::uint64_t period = 16;
  std::vector<std::uint64_t> residues{};  ///< ascending
  [[nodiscard]] bool has(std::uint64_t base) const {
    return std::binary_search(residues.begin(), residues.end(), base % period);
  }
  friend bool operator==(Bases const&, Bases const&) = default;
};

/// A descriptor that reads a whole tile, and from which bases.
struct TileDescriptor {
  MatrixDescriptor fields{};  ///< fields with a start of 0
  std::int64_t start = 0;     ///< start of the first instruction, in bytes from the tile's base
  Major major = Major::k;
  bool leading_is_read = false;  ///< an element's address depends on LBO; else any LBO will do
  bool stride_is_read = false;
  Bases bases{};
  /// Bytes from the start of the first instruction to that of each, k running first, then rows, then what follows.
  std::vector<std::int64_t> starts{};
};

/// The 64 bits of the first instruction's descriptor, of a tile at address 0.
[[nodiscard]] constexpr std::uint64_t number_of(TileDescriptor const& d) {
  return d.fields.bits() | (static_cast<std::uint64_t>(d.start) & 0x3FFFF) >> 4;
}

/// An element that is read from a wrong place, the tile being at `base`.
struct Misread {
  std::uint64_t row = 0;
  std::uint64_t k = 0;
  std::uint64_t rest = 0;  ///< index of the modes after the second
  std::uint64_t base = 0;
  std::int64_t read = 0;    ///< byte address
  std::int64_t stored = 0;  ///< byte address
};

/// Cut of a tile into instructions.
struct Instructions {
  Operand operand = Operand::a;
  std::uint64_t rows = 0, depth = 0;  ///< elements of one
  std::uint64_t along_rows = 1, along_k = 1, rest = 1;
  [[nodiscard]] std::uint64_t count() const { return along_rows * along_k * rest; }
};

/// All descriptors of a tile, the most useful first; if the tile has none, the reasons and an element that shows it.
struct DescriptorAnswer {
  Outcome outcome{};
  std::vector<Engine> engines{};
  std::string domain{};
  Instructions instructions{};
  std::vector<TileDescriptor> solutions{};
  std::vector<std::string> reasons{};  ///< reasons if no descriptor fits
  std::optional<Misread> misread{};
  std::optional<std::uint64_t> address{};  ///< address of the tile, if a fixed start is one
};

/// Finds them, each proved for every element of every instruction and exactly the bases that it names. With fixed fields those that have
/// them; the first element that they read from elsewhere is the misread one. The start of a number is an offset from the tile's base if that is read,
/// else the tile's address.
/// `gmma:K_SW128<f16> (128,64)`: 128B, SBO 1024, every base that is a multiple of 16, next k 32 bytes on.
/// Throws InputError for what is no tile of an instruction: fewer than two modes, elements that no instruction reads, extents
/// that are no multiple of the instruction's, more than a block's shared memory. Throws Disagreement.
/// Checked by tests/unit/analysis/descriptor_test.cpp against a search of its own.
[[nodiscard]] DescriptorAnswer descriptors_of(Map const& map, DescriptorQuestion const& question,
                                              Limits const& limits);

/// Elements that one instruction reads through a descriptor, as a LAYOUT of (rows, depth): `Sw<3,4,3> o smem_ptr[16b](unset) o
/// _512 o (_64,_16):(_64,_1)` with its start as the offset. Nothing where a length is no whole number of elements.
[[nodiscard]] std::optional<Mapping> map_of(MatrixDescriptor const& descriptor, Major major,
                                            unsigned element_bits, std::uint64_t rows);

/// Probable mistakes in a descriptor that is read so, in words; the numbers alone make it valid.
[[nodiscard]] std::vector<std::string> suspicions(MatrixDescriptor const& descriptor, Major major,
                                                  unsigned element_bits, std::uint64_t rows);

}  // namespace swizproof
