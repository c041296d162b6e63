// A layout as code: what to write in a kernel.
#pragma once

#include <swizproof/layout/map.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swizproof {

/// In which language.
enum class Language : std::uint8_t {
  cute,    ///< C++ with CuTe: a type
  dsl,     ///< CuTe's Python DSL
  cuda,    ///< C++ without: a function of coordinates
  triton,  ///< an encoding of shared memory
};

/// `cute`, `dsl`, `cuda`, `triton`.
[[nodiscard]] std::optional<Language> parse_language(std::string_view text);

/// Additional parts of a layout's code.
struct CodeFacts {
  std::uint64_t alignment = 16;  ///< bytes that the tile's base is a multiple of
  std::string element{};         ///< the type's name, `f16`; empty where only its size is known
};

/// The code of a tile whose element size is known, with the alignment that it needs and assertions that its values stay those:
/// `cute::composition(cute::Swizzle<3, 3, 3>{}, cute::Int<0>{}, cute::Layout<...>{})`. Swizzles of byte addresses become those of
/// elements, which are the same function from bases that are multiples of the alignment. Throws InputError, with the map's
/// text, where the language has no word for it. Checked by tests/unit/report/code_test.cpp and
/// tests/program/emitted, which compiles it.
[[nodiscard]] std::string code_of(Mapping const& map, Language language, CodeFacts const& facts);

}  // namespace swizproof
