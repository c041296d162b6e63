// The word that was meant where one is not known: one measure and one sentence for every parser and command.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace swizproof {

/// The word of `known` that is fewest letters from `word`, the first of several: letters that change, appear, go or
/// change places, where one
/// of the other case counts as half. Empty where the nearest is further than a third of the word, or 4 letters.
/// `ldmatrx.x4`: `ldmatrix.x4`.
[[nodiscard]] std::string nearest(std::string_view word, std::span<std::string const> known);

/// "did you mean ldmatrix.x4?", or `otherwise` where none is near. Checked by Nearest.NamesOneWordIfItIsNear.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<std::string const> known,
                                       std::string otherwise = {});

/// The same before all that is known, where that is short: "did you mean f16? known: f64 f32 ...".
[[nodiscard]] std::string did_you_mean_of(std::string_view word, std::span<std::string const> known,
                                          std::string const& all);

}  // namespace swizproof
