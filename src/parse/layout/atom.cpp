// Atoms by name: CUTLASS's atoms of wgmma and tcgen05, and what TMA writes to shared memory.
#include "parse/expression/expression_parser.hpp"
#include "parse/layout/mapping_parser.hpp"
#include "parse/text/nearest.hpp"

#include <swizproof/hardware/descriptor.hpp>
#include <swizproof/hardware/tma.hpp>

#include <algorithm>
#include <bit>

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

namespace {

constexpr std::string_view tma_enumerator = "CU_TENSOR_MAP_SWIZZLE_";

/// An atom's name as it was written and as it is known here: Layout_K_SW128_Atom and K_SW128.
struct CppAtom {
  std::string written, name;
  bool is_cpp = false;     ///< CUTLASS's name
  bool has_major = true;   ///< false for Layout_SW128_Atom, whose second parameter says it
  bool in_bits = false;    ///< Layout_K_SW128_Atom_Bits: elements of 1 bit
  bool is_sparse = false;  ///< Layout_K_SW128_SpAtom
};
CppAtom cpp_atom(std::string_view name) {
  CppAtom atom{std::string(name), std::string(name)};
  if (!name.starts_with("Layout_")) return atom;
  name.remove_prefix(7);
  auto const drop = [&](std::string_view end) {
    if (!name.ends_with(end)) return false;
    name.remove_suffix(end.size());
    return true;
  };
  atom.is_cpp = true;
  atom.is_sparse = drop("_SpAtom");
  atom.in_bits = drop("_Atom_Bits");
  if (!atom.in_bits && !atom.is_sparse && !drop("_Atom")) return atom;
  atom.has_major = name.starts_with("K_") || name.starts_with("MN_");
  atom.name = name;
  return atom;
}

/// `<half_t, GMMA::Major::K>`: "K_" or "MN_", and the element type.
std::string major_in(Scanner& in, std::string& type, std::optional<unsigned>& bits) {
  in.expect("<", "of the atom's element type and Major");
  Element element = parse_element_here(in);
  type = std::move(element.name);
  bits = element.bits;
  in.expect(",", "after the element type: GMMA::Major::K or GMMA::Major::MN is missing");
  in.skip_namespaces();
  (void)(in.take("GMMA::") || in.take("UMMA::"));
  (void)in.take("Major::");
  std::size_t const at = in.at();
  std::string const major(in.take_name());
  if (major != "K" && major != "MN") in.fail("expected Major::K or Major::MN", at, major.size());
  in.expect(">", "after the Major");
  return major + "_";
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

IntTuple parse_extents(Scanner& in, std::string const& hint) {
  std::size_t const from = in.at();
  IntTuple shape = LayoutParser(in).shape();
  for (IntTuple& m : shape.modes) {
    if (m.is_tuple || m.value < 1 || m.value > 1 << 20)
      in.fail("extents are integers from 1 to 2^20", from, in.at() - from, hint);
    m.is_static = true;
  }
  return shape;
}

bool at_tma(Scanner& in) {
  return in.looking_at("tma:") || in.looking_at(tma_enumerator) || in.looking_at("TensorMapSwizzle.SWIZZLE_");
}

bool at_operand_atom(Scanner& in) {
  return in.looking_at("gmma:") || in.looking_at("umma:") || in.looking_at("GMMA::Layout_") ||
         in.looking_at("UMMA::Layout_") || in.looking_at("Layout_");
}

Mapping parse_operand_atom(Scanner& in, MappingOptions const& options) {
  std::size_t const from = in.at();
  bool const of_tcgen05 = in.take("umma:") || in.take("UMMA::");
  OperandReader const reader = of_tcgen05 ? OperandReader::tcgen05 : OperandReader::wgmma;
  if (!of_tcgen05 && !in.take("gmma:")) (void)in.take("GMMA::");
  std::size_t const at = in.at();
  CppAtom const atom = cpp_atom(in.take_name());
  std::string const name = atom.name;
  if (atom.is_sparse) in.fail("sparse atoms are not supported", at, in.at() - at);
  std::string type;
  std::optional<unsigned> bits;
  std::string const prefix =
      atom.has_major ? std::string() : major_in(in, type, bits);  // Layout_SW128_Atom<half_t, GMMA::Major::K>
  std::string const whole = prefix + name;
  bool const along_k = whole.starts_with("K_");
  std::string_view const kind = std::string_view(whole).substr(along_k                    ? 2
                                                               : whole.starts_with("MN_") ? 3
                                                                                          : 0);
  auto const has = [&](OperandMode const& m, bool k_major) {
    return m.number(reader) >= 0 && !(k_major && m.shape.k_lines != 8);
  };
  auto const* mode = std::find_if(std::begin(operand_modes), std::end(operand_modes),
                                  [&](OperandMode const& m) { return m.atom == kind && has(m, along_k); });
  if (mode == std::end(operand_modes) || kind == whole) {
    std::vector<std::string> known;
    for (OperandMode const& m : operand_modes)
      for (bool const k_major : {true, false})
        if (has(m, k_major)) {
          known.push_back((k_major ? "K_" : "MN_") + std::string(m.atom));
          if (atom.is_cpp) known.back() = "Layout_" + known.back() + "_Atom";
        }
    in.fail("unknown " + std::string(swizproof::name(reader)) + " atom '" + atom.written + "'", at,
            atom.written.size(),
            did_you_mean_of(atom.written, known,
                            reader == OperandReader::wgmma
                                ? "known: K_ or MN_ with INTER, SW32, SW64, SW128, such as gmma:K_SW128<f16>"
                                : "known: K_ or MN_ with INTER, SW32, SW64, SW128, and MN_SW128_32B, such as "
                                  "umma:K_SW128<f16>"));
  }
  if (atom.in_bits) bits = 1, type = "1b";
  if (!bits) bits = parse_angled_element(in, options, type);
  if (!bits)
    in.fail_here("the element type is missing",
                 "such as " + std::string(in.text(from, in.at())) + "<f16>, or --element f16");
  if (atom.is_cpp) in.skip_braces();
  Mapping one = atom_of(*mode, along_k, *bits);
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
  bool const by_enumerator = !in.take("tma:");
  if (by_enumerator && !in.take(tma_enumerator)) (void)in.take("TensorMapSwizzle.SWIZZLE_");
  std::size_t const at = in.at();
  std::string_view name = in.take_name();
  if (by_enumerator && name == "NONE") name = "none";
  auto const* mode = std::find_if(std::begin(tma_mode_names), std::end(tma_mode_names),
                                  [&](TmaModeName const& m) { return m.name == name; });
  if (mode == std::end(tma_mode_names)) {
    std::vector<std::string> known;
    for (TmaModeName const& m : tma_mode_names) known.emplace_back(m.name);
    in.fail("unknown TMA mode '" + std::string(name) + "'", at, name.size(),
            did_you_mean_of(
                name, known,
                "known: none, 32B, 64B, 128B, 96B, 128B_ATOM_32B, 128B_ATOM_32B_FLIP_8B, 128B_ATOM_64B"));
  }
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

std::optional<std::string> note_of_unit(Mapping const& map) {
  Layout const* const layout = map.domain();
  unsigned const bits = map.element_bits.value_or(0);
  if (layout == nullptr || bits <= 8 || !std::has_single_bit(bits) || map.base_address) return std::nullopt;
  int const chunk = 7 - std::countr_zero(bits);  // log2 of the elements in 16 bytes
  auto const of = [](std::vector<Stage> const& stages) {
    return stages.empty() ? nullptr : std::get_if<Swizzle>(&stages.front());
  };
  std::string const unit = std::to_string(bits) + "-bit elements";
  auto const* on_elements = of(map.on_elements);
  if (on_elements != nullptr && map.on_bytes.empty() && map.on_elements.size() == 3 &&
      on_elements->bits > 0 && on_elements->base == 4 && on_elements->shift == 3) {
    Swizzle const meant{on_elements->bits, chunk, 3};
    return to_string(*on_elements) +
           " acts on element offsets here; if it was meant of bytes, as TMA and wgmma have it, then of " +
           unit + " it is " + to_string(meant) + " o _0 o " + to_string(*layout) + ", or " +
           to_string(*on_elements) + " o smem_ptr[" + std::to_string(bits) + "b](unset) o " +
           to_string(*layout);
  }
  auto const* on_bytes = of(map.on_bytes);
  if (on_bytes != nullptr && map.on_bytes.size() == 1 && map.on_elements.size() == 1 && on_bytes->bits > 0 &&
      on_bytes->base == chunk && on_bytes->shift == 3)
    return to_string(*on_bytes) + " acts on byte addresses here; if it was meant of offsets of " + unit +
           ", it is " + to_string(Swizzle{on_bytes->bits, 4, 3}) + " on bytes, or " + to_string(*on_bytes) +
           " o _0 o " + to_string(*layout);
  return std::nullopt;
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
