// Layouts behind swizzles and displacements, compared as functions with what CuTe prints.
#pragma once

#include "layout/integer.hpp"

#include <swizproof/layout/composed.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>

namespace swizproof::layout_detail {

using Word64 = std::uint64_t;

/// As many indices as a comparison of two functions tries.
inline constexpr Word64 most_compared = Word64{1} << 20;

[[nodiscard]] inline std::string number(Word64 value) {
  return std::to_string(static_cast<std::int64_t>(value));
}

[[nodiscard]] inline Layout const& inner(Map const& map) {
  Layout const* const layout = map.domain();
  if (layout == nullptr) refuse(to_string(map) + " has no layout inside");
  return *layout;
}

/// First index below `count` at which two functions differ.
template <class F, class G>
[[nodiscard]] std::optional<Word64> first_difference(std::int64_t count, F const& f, G const& g) {
  Word64 const end = static_cast<Word64>(count);
  Word64 const step = end <= most_compared ? 1 : end / most_compared | 1;
  for (Word64 i = 0; i < end; i += step)
    if (f(i) != g(i)) return i;
  return std::nullopt;
}

[[nodiscard]] inline std::string another_function(std::string const& printed, Word64 at, Word64 theirs,
                                                  Word64 right) {
  return "CuTe prints " + printed + ", which is another function: at " + std::to_string(at) + " it gives " +
         number(theirs) + ", not " + number(right);
}

[[nodiscard]] inline Word64 value(Mapping const& map, Word64 index) { return offset(map, index).elements; }

[[nodiscard]] inline int log2_of(std::int64_t n) {
  if (n < 1 || !std::has_single_bit(static_cast<Word64>(n)))
    refuse(std::to_string(n) + " is not a power of two, which a swizzle needs");
  return std::countr_zero(static_cast<Word64>(n));
}

[[nodiscard]] inline Mapping finished(Mapping map) {
  map.text = to_string(map);
  return map;
}

}  // namespace swizproof::layout_detail
