// LAYOUT as C++, CuTe DSL and Mojo write it: declarations, types, keywords, swizzles that are computed, and names that
// are no layout.
#include "parse/layout/mapping_parser.hpp"
#include "parse/text/nearest.hpp"

#include <swizproof/hardware/element.hpp>
#include <swizproof/parse/parse.hpp>

#include <bit>

namespace swizproof {

namespace {

/// The largest n with 2^n <= x. Precondition: x > 0.
int log2_floor(std::int64_t x) { return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(x))) - 1; }

constexpr std::string_view swizzle_names[] = {"Sw", "S", "Swizzle", "make_swizzle", "make_ldmatrix_swizzle"};

/// Words with which a LAYOUT may begin; the algebra's names are among them.
std::vector<std::string> layout_names() {
  std::vector<std::string> names = algebra_names();
  for (std::string_view const name : swizzle_names) names.emplace_back(name);
  for (char const* name : {"fn",         "tma",         "gmma",           "umma",        "desc",
                           "smem_ptr",   "Layout",      "ComposedLayout", "make_shape",  "make_stride",
                           "make_coord", "Shape",       "Stride",         "Step",        "Int",
                           "LayoutLeft", "LayoutRight", "GenColMajor",    "GenRowMajor", "decltype",
                           "TiledCopy",  "Copy_Atom",   "GMMA",           "UMMA"})
    names.emplace_back(name);
  return names;
}

/// A word and an argument of a function: `stride=` of make_layout is the second.
struct Keyword {
  std::string_view function, word;
  std::size_t position;
};
constexpr Keyword keywords[] = {
    {"make_layout", "shape", 0},
    {"make_layout", "stride", 1},
    {"coalesce", "target_profile", 1},
    {"coalesce", "trg_profile", 1},
    {"logical_divide", "target", 0},
    {"logical_divide", "tiler", 1},
    {"zipped_divide", "target", 0},
    {"zipped_divide", "tiler", 1},
    {"tiled_divide", "target", 0},
    {"tiled_divide", "tiler", 1},
    {"flat_divide", "target", 0},
    {"flat_divide", "tiler", 1},
    {"logical_product", "block", 0},
    {"logical_product", "tiler", 1},
    {"zipped_product", "block", 0},
    {"zipped_product", "tiler", 1},
    {"tiled_product", "block", 0},
    {"tiled_product", "tiler", 1},
    {"flat_product", "block", 0},
    {"flat_product", "tiler", 1},
    {"blocked_product", "block", 0},
    {"blocked_product", "tiler", 1},
    {"raked_product", "block", 0},
    {"raked_product", "tiler", 1},
    {"recast_layout", "new_type_bits", 0},
    {"recast_layout", "old_type_bits", 1},
    {"recast_layout", "src_layout", 2},
    {"complement", "cotarget", 1},
    {"group_modes", "begin", 1},
    {"group_modes", "end", 2},
    {"local_tile", "input", 0},
    {"local_tile", "tiler", 1},
    {"local_tile", "coord", 2},
    {"local_tile", "proj", 3},
    {"local_partition", "target", 0},
    {"local_partition", "tiler", 1},
    {"local_partition", "index", 2},
    {"local_partition", "proj", 3},
    {"slice", "src", 0},
    {"slice", "coord", 1},
    {"make_ordered_layout", "shape", 0},
    {"make_ordered_layout", "order", 1},
    {"make_composed_layout", "inner", 0},
    {"make_composed_layout", "offset", 1},
    {"make_composed_layout", "outer", 2},
    {"tile_to_shape", "atom", 0},
    {"tile_to_shape", "trg_shape", 1},
    {"tile_to_shape", "order", 2},
    {"composition", "lhs", 0},
    {"composition", "rhs", 1},
    {"make_swizzle", "num_rows", 0},
    {"make_swizzle", "row_size", 1},
    {"make_swizzle", "access_size", 2},
    {"make_swizzle", "dtype", 0},
    {"make_swizzle", "mode", 1},
    {"make_ldmatrix_swizzle", "dtype", 0},
    {"make_ldmatrix_swizzle", "row_size", 1},
    {"make_ldmatrix_swizzle", "log2_vector_width", 2},
    {"Layout", "shape", 0},
    {"Layout", "stride", 1},
};

}  // namespace

/// `using X =`, `constexpr auto x =`, `x =`: what stands before a layout in a program. Returns the name.
std::string MappingParser::take_declaration() {
  while (in_.take("using namespace")) {
    in_.skip_namespaces();
    (void)in_.take_name();
    in_.expect(";", "after the namespace");
  }
  std::size_t const from = in_.at();
  static constexpr std::string_view words[] = {
      "using",    "static", "constexpr", "inline",  "const",     "auto",   "alias",    "var",
      "comptime", "int",    "int64_t",   "int32_t", "long",      "size_t", "unsigned", "uint32_t",
      "uint64_t", "Tensor", "TiledMMA",  "ThrMMA",  "TiledCopy", "ThrCopy"};
  while (in_.at_letter() && std::find(std::begin(words), std::end(words), in_.peek_name()) != std::end(words))
    (void)in_.take_name();
  std::size_t const type = in_.at();
  if (in_.at_letter() && in_.peek_name() != "fn")
    if (std::string name(in_.take_name()); in_.take("=") && !in_.looking_at("=")) return name;
  in_.back_to(type);
  if (!at_type()) in_.back_to(from);
  return {};
}

/// True at a type whose values are layouts or swizzles, or one that `decltype` gives.
bool MappingParser::at_type() {
  in_.skip_namespaces();
  return layouts_.at_layout_type() || in_.looking_at_name("ComposedLayout") ||
         in_.looking_at_name("Swizzle") || in_.looking_at_name("decltype");
}

std::string take_declared_name(Scanner& in) {
  std::size_t const from = in.at();
  if (!in.at_letter() || in.at_new_line()) return {};
  std::string name(in.take_name());
  (void)in.take("=");
  in.skip_braces();
  if (in.looking_at(";") || in.done()) return name;
  in.back_to(from);
  return {};
}

/// `128;` and `Shape<_128,_64>;` behind `name =`, before more text: a name for what follows. False if it is none.
bool MappingParser::take_definition(std::string const& name) {
  if (name.empty()) return false;
  std::size_t const from = in_.at();
  bool const by_name = layouts_.at_named_number() && !layouts_.at_constant();
  if (!by_name && !layouts_.at_constant() && !in_.at_number()) return false;
  Tiler value = by_name ? layouts_.tiler() : Tiler{IntTuple(layouts_.constant(), true)};
  if (!by_name && in_.looking_at(",")) {  // constexpr int M = 8, N = 4;
    layouts_.define(name, std::get<IntTuple>(value.value).value);
    (void)in_.take(",");
    std::string const next(in_.at_letter() ? in_.take_name() : "");
    if (!next.empty() && in_.take("=") && take_definition(next)) return true;
    in_.back_to(from);
    return false;
  }
  if (!in_.take(";") || in_.done()) {
    in_.back_to(from);
    return false;
  }
  if (auto const* number = std::get_if<IntTuple>(&value.value); number != nullptr && !number->is_tuple)
    layouts_.define(name, number->value);
  else if (auto tuple = integers(value))
    layouts_.define(name, *std::move(tuple));
  else
    define(name, std::move(value), from);
  return true;
}

void MappingParser::define(std::string const& name, Value value, std::size_t from) {
  constexpr std::size_t most = 64;
  if (definitions_.size() >= most) in_.fail("more than 64 layouts have names", from, in_.at() - from);
  definitions_.insert_or_assign(name, std::move(value));
}

/// Value of a name of take_definition() or of a layout before this one; nothing for others.
std::optional<Value> MappingParser::defined() {
  if (!in_.at_letter()) return {};
  std::size_t const from = in_.at();
  auto const known = definitions_.find(in_.peek_name());
  if (known == definitions_.end()) return {};
  (void)in_.take_name();
  in_.skip_braces();
  auto const* map = std::get_if<Mapping>(&known->second);
  auto const* tiler = std::get_if<Tiler>(&known->second);
  layouts_.expand(map != nullptr ? map->text.size() : tiler != nullptr ? to_string(*tiler).size() : 1, from);
  return known->second;
}

void take_keyword(Scanner& in, std::string_view function, std::size_t position) {
  std::size_t const from = in.at();
  if (!in.at_letter()) return;
  std::string_view const word = in.take_name();
  if (!in.take("=") || in.looking_at("=")) return in.back_to(from);
  std::vector<std::string> known;
  for (Keyword const& k : keywords) {
    if (k.function != function) continue;
    known.emplace_back(k.word);
    if (k.word != word) continue;
    if (k.position == position) return;
    in.fail(
        std::string(word) + " is argument " + std::to_string(k.position + 1) + " of " + std::string(function),
        from, word.size(), "write the arguments in their order");
  }
  in.fail("unknown argument '" + std::string(word) + "' of " + std::string(function), from, word.size(),
          did_you_mean(word, known));
}

/// `ComposedLayout<Swizzle<3,4,3>, smem_ptr_flag_bits<16>, Layout<...>>{}`, `ComposedLayout<Swizzle<3,3,3>, _0, Layout<...>>`.
Value MappingParser::composed_type() {
  Nesting const nesting(in_, depth_);
  (void)in_.take_word("ComposedLayout");
  in_.expect("<", "of the composed layout's type");
  Chain chain;
  add_stage(chain);
  in_.expect(",", "after the function of a composed layout");
  in_.skip_namespaces();
  std::size_t const from = in_.at();
  if (in_.looking_at("smem_ptr_flag")) {
    std::optional<unsigned> bits;
    if (in_.take_word("smem_ptr_flag")) bits = 1;
    if (!bits) {
      if (!in_.take_word("smem_ptr_flag_bits")) in_.fail_here("expected smem_ptr_flag_bits<16>");
      in_.expect("<", "of the pointer's element size");
      std::int64_t const n = layouts_.at_constant() ? layouts_.constant_in_angles()
                                                    : in_.take_integer("the element size in bits");
      if (n < 1 || n > 128 || !std::has_single_bit(static_cast<std::uint64_t>(n)))
        in_.fail("element sizes are powers of two from 1 to 128 bits", from, in_.at() - from);
      bits = static_cast<unsigned>(n);
      in_.expect(">", "after the element size");
    }
    in_.skip_braces();
    flag(in_, chain, *bits, from);
  } else {
    add_stage(chain);
  }
  in_.expect(",", "after the offset of a composed layout");
  if (in_.skip_namespaces(); in_.looking_at_name("ComposedLayout"))
    in_.fail_here("a composed layout of a composed layout is not read as a type",
                  "write what print() prints: Sw<2,0,2> o _0 o Sw<2,2,2> o _1 o (4,16):(16,1)");
  add_stage(chain);
  in_.expect(">", "of the composed layout's type");
  in_.skip_braces();
  return rest_of(std::move(chain));
}

/// `decltype(...){}`.
Value MappingParser::inside_decltype() {
  Nesting const nesting(in_, depth_);
  (void)in_.take_word("decltype");
  in_.expect("(", "of decltype");
  Argument inside = argument();
  in_.expect(")", "of decltype");
  in_.skip_braces();
  return std::move(inside.value);
}

bool PartParser::at_swizzle() {
  in_.skip_namespaces();
  return in_.at_letter() && std::find(std::begin(swizzle_names), std::end(swizzle_names), in_.peek_name()) !=
                                std::end(swizzle_names);
}

bool at_call(Scanner& in) {
  in.skip_namespaces();
  if (!in.at_letter()) return false;
  std::size_t const from = in.at();
  std::string_view const name = in.take_name();
  bool const layout = name == "Layout" && (in.looking_at("(") || in.looking_at("."));
  in.back_to(from);
  return layout || name == "slice_" || is_algebra(name) || is_view(name);
}

bool take_modes(Scanner& in, Call& call) {
  if (call.name != "get" && call.name != "select") return false;
  std::size_t const from = in.at();
  if (!in.take_word("mode") || !in.take("=") || !in.take("[")) {
    in.back_to(from);
    return false;
  }
  if (!call.numbers.empty()) in.fail("the modes are given twice", from, in.at() - from);
  do {
    std::size_t const at = in.at();
    std::int64_t const n = in.take_integer("the number of a mode");
    if (n < 0 || n > 64) in.fail("modes are numbered from 0", at, in.at() - at);
    call.numbers.push_back(n);
  } while (in.take_comma(']'));
  in.expect("]", "after the modes");
  return true;
}

Order mojo_order(Scanner& in) {
  if (in.take_word("row_major")) return Order::right;
  if (in.take_word("col_major")) return Order::left;
  in.fail_here("expected row_major or col_major after Layout.");
}

/// Mojo's make_swizzle[rows, row, access]() and [dtype, TensorMapSwizzle.SWIZZLE_128B](), make_ldmatrix_swizzle[dtype, row,
/// log2_vector_width](): swizzles of element offsets, as max/kernels/src/layout/swizzle.mojo computes them. A SIMD vector has
/// 16 bytes on NVIDIA's GPUs. Behind the name, at '['. `make_swizzle[8, 64, 8]()` is Sw<3,3,3>.
std::optional<Swizzle> PartParser::mojo_swizzle(std::string_view name) {
  std::size_t const from = in_.at();
  if (!in_.take("[")) return std::nullopt;
  auto const refuse = [&](std::string message, std::string hint = {}) {
    in_.fail(std::string(name) + ": " + std::move(message), from, in_.at() - from, std::move(hint));
  };
  std::int64_t bytes = 0;
  std::size_t position = 0;
  take_keyword(in_, name, position);
  if (in_.at_letter()) {
    Element const element = parse_element_here(in_);
    if (element.bits < 8) refuse("elements have whole bytes here");
    swizzle_bits_ = element.bits;
    bytes = element.bits / 8;
    in_.expect(",", "after the element type");
    take_keyword(in_, name, ++position);
  }
  auto const number = [&](std::string_view what) {
    take_keyword(in_, name, position++);
    if (in_.at_letter()) layouts_.fail_at_name();
    std::int64_t const n = in_.take_integer(what);
    if (n < 0 || n > 1 << 20) refuse("numbers are from 0 to 2^20");
    return n;
  };
  Swizzle s;
  if (name == "make_ldmatrix_swizzle") {
    if (bytes == 0) refuse("the element type is missing", "make_ldmatrix_swizzle[DType.float16, 64, 3]()");
    std::int64_t const row = number("the elements of a row");
    s.base = in_.take(",") ? static_cast<int>(number("log2 of a vector's elements")) : 0;
    std::int64_t const row_bytes = row * bytes;
    if (row == 0 || (row_bytes % 128 != 0 && 128 % row_bytes != 0))
      refuse("a row must be a multiple of 128 bytes, or divide them");
    std::int64_t const ways = std::min<std::int64_t>(8 * row_bytes / 128, 8);
    if (ways == 0) refuse("eight rows are shorter than the banks, and Mojo makes no swizzle of that");
    s.bits = log2_floor(ways);
    s.shift = log2_floor(std::max<std::int64_t>(row / (16 / bytes), 8));
  } else if (bytes != 0) {
    if (!at_tma(in_)) in_.fail_here("expected a mode such as TensorMapSwizzle.SWIZZLE_128B");
    std::size_t const at = in_.at();
    Mapping const mode = parse_tma(in_, {});
    auto const* swizzle = mode.on_bytes.size() == 1 ? std::get_if<Swizzle>(&mode.on_bytes[0]) : nullptr;
    if (swizzle == nullptr || swizzle->base != 4 || mode.domain() != nullptr)
      in_.fail("Mojo's modes are SWIZZLE_NONE, _32B, _64B and _128B", at, in_.at() - at);
    s = {swizzle->bits, log2_floor(16 / bytes), 3};
  } else {
    std::int64_t const rows = number("the number of rows");
    in_.expect(",", "after the number of rows");
    std::int64_t const row = number("the elements of a row");
    in_.expect(",", "after the elements of a row");
    std::int64_t const access = number("the elements of an access");
    if (rows == 0 || row == 0 || access == 0) refuse("all of these are 1 or more");
    s = {log2_floor(rows), log2_floor(access), log2_floor(row) - log2_floor(access)};
    if (s.shift <= 0) refuse("a row must hold more elements than an access");
  }
  in_.expect("]", "of the parameters of " + std::string(name));
  in_.skip_braces();
  return s;
}

void fail_at_name(Scanner& in) {
  std::size_t const from = in.at();
  std::string const name(in.take_name());
  auto const refuse = [&](std::string message, std::string hint) {
    in.fail(std::move(message), from, name.size(), std::move(hint));
  };
  if (name.starts_with("SM") && name.find('_') != name.npos)
    refuse("'" + name + "' names an instruction, and a layout is needed",
           "an instruction reads a layout: swizproof check LAYOUT --access INSTRUCTION");
  if (std::string const formula = formula_hint(in, name); !formula.empty())
    refuse("unknown name '" + name + "'", formula);
  for (char const* instruction : {"mma", "wgmma", "tcgen05", "ldmatrix", "stmatrix", "movmatrix"})
    if (name == instruction)
      refuse("'" + name + "' names an instruction, and a layout is needed",
             "its registers: 'swizproof fragment' or 'show', and its name; what it reads: swizproof check "
             "LAYOUT --access "
             "INSTRUCTION");
  for (char const* type : {"Shape", "Stride", "Step", "Layout", "Int"})
    if (name == type)
      refuse("the arguments of the type '" + name + "' are missing",
             "such as Layout<Shape<_8,_64>,Stride<_64,_1>>{}; functions: make_layout(make_shape(8,64), "
             "make_stride(64,1))");
  for (char const* made : {"shape", "stride", "layout", "coord"})
    if (name == made && in.looking_at("("))
      refuse("unknown name '" + name + "'", "did you mean make_" + name + "?");
  if (name == "tma") refuse("a mode is missing behind tma", "such as tma:128B");
  if (name == "gmma" || name == "umma")
    refuse("an atom is missing behind " + name, "such as " + name + ":K_SW128<f16>");
  if (element_type(name) != nullptr)
    refuse("'" + name + "' is an element type, and a layout is needed",
           "an atom takes one, gmma:K_SW128<" + name + ">, and so does --element " + name);
  for (char const* type : {"TiledMMA", "MMA_Atom", "TiledMma", "Tensor", "Copy_Traits", "MMA_Traits",
                           "TiledCopy", "Copy_Atom", "ThrCopy", "ThrMMA"})
    if (name == type)
      refuse("the type '" + name + "' is no layout, and its layouts are not in its text",
             "paste what CuTe's print() prints for it, or for the layout inside");
  for (char const* sparse : {"_SpAtom", "smem_sparse"})
    if (name.find(sparse) != name.npos) refuse("sparse atoms are not supported", "");
  in.fail("unknown name '" + name + "'", from, name.size(),
          did_you_mean(name, layout_names(),
                       "a LAYOUT is (8,64):(64,1), Sw<3,4,3>, tma:128B, gmma:K_SW128<f16>, make_layout(...), "
                       "Layout<Shape<..>,Stride<..>>{}, or what CuTe prints"));
}

}  // namespace swizproof
