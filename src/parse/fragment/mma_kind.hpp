// The words of a kind in the name of an mma: `.kind::mxf4nvf4.block_scale.scale_vec::4X`, and the type of the scales.
#pragma once

#include <swizproof/hardware/mma_kind.hpp>

#include <optional>
#include <string>
#include <vector>

namespace swizproof {

/// A kind as a name gives it.
struct KindWords {
  MmaKind const* kind = nullptr;
  unsigned vectors = 0;                    ///< scale factors along k; 0 without scales
  std::string scale_type{};                ///< `ue8m0`; empty where the name leaves it out
  [[nodiscard]] std::string text() const;  ///< `kind::mxf4nvf4.block_scale.scale_vec::4X`
};

/// Takes the words of a kind out of those of a name; nothing where it names none. Throws InputError, with `text`, for a kind that
/// is not known, and for scales that the kind does not have.
[[nodiscard]] std::optional<KindWords> take_kind(std::vector<std::string>& words, std::string const& text);

}  // namespace swizproof
