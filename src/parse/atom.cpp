// Atoms by name: CUTLASS's wgmma atoms, and what TMA writes to shared memory.
#include "expression_parser.hpp"
#include "mapping_parser.hpp"

#include <charconv>

namespace swizproof {

namespace {

/// wgmma's atoms in bits, as CUTLASS defines them: 8 rows of 128 to 1024 bits, or 128 to 1024 by 8.
struct Atom {
  std::string_view name;
  Swizzle swizzle;
  std::int64_t row_bits;
};
constexpr Atom atoms[] = {{"INTER", {0, 4, 3}, 128},
                          {"SW32", {1, 4, 3}, 256},
                          {"SW64", {2, 4, 3}, 512},
                          {"SW128", {3, 4, 3}, 1024}};

/// The atom in elements of `bits`; its rows run along K (`(8,n):(n,1)`) or along M or N (`(n,8):(1,n)`).
Mapping atom_of(Atom const& atom, bool along_k, unsigned bits) {
  std::int64_t const row = atom.row_bits / bits;
  std::vector<IntTuple> const shape{8, row}, stride{row, 1};
  Mapping map;
  map.on_bytes = {atom.swizzle};
  map.element_bits = bits;
  map.on_elements = {
      along_k ? Layout{IntTuple(shape), IntTuple(stride)}
              : Layout{IntTuple(std::vector<IntTuple>{row, 8}), IntTuple(std::vector<IntTuple>{1, row})}};
  map.text = to_string(map);
  return map;
}

/// `<f16>` behind a name, or what --element says.
std::optional<unsigned> element(Scanner& in, MappingOptions const& options) {
  if (!in.take("<")) return options.element_bits;
  std::size_t const at = in.at();
  std::string_view const name = in.take_name();
  std::optional<unsigned> bits;
  try {
    bits = parse_element(name);
  } catch (InputError const& error) {
    in.fail(error.message, at, name.size(), error.hint);
  }
  in.expect(">", "after the element type");
  return bits;
}

/// The extents that follow an atom, all static: compile-time numbers in CUTLASS.
IntTuple extents(Scanner& in) {
  std::size_t const from = in.at();
  IntTuple shape = LayoutParser(in).shape();
  for (IntTuple& m : shape.modes) {
    if (m.is_tuple || m.value < 1 || m.value > 1 << 20)
      in.fail("extents are integers from 1 to 2^20", from, in.at() - from);
    m.is_static = true;
  }
  return shape;
}

struct Mode {
  std::string_view name;
  Swizzle swizzle;
  std::int64_t width;  ///< bytes of the widest box; 0: only the extents are bounded
};
// CUDA C++ Programming Guide 13.1, 10.29.3; PTX ISA 9.1, 5.5.7.
constexpr Mode modes[] = {
    {"none", swizzle_none, 0},   {"32B", swizzle_32B, 32},           {"64B", swizzle_64B, 64},
    {"128B", swizzle_128B, 128}, {"128B_ATOM_32B", {2, 5, 2}, 128},  {"128B_ATOM_64B", {1, 6, 1}, 128},
    {"96B", swizzle_32B, 96},    {"128B_ATOM_32B_FLIP_8B", {}, 128},
};
constexpr std::string_view flip = "128B_ATOM_32B_FLIP_8B";

/// The image in shared memory of `rows` rows of `cols` contiguous elements, before the swizzle: boxes no
/// wider than the swizzle, one behind the other. [assumed: a row of a box that is narrower than the
/// swizzle takes the swizzle's width, as CUDA's guide says of the memory to allocate]
Layout box(Scanner& in, Mode const& mode, std::int64_t rows, std::int64_t cols, std::int64_t bits,
           std::size_t from) {
  auto const refuse = [&](std::string reason, std::string hint = {}) {
    in.fail("TMA: " + std::move(reason), from, in.at() - from, std::move(hint));
  };
  constexpr std::int64_t most = 256;  // cuTensorMapEncodeTiled: boxDim
  if (rows > most) refuse("a box has at most 256 rows");
  if (cols * bits % 128 != 0) refuse("the inner extent must be a multiple of 16 bytes");
  if (mode.width == 0) {
    if (cols > most) refuse("a box without swizzle has at most 256 columns");
    return {IntTuple(std::vector<IntTuple>{rows, cols}), IntTuple(std::vector<IntTuple>{cols, 1})};
  }
  std::int64_t const widest = mode.width * 8 / bits;
  if (cols <= widest) {
    if (cols > most) refuse("a box has at most 256 columns");
    return {IntTuple(std::vector<IntTuple>{rows, cols}), IntTuple(std::vector<IntTuple>{widest, 1})};
  }
  if (widest > most) refuse("a box has at most 256 columns");
  if (cols % widest != 0)
    refuse("columns beyond the swizzle's width must be whole boxes of " + std::to_string(widest));
  if (rows * mode.width % 128 != 0)
    refuse("a box must start at a multiple of 128 bytes, and these boxes do not");
  return {IntTuple(std::vector<IntTuple>{rows, IntTuple(std::vector<IntTuple>{widest, cols / widest})}),
          IntTuple(std::vector<IntTuple>{widest, IntTuple(std::vector<IntTuple>{1, rows * widest})})};
}

}  // namespace

Mapping parse_gmma(Scanner& in, MappingOptions const& options) {
  std::size_t const from = in.at();
  (void)in.take("gmma:");
  std::size_t const at = in.at();
  std::string_view const name = in.take_name();
  bool const along_k = name.starts_with("K_");
  std::string_view const kind = along_k || name.starts_with("MN_") ? name.substr(along_k ? 2 : 3) : name;
  auto const* atom =
      std::find_if(std::begin(atoms), std::end(atoms), [&](Atom const& a) { return a.name == kind; });
  if (atom == std::end(atoms) || kind == name)
    in.fail("unknown wgmma atom '" + std::string(name) + "'", at, name.size(),
            "known: K_ or MN_ with INTER, SW32, SW64, SW128, such as gmma:K_SW128<f16>");
  std::optional<unsigned> const bits = element(in, options);
  if (!bits) in.fail_here("the element type is missing", "such as gmma:K_SW128<f16>, or --element f16");
  Mapping const one = atom_of(*atom, along_k, *bits);
  if (!in.looking_at("(")) return one;
  IntTuple const shape = extents(in);
  try {
    return with_layout(one, tile_to_shape(*one.domain(), shape));
  } catch (AlgebraError const& error) {
    in.fail("tile_to_shape: " + error.reason, from, in.at() - from);
  }
}

Mapping parse_tma(Scanner& in, MappingOptions const& options) {
  (void)in.take("tma:");
  std::size_t const at = in.at();
  std::string_view const name = in.take_name();
  auto const* mode =
      std::find_if(std::begin(modes), std::end(modes), [&](Mode const& m) { return m.name == name; });
  if (mode == std::end(modes))
    in.fail("unknown TMA mode '" + std::string(name) + "'", at, name.size(),
            "known: none, 32B, 64B, 128B, 96B, 128B_ATOM_32B, 128B_ATOM_32B_FLIP_8B, 128B_ATOM_64B");
  Mapping map;
  map.text = "tma:" + std::string(name);
  bool const flips = name == flip;
  map.on_bytes = {mode->swizzle};
  if (flips) {
    std::array<std::string, 1> const x{"x"};
    Scanner formula("x ^ ((x >> 2) & 0x60) ^ ((x >> 4) & 8)");
    map.on_bytes = {ExpressionParser(formula, x).parse()};
  }
  map.element_bits = element(in, options);
  if (!in.looking_at("(")) return map;
  if (!map.element_bits)
    in.fail_here("the element type is missing", "such as tma:128B<f16> (128,64), or --element f16");
  std::size_t const from = in.at();
  IntTuple const shape = extents(in);
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
  for (Atom const& atom : atoms)
    for (bool const along_k : {true, false})
      for (unsigned const bits : {4U, 16U, 32U, 64U}) {
        if (atom.swizzle != *swizzle || *atom_of(atom, along_k, bits).domain() != corner) continue;
        return "std::cout prints a wgmma atom of " + std::to_string(bits) +
               "-bit elements like this, without its flag: if this came from std::cout, you mean " +
               to_string(*swizzle) + " o smem_ptr[" + std::to_string(bits) + "b](unset) o " +
               to_string(*layout) + ", whose swizzle acts on bytes";
      }
  return std::nullopt;
}

}  // namespace swizproof
