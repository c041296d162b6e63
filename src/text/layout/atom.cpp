// Atoms by name: CUTLASS's atoms of wgmma and tcgen05, and what TMA writes to shared memory.
#include "text/expression_parser.hpp"
#include "text/layout/mapping_parser.hpp"

#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/hardware/tma.hpp>

#include <algorithm>

namespace swizproof {

namespace {

/// The atom in elements of `bits`; its rows run along K (`(8,n):(n,1)`) or along M or N (`(n,8):(1,n)`).
Mapping atom_of(OperandMode const& mode, bool along_k, unsigned bits) {
  std::int64_t const row = 8 * std::int64_t{mode.shape.row_bytes} / bits;
  std::int64_t const lines = along_k ? 8 : mode.shape.k_lines;
  std::vector<IntTuple> const shape{lines, row}, stride{row, 1};
  Mapping map;
  map.on_bytes = {mode.swizzle};
  map.element_bits = bits;
  map.on_elements = {
      along_k ? Layout{IntTuple(shape), IntTuple(stride)}
              : Layout{IntTuple(std::vector<IntTuple>{row, lines}), IntTuple(std::vector<IntTuple>{1, row})}};
  map.text = to_string(map);
  return map;
}

/// The image in shared memory of `rows` rows of `cols` contiguous elements, before the swizzle: boxes no
/// wider than the swizzle, one behind the other. A line of a box that is narrower than the swizzle takes its width (H8).
Layout box(Scanner& in, TmaModeName const& mode, std::int64_t rows, std::int64_t cols, std::int64_t bits,
           std::size_t from) {
  auto const refuse = [&](std::string reason, std::string hint = {}) {
    in.fail("TMA: " + std::move(reason), from, in.at() - from, std::move(hint));
  };
  constexpr std::int64_t most = tma_most_elements;
  if (rows > most) refuse("a box has at most 256 rows");
  auto const line_bits = static_cast<std::uint64_t>(cols * bits);
  TmaLine const line = tma_line(mode.width, line_bits);
  if (line == TmaLine::no_whole_units) refuse("the inner extent must be a multiple of 16 bytes");
  if (line == TmaLine::fits) {
    if (cols > most)
      refuse(mode.width == 0 ? "a box without swizzle has at most 256 columns"
                             : "a box has at most 256 columns");
    std::uint32_t const pitch = tma_pitch(mode.width, static_cast<std::uint32_t>(line_bits / 8));
    return {IntTuple(std::vector<IntTuple>{rows, cols}),
            IntTuple(std::vector<IntTuple>{std::int64_t{pitch} * 8 / bits, 1})};
  }
  std::int64_t const widest = std::int64_t{mode.width} * 8 / bits;
  if (widest > most) refuse("a box has at most 256 columns");
  if (cols % widest != 0)
    refuse("columns beyond the swizzle's width must be whole boxes of " + std::to_string(widest));
  if (rows * mode.width % tma_destination != 0)
    refuse("a box must start at a multiple of 128 bytes, and these boxes do not");
  return {IntTuple(std::vector<IntTuple>{rows, IntTuple(std::vector<IntTuple>{widest, cols / widest})}),
          IntTuple(std::vector<IntTuple>{widest, IntTuple(std::vector<IntTuple>{1, rows * widest})})};
}

}  // namespace

Element parse_element_here(Scanner& in) {
  std::size_t const at = in.at();
  std::string_view const name = in.take_type_name();
  try {
    return parse_element_type(name);
  } catch (InputError const& error) {
    in.fail(error.message, at, name.size(), error.hint);
  }
}

std::optional<unsigned> parse_angled_element(Scanner& in, MappingOptions const& options, std::string& type) {
  if (!in.take("<")) return options.element_bits;
  Element element = parse_element_here(in);
  in.expect(">", "after the element type");
  type = std::move(element.name);
  return element.bits;
}

IntTuple parse_extents(Scanner& in) {
  std::size_t const from = in.at();
  IntTuple shape = LayoutParser(in).shape();
  for (IntTuple& m : shape.modes) {
    if (m.is_tuple || m.value < 1 || m.value > 1 << 20)
      in.fail("extents are integers from 1 to 2^20", from, in.at() - from);
    m.is_static = true;
  }
  return shape;
}

Mapping parse_operand_atom(Scanner& in, MappingOptions const& options) {
  std::size_t const from = in.at();
  OperandReader const reader = in.take("umma:") ? OperandReader::tcgen05 : OperandReader::wgmma;
  if (reader == OperandReader::wgmma) (void)in.take("gmma:");
  std::size_t const at = in.at();
  std::string_view const name = in.take_name();
  bool const along_k = name.starts_with("K_");
  std::string_view const kind = along_k || name.starts_with("MN_") ? name.substr(along_k ? 2 : 3) : name;
  auto const* atom =
      std::find_if(std::begin(operand_modes), std::end(operand_modes), [&](OperandMode const& m) {
        return m.atom == kind && m.number(reader) >= 0 && !(along_k && m.shape.k_lines != 8);
      });
  if (atom == std::end(operand_modes) || kind == name)
    in.fail(
        "unknown " + std::string(swizproof::name(reader)) + " atom '" + std::string(name) + "'", at,
        name.size(),
        reader == OperandReader::wgmma
            ? "known: K_ or MN_ with INTER, SW32, SW64, SW128, such as gmma:K_SW128<f16>"
            : "known: K_ or MN_ with INTER, SW32, SW64, SW128, and MN_SW128_32B, such as umma:K_SW128<f16>");
  std::string type;
  std::optional<unsigned> const bits = parse_angled_element(in, options, type);
  if (!bits)
    in.fail_here("the element type is missing",
                 "such as " + std::string(in.text(from, in.at())) + "<f16>, or --element f16");
  Mapping one = atom_of(*atom, along_k, *bits);
  one.element = std::move(type);
  if (!in.looking_at("(")) return one;
  IntTuple const shape = parse_extents(in);
  try {
    return with_layout(one, tile_to_shape(*one.domain(), shape));
  } catch (AlgebraError const& error) {
    in.fail("tile_to_shape: " + std::string(error.what()), from, in.at() - from);
  }
}

Mapping parse_tma(Scanner& in, MappingOptions const& options) {
  (void)in.take("tma:");
  std::size_t const at = in.at();
  std::string_view const name = in.take_name();
  auto const* mode = std::find_if(std::begin(tma_mode_names), std::end(tma_mode_names),
                                  [&](TmaModeName const& m) { return m.name == name; });
  if (mode == std::end(tma_mode_names))
    in.fail("unknown TMA mode '" + std::string(name) + "'", at, name.size(),
            "known: none, 32B, 64B, 128B, 96B, 128B_ATOM_32B, 128B_ATOM_32B_FLIP_8B, 128B_ATOM_64B");
  Mapping map;
  map.text = "tma:" + std::string(name);
  bool const flips = mode->flips;
  map.on_bytes = {mode->swizzle};
  if (flips) {
    std::array<std::string, 1> const x{"x"};
    Scanner formula("x ^ ((x >> 2) & 0x60) ^ ((x >> 4) & 8)");
    map.on_bytes = {ExpressionParser(formula, x).parse()};
  }
  map.element_bits = parse_angled_element(in, options, map.element);
  if (!in.looking_at("(")) return map;
  if (!map.element_bits)
    in.fail_here("the element type is missing", "such as tma:128B<f16> (128,64), or --element f16");
  std::size_t const from = in.at();
  IntTuple const shape = parse_extents(in);
  if (shape.rank() != 2) in.fail("a box is (rows, columns)", from, in.at() - from);
  map.on_elements = {box(in, *mode, shape.modes[0].value, shape.modes[1].value, *map.element_bits, from)};
  map.text = flips
                 ? map.text + "<" + std::to_string(*map.element_bits) + "b> (" +
                       std::to_string(shape.modes[0].value) + "," + std::to_string(shape.modes[1].value) + ")"
                 : to_string(map);
  return map;
}

std::optional<std::string> note_of_lost_flag(Mapping const& map) {
  auto const& stages = map.on_elements;
  if (!map.on_bytes.empty() || stages.size() != 3 || map.base_address) return std::nullopt;
  auto const* swizzle = std::get_if<Swizzle>(&stages[0]);
  auto const* layout = std::get_if<Layout>(&stages[2]);
  if (swizzle == nullptr || layout == nullptr || layout->rank() != 2 ||
      std::get<Displacement>(stages[1]) != Displacement{})
    return std::nullopt;
  // Tiled atoms have the atom's extents first in each mode.
  auto const first = [&](std::size_t i) {
    Layout const mode = layout->mode(i);
    return mode.shape.is_tuple && mode.rank() != 0 ? mode.mode(0) : mode;
  };
  Layout const corner = make_layout({first(0), first(1)});
  for (OperandMode const& mode : operand_modes)
    for (bool const along_k : {true, false})
      for (unsigned const bits : {4U, 16U, 32U, 64U}) {
        if (mode.number(OperandReader::wgmma) < 0 || mode.swizzle != *swizzle ||
            *atom_of(mode, along_k, bits).domain() != corner)
          continue;
        return "std::cout prints a wgmma atom of " + std::to_string(bits) +
               "-bit elements like this, without its flag: if this came from std::cout, you mean " +
               to_string(*swizzle) + " o smem_ptr[" + std::to_string(bits) + "b](unset) o " +
               to_string(*layout) + ", whose swizzle acts on bytes";
      }
  return std::nullopt;
}

}  // namespace swizproof
