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

#include <swizproof/access.hpp>
#include <swizproof/mapping.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace swizproof {

/// Wrong input: what is wrong, where in which text, and what to do instead.
struct InputError {
  std::string message;
  std::string input{};     ///< the text, or empty where there is none
  std::size_t at = 0;      ///< byte position in it
  std::size_t length = 1;  ///< how many characters the caret line marks
  std::string hint{};
};

/// What --element and the command say about a LAYOUT.
struct MappingOptions {
  std::optional<unsigned> element_bits{};  ///< makes bare functions act on element offsets
  /// False: CuTe's algebra takes `8` for `_8`. True: `8` is an integer that CuTe's compiler does not know,
  /// and the results are those of CuTe at run time.
  bool keep_dynamic = false;
};

/// LAYOUT of the command line. Throws InputError.
[[nodiscard]] Mapping parse_mapping(std::string_view text, MappingOptions const& options = {});

/// What a text denotes: a Mapping; an integer or a shape, which some functions of the algebra return; or
/// a coordinate map, a Layout with strides such as `_1@0`.
using Evaluated = std::variant<Mapping, IntTuple, Layout>;

/// LAYOUT of the command line, or what is printed instead of offsets. What there is to say about an integer
/// or a coordinate map goes to `notes`; a Mapping has its own. Throws InputError.
[[nodiscard]] Evaluated parse_value(std::string_view text, MappingOptions const& options = {},
                                    std::vector<std::string>* notes = nullptr);

/// `S<2,0,-3>`, `Sw<3,4,3>` or `Swizzle<3,4,3>`. Throws InputError.
[[nodiscard]] Swizzle parse_swizzle(std::string_view text);

/// A C integer expression over `variables`. Throws InputError.
[[nodiscard]] Expression parse_expression(std::string_view text, std::span<std::string const> variables);

/// `0..63`, both ends included. Throws InputError.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> parse_range(std::string_view text);

/// ACCESS in all its forms (access.hpp), pasted TiledCopy blocks included. Throws InputError.
[[nodiscard]] Access parse_access(std::string_view text);

/// `ld.shared.b128`, `ldmatrix.x4.trans`, `cp.async.b64`. Throws InputError.
[[nodiscard]] Instruction parse_instruction(std::string_view text);

/// As parse_instruction reads it.
[[nodiscard]] std::string to_string(Instruction const& instruction);

/// Bits of an element type: `f16` 16, `bf16` 16, `fp8` 8, `i32` 32, `4b` 4. Throws InputError.
[[nodiscard]] unsigned parse_element(std::string_view text);

/// The architecture of that name. Throws InputError.
[[nodiscard]] Architecture const& parse_architecture(std::string_view text);

/// As CuTe prints it: `Sw<3,4,3>`.
[[nodiscard]] std::string to_string(Swizzle const& swizzle);

}  // namespace swizproof
