// The change of a file of obligations that makes a refuted one hold.
#pragma once

#include "report/sarif.hpp"

#include <swizproof/claim/obligation.hpp>

#include <optional>
#include <span>

namespace swizproof::command {

/// Another text for the layout of the obligation `at`, if its accesses fit the tile and cost too much: under the best swizzle, of an
/// array the best length of its rows. All obligations of the same file with that layout change with it, and all their accesses keep to
/// what they allow. Nothing if no such text exists, or if the layout does not come from the file. Checked by tests/golden/prove.txt.
[[nodiscard]] std::optional<SarifFix> layout_fix(std::span<Obligation const> all,
                                                 std::span<ObligationReport const> reports, std::size_t at);

}  // namespace swizproof::command
