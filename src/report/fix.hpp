// How a fix looks: as CuTe writes it, as C computes it, and what it saves.
#pragma once

#include "report/report.hpp"

#include <swizproof/analysis/fix.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace swizproof {

/// A region's bytes: `0x400..0x1400`, the end not among them; the first three, where there are more, and how many.
[[nodiscard]] std::string describe(std::span<ByteRange const> region);

/// A region, its wavefronts before and after, and each fix as CuTe writes it and as C computes it; three lines or more. With
/// --brief what was searched is left out if there is a fix.
[[nodiscard]] std::string describe(Fix const& fix, Style const& style);

/// {"region": [[1024, 5120]], "before", "ideal", "swizzle": "Sw<5,2,5>" or null, "after", "padding": {...} or null, ...}.
/// `after` is the number with the swizzle; it equals `before` without one.
[[nodiscard]] nlohmann::ordered_json to_json(Fix const& fix);

}  // namespace swizproof
