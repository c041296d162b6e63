// Types of C and CUDA: what an array holds, what a cast reads, what an integer is.
#pragma once

#include "parse/text/scanner.hpp"

#include <optional>
#include <string>

namespace swizproof {

/// An integer type of C.
struct IntegerType {
  unsigned bits = 32;
  bool is_signed = true;
  friend bool operator==(IntegerType const&, IntegerType const&) = default;
};

/// A type of C or CUDA of known size.
struct CType {
  std::string name{};  ///< as it is written, with one blank between words
  unsigned bytes = 0;
  unsigned alignment = 0;  ///< in bytes [CUDA C++ Programming Guide, built-in vector types]
  std::string element{};   ///< its first name in hardware/element.hpp; empty for vectors
  std::optional<IntegerType> integer{};
};

/// The type of a name without blanks: `half`, `float4`, `__nv_bfloat162`, `cutlass::half_t`. Nothing for other names.
[[nodiscard]] std::optional<CType> c_type(std::string_view name);

/// Passes the type that comes next, with `const` and `volatile`: `unsigned long long`, `const float4`. Nothing is passed where none comes
/// next. Throws InputError for `long`, whose size is not the same on every host.
[[nodiscard]] std::optional<CType> take_c_type(Scanner& in);

/// Passes a name of C that may be qualified: `cutlass::half_t`. Empty where none comes next.
[[nodiscard]] std::string_view take_c_name(Scanner& in);

}  // namespace swizproof
