// The statements of obligations on operands: descriptor, tma, fragment.
#pragma once

#include "parse/obligations/toml_file.hpp"

namespace swizproof {

/// `descriptor = {for, operand, major, extent}`, and what is hard-coded: `number`, or `mode`, `leading_byte_offset`,
/// `stride_byte_offset`, `base_offset`, `start`. `layout_text` is the LAYOUT of the map; `element` its type where the entry names one.
[[nodiscard]] DescriptorHolds descriptor_statement(TomlFile const& file, toml::node const& node, Mapping map,
                                                   std::string const& layout_text,
                                                   std::string const& element);

/// `tma = {mode, box, modes, steps}`, all of it hard-coded.
[[nodiscard]] TmaHolds tma_statement(TomlFile const& file, toml::node const& node, Mapping map);

/// `tma = {mode, box}` or `{mode, im2col}` with `layout = "-"`: a box without its tile, of elements of this name.
[[nodiscard]] TmaBoxHolds tma_box_statement(TomlFile const& file, toml::node const& node,
                                            std::string const& element);

/// `convert = {to, gives}`: the map in units of `to`, and the layout of those units that is hard-coded.
[[nodiscard]] ConversionHolds conversion_statement(TomlFile const& file, toml::node const& node, Mapping map);

/// `fragment = {from, into, contiguous, registers}`; `element` is what results are converted to. With a TiledCopy
/// as one side `from` and `into` alone. `{of, tv}`: `tv` is the layout (thread, value) of the fragment `of`.
[[nodiscard]] std::variant<FragmentHolds, RetileHolds, ThreadValuesHold> fragment_statement(
    TomlFile const& file, toml::node const& node, std::string const& element);

}  // namespace swizproof
