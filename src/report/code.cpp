#include <swizproof/report/code.hpp>

#include <swizproof/core/error.hpp>
#include <swizproof/hardware/architecture.hpp>
#include <swizproof/layout/bases.hpp>
#include <swizproof/layout/composed.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <vector>

namespace swizproof {

namespace {

constexpr std::array<std::pair<Language, std::string_view>, 4> languages{{{Language::cute, "cute"},
                                                                          {Language::dsl, "dsl"},
                                                                          {Language::cuda, "cuda"},
                                                                          {Language::triton, "triton"}}};

/// A tile as every language sees it: a layout, an offset, functions of element offsets on top, the outermost first.
struct CodeTile {
  Mapping const& map;
  Mapping on_elements;  ///< the same tile, swizzled on elements
  Layout layout;
  std::int64_t offset = 0;
  std::vector<Stage> functions{};

  [[nodiscard]] InputError refuse(std::string message, std::string hint) const {
    return InputError::whole(std::move(message), map.text, std::move(hint));
  }
  /// The only function, if it is a swizzle; nothing without functions. Throws InputError for anything else.
  [[nodiscard]] std::optional<Swizzle> swizzle(std::string_view language) const {
    if (functions.empty()) return std::nullopt;
    if (auto const* const only = std::get_if<Swizzle>(&functions.front());
        only != nullptr && functions.size() == 1)
      return *only;
    throw refuse(fmt::format("{} has no word for this function", language), "as a function: --emit cuda");
  }
};

/// Left by `distance`; right if it is negative.
std::uint64_t shifted(std::uint64_t mask, int distance) {
  return distance < 0 ? mask >> -distance : mask << distance;
}

/// A function of byte addresses as one of element offsets, which it is from bases that are multiples of its period: bits below
/// an element's address are 0. Elements below a byte count finer than bytes: Sw<3,4,3> of bytes is Sw<3,5,3> of 4-bit elements.
/// Throws InputError where it moves bits into an element's bytes. Checked by tests/reference/emitted.py.
Stage on_elements(Stage const& stage, Mapping const& map) {
  int const finer = 3 - std::countr_zero(*map.element_bits);  // log2 of the elements of a byte
  unsigned const below = finer < 0 ? static_cast<unsigned>(-finer) : 0;
  InputError const no_such{"elements do not stay whole under this function of byte addresses", map.text, 0,
                           map.text.size(), "larger vectors stay whole under a swizzle of a larger base"};
  if (auto const* const swizzle = std::get_if<Swizzle>(&stage)) {
    if (swizzle->bits == 0) return Swizzle{};
    if (swizzle->base + finer < 0) throw no_such;
    return Swizzle{swizzle->bits, swizzle->base + finer, swizzle->shift};
  }
  auto const* const linear = std::get_if<LinearMap>(&stage);
  std::uint64_t const low = low_bits(below);
  if (linear == nullptr) throw no_such;  // an offset or a layout, which acts on elements
  LinearMap out{shifted(linear->cleared, finer), {}};
  if ((linear->cleared & low) != 0) throw no_such;
  for (LinearMap::Move const& move : linear->moves) {
    if ((move.mask & low) != 0) throw no_such;
    std::uint64_t mask = 0;  // without the bits that come from below
    for (unsigned bit = below; bit < 64; ++bit)
      if ((move.mask >> bit & 1) != 0 && static_cast<int>(bit) + move.distance >= static_cast<int>(below))
        mask |= std::uint64_t{1} << bit;
    out.moves.push_back({move.distance, shifted(mask, finer)});
  }
  return out;
}

/// A function of C's arithmetic as the swizzle or linear map of bits that it is on 0..most; nothing if it is none.
std::optional<Stage> linear_on(Expression const& function, std::uint64_t most) {
  auto const value = [&](std::uint64_t x) { return function(std::span<std::uint64_t const>(&x, 1), x); };
  auto const bits = static_cast<unsigned>(std::bit_width(most));
  if (bits > 20 || value(0) != 0) return std::nullopt;
  std::vector<std::uint64_t> images;
  for (unsigned bit = 0; bit < bits; ++bit) images.push_back(value(std::uint64_t{1} << bit));
  for (std::uint64_t x = 0; x >> bits == 0; ++x) {
    std::uint64_t sum = 0;
    for (unsigned bit = 0; bit < bits; ++bit) sum ^= (x >> bit & 1) != 0 ? images[bit] : 0;
    if (sum != value(x) || sum >> 40 != 0) return std::nullopt;
  }
  return linear_stage(images);
}

/// The same tile with the swizzles and linear maps that its functions of C's arithmetic are; nothing where one is none.
std::optional<Mapping> with_linear_functions(Mapping const& map) {
  Mapping out = map;
  std::vector<std::uint64_t> values;
  for (std::int64_t i = 0; i < map.domain()->size(); ++i) values.push_back(static_cast<std::uint64_t>(i));
  auto const pass = [&](std::vector<Stage>& stages) {
    for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
      if (auto const* const function = std::get_if<Expression>(&*stage)) {
        std::optional<Stage> linear = linear_on(*function, *std::max_element(values.begin(), values.end()));
        if (!linear) return false;
        *stage = *std::move(linear);
      }
      std::vector<Stage> const one{*stage};
      for (std::uint64_t& x : values) x = value(one, x);
    }
    return true;
  };
  if (!pass(out.on_elements)) return std::nullopt;
  for (std::uint64_t& x : values) x = x * *map.element_bits / 8;
  return pass(out.on_bytes) ? std::optional(std::move(out)) : std::nullopt;
}

/// A tile with a function that is given as C arithmetic, as a swizzle or a linear map of bits on a layout: the same at every
/// index of the tile. Throws InputError where it is none. Precondition: the tile is no larger than shared memory.
Mapping as_linear(Mapping const& map) {
  InputError const no_such{"this function is no swizzle, and not linear over GF(2) on this tile", map.text, 0,
                           map.text.size(), "it is C already: write it down as it stands"};
  if (std::optional<Mapping> known = with_linear_functions(map)) return *std::move(known);
  std::vector<std::int64_t> extents, values;
  for (std::size_t m = 0; m < map.domain()->rank(); ++m)
    extents.push_back(map.domain()->shape.mode(m).product());
  unsigned const bits = *map.element_bits;
  for (std::int64_t i = 0; i < map.domain()->size(); ++i) {
    auto const place = [&](unsigned bit) {
      return bit_address(map, Address<std::uint64_t>{0}, static_cast<std::uint64_t>(i), bit);
    };
    std::uint64_t const first = place(0);
    for (unsigned bit = 8; bit < bits; bit += 8)
      if (place(bit) != first + bit) throw no_such;
    if (first >> 40 != 0 || first % bits != 0) throw no_such;
    values.push_back(static_cast<std::int64_t>(first / bits));
  }
  Mapping out = map;
  out.on_bytes.clear();
  if (std::optional<std::vector<Stage>> stages = linear_stages(extents, values)) {
    out.on_elements = *std::move(stages);
    return out;
  }
  throw no_such;
}

CodeTile code_tile(Mapping const& map) {
  auto const refuse = [&](std::string message, std::string hint) {
    return InputError::whole(std::move(message), map.text, std::move(hint));
  };
  if (map.domain() == nullptr)
    throw refuse("there is no tile to write down: this is a function of all integers",
                 "put it on a layout: 'FUNCTION o (8,64):(64,1)'");
  if (!map.element_bits) throw refuse("the size of an element is missing", "--element f16");
  if (static_cast<std::uint64_t>(map.domain()->size()) > 8 * most_shared_bytes / *map.element_bits)
    throw refuse(
        fmt::format("the tile has {} elements of {} bits, more than the {} bytes of a block's shared memory",
                    map.domain()->size(), *map.element_bits, most_shared_bytes),
        "write down the tile of one block");
  auto const is_arithmetic = [](Stage const& stage) { return std::holds_alternative<Expression>(stage); };
  bool const arithmetic = std::any_of(map.on_bytes.begin(), map.on_bytes.end(), is_arithmetic) ||
                          std::any_of(map.on_elements.begin(), map.on_elements.end(), is_arithmetic);
  Mapping const known = arithmetic ? as_linear(map) : map;
  CodeTile tile{map, known, *known.domain()};
  for (auto stage = known.on_bytes.rbegin(); stage != known.on_bytes.rend(); ++stage)
    tile.on_elements.on_elements.insert(tile.on_elements.on_elements.begin(), on_elements(*stage, known));
  tile.on_elements.on_bytes.clear();
  std::vector<Stage> const& stages = tile.on_elements.on_elements;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    auto const* const plus = std::get_if<Displacement>(&stages[i]);
    if (plus == nullptr)
      tile.functions.push_back(stages[i]);
    else if (i + 2 == stages.size())
      tile.offset = plus->elements;
    else
      throw refuse("an offset between two functions", "");
  }
  if (tile.layout.shape.leaf_count() == 0) throw refuse("a tile of no modes", "");
  for (std::int64_t i = 0; i < tile.layout.size(); ++i)
    if (static_cast<std::int64_t>(offset(tile.on_elements, static_cast<std::uint64_t>(i)).elements) < 0)
      throw refuse("the tile reaches below its first element", "put an offset before it: '_N o LAYOUT'");
  return tile;
}

/// Elements from the tile's first to behind its last.
std::uint64_t reach_of(CodeTile const& tile) {
  std::uint64_t most = 0;
  for (std::int64_t i = 0; i < tile.layout.size(); ++i)
    most = std::max(most, offset(tile.on_elements, static_cast<std::uint64_t>(i)).elements);
  return most + 1;
}

/// `cute::Shape<cute::Int<8>, cute::Int<64>>`, or tuples of Python: `(8, 64)`.
std::string nested(IntTuple const& tuple, Language language, std::string_view kind) {
  if (!tuple.is_tuple)
    return language == Language::cute ? fmt::format("cute::Int<{}>", tuple.value)
                                      : std::to_string(tuple.value);
  std::vector<std::string> parts;
  for (IntTuple const& mode : tuple.modes) parts.push_back(nested(mode, language, kind));
  if (language == Language::cute) return fmt::format("cute::{}<{}>", kind, fmt::join(parts, ", "));
  return parts.size() == 1 ? parts.front() : fmt::format("({})", fmt::join(parts, ", "));
}

/// The name of an element type in each language; empty where it has none. [CUTLASS, include/cute/numeric/int.hpp and
/// numeric_types.hpp, python/CuTeDSL/cutlass/base_dsl/typing.py; CUDA Math API; MLIR, BuiltinTypes.td] TF32 has no type of its own
/// in CUDA's and Triton's memory: its words are those of f32.
struct TypeName {
  std::string_view element, cute, dsl, cuda, triton;
  std::string_view stands_for{};  ///< an element name that leaves open which type is meant
};
constexpr TypeName type_names[] = {
    {"f64", "double", "cutlass.Float64", "double", "f64"},
    {"f32", "float", "cutlass.Float32", "float", "f32"},
    {"tf32", "cute::tfloat32_t", "cutlass.TFloat32", "float", "f32"},
    {"f16", "cute::half_t", "cutlass.Float16", "__half", "f16"},
    {"bf16", "cute::bfloat16_t", "cutlass.BFloat16", "__nv_bfloat16", "bf16"},
    {"e4m3", "cute::float_e4m3_t", "cutlass.Float8E4M3FN", "__nv_fp8_e4m3", "f8E4M3FN", "fp8"},
    {"e5m2", "cute::float_e5m2_t", "cutlass.Float8E5M2", "__nv_fp8_e5m2", "f8E5M2"},
    {"e8m0", "cute::float_ue8m0_t", "cutlass.Float8E8M0FNU", "__nv_fp8_e8m0", "f8E8M0FNU"},
    {"e2m1", "cute::float_e2m1_t", "cutlass.Float4E2M1FN", "", "", "fp4"},
    {"i64", "cute::int64_t", "cutlass.Int64", "std::int64_t", "i64"},
    {"i32", "cute::int32_t", "cutlass.Int32", "std::int32_t", "i32"},
    {"i16", "cute::int16_t", "cutlass.Int16", "std::int16_t", "i16"},
    {"i8", "cute::int8_t", "cutlass.Int8", "std::int8_t", "i8"},
    {"i4", "cute::int4b_t", "cutlass.Int4", "", ""},
    {"128b", "cute::uint128_t", "cutlass.Uint128", "", ""},
    {"u64", "cute::uint64_t", "cutlass.Uint64", "std::uint64_t", "i64"},
    {"u32", "cute::uint32_t", "cutlass.Uint32", "std::uint32_t", "i32"},
    {"u16", "cute::uint16_t", "cutlass.Uint16", "std::uint16_t", "i16"},
    {"u8", "cute::uint8_t", "cutlass.Uint8", "std::uint8_t", "i8"},
    {"u4", "cute::uint4b_t", "", "", ""},
    {"2b", "cute::uint2b_t", "", "", ""},
    {"1b", "cute::uint1b_t", "", "", ""},
};

/// The type's name in a language: `name` is one of TypeName's members. Where only the size is known, integers without a sign.
/// Throws InputError where the language has no such type.
std::string_view type_of(CodeTile const& tile, std::string const& element, std::string_view TypeName::*name,
                         std::string_view language) {
  unsigned const bits = *tile.map.element_bits;
  std::string const of_size[] = {fmt::format("u{}", bits), fmt::format("{}b", bits)};
  bool const only_size = element.empty() || element == of_size[1];
  for (TypeName const& type : type_names) {
    bool const is_it = only_size ? type.element == of_size[0] || type.element == of_size[1]
                                 : type.element == element || type.stands_for == element;
    if (!is_it || (type.*name).empty()) continue;
    if (!only_size && type.stands_for == element)
      throw tile.refuse(fmt::format("{} leaves open which type is meant", element),
                        fmt::format("say which, such as --element {}", type.element));
    return type.*name;
  }
  throw tile.refuse(
      fmt::format("{} has no type for {}", language,
                  only_size ? fmt::format("elements of {} bits", bits) : element),
      "in other elements: 'swizproof convert LAYOUT --to bytes' (or f64) gives the layout to emit");
}

/// Coordinates whose values the code asserts: of each mode the second and the last, others 0; and all last.
std::vector<std::vector<std::int64_t>> corners(Layout const& layout) {
  std::vector<std::int64_t> last;
  for (std::size_t m = 0; m < layout.rank(); ++m) last.push_back(layout.shape.mode(m).product() - 1);
  std::vector<std::vector<std::int64_t>> all;
  auto const add = [&](std::vector<std::int64_t> const& at) {
    if (std::find(all.begin(), all.end(), at) == all.end()) all.push_back(at);
  };
  for (std::size_t m = 0; m < last.size(); ++m)
    for (std::int64_t const c : {std::int64_t{1}, last[m]}) {
      std::vector<std::int64_t> at(last.size(), 0);
      at[m] = std::min(c, last[m]);
      add(at);
    }
  add(last);
  return all;
}

std::int64_t value_at(CodeTile const& tile, std::vector<std::int64_t> const& at) {
  std::uint64_t index = 0, unit = 1;
  for (std::size_t m = 0; m < at.size(); ++m) {
    index += static_cast<std::uint64_t>(at[m]) * unit;
    unit *= static_cast<std::uint64_t>(tile.layout.shape.mode(m).product());
  }
  return static_cast<std::int64_t>(offset(tile.on_elements, index).elements);
}

// ---------------------------------------------------------------------------------------------- CuTe

std::string in_cute(CodeTile const& tile, CodeFacts const& facts) {
  std::optional<Swizzle> const swizzle = tile.swizzle("CuTe");
  std::string_view const type = type_of(tile, facts.element, &TypeName::cute, "CuTe");
  std::string layout = fmt::format("cute::Layout<{}, {}>", nested(tile.layout.shape, Language::cute, "Shape"),
                                   nested(tile.layout.stride, Language::cute, "Stride"));
  if (swizzle || tile.offset != 0) {
    Swizzle const s = swizzle.value_or(Swizzle{});
    layout = fmt::format(
        "decltype(cute::composition(cute::Swizzle<{}, {}, {}>{{}}, cute::Int<{}>{{}},\n    {}{{}}))", s.bits,
        s.base, s.shift, tile.offset, layout);
  }
  std::string code = fmt::format("using SmemLayout = {};\n", layout);
  // CuTe's cosize is that of the layout within: without the offset, and without where a swizzle leads beyond.
  std::uint64_t const reach = reach_of(tile);
  std::string const count = reach == static_cast<std::uint64_t>(tile.layout.cosize())
                                ? "cute::cosize_v<SmemLayout>"
                                : std::to_string(reach);
  if (*tile.map.element_bits < 8)  // an array of such a type has a byte for each element
    code += fmt::format(
        "alignas({}) __shared__ cute::ArrayEngine<{}, {}> tile;\n"
        "// its tensor: cute::make_tensor(cute::make_smem_ptr(tile.begin()), SmemLayout{{}})\n",
        facts.alignment, type, count);
  else
    code += fmt::format("alignas({}) __shared__ {} tile[{}];\n", facts.alignment, type, count);
  for (auto const& at : corners(tile.layout))
    code +=
        fmt::format("static_assert(SmemLayout{{}}({}) == {});\n", fmt::join(at, ", "), value_at(tile, at));
  code += fmt::format(
      "// with swizproof/cute.hpp: "
      "static_assert(swizproof::conflict_free<swizproof::source_of<YourTiledCopy>, {}, "
      "SmemLayout>);\n",
      type);
  return code;
}

/// SmemAllocator aligns by no more. [CUTLASS, python/CuTeDSL/cutlass/utils/smem_allocator.py]
constexpr std::uint64_t most_dsl_alignment = 1024;

std::string in_dsl(CodeTile const& tile, CodeFacts const& facts) {
  std::optional<Swizzle> const swizzle = tile.swizzle("CuTe DSL");
  std::string_view const type = type_of(tile, facts.element, &TypeName::dsl, "CuTe DSL");
  if (facts.alignment > most_dsl_alignment)
    throw tile.refuse(
        fmt::format("the tile starts at a multiple of {} bytes, and CuTe DSL aligns by {} at most",
                    facts.alignment, most_dsl_alignment),
        "");
  std::string const layout =
      fmt::format("cute.make_layout({}, stride={})", nested(tile.layout.shape, Language::dsl, ""),
                  nested(tile.layout.stride, Language::dsl, ""));
  std::string composed = layout;
  if (swizzle || tile.offset != 0) {
    Swizzle const s = swizzle.value_or(Swizzle{});
    composed = fmt::format("cute.make_composed_layout(cute.make_swizzle({}, {}, {}), {}, {})", s.bits, s.base,
                           s.shift, tile.offset, layout);
  }
  // allocate_tensor() takes the cosize, without the offset, and refuses a part of a byte.
  std::uint64_t const reach = reach_of(tile), bits = reach * *tile.map.element_bits;
  std::string const tensor =
      reach == static_cast<std::uint64_t>(tile.layout.cosize()) && bits % 8 == 0
          ? fmt::format("smem.allocate_tensor({}, layout, byte_alignment={})", type, facts.alignment)
          : fmt::format(
                "cute.make_tensor(cute.recast_ptr(smem.allocate({}, byte_alignment={}), dtype={}), layout)",
                (bits + 7) / 8, facts.alignment, type);
  return fmt::format("layout = {}\ntile = {}\n", composed, tensor);
}

// ---------------------------------------------------------------------------------------------- C

/// The part of a coordinate's offset that a mode gives: `i % 8 * 64 + i / 8 * 512`; empty for 0.
std::string terms(Layout const& mode, std::string const& name) {
  std::vector<std::int64_t> const shape = mode.shape.leaves(), stride = mode.stride.leaves();
  std::string text;
  std::int64_t before = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t const its = before;
    before *= shape[i];
    if (stride[i] == 0 || shape[i] == 1) continue;
    std::string term = its == 1 ? name : fmt::format("{} / {}", name, its);
    if (i + 1 < shape.size()) term += fmt::format(" % {}", shape[i]);
    if (stride[i] != 1) term += fmt::format(" * {}", stride[i]);
    text += (text.empty() ? "" : " + ") + term;
  }
  return text;
}

std::string in_c_function(CodeTile const& tile, CodeFacts const& facts) {
  std::string_view const type = type_of(tile, facts.element, &TypeName::cuda, "CUDA C++");
  std::vector<std::string> names;
  if (tile.layout.rank() == 2)
    names = {"row", "column"};
  else
    for (std::size_t m = 0; m < tile.layout.rank(); ++m) names.push_back(fmt::format("i{}", m));
  std::string sum;
  for (std::size_t m = 0; m < names.size(); ++m)
    if (std::string const its = terms(tile.layout.mode(m), names[m]); !its.empty())
      sum += (sum.empty() ? "" : " + ") + its;
  if (tile.offset != 0) sum += fmt::format("{}{}", sum.empty() ? "" : " + ", tile.offset);
  if (sum.empty()) sum = "0";
  std::vector<std::string> parameters;
  for (std::string const& one : names) parameters.push_back("unsigned " + one);
  std::string code = type.starts_with("std::") ? "#include <cstdint>\n" : "";
  code += fmt::format("__host__ __device__ constexpr unsigned offset({}) {{\n", fmt::join(parameters, ", "));
  if (tile.functions.empty()) {
    code += fmt::format("  return {};\n}}\n", sum);
  } else {
    code += fmt::format("  unsigned x = {};\n", sum);
    for (auto stage = tile.functions.rbegin(); stage != tile.functions.rend(); ++stage) {
      LinearMap linear;
      if (auto const* const swizzle = std::get_if<Swizzle>(&*stage))
        linear.moves.push_back({swizzle->shift, swizzle->target_mask()});
      else
        linear = std::get<LinearMap>(*stage);
      std::string const text = to_string(linear);  // fn(x) = ...
      code += fmt::format("  x = {};\n", text.substr(text.find('=') + 2));
    }
    code += "  return x;\n}\n";
  }
  code += fmt::format("alignas({}) __shared__ {} tile[{}];\n", facts.alignment, type, reach_of(tile));
  for (auto const& at : corners(tile.layout))
    code += fmt::format("static_assert(offset({}) == {});\n", fmt::join(at, ", "), value_at(tile, at));
  return code;
}

// ---------------------------------------------------------------------------------------------- Triton

/// swizzled_shared: rows of 2^c elements, or columns; `vec` elements stay together, phase = row / perPhase % maxPhase.
std::string in_triton(CodeTile const& tile, CodeFacts const& facts) {
  auto const refuse = [&](std::string why) {
    return tile.refuse(
        "Triton's swizzled_shared is not this: " + std::move(why),
        "it has rows or columns without gaps, and swizzles whole vectors of a row by bits of the row");
  };
  std::string_view const type = type_of(tile, facts.element, &TypeName::triton, "Triton");
  std::optional<Swizzle> const swizzle = tile.swizzle("Triton");
  if (tile.layout.rank() != 2 || tile.offset != 0) throw refuse("a tile of two modes from offset 0 is");
  std::array<Layout, 2> modes;
  for (std::size_t m = 0; m < 2; ++m) {
    modes[m] = coalesce(tile.layout.mode(m));
    if (modes[m].shape.leaf_count() != 1) throw refuse("a mode has several strides");
  }
  auto const extent = [&](std::size_t m) { return modes[m].size(); };
  for (std::size_t m = 0; m < 2; ++m)
    if (!std::has_single_bit(static_cast<std::uint64_t>(extent(m))))
      throw refuse("an extent is no power of two");
  auto const stride = [&](std::size_t m) { return modes[m].stride.leaves().front(); };
  std::size_t const fast = stride(1) == 1 ? 1 : 0, slow = 1 - fast;
  if (stride(fast) != 1 || (extent(slow) != 1 && stride(slow) != extent(fast)))
    throw refuse("its lines have gaps");
  std::int64_t vec = 1, per_phase = 1, max_phase = 1;
  if (swizzle && swizzle->bits != 0) {
    Swizzle const s = *swizzle;
    int const line = std::countr_zero(static_cast<std::uint64_t>(extent(fast)));
    if (s.shift < 0 || s.base + s.shift < line) throw refuse("its swizzle takes bits of the place in a line");
    if (s.base + s.bits > line) throw refuse("its swizzle changes bits of the line");
    vec = std::int64_t{1} << s.base;
    per_phase = std::int64_t{1} << (s.base + s.shift - line);
    max_phase = std::int64_t{1} << s.bits;
  }
  return fmt::format(
      "#shared = #ttg.swizzled_shared<{{vec = {}, perPhase = {}, maxPhase = {}, order = [{}, {}]}}>\n"
      "!ttg.memdesc<{}x{}x{}, #shared, #ttg.shared_memory, mutable>\n",
      vec, per_phase, max_phase, fast, slow, extent(0), extent(1), type);
}

/// A comment where two elements have one place: stride 0, or a function that is not one-to-one.
std::string note_of_shared_places(CodeTile const& tile, std::string_view comment) {
  std::map<std::uint64_t, std::int64_t> taken;
  for (std::int64_t i = 0; i < tile.layout.size(); ++i) {
    auto const [other, is_new] =
        taken.emplace(offset(tile.on_elements, static_cast<std::uint64_t>(i)).elements, i);
    if (!is_new)
      return fmt::format("{} elements share places: indices {} and {} both lie at {}\n", comment,
                         other->second, i, other->first);
  }
  return {};
}

}  // namespace

std::optional<Language> parse_language(std::string_view text) {
  for (auto const& [known, its] : languages)
    if (its == text) return known;
  return std::nullopt;
}

std::string code_of(Mapping const& map, Language language, CodeFacts const& facts) {
  CodeTile const tile = code_tile(map);
  std::string const note = note_of_shared_places(tile, language == Language::dsl ? "#" : "//");
  switch (language) {
    case Language::cute:
      return note + in_cute(tile, facts);
    case Language::dsl:
      return note + in_dsl(tile, facts);
    case Language::cuda:
      return note + in_c_function(tile, facts);
    case Language::triton:
      break;
  }
  return note + in_triton(tile, facts);
}

}  // namespace swizproof
