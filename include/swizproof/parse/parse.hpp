// Text to values: everything that CuTe prints for a layout, and what users write for accesses.
//
// The parser guesses nothing: text that it does not understand in full is refused with an InputError
// that names the place. tests/oracle feeds it what CuTe printed, tests/golden what it must refuse.
//
// Every integer is static: `8` and `_8` are the same in shapes, strides, orders, tilers, divisors and
// coordinates, and the result is what CuTe gives for static integers. A layout on which no function of the
// algebra acts is echoed as it is spelled: `(8,64):(64,1)`; what the algebra gives is printed as CuTe prints
// it: `coalesce((8,64):(1,8))` is `_512:_1`. Checked by Algebra.PlainIntegersAreStaticEverywhere.
#pragma once

#include <swizproof/access/access.hpp>
#include <swizproof/access/fragment.hpp>
#include <swizproof/access/tiled_copy.hpp>
#include <swizproof/access/tiled_mma.hpp>
#include <swizproof/core/error.hpp>
#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/layout/map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace swizproof {

/// Facts about a LAYOUT from --element and the command.
struct MappingOptions {
  std::optional<unsigned> element_bits{};  ///< makes bare functions act on element offsets
  /// False: CuTe's algebra takes `8` for `_8`. True: `8` is an integer that CuTe's compiler does not know,
  /// and the results are those of CuTe at run time.
  bool keep_dynamic = false;
};

/// LAYOUT of the command line. Throws InputError.
[[nodiscard]] Mapping parse_mapping(std::string_view text, MappingOptions const& options = {});

/// Meaning of a text: a Mapping; an integer or a shape, which some functions of the algebra return; or
/// a coordinate map, a Layout with strides such as `_1@0`.
using Evaluated = std::variant<Mapping, IntTuple, Layout>;

/// LAYOUT of the command line, or what is printed instead of offsets. What there is to say about an integer
/// or a coordinate map goes to `notes`; a Mapping has its own. Throws InputError.
[[nodiscard]] Evaluated parse_value(std::string_view text, MappingOptions const& options = {},
                                    std::vector<std::string>* notes = nullptr);

/// `S<2,0,-3>`, `Sw<3,4,3>` or `Swizzle<3,4,3>`. Throws InputError.
[[nodiscard]] Swizzle parse_swizzle(std::string_view text);

/// An integer expression over `variables` of C's syntax, in words without a sign. Throws InputError.
[[nodiscard]] Expression parse_expression(std::string_view text, std::span<std::string const> variables);

/// The same in C's types: variables are int, or of 64 bits where their ranges need these; one without a range is uint64_t. Throws
/// InputError, also for what C leaves undefined. `x - 8 < 0` of x = 0..15: 1 for x = 3. Checked by Parse.ExpressionsHaveCsTypes.
[[nodiscard]] Expression parse_expression(std::string_view text, std::span<Variable const> variables);

/// All of `text` from `from` to `to` as a number below 2^64, hexadecimal after 0x. Throws InputError with the message
/// `wanted` and that place.
[[nodiscard]] std::uint64_t parse_number(std::string const& text, std::size_t from, std::size_t to,
                                         std::string const& wanted);

/// `0..63`, both ends included. Throws InputError.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> parse_range(std::string_view text);

/// Alignment of the bases in bytes that a LAYOUT's text declares with `alignas`. Nothing if it declares none.
[[nodiscard]] inline std::optional<std::uint64_t> declared_alignment(Mapping const& map) {
  if (!map.array || !map.array->has_alignas) return std::nullopt;
  return map.array->alignment;
}

/// Threads of a block along x, y and z.
using BlockShape = std::array<std::uint32_t, 3>;

/// Facts about an ACCESS from LAYOUT and the command.
struct AccessOptions {
  std::optional<DeclaredArray>
      array{};  ///< array that a LAYOUT declares: `a[threadIdx.x][i]` is an access to it
  std::optional<BlockShape> block{};  ///< --block; without one there is one warp, and a `for warp` has others
};

/// ACCESS in all its forms (access.hpp), pasted TiledCopy blocks included. Its expressions' variables are `lane`, those that
/// `more` names, and those of `for`, in this order; of a block of several warps, `warp` before those of `for`. Throws InputError.
[[nodiscard]] Access parse_access(std::string_view text, std::span<std::string const> more = {},
                                  AccessOptions const& options = {});

/// The same; what the text says and the access does not depend on, such as the thread of a ThrCopy, becomes one of `notes`.
[[nodiscard]] Access parse_noted_access(std::string_view text, std::vector<std::string>& notes,
                                        AccessOptions const& options = {});

/// `ld.shared.b128`, `ldmatrix.x4.trans`, `cp.async.b64`; as PTX writes it, `ld.shared.v4.f32` and
/// `ldmatrix.sync.aligned.m8n8.x4.shared.b16`; as SASS does, `LDS.128` and `LDSM.16.MT88.4`; or as CUTLASS names the atom,
/// `SM75_U32x4_LDSM_N` and `SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>`. Operands behind it are passed over. Throws InputError, with
/// the reason for what is no access to shared memory. Checked by tests/unit/parse/instruction_test.cpp.
[[nodiscard]] Instruction parse_instruction(std::string_view text);

/// True if the text begins as one of these does; then it is one, or is wrong.
[[nodiscard]] bool looks_like_instruction(std::string_view text);

/// FRAGMENT: `mma.m16n8k16.f16:a`, `wgmma.m64n128k16.f16:d`, `ldmatrix.x4.trans`; as PTX writes the whole instruction, with
/// the operand behind it, as CuTe names its atom, `SM80_16x8x16_F32F16F16F32_TN:b`, or prints it, `TiledMMA ... :b`.
/// `element_bits` is the size of the elements that ldmatrix and stmatrix move (16 if it is empty), or of the converted results of
/// D. Throws InputError, with the nearest name.
[[nodiscard]] NamedFragment parse_fragment(std::string_view text, std::optional<unsigned> element_bits = {});

/// FRAGMENT, or a TiledMMA as CuTe prints it with an operand behind it: of several atoms, or of one that is no known instruction.
/// Throws InputError.
[[nodiscard]] std::variant<NamedFragment, TiledOperand> parse_operand(
    std::string_view text, std::optional<unsigned> element_bits = {});

/// LAYOUT of two modes, (thread, value), with as many threads and values as the fragment: `--tv`. Throws InputError.
[[nodiscard]] Layout parse_thread_values(Fragment const& f, std::string const& text);

/// True if the text begins as a printed TiledMMA does, or as one that is written: `make_tiled_mma(`, `TiledMMA<`.
[[nodiscard]] bool looks_like_tiled_mma(std::string_view text);

/// The same as a tile, of one atom too: `mma.m16n8k16.f16:a` is the tile of one atom. Throws InputError.
[[nodiscard]] TiledOperand parse_tiled_operand(std::string_view text,
                                               std::optional<unsigned> element_bits = {});

/// A pasted TiledCopy, ThrCopy or Copy_Atom block. A single Copy_Atom is its own tile, of one mode.
/// Throws InputError.
[[nodiscard]] TiledCopy parse_tiled_copy(std::string_view text);

/// The ldmatrix or stmatrix that the Copy_Atom of such a block is: CuTe does not print its name. Throws InputError for what may
/// be several instructions, as every copy of single threads.
[[nodiscard]] Instruction copy_instruction(std::string_view text);

/// True if the text begins as such a block does; then it is one, or is wrong.
[[nodiscard]] bool looks_like_tiled_copy(std::string_view text);

/// The 64 bits of a descriptor, `0x4000004000010000`: for `reader`, or for the reader that its version field implies. Throws
/// InputError with the name of an invalid field.
[[nodiscard]] MatrixDescriptor parse_matrix_descriptor(std::string_view text,
                                                       std::optional<OperandReader> reader = {});

/// An element type that a text names: `f16`, 16 bits; `4b`, 4 bits, where no more is known.
struct Element {
  std::string name;
  unsigned bits = 0;
};

/// Bits of the unit that a text names: `elements` are those of the map, `bytes`, `bits`, or an element type. Throws InputError.
[[nodiscard]] unsigned parse_unit(std::string const& text, Mapping const& map);

/// An element type by any of its names (hardware/element.hpp), with the first of them: `cutlass::half_t` is f16. Throws
/// InputError, with the nearest name.
[[nodiscard]] Element parse_element_type(std::string_view text);

/// Bits of an element type: `f16` 16, `half_t` 16, `fp8` 8, `i32` 32, `4b` 4. Throws InputError.
[[nodiscard]] unsigned parse_element(std::string_view text);

/// The architecture of that name: `sm_90a`, and as others write it `sm90`, `SM_90`, `compute_90`, `9.0`, `90`, `hopper`.
/// Or a file that `swizproof-gpu learn` has written: what ends in `.json` or has a `/`, relative to `folder`. Throws InputError, with
/// the nearest that has a table, or the field of the file that is wrong. Lives as long as the program.
[[nodiscard]] Architecture const& parse_architecture(std::string_view text, std::string const& folder = {});

/// The architecture that such a file describes (format "swizproof architecture 1"); `name` is what messages call the file. Throws
/// InputError with the field. A table that does not explain what was measured is refused.
[[nodiscard]] Architecture const& read_architecture(std::string const& text, std::string const& name);

}  // namespace swizproof
