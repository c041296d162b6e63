// Arrays of C: `__shared__ half a[64][72]`, one more spelling of a layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace swizproof {

/// An array as a program declares it. Its layout has the extents as shape and row-major strides; `a[2][3]` names a coordinate.
struct DeclaredArray {
  std::string name{};
  std::string type{};  ///< element type, as it is written: "half"
  std::vector<std::int64_t> extents{};
  unsigned element_bytes = 0;
  std::uint64_t alignment =
      1;  ///< alignment of the base in bytes: the element type's, or a larger one of `alignas`
  bool has_alignas = false;

  friend bool operator==(DeclaredArray const&, DeclaredArray const&) = default;
};

}  // namespace swizproof
