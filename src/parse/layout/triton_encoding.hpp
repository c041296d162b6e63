// Triton's encodings of shared memory as they are written, and the layouts that they mean.
#pragma once

#include "parse/layout/mapping_parser.hpp"

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace swizproof {

inline constexpr std::string_view triton_forms =
    "such as #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}> (64,64), 64x64xf16 "
    "for (64,64), or "
    "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{...}>, #smem>";

/// `vec = 8` of an encoding, and where it stands.
struct TritonField {
  std::string name{};
  IntTuple value{};
  bool is_truth = false;
  std::size_t at = 0, length = 0;
};

/// An encoding as it is written.
struct TritonEncoding {
  std::string_view
      kind{};  ///< swizzled_shared; shared and its leading offset are told apart when it is laid out
  std::vector<TritonField> fields{};
  std::vector<std::pair<std::int64_t, std::int64_t>> pads{};  ///< 512:+8 of padded_shared
  std::size_t at = 0, length = 0;
};

/// The extents that an encoding is given, and the bits of an element where they are said.
struct TritonShape {
  std::vector<std::int64_t> extents{};
  std::optional<unsigned> bits{};
  std::string element{};
  std::size_t at = 0, length = 0;
};

/// True for 1, 2, 4, ..
[[nodiscard]] inline bool is_power(std::int64_t n) {
  return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n));
}

/// The layout of an encoding for these extents. Throws InputError at the text that is wrong. Checked by tests/unit/parse/triton_test.cpp.
[[nodiscard]] Mapping lay_out_triton(Scanner& in, MappingOptions const& options,
                                     TritonEncoding const& encoding, TritonShape const& shape);

}  // namespace swizproof
