// LAYOUT: the whole text, compositions of functions, flags, calls.
#include "text/expression_parser.hpp"
#include "text/layout/mapping_parser.hpp"
#include "text/tiled_mma.hpp"

#include <swizproof/text/parse.hpp>

#include <bit>

namespace swizproof {

// The whole text

Value MappingParser::parse() {
  take_latex();
  if (in_.done()) in_.fail_here("a layout is missing");
  Value value = line();
  auto* const map = std::get_if<Mapping>(&value);
  if (!in_.done() && (in_.at_new_line() || in_.looking_at(":")) && map != nullptr && map->domain() != nullptr)
    skip_table(in_, *map, is_tensor_);
  if (!in_.done()) in_.fail_here("unexpected text after the layout");
  if (map != nullptr) finish(*map);
  return value;
}

Mapping MappingParser::parse_mapping() {
  std::size_t const from = in_.at();
  Value value = parse();
  if (auto* const map = std::get_if<Mapping>(&value)) return std::move(*map);
  std::size_t const length = in_.trimmed(from, in_.at()).size();
  if (auto const* tiler = std::get_if<Tiler>(&value)) {
    if (std::holds_alternative<Layout>(tiler->value))
      in_.fail("a coordinate map gives coordinates, not offsets in memory", from, length,
               "strides such as 1@0 name a coordinate; 'swizproof eval' prints them");
    in_.fail("this is " + to_string(*tiler) + ", not a layout", from, length, "'swizproof eval' prints it");
  }
  in_.fail("this is not a layout", from, length);
}

Swizzle MappingParser::parse_swizzle() {
  Swizzle const s = swizzle();
  if (!in_.done()) in_.fail_here("unexpected text after the swizzle");
  return s;
}

/// What every Mapping ends with: the element of --element, and what is to be said about it.
void MappingParser::finish(Mapping& map) {
  if (options_.element_bits) {
    if (map.element_bits && map.element_bits != options_.element_bits)
      in_.fail("--element says " + std::to_string(*options_.element_bits) + " bits, the layout says " +
                   std::to_string(*map.element_bits),
               0, 1);
    map.element_bits = options_.element_bits;
  }
  if (!options_.element_bits && plain_swizzle(map) != nullptr && !map.on_elements.empty())
    map.on_bytes = std::exchange(map.on_elements, {});
  if (auto const index = index_below_zero(map))
    in_.fail("a layout in " + map.text + " is asked for its index " + std::to_string(*index) +
                 ", and indices begin with 0",
             0, in_.text_size());
  for (std::string& note : notes_)
    if (std::find(map.notes.begin(), map.notes.end(), note) == map.notes.end())
      map.notes.push_back(std::move(note));
  if (auto note = note_of_lost_flag(map)) map.notes.push_back(std::move(*note));
}

/// print_latex begins with a comment such as "% Layout: (_2,_2):(_1,_2)".
void MappingParser::take_latex() {
  if (!in_.take("%")) return;
  in_.expect("Layout", "of print_latex");
  std::size_t const colon = in_.find(':');
  std::string_view const label = in_.trimmed(in_.at(), colon);
  static constexpr std::string_view labels[] = {"", "S TV", "D TV", "A", "B", "C", "TV"};
  if (std::find(std::begin(labels), std::end(labels), label) == std::end(labels))
    in_.fail_here("expected ':' of the line that print_latex begins with");
  in_.back_to(colon);
  in_.expect(":", "after Layout");
}

Value MappingParser::line() {
  if (in_.looking_at("fn")) return function();
  if (in_.looking_at("tma:")) return parse_tma(in_, options_);
  if (in_.looking_at("gmma:") || in_.looking_at("umma:")) return parse_operand_atom(in_, options_);
  if (in_.looking_at("desc:")) return parse_descriptor(in_, options_);
  if (in_.looking_at("#") || in_.looking_at("!")) return parse_triton(in_, options_);
  if (in_.looking_at("ArithTuple")) return coordinates();
  refuse_tiled_mma(in_);
  if (looks_like_tiled_copy(in_.rest())) {
    TiledCopy const copy = parse_tiled_copy(in_.rest());
    in_.back_to(in_.text_size());
    if (copy.source_tv != copy.layout_s_tv)
      notes_.push_back(
          "the tile's index is counted in the order of Tiler_MN, as CuTe's get_layoutS_TV() does");
    return mapping(copy.layout_s_tv);
  }
  if (std::optional<Pointer> const bound = pointer()) return tensor(*bound);
  return composition();
}

/// fn(x) = expression, alone or on a layout; fn(row, col) = expression SHAPE.
Mapping MappingParser::function() {
  std::size_t const from = in_.at();
  (void)in_.take("fn");
  in_.expect("(", "after fn: fn(x) = expression");
  std::vector<std::string> variables;
  do {
    std::size_t const at = in_.at();
    std::string const name(in_.take_name());
    if (name.empty() || is_digit(name[0])) in_.fail_here("expected the name of the variable");
    if (std::find(variables.begin(), variables.end(), name) != variables.end())
      in_.fail("there are two variables of this name", at, name.size());
    if (variables.size() == 8) in_.fail("more than 8 variables", at, name.size());
    variables.push_back(name);
  } while (in_.take(","));
  in_.expect(")", variables.size() == 1 ? "after the variable" : "after the variables");
  in_.expect("=", "before the expression");
  Expression expression = ExpressionParser(in_, variables).parse();
  if (variables.size() > 1 || in_.looking_at("(")) {
    if (!in_.looking_at("("))
      in_.fail_here(
          "a function of coordinates needs the shape behind it",
          "fn(row, col) = row*64 + (col ^ ((row & 7) << 3)) (64,64); one of the offset is fn(x) = ...");
    std::size_t const at = in_.at();
    IntTuple const shape = parse_extents(in_);
    if (shape.rank() != variables.size())
      in_.fail("the function has " + std::to_string(variables.size()) + " variables, the shape " +
                   std::to_string(shape.rank()) + " extents",
               at, in_.at() - at);
    std::int64_t size = 1;
    for (std::int64_t const extent : shape.leaves())
      if ((size *= extent) > std::int64_t{1} << 40)
        in_.fail("the shape has more than 2^40 elements", at, in_.at() - at);
    return coordinate_function(expression, shape.leaves(), std::string(in_.trimmed(from, in_.at())));
  }
  Mapping map;
  map.text = std::string(in_.trimmed(from, in_.at()));
  if (in_.looking_at_joint()) return function_on_layout(std::move(expression), map.text);
  (options_.element_bits ? map.on_elements : map.on_bytes).push_back(std::move(expression));
  return map;
}

/// fn(x) = expression o LAYOUT: x is what stands behind it, an element offset of a layout, or a byte address
/// of smem_ptr[16b](unset) o LAYOUT and of a layout whose swizzle acts on bytes.
Mapping MappingParser::function_on_layout(Expression expression, std::string const& text) {
  (void)in_.take_joint();
  std::size_t const from = in_.at();
  std::optional<unsigned> bits;
  std::string flag;
  if (in_.take("smem_ptr")) {
    bits = pointer_bits();
    in_.expect("(unset)", "of the pointer");
    if (!in_.take_joint()) in_.fail_here("expected ' o ' and a layout after the pointer");
    flag = "smem_ptr[" + std::to_string(*bits) + "b](unset) o ";
  }
  Value value;
  if (in_.looking_at("tma:") || in_.looking_at("gmma:") || in_.looking_at("umma:") ||
      in_.looking_at("desc:") || in_.looking_at("#") || in_.looking_at("!")) {
    value = line();
  } else {
    Chain chain;
    chain.bound = true;  // an offset may come first
    add_stage(chain);
    value = rest_of(std::move(chain));
  }
  auto* const map = std::get_if<Mapping>(&value);
  if (map == nullptr || map->domain() == nullptr)
    in_.fail("a function is put on a layout with a shape", from, in_.at() - from);
  if (bits && map->acts_on_bytes())
    in_.fail("a second flag: the layout's own swizzle acts on bytes already", from, in_.at() - from);
  map->text = text + " o " + flag + map->text;
  if (bits) map->element_bits = bits;
  auto& stages = bits || map->acts_on_bytes() ? map->on_bytes : map->on_elements;
  stages.insert(stages.begin(), std::move(expression));
  return std::move(*map);
}

// Compositions

/// f o offset o g o offset o ...; a call alone may also give an integer or a coordinate map.
Value MappingParser::composition() {
  Chain chain;
  if (in_.at_letter() && is_algebra(in_.peek_name())) {
    std::size_t const from = in_.at();
    Value value = call();
    if (!in_.looking_at_joint()) return value;
    add_value(chain, std::move(value), from);
  } else {
    add_stage(chain);
  }
  return rest_of(std::move(chain));
}

Value MappingParser::rest_of(Chain chain) {
  while (in_.take_joint())
    if (!take_flag(chain)) add_stage(chain);
  check_order(chain);
  Mapping& map = chain.map;
  if (Layout const* layout = map.domain(); layout != nullptr && layout->stride.has_basis()) {
    if (map.on_elements.size() != 1 || chain.flagged || chain.bound)
      in_.fail("a coordinate map cannot be composed: its values are coordinates", chain.places.back(),
               in_.at() - chain.places.back());
    return Tiler{*layout};
  }
  map.text = to_string(map);
  return std::move(map);
}

void MappingParser::add_stage(Chain& chain) {
  std::size_t const from = in_.at();
  if (in_.at_letter() && is_algebra(in_.peek_name())) return add_value(chain, call(), from);
  std::vector<Stage>& stages = chain.map.on_elements;
  bool const shifted = !stages.empty() && std::holds_alternative<Displacement>(stages[0]);
  bool const may_be_offset =
      (stages.size() + (shifted ? 1 : 0)) % 2 == 1 || (stages.empty() && (chain.flagged || chain.bound));
  chain.places.push_back(from);
  if (in_.looking_at("S")) {
    stages.emplace_back(swizzle());
  } else if (in_.looking_at("M_")) {
    stages.emplace_back(mixed_bits());
  } else {
    IntTuple shape = layouts_.shape();
    if (in_.take(":")) {
      stages.emplace_back(layouts_.layout(std::move(shape), from));
      return;
    }
    if (!may_be_offset || shape.is_tuple)
      in_.fail_here("expected ':' and the strides", "a layout is shape:stride, such as (8,64):(64,1)");
    stages.emplace_back(displacement(shape.value, shape.is_static, from));
  }
}

/// The stages of what a call gave, which stands where one stage stands.
void MappingParser::add_value(Chain& chain, Value value, std::size_t from) {
  auto const* tiler = std::get_if<Tiler>(&value);
  auto const* result = std::get_if<Mapping>(&value);
  if (tiler != nullptr && std::holds_alternative<Layout>(tiler->value)) {
    chain.map.on_elements.emplace_back(std::get<Layout>(tiler->value));
    chain.places.push_back(from);
    return;
  }
  if (result == nullptr) in_.fail("a layout or swizzle must stand here", from, in_.at() - from);
  if (!result->on_bytes.empty()) {
    if (!chain.places.empty() || chain.flagged || chain.bound)
      in_.fail("a swizzle that acts on bytes can only come first", from, in_.at() - from);
    chain.flagged = true;
    chain.map.on_bytes = result->on_bytes;
    chain.map.element_bits = result->element_bits;
  }
  for (Stage const& stage : result->on_elements) {
    chain.map.on_elements.push_back(stage);
    chain.places.push_back(from);
  }
}

/// f o offset o g o offset o ... : every second stage is a number, the last one is a function. Behind a
/// pointer an offset may come first.
void MappingParser::check_order(Chain const& chain) {
  auto const& stages = chain.map.on_elements;
  bool const shifted =
      (chain.flagged || chain.bound) && !stages.empty() && std::holds_alternative<Displacement>(stages[0]);
  std::size_t const count = stages.size(), first = shifted ? 1 : 0;
  if (chain.flagged && (count != first + 1 || chain.map.domain() == nullptr))
    in_.fail_here("smem_ptr[..](unset) must be followed by one layout");
  for (std::size_t i = 0; i < count; ++i) {
    bool const number = std::holds_alternative<Displacement>(stages[i]);
    if (number != ((i + first) % 2 == 1))
      in_.fail(
          number ? "a layout or swizzle must stand here, not a number" : "an offset is missing before this",
          chain.places[i], 1, "CuTe prints swizzle o offset o layout: Sw<3,3,3> o _0 o (8,64):(64,1)");
  }
  if ((count + first) % 2 == 0 && count != 0) in_.fail_here("a layout is missing after the offset");
}

// Parts

Swizzle MappingParser::swizzle() {
  std::size_t const from = in_.at();
  if (!in_.take("Swizzle") && !in_.take("Sw") && !in_.take("S"))
    in_.fail_here("expected a swizzle", "write Sw<bits,base,shift>, such as Sw<3,4,3>");
  in_.expect("<", "of the swizzle");
  auto const field = [&](std::string_view name) {
    std::size_t const at = in_.at();
    std::int64_t const value = in_.take_integer(std::string(name) + " of the swizzle");
    if (value < -64 || value > 64) in_.fail(std::string(name) + " is out of range", at, in_.at() - at);
    return static_cast<int>(value);
  };
  Swizzle s;
  s.bits = field("bits");
  in_.expect(",", "after bits");
  s.base = field("base");
  in_.expect(",", "after base: a swizzle has three parameters");
  s.shift = field("shift");
  in_.expect(">", "to close the swizzle");
  if (s.error() != SwizzleError::none)
    in_.fail("not a valid swizzle: " + std::string(explain(s.error())), from, in_.at() - from);
  return s;
}

Displacement MappingParser::displacement(std::int64_t value, bool is_static, std::size_t from) {
  constexpr std::int64_t most = std::int64_t{1} << 56;
  if (value > most || value < -most)
    in_.fail("the offset reaches further than 2^56 elements", from, in_.trimmed(from, in_.at()).size());
  return {value, is_static};
}

/// M_128|(64&64)=192: static bits, dynamic bits and their mask, and the value, which counts.
Displacement MappingParser::mixed_bits() {
  std::size_t const from = in_.at();
  auto const part = [&](std::string_view what) {
    std::size_t const at = in_.at();
    std::int64_t const value = in_.take_integer(what);
    if (value < 0 || value > 0xffffffffLL) in_.fail("mixed bits have 32 bits", at, in_.at() - at);
    return static_cast<std::uint32_t>(value);
  };
  (void)in_.take("M_");
  std::uint32_t const known = part("the static bits");
  in_.expect("|(", "of the mixed bits");
  std::uint32_t const dynamic = part("the dynamic bits");
  in_.expect("&", "of the mixed bits");
  std::uint32_t const mask = part("the mask");
  in_.expect(")=", "of the mixed bits");
  std::uint32_t const value = part("the value");
  if ((known | (dynamic & mask)) != value || (known & mask) != 0 || mask == 0)
    in_.fail("these mixed bits contradict themselves: M_s|(d&m)=v says v = s | (d & m), s & m = 0, m > 0",
             from, in_.at() - from);
  return {value, false, mask};
}

/// The bits of an element behind a pointer's name: `[16b]`, or `_16b` until CUTLASS 3.2.
unsigned MappingParser::pointer_bits() {
  bool const old = in_.take("_");
  if (!old) in_.expect("[", "of the pointer's element size");
  std::size_t const at = in_.at();
  std::int64_t const bits = in_.take_integer("the element size in bits");
  if (bits < 1 || bits > 128 || !std::has_single_bit(static_cast<std::uint64_t>(bits)))
    in_.fail("element sizes are powers of two from 1 to 128 bits", at, in_.at() - at);
  in_.expect("b", "after the element size");
  if (!old) in_.expect("]", "after the element size");
  return static_cast<unsigned>(bits);
}

/// smem_ptr[16b](unset), and the spelling of CUTLASS 3.0 to 3.2: smem_ptr_16b(unset).
bool MappingParser::take_flag(Chain& chain) {
  std::size_t const from = in_.at();
  if (in_.looking_at("smem_sparse")) in_.fail_here("sparse pointers are not supported");
  if (!in_.take("smem_ptr")) return false;
  unsigned const bits = pointer_bits();
  in_.expect("(unset)", "of the pointer");
  auto& stages = chain.map.on_elements;
  if (chain.flagged || stages.size() != 1 || !std::holds_alternative<Swizzle>(stages[0]))
    in_.fail("smem_ptr[..](unset) stands between one swizzle and a layout", from, in_.at() - from);
  chain.flagged = true;
  chain.map.element_bits = bits;
  chain.map.on_bytes = std::exchange(stages, {});
  chain.places.clear();
  return true;
}

// Calls

/// The numbers in angle brackets, if there are any: `<2>`, and units as `<16b,f32>`.
std::vector<std::int64_t> MappingParser::numbers(std::string_view name) {
  std::vector<std::int64_t> all;
  if (!in_.take("<")) return all;
  bool const units = name == "recast_layout";
  do {
    std::size_t const at = in_.at();
    if (units && in_.at_letter()) {
      std::string_view const type = in_.take_name();
      try {
        all.push_back(parse_element(type));
      } catch (InputError const& error) {
        in_.fail(error.message, at, type.size(), error.hint);
      }
      continue;
    }
    std::int64_t const n = in_.take_integer("a number");
    if (n < 0 || n > 1 << 20) in_.fail("numbers in <> are from 0 to 2^20", at, in_.at() - at);
    if (units) (void)in_.take("b");
    all.push_back(n);
  } while (in_.take(","));
  in_.expect(">", "after the numbers of " + std::string(name));
  return all;
}

/// name<numbers>(arguments).
Value MappingParser::call() {
  Nesting const nesting(in_, depth_);
  std::size_t const from = in_.at();
  Call call;
  call.name = in_.take_name();
  call.numbers = numbers(call.name);
  in_.expect("(", "of the arguments of " + std::string(call.name));
  bool const outside = layouts_.read_all_static(!options_.keep_dynamic);
  do call.arguments.push_back(argument());
  while (in_.take(","));
  (void)layouts_.read_all_static(outside);
  in_.expect(")", "or ',' after an argument of " + std::string(call.name));
  try {
    return evaluate(call, notes_);
  } catch (AlgebraError const& error) {
    in_.fail(std::string(call.name) + ": " + error.what(), from, in_.at() - from);
  }
}

/// What begins with a letter inside a tiler.
Tiler MappingParser::call_in_tiler() {
  std::size_t const from = in_.at();
  if (!is_algebra(in_.peek_name())) in_.fail_here("expected a layout, an integer or _");
  Value value = call();
  if (auto* const tiler = std::get_if<Tiler>(&value)) return std::move(*tiler);
  auto const* map = std::get_if<Mapping>(&value);
  Layout const* layout = map != nullptr ? plain_layout(*map) : nullptr;
  if (layout == nullptr) in_.fail("a tiler holds layouts without a swizzle", from, in_.at() - from);
  return {*layout};
}

/// A layout in any form, a shape, a tiler, an integer, LayoutLeft or LayoutRight.
Argument MappingParser::argument() {
  std::size_t const from = in_.at();
  auto const here = [&](Value value) { return Argument{std::move(value), from, in_.at() - from}; };
  if (in_.take("LayoutLeft") || in_.take("GenColMajor")) return here(Order::left);
  if (in_.take("LayoutRight") || in_.take("GenRowMajor")) return here(Order::right);
  if (in_.looking_at("fn")) in_.fail_here("a function fn cannot be an argument");
  if (in_.looking_at("tma:")) {
    Mapping map = parse_tma(in_, options_);
    if (map.domain() == nullptr)
      in_.fail("a TMA mode alone is a function of byte addresses, and the algebra acts on elements", from,
               in_.at() - from, "with an element type and a box it has a layout: tma:128B<f16> (8,64)");
    return here(std::move(map));
  }
  if (in_.looking_at("gmma:") || in_.looking_at("umma:")) return here(parse_operand_atom(in_, options_));
  if (in_.looking_at("desc:")) return here(parse_descriptor(in_, options_));
  if (in_.looking_at("#") || in_.looking_at("!")) return here(parse_triton(in_, options_));
  if (in_.at_letter()) {
    if (!in_.looking_at("S") && !in_.looking_at("M_") && !is_algebra(in_.peek_name()))
      in_.fail_here("unknown name", "a layout, a shape, a tiler, or a function such as coalesce");
    return here(composition());
  }
  Tiler tiler = layouts_.tiler();
  if (!in_.looking_at_joint()) return here(std::move(tiler));
  in_.back_to(from);
  return here(composition());
}

// The interface

Mapping parse_mapping(std::string_view text, MappingOptions const& options) {
  return MappingParser(text, options).parse_mapping();
}

Evaluated parse_value(std::string_view text, MappingOptions const& options, std::vector<std::string>* notes) {
  MappingParser parser(text, options);
  Value value = parser.parse();
  if (notes != nullptr && !std::holds_alternative<Mapping>(value)) *notes = parser.notes();
  if (auto* const map = std::get_if<Mapping>(&value)) return std::move(*map);
  if (auto* const tiler = std::get_if<Tiler>(&value)) {
    if (auto* const layout = std::get_if<Layout>(&tiler->value)) {
      if (layout->stride.has_basis()) return std::move(*layout);
      return mapping(std::move(*layout));
    }
    if (auto const integer = integers(*tiler)) return *integer;
  }
  throw InputError{"this is not a layout", std::string(text), 0, text.size(), {}};
}

std::uint64_t parse_number(std::string const& text, std::size_t from, std::size_t to,
                           std::string const& wanted) {
  bool const hex = text.compare(from, 2, "0x") == 0;
  char const* const last = text.data() + to;
  std::uint64_t value = 0;
  auto const [stop, error] =
      std::from_chars(std::min(text.data() + from + (hex ? 2 : 0), last), last, value, hex ? 16 : 10);
  if (error != std::errc{} || stop != last)
    throw InputError{wanted, text, from, std::max<std::size_t>(to - from, 1), {}};
  return value;
}

Swizzle parse_swizzle(std::string_view text) { return MappingParser(text, {}).parse_swizzle(); }

unsigned parse_element(std::string_view text) {
  struct Type {
    std::string_view name;
    unsigned bits;
  };
  static constexpr Type types[] = {
      {"f64", 64},
      {"f32", 32},
      {"tf32", 32},
      {"f16", 16},
      {"bf16", 16},
      {"fp8", 8},
      {"e4m3", 8},
      {"e5m2", 8},
      {"fp4", 4},
      {"e2m1", 4},
      {"i64", 64},
      {"i32", 32},
      {"i16", 16},
      {"i8", 8},
      {"i4", 4},
      {"u64", 64},
      {"u32", 32},
      {"u16", 16},
      {"u8", 8},
      {"u4", 4},
      // as PTX and CUTLASS name them
      {"s64", 64},
      {"s32", 32},
      {"s16", 16},
      {"s8", 8},
      {"s4", 4},
      {"half_t", 16},
      {"bfloat16_t", 16},
      {"tfloat32_t", 32},
      {"float_e4m3_t", 8},
      {"float_e5m2_t", 8},
      {"float_e2m1_t", 4},
      {"int8_t", 8},
      {"uint8_t", 8},
      {"int4b_t", 4},
      {"uint4b_t", 4},
      {"int32_t", 32},
      {"uint32_t", 32},
  };
  for (Type const& type : types)
    if (type.name == text) return type.bits;
  unsigned bits = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (error == std::errc{} && std::string_view(end, text.data() + text.size()) == "b" &&
      std::has_single_bit(bits) && bits <= 128)
    return bits;
  throw InputError{
      "unknown element type", std::string(text), 0, text.size(),
      "known: f64 f32 tf32 f16 bf16 fp8 e4m3 e5m2 fp4 e2m1 i64 .. i4 (or s) u64 .. u4, CUTLASS's half_t "
      "bfloat16_t float_e4m3_t .., or Nb with N a power of two up to 128"};
}

}  // namespace swizproof
