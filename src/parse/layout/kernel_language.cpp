// Shared tiles as the languages of kernels write them: ThunderKittens' st<bf16, 64, 64>, TileLang's
// make_full_bank_swizzled_layout(64, 64, 16), Mosaic's SMEM((64, 64), jnp.bfloat16, transforms=(..)).
#include "parse/layout/mapping_parser.hpp"

#include <swizproof/hardware/element.hpp>
#include <swizproof/layout/composed.hpp>

#include <algorithm>

namespace swizproof {

namespace {

constexpr std::int64_t most_extent = 1 << 20;

/// The swizzle of lines of 32, 64 or 128 bytes: 16-byte vectors exchanged by the number of the 128 bytes.
Swizzle swizzle_of_lines(std::int64_t bytes) { return {bytes == 128 ? 3 : bytes == 64 ? 2 : 1, 4, 3}; }

IntTuple pair_of(std::int64_t a, std::int64_t b) { return IntTuple(std::vector<IntTuple>{a, b}); }

/// `rows` lines of `line` elements, and the next columns in as many lines behind them.
Layout columns_of_lines(std::int64_t rows, std::int64_t cols, std::int64_t line) {
  if (cols == line) return {pair_of(rows, cols), pair_of(cols, 1)};
  return {IntTuple(std::vector<IntTuple>{rows, pair_of(line, cols / line)}),
          IntTuple(std::vector<IntTuple>{line, pair_of(1, rows * line)})};
}

Mapping finished(Map map, std::string element) {
  Mapping out{std::move(map)};
  out.element = std::move(element);
  out.text = to_string(out);
  return out;
}

/// ThunderKittens' names of st with an element type. [ThunderKittens, include/types/shared/st.cuh]
constexpr std::pair<std::string_view, std::string_view> kittens_tiles[] = {
    {"st", ""},       {"st_bf", "bf16"},      {"st_hf", "f16"},
    {"st_fl", "f32"}, {"st_fp8e4m3", "e4m3"}, {"st_fp8e5m2", "e5m2"}};
/// TileLang's layouts and the bytes of their lines; 0 is row-major. [TileLang, tilelang/layout/swizzle.py]
constexpr std::pair<std::string_view, std::int64_t> tile_lang_layouts[] = {
    {"make_full_bank_swizzled_layout", 128},
    {"make_half_bank_swizzled_layout", 64},
    {"make_quarter_bank_swizzled_layout", 32},
    {"make_linear_layout", 0}};

template <class Table>
auto const* found_in(Table const& table, std::string_view name) {
  auto const* const found =
      std::find_if(std::begin(table), std::end(table), [&](auto const& e) { return e.first == name; });
  return found == std::end(table) ? nullptr : found;
}

void pass_modules(Scanner& in) {
  for (bool again = true; again;) {
    again = false;
    for (std::string_view const module : {"kittens::", "tilelang.", "layout.", "tl.", "plgpu.", "mgpu."})
      again = again || in.take(module);
  }
}

class KernelLanguageParser {
 public:
  KernelLanguageParser(Scanner& in, MappingOptions const& options)
      : in_(in), options_(options), layouts_(in), from_(in.at()) {}

  [[nodiscard]] Mapping parse() {
    pass_modules(in_);
    std::string_view const name = in_.take_name();
    if (auto const* const tile = found_in(kittens_tiles, name)) return kittens(tile->second);
    if (auto const* const layout = found_in(tile_lang_layouts, name)) return tile_lang(name, layout->second);
    return mosaic();
  }

 private:
  [[noreturn]] void refuse(std::string message, std::string hint = {}) {
    in_.fail(std::move(message), from_, in_.at_end_of_token() - from_, std::move(hint));
  }
  std::int64_t extent() {
    std::size_t const at = in_.at();
    std::int64_t const n = layouts_.constant_in_angles();
    if (n < 1 || n > most_extent) in_.fail("extents are from 1 to 2^20", at, in_.at_end_of_token() - at);
    return n;
  }

  /// st<T, rows, cols, swizzle, swizzle_bytes>: lines of the widest swizzle that divides a row; element (r, c) is at
  /// a ^ (((a % (8 * swizzle_bytes)) >> 7) << 4), where a is its address in columns of lines. [st.cuh, st::idx]
  Mapping kittens(std::string_view element) {
    in_.expect("<", "of the tile's type");
    std::string type(element);
    std::size_t const at_type = in_.at();
    if (type.empty()) {
      type = parse_element_here(in_).name;
      in_.expect(",", "after the element type");
    }
    ElementType const* const known = element_type(type);
    if (known == nullptr || known->bits < 8 || known->bits > 32)
      in_.fail("tiles of ThunderKittens have elements of 1, 2 or 4 bytes", at_type,
               in_.at_end_of_token() - at_type);
    std::int64_t const rows = extent();
    in_.expect(",", "after the rows");
    std::int64_t const cols = extent(), bytes = known->bits / 8;
    bool swizzled = true;
    std::int64_t line = 0;
    if (in_.take(",")) {
      swizzled = !in_.take_word("false");
      if (swizzled && !in_.take_word("true")) in_.fail_here("expected true or false: is the tile swizzled?");
      if (in_.take(",")) line = layouts_.constant_in_angles();
    }
    in_.expect(">", "of the tile's type");
    in_.skip_braces();
    std::int64_t const row_bytes = cols * bytes;
    if (rows % 16 != 0 || cols % 16 != 0)
      refuse("rows and columns are multiples of 16",
             "older versions count tiles of 16: their st_bf<4,4> is st_bf<64,64>");
    if (line == 0) line = row_bytes % 128 == 0 ? 128 : row_bytes % 64 == 0 ? 64 : 32;
    if ((line != 32 && line != 64 && line != 128) || row_bytes % line != 0)
      refuse("swizzle_bytes is 32, 64 or 128, and divides a row of " + std::to_string(row_bytes) + " bytes");
    Map map;
    map.element_bits = known->bits;
    if (swizzled) map.on_bytes = {swizzle_of_lines(line)};
    map.on_elements = {swizzled ? columns_of_lines(rows, cols, line / bytes)
                                : columns_of_lines(rows, cols, cols)};
    return finished(std::move(map), std::string(known->name));
  }

  /// make_full_bank_swizzled_layout(stride, continuous, element_size): offsets vec + (c ^ s / (8 / n) + s * n) * vector_size in
  /// tiles of 8 rows, n vectors a line. [TileLang, src/layout/gemm_layouts.cc, MakeFullBankSwizzleLayout2D]
  Mapping tile_lang(std::string_view name, std::int64_t line) {
    in_.expect("(", "of the layout's arguments");
    if (in_.at_letter() && !layouts_.at_constant())
      in_.fail_here("a buffer has no extents here",
                    std::string(name) + "(64, 64" + (line == 0 ? ")" : ", 16): rows, columns, bits"));
    std::int64_t const rows = extent();
    in_.expect(",", "after the rows");
    std::int64_t const cols = extent();
    Map map;
    map.element_bits = options_.element_bits;
    if (line != 0) {
      in_.expect(",", "and the bits of an element");
      std::int64_t const bits = extent();
      if (bits != 8 && bits != 16 && bits != 32 && bits != 64) refuse("an element has 8, 16, 32 or 64 bits");
      map.element_bits = static_cast<unsigned>(bits);
    }
    in_.expect(")", "of the layout's arguments");
    if (line == 0) {
      map.on_elements = {columns_of_lines(rows, cols, cols)};
      return finished(std::move(map), {});
    }
    std::int64_t const elements = line * 8 / *map.element_bits;
    if (rows % 8 != 0 || cols % elements != 0)
      refuse("rows are a multiple of 8, columns of " + std::to_string(elements) +
             " elements: " + std::to_string(line) + " bytes");
    std::optional<Swizzle> const swizzle = on_elements(swizzle_of_lines(line), *map.element_bits);
    map.on_elements = {*swizzle, Displacement{}, columns_of_lines(rows, cols, elements)};
    return finished(std::move(map), {});
  }
  /// The swizzle of bytes as one of element offsets.
  static std::optional<Swizzle> on_elements(Swizzle s, unsigned bits) {
    while (bits > 8) --s.base, bits /= 2;
    return s;
  }

  /// SMEM(shape, dtype, transforms=(TilingTransform(tile), SwizzleTransform(bytes))): tiles one after the other, row-major, and the
  /// hardware's swizzle of addresses. [JAX, jax/_src/pallas/mosaic_gpu/core.py, SwizzleTransform;
  /// jax/experimental/mosaic/gpu/launch_context.py, TileTransform: an extent below the tile's is one tile]
  Mapping mosaic() {
    in_.expect("(", "of the shape and the type");
    std::vector<std::int64_t> const shape = extents();
    in_.expect(",", "after the shape");
    Element const element = parse_element_here(in_);
    if (element.bits < 8) refuse("elements have at least one byte");
    std::vector<std::int64_t> tile;
    std::int64_t swizzle = 0;
    if (in_.take(",")) {
      if (!in_.take_word("transforms") || !in_.take("=")) in_.fail_here("expected transforms=(...)");
      std::string_view const closing = in_.take("[") ? "]" : ")";
      if (closing == ")") in_.expect("(", "of the transforms");
      while (!in_.looking_at(closing)) {
        transform(tile, swizzle);
        if (!in_.take(",")) break;
      }
      in_.expect(closing, "of the transforms");
    }
    in_.expect(")", "of SMEM");
    if (tile.size() > shape.size()) refuse("the tile has more extents than the shape");
    for (std::size_t i = 0; i < tile.size(); ++i)
      tile[i] = std::min(tile[i], shape[shape.size() - tile.size() + i]);
    Map map;
    map.element_bits = element.bits;
    map.on_elements = {tiled(shape, tile)};
    std::int64_t const line = (tile.empty() ? shape : tile).back() * element.bits / 8;
    if (swizzle != 0 && line != swizzle)
      refuse("SwizzleTransform(" + std::to_string(swizzle) + ") needs a last extent of " +
             std::to_string(swizzle) + " bytes, and it has " + std::to_string(line));
    if (swizzle != 0) map.on_bytes = {swizzle_of_lines(swizzle)};
    return finished(std::move(map), element.name);
  }
  std::vector<std::int64_t> extents() {
    std::string_view const closing = in_.take("[") ? "]" : ")";
    if (closing == ")") in_.expect("(", "of the extents");
    std::vector<std::int64_t> all;
    while (!in_.looking_at(closing)) {
      all.push_back(extent());
      if (!in_.take(",")) break;
    }
    in_.expect(closing, "of the extents");
    if (all.empty() || all.size() > 5) refuse("a shape has one to five extents");
    return all;
  }
  void transform(std::vector<std::int64_t>& tile, std::int64_t& swizzle) {
    pass_modules(in_);
    std::size_t const at = in_.at();
    std::string_view const name = in_.take_name();
    bool const tiles = name == "TilingTransform" || name == "TileTransform",
               swizzles = name == "SwizzleTransform";
    if (!tiles && !swizzles)
      in_.fail("'" + std::string(name) + "' is no transform that is read", at, name.size(),
               "TilingTransform((8, 64)) and SwizzleTransform(128)");
    if (swizzle != 0 || (tiles && !tile.empty()))
      in_.fail("one TilingTransform and then one SwizzleTransform are read", at, name.size());
    in_.expect("(", "of the transform");
    if (tiles) {
      tile = extents();
    } else {
      swizzle = extent();
      if (swizzle != 32 && swizzle != 64 && swizzle != 128)
        in_.fail("swizzles are of 32, 64 or 128 bytes", at, name.size());
    }
    in_.expect(")", "of the transform");
  }
  /// The row-major layout of (leading extents, tiles, tile), by the extents of the shape.
  Layout tiled(std::vector<std::int64_t> const& shape, std::vector<std::int64_t> const& tile) {
    std::size_t const lead = shape.size() - tile.size();
    std::vector<std::int64_t> inner(shape.size(), 0), outer(shape.size(), 0);
    std::int64_t step = 1;
    auto const stride = [&](std::int64_t extent) {
      std::int64_t const before = step;
      if ((step *= extent) > std::int64_t{1} << 31) refuse("the shape has more than 2^31 elements");
      return before;
    };
    for (std::size_t i = shape.size(); i-- > lead;) {
      if (shape[i] % tile[i - lead] != 0) refuse("the tile does not divide the shape");
      inner[i] = stride(tile[i - lead]);
    }
    for (std::size_t i = shape.size(); i-- > 0;)
      outer[i] = stride(i < lead ? shape[i] : shape[i] / tile[i - lead]);
    std::vector<IntTuple> extents, strides;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      bool const whole = i < lead || tile[i - lead] == shape[i];
      extents.push_back(whole ? IntTuple(shape[i]) : pair_of(tile[i - lead], shape[i] / tile[i - lead]));
      strides.push_back(whole ? IntTuple(i < lead ? outer[i] : inner[i]) : pair_of(inner[i], outer[i]));
    }
    return {IntTuple(extents), IntTuple(strides)};
  }

  Scanner& in_;
  MappingOptions const& options_;
  LayoutParser layouts_;
  std::size_t from_;
};

}  // namespace

bool at_kernel_language(Scanner& in) {
  std::size_t const from = in.at();
  pass_modules(in);
  std::string_view const name = in.take_name();
  bool const found = (found_in(kittens_tiles, name) != nullptr && in.looking_at("<")) ||
                     ((found_in(tile_lang_layouts, name) != nullptr || name == "SMEM") && in.looking_at("("));
  in.back_to(from);
  return found;
}

Mapping parse_kernel_language(Scanner& in, MappingOptions const& options) {
  return KernelLanguageParser(in, options).parse();
}

}  // namespace swizproof
