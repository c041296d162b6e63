// Reader of CuTe's prints of a TiledMMA, a ThrMMA and an MMA_Atom.
#pragma once

#include "parse/scanner.hpp"

#include <swizproof/access/tiled_mma.hpp>

namespace swizproof {

/// The operand of a pasted block: `TiledMMA ... LayoutC_TV: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8)) :a`. One atom that is an
/// instruction gives its fragment, all else a tile; with `as_tile` that too. CuTe prints no element type: of several that share the layout it is the
/// first. Throws InputError. Checked by tests/oracle/pasted_oracle.cpp and tests/cutlass/tiles.py.
[[nodiscard]] std::variant<NamedFragment, TiledOperand> parse_tiled_mma(std::string_view text,
                                                                        std::optional<unsigned> element_bits,
                                                                        bool as_tile = false);

/// True if the text begins as such a block does.
[[nodiscard]] bool looks_like_tiled_mma(std::string_view text);

/// Refuses such a block where a layout or an access must stand.
void refuse_tiled_mma(Scanner& in);

}  // namespace swizproof
