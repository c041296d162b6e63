// Reader of CuTe's prints of a TiledMMA, a ThrMMA and an MMA_Atom.
#pragma once

#include "parse/text/scanner.hpp"

#include <swizproof/access/tiled_mma.hpp>

namespace swizproof {

/// The operand of a pasted block: `TiledMMA ... LayoutC_TV: ((_4,_8),(_2,_2)):((_32,_1),(_16,_8)) :a`. One atom that is an
/// instruction gives its fragment, all else a tile; with `as_tile` that too. CuTe prints no element type: of several that share the layout it is the
/// first. Throws InputError. Checked by tests/oracle/pasted_oracle.cpp and tests/cutlass/tiles.py.
[[nodiscard]] std::variant<NamedFragment, TiledOperand> parse_tiled_mma(std::string_view text,
                                                                        std::optional<unsigned> element_bits,
                                                                        bool as_tile = false);

/// The operand of a TiledMMA as it is written, `make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2,_2,_1>>{}, Tile<_32,_32,_16>{}):a`,
/// or as its type. As parse_tiled_mma() else. Checked by tests/cutlass/tiles.py and tests/reference/tiled_mma.py.
[[nodiscard]] std::variant<NamedFragment, TiledOperand> parse_named_tile(std::string_view text,
                                                                         std::optional<unsigned> element_bits,
                                                                         bool as_tile = false);

/// True if the text begins as a TiledMMA that is written: `make_tiled_mma(`, `TiledMMA<`, with what C++ puts before it.
[[nodiscard]] bool looks_like_named_tile(std::string_view text);

/// True of one atom that nothing reorders or repeats.
[[nodiscard]] bool is_one_atom(TiledMma const& mma);

/// Why the threads of a TiledMMA are none: each must be there once, and those of the first atom be ThrID's. Empty if they are.
[[nodiscard]] std::string fault_of_threads(TiledMma const& mma);

/// Why its permutation is none. Empty if it is one.
[[nodiscard]] std::string fault_of_permutation(TiledMma const& mma);

/// Notes where the operand lies and what CuTe's layout leaves out. False if it is read from memory by all threads.
bool note_memory(TiledOperand& tiled);

/// Refuses such a block where a layout or an access must stand.
void refuse_tiled_mma(Scanner& in);

}  // namespace swizproof
