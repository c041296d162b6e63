// Reader of CuTe's prints of a TiledMMA, a ThrMMA and an MMA_Atom.
#pragma once

#include "parse/scanner.hpp"

#include <swizproof/access/fragment.hpp>

namespace swizproof {

/// The fragment of a pasted block, with the operand behind it: `TiledMMA ... LayoutC_TV: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8)) :a`.
/// CuTe prints no element type: of several that share the layout it is the first. Throws InputError.
/// Checked by tests/oracle/pasted_oracle.cpp.
[[nodiscard]] NamedFragment parse_tiled_mma(std::string_view text, std::optional<unsigned> element_bits);

/// True if the text begins as such a block does.
[[nodiscard]] bool looks_like_tiled_mma(std::string_view text);

/// Refuses such a block where a layout or an access must stand.
void refuse_tiled_mma(Scanner& in);

}  // namespace swizproof
