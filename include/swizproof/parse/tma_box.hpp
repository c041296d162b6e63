// One box of a tensor map as a text.
#pragma once

#include <swizproof/analysis/tma_box.hpp>

#include <string>
#include <vector>

namespace swizproof {

/// A box in words, as the command line and obligations have it.
struct TmaBoxWords {
  std::vector<std::uint64_t> box{};  ///< elements, innermost first; of im2col channels and pixels
  std::string mode{};                ///< `128B`, `CU_TENSOR_MAP_SWIZZLE_128B`; empty: none
  std::string element{};             ///< a type, or a name of cuda.h: `16U4_ALIGN16B`
  bool im2col = false;
  TmaTensor tensor{};
};

/// A question for each type that elements of this name are copied as: two for elements of 4 bits. Throws InputError.
[[nodiscard]] std::vector<TmaBoxQuestion> parse_tma_box(TmaBoxWords const& words);

}  // namespace swizproof
